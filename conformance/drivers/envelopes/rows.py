"""Compiles rows of the driver `typed_data` into changes to a valid envelope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import JsonValue

from conformance.drivers.envelopes.changes import KINDS, Change, applied, kind_of
from conformance.drivers.envelopes.forms import PRIMARY_TYPES, EnvelopeRow, Flow, TypedDataCase
from conformance.drivers.envelopes.requests import Changes, Signers
from conformance.language.scope import Scope
from conformance.language.templates import CompileContext, Template, compile_value
from conformance.problems import BadShape, DuplicateId, LoadProblem, Mismatch, NothingAsserted, UnknownName
from conformance.service.sizes import U64
from conformance.values.typed_data import Wallet

VARIABLES = (
    "chain_id",
    "chain_id_hex",
    "chain_id_next",
    "chain_id_past_u64",
    "chain_id_past_u256",
    "domain_name",
    "wallet",
    "wallet_lower",
    "wallet_digits",
    "other_wallet",
    "primary",
    "own_primary",
    "issued_at",
    "issued_at_hex",
    "issued_at_next",
    "issued_at_text",
    "issued_at_past_u32",
    "issued_at_past_u64",
    "issued_at_past_u256",
)
"""Variables that the values and paths of changes may use."""


def variables(signers: Signers, flow: Flow, row: EnvelopeRow, issued_at: int) -> dict[str, object]:
    """The values of the variables in a row that goes to a flow."""
    return {
        "chain_id": signers.chain_id,
        "chain_id_hex": hex(signers.chain_id),
        "chain_id_next": signers.chain_id + 1,
        "chain_id_past_u64": str(signers.chain_id + U64),
        "chain_id_past_u256": str(signers.chain_id + 2**256),
        "domain_name": signers.domain_name,
        "wallet": signers.wallet.address,
        "wallet_lower": signers.wallet.address.lower(),
        "wallet_digits": signers.wallet.address[2:],
        "other_wallet": signers.other.address,
        "primary": primary_type(flow, row),
        "own_primary": PRIMARY_TYPES[flow],
        "issued_at": issued_at,
        "issued_at_hex": hex(issued_at),
        "issued_at_next": issued_at + 1,
        "issued_at_text": str(issued_at),
        "issued_at_past_u32": str(issued_at + 2**32),
        "issued_at_past_u64": str(issued_at + U64),
        "issued_at_past_u256": str(issued_at + 2**256),
    }


def primary_type(flow: Flow, row: EnvelopeRow) -> str:
    """The primary type of the valid envelope that a row changes."""
    return row.primary or PRIMARY_TYPES[flow]


@dataclass(frozen=True)
class Row:
    """A row that is ready to run."""

    label: str
    form: EnvelopeRow
    changes: Callable[[Scope], Changes]
    new_admin: Template

    @property
    def kind(self) -> tuple[object, ...]:
        """What two rows share that are of one kind: judges, flows and the parts that they change, not the values."""
        form = self.form
        changes = [(kind, str(getattr(change, kind))) for change in form.changes if (kind := kind_of(change))]
        given = (form.typed_data, form.raw, form.primary, form.pad_to, form.new_admin, form.signs)
        return (
            tuple(form.judges or ()),
            tuple(form.flows or ()),
            tuple(changes),
            tuple(part is None for part in given),
            (form.signature == "plain", form.without, form.key, form.method),
            (form.issued > 0, form.issued < 0),
        )

    def goes_to(self, flow: Flow, forms: Sequence[str]) -> bool:
        """Whether the row applies to this flow on a node that takes these forms of `typed_data`."""
        return (self.form.flows is None or flow in self.form.flows) and self.form.form in (None, *forms)

    def signed_over(self, over: Literal["changed", "original"]) -> Row:
        """The row with the signature over this envelope, unless it says itself which one is signed."""
        if self.form.over is not None or self.form.signs is not None:
            return self
        return replace(self, form=self.form.model_copy(update={"over": over}))

    def filled(self, scope: Scope) -> EnvelopeRow:
        """The row with the values of its variables."""
        return self.form.model_copy(update={"new_admin": self.new_admin(scope)})


def compile_rows(case: TypedDataCase, context: CompileContext) -> list[Row]:
    """Compile the rows of a case. Reports changes to paths that do not exist, and contradictions."""
    seen: set[str] = set()
    rows = []
    for index, row in enumerate(case.rows):
        place = context.at("rows", index)
        if row.id in seen:
            place.at("id").report(DuplicateId, f"another row has the id {row.id!r}")
        seen.add(row.id)
        try:
            _check(row, case, place)
            rows.append(_compile_row(row, case, index, place))
        except LoadProblem as problem:
            place.faults.append(problem)
    _check_judged(case, context)
    return rows


def _check_judged(case: TypedDataCase, context: CompileContext) -> None:
    """Where a row says what it judges: report rows that do not, unknown requirements, and those that no row judges."""
    told = {name for row in case.rows for name in row.judges or ()}
    if not told:
        return
    for index, row in enumerate(case.rows):
        if row.judges is None:
            context.at("rows", index).report(BadShape, "other rows say what they judge: `judges` is missing here")
        for name in set(row.judges or ()) - set(case.requirements):
            context.at("rows", index, "judges").report(UnknownName, f"the case does not say that it is about {name}")
    if left := [name for name in case.requirements if name not in told]:
        context.at("requirements").report(NothingAsserted, f"no row judges {', '.join(left)}")


def _check(row: EnvelopeRow, case: TypedDataCase, context: CompileContext) -> None:
    if row.refused_after is not None and not row.accepted:
        raise context.at("refused_after").problem(BadShape, "only an accepted row can be refused later")
    if row.signs is not None and (row.over is not None or row.accepted):
        raise context.at("signs").problem(
            BadShape, "a row says either `signs` or `over`, and with `signs` it is refused"
        )
    if row.instead and (row.accepted or not row.judges):
        raise context.at("instead").problem(
            BadShape, "a row with `instead` is not `accepted`, and says what it `judges`"
        )
    if unknown := set(row.flows or ()) - set(case.flows):
        raise context.at("flows").problem(BadShape, f"the case does not go to {', '.join(sorted(unknown))}")


def _compile_row(row: EnvelopeRow, case: TypedDataCase, index: int, context: CompileContext) -> Row:
    faults = len(context.faults)
    sent = _compile_changes(row.changes, context.at("changes"))
    signed = None if row.signs is None else _compile_changes(row.signs, context.at("signs"))

    def changes(scope: Scope) -> Changes:
        return Changes(sent(scope), None if signed is None else signed(scope))

    for flow in row.flows or case.flows if len(context.faults) == faults else ():
        _try_out(row, changes, flow, context)
    return Row(
        f"rows[{index}] {row.id}{_size_and_age(row)}",
        row,
        changes,
        compile_value(row.new_admin, context.at("new_admin")),
    )


def _size_and_age(row: EnvelopeRow) -> str:
    """The size and the age of a row's envelope, for its label; empty where the row sets neither."""
    size = f", of {row.pad_to} bytes" if row.pad_to else ""
    age = f", issued {abs(row.issued)} s {'ahead' if row.issued > 0 else 'ago'}" if row.issued else ""
    return size + age


