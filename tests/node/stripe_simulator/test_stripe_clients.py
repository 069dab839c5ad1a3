"""The simulator as a server: for Stripe's own SDKs, for browsers, and inside another server."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import stripe
from processes import environment, node_process
from simulators import KEYS, Caller, CheckedSimulator, refusal

from reference_node.cli import main
from reference_node.stripe_simulator.actions import AddFault, SetLatencies
from reference_node.stripe_simulator.conditions import Fault, Latency
from reference_node.stripe_simulator.server import serving


@pytest.fixture
def url(simulator: CheckedSimulator) -> Iterator[str]:
    """The address of a served simulator."""
    with serving(simulator) as address:
        yield address


@pytest.fixture
def client(url: str) -> Iterator[stripe.StripeClient]:
    """The SDK as it is, but for the address."""
    transport = stripe.RequestsClient(timeout=15)
    yield stripe.StripeClient(KEYS.secret, base_addresses={"api": url}, max_network_retries=1, http_client=transport)
    transport.close()


def test_dropped_connection_gives_no_byte(simulator: CheckedSimulator, url: str) -> None:
    AddFault(fault=Fault(kind="drop", times=None)).carry_out(simulator)
    with pytest.raises((httpx.ReadError, httpx.RemoteProtocolError)):  # a time-out is neither
        httpx.get(f"{url}/v1/customers", headers={"Authorization": f"Bearer {KEYS.secret}"}, timeout=30)


def test_browser_of_another_origin_is_let_in(url: str) -> None:
    preflight = httpx.options(
        f"{url}/v1/payment_intents/pi_1/confirm",
        headers={
            "Origin": "https://example.com",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization",
        },
    )
    assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (200, "*")
    assert "authorization" in preflight.headers["access-control-allow-headers"].lower()
    answer = httpx.get(f"{url}/v1/payment_intents/pi_1", headers={"Origin": "https://example.com"})
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (401, "*")


def test_control_is_served_where_asked_for(simulator: CheckedSimulator, url: str) -> None:
    limited = httpx.post(f"{url}/control/rate_limit", json={"rate_limit": {"requests": 0}})
    assert limited.json()["rate_limit"]["requests"] == 0
    headers = {"Authorization": f"Bearer {KEYS.secret}"}
    assert httpx.get(f"{url}/v1/customers", headers=headers).status_code == 429
    with serving(simulator, control=False) as other:
        assert httpx.post(f"{other}/control/reset", json={}, headers=headers).status_code == 429
    assert httpx.post(f"{url}/control/reset", json={}).status_code == 200
    assert httpx.get(f"{url}/v1/customers", headers=headers).json()["data"] == []


def test_client_that_leaves_before_its_answer_has_paid(simulator: CheckedSimulator, url: str) -> None:
    SetLatencies(latencies=[Latency(method="POST", after_ms=600_000)]).carry_out(simulator)
    headers = {"Authorization": f"Bearer {KEYS.secret}"}
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{url}/v1/customers", headers=headers, timeout=httpx.Timeout(30, read=0.3))
    assert len(httpx.get(f"{url}/v1/customers", headers=headers).json()["data"]) == 1


@pytest.mark.parametrize("unknown", ["a/b", "../customers", "a?b=c", "a#b", "pi_\u20ac", " "])
def test_id_with_any_characters_is_not_found_however_it_comes(
    simulator: CheckedSimulator, client: stripe.StripeClient, unknown: str
) -> None:
    for merchant in (client, Caller(simulator, KEYS.secret).client):
        fault = refusal(lambda of=merchant: of.v1.payment_intents.retrieve(unknown))  # type: ignore[misc]
        assert (fault.http_status, fault.code) == (404, "resource_missing")


def test_body_that_is_too_long_is_refused(url: str) -> None:
    answer = httpx.post(
        f"{url}/v1/customers",
        data={"description": "x" * 2_000_000},
        headers={"Authorization": f"Bearer {KEYS.secret}"},
    )
    assert answer.status_code == 413


@pytest.mark.parametrize("by", ["option", "variable"])
def test_command_serves_until_it_is_told_to_stop(tmp_path: Path, by: str) -> None:
    options = ("--secret-key", KEYS.secret) if by == "option" else ()
    variables = {} if by == "option" else {"STRIPE_SIMULATOR_SECRET_KEY": KEYS.secret}
    simulator = node_process(tmp_path / "ready.json", "--control", *options, serves="stripe-simulator", **variables)
    with simulator as (process, facts):
        url = facts["base_url"]
        answer = httpx.get(f"{url}/v1/customers", headers={"Authorization": f"Bearer {KEYS.secret}"}, timeout=60)
        assert (answer.status_code, facts["control_url"]) == (200, f"{url}/control")
        assert (facts["secret_key"], facts["publishable_key"][:8]) == (KEYS.secret, "pk_test_")
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert output.startswith(f"Stripe simulator ready at {url}\n")


def test_wrong_key_of_a_variable_is_told_without_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STRIPE_SIMULATOR_SECRET_KEY", "sk_live_abc")
    assert main(["stripe-simulator", "--port", "0"]) == 1
    told = capsys.readouterr().err
    assert told.startswith("reference-node: the variable STRIPE_SIMULATOR_SECRET_KEY: write sk_test_ with letters")
    assert "sk_live_abc" not in told


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--secret-key", "sk_live_abc"], "write sk_test_"),
        (["--publishable-key", "sk_test_abc"], "write pk_test_"),
        (["--port", "65536"], "no whole number from 0 to 65535"),
        (["--processing-seconds", "-1"], "no number of seconds"),
        (["--host", "192.0.2.1"], "can't listen at 192.0.2.1"),
        (["--ready-file", "/"], "can't be written"),
    ],
)
def test_command_says_what_is_wrong(options: list[str], words: str) -> None:
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", "reference_node", "stripe-simulator", *options],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment(),
    )
    assert (done.returncode in {1, 2}, words in done.stderr, "Traceback" in done.stderr) == (True, True, False)
