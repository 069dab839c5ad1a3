"""One case while it runs: its scope, its exchanges, the credentials it met, and what it has to clean up."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property

from conformance.drivers.steps.cleanup import CleanupRegistry
from conformance.endpoints.chain import ChainClient
from conformance.endpoints.client import Answer, AskedAt, Target
from conformance.endpoints.clock import NodeClock
from conformance.endpoints.funding import Purse
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.redaction import SECRET_MEMBERS, Secrets
from conformance.endpoints.requests import OutgoingRequest, message
from conformance.endpoints.sending import Receipt, Sender
from conformance.endpoints.signing import Transaction
from conformance.language.functions import FUNCTIONS
from conformance.language.scope import Scope
from conformance.language.wallets import CaseWallet
from conformance.problems import ProfileSilent, StepProblem
from conformance.profile import Effect
from conformance.values.json_values import printed
from conformance.values.typed_data import Wallet
from conformance.verdict import CellOutcome


class CaseRun:
    """What the steps of a case share. A branch has a scope of its own and shares everything else."""

    def __init__(self, target: Target, case_id: str) -> None:
        self.target = target
        self.secrets = Secrets()
        self.log = ExchangeLog(self.secrets)
        self.belongings = CleanupRegistry()
        self.accepted: set[str] = set()
        """Ids of the steps that were accepted: a refusal's control must be among them."""
        self.scope = Scope(f"{target.seed}/{case_id}//", target.profile_value, {"base_url": target.base_url})
        self.scope.variables["label"] = f"suite {self.scope.random.getrandbits(40):010x}"
        self.chain = ChainClient(target, self.log)
        self.clock = NodeClock(target, self.log)
        self.wallets: list[CaseWallet] = []
        """The suite's own wallets that steps of the case have made."""
        self.cells: dict[str, CellOutcome] = {}
        """The cells of a matrix by id, and what has come of them so far."""
        self.witnesses: list[Callable[[OutgoingRequest, Answer], None]] = []
        """Told of every request of the service and its answer."""
        self._last_write = [0.0]
        self._ids_as_text = target.profile.wire.list_groups.id_form == "decimal_string"

    def branch(self, name: str) -> CaseRun:
        """The same case for one of several steps at the same time."""
        branch = object.__new__(CaseRun)
        branch.__dict__.update(self.__dict__)
        branch.scope = self.scope.branch(name)
        return branch

    def account_key(self, name: str) -> str:
        """The API key of an account that a step made."""
        return printed(self.scope.lookup(name, ()))

    def send(self, wanted: OutgoingRequest) -> Answer:
        """Send a request, remember the credentials in it and in its answer, and what it made."""
        self.secrets.learn(wanted.credential)
        for name in SECRET_MEMBERS & wanted.members.keys():
            self.secrets.learn(wanted.members[name])
        self.settle()
        answer = self.target.exchange(message(wanted, ids_listed_as_text=self._ids_as_text), self.log, wanted.operation)
        answer.asked_at = wanted.asked_at
        if wanted.operation.effect is not Effect.READ:
            self._last_write[0] = time.monotonic()
        for witness in self.witnesses:
            witness(wanted, answer)
        if answer.accepted and (answer.asked_at is not AskedAt.OUTSIDE or answer.readable):
            self._remember(wanted, answer)
        return answer

    @cached_property
    def purse(self) -> Purse:
        """How the case's wallets come to ether. ProfileSilent: they come to none."""
        if self.target.funder is None:
            raise ProfileSilent("a profile with the capability funded_wallet", "a profile without")
        sender = Sender(self.chain, self.target.gas)
        return Purse(self.target, self.chain, sender, self.log, self.target.funder)

    def transact(self, wallet: Wallet, transaction: Transaction, *, to_be_reverted: bool = False) -> Receipt:
        """Send a transaction of a wallet and wait for its block: see `Sender.send`."""
        self.settle()
        try:
            return self.purse.send(wallet, transaction, to_be_reverted=to_be_reverted)
        finally:
            self._last_write[0] = time.monotonic()

    def settle(self) -> None:
        """The profile may say that writes take a while to show: everything after one waits so long."""
        if self.target.settle_seconds:
            time.sleep(max(0.0, self._last_write[0] + self.target.settle_seconds - time.monotonic()))

    def _remember(self, wanted: OutgoingRequest, answer: Answer) -> None:
        value = answer.value
        if isinstance(value, dict):
            for name in SECRET_MEMBERS & value.keys():
                self.secrets.learn(value[name])
        self.belongings.note(wanted.operation.name, wanted.credential, wanted.members, value)
        if wanted.operation.name == "convert_to_chain_secured_account" and wanted.credential is not None:
            self._note_conversion(wanted.credential, wanted.members.get("new_admin_wallet_address"))

    def _note_conversion(self, account_key: str, admin: object) -> None:
        try:
            hashed = printed(FUNCTIONS["account_hash"](self.scope, account_key))
        except StepProblem:  # the profile does not say how hashes are made
            return
        self.belongings.hand_over(account_key)
        self.belongings.note_admin(hashed, printed(admin))