def _compile_changes(changes: Sequence[Change], context: CompileContext) -> Callable[[Scope], list[Change]]:
    templates = []
    for number, change in enumerate(changes):
        place = context.at(number)
        if kind_of(change) is None:
            raise place.problem(BadShape, f"a change has exactly one of the members {', '.join(KINDS)}")
        templates.append((change, compile_value(change.model_dump(mode="json", exclude_unset=True), place)))

    def filled(scope: Scope) -> list[Change]:
        values = ((change, template(scope)) for change, template in templates)
        return [change.model_copy(update=value) for change, value in values if isinstance(value, dict)]

    return filled


def _try_out(row: EnvelopeRow, changes: Callable[[Scope], Changes], flow: Flow, context: CompileContext) -> None:
    """Report changes that cannot be made to any envelope."""
    signers = Signers("N", 1, Wallet("0"), Wallet("1"))
    always: dict[str, object] = {"label": "label", "base_url": "base_url"}
    scope = Scope(lambda _: "profile", always | variables(signers, flow, row, 0))
    document: dict[str, JsonValue] = signers.valid(primary_type(flow, row), 0)  # type: ignore[assignment]  # it is JSON
    try:
        made = changes(scope)
        applied(document, made.sent)
        applied(document, made.signed or [])
    except Mismatch as problem:
        raise context.at("changes").problem(BadShape, f"row {row.id}: {problem}") from problem
