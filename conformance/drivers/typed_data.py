"""The driver `typed_data`: rows of changes to a valid envelope, signed and sent ("Typed-data envelope")."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from pydantic import JsonValue

from conformance.drivers.caserun import CaseRun
from conformance.drivers.envelope_changes import KINDS, Change, applied, kind_of
from conformance.drivers.envelope_forms import PRIMARY_TYPES, EnvelopeRow, Flow, TypedDataCase
from conformance.drivers.envelope_requests import Signers, bodies
from conformance.drivers.envelope_time import NodeTime, set_right, within_one_second
from conformance.drivers.lists import read_pages
from conformance.drivers.refusals import must_accept, must_refuse, refusal
from conformance.drivers.steps import as_setup_failure
from conformance.problems import (
    BadShape,
    ControlNotAccepted,
    Departure,
    DuplicateId,
    Malformed,
    Mismatch,
    ProfileSilent,
    StateChanged,
    StepProblem,
)
from conformance.scenario.matchers import printed_json, same
from conformance.scenario.scope import MISSING, Scope, member, printed
from conformance.scenario.templates import Site, compile_value
from conformance.target.client import Answer
from conformance.target.requests import Wanted
from conformance.typed_data import Wallet

VARIABLES = (
    "chain_id",
    "domain_name",
    "wallet",
    "wallet_lower",
    "wallet_digits",
    "other_wallet",
    "primary",
    "issued_at",
    "issued_at_next",
)
"""What the values and paths of changes may name."""
LISTS = ("list_wallets", "list_api_keys")
"""Where whatever is minted into an account shows."""
SHOWN = 400
Changes = Callable[[Scope], list[Change]]


@dataclass(frozen=True)
class Row:
    """A row that is ready to run."""

    label: str
    form: EnvelopeRow
    changes: Changes


@dataclass(frozen=True)
class Stage:
    """A case while it runs."""

    run: CaseRun
    signers: Signers
    clock: NodeTime
    account: str | None
    exact: bool

    def send(self, flow: Flow, row: Row) -> list[Answer]:
        """The answers to a row's requests."""
        return (
            within_one_second(partial(self._send, flow, row)) if self.exact else self._send(flow, row, self.clock.now())
        )

    def _send(self, flow: Flow, row: Row, now: int) -> list[Answer]:
        primary = row.form.primary or PRIMARY_TYPES[flow]
        issued_at = now + row.form.issued
        self.run.scope.variables.update(primary=primary, issued_at=issued_at, issued_at_next=issued_at + 1)
        original = self.signers.valid(primary, issued_at)
        form = row.form.form or _forms(self.run)[0]
        made = bodies(row.form, row.changes(self.run.scope), original, self.signers, form)
        operation = self.run.target.operation(flow)
        wanted = [Wanted(operation, self._key(row.form), body=body) for body in made]
        return [self.run.send(one) for one in wanted for _ in range(row.form.times)]

    def _key(self, row: EnvelopeRow) -> str | None:
        match row.key:
            case "account":
                return self.account
            case "unknown":
                return base64.b64encode(self.run.scope.random.randbytes(32)).decode()
            case "malformed":
                return "no key"
            case _:
                return None


def compile_typed_data(form: TypedDataCase, site: Site) -> Callable[[CaseRun], None]:
    """The valid envelope of each flow, then its rows. Raises LoadProblem for changes that lead nowhere."""
    site.facts.operations.update({"get_node_chain_config", *form.flows})
    site.facts.uses.update({"wire.typed_data.form", "brand.title"})
    if form.exact_time:
        site.facts.needs.add("clock_control")
    if any(row.key == "account" for row in form.rows):
        site.facts.needs.add("managed_accounts")
        site.facts.uses.add("accounts.credits")
    site.names.update(VARIABLES)
    rows = [_compile_row(row, form, index, site.at("rows", index)) for index, row in enumerate(form.rows)]
    _check_ids(form, site)

    def program(run: CaseRun) -> None:
        stage, before = _set_up(run, exact=form.exact_time)
        fitting = [row for row in rows if row.form.form in (None, *_forms(run))]
        if not fitting:
            raise ProfileSilent("a form of typed_data that some row has", ", ".join(_forms(run)))
        for flow in form.flows:
            _judge_all(stage, flow, fitting)
        if not same(before, after := _lists(run, stage.account)):
            raise StateChanged(f"an account as before: {printed_json(before)[:SHOWN]}", printed_json(after)[:SHOWN])

    return program


def _check_ids(form: TypedDataCase, site: Site) -> None:
    seen: set[str] = set()
    for index, row in enumerate(form.rows):
        if row.id in seen:
            raise site.at("rows", index, "id").problem(DuplicateId, f"another row has the id {row.id!r}")
        seen.add(row.id)


def _compile_row(row: EnvelopeRow, case: TypedDataCase, index: int, site: Site) -> Row:
    templates = []
    for number, change in enumerate(row.changes):
        place = site.at("changes", number)
        if kind_of(change) is None:
            raise place.problem(BadShape, f"a change has exactly one of the members {', '.join(KINDS)}")
        templates.append((change, compile_value(change.model_dump(mode="json", exclude_unset=True), place)))

    def changes(scope: Scope) -> list[Change]:
        values = ((change, template(scope)) for change, template in templates)
        return [change.model_copy(update=value) for change, value in values if isinstance(value, dict)]

    for flow in case.flows:
        _try_out(row, changes, row.primary or PRIMARY_TYPES[flow], site)
    return Row(f"rows[{index}] {row.id}", row, changes)


