"""Credits: a charged write, the balance and a confirmed payment, with a ledger in a file, also of a million rows."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import stripe

from benchmarks.node_process import Account, node_process, wait_for
from benchmarks.timing import Row, in_turn
from reference_node.billing import Cents
from reference_node.billing.ledger import Ledger

ROWS = 1_000_000
ROUNDS = 300
PAYMENTS = 60

PROVIDER_MS = 20
"""How long the provider takes for an answer; Stripe itself takes longer. Without it, HTTP would be measured."""

SECRET_KEY, PUBLISHABLE_KEY = "sk_test_benchmark", "pk_test_benchmark"
INSERTION = "INSERT INTO transfer (at, kind, reference, debit, credit, cents) VALUES (0, 'charge', ?, ?, ?, 1)"


def rows() -> list[Row]:
    """Every measurement of credits."""
    with tempfile.TemporaryDirectory() as folder, _provider() as provider, ExitStack() as nodes:
        ledger, grown = Path(folder) / "ledger.sqlite", Path(folder) / "grown.sqlite"
        _fill(grown)
        small, large = (nodes.enter_context(_shop(provider, file)) for file in (ledger, grown))
        free = Account(nodes.enter_context(node_process("--payments", "none")))
        write, without, among = in_turn([small.write, lambda: _write(free), large.write], ROUNDS)
        balance, view = in_turn([small.balance, small.view], ROUNDS)  # without another process between the two
        of_few, of_many = in_turn([small.balance, large.balance], ROUNDS)
        provider.take(PROVIDER_MS)
        confirmed, looked_up, with_many = in_turn([small.confirm, small.look_up, large.confirm], PAYMENTS)
    return [
        Row("charged write over HTTP, the ledger in a file", write, "the same with --payments none", without, 1.15),
        Row("balance over HTTP", balance, "account_exists, a bare view", view, 1.3),
        Row("payment confirmed over HTTP", confirmed, "the provider's own call by its SDK", looked_up, 1.5),
        *(
            Row(f"{what} among {ROWS:,} rows", many, "the same in an empty ledger", few, 1.25)
            for what, many, few in (
                ("charged write", among, write),
                ("balance", of_many, of_few),
                ("payment confirmed", with_many, confirmed),
            )
        ),
    ]


def _write(account: Account) -> None:
    account.post("add_group", group_name="g", group_description="d")


@dataclass(frozen=True)
class Provider:
    """The Stripe simulator, in a process of its own."""

    url: str
    http: httpx.Client

    def pay(self, secret: str) -> str:
        """Pay as a browser does; the intent's id."""
        intent = secret.partition("_secret_")[0]
        form = {"client_secret": secret, "payment_method": "pm_card_visa"}
        key = {"Authorization": f"Bearer {PUBLISHABLE_KEY}"}
        self.http.post(f"{self.url}/v1/payment_intents/{intent}/confirm", data=form, headers=key).raise_for_status()
        return intent

    def take(self, milliseconds: int) -> None:
        """Take so long for each answer from now on."""
        latency = {"latencies": [{"before_ms": milliseconds}]}
        self.http.post(f"{self.url}/control/latency", json=latency).raise_for_status()


@contextmanager
def _provider() -> Iterator[Provider]:
    with tempfile.TemporaryDirectory() as folder, httpx.Client(trust_env=False) as http:
        ready = Path(folder) / "ready.json"
        keys = ["--secret-key", SECRET_KEY, "--publishable-key", PUBLISHABLE_KEY]
        command = [sys.executable, "-m", "reference_node", "stripe-simulator", "--control", "--port", "0", *keys]
        process = subprocess.Popen([*command, "--ready-file", str(ready)], stdout=subprocess.DEVNULL)  # noqa: S603 - our own
        try:
            yield Provider(wait_for(ready, process)["base_url"], http)
        finally:
            process.terminate()
            process.wait()


class Shop:
    """A node that sells credits, one of its accounts, and what is measured there."""

    def __init__(self, account: Account, provider: Provider) -> None:
        self._account = account
        secrets = [account.post("billing/create_payment_intent", amount_cents=500) for _ in range(PAYMENTS + 2)]
        self._looked_up, *self._paid = [provider.pay(str(made["client_secret"])) for made in secrets]
        self._sdk = stripe.StripeClient(SECRET_KEY, base_addresses={"api": provider.url}).v1.payment_intents

    def write(self) -> None:
        """A management write."""
        _write(self._account)

    def balance(self) -> None:
        """The balance."""
        self._account.get("/billing/balance")

    def view(self) -> None:
        """The contract's answer to one question."""
        self._account.get("/account_exists")

    def confirm(self) -> None:
        """Credit another payment."""
        self._account.post("billing/confirm_payment", payment_intent_id=self._paid.pop())

    def look_up(self) -> None:
        """What the node has to ask of the provider for that."""
        self._sdk.retrieve(self._looked_up, {"expand": ["latest_charge"]})


@contextmanager
def _shop(provider: Provider, ledger: Path) -> Iterator[Shop]:
    options = ["--ledger", str(ledger), "--payments", "stripe", "--stripe-api-base", provider.url]
    keys = {"STRIPE_SECRET_KEY": SECRET_KEY, "STRIPE_PUBLISHABLE_KEY": PUBLISHABLE_KEY}
    with node_process(*options, **keys) as ready:
        yield Shop(Account(ready), provider)


def _fill(file: Path) -> None:
    """A ledger of a thousand accounts, in which a million charges have been made."""
    with closing(Ledger(file)) as ledger, ledger._transaction():
        accounts = [ledger._account(number.to_bytes(20)) for number in range(1_000)]
        for number in range(1_000):
            ledger.grant(number.to_bytes(20), Cents(2 * ROWS // 1_000))
        revenue = ledger._own("revenue")
        ledger._database.executemany(
            INSERTION, ((f"{number:032x}", accounts[number % 1_000], revenue) for number in range(ROWS))
        )
