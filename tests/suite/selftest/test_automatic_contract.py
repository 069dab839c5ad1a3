"""Automatic faults of the contract: what the operators change, which cases reach it, and how a change is planted."""

from __future__ import annotations

import os
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
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
        advice = "the Solidity compiler is missing: npm --prefix contracts ci"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(advice)
    return found


def parsed(compiler: Compiler, folder: Path, body: str) -> Contract:
    """A contract of a few lines, beside the same compiler."""
    (folder / "src").mkdir()
    (folder / "src" / "AccountConfig.sol").write_text(f"{HEAD}{body}\n}}\n", encoding="utf-8")
    (folder / "node_modules").symlink_to(compiler.folder / "node_modules")
    return Contract.parsed(Compiler(folder, compiler.node))


@pytest.mark.parametrize(
    ("statement", "operator", "after"),
    [
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
        ("return f(b, a, d, c);", "swapped arguments", "a, b"),
        ("return c;", "early return", "return true;"),
        ("return c;", "early return", "return false;"),
        ("return c;", "modifier left out", ""),
    ],
)
def test_operator_makes_the_change(
    compiler: Compiler, tmp_path: Path, statement: str, operator: str, after: str
) -> None:
    function = f"function f(uint256 a, uint256 b, bool c, bool d) public m returns (bool) {{ {statement} }}"
    faults = parsed(compiler, tmp_path, f"modifier m() {{ _; }} {function}").faults()
    assert (f"contract: {operator}", after) in {(fault.operator, fault.after) for fault in faults}


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
    ours, theirs = get_context("fork").Pipe(duplex=False)
    process = get_context("fork").Process(target=_tell_planted_code, args=(theirs,))
    process.start()
    assert ours.recv() == (True, b"\xfe\xed")
    process.join()
    assert creation_code(bytes(20), [])[:2] != b"\xfe\xed", "the fault stays in the process that it was planted into"


def _tell_planted_code(to: Connection) -> None:
    planted = some_fault("0xfeed").plant()
    to.send((planted, creation_code(bytes(20), [])[:2]))


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
