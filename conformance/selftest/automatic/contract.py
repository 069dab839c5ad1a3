"""The automatic faults of the account contract: finds them in its Solidity sources, compiles them, plants their code.

The contracts that stand beside it (of the attestation and of wallets that are contracts) are left as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from conformance.selftest.automatic.compiler import Compiler
from conformance.selftest.automatic.faults import Fault
from conformance.selftest.automatic.operators import cut
from conformance.selftest.automatic.solidity import Node, SolidityChange, solidity_changes, walk
from reference_node.chain import contract_abi

APART = ("AppAuthorisation.sol", "ContractWallet.sol", "IAccountConfig.sol")
"""Other contracts, and the interface, which holds no code."""

CONSTRUCTOR = ""
"""Stands for the constructor among the functions' selectors."""


@dataclass(frozen=True)
class ContractFault(Fault):
    """A small change of the account contract."""

    altered: bytes = field(repr=False)
    """The changed file."""
    compiled: str | None = field(default=None, repr=False)
    """The contract's creation code with the change, in hex; None where it does not compile."""

    @property
    def module(self) -> str:
        """The file's name."""
        return self.path.name

    def plant(self) -> bool:
        """Let nodes of this process deploy the change; False if it compiles to the same code or not at all."""
        artifact = contract_abi._artifact()
        if self.compiled in (None, artifact["bytecode"]):
            return False
        artifact["bytecode"] = self.compiled
        return True


@dataclass(frozen=True)
class _Function:
    path: Path
    name: str
    node: Node
    lines: range


@dataclass(frozen=True)
class Contract:
    """The sources of the account contract with their syntax trees."""

    compiler: Compiler
    sources: Mapping[Path, bytes]
    functions: Sequence[_Function]

    @classmethod
    def parsed(cls, compiler: Compiler) -> Contract:
        """Have the sources parsed."""
        sources = compiler.sources()
        trees = compiler.trees()
        return cls(compiler, sources, [one for path in sources for one in _functions(path, trees[path], sources[path])])

    def faults(self) -> list[ContractFault]:
        """Every automatic fault, in the order of files and functions."""
        return [
            fault for function in self.functions if function.path.name not in APART for fault in self._faults(function)
        ]

    def compile(self, faults: Sequence[ContractFault]) -> Iterator[ContractFault]:
        """Compile the changes, one after the other."""
        codes = self.compiler.creation_codes([{fault.path: fault.altered} for fault in faults])
        return (replace(fault, compiled=code) for fault, code in zip(faults, codes, strict=True))

    def lines(self, calls: Mapping[str, Collection[str]], start: str) -> dict[tuple[str, int], list[str]]:
        """The cases that may run each line: those that call a function from which the line's own can be reached.

        `calls` names the cases that call each selector (hex). `start` stands for the node's start: the constructor.
        """
        reached: dict[tuple[str, int], set[str]] = {}
        known = {one.node["id"]: one for one in self.functions}
        for function in self.functions:
            selector = (
                CONSTRUCTOR if function.node.get("kind") == "constructor" else function.node.get("functionSelector")
            )
            cases = [start] if selector == CONSTRUCTOR else calls.get(str(selector), ())
            for inner in _reachable(function, known) if cases else ():
                for line in inner.lines:
                    reached.setdefault((str(inner.path), line), set()).update(cases)
        return {key: [*cases] for key, cases in reached.items()}

    def _faults(self, function: _Function) -> Iterator[ContractFault]:
        counts: dict[str, int] = {}
        code = self.sources[function.path]
        for position, change in enumerate(solidity_changes(function.node, code)):
            key = f"{function.path.name}::{function.name}::{change.operator.replace(' ', '-')}"
            counts[key] = counts.get(key, 0) + 1
            yield ContractFault(
                name=f"{key}::{counts[key]}",
                operator=f"contract: {change.operator}",
                path=function.path,
                lines=_lines(code, change.place.start, change.place.end),
                before=cut(change.place.text(code)),
                after=cut(change.after),
                position=position,
                altered=_altered(code, change),
            )


def _functions(path: Path, tree: Node, code: bytes) -> Iterator[_Function]:
    for node in walk(tree):
        if node["nodeType"] in ("FunctionDefinition", "ModifierDefinition"):
            start, length, _ = map(int, str(node["src"]).split(":"))
            name = str(node["name"] or node.get("kind"))
            yield _Function(path, name, node, _lines(code, start, start + length))


def _reachable(function: _Function, known: Mapping[object, _Function]) -> list[_Function]:
    found = {function.node["id"]: function}
    waiting = [function]
    while waiting:
        for node in walk(waiting.pop().node):
            # `using … for` calls a library's function by a member's name.
            called = known.get(node.get("referencedDeclaration"))
            if called and called.node["id"] not in found:
                found[called.node["id"]] = called
                waiting.append(called)
    return [*found.values()]


def _altered(code: bytes, change: SolidityChange) -> bytes:
    return code[: change.place.start] + change.after.encode() + code[change.place.end :]


def _lines(code: bytes, start: int, end: int) -> range:
    return range(code.count(b"\n", 0, start) + 1, code.count(b"\n", 0, end) + 2)
