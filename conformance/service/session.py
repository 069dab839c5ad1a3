"""The session of one case with a node: requests, seen credentials, transactions, and objects to clean up."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import Self, TypeVar

from conformance.endpoints.chain import ChainClient
from conformance.endpoints.client import Target
from conformance.endpoints.clock import NodeClock
from conformance.endpoints.extent import FEW
from conformance.endpoints.funding import Funder, Purse, funder_of
from conformance.endpoints.log import ComputedIds, ExchangeLog, RawExchange
from conformance.endpoints.messages import Answer, AskedAt
from conformance.endpoints.redaction import SECRET_MEMBERS, Secrets
from conformance.endpoints.requests import OutgoingRequest, message
from conformance.endpoints.sending import Receipt, Sender
from conformance.endpoints.signing import Transaction
from conformance.problems import NoFunderKey, ProfileSilent, StepProblem
from conformance.profile import Effect, Profile, read_aside
from conformance.service.acceptance import Accepted, must_accept
from conformance.service.clock import Clock
from conformance.service.derivations import ID_RULE, account_hash
from conformance.service.given_names import GivenNames
from conformance.service.reads import RecentReads
from conformance.service.registry import CleanupRegistry
from conformance.service.reliance import Reliance
from conformance.service.settling import Settling
from conformance.service.suite_wallet import SuiteWallet
from conformance.service.wallet_names import FORM, WalletNames
from conformance.values.ids import Address, PkpId
from conformance.values.json_values import printed
from conformance.values.typed_data import Wallet

T = TypeVar("T")
DESCRIPTION = "made by a conformance case"
"""The description of what a case makes."""


LABEL = re.compile("suite [0-9a-f]{10}")
"""How the suite names what cases make."""


def _label(case: random.Random) -> str:
    return f"suite {case.getrandbits(40):010x}"


def labels_of(cases: Iterable[str], seed: str) -> dict[str, str]:
    """The labels of these cases of a run, by what a report calls them."""
    made = {case: random.Random(f"{seed}/{case}//") for case in cases}  # noqa: S311 - as in Session
    return {f"{case}'s label": _label(drawn) for case, drawn in made.items()}


class Session:
    """The state that a case's calls share. A branch, for one of several threads, has its own randomness and cache."""

    def __init__(self, target: Target, case_id: str, reliance: Reliance | None = None) -> None:
        self.target = target
        self.reliance = reliance or Reliance(target)
        self.via = "x-api-key"
        """The header in which requests hold their key, unless they name another."""
        self.seed = f"{target.seed}/{case_id}//"
        """Determines, together with names, the case's random values and wallets."""
        self.random = random.Random(self.seed)  # noqa: S311 - repeatable test data, no secret
        self.label = _label(self.random)
        """A name for the case's objects that no other case uses."""
        self._given_names = GivenNames(target.repeatable_names)
        self.secrets = Secrets(target.seen_keys)
        self.log = ExchangeLog(self.secrets)
        self.recent_reads = RecentReads(self.log)
        self.cleanup = CleanupRegistry()
        self.chain = ChainClient(target, self.log)
        self.clock = Clock(NodeClock(target, self.log), self._chain_config)
        self.wallets: list[SuiteWallet] = []
        """The wallets that the case created. Their remaining ether is returned at its end."""
        self.tried: dict[str, dict[int | str, None]] = {}
        """What the case tried of many values, by what they are values of, in the order of the trials."""
        self.witnesses: list[Callable[[OutgoingRequest, Answer], None]] = []
        """Each is called with every request of the service and its answer."""
        self.judges = False
        """Whether a block is open whose departures are failures of the case."""
        self.compares_at_once = False
        """Whether state is read after each refused request: the one that changed it is sought."""
        self.change_is_unclear = False
        """Whether state changed and several refused requests may have changed it."""
        self._settling = Settling(lambda: target.settle_seconds, target.pause)
        with read_aside():  # only a listed group can confirm this key
            self._ids_as_text = target.profile.wire.list_groups.id_form in {"decimal_string", "hex"}
            self._names: WalletNames | None = None
            if target.profile.wire.requests.pkp_id_form == "address":
                rule = target.profile_value(ID_RULE)
                names = partial(WalletNames, target.seen_keys.addresses, None if rule is None else printed(rule))
                self._names = target.remembered(FORM, names)

    @property
    def profile(self) -> Profile:
        """The node's profile."""
        return self.target.profile

    @property
    def last_exchange(self) -> int | None:
        """The number of the newest exchange in the log; None before the first."""
        return len(self.log) - 1 if len(self.log) else None

    def stated(self, key: str) -> object:
        """The profile's value at a dotted key. ProfileSilent: the profile leaves it out."""
        value = self.target.profile_value(key)
        if value is None:
            raise ProfileSilent(f"a profile that says {key}", "a profile that leaves it out")
        return value

    def branch(self, name: str) -> Self:
        """The same session for one of several threads."""
        branch = copy.copy(self)
        branch.seed = f"{self.seed}/{name}"
        branch.recent_reads = RecentReads(self.log, beside_others=True)
        branch.random = random.Random(branch.seed)  # noqa: S311 - repeatable test data, no secret
        return branch

    def client(self, via: str, *, keeps_connections: bool = True) -> Self:
        """The same session of a client that sends its key in this header, perhaps over a new connection each time.

        What a node remembers by header or by connection is not renewed by what another client writes.
        """
        client = copy.copy(self)
        client.via = via
        if not keeps_connections:
            client.target = self.target.without_kept_connections()
        return client

    # -------------------------------------------------------------------------------------------------- requests

    def request(self, operation: str, credential: str | None = None, /, **members: object) -> OutgoingRequest:
        """A request by canonical names, with a key in the session's header. ProfileSilent: the profile lacks it."""
        return OutgoingRequest(self.target.operation(operation), credential, self.via, members=members)

    def call(self, operation: str, credential: str | None = None, /, **members: object) -> Answer:
        """Send a request that must be accepted; its answer."""
        answer = self.send(self.request(operation, credential, **members))
        must_accept(answer)
        return answer

    def accept(self, request: OutgoingRequest) -> tuple[Answer, Accepted]:
        """Send a request that must be accepted; its answer, and the control for refusals of the same operation."""
        answer = self.send(request)
        must_accept(answer)
        return answer, Accepted(request.operation.name, request)

    def send(self, request: OutgoingRequest, *, at_once: bool = False) -> Answer:
        """Send a request. Remember the credentials in it and in its answer, and what has to be cleaned up.

        It waits for writes before it that it may depend on, unless it is to be sent `at_once`. Where the node may have
        refused a name that is given twice, it is sent again under another.
        """
        self.secrets.learn(request.credential)
        for name in SECRET_MEMBERS & request.members.keys():
            self.secrets.learn(request.members[name])
        request = self._with_page(request)
        self._given_names.sending(request)
        answer = self._send(request) if at_once else self._settling.send(request, self._send)
        if renamed := self._given_names.renamed(request, answer):
            answer = self._send(renamed)
            answer.renamed = {name: value for name, value in renamed.members.items() if value != request.members[name]}
            request = renamed
        self._given_names.note(request, answer)
        return answer

    def as_specified(self, request: OutgoingRequest) -> OutgoingRequest:
        """The request with its body as the specification has it, whatever the node takes in place of a PKP id."""
        return replace(request, body=message(request, ids_listed_as_text=self._ids_as_text).body)

    def _send(self, request: OutgoingRequest) -> Answer:
        taken = request if self._names is None else self._names.by_address(request)
        wire = message(taken, ids_listed_as_text=self._ids_as_text)
        self.reliance.sending(request.operation)
        answer = self.target.exchange(wire, self.log, request.operation)
        answer.asked_at = request.asked_at
        self.clock.note(answer)
        if request.operation.effect is not Effect.READ:
            self._settling.note(request)
        for witness in self.witnesses:
            witness(request, answer)
        if answer.accepted and answer.asked_at is AskedAt.ENDPOINT:
            self.reliance.accepted(request, answer, self.label)
        if answer.accepted and (answer.asked_at is not AskedAt.OUTSIDE or answer.readable):
            self._remember(request, answer)
        return answer

    def note_tried(self, name: str, *values: int | str) -> None:
        """Note what was tried of many values: of a list a number of its items. The results tell it."""
        self.tried.setdefault(name, {}).update(dict.fromkeys(values))

    def note_computed(self, reads: OutgoingRequest, ids: Mapping[Address, PkpId]) -> None:
        """Note ids of wallets that were computed, and the request that would have read them."""
        wire = message(reads)
        sent = (wire.method, f"{self.target.base_url}{wire.path}", wire.headers, wire.body)
        raw = RawExchange(*sent, None, {}, "", 0, reads.operation.name)
        members = reads.operation.items or {}
        self.log.computed.append(ComputedIds(len(self.log), raw, ids, members.get("id", "id")))

    def _with_page(self, request: OutgoingRequest) -> OutgoingRequest:
        """The request of a list with page fields, where the profile says that none may be left out."""
        if not request.operation.is_list:
            return request
        with read_aside():
            first = self.target.profile_value("wire.paging.first_page_number")
            if self.profile.limits.page_size_default is not None or first is None or request.path is not None:
                return request
            fields: dict[str, object] = {"page_number": first, "page_size": self.target.page_size}
        return replace(request, members={**fields, **request.members})

    def some(self, values: Sequence[T], most: int = FEW) -> Sequence[T]:
        """In a quick run at most so many of values that are alike, else all of them."""
        return self.target.extent.some(values, most)

    def settle(self) -> None:
        """Wait until every write shows, for the time that the profile states."""
        self._settling.wait()

    def _remember(self, request: OutgoingRequest, answer: Answer) -> None:
        value = answer.value
        if isinstance(value, dict):
            self.secrets.learn_members(value, answer.exchange)
        self.cleanup.note(request.operation.name, request.credential, request.members, value)
        if request.operation.name == "convert_to_chain_secured_account" and request.credential is not None:
            self._note_conversion(request.credential, request.members.get("new_admin_wallet_address"))

    def _note_conversion(self, account_key: str, admin: object) -> None:
        try:
            with read_aside():
                hashed = account_hash(account_key, self.profile)
        except StepProblem:  # the profile does not say how hashes are made
            return
        self.cleanup.hand_over(account_key)
        self.cleanup.note_admin(hashed, Address(printed(admin)))

    def _chain_config(self) -> Answer:
        return self.call("get_node_chain_config")

    # -------------------------------------------------------------------------------------------------- the chain

    @property
    def funder(self) -> Funder | None:
        """Where the wallets of cases get ether from; None where they get none, or its key is missing."""
        return self.target.remembered("funder", self._funder)

    def _funder(self) -> Funder | None:
        with suppress(NoFunderKey):
            return funder_of(self.target.profile)
        return None

    @cached_property
    def purse(self) -> Purse:
        """Funds the case's wallets. ProfileSilent: there is no funding. NoFunderKey: the funder's key is missing."""
        if self.funder is None:
            funder_of(self.profile)
            raise ProfileSilent("a profile with the capability funded_wallet", "a profile without")
        sender = Sender(self.chain, self.target.gas, self.target.mining)
        return Purse(self.target, self.chain, sender, self.log, self.funder)

    def transact(self, wallet: Wallet, transaction: Transaction, *, to_be_reverted: bool = False) -> Receipt:
        """Send a transaction of a wallet and wait for its block: see `Sender.send`."""
        self.settle()
        try:
            return self.purse.send(wallet, transaction, to_be_reverted=to_be_reverted)
        finally:
            self._settling.note(None)
