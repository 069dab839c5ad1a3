"""The rule of refusals, for requests, transactions and dry runs ("Errors", "Endpoints / Execution rule").

A refusal counts only beside an accepted control of the same call and an unchanged state, with a status of the right
class, and when its answer gives nothing away. A 5xx, a time-out or a dropped connection is never a refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Literal, Self, TypeAlias, get_args

from conformance.endpoints.canonical import descend
from conformance.endpoints.messages import SHOWN, Answer, AskedAt
from conformance.endpoints.redaction import Secrets
from conformance.endpoints.requests import OutgoingRequest
from conformance.endpoints.sending import Receipt
from conformance.problems import (
    ChainReverted,
    ChainTrouble,
    ControlNotAccepted,
    Departure,
    LeakyRefusal,
    NotRefused,
    SecretTold,
    ServerFaultAtRefusal,
    SetupFailed,
    StateChanged,
    StepProblem,
    UnprovenRefusal,
    WrongRefusal,
)
from conformance.profile import OPERATIONS, WHOLE, Operation, Profile, read_aside, section
from conformance.profile.reading import tell
from conformance.service.acceptance import Accepted, must_accept, raise_for_trouble
from conformance.service.reads import Read
from conformance.service.secrecy import place_in
from conformance.service.session import Session
from conformance.values.json_values import MISSING, printed, printed_json, same

RefusalClass = Literal["any", section.RefusalClass]
"""A kind of refusal: the profile's `errors.status_codes` gives its statuses; `any` is each 4xx but 402 and 429."""
REFUSAL_CLASSES: frozenset[str] = frozenset(get_args(RefusalClass))
ILL_FORMED = ("invalid", "malformed")
"""The classes of a request, or of a value in it, that has another form than it must have."""
NO_ID = (*ILL_FORMED, "not_found")
"""The classes of a text that is no id or hash: a node may look for it all the same."""
NO_KEY = ("unauthenticated", *ILL_FORMED)
"""The classes of a text that is no key."""
NOT_ABOUT_THE_REQUEST = frozenset({402, 429})
"""Lack of credit and throttling say nothing about the request, so the open classes exclude them."""
SAID_BY_REFUSALS_TOO = frozenset({"logs"})
"""Members of a success that a refusal may hold: a run that is refused at its wallet call has logs already."""
DELETIONS = frozenset({"remove_group", "remove_usage_api_key", "delete_action"})
DELETE_ABSENT = "semantics.delete_absent"
SHOWN_OF_STATE = 4_000
"""Characters of a read that a failure shows."""


Control: TypeAlias = Accepted | Sequence[Accepted] | Callable[[], None]
"""An accepted call, or one for each operation; or a function, called after the refusals, that raises a Departure."""


@dataclass(frozen=True)
class ExpectedRefusal:
    """The expected refusal classes, and their statuses on this node."""

    classes: tuple[str, ...]
    statuses: frozenset[int]
    keys: Mapping[str, object] = field(default_factory=dict, compare=False)
    """The keys of the profile that give the statuses, with their values."""

    @classmethod
    def of(cls, classes: Iterable[str], profile: Profile) -> Self:
        """The statuses of some classes by the profile's `errors.status_codes`."""
        names = tuple(classes)
        with read_aside() as keys:
            return cls(names, frozenset().union(*(_statuses(name, profile) for name in names)), keys)

    def of_call(self, operation: Operation | None) -> str:
        """The words of a failure."""
        of = f" of {operation.name}" if operation else ""
        if len(self.statuses) > 10:
            return f"a refusal{of} (any 4xx but 402 and 429)"
        return (
            f"a refusal{of} ({' or '.join(dict.fromkeys(self.classes))}: {', '.join(map(str, sorted(self.statuses)))})"
        )


