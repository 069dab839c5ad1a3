"""Automatic faults of the contract: what the operators change, which cases reach it, and how a change is planted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from forked import forked
from programs import absent
from rich.console import Console

from conformance.selftest.automatic import command
from conformance.selftest.automatic.compiler import Compiler
from conformance.selftest.automatic.contract import Contract, ContractFault
from conformance.selftest.automatic.reach import Reach, Seen
from conformance.selftest.automatic.report import triage
from reference_node.chain.contract_abi import creation_code

HEAD = "pragma solidity 0.8.37;\ncontract AccountConfig {\n    event Sent();\n    error Wrong();\n"


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    found = Compiler.found()
    if found is None:
        absent("the Solidity compiler is missing: npm --prefix contracts ci")
    return found


def parsed(compiler: Compiler, folder: Path, body: str) -> Contract:
    """A contract of a few lines, beside the same compiler."""
    (folder / "src").mkdir()
    (folder / "src" / "AccountConfig.sol").write_text(f"{HEAD}{body}\n}}\n", encoding="utf-8")
    (folder / "node_modules").symlink_to(compiler.folder / "node_modules")
    return Contract.parsed(Compiler(folder, compiler.node))


CHANGES = [
    ("return a < b;", "other comparison", "(a <= b)"),
    ("return c && d;", "and for or", "(c || d)"),
    ("return c && d;", "operand left out", "d"),
    ("return !c;", "negation left out", "c"),
    ("if (c) return d;", "negated condition", "!(c)"),
    ("return a + b == 0;", "other arithmetic", "(a - b)"),
    ("return a == 7;", "off by one", "8"),
    ("return a == 7;", "off by one", "6"),
    ("return true;", "other constant", "false"),
    ("emit Sent();", "dropped statement", "{}"),
    ("revert Wrong();", "dropped statement", "{}"),
    ("a = b;", "dropped statement", "{}"),
    ("return g(b, a, d, c);", "swapped arguments", "a, b"),
    ("return c;", "early return", "return true;"),
    ("return c;", "early return", "return false;"),
    ("return c;", "modifier left out", ""),
]
"""A statement of a function, an operator, and what that makes of a part of it."""


@pytest.fixture(scope="module")
def changes(compiler: Compiler, tmp_path_factory: pytest.TempPathFactory) -> set[tuple[str, str, str]]:
    """The changes of a contract with a function for each statement."""
    statements = {f"f{number}": statement for number, (statement, _, _) in enumerate(CHANGES)}
    head = "(uint256 a, uint256 b, bool c, bool d) public m returns (bool)"
    functions = [f"function {name}{head} {{ {statement} }}" for name, statement in statements.items()]
    body = f"modifier m() {{ _; }} function g{head} {{ }} {' '.join(functions)}"
    faults = parsed(compiler, tmp_path_factory.mktemp("contract"), body).faults()
    return {(statements.get(fault.name.split("::")[1], ""), fault.operator, fault.after) for fault in faults}


@pytest.mark.parametrize(("statement", "operator", "after"), CHANGES)
def test_operator_makes_the_change(
    changes: set[tuple[str, str, str]], statement: str, operator: str, after: str
) -> None:
    assert (statement, f"contract: {operator}", after) in changes


def test_names_of_faults_are_unique(compiler: Compiler) -> None:
    names = [fault.name for fault in Contract.parsed(compiler).faults()]
    assert len(names) == len(set(names)) > 500


def test_line_is_run_by_cases_that_call_a_function_above_it(compiler: Compiler, tmp_path: Path) -> None:
    body = (
        "constructor() { g(); }\n"
        "function f() external pure returns (bool) { return inner(); }\n"
        "function inner() private pure returns (bool) { return true; }\n"
        "function g() private pure {}"
    )
    contract = parsed(compiler, tmp_path, body)
    path = tmp_path / "src" / "AccountConfig.sol"
    lines = contract.lines({"26121ff0": ["calls f"], "e2179b8e": ["calls g"]}, "start")
    assert {key: sorted(cases) for key, cases in lines.items()} == {
        (str(path), 5): ["start"],
        (str(path), 6): ["calls f"],
        (str(path), 7): ["calls f"],
        (str(path), 8): ["start"],
    }


def test_change_that_does_not_compile_has_no_code(compiler: Compiler, tmp_path: Path) -> None:
    contract = parsed(compiler, tmp_path, "function f() external pure returns (bool) { return true; }")
    fault = contract.faults()[0]
    sound, broken = contract.compile([fault, replace(fault, altered=b"contract")])
    assert sound.compiled is not None
    assert sound.compiled.startswith("0x60")
    assert broken.compiled is None


def some_fault(compiled: str | None) -> ContractFault:
    """A fault with this code."""
    return ContractFault(
        "A.sol::f::early-return::1", "contract: early return", Path("A.sol"), range(1), "", "", 0, b"", compiled
    )


def test_planted_code_is_what_a_node_deploys() -> None:
    def planted() -> tuple[bool, bytes]:
        return some_fault("0xfeed").plant(), creation_code(bytes(20), [])[:2]

    assert forked(planted) == (True, b"\xfe\xed")
    assert creation_code(bytes(20), [])[:2] != b"\xfe\xed", "the fault stays in the process that it was planted into"


def test_code_that_is_the_same_is_not_planted() -> None:
    same = creation_code(bytes(20), [])[: -3 * 32].hex()
    assert not some_fault(f"0x{same}").plant()
    assert not some_fault(None).plant()


def test_absent_compiler_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Compiler, "found", classmethod(lambda _: None))
    monkeypatch.setattr(command, "load", lambda *_: [])
    monkeypatch.setattr(command, "measure_reach", lambda *_: Reach(Seen(), {}))
    console = Console(record=True, width=200)
    command.try_sample(console, 0, "0", 1, tmp_path)
    assert "NOT TRIED: faults of the contract" in console.export_text()


def test_every_fourth_fault_is_of_the_contract(compiler: Compiler) -> None:
    sample = command._sample(Contract.parsed(compiler), 20, "0")
    assert [isinstance(fault, ContractFault) for fault in sample] == [False, False, False, True] * 5


def test_explained_survivors_are_faults_of_this_contract(compiler: Compiler) -> None:
    known = {fault.name: (fault.before, fault.after) for fault in Contract.parsed(compiler).faults()}
    stale = [
        name for name, found in triage().items() if ".sol::" in name and known.get(name) != (found.before, found.after)
    ]
    assert stale == [], "the contract has changed: look at these again"
