"""The pack of hostile actions: green on the bundled node, red on nodes that do not bear them, run only if asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase

import pytest
import yaml

from conformance.drivers.hostile import driver as hostile
from conformance.resources import scenarios
from conformance.run.listing import pack_files
from conformance.run.loader import load_pack
from conformance.run.options import Options
from conformance.run.runner import load, run_case
from conformance.run.selection import select
from conformance.selftest.tools.alter import Answered, Forward, Received, intercept
from conformance.selftest.tools.alter_runs import RUN, change_code, change_result
from conformance.selftest.tools.serving import target_node
from conformance.verdict import Outcome, Verdict
from reference_node.node import Node
from reference_node.sandbox import Limits, RunResult, Sandbox

LIMIT_SECONDS = 1.0
PACK = scenarios() / "hostile.yaml"
Alter = Callable[[Node], None]


def nothing(_: Node) -> None:
    """The node as it is."""


def judged(alter: Alter = nothing, cases: str = "*", limit: float = LIMIT_SECONDS) -> list[Outcome]:
    """The outcomes of some cases of the pack on a node whose runs have a short limit."""

    def short(node: Node) -> None:
        node.sandbox = Sandbox(Limits(wall_seconds=limit))
        alter(node)

    stated = {"exec": {"failure_and_limits": {"timeout_seconds": LIMIT_SECONDS}}}
    with target_node(short, "0", stated) as target:  # type: ignore[arg-type]  # a JSON object
        chosen = [case for case in load_pack(PACK) if fnmatchcase(case.id, f"hostile::{cases}")]
        return [run_case(case, target) for case in chosen]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only these actions."""
    hostile.families()
    chosen = {"loop_main", "leak_globals"}
    entries = tuple(entry for entry in hostile.entries() if entry.id in chosen)
    monkeypatch.setattr(hostile, "entries", lambda: entries)


def test_every_family_passes_on_the_bundled_node(monkeypatch: pytest.MonkeyPatch) -> None:
    for patience in ("GRACE_SECONDS", "PATIENCE_SECONDS"):  # how fast this machine is, is not the question
        monkeypatch.setattr(hostile, patience, 300.0)
    outcomes = judged()
    assert len(outcomes) >= 10
    assert {outcome.case: outcome.reason for outcome in outcomes if outcome.verdict is not Verdict.PASS} == {}


def test_every_action_belongs_to_a_case() -> None:
    run = {family for case in yaml.safe_load(PACK.read_text())["cases"] for family in case["families"]}
    assert {entry.family for entry in hostile.entries()} == run


@pytest.mark.usefixtures("few")
def test_endless_run_that_succeeds_fails() -> None:
    def forgiving(_code: str, _params: str, result: RunResult) -> RunResult:
        return replace(result, has_error=False)

    (outcome,) = judged(lambda node: change_result(node, forgiving), "loops")
    assert outcome.verdict is Verdict.FAIL
    assert "that loop_main (an endless loop in main) ends with an error" in outcome.reason


@pytest.mark.usefixtures("few")
def test_run_beyond_the_stated_limit_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hostile, "GRACE_SECONDS", 0.0)
    (outcome,) = judged(nothing, "loops", limit=2 * LIMIT_SECONDS)
    assert outcome.verdict is Verdict.FAIL
    assert "ends within 1.0 s" in outcome.reason


@pytest.mark.usefixtures("few")
def test_node_that_stumbles_over_an_action_fails() -> None:
    async def stumble(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return replace(given, status=500) if b'"has_error":true' in given.body else given

    (outcome,) = judged(lambda node: intercept(node, RUN, stumble), "loops")
    assert (outcome.verdict, outcome.properties["problem"]) == (Verdict.FAIL, "server-fault")


@pytest.mark.usefixtures("few")
def test_what_is_left_behind_fails() -> None:
    seen: list[str] = []

    def leaky(code: str) -> str:
        seen.append(code)
        return f"globalThis.leaked = 1;{code}" if any("leaked = " in one for one in seen[:-1]) else code

    (outcome,) = judged(lambda node: change_code(node, leaky), "leftovers")
    assert outcome.verdict is Verdict.FAIL
    assert "left behind" in outcome.reason


@pytest.mark.parametrize(("packs", "runs"), [((), False), (("host*", "code_cids"), False), (("hostile",), True)])
def test_pack_runs_only_by_its_own_name(packs: tuple[str, ...], runs: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    small = [path for path in pack_files([scenarios()]) if path.stem in {"hostile", "code_cids"}]
    monkeypatch.setattr("conformance.run.selection.pack_files", lambda _: small)
    assert (PACK.resolve() in select(Options(packs=packs)).chosen_files) is runs
    monkeypatch.setattr("conformance.run.loader.pack_files", lambda _: small)
    assert ("hostile" in {case.pack for case in load([scenarios()], packs)}) is runs


def test_pack_runs_as_a_given_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.run.selection.pack_files", lambda _: [PACK])
    assert PACK.resolve() in select(Options(), [PACK]).chosen_files