def _statuses(name: str, profile: Profile) -> frozenset[int]:
    codes = profile.errors.status_codes
    stated: tuple[int, ...] | None = None if name == "any" or codes is None else getattr(codes, name)
    if stated is not None:
        return frozenset(stated)
    return frozenset(range(400, 500)) - (NOT_ABOUT_THE_REQUEST - ({402} if name == "insufficient_credit" else set()))


# --------------------------------------------------------------------------------------------------------- the rule


class Refusals:
    """Calls that must be refused, held against a control of the same operation and one set of reads.

    with Refusals(session, control=made.accepted, unchanged=[groups_of(alice)]) as refusals:
        refusals.send(replace(made.request, credential=key), ["forbidden"])

    The reads are taken when the block is entered and compared when it ends. Raises ControlNotAccepted (inconclusive),
    StateChanged, and UnprovenRefusal for a control of another call or a refused write without reads.
    Inside of a block that judges, one call that is not refused hides no other: all go on, and the end raises.
    """

    def __init__(self, session: Session, *, control: Control, unchanged: Sequence[Read]) -> None:
        self._session = session
        self._control = control if callable(control) else None
        self._accepted = () if callable(control) else (control,) if isinstance(control, Accepted) else tuple(control)
        self._reads = tuple(unchanged)
        self._before: list[object] = []
        self._last_exchange: int | None = None
        self._checked = 0
        self._goes_on = False
        self._failures: list[Departure] = []

    def __enter__(self) -> Self:
        self._before = read_before(self._session, self._reads)
        self._goes_on = self._session.judges
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._failures and (kind is None or isinstance(problem, StepProblem)):
            more = [problem] if isinstance(problem, Departure) else []
            raise Departure.first_of([*self._failures, *more]) from None
        if kind is None:
            self._must_be_unchanged()
            if self._control is not None:
                try_control(self._control)

    @property
    def held(self) -> bool:
        """Whether all calls so far were refused as they must be."""
        return not self._failures

    def send(self, request: OutgoingRequest, classes: Iterable[str]) -> Answer:
        """Send a request that must be refused; its answer. A deletion of what is not there may be accepted instead."""
        classes = tuple(classes)
        if request.operation.name in DELETIONS and "not_found" in classes:
            stated = self._session.target.profile_value(DELETE_ABSENT)
            if stated not in REFUSAL_CLASSES:
                return self.send_either(request, [*classes, *([] if stated else ["any"])])
            classes = (*classes, printed(stated))
        self._must_be_proven(request.operation.name, writes=OPERATIONS[request.operation.name].writes)
        answer = self._session.send(request)
        self.check(answer, classes)
        return answer

    def send_without_effect(self, request: OutgoingRequest, classes: Iterable[str]) -> bool:
        """Send a request that must have no effect but may be accepted; return whether it was."""
        return self.send_either(request, classes).accepted

    def send_either(self, request: OutgoingRequest, classes: Iterable[str]) -> Answer:
        """Send a request that must have no effect but may be accepted; its answer."""
        self._must_be_proven(request.operation.name, writes=OPERATIONS[request.operation.name].writes)
        answer = self._session.send(request)
        self._last_exchange = answer.exchange
        with self._going_on():
            was_accepted(self._session, answer, or_refused=classes)
        return answer

    def check(self, answer: Answer, classes: Iterable[str]) -> None:
        """Expect that the answer to a request that was sent inside the block is a refusal of these classes."""
        if answer.operation is not None:
            self._must_be_proven(answer.operation.name, writes=OPERATIONS[answer.operation.name].writes)
        self._last_exchange = answer.exchange
        with self._going_on():
            check_refusal(answer, ExpectedRefusal.of(classes, self._session.profile), self._session.secrets)

    @contextmanager
    def _going_on(self) -> Iterator[None]:
        """Keep a departure for the end of the block, where that is inside of one that judges."""
        try:
            yield
        except Departure as problem:
            if not self._goes_on:
                raise
            self._session.reliance.remember_at(problem)
            self._failures.append(problem.with_traceback(_from_the_outermost(problem.__traceback__)))
        self._checked += 1
        if self._session.compares_at_once and self._before and not self._failures:
            self._must_be_unchanged()

    def must_revert(self, call: str, send: Callable[[], Receipt]) -> None:
        """Send a transaction that the contract must revert; `call` is `send FUNCTION`."""
        self._must_be_proven(call, writes=True)
        receipt = send()
        self._last_exchange = self._session.last_exchange
        with self._going_on():
            if receipt.succeeded:
                raise NotRefused(f"that the contract reverts: {call}", f"{receipt.hash} succeeded", self._last_exchange)

    def must_revert_dry(self, call: str, ask: Callable[[], object]) -> None:
        """Ask the contract for a call that it must revert; nothing is sent. `call` is `dry_run FUNCTION`."""
        self._must_be_proven(call, writes=False)
        try:
            ask()
        except ChainReverted as refused:
            if not refused.by_contract:
                raise ChainTrouble("that the contract reverts", refused.got, refused.exchange) from refused
            return
        with self._going_on():
            raise NotRefused(f"that the contract reverts: {call}", "it would go through", self._session.last_exchange)

    def _must_be_proven(self, call: str, *, writes: bool) -> None:
        calls = [accepted.call for accepted in self._accepted]
        if self._control is None and call not in calls:
            raise UnprovenRefusal(f"the control of a refused {call} is a {' or a '.join(calls) or 'call of nothing'}")
        if writes and not self._reads:
            raise UnprovenRefusal(f"{call} writes: its refusal needs reads that must stay `unchanged`")

    def _must_be_unchanged(self) -> None:
        try:
            must_be_unchanged(self._session, self._reads, self._before, self._last_exchange)
        except StateChanged:
            self._session.change_is_unclear = self._checked > 1 and not self._session.compares_at_once
            raise


