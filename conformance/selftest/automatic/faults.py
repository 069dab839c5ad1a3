"""The automatic faults of the node's Python code: finds them, and plants them into a process.

A fault changes the code of a loaded function, so a forked process need not import anything again. Code
that runs at import alone (module constants, defaults, decorators) is left as it is, and so are the programs beside the
node: the chain, the payment provider's simulator, the simulated hardware, the locked-down processes that run actions.
"""

from __future__ import annotations

import ast
import gc
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType

import reference_node.node
from conformance.selftest.automatic.operators import Change, changes

ROOT = Path(reference_node.node.__file__).parent

MODULES = (
    "json_depth.py",
    "problems.py",
    "refusals.py",
    "strict_json.py",
    "api/*.py",
    "permission/*.py",
    "billing/credits.py",
    "billing/handover.py",
    "billing/ledger.py",
    "billing/payments.py",
    "billing/provider.py",
    "chain/account_config.py",
    "chain/contract_abi.py",
    "sandbox/conversation.py",
    "sandbox/logs.py",
    "sandbox/sandbox.py",
    "tee/attestation.py",
    "tee/authorisation.py",
    "tee/compose.py",
    "tee/event_log.py",
    "tee/identity.py",
)
"""The modules of the node that implement the specification, as globs inside its package."""

LEFT_OUT = ("__repr__", "__str__", "__hash__", "key_read", "key_write", "_serve")
"""Functions that no answer depends on, and those that run at import alone."""


@dataclass(frozen=True)
class Fault:
    """One small change of the node's code."""

    name: str
    """`module::function::operator::N`; N counts the changes of one operator in one function."""
    operator: str
    path: Path
    lines: range
    """The lines of the changed code."""
    before: str
    after: str
    position: int
    """Its index among the changes of its file."""

    @property
    def module(self) -> str:
        """The module's path inside the node's package."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def function(self) -> str:
        """`module::function`, of the changed function."""
        return "::".join(self.name.split("::")[:2])

    def plant(self) -> bool:
        """Change the code of the loaded functions in this process; False if no loaded function changes."""
        return plant(self)

    def __str__(self) -> str:
        return f"{self.name} (line {self.lines.start}): {self.before!r} becomes {self.after!r}"


def all_faults() -> list[Fault]:
    """Every automatic fault, in the order of modules and lines; those that compile to the same code are left out."""
    paths = [path for pattern in MODULES for path in sorted(ROOT.glob(pattern))]
    return [fault for path in paths for fault in _faults(path)]


def _faults(path: Path) -> Iterator[Fault]:
    counts: dict[str, int] = {}
    for position, (function, change) in enumerate(_changes(path)):
        key = f"{path.relative_to(ROOT).as_posix()}::{function}::{change.operator.replace(' ', '-')}"
        counts[key] = counts.get(key, 0) + 1
        lines = range(change.node.lineno, (change.node.end_lineno or change.node.lineno) + 1)
        yield Fault(f"{key}::{counts[key]}", change.operator, path, lines, change.before, change.after, position)


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a module, always the same one."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def _changes(path: Path) -> tuple[tuple[str, Change], ...]:
    return tuple(
        (name, change)
        for name, function in _functions(tree_of(path), "")
        if function.name not in LEFT_OUT
        for change in changes(function)
    )


def _functions(
    scope: ast.Module | ast.ClassDef, prefix: str
) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for node in scope.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")


class _Replaced(ast.NodeTransformer):
    def __init__(self, change: Change) -> None:
        self._change = change

    def visit(self, node: ast.AST) -> ast.AST:
        """The tree with the change in its place."""
        if node is self._change.node:
            return ast.copy_location(self._change.replacement, node)
        return self.generic_visit(node)


def change_of(fault: Fault) -> Change:
    """The change that a fault of the Python code makes to the tree of its file."""
    return _changes(fault.path)[fault.position][1]


def plant(fault: Fault) -> bool:
    """Change the code of the loaded functions in this process; False if no loaded function changes."""
    altered = _Replaced(change_of(fault)).visit(tree_of(fault.path))
    assert isinstance(altered, ast.Module)  # noqa: S101 - what is changed lies inside a function
    return swap(fault.path, altered, {})


def swap(path: Path, altered: ast.Module, names: Mapping[str, object]) -> bool:
    """Give the loaded functions of a module the code of an altered tree, which may use further global names.

    Returns False if no loaded function changes.
    """
    name = str(path)
    old = _codes(compile(path.read_bytes(), name, "exec"))
    new = _codes(compile(ast.fix_missing_locations(altered), name, "exec"))
    functions = _loaded(name, {key for key in old.keys() & new.keys() if _meaning(old[key]) != _meaning(new[key])})
    for function in functions:
        function.__globals__.update(names)
        function.__code__ = new[_key(function.__code__)]
    return bool(functions)


def _meaning(code: CodeType) -> tuple[object, ...]:
    """The code without its positions."""
    values = tuple(_meaning(value) if isinstance(value, CodeType) else value for value in code.co_consts)
    return code.co_code, code.co_names, values


def _codes(code: CodeType) -> dict[tuple[str, int], CodeType]:
    """Each code object of a module by its name and first line."""
    codes = {_key(code): code}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            codes |= _codes(constant)
    return codes


def _key(code: CodeType) -> tuple[str, int]:
    return code.co_qualname, code.co_firstlineno


def _loaded(path: str, wanted: Set[tuple[str, int]]) -> list[FunctionType]:
    return [
        thing
        for thing in gc.get_objects()
        if isinstance(thing, FunctionType) and thing.__code__.co_filename == path and _key(thing.__code__) in wanted
    ]
