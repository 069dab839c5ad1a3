"""Tables of variables: the `each` of a case."""

from __future__ import annotations

from pydantic import JsonValue

from conformance.language.templates import ALWAYS_DEFINED, CompileContext, Template, compile_value
from conformance.problems import BadShape, DuplicateId

Row = dict[str, JsonValue]


def define_rows(rows: list[Row], context: CompileContext) -> None:
    """Define the variables of a table. Raises LoadProblem for missing or equal ids, and for differing members."""
    seen: set[str] = set()
    for index, row in enumerate(rows):
        place = context.at(index)
        name = row.get("id")
        if not isinstance(name, str) or not name:
            raise place.problem(BadShape, "a row of `each` needs an `id`, a text")
        if name in seen:
            raise place.at("id").problem(DuplicateId, f"another row has the id {name!r}")
        seen.add(name)
        if row.keys() != rows[0].keys():
            raise place.problem(BadShape, f"the row has the members {sorted(row)}, the first one {sorted(rows[0])}")
        taken = row.keys() & ALWAYS_DEFINED
        if taken:
            raise place.problem(DuplicateId, f"{min(taken)!r} is always defined and cannot be a member of a row")
    for name in rows[0].keys() - {"id"}:
        context.define(name)


def compile_row(row: Row, context: CompileContext) -> dict[str, Template]:
    """The variables of a row."""
    return {name: compile_value(value, context.at(name)) for name, value in row.items() if name != "id"}