def _from_the_outermost(trace: TracebackType | None) -> TracebackType | None:
    """A traceback with the frames that called the one where the exception was caught: a case's line is among them."""
    frame = trace.tb_frame.f_back if trace else None
    while frame is not None:
        trace = TracebackType(trace, frame, frame.f_lasti, frame.f_lineno)
        frame = frame.f_back
    return trace


def must_refuse(
    session: Session,
    request: OutgoingRequest,
    classes: Iterable[str],
    *,
    control: Control,
    unchanged: Sequence[Read],
) -> Answer:
    """Send one request that must be refused, held against its control and an unchanged state: see `Refusals`.

    `unchanged` may be empty only where an accepted call would write nothing that reads could show.
    """
    with Refusals(session, control=control, unchanged=unchanged) as refusals:
        return refusals.send(request, classes)


def must_be_as_stated(
    session: Session, request: OutgoingRequest, key: str, *, control: Control, unchanged: Sequence[Read]
) -> Answer:
    """Send a request that the profile's key says to be refused, with the class that stands there, or accepted."""
    stated = printed(session.stated(key))
    if stated in REFUSAL_CLASSES:
        return must_refuse(session, request, [stated], control=control, unchanged=unchanged)
    return session.accept(request)[0]


def read_before(session: Session, reads: Sequence[Read]) -> list[object]:
    """What reads give before a refused call. SetupFailed: one fails, so that nothing can be compared."""
    try:
        return session.recent_reads.values(reads)
    except Departure as problem:
        raise SetupFailed.of(problem) from problem


def must_be_unchanged(
    session: Session, reads: Sequence[Read], before: Sequence[object], exchange: int | None = None
) -> None:
    """Raise StateChanged for the first read that gives something else than before."""
    for read, earlier in zip(reads, before, strict=True):
        later = session.recent_reads.ask(read)
        if not same(earlier, later):
            raise StateChanged(
                f"{read.name} as before the request: {printed_json(earlier)[:SHOWN_OF_STATE]}",
                printed_json(later)[:SHOWN_OF_STATE],
                exchange,
            )


