"""The node under test, with every operation of the service in one object."""

from __future__ import annotations

from conformance.service.accounts import Accounts
from conformance.service.actions import Actions
from conformance.service.contract import Contract
from conformance.service.groups import Groups
from conformance.service.minting import Minting
from conformance.service.payments import Payments
from conformance.service.pkps import Pkps
from conformance.service.restarts import Restarts
from conformance.service.runs import Runs
from conformance.service.session import Session
from conformance.service.signing_runs import SigningRuns
from conformance.service.usage_keys import UsageKeys
from conformance.service.wallets import Wallets


class Node:
    """The operations of the service, by topic."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.label = session.label
        """A name for the case's objects that no other case uses."""
        self.accounts = Accounts(session)
        self.actions = Actions(session)
        self.clock = session.clock
        self.contract = Contract(session)
        self.groups = Groups(session)
        self.minting = Minting(session)
        self.payments = Payments(session)
        self.pkps = Pkps(session)
        self.restarts = Restarts(session)
        self.runs = Runs(session)
        self.signing = SigningRuns(session)
        """Runs that sign the label with a wallet."""
        self.usage_keys = UsageKeys(session)
        self.wallets = Wallets(session)
        """The suite's own wallets."""

    def by_client(self, via: str, *, keeps_connections: bool = True) -> Node:
        """The same node as another client uses it."""
        return Node(self.session.client(via, keeps_connections=keeps_connections))
