"""Accounts that write and pay while a node is disturbed, and record what it acknowledges.

At the end the node must have each acknowledged write once, and a balance that payments and writes explain. A
request without an accepted answer may have been carried out or not: it has to have been charged accordingly.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from conformance.endpoints.client import Target
from conformance.problems import IdleConnectionClosed, Problem, ServerFault, Unreachable
from conformance.service.accounts import Accounts
from conformance.service.groups import Groups
from conformance.service.payments import BOUGHT, PaymentIntent, Payments
from conformance.service.session import Session
from conformance.values.json_values import member, printed

WITNESSES = 3
"""The number of parallel witnesses."""
PURCHASE_EVERY = 6
"""One of so many acts buys credit. The others create a group."""
REST_SECONDS = 0.05
"""Seconds to wait after a failed act."""
AUDIT_SECONDS = 60.0
"""Seconds in which the audit tries to reach the node."""


@dataclass
class Books:
    """A witness's record of its account."""

    acknowledged: set[str] = field(default_factory=set)
    """Names of the groups whose creation was accepted."""
    doubtful: set[str] = field(default_factory=set)
    """Names of the groups whose creation was not accepted; it may have happened nevertheless."""
    intents: list[PaymentIntent] = field(default_factory=list)
    """The known payment intents."""
    starter_cents: int = 0
    """The balance before the first write."""


class Witness:
    """A witness with its account."""

    def __init__(self, target: Target, place: int) -> None:
        self._target = target
        self.place = place
        self._acts = 0
        self._key = ""
        self.books = Books()

    def open(self) -> None:
        """Create the account. The node is not disturbed yet."""
        session = self._session()
        self._key = Accounts(session).new("a witness of what the node acknowledges").key
        self.books.starter_cents = Payments(session).balance(self._key)

    def act(self) -> None:
        """Create a group or buy credit. Raises StepProblem where that is not answered or is refused."""
        session = self._session()
        if self._acts % PURCHASE_EVERY == 0:
            self._buy(Payments(session))
        else:
            self._make_group(session)

    def _session(self) -> Session:
        """A new session for each act, since a session keeps all its exchanges."""
        self._acts += 1
        return Session(self._target, f"witness-{self.place}/{self._acts}")

    def _make_group(self, session: Session) -> None:
        request = Groups(session).creation(self._key)
        name = printed(request.members["group_name"])
        self.books.doubtful.add(name)
        session.accept(request)
        self.books.doubtful.remove(name)
        self.books.acknowledged.add(name)

    def _buy(self, payments: Payments) -> None:
        intent = payments.intend(self._key)
        self.books.intents.append(intent)
        payments.must_pay(intent)
        payments.confirm(self._key, intent)

    # -------------------------------------------------------------------------------------------------- the audit

    def audit(self) -> Iterator[str]:
        """The faults of the account. Confirms paid intents first, which may not have been credited."""
        session = self._session()
        payments = Payments(session)
        paid = 0
        for intent in self.books.intents:
            if payments.at_provider(intent)["status"] in BOUGHT:
                payments.confirm(self._key, intent)
                paid += intent.cents
        listed = Counter(printed(member(group, "name")) for group in Groups(session).list(self._key))
        yield from self._of_groups(listed)
        charge = self._target.charge(self._target.operation("add_group"))
        due = self.books.starter_cents + paid - charge * listed.total()
        balance = payments.balance(self._key)
        if balance != due:
            explained = f"{self.books.starter_cents} to begin with, {paid} paid, {listed.total()} groups of {charge}"
            yield f"account {self.place}: the balance is {balance} cents, not {due} ({explained})"

    def _of_groups(self, listed: Counter[str]) -> Iterator[str]:
        for name in sorted(self.books.acknowledged - listed.keys()):
            yield f"account {self.place}: the acknowledged group {name!r} is lost"
        for name, times in listed.items():
            if times > 1:
                yield f"account {self.place}: the group {name!r} is there {times} times"
            if name not in self.books.acknowledged | self.books.doubtful:
                yield f"account {self.place}: nobody asked for the group {name!r}"


class Witnesses:
    """All witnesses, each in a thread."""

    def __init__(self, target: Target) -> None:
        self.all = [Witness(target, place) for place in range(WITNESSES)]
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._live, args=(one,), daemon=True) for one in self.all]

    def start(self) -> None:
        """Create the accounts and start. Raises the problems of creating an account."""
        for witness in self.all:
            witness.open()
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Let each finish its current act."""
        self._over.set()
        for thread in self._threads:
            if thread.is_alive():
                thread.join()

    def _live(self, witness: Witness) -> None:
        while not self._over.is_set():
            try:
                witness.act()
            except Problem:  # it stays in doubt
                self._over.wait(REST_SECONDS)

    def audit(self) -> list[str]:
        """The faults of all accounts."""
        return [fault for witness in self.all for fault in _audited(witness)]


def _audited(witness: Witness) -> list[str]:
    """Audit a witness, with retries: the node may not answer just after a disturbance."""
    until = time.monotonic() + AUDIT_SECONDS
    while True:
        try:
            return list(witness.audit())
        except (IdleConnectionClosed, ServerFault, Unreachable) as problem:
            if time.monotonic() > until:
                return [f"account {witness.place} could not be audited: {problem}"]
            time.sleep(1.0)
        except Problem as problem:
            return [f"account {witness.place} could not be audited: {problem}"]
