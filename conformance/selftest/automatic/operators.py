"""The mutation operators: each finds places in a function's syntax tree and yields replacements.

A replacement is a new node; the tree itself is not modified.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

LONGEST_SHOWN = 90
"""Characters of the code that a change shows on each side."""

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}


@dataclass(frozen=True)
class Change:
    """A node of a syntax tree and its replacement."""

    operator: str
    node: ast.expr | ast.stmt
    replacement: ast.AST

    @property
    def before(self) -> str:
        """The original code, cut to a line."""
        return _shown(self.node)

    @property
    def after(self) -> str:
        """The changed code, cut to a line."""
        return _shown(self.replacement)


def changes(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Change]:
    """Every change inside a function, in the order of its code; nested functions are part of it."""
    left_out = {id(part) for node in ast.walk(function) for root in _without_effect(node) for part in ast.walk(root)}
    if not _is_docstring_alone(function):
        yield from _returned_early(function)
    for node in ast.walk(function):
        if id(node) not in left_out:
            for operator in OPERATORS:
                yield from operator(node)


def _without_effect(node: ast.AST) -> Iterator[ast.AST]:
    """The parts in which a change has no effect on behaviour: annotations, docstrings, decorators, messages."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield from node.decorator_list
        yield node.args
        if node.returns:
            yield node.returns
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
        yield node.body[0]
    if isinstance(node, ast.AnnAssign):
        yield node.annotation
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        yield from (argument for argument in node.exc.args if isinstance(argument, ast.Constant | ast.JoinedStr))
    if _writes_log(node):
        yield node
    if isinstance(node, ast.JoinedStr):
        yield from (part for part in node.values if isinstance(part, ast.Constant))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "cast":
        yield node.args[0]


def _is_docstring_alone(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return len(function.body) == 1 and isinstance(function.body[0], ast.Expr)


def _returned_early(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Change]:
    """Return at once from a function whose result is None or a bool."""
    answers: tuple[object, ...] = ()
    if isinstance(function.returns, ast.Constant) and function.returns.value is None:
        answers = (None,)
    if isinstance(function.returns, ast.Name) and function.returns.id == "bool":
        answers = (True, False)
    has_yield = any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))
    for answer in () if has_yield else answers:
        early = ast.Return(ast.Constant(answer))  # type: ignore[arg-type]  # a singleton
        yield Change("early return", _first(function), early)


def _first(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
    return function.body[1 if ast.get_docstring(function) is not None else 0]


def _negated(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(node.test, ast.Compare):
        yield Change("negated condition", node.test, ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.comprehension):
        for test in node.ifs:
            yield Change("condition left out", test, ast.Constant(value=True))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield Change("negation left out", node, node.operand)


def _compared(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
        other = COMPARED[type(node.ops[0])]()
        yield Change("other comparison", node, ast.Compare(node.left, [other, *node.ops[1:]], node.comparators))


def _joined(node: ast.AST) -> Iterator[Change]:
    if not isinstance(node, ast.BoolOp):
        return
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield Change("and for or", node, ast.BoolOp(other, node.values))
    for index in range(len(node.values)):
        rest = [value for place, value in enumerate(node.values) if place != index]
        yield Change("operand left out", node, rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest))


def _computed(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BinOp) and type(node.op) in COMPUTED and not _is_text(node.left, node.right):
        yield Change("other arithmetic", node, ast.BinOp(node.left, COMPUTED[type(node.op)](), node.right))


def _constant(node: ast.AST) -> Iterator[Change]:
    if not isinstance(node, ast.Constant):
        return
    if isinstance(node.value, bool):
        yield Change("other constant", node, ast.Constant(not node.value))
    elif isinstance(node.value, int):
        yield Change("off by one", node, ast.Constant(node.value + 1))
        if node.value > 1:
            yield Change("off by one", node, ast.Constant(node.value - 1))
    elif isinstance(node.value, str | bytes) and node.value:
        yield Change("other constant", node, ast.Constant(node.value[:0]))


def _dropped(node: ast.AST) -> Iterator[Change]:
    for name in ("body", "orelse", "finalbody"):
        statements = getattr(node, name, None)
        for statement in statements if isinstance(statements, list) else ():
            if _has_effect(statement):
                yield Change("dropped statement", statement, ast.Pass())


def _has_effect(statement: ast.AST) -> bool:
    if isinstance(statement, ast.Assign):
        return not any(isinstance(target, ast.Name | ast.Tuple) for target in statement.targets)
    if _writes_log(statement):
        return False
    calls = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call | ast.Await)
    return calls or isinstance(statement, ast.AugAssign | ast.Raise | ast.Delete | ast.Continue)


def _writes_log(node: ast.AST) -> bool:
    """Whether it is a message to the operator, such as `LOG.warning(…)`."""
    called = node.value.func if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    return isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id == "LOG"


def _swapped(node: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Call) and not any(isinstance(argument, ast.Starred) for argument in node.args):
        for place in range(len(node.args) - 1):
            first, second = node.args[place : place + 2]
            if ast.dump(first) != ast.dump(second) and _same_kind(first, second):
                swapped = [*node.args[:place], second, first, *node.args[place + 2 :]]
                yield Change("swapped arguments", node, ast.Call(node.func, swapped, node.keywords))


def _same_kind(first: ast.expr, second: ast.expr) -> bool:
    return isinstance(first, ast.Name | ast.Attribute) and isinstance(second, ast.Name | ast.Attribute)


def _is_text(*operands: ast.expr) -> bool:
    return any(isinstance(operand, ast.JoinedStr) or _holds_text(operand) for operand in operands)


def _holds_text(operand: ast.expr) -> bool:
    return isinstance(operand, ast.Constant) and isinstance(operand.value, str | bytes)


def _shown(node: ast.AST) -> str:
    return cut(ast.unparse(ast.fix_missing_locations(node)))


def cut(code: str) -> str:
    """Code on one line, cut to a length that a table can show."""
    text = " ".join(code.split())
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


OPERATORS: tuple[Callable[[ast.AST], Iterator[Change]], ...] = (
    _negated,
    _compared,
    _joined,
    _computed,
    _constant,
    _dropped,
    _swapped,
)
