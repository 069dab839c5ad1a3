"""The driver `typed_data`: rows of changes to a valid envelope, signed and sent ("Typed-data envelope")."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from conformance.drivers.envelopes.flows import VALID, Parties, Party, forms, offered, request
from conformance.drivers.envelopes.forms import BILLING, CONVERSION, PRIMARY_TYPES, EnvelopeRow, Flow, TypedDataCase
from conformance.drivers.envelopes.requests import Changes, proofs
from conformance.drivers.envelopes.rows import VARIABLES, Row, compile_rows, primary_type, variables
from conformance.drivers.envelopes.time import MOST_TRIES, NodeTime, later, set_right, within_one_second
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.driver import as_setup_failure
from conformance.drivers.steps.refusals import must_accept, must_refuse, refusal
from conformance.endpoints.client import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.language.templates import CompileContext
from conformance.problems import (
    ControlNotAccepted,
    Departure,
    Malformed,
    Mismatch,
    ProfileSilent,
    StateChanged,
    StepProblem,
)
from conformance.values.json_values import MISSING, member, printed, printed_json, same

SHOWN = 400
FEW_TRIES = 3
"""Where each takes an account of its own."""
CONTROL = Row("", VALID, lambda _: Changes([], None), lambda _: None)


def compile_typed_data(form: TypedDataCase, site: CompileContext) -> Callable[[CaseRun], None]:
    """The valid envelope of each flow and its rows. Raises LoadProblem for changes that lead nowhere."""
    _note_needs(form, site)
    site.names.update(VARIABLES)
    rows = compile_rows(form, site)

    def program(run: CaseRun) -> None:
        chosen = {
            flow: _fitting(flow, rows, run) for flow in PRIMARY_TYPES if flow in form.flows and offered(flow, run)
        }
        if not any(chosen.values()):
            raise ProfileSilent("a form of typed_data that some row has", ", ".join(forms(run)))
        stage = _set_up(run, exact=form.exact_time, clocked=_moves_the_clock(form))
        for flow, fitting in chosen.items():
            if fitting:
                stage.judge(flow, fitting)

    return program


def _note_needs(form: TypedDataCase, site: CompileContext) -> None:
    site.facts.operations.update({"get_node_chain_config", *form.flows})
    site.facts.uses.update({"wire.typed_data.form", "brand.title"})
    if _moves_the_clock(form):
        site.facts.needs.add("clock_control")
        site.facts.alone = True
    if set(form.flows) <= {CONVERSION, BILLING} or any(row.key == "account" for row in form.rows):
        site.facts.needs.add("managed_accounts")
        site.facts.uses.add("accounts.credits")
    if set(form.flows) == {BILLING}:
        site.facts.needs.add("billing")
        site.facts.uses.add("wire.x_wallet_auth.encoding")


def _moves_the_clock(form: TypedDataCase) -> bool:
    return form.exact_time or any(row.refused_after is not None for row in form.rows)


def _fitting(flow: Flow, rows: Sequence[Row], run: CaseRun) -> list[Row]:
    return [row for row in rows if row.goes_to(flow, forms(run))]


def _set_up(run: CaseRun, *, exact: bool, clocked: bool) -> Stage:
    """What the rows need to know of the node; a departure here is none of the envelopes'."""
    try:
        if clocked:
            set_right(run)
        answer = run.send(OutgoingRequest(run.target.operation("get_node_chain_config")))
        must_accept(answer)
        stated = printed(member(answer.value, "chain_id"))
        if not stated.isdecimal():
            raise Malformed("a chain id", stated[:SHOWN], answer.exchange)
    except Departure as problem:
        raise as_setup_failure(problem) from problem
    clock = NodeTime(answer)
    return Stage(run, Parties(run, f"{run.target.profile.brand.title} ChainSecured", int(stated), clock), clock, exact)


Sent = list[tuple[OutgoingRequest, Answer]]


