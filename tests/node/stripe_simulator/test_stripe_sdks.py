"""Credits of a node are bought through Stripe's own SDKs, at the port that its embedded simulator has for them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nodes import Running, serving
from programs import absent
from stripe_mock import go

from reference_node.settings import Settings

HERE = Path(__file__).parent


def _python(_: Path) -> list[str]:
    return [sys.executable, str(HERE / "purchase.py")]


def _node_js(_: Path) -> list[str]:
    node = shutil.which("node")
    if node is None or not (HERE / "js" / "node_modules").is_dir():
        absent("Stripe's SDK for Node.js is missing: run `npm --prefix tests/node/stripe_simulator/js ci`")
    return [node, str(HERE / "js" / "purchase.mjs")]


def _go(folder: Path) -> list[str]:
    go("-C", str(HERE / "go"), "build", "-mod=readonly", "-buildvcs=false", "-o", str(folder / "purchase"), ".")
    return [str(folder / "purchase")]


SDKS = [
    pytest.param(_python, "CardError", "InvalidRequestError", "PermissionError", id="python"),
    pytest.param(_node_js, "StripeCardError", "StripeInvalidRequestError", "StripePermissionError", id="node"),
    # This SDK has no class for what a key may not do.
    pytest.param(_go, "*stripe.CardError", "*stripe.InvalidRequestError", "*stripe.InvalidRequestError", id="go"),
]


@pytest.fixture(scope="module")
def shop() -> Iterator[Running]:
    """A node whose new accounts have no credit."""
    with serving(Settings(port=0)) as running:
        yield running


@pytest.mark.parametrize(("program", "card", "invalid", "permission"), SDKS)
def test_sdk_buys_credits(
    shop: Running, tmp_path: Path, program: Callable[[Path], list[str]], card: str, invalid: str, permission: str
) -> None:
    key = shop.account()
    secret = str(shop.done("billing/create_payment_intent", key, amount_cents=500)["client_secret"])
    done = _run(program(tmp_path), shop, shop.ready["stripe_url"], secret)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "declined": [card, 402, "card_declined", "generic_decline"],
        "paid": "succeeded",
        "found": [500, True],
        "replayed": True,
        "canceled": "canceled",
        "refunded": [400, "succeeded"],
        "listed": True,
        "forbidden": [permission, 403, "secret_key_required", ""],
        "unknown": [invalid, 404, "resource_missing", ""],
    }
    shop.done("billing/confirm_payment", key, payment_intent_id=secret.partition("_secret_")[0])
    assert shop.balance(key) == 500


@pytest.mark.parametrize(("program", "_card", "invalid", "_permission"), SDKS)
def test_sdk_that_takes_the_nodes_port_for_stripes_says_so(
    shop: Running, tmp_path: Path, program: Callable[[Path], list[str]], _card: str, invalid: str, _permission: str
) -> None:
    done = _run(program(tmp_path), shop, shop.ready["base_url"], "pi_1_secret_1")
    assert done.returncode != 0
    assert done.stdout == ""
    assert "there is no such path; the simulator of Stripe has a port of its own (--stripe-port)" in done.stderr
    assert invalid in done.stderr


def _run(program: list[str], shop: Running, url: str, secret: str) -> subprocess.CompletedProcess[str]:
    assert shop.node.simulator is not None
    keys = shop.node.simulator.keys
    arguments = [*program, url, keys.secret, keys.publishable, secret]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603 - our own
