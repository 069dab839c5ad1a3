"""The driver `typed_data`: rows of changes to a valid envelope, signed and sent ("Typed-data envelope")."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from conformance.drivers.envelopes.flows import VALID, EnvelopeAccount, EnvelopeAccounts, compose_request, offered
from conformance.drivers.envelopes.forms import BILLING, CONVERSION, PRIMARY_TYPES, EnvelopeRow, Flow, TypedDataCase
from conformance.drivers.envelopes.requests import Changes, proofs
from conformance.drivers.envelopes.rows import VARIABLES, Row, compile_rows, primary_type, variables
from conformance.drivers.envelopes.unchanged import UnchangedState
from conformance.drivers.sections import blaming, labelled, set_up
from conformance.drivers.steps.caserun import CaseRun
from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.language.templates import CompileContext
from conformance.problems import Departure, Inconclusive, Mismatch, NotAccepted, ProfileSilent
from conformance.service.acceptance import Accepted, must_accept
from conformance.service.clock import MOST_TRIES, date_of, within_one_second
from conformance.service.contract import chain_id
from conformance.service.envelopes import typed_data_forms
from conformance.service.refusal import ExpectedRefusal, Refusals, check_refusal, try_control
from conformance.values.json_values import MISSING, member

SHOWN = 400
FEW_TRIES = 3
"""The most tries where each try needs an account of its own."""
MOST_LATE = 5
"""Seconds, by the suite's clock and by `Date`, until an envelope is judged whose `issued` counts from a `Date`.

