"""The driver `hostile`: runs several hostile actions at a time, and checks that the node withstands them.

Specification, "What the service does" 2: the service runs whatever a caller submits. What stops a run is the
node's choice (EXEC-320). A run that never ends must be stopped, others must be served meanwhile, and the next run must
find nothing of it (EXEC-270).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field

from conformance.drivers.sections import blaming, set_up
from conformance.drivers.steps.caserun import CaseRun
from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.language.models import CaseForm
from conformance.language.templates import CompileContext
from conformance.problems import (
    BadShape,
    Departure,
    Mismatch,
    NoAnswerInTime,
    RunEndedOtherwise,
    ServerFault,
    Throttled,
)
from conformance.resources import fixtures
from conformance.service.acceptance import must_accept
from conformance.service.action_sources import MEMBER, NAMED_BY, needs, source
from conformance.service.bindings import bound
from conformance.service.node import Node
from conformance.service.runs import RESPONSE_FORM, Runs, failed, returned
from conformance.service.session import Session
from conformance.values.json_values import member, printed, same

FORMS = "exec.failure_and_limits"
TIMEOUT = f"{FORMS}.timeout_seconds"
GRACE_SECONDS = 10.0
"""Seconds beyond its limit that a run may take to be started, stopped and answered on a busy node."""
PATIENCE_SECONDS = 5.0
"""Seconds that a list may take beside hostile runs, unless half of a run's time limit is more."""
RETRIES = 20
PAUSE_SECONDS = 2.0
HONEST_SIGNER = "sign_message"
HONEST = "async function main(params) { return { n: params.n }; }"
SHOWN = 300


class Entry(BaseModel):
    """A hostile action, an entry of `fixtures/hostile/index.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    title: str
    family: str
    limit: Literal["time", "memory", "response", "calls", "none", "any"]
    outcome: Literal["has_error", "any"]
    wallet: bool = False

    @property
    def must_fail(self) -> bool:
        """Whether it fails on every node. False where that depends on how much memory or output the node allows."""
        return self.outcome == "has_error" and self.limit == "time"


@cache
def entries() -> tuple[Entry, ...]:
    """Every hostile action."""
    index = fixtures() / "hostile" / "index.yaml"
    return tuple(Entry.model_validate(entry) for entry in yaml.safe_load(index.read_text(encoding="utf-8")))


@cache
def families() -> frozenset[str]:
    """The names of all families."""
    return frozenset(entry.family for entry in entries())


class HostileCase(CaseForm):
    """Runs the hostile actions of some families beside honest runs of another account."""

    driver: Literal["hostile"]
    families: Annotated[list[str], Field(min_length=1)]
    """The families of hostile actions to run."""
    ends: Annotated[list[str], Field(min_length=1)]
    """The requirements that say how a run ends that never would, or that fails."""
    isolated: Annotated[list[str], Field(min_length=1)]
    """The requirements that say that no run finds anything of another."""
    at_once: Annotated[int, Field(ge=1, le=16)] = 4
    """How many hostile actions run in parallel."""


@dataclass(frozen=True)
class Roles:
    """The keys of two accounts that may run any action."""

    attacker: str
    wallet: str
    """The PKP id of the attacker's wallet, which the hostile runs name."""
    bystander: str


def compile_hostile(form: HostileCase, context: CompileContext) -> Callable[[CaseRun], None]:
    """Compile every action of the families beside a bystander; after each, a check for leftovers."""
    known = families()
    for index, family in enumerate(form.families):
        if family not in known:
            raise context.at("families", index).problem(BadShape, f"no family is called {family!r}: {sorted(known)}")
    info = context.info
    info.uses |= {FORMS, TIMEOUT, RESPONSE_FORM, MEMBER, NAMED_BY, "wire.group.cid_wildcard_form"}
    info.uses |= {"wire.paging.first_page_number", *needs(HONEST_SIGNER)}
    info.operations |= {"create_wallet", "list_wallets", "add_group", "run_action", "list_groups"}
    info.accounts.append("the attacker")
    if unsaid := {*form.requirements} ^ {*form.ends, *form.isolated}:
        names = ", ".join(sorted(unsaid))
        message = f"`ends` and `isolated` name the requirements of the case, each at least once; not so {names}"
        raise context.at("requirements").problem(BadShape, message)

    def attack(run: CaseRun) -> None:
        with set_up():
            roles = made_roles(Node(run))
        campaign = Campaign(run, roles, form.ends, form.isolated)
        campaign.carry_out([entry for entry in entries() if entry.family in form.families], form.at_once)

    return attack


def made_roles(node: Node) -> Roles:
    """Make both accounts, and show that an honest run of the attacker's signs."""
    mallory, alice = node.accounts.new().key, node.accounts.new().key
    p, q = node.pkps.create(mallory), node.pkps.create(alice)
    for owner, wallet in ((mallory, p), (alice, q)):
        bound(node, owner, [wallet], [node.groups.all_actions])
    node.signing.must_sign(mallory, node.actions.source(HONEST_SIGNER), p)
    return Roles(mallory, p.id, alice)


