"""Plays a history on the node: prepares an account, sends the acts of each round at the same time, reads the lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from time import monotonic

from conformance.drivers.histories.answers import Explanations, Listed, ListName
from conformance.drivers.histories.state import State, Steps, decided, stand
from conformance.drivers.histories.told import Names, told_act
from conformance.drivers.model import blame
from conformance.drivers.model.acting import Acting
from conformance.drivers.model.acts import Act
from conformance.drivers.model.effects import apply
from conformance.drivers.model.plan import Planned
from conformance.drivers.model.play import ACTIONS_INSIDE, LISTED, WALLETS_INSIDE
from conformance.drivers.model.ruling import ExpectedOutcomeRules
from conformance.drivers.model.views import Before, Views
from conformance.drivers.model.world import World
from conformance.drivers.sections import blaming
from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import Mismatch
from conformance.service.acceptance import Accepted, raise_for_trouble
from conformance.service.at_once import at_once
from conformance.service.groups import group_id
from conformance.service.histories import Answered, left_by, unexplained
from conformance.service.lists import read_page, read_pages
from conformance.service.pkps import Pkp
from conformance.service.session import Session
from conformance.service.usage_keys import UsageKeys
from conformance.values.ids import Address, GroupId, PkpId
from conformance.values.json_values import member, printed, same_hex

INSIDE = frozenset({WALLETS_INSIDE, ACTIONS_INSIDE})
LISTED_OF_ACCOUNTS = ("groups", "keys", "wallets", "actions")
NOT_LISTED = GroupId(-1)
"""In place of the id of a group that no list shows."""


@dataclass(frozen=True)
class Write:
    """An act with the answer to it."""

    act: Act
    answer: Answer
    begun: float
    ended: float


@dataclass(frozen=True)
class Reading:
    """A list with the time at which it was read."""

    listed: Listed
    begun: float
    ended: float


@dataclass(frozen=True)
class Failed:
    """A round whose answers no order explains."""

    acts: tuple[Act, ...]
    """All acts of the round."""
    writes: tuple[Write, ...]
    readings: tuple[Reading, ...]
    """The lists that are needed to see that there is no order."""
    before: frozenset[State]
    """The states before it that the answers until then allow."""
    history: tuple[Answered[State], ...]
    explanations: Explanations


class HistoryPlay:
    """One playing of a history, on an account of its own."""

    def __init__(self, session: Session, rules: ExpectedOutcomeRules, *, begins_empty: bool) -> None:
        self._session = session
        self._rules = rules
        self._acting = Acting(session, runs=False, chain=False)
        self.begins_empty = begins_empty
        """Whether all lists of new accounts are known to be empty."""

    def prepare(self, acts: Callable[[World], Iterator[Act]]) -> tuple[Act, ...]:
        """Create the account and send the acts one after the other. Raises Departure: one is refused, or not listed."""
        world = World.of(1)
        (self._account,) = world.accounts
        self._acting.begin(world)
        before: dict[str, Before] = {}
        views = Views(self._acting, before, chain=False)
        reads = () if self.begins_empty else views.before(world.accounts[self._account])
        before[self._account] = {what: [*read()] for what, read in reads}
        self.begins_empty = not any(before[self._account].values())
        sent: list[Act] = []
        for act in acts(world):
            self._do(Planned(len(sent) + 1, None, act, (), None))
            apply(act, world, self._rules)
            sent.append(act)
        self._states = frozenset({State.of(world)})
        self._steps = Steps(self._rules)
        self._explanations = Explanations(self._session, self._steps, views, self._account)
        self._must_show(State.of(world))
        return tuple(sent)

    def _must_show(self, state: State) -> None:
        """Raise Mismatch where a list is not as acts one by one left it: those at the same time are not to blame."""
        self._session.settle()
        for what in LISTED_OF_ACCOUNTS:
            look = self._explanations.look((what, ""), state)
            if look is not None and look.request is not None:
                items = read_pages(self._session, look.request)
                for check in self._explanations.wrong(Listed((what, ""), items), state):
                    raise Mismatch(check.expected, printed(check.part(items)), self._session.last_exchange)

    def _do(self, planned: Planned) -> None:
        """Send an act that must be accepted, and have what it made."""
        with blaming(blame.of_request(planned)):
            answer = self._acting.ask(planned)
        with blaming((*blame.of_effect(planned), *blame.ALWAYS)):  # accepted, and not listed
            self._acting.note(planned, answer)

    @property
    def world(self) -> World:
        """A world that the answers so far allow."""
        return min(self._states, key=lambda state: repr(state.key)).world

    def round(self, acts: Sequence[Act]) -> tuple[tuple[Act, ...], Failed | None]:
        """Send the acts at the same time, with reads of the lists that they are about, which are read again after them.

        The acts that were sent: those about which neither the specification nor the profile decides are left out.
        """
        sent = tuple(decided(acts, self._states, self._steps))
        if not sent:
            return sent, None
        names = self._lists(sent)
        looks = {name: self._explanations.look(name, next(iter(self._states))) for name in names}
        reads = {name: look.request for name, look in looks.items() if look is not None and look.request is not None}
        beside = {} if self._is_read_later() else reads
        self._session.settle()
        with blaming(blame.ALWAYS):
            sends: list[Callable[[], Write | Reading | None]] = [
                partial(self._write, act, self._acting.request(act)) for act in sent
            ]
            sends += [partial(self._read, name, request, at_a_moment) for name, request in beside.items()]
            together = at_once(sends)
            after = [self._read(name, request, read_pages) for name, request in reads.items()]
        writes = tuple(one for one in together if isinstance(one, Write))
        for write in writes:
            with blaming(blame.of_request(Planned(0, None, write.act, (), None))):
                raise_for_trouble(write.answer)
        readings = [one for one in (*together, *after) if isinstance(one, Reading)]
        self._name_what_was_made(writes, readings)
        return sent, self._judged(sent, writes, readings)

    def _lists(self, acts: Sequence[Act]) -> list[ListName]:
        """The lists that the acts are about; of groups those that stand whatever comes first."""
        whats = {what for act in acts for what in LISTED.get(act.operation, frozenset())}
        removed = {act.group for act in acts if act.operation == "remove_group"}
        groups = {act.group for act in acts if act.group} - removed
        standing = sorted(group for group in groups if stand(group, self._states, self._account))
        return [*((what, "") for what in sorted(whats - INSIDE)), *product(sorted(INSIDE & whats), standing)]

    def _is_read_later(self) -> bool:
        """Whether lists are read after the round alone: writes take time to show, or a page may end before the list."""
        return bool(self._session.target.settle_seconds) or self._session.target.page_size_is_assumed

    def _write(self, act: Act, request: OutgoingRequest) -> Write:
        begun = monotonic()
        answer = self._session.send(request, at_once=True)
        return Write(act, answer, begun, monotonic())

    def _read(
        self, name: ListName, request: OutgoingRequest, read: Callable[[Session, OutgoingRequest], list[object] | None]
    ) -> Reading | None:
        begun = monotonic()
        items = read(self._session, request)
        return None if items is None else Reading(Listed(name, items), begun, monotonic())

    def _name_what_was_made(self, writes: Sequence[Write], readings: Sequence[Reading]) -> None:
        """Note the ids of what accepted acts have made; of what no list shows, an id that none can show."""
        made = [write for write in writes if write.answer.accepted and write.act.makes]
        listed = {one.listed.name[0]: one.listed.items for one in readings if not one.listed.name[1]}
        groups = [write.act for write in made if write.act.operation == "add_group"]
        for act, item in _made_groups(groups, listed.get("groups", []), self._acting):
            self._acting.groups[act.makes] = NOT_LISTED if item is None else group_id(member(item, "id"))
        for write in made:
            if write.act.operation == "create_wallet":
                self._acting.wallets[write.act.makes] = self._wallet(write, listed.get("wallets", []))
            elif write.act.operation == "add_usage_api_key":
                self._acting.note_key(write.act.makes, UsageKeys.value_in(write.answer))

    def _wallet(self, write: Write, listed: Sequence[object]) -> Pkp:
        address = Address(printed(member(write.answer.value, "wallet_address")))
        ids = [member(item, "id") for item in listed if same_hex(member(item, "wallet_address"), address)]
        return Pkp(PkpId(printed(ids[0]) if ids else "not listed"), address, Accepted("create_wallet"))

    def _judged(self, acts: tuple[Act, ...], writes: Sequence[Write], readings: Sequence[Reading]) -> Failed | None:
        """Hold the answers of a round against the states before it. Those after it are what they allow."""
        names = Names(self._acting)
        history = [self._written(write, writes) for write in writes]
        of_readings = {reading: self._seen(reading, names) for reading in readings}
        history += of_readings.values()
        before, self._states = self._states, left_by(history, self._states)
        if self._states:
            return None
        needed = unexplained(history, before)
        kept = tuple(reading for reading, answered in of_readings.items() if answered in needed)
        return Failed(acts, tuple(writes), kept, before, tuple(needed), self._explanations)

    def _written(self, write: Write, writes: Sequence[Write]) -> Answered[State]:
        answer, accepted = write.answer, write.answer.accepted
        beside = any(other is not write and other.begun < write.ended and write.begun < other.ended for other in writes)

        def after(state: State) -> State | None:
            return self._explanations.after(write.act, state, answer.status, accepted=accepted, beside=beside)

        told = f"{told_act(write.act)} → {answer.status}"
        return Answered(told, write.begun, write.ended, after, writes=True)

    def _seen(self, reading: Reading, names: Names) -> Answered[State]:
        def after(state: State) -> State | None:
            return None if self._explanations.wrong(reading.listed, state) else state

        what, group = reading.listed.name
        told = f"{f'{what}: {group}' if group else what} → {names.told(reading.listed)}"
        return Answered(told, reading.begun, reading.ended, after, writes=False)


def _made_groups(acts: Sequence[Act], items: Sequence[object], acting: Acting) -> Iterator[tuple[Act, object]]:
    """The listed group that each act has made: the one with its name, or else one with that of another of the acts."""
    names = {act.makes: acting.name_text(act.label) for act in acts}
    left = [item for item in items if member(item, "name") in names.values()]
    for act in sorted(acts, key=lambda act: all(member(item, "name") != names[act.makes] for item in left)):
        own = [item for item in left if member(item, "name") == names[act.makes]]
        item = (own or left or [None])[0]
        left = [other for other in left if other is not item]
        yield act, item


def at_a_moment(session: Session, request: OutgoingRequest) -> list[object] | None:
    """A list that one request reads; None where there may be a second page, which would show another moment."""
    size = session.target.page_size
    items = read_page(session, request, 0, size)
    return None if len(items) >= size else items