Rows stay 10 s away from the bounds of the window. A `Date` is up to 2 s behind, since it has whole seconds and servers
renew it once a second. The other 3 s are for a proxy that writes `Date` by a clock of its own, before or behind the
node's; where a delay does no harm, such a clock may be off by 8 s.
"""
FEW_ROWS = 3
"""Up to this many refused rows go to every flow."""
Way = Literal["changed", "original"]
SIGNED: tuple[Way, Way] = ("changed", "original")
"""What is signed in each of the flows that such a row goes to."""
CONTROL = Row("", VALID, lambda _: Changes([], None), lambda _: None)


def compile_typed_data(form: TypedDataCase, context: CompileContext) -> Callable[[CaseRun], None]:
    """Compile the rows of a case. Raises LoadProblem for changes to paths that do not exist."""
    _note_needs(form, context)
    context.names.update(VARIABLES)
    rows = compile_rows(form, context)

    def program(run: CaseRun) -> None:
        forms = typed_data_forms(run.profile)
        fitting: dict[Flow, list[Row]] = {
            flow: [row for row in rows if row.goes_to(flow, forms) and not row.form.instead]
            for flow in PRIMARY_TYPES
            if flow in form.flows and offered(flow, run.profile)
        }
        chosen = fitting
        if run.target.extent.quick:
            chosen = dealt_once(one_of_each_kind(chosen))
        elif not run.target.extent.full:
            chosen = dealt(chosen)
        if not any(chosen.values()):
            raise ProfileSilent("a form of typed_data that some row has", ", ".join(forms))
        with set_up():
            if _moves_the_clock(form):
                run.clock.set_right()
            chain_id(run)
        untried = _flows_of_each(fitting) - _flows_of_each(chosen)
        accounts = EnvelopeAccounts(run, CONVERSION in chosen)
        instead = [row for row in rows if row.form.instead]
        trial = EnvelopeTrial(run, accounts, form.exact_time, UnchangedState(run), untried, instead)
        trial.try_flows({flow: some for flow, some in chosen.items() if some})

    return program


def _flows_of_each(chosen: Mapping[Flow, Sequence[Row]]) -> Counter[str]:
    """In how many flows each row is sent, by its label."""
    return Counter(label for rows in chosen.values() for label in {row.label for row in rows})


def dealt(chosen: Mapping[Flow, Sequence[Row]]) -> dict[Flow, list[Row]]:
    """The rows of each flow in a run that is not full. Each of many refused rows goes to only two flows, in turn.

    The first of them gets the envelope signed as it is sent, the second one with the signature over the valid envelope.
    A row that goes to one flow alone is sent there in both ways.
    """

    def turn(start: int, own: Sequence[Flow]) -> dict[Flow, Way | None]:
        first, second = own[start % len(own)], own[(start + 1) % len(own)]
        return {first: None} if first == second else dict(zip((first, second), SIGNED, strict=True))

    return _in_turn(chosen, turn, accepted=False, few=FEW_ROWS)


def dealt_once(chosen: Mapping[Flow, Sequence[Row]]) -> dict[Flow, list[Row]]:
    """The rows of each flow in a quick run. Each of several rows goes to one flow, in turn, signed in either way."""

    def turn(start: int, own: Sequence[Flow]) -> dict[Flow, Way | None]:
        return {own[start % len(own)]: SIGNED[start // len(own) % len(SIGNED)]}

    return _in_turn(_in_turn(chosen, turn, accepted=False, few=1), turn, accepted=True, few=1)


def _in_turn(
    chosen: Mapping[Flow, Sequence[Row]],
    turn: Callable[[int, Sequence[Flow]], Mapping[Flow, Way | None]],
    *,
    accepted: bool,
    few: int,
) -> dict[Flow, list[Row]]:
    """The rows of each flow. Each of more than `few` accepted or refused rows goes to the flows that `turn` says."""
    flows: dict[str, list[Flow]] = {}
    for flow, rows in chosen.items():
        for row in rows:
            if row.form.accepted == accepted:
                flows.setdefault(row.label, []).append(flow)
    ways = {label: turn(start, own) for start, (label, own) in enumerate(flows.items()) if len(flows) > few}

    def sent(flow: Flow, row: Row) -> list[Row]:
        if row.label not in ways:
            return [row]
        if flow not in ways[row.label]:
            return []
        over = ways[row.label][flow]
        return [row if over is None or accepted else row.signed_over(over)]

    return {flow: [each for row in rows for each in sent(flow, row)] for flow, rows in chosen.items()}


def one_of_each_kind(chosen: Mapping[Flow, Sequence[Row]]) -> dict[Flow, list[Row]]:
    """The accepted rows, and of the refused ones that judge the same and differ in the same parts the first."""
    first: dict[object, str] = {}
    for row in {row.label: row for some in chosen.values() for row in some}.values():
        first.setdefault(row.label if row.form.accepted else row.kind, row.label)
    kept = set(first.values())
    return {flow: [row for row in some if row.label in kept] for flow, some in chosen.items()}


def _note_needs(form: TypedDataCase, context: CompileContext) -> None:
    context.info.operations.update({"get_node_chain_config", *form.flows})
    context.info.needs.add("wallet_signed")
    context.info.uses.update({"wire.typed_data.form", "brand.title"})
    if _moves_the_clock(form):
        context.info.needs.add("clock_control")
        context.info.alone = context.info.counts_time = True
    if set(form.flows) <= {CONVERSION, BILLING} or any(row.key == "account" for row in form.rows):
        context.info.needs.add("managed_accounts")
        context.info.uses.add("accounts.credits")
    if set(form.flows) == {BILLING}:
        context.info.needs.add("billing")
        context.info.uses.add("wire.x_wallet_auth.encoding")


def _is_valid(row: EnvelopeRow) -> bool:
    """Whether the row is the valid envelope, whatever its name, its flows and what it judges."""
    return row == VALID.model_copy(update={"id": row.id, "flows": row.flows, "judges": row.judges})


def _moves_the_clock(form: TypedDataCase) -> bool:
    return form.exact_time or any(row.refused_after is not None for row in form.rows)


Sent = list[tuple[OutgoingRequest, Answer]]


@dataclass(frozen=True)
class EnvelopeTrial:
    """The rows of a case while they are sent."""

    run: CaseRun
    accounts: EnvelopeAccounts
    exact: bool
    unchanged: UnchangedState
    untried: Mapping[str, int]
    """In how many further flows each row would be sent in a full run, by its label."""
    instead: Sequence[Row]
    """What a node may take that refuses the valid envelope."""
    refused: dict[str | None, str] = field(default_factory=dict)
    """By form, the row that the valid envelope was first refused in."""

    def try_flows(self, chosen: Mapping[Flow, Sequence[Row]]) -> None:
        """Send all rows, the accepted ones first. Read the lists before and after the others, which change nothing.

        The valid envelope of a flow is its control and is sent first. For the conversion it is sent last: it converts
        the account of the refused rows, which proves that the account could be converted.
        """
        for flow, rows in chosen.items():
            if flow != CONVERSION and not _is_valid(rows[0].form):
                try_control(partial(self._send_valid, flow))
        failures: list[Departure] = []
        try:
            for flow, rows in chosen.items():
                self._try_rows(flow, [row for row in rows if not _refuses(row)], None, failures)
            # What an accepted envelope changed must not look like the work of a refused one: those come last.
            for flow, rows in chosen.items():
                if refused := [row for row in rows if _refuses(row)]:
                    self._try_rows(flow, refused, self._refusals(flow), failures)
        except Inconclusive:
            # A failure may have changed what later rows need.
            if not failures:
                raise
        if failures:
            raise Departure.first_of(failures)
        self.unchanged.compare()
        if any(map(_refuses, chosen.get(CONVERSION, []))):
            try_control(partial(self._send_valid, CONVERSION))

    def _try_rows(self, flow: Flow, rows: Sequence[Row], refusals: Refusals | None, failures: list[Departure]) -> None:
        """Send each row, whatever becomes of the others; add the departures to `failures`.

        Where the unchanged envelope is refused in a form, other accepted rows of this form say nothing of their own, in
        whichever flow.
        """
        for row in rows:
            try:
                with labelled(f"{row.label} ({flow}{self._untried(row)})"), blaming(row.form.judges):
                    self._try_row(flow, row, refusals)
            except Departure as problem:
                if row.form.accepted and self.refused.get(row.form.form, row.label) != row.label:
                    continue
                if _is_valid(row.form.model_copy(update={"form": VALID.form})):
                    self.refused.setdefault(row.form.form, row.label)
                    if isinstance(problem, NotAccepted):
                        self._try_instead(flow, problem)
                failures.append(problem)
                self.unchanged.forget()
                if flow == CONVERSION and refusals is not None:
                    return  # the account of the refused rows may be converted by now

    def _try_instead(self, flow: Flow, refusal: NotAccepted) -> None:
        """Charge the refusal of the valid envelope with what the node has in place of the specified, if that is found.

        All flows have the same envelope, and a conversion would take an account: one of the others tells it.
        """
        for row in self.instead if flow != CONVERSION else ():
            with labelled(row.label):
                if any(answer.accepted for _, answer in self._send(flow, row)):
                    refusal.requirements += tuple(row.form.judges or ())
                    refusal.got = f"{refusal.got}; it takes the envelope of {row.label}"
                    return

    def _untried(self, row: Row) -> str:
        number = self.untried.get(row.label, 0)
        return f"; --full tries {number} more {'flow' if number == 1 else 'flows'}" if number else ""

    def _refusals(self, flow: Flow) -> Refusals:
        """The control of a flow's refusals, with the lists of its account as reads."""
        with set_up():
            reads = self.accounts.unchanged(flow)
        self.unchanged.end_if_old()
        with set_up():
            self.unchanged.read(reads)
        control = partial(self._send_valid, flow) if flow == CONVERSION else Accepted(flow)
        return Refusals(self.run, control=control, unchanged=reads)

    def _send_valid(self, flow: Flow) -> None:
        with labelled(f"the valid envelope ({flow})"):
            self._try_row(flow, CONTROL, None)

    def _try_row(self, flow: Flow, row: Row, refusals: Refusals | None) -> None:
        sent = self._send(flow, row)
        answers = [answer for _, answer in sent]
        if not row.form.accepted:
            self._must_refuse(flow, row, row.label, sent, refusals)
            return
        with _telling_when(row.form.issued):
            for answer in answers:
                _must_give(answer)
        if flow == CONVERSION and row is not CONTROL:
            self._must_refuse_again([request for request, _ in sent])
        if row.form.refused_after is not None:
            self._must_expire(flow, row, row.form.refused_after, [request for request, _ in sent], refusals)

    def _must_refuse_again(self, requests: Sequence[OutgoingRequest]) -> None:
        """Convert again, which must be refused. No key is left that could read the account's state before and after.

        The row is about something else: `conversion::second-conversion` judges that.
        """
        expected = ExpectedRefusal.of(["any"], self.run.profile)
        with set_up():
            for request in requests:
                check_refusal(self.run.send(request), expected, self.run.secrets)

    def _must_expire(
        self, flow: Flow, row: Row, seconds: int, accepted: Sequence[OutgoingRequest], refusals: Refusals | None
    ) -> None:
        """Send the same requests later, which must be refused. A conversion names an account that is not converted."""
        with set_up():
            key = self.accounts.of(flow).key
        again = [replace(request, credential=key) if flow == CONVERSION else request for request in accepted]
        with self.run.clock.ahead(seconds):
            sent = [(request, self.run.send(request)) for request in again]
        self._must_refuse(flow, row, f"{seconds} s later", sent, refusals)

    def _must_refuse(self, flow: Flow, row: Row, label: str, sent: Sent, refusals: Refusals | None) -> None:
        if refusals is None:
            raise TypeError("a refused row has neither control nor state")
        for _, answer in sent:
            refusals.check(answer, ["any"])
            judges = None if row.form.judges is None else tuple(row.form.judges)
            self.unchanged.note(f"{label} ({flow})", answer.exchange, judges)
            self.unchanged.read(self.accounts.unchanged(flow))

    def _send(self, flow: Flow, row: Row) -> Sent:
        """A row's requests and their answers."""
        account = partial(self._account, flow, row.form)
        if self.exact:
            tries = FEW_TRIES if flow == CONVERSION and row.form.accepted else MOST_TRIES
            return within_one_second(partial(self._send_at, flow, row), account, partial(_stands_late, row.form), tries)
        # A refused conversion that was accepted has used up the account of the flow.
        tries = 1 if flow == CONVERSION and not row.form.accepted else FEW_TRIES
        for _ in range(tries):
            signer, now, began = account(), self.run.clock.now(), time.monotonic()
            sent = self._send_at(flow, row, signer, now)
            # A busy server may keep its `Date` for longer.
            late = max(int(time.monotonic() - began), *(date_of(answer) - now for _, answer in sent))
            if late <= MOST_LATE or not _may_be_for_lateness(row.form, sent):
                return sent
        raise Inconclusive(f"an answer within {MOST_LATE} s", f"none in time: {tries} sent")

    def _account(self, flow: Flow, row: EnvelopeRow) -> EnvelopeAccount:
        """The account of a row. An accepted conversion needs a new one; the control uses that of the refused rows."""
        fresh = flow == CONVERSION and row.accepted and row is not VALID
        with set_up():
            account = self.accounts.fresh() if fresh else self.accounts.of(flow)
        self.run.settle()  # before the envelope is dated, not between its date and its sending
        return account

    def _send_at(self, flow: Flow, row: Row, account: EnvelopeAccount, now: int) -> Sent:
        scope = self.run.scope
        issued_at = now + row.form.issued
        scope.variables |= variables(account.signers, flow, row.form, issued_at)
        original = account.signers.valid(primary_type(flow, row.form), issued_at)
        filled = row.filled(scope)
        form = filled.form or typed_data_forms(self.run.profile)[0]
        made = proofs(filled, row.changes(scope), original, account.signers, form)
        requests = [compose_request(flow, filled, proof, account, self.run) for proof in made]
        return [(request, self.run.send(request)) for request in requests for _ in range(row.form.times)]


