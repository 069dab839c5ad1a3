"""Probes at the places that faults change: which of them run, and where a change would alter a value.

Where a changed expression and what surrounds it have no effects, a probe evaluates both, as it is and as it would be.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from conformance.selftest.automatic.faults import Fault, change_of, swap, tree_of
from conformance.selftest.automatic.operators import Change

EFFECTLESS = frozenset(
    [
        *(
            "bool",
            "bytes",
            "count",
            "depth",
            "encode",
            "endswith",
            "find",
            "from_bytes",
            "fullmatch",
            "hex",
            "int",
            "isinstance",
        ),
        *("items", "keys", "len", "lower", "max", "min", "now", "range", "removeprefix", "startswith", "str", "strip"),
        *("sum", "to_bytes", "total_seconds", "type", "values"),
    ]
)
"""Functions and methods that may be called once more: the names are those of builtins, texts, numbers and clocks."""

OPERATIONS = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.IfExp, ast.Attribute, ast.Subscript, ast.Tuple)


@dataclass
class Notes:
    """The faults whose places have run, by name."""

    reached: set[str] = field(default_factory=set)
    altering: set[str] = field(default_factory=set)
    """Those that would alter a value, or of which a probe cannot tell."""

    def clear(self) -> None:
        """Forget them all."""
        self.reached.clear()
        self.altering.clear()

    def at_statement(self, *names: str) -> None:
        """The place of these faults runs."""
        self.reached.update(names)
        self.altering.update(names)

    def at_value(self, value: object, *others: tuple[str, Callable[[], object]]) -> object:
        """The value, after a comparison with what each of these faults would make of it."""
        for name, other in others:
            self.reached.add(name)
            if name not in self.altering and not _is_same(value, other):
                self.altering.add(name)
        return value


def _is_same(value: object, other: Callable[[], object]) -> bool:
    try:
        changed = other()
        return type(changed) is type(value) and bool(changed == value)
    except Exception:  # noqa: BLE001 - whatever the changed code raises is a difference
        return False


def place_probes(faults: Sequence[Fault], notes: Notes) -> None:
    """Put probes into the loaded functions of this process."""

    def path(fault: Fault) -> Path:
        return fault.path

    for file, here in groupby(sorted(faults, key=path), path):
        tree = tree_of(file)
        probed = _Probed(tree, [(fault.name, change_of(fault)) for fault in here]).visit(tree)
        assert isinstance(probed, ast.Module)  # noqa: S101 - every place lies inside a function
        swap(file, probed, {"_at_statement": notes.at_statement, "_at_value": notes.at_value})


class _Probed(ast.NodeTransformer):
    def __init__(self, tree: ast.Module, changes: Sequence[tuple[str, Change]]) -> None:
        parents = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
        self._values: dict[int, list[tuple[str, ast.expr]]] = {}
        self._places: dict[int, list[str]] = {}
        for name, change in changes:
            place = _place(change.node, parents)
            if isinstance(place, ast.expr) and _is_effectless(place):
                self._values.setdefault(id(place), []).append((name, _changed(place, change)))
            else:
                self._places.setdefault(id(place), []).append(name)

    def visit(self, node: ast.AST) -> ast.AST | list[ast.AST]:
        """The tree with the probes in their places."""
        values, names = self._values.get(id(node), []), self._places.get(id(node), [])
        probed = self.generic_visit(node)
        noted = _call("_at_statement", *map(ast.Constant, names))
        if not isinstance(probed, ast.expr):
            return [ast.copy_location(ast.Expr(noted), node), probed] if names else probed
        if values:
            others = (ast.Tuple([ast.Constant(name), _later(value)], ast.Load()) for name, value in values)
            probed = _call("_at_value", probed, *others)
        if names:
            probed = ast.Subscript(ast.Tuple([noted, probed], ast.Load()), ast.Constant(1), ast.Load())
        return ast.copy_location(probed, node)


def _place(node: ast.AST, parents: dict[int, ast.AST]) -> ast.AST:
    """Where to probe for a change of this node: as far out as nothing has an effect; never inside a pattern."""
    above = [*_above(node, parents)]
    pattern = next((place for place, one in enumerate(above) if isinstance(one, ast.pattern)), None)
    if pattern is not None:
        return next(one for one in above[pattern:] if isinstance(one, ast.stmt))
    if not _is_effectless(node):
        return node
    for one in above:
        if not _is_effectless(one):
            break
        node = one
    return node


def _above(node: ast.AST, parents: dict[int, ast.AST]) -> Iterator[ast.AST]:
    while id(node) in parents:
        node = parents[id(node)]
        yield node


def _is_effectless(node: ast.AST) -> bool:
    """Whether the code may run once more than it does."""
    if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
        return False
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return called in EFFECTLESS and all(map(_is_effectless, [*parts, *owner]))
    if isinstance(node, OPERATIONS):
        return all(_is_effectless(part) for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
    return isinstance(node, ast.Name | ast.Constant)


def _changed(place: ast.expr, change: Change) -> ast.expr:
    """A copy of the code around a change, with the change."""
    return copy.deepcopy(place, {id(change.node): copy.deepcopy(change.replacement)})


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [*arguments], [])


def _later(value: ast.expr) -> ast.Lambda:
    """A function of the value. Its line 1 tells it from the functions of the module."""
    none = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(none, value, lineno=1, end_lineno=1, col_offset=0, end_col_offset=0)
