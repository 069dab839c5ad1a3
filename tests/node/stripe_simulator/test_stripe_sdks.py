"""Credits of a node are bought through Stripe's own SDKs, at the port that its embedded simulator has for them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nodes import Running, serving
from programs import absent
from stripe_mock import go

from reference_node.settings import Settings

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Sdk:
    """A program that buys through an SDK, and what that calls its errors."""

    program: list[str]
    card: str
    invalid: str
    permission: str


def _python(_: Path) -> Sdk:
    return Sdk([sys.executable, str(HERE / "purchase.py")], "CardError", "InvalidRequestError", "PermissionError")


def _node_js(_: Path) -> Sdk:
    node = shutil.which("node")
    if node is None or not (HERE / "js" / "node_modules").is_dir():
        absent("Stripe's SDK for Node.js is missing: run `npm --prefix tests/node/stripe_simulator/js ci`")
    program = [node, str(HERE / "js" / "purchase.mjs")]
    return Sdk(program, "StripeCardError", "StripeInvalidRequestError", "StripePermissionError")


def _go(folder: Path) -> Sdk:
    built = str(folder / "purchase")
    go("-C", str(HERE / "go"), "build", "-mod=readonly", "-buildvcs=false", "-o", built, ".")
    invalid = "*stripe.InvalidRequestError"  # this SDK has no class for what a key may not do
    return Sdk([built], "*stripe.CardError", invalid, invalid)


@pytest.fixture(scope="module", params=[_python, _node_js, _go], ids=["python", "node", "go"])
def sdk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Sdk:
    """Each SDK."""
    made: Sdk = request.param(tmp_path_factory.mktemp("sdk"))
    return made


@pytest.fixture(scope="module")
def shop() -> Iterator[Running]:
    """A node whose new accounts have no credit."""
    with serving(Settings(port=0)) as running:
        yield running


def test_sdk_buys_credits(shop: Running, sdk: Sdk) -> None:
    key = shop.account()
    secret = str(shop.done("billing/create_payment_intent", key, amount_cents=500)["client_secret"])
    done = _run(sdk.program, shop, shop.ready["stripe_url"], secret)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "declined": [sdk.card, 402, "card_declined", "generic_decline"],
        "paid": "succeeded",
        "found": [500, True],
        "replayed": True,
        "canceled": "canceled",
        "refunded": [400, "succeeded"],
        "listed": True,
        "forbidden": [sdk.permission, 403, "secret_key_required", ""],
        "unknown": [sdk.invalid, 404, "resource_missing", ""],
    }
    shop.done("billing/confirm_payment", key, payment_intent_id=secret.partition("_secret_")[0])
    assert shop.balance(key) == 500


def test_sdk_that_takes_the_nodes_port_for_stripes_says_so(shop: Running, sdk: Sdk) -> None:
    done = _run(sdk.program, shop, shop.ready["base_url"], "pi_1_secret_1")
    assert done.returncode != 0
    assert done.stdout == ""
    assert "there is no such path; the simulator of Stripe has a port of its own (--stripe-port)" in done.stderr
    assert sdk.invalid in done.stderr


def _run(program: list[str], shop: Running, url: str, secret: str) -> subprocess.CompletedProcess[str]:
    assert shop.node.simulator is not None
    keys = shop.node.simulator.keys
    arguments = [*program, url, keys.secret, keys.publishable, secret]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603 - our own
