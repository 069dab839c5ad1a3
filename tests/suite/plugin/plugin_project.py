"""A project with packs, and what pytest with the plugin makes of it."""

from __future__ import annotations

import json

import pytest
from tiny_node import TinyNode

from conformance.run.options import SPELLINGS

PACK = """\
pack: trial
title: A trial
cases:
  - id: passes
    title: This one passes
    requirements: [GRP-010]
    steps: [{account: a}, {list: list_groups, expect: {"": []}}]
  - id: fails
    title: This one fails
    requirements: [GRP-010]
    each: [{id: x, n: 1}, {id: y, n: 2}]
    steps: [{account: a}, {list: list_groups, expect: {"": "${n}"}}]
  - id: teaches-nothing
    title: This one is inconclusive
    requirements: [GRP-030]
    setup: [{account: a}, {call: create_wallet}]
    steps: [{list: list_groups}]
  - id: not-offered
    title: This one is not offered
    requirements: [ACC-020]
    needs: [chain_rpc]
    steps: [{account: a}, {list: list_groups}]
"""
ONE_CASE = PACK.partition("  - id: fails")[0]
"""The same pack with the case that passes alone."""
ELSEWHERE = """
import conformance.run.selection
from pathlib import Path

conformance.run.selection.scenarios = lambda: Path(__file__).parent / "packs"
"""
"""A plugin that lets the shipped packs be those of the test, in processes of their own."""
BUNDLED = """
import conformance.run.judged_node
from pathlib import Path
from types import SimpleNamespace

class Nodes:
    def __init__(self, number):
        self.all = [SimpleNamespace(ready_file=Path(__file__).with_name("ready.json"), restart=None)] * number

    def wait_until_ready(self): pass
    def stop(self): pass

conformance.run.judged_node.BundledNodes = Nodes
"""
"""A plugin that has the node of the test be every bundled node, since cases run in processes for these alone."""
OTHERS = ["cov", "schemathesis", "hypothesispytest", "anyio", "cacheprovider"]
"""Plugins that have nothing to do with it."""


FLAGS = {spelling.flag: spelling.pytest_flag for spelling in SPELLINGS.values()}


def quiet(*options: str) -> list[str]:
    """The command line of pytest for options of the command, and others."""
    prefixed = [FLAGS.get(flag, flag) + sep + value for flag, sep, value in (one.partition("=") for one in options)]
    return [*(f"-pno:{name}" for name in OTHERS), "-Wignore::pytest.PytestAssertRewriteWarning", *prefixed]


def run(project: pytest.Pytester, *options: str) -> pytest.RunResult:
    return project.runpytest_inprocess(*quiet("-pno:xdist", *options))


def run_apart(project: pytest.Pytester, *options: str, plugin: str = "") -> pytest.RunResult:
    """In a process of its own, and with workers that are processes, too. `plugin`: the text of a plugin for them."""
    project.makepyfile(elsewhere=ELSEWHERE, plugin=plugin)
    project.syspathinsert()
    return project.runpytest_subprocess(*quiet("-p", "elsewhere", "-p", "plugin", *options))


def run_bundled(project: pytest.Pytester, node: TinyNode, *options: str, plugin: str = "") -> pytest.RunResult:
    """In processes that take the node of the test for nodes that they have started."""
    (project.path / "ready.json").write_text(json.dumps({"base_url": node.url, "profile": {}}), encoding="utf-8")
    return run_apart(project, "--conformance", *options, plugin=BUNDLED + plugin)


def results(project: pytest.Pytester) -> dict[str, object]:
    value = json.loads((project.path / "out" / "results.json").read_text(encoding="utf-8"))
    assert isinstance(value, dict)
    return value


def cases(project: pytest.Pytester) -> list[dict[str, str]]:
    found = results(project)["cases"]
    assert isinstance(found, list)
    return found


def verdicts(project: pytest.Pytester) -> dict[str, str]:
    """Of the cases by their ids within their pack."""
    return {case["case"].partition("::")[2]: case["verdict"] for case in cases(project)}


ALL = {
    "passes": "pass",
    "fails[x]": "fail",
    "fails[y]": "fail",
    "teaches-nothing": "inconclusive",
    "not-offered": "not offered",
}