def _refuses(row: Row) -> bool:
    """Whether the node must refuse the row, at once or later."""
    return not row.form.accepted or row.form.refused_after is not None


def _stands_late(row: EnvelopeRow, sent: Sent) -> bool:
    """Whether the answer stands although the node judged late: the delay only made this answer less likely."""
    if row.accepted:
        return row.issued < 0 and all(answer.accepted for _, answer in sent)
    return row.issued > 0 and not any(answer.accepted for _, answer in sent)


def _may_be_for_lateness(row: EnvelopeRow, sent: Sent) -> bool:
    """Whether a wrong answer may come from a delay: the envelope became too old, or was too far ahead no more."""
    if row.accepted:
        return row.issued < 0 and not all(answer.accepted for _, answer in sent)
    return row.issued > 0 and any(answer.accepted for _, answer in sent)


@contextmanager
def _telling_when(issued: int) -> Iterator[None]:
    """Say of an envelope that is not accepted how many seconds its `issuedAt` is from the node's time."""
    try:
        yield
    except NotAccepted as problem:
        if issued:
            side = "after" if issued > 0 else "before"
            problem.expected = f"issuedAt is {abs(issued)} s {side} the node's time: {problem.expected}"
        raise


def _must_give(answer: Answer) -> None:
    """Raise unless the answer is accepted and has the members of the operation's response."""
    must_accept(answer)
    if answer.operation is None:
        raise TypeError("an answer of no operation")
    lacking = [name for name in answer.operation.response if member(answer.value, name) in (MISSING, None, "")]
    if lacking:
        raise Mismatch(f"an answer with {', '.join(lacking)}", answer.text[:SHOWN], answer.exchange)
