"""The users of the campaign: they make accounts, buy, write and convert without a pause, whatever dies meanwhile."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx
from campaign_world import PUBLISHABLE_KEY, World
from envelopes import conversion, new_wallet, signed, wallet_auth

from reference_node.permission.typed_data import Flow

Headers = dict[str, str]

BUYERS, SPENDERS = 20, 4
"""How many accounts buy at a time, and how many have nothing but their starter credits, to the last cent."""

WRITERS = 0.6
"""The part of the users who write and convert. The others buy, until enough has been paid; they wait a lot."""

OFTEN = 4
"""One job in so many is what a node is to die at."""

PAUSE_SECONDS = 0.05
"""What a user waits for when the node is not there."""


@dataclass
class Goals:
    """How much is to happen, and how much has as far as the users know."""

    payments: int
    writes: int
    lock: threading.Lock = field(default_factory=threading.Lock)

    def count(self, payments: int = 0, writes: int = 0) -> None:
        """So much more has happened."""
        with self.lock:
            self.payments -= payments
            self.writes -= writes

    @property
    def met(self) -> bool:
        """Whether enough has happened."""
        return self.payments <= 0 and self.writes <= 0


class Users:
    """So many threads of them."""

    def __init__(self, world: World, goals: Goals, threads: int, seed: int) -> None:
        self._world = world
        self._goals = goals
        self._random = random.Random(seed)  # noqa: S311 - no secret
        self._buyers: deque[Headers] = deque(maxlen=BUYERS)
        self._spenders: deque[Headers] = deque(maxlen=SPENDERS)
        self._paid: deque[tuple[Headers, str]] = deque()
        self._over = threading.Event()
        self._http = httpx.Client(timeout=120, limits=httpx.Limits(max_connections=2 * threads))
        self._pool = ThreadPoolExecutor(threads)
        self._threads = threads
        self.wanted: Callable[[], None] | None = None
        """What some of them do next, so that a node reaches a rare step."""

    def start(self) -> list[Future[None]]:
        """Begin; each future ends with a fault or once `stop` has been called."""
        writers = round(WRITERS * self._threads)
        return [self._pool.submit(self._live, number < writers) for number in range(self._threads)]

    def stop(self) -> None:
        """Let everybody end what they do."""
        self._over.set()
        self._pool.shutdown()
        self._http.close()

    def _live(self, writer: bool) -> None:
        writing, buying = (self._write, self.spend, self.convert), (self.buy, self.confirm, self.join)
        while not self._over.is_set():
            wanted = self.wanted
            if wanted and self._random.randrange(OFTEN) == 0:
                wanted()
            elif writer or self._goals.payments <= 0:
                self._random.choices(writing, (75, 24, 1))[0]()
            else:
                self._random.choices(buying, (49, 49, 2))[0]()

    # What a user does

    def join(self) -> None:
        """Make an account that will buy."""
        self._join(self._buyers)

    def _join(self, accounts: deque[Headers]) -> Headers | None:
        body = {"account_name": "campaign", "account_description": "", "email": "ada@example.org"}
        made = self._ask("POST", "new_account", {}, **body)
        if made is None or made.status_code != 200:
            return None
        account = {"X-Api-Key": str(made.json()["api_key"])}
        accounts.append(account)
        return account

    def _write(self) -> None:
        self._charged(self._one_of(self._buyers))

    def spend(self) -> None:
        """Write with an account whose credit may be over; then another takes its place."""
        account = self._one_of(self._spenders)
        if account and self._charged(account) == 402:
            with suppress(ValueError):
                self._spenders.remove(account)

    def _charged(self, account: Headers | None) -> int:
        answer = account and self._ask("POST", "add_group", account, group_name="g", group_description="")
        if not answer:
            return 0
        if answer.status_code == 200:
            self._goals.count(writes=1)
        return answer.status_code

    def buy(self) -> None:
        """Make an intent and pay it; who confirms it, once, twice or never, is chance."""
        account = self._one_of(self._buyers)
        if account:
            intent = self._intend(account)
            if intent:
                self._paid.extend([(account, intent)] * self._random.choice([0, 1, 1, 2, 3]))

    def confirm(self) -> None:
        """Confirm what somebody has paid, perhaps while others do; where nothing is paid, pay first."""
        if not self._paid:
            self.buy()
        with suppress(IndexError):
            account, intent = self._paid.popleft()
            self._confirm(account, intent)

    def convert(self) -> None:
        """Hand an account over to a wallet, perhaps while a payment for it is under way, which the wallet confirms."""
        account, wallet = self._join(deque()), new_wallet()
        if not account:
            return
        intent = self._intend(account) if self._random.randrange(2) else None
        self._charged(account)
        self._ask("POST", "convert_to_chain_secured_account", account, **conversion(wallet, self._world.chain_id))
        if intent:
            self._confirm(account, intent)
            self._confirm(wallet_auth(signed(Flow.BILLING_AUTH, wallet, chain_id=self._world.chain_id)), intent)

    def _confirm(self, who: Headers, intent: str) -> None:
        self._ask("POST", "billing/confirm_payment", who, payment_intent_id=intent)

    def _intend(self, account: Headers) -> str | None:
        """A paid intent."""
        cents = self._random.randint(500, 5000)
        made = self._ask("POST", "billing/create_payment_intent", account, amount_cents=cents)
        if made is None or made.status_code != 200:
            return None
        secret = str(made.json()["client_secret"])
        intent = secret.partition("_secret_")[0]
        for _ in range(5):
            if self._paid_at_provider(intent, secret):
                self._goals.count(payments=1)
                return intent
        return None

    def _paid_at_provider(self, intent: str, secret: str) -> bool:
        """What a browser does; an answer that is lost is asked for again."""
        url = f"{self._world.provider_url}/v1/payment_intents/{intent}"
        key = {"Authorization": f"Bearer {PUBLISHABLE_KEY}"}
        with suppress(httpx.TransportError):
            self._http.post(
                f"{url}/confirm", headers=key, data={"client_secret": secret, "payment_method": "pm_card_visa"}
            )
        with suppress(httpx.TransportError, ValueError, TypeError, AttributeError):
            told: Any = self._http.get(url, headers=key, params={"client_secret": secret}).json()
            return told.get("status") == "succeeded"
        return False

    def _one_of(self, accounts: deque[Headers]) -> Headers | None:
        if len(accounts) < (accounts.maxlen or 0):
            return self._join(accounts)
        with suppress(IndexError):  # others change the deque meanwhile
            return self._random.choice(accounts)
        return None

    def _ask(self, method: str, operation: str, headers: Headers, **body: Any) -> httpx.Response | None:
        """An answer of the node; none where it dies before it gives one. Any fault but a 503 is the node's."""
        try:
            answer = self._http.request(
                method, f"{self._world.node_url}/core/v1/{operation}", headers=headers, json=body
            )
        except httpx.TransportError:
            time.sleep(PAUSE_SECONDS)
            return None
        assert answer.status_code < 500 or answer.status_code == 503, answer.text
        return answer