class Campaign:
    """The hostile runs of one case."""

    def __init__(self, session: Session, roles: Roles, ends: Sequence[str], isolated: Sequence[str]) -> None:
        self._session = session
        self._runs = Runs(session)
        self._roles = roles
        self._ends, self._isolated = ends, isolated
        self._profile = session.profile
        forms = self._profile.exec.failure_and_limits
        self._limit = forms.timeout_seconds if forms else 0.0
        self._usual = self._probe()
        """The result of the probe before any hostile run."""

    def carry_out(self, chosen: list[Entry], at_once: int) -> None:
        """Run them all, and raise one departure that tells all once the runs under way have ended."""
        done = threading.Event()
        with ThreadPoolExecutor(at_once + 1) as threads:
            attacks = [threads.submit(copy_context().run, self._attack, entry) for entry in chosen]
            beside = threads.submit(copy_context().run, self._stand_by, done)
            try:
                _wait(attacks)
            finally:  # an interrupt waits for the actions under way, not for those that have not begun
                done.set()
                for attack in attacks:
                    attack.cancel()
        ended: list[Future[None] | Future[float]] = [*attacks, beside]
        problems = [problem for one in ended if (problem := one.exception())]
        if departures := [problem for problem in problems if isinstance(problem, Departure)]:
            raise Departure.first_of(departures)
        if problems:
            raise problems[0]
        longest_wait = beside.result()
        if longest_wait > max(self._limit / 2, PATIENCE_SECONDS):
            raise NoAnswerInTime("that others are answered meanwhile", f"a list took {longest_wait:.1f} s")

    def _attack(self, entry: Entry) -> None:
        code = source(f"hostile/{entry.id}", self._profile)
        with blaming(self._ends):
            answer = self._send(self._runs.request(self._roles.attacker, code, pkp_id=self._roles.wallet))
            self._must_end_in_time(entry, answer)
        with blaming(self._isolated):
            left = [trace for trace in self._probe() if trace not in self._usual]
            if left:
                raise Mismatch(f"nothing left behind by {entry.id} ({entry.title})", printed(left)[:SHOWN])

    def _must_end_in_time(self, entry: Entry, answer: Answer) -> None:
        who = f"{entry.id} ({entry.title})"
        if answer.seconds > self._limit + GRACE_SECONDS:
            raise NoAnswerInTime(f"that {who} ends within {self._limit} s", f"{answer.seconds:.1f} s", answer.exchange)
        ended_badly = failed(answer, self._profile) or 400 <= answer.status < 500
        if not ended_badly and not answer.accepted:
            raise ServerFault(f"an answer below 500 to {who}", f"status {answer.status}", answer.exchange)
        if entry.must_fail and not ended_badly:
            raise RunEndedOtherwise(f"that {who} ends with an error", answer.text[:SHOWN], answer.exchange)

    def _probe(self) -> list[object]:
        """Run the probe, which reports what earlier runs left behind."""
        answer = self._send(self._runs.request(self._roles.bystander, source("hostile/probe", self._profile)))
        traces = self._result(answer)
        if not isinstance(traces, list):
            raise RunEndedOtherwise("a list from the probe", answer.text[:SHOWN], answer.exchange)
        return traces

    def _stand_by(self, done: threading.Event) -> float:
        """Request lists as another caller until all runs have ended. Returns the seconds of the slowest."""
        longest = 0.0
        page: dict[str, object] = {"page_number": self._profile.wire.paging.first_page_number, "page_size": 1}
        while not done.wait(0.2):
            answer = self._session.call("list_groups", self._roles.bystander, **page)
            longest = max(longest, answer.seconds)
            honest = self._send(self._runs.request(self._roles.bystander, HONEST, params={"n": 7}))
            with blaming(self._isolated):
                if not same({"n": 7}, self._result(honest)):
                    raise Mismatch("what an honest run returns", honest.text[:SHOWN], honest.exchange)
        return longest

    def _result(self, answer: Answer) -> object:
        must_accept(answer)
        return returned(member(answer.value, "response"), self._profile.exec.response_form)

    def _send(self, request: OutgoingRequest) -> Answer:
        """Run it, again later where the node is busy, and count the seconds that it cost."""
        target = self._session.target
        for _ in range(RETRIES):
            answer = self._session.send(request)
            if answer.status != 429 and not (answer.status == 503 and "retry-after" in answer.headers):
                break
            target.pause(PAUSE_SECONDS)
        else:
            raise Throttled("a place for a run", f"status {answer.status}", answer.exchange)
        if answer.accepted:
            later_seconds = max(0, math.ceil(answer.seconds) - 1)
            target.spend(later_seconds * target.charge(request.operation), self._session.log)
        return answer


def _wait(attacks: list[Future[None]]) -> None:
    for attack in attacks:
        attack.exception()
