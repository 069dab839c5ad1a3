"""The simulator as a server: for Stripe's own SDKs, for browsers, and inside another server."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import stripe
from processes import environment
from simulators import AUTOMATIC, KEYS, Caller, CheckedSimulator, refusal
from starlette.applications import Starlette
from starlette.routing import Mount

from reference_node.cli import main
from reference_node.stripe_simulator.actions import AddFault, SetLatencies
from reference_node.stripe_simulator.app import SimulatorApp
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


def _intent(client: stripe.StripeClient) -> stripe.PaymentIntent:
    return client.v1.payment_intents.create({"amount": 1000, "currency": "usd", "automatic_payment_methods": AUTOMATIC})  # type: ignore[typeddict-item]


def test_lost_answer_is_asked_for_again_by_the_sdk(simulator: CheckedSimulator, client: stripe.StripeClient) -> None:
    AddFault(fault=Fault(method="POST", kind="drop", when="after")).carry_out(simulator)
    intent = _intent(client)
    assert [entry.status for entry in simulator.log] == [None, 200]
    assert [found.id for found in client.v1.payment_intents.list().data] == [intent.id]


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


def test_simulator_can_be_mounted_in_another_application(simulator: CheckedSimulator) -> None:
    app = Starlette(routes=[Mount("/stripe", SimulatorApp(simulator, control=True))])
    headers = {"Authorization": f"Bearer {KEYS.secret}"}

    async def use() -> None:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://node/stripe", headers=headers) as client:
            made = (await client.post("/v1/customers", data={"email": "a@example.com"})).json()
            assert (await client.get(f"/v1/customers/{made['id']}")).json() == made
            assert (await client.get("/control/log")).json()["requests"][0]["path"] == "/v1/customers"

    asyncio.run(use())


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
    ready = tmp_path / "ready.json"
    options = ["--port", "0", "--control", "--ready-file", str(ready)]
    options += ["--secret-key", KEYS.secret] if by == "option" else []
    variables = {} if by == "option" else {"STRIPE_SIMULATOR_SECRET_KEY": KEYS.secret}
    process = subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-m", "reference_node", "stripe-simulator", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(**variables),
    )
    try:
        assert process.stdout is not None
        first = process.stdout.readline()
        found = re.fullmatch(r"Stripe simulator ready at (http://127\.0\.0\.1:\d+)\n", first)
        assert found is not None, first
        answer = httpx.get(f"{found[1]}/v1/customers", headers={"Authorization": f"Bearer {KEYS.secret}"}, timeout=60)
        facts = json.loads(ready.read_text())
        assert (answer.status_code, facts["base_url"], facts["control_url"]) == (200, found[1], f"{found[1]}/control")
        assert (facts["secret_key"], facts["publishable_key"][:8]) == (KEYS.secret, "pk_test_")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        process.kill()
        process.communicate()


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