def _try_out(row: EnvelopeRow, changes: Changes, primary: str, site: Site) -> None:
    """A load error for changes that cannot be made to any envelope."""
    signers = Signers("N", 1, Wallet("0"), Wallet("1"))
    values: dict[str, object] = {name: name for name in (*VARIABLES, "label", "base_url")}
    scope = Scope("0", lambda _: "profile", values | {"primary": primary})
    document: dict[str, JsonValue] = signers.valid(primary, 0)  # type: ignore[assignment]  # an envelope is JSON
    try:
        applied(document, changes(scope))
    except Mismatch as problem:
        raise site.at("changes").problem(BadShape, f"row {row.id}: {problem}") from problem


def _set_up(run: CaseRun, *, exact: bool) -> tuple[Stage, list[list[object]]]:
    """What the case needs, and the lists of its account; a departure here is none of the envelopes'."""
    try:
        account = _account(run)
        return _stage(run, account, exact=exact), _lists(run, account)
    except Departure as problem:
        raise as_setup_failure(problem) from problem


def _stage(run: CaseRun, account: str | None, *, exact: bool) -> Stage:
    answer = run.send(Wanted(run.target.operation("get_node_chain_config")))
    must_accept(answer)
    stated = printed(member(answer.value, "chain_id"))
    if not stated.isdecimal():
        raise Malformed("a chain id", stated[:SHOWN], answer.exchange)
    signers = Signers(
        f"{run.target.profile.brand.title} ChainSecured",
        int(stated),
        Wallet(f"{run.scope.seed}|holder"),
        Wallet(f"{run.scope.seed}|other"),
    )
    run.scope.variables |= {
        "chain_id": signers.chain_id,
        "domain_name": signers.domain_name,
        "wallet": signers.wallet.address,
        "wallet_lower": signers.wallet.address.lower(),
        "wallet_digits": signers.wallet.address[2:],
        "other_wallet": signers.other.address,
    }
    if exact:
        set_right(run)
    return Stage(run, signers, NodeTime(answer), account, exact)


def _forms(run: CaseRun) -> tuple[str, ...]:
    return run.target.profile.wire.typed_data.form or ("object",)


def _account(run: CaseRun) -> str | None:
    """The key of a fresh account that must stay as it is; None where the node makes no accounts."""
    if not run.target.profile.offers("managed_accounts") or run.target.profile.accounts.credits is None:
        return None
    members = {"account_name": run.scope.variables["label"], "account_description": "must stay as it is"}
    answer = run.send(Wanted(run.target.operation("new_account"), members=members))
    must_accept(answer)
    return printed(member(answer.value, "api_key"))


def _lists(run: CaseRun, account: str | None) -> list[list[object]]:
    if account is None:
        return []
    return [read_pages(run, Wanted(run.target.operation(name), account)) for name in LISTS]


def _judge_all(stage: Stage, flow: Flow, rows: Sequence[Row]) -> None:
    if not _is_valid(rows[0].form):
        _labelled(f"the valid envelope ({flow})", partial(_control, stage, flow))
    for row in rows:
        _labelled(f"{row.label} ({flow})", partial(_judge, stage, flow, row))


def _labelled(label: str, act: Callable[[], None]) -> None:
    try:
        act()
    except StepProblem as problem:
        problem.step = problem.step or label
        raise


def _is_valid(row: EnvelopeRow) -> bool:
    """Whether the row is the valid envelope as it is: then it needs no control, and its refusal is a failure."""
    return row == EnvelopeRow(id=row.id, accepted=True)


def _control(stage: Stage, flow: Flow) -> None:
    """The valid envelope; where it is refused, nothing is learnt from the refusal of another."""
    valid = EnvelopeRow(id="valid", accepted=True)
    try:
        _judge(stage, flow, Row("", valid, lambda _: []))
    except Departure as problem:
        raise ControlNotAccepted(problem.expected, problem.got, problem.exchange) from problem


def _judge(stage: Stage, flow: Flow, row: Row) -> None:
    answers = stage.send(flow, row)
    if not row.form.accepted:
        wanted = refusal(("any",), stage.run.target.profile)
        for answer in answers:
            must_refuse(answer, wanted, stage.run)
        return
    minted = [_minted(stage, answer) for answer in answers]
    if len(set(minted)) < len(minted):
        raise Mismatch("another wallet each time", ", ".join(minted), answers[-1].exchange)


def _minted(stage: Stage, answer: Answer) -> str:
    """The wallet that an accepted request gave."""
    must_accept(answer)
    if answer.operation is None:
        raise TypeError("an answer of no operation")
    lacking = [name for name in answer.operation.response if member(answer.value, name) in (MISSING, None, "")]
    if lacking:
        raise Mismatch(f"an answer with {', '.join(lacking)}", answer.text[:SHOWN], answer.exchange)
    address = printed(member(answer.value, "wallet_address"))
    if address.lower() == stage.signers.wallet.address.lower():
        raise Mismatch("a wallet that the service derived", f"the signer's own, {address}", answer.exchange)
    return address.lower()
