"""The simulator as a server: for Stripe's own SDKs, for browsers, and inside another server."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import stripe
from processes import node_process
from simulators import KEYS, CheckedSimulator, refusal

from reference_node.cli import main
from reference_node.stripe_simulator.actions import SetLatencies
from reference_node.stripe_simulator.conditions import Latency
from reference_node.stripe_simulator.server import serving

BEARER = {"Authorization": f"Bearer {KEYS.secret}"}


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


def test_control_is_served_where_asked_for(simulator: CheckedSimulator, url: str) -> None:
    limited = httpx.post(f"{url}/control/rate_limit", json={"rate_limit": {"requests": 0}})
    assert limited.json()["rate_limit"]["requests"] == 0
    assert httpx.get(f"{url}/v1/customers", headers=BEARER).status_code == 429
    with serving(simulator, control=False) as other:
        assert httpx.post(f"{other}/control/reset", json={}, headers=BEARER).status_code == 429
    assert httpx.post(f"{url}/control/reset", json={}).status_code == 200
    assert httpx.get(f"{url}/v1/customers", headers=BEARER).json()["data"] == []


def test_client_that_leaves_before_its_answer_has_paid(simulator: CheckedSimulator, url: str) -> None:
    SetLatencies(latencies=[Latency(method="POST", after_ms=600_000)]).carry_out(simulator)
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{url}/v1/customers", headers=BEARER, timeout=httpx.Timeout(30, read=0.3))
    assert len(httpx.get(f"{url}/v1/customers", headers=BEARER).json()["data"]) == 1


@pytest.mark.parametrize("unknown", ["a/b", "../customers", "a?b=c", "a#b", "pi_\u20ac", " "])
def test_id_with_any_characters_is_not_found(client: stripe.StripeClient, unknown: str) -> None:
    fault = refusal(lambda: client.v1.payment_intents.retrieve(unknown))
    assert (fault.http_status, fault.code) == (404, "resource_missing")


def test_body_that_is_too_long_is_refused(url: str) -> None:
    answer = httpx.post(f"{url}/v1/customers", data={"description": "x" * 2_000_000}, headers=BEARER)
    assert answer.status_code == 413


def test_command_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    options = ("--control", "--publishable-key", KEYS.publishable)
    variables = {"STRIPE_SIMULATOR_SECRET_KEY": KEYS.secret}
    with node_process(tmp_path / "ready.json", *options, serves="stripe-simulator", **variables) as (process, facts):
        url = facts["base_url"]
        answer = httpx.get(f"{url}/v1/customers", headers=BEARER, timeout=60)
        assert (answer.status_code, facts["control_url"]) == (200, f"{url}/control")
        assert (facts["secret_key"], facts["publishable_key"]) == (KEYS.secret, KEYS.publishable)
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
        (["--ready-file", "/", "--port", "0"], "can't be written"),
    ],
)
def test_command_says_what_is_wrong(
    options: list[str], words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(signal, "signal", lambda *_: None)  # those of the tests' own process stay
    try:
        code: object = main(["stripe-simulator", *options])
    except SystemExit as ended:
        code = ended.code
    assert (code in {1, 2}, words in capsys.readouterr().err) == (True, True)