@dataclass(frozen=True)
class Stage:
    """A case while it runs."""

    run: CaseRun
    parties: Parties
    clock: NodeTime
    exact: bool

    def judge(self, flow: Flow, rows: Sequence[Row]) -> None:
        """All rows of a flow, and that whatever is refused changes nothing.

        The valid envelope is tried before them, but for the conversion: the account that its refused rows were about
        is converted at last, which shows that it could have been all the time.
        """
        first = flow == CONVERSION or rows[0].form == VALID.model_copy(update={"id": rows[0].form.id})
        if not first:
            self._control(flow)
        guarded = flow != CONVERSION or not all(row.form.accepted for row in rows)
        before = self._listed(flow) if guarded else []
        for row in rows:
            _labelled(f"{row.label} ({flow})", partial(self._judge, flow, row))
        if guarded and not same(before, after := self.parties.listed(flow)):
            raise StateChanged(f"an account as before: {printed_json(before)[:SHOWN]}", printed_json(after)[:SHOWN])
        if guarded and flow == CONVERSION:
            self._control(flow)

    def _listed(self, flow: Flow) -> list[list[object]]:
        try:
            return self.parties.listed(flow)
        except Departure as problem:
            raise as_setup_failure(problem) from problem

    def _control(self, flow: Flow) -> None:
        """The valid envelope; where it is refused, nothing is learnt from the refusal of another."""
        try:
            _labelled(f"the valid envelope ({flow})", partial(self._judge, flow, CONTROL))
        except Departure as problem:
            raise ControlNotAccepted(problem.expected, problem.got, problem.exchange) from problem

    def _judge(self, flow: Flow, row: Row) -> None:
        sent = self._send(flow, row)
        answers = [answer for _, answer in sent]
        if not row.form.accepted:
            self._must_refuse(answers)
            return
        for answer in answers:
            _must_give(answer)
        if flow == CONVERSION and row is not CONTROL:
            self._must_refuse([self.run.send(wanted) for wanted, _ in sent])  # it is converted, and only once
        if flow not in (CONVERSION, BILLING):
            _must_be_minted(answers, str(self.run.scope.variables["wallet"]))
        if row.form.refused_after is not None:
            self._must_expire(flow, row.form.refused_after, [wanted for wanted, _ in sent])

    def _must_refuse(self, answers: Sequence[Answer]) -> None:
        wanted = refusal(("any",), self.run.target.profile)
        for answer in answers:
            must_refuse(answer, wanted, self.run)

    def _must_expire(self, flow: Flow, seconds: int, accepted: Sequence[OutgoingRequest]) -> None:
        """The very same requests later on; a conversion for an account that is not converted yet."""
        party = self._party(flow, VALID.model_copy(update={"accepted": False}))
        again = [replace(wanted, credential=party.account) if flow == CONVERSION else wanted for wanted in accepted]
        with later(self.run, seconds):
            answers = [self.run.send(wanted) for wanted in again]
        self._must_refuse(answers)

    def _send(self, flow: Flow, row: Row) -> Sent:
        """A row's requests and their answers."""
        party = partial(self._party, flow, row.form)
        if self.exact:
            tries = FEW_TRIES if flow == CONVERSION and row.form.accepted else MOST_TRIES
            return within_one_second(partial(self._send_at, flow, row), party, partial(_stands_late, row.form), tries)
        return self._send_at(flow, row, party(), self.clock.now())

    def _party(self, flow: Flow, row: EnvelopeRow) -> Party:
        """An accepted conversion takes a new account, except the control: that proves the one of the refused rows."""
        try:
            return (
                self.parties.fresh()
                if flow == CONVERSION and row.accepted and row is not VALID
                else (self.parties.of(flow))
            )
        except Departure as problem:
            raise as_setup_failure(problem) from problem

    def _send_at(self, flow: Flow, row: Row, party: Party, now: int) -> Sent:
        scope = self.run.scope
        issued_at = now + row.form.issued
        scope.variables |= variables(party.signers, flow, row.form, issued_at)
        original = party.signers.valid(primary_type(flow, row.form), issued_at)
        filled = row.filled(scope)
        form = filled.form or forms(self.run)[0]
        made = proofs(filled, row.changes(scope), original, party.signers, form)
        wanted = [request(flow, filled, proof, party, self.run) for proof in made]
        return [(one, self.run.send(one)) for one in wanted for _ in range(row.form.times)]


def _stands_late(row: EnvelopeRow, sent: Sent) -> bool:
    """Whether time that passed before the node judged made it only harder to answer so."""
    if row.accepted:
        return row.issued < 0 and all(answer.accepted for _, answer in sent)
    return row.issued > 0 and not any(answer.accepted for _, answer in sent)


def _labelled(label: str, act: Callable[[], None]) -> None:
    try:
        act()
    except StepProblem as problem:
        problem.step = problem.step or label
        raise


def _must_give(answer: Answer) -> None:
    """Acceptance, with what the operation answers."""
    must_accept(answer)
    if answer.operation is None:
        raise TypeError("an answer of no operation")
    lacking = [name for name in answer.operation.response if member(answer.value, name) in (MISSING, None, "")]
    if lacking:
        raise Mismatch(f"an answer with {', '.join(lacking)}", answer.text[:SHOWN], answer.exchange)


def _must_be_minted(answers: Sequence[Answer], signer: str) -> None:
    """Wallets of the service's own, another one each time."""
    minted: set[str] = set()
    for answer in answers:
        address = printed(member(answer.value, "wallet_address")).lower()
        if address == signer.lower():
            raise Mismatch("a wallet that the service derived", f"the signer's own, {address}", answer.exchange)
        if address in minted:
            raise Mismatch("another wallet each time", f"{address} again", answer.exchange)
        minted.add(address)