def try_control(control: Callable[[], None]) -> None:
    """Call a control. ControlNotAccepted (inconclusive): it was not accepted, so the refusals prove nothing."""
    try:
        control()
    except Departure as problem:
        failure = ControlNotAccepted(problem.expected, problem.got, problem.exchange)
        failure.step = problem.step
        raise failure from problem


# --------------------------------------------------------------------------------------------------------- one answer


def was_accepted(session: Session, answer: Answer, *, or_refused: Iterable[str]) -> bool:
    """Whether a call was accepted that may be refused with these classes. Raises for anything else."""
    if answer.accepted:
        must_accept(answer)
    else:
        expected = ExpectedRefusal.of(or_refused, session.profile)
        either = f"acceptance (2xx) or {expected.of_call(answer.operation)}"
        raise_for_trouble(answer, expected.statuses, ServerFaultAtRefusal, either)
        check_refusal(answer, expected, session.secrets)
    return answer.accepted


def check_refusal(answer: Answer, expected: ExpectedRefusal, secrets: Secrets) -> None:
    """Raise unless the answer is a refusal of these classes that gives nothing away.

    Alone it proves nothing: `Refusals` adds control and state. Use it where a call may be accepted or refused. A path
    of the API that is no endpoint may refuse with any body. Outside of the API a page for people may live: there an
    answer only must not be the API's.
    """
    raise_for_trouble(answer, expected.statuses, ServerFaultAtRefusal, expected.of_call(answer.operation))
    if answer.asked_at is AskedAt.OUTSIDE and not (answer.accepted and answer.readable):
        _must_hold_no_credential(answer, secrets)
        return
    if answer.accepted:
        raise NotRefused(expected.of_call(answer.operation), answer.summary, answer.exchange)
    if answer.asked_at is AskedAt.ENDPOINT:
        _ = answer.value
    if answer.status not in expected.statuses:
        for key, value in expected.keys.items():
            tell(key, value)
        raise WrongRefusal(expected.of_call(answer.operation), answer.summary, answer.exchange)
    _must_give_nothing_away(answer, secrets)


def _must_hold_no_credential(answer: Answer, secrets: Secrets) -> None:
    if secrets.found_in(answer.text):
        got = f"the value of one in {place_in(answer.text, secrets)}: {answer.text[:SHOWN]}"
        raise SecretTold("a refusal without a credential in its body", got, answer.exchange)
    for name, value in answer.headers.items():
        if secrets.found_in(value):
            told = f"{name}: {value}"[:SHOWN]
            raise SecretTold("a refusal without a credential in its headers", told, answer.exchange)


def _must_give_nothing_away(answer: Answer, secrets: Secrets) -> None:
    _must_hold_no_credential(answer, secrets)
    for name, value in _success_members(answer) if answer.readable else []:
        raise LeakyRefusal(
            f"a refusal without `{name}`, which only success gives", printed(value)[:SHOWN], answer.exchange
        )


def _success_members(answer: Answer) -> list[tuple[str, object]]:
    operation = answer.operation
    body = answer.value
    if operation is None:
        return []
    if operation.is_list:
        page = body if operation.page_member is None else descend(body, tuple(operation.page_member.split(".")))
        # A refusal may be an array: what makes it a page is an item with all that items of this list have.
        shown = {*(operation.items or {}).values()}
        items = [item for item in page if isinstance(item, dict)] if isinstance(page, list) else []
        return [("the page", page)] if shown and any(shown <= {*item} for item in items) else []
    if not isinstance(body, dict):
        return []
    names = {wire for name, wire in operation.response.items() if name not in SAID_BY_REFUSALS_TOO} - {WHOLE}
    members = {name: descend(body, tuple(name.split("."))) for name in sorted(names)}
    # An empty value gives nothing.
    return [(name, value) for name, value in members.items() if value and value is not MISSING]
