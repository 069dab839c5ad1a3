"""Tables of variables: the `each` of a case and of a `repeat`."""

from __future__ import annotations

from pydantic import JsonValue

from conformance.language.shapes import either
from conformance.language.templates import ALWAYS_DEFINED, CompileContext, Template, compile_value, shape_of
from conformance.problems import BadShape, DuplicateId

Row = dict[str, JsonValue]


def check_rows(rows: list[Row], context: CompileContext) -> set[str]:
    """The names of a table's variables. Raises LoadProblem for missing or equal ids, and for differing members."""
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
    return {name for name in rows[0] if name != "id"}


def define_rows(rows: list[Row], context: CompileContext) -> None:
    """Define the variables of a table. Raises LoadProblem for missing or equal ids, and for differing members."""
    for name in check_rows(rows, context):
        shapes = [shape_of(row.get(name), context) for row in rows]
        context.define(name, shapes[0] if all(shape == shapes[0] for shape in shapes) else either(shapes))


def compile_row(row: Row, context: CompileContext) -> dict[str, Template]:
    """The variables of a row."""
    return {name: compile_value(value, context.at(name)) for name, value in row.items() if name != "id"}
