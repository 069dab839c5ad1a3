"""Runs that do not come to their end, and cases that do not: signals, silent nodes, processes that die, exceptions."""

from __future__ import annotations

import errno
import os
import threading
import time
from pathlib import Path
from textwrap import dedent

import pytest
from plugin_project import ONE_CASE, cases, results, run, run_apart, run_bundled, verdicts
from tiny_node import Asked, TinyNode, Told, always

from conformance.endpoints.client import Target
from conformance.profile import Profile
from conformance.report import write
from conformance.report.renderers import RENDERERS
from conformance.run.runner import CLEAN_UP_SECONDS
from conformance.run.threads import CaseThreads

pytest_plugins = ["pytester"]

DYING = """
import os
import conformance.run.processes

conformance.run.processes.run_case = lambda *_: os._exit(1)
"""


def test_run_whose_processes_die_is_interrupted(project: pytest.Pytester, node: TinyNode) -> None:
    result = run_bundled(project, node, "--output", "out", "--jobs", "2", plugin=DYING)

    assert results(project)["exit_code"] == 5
    assert results(project)["interrupted"] == "a process of the suite died; 5 of 5 cases did not report"
    assert result.ret == 5


def test_run_that_stops_early_does_not_conform(project: pytest.Pytester, node: TinyNode) -> None:
    node.faults["list_groups"] = always(500)

    run(project, "--node-url", node.url, "-x", "--output", "out")

    assert results(project)["conforms"] is False
    assert "did not report" in str(results(project)["interrupted"])


TERMINATED = """
import os
import signal

def pytest_runtest_logreport(report):
    if report.when == "call":
        os.kill(os.getpid(), signal.SIGTERM)
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_run_that_sigterm_ends_leaves_whole_results(project: pytest.Pytester, node: TinyNode, jobs: str) -> None:
    result = run_apart(project, "--node-url", node.url, "--output", "out", "--jobs", jobs, plugin=TERMINATED)

    assert results(project)["interrupted"] == "SIGTERM; 4 of 5 cases did not report"
    assert len(verdicts(project)) == 1
    assert result.ret == results(project)["exit_code"]


HURRIED = """
import conformance.run.runner
import conformance.run.threads

conformance.run.runner.CLEAN_UP_SECONDS = conformance.run.threads.CLEAN_UP_SECONDS = 0.5
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_node_that_hangs_does_not_hold_up_a_run_whose_time_is_over(
    project: pytest.Pytester, node: TinyNode, jobs: str
) -> None:
    for path in ("list_groups", "remove_group", "get_node_chain_config"):
        node.faults[path] = node.hang

    began = time.monotonic()
    options = ("--output", "out", "--jobs", jobs, "--max-minutes", "0.03")
    run_apart(project, "--node-url", node.url, *options, plugin=HURRIED)

    assert "its 0.03 minutes are over (--max-minutes)" in str(results(project)["interrupted"])
    assert time.monotonic() - began < 30, "each request to the node may take 45 s"


def test_case_that_cleans_up_when_its_run_is_ended_has_a_limited_time_for_it(node: TinyNode) -> None:
    with Target(node.url, Profile()) as target:
        with pytest.raises(KeyboardInterrupt), CaseThreads(1, target):
            raise KeyboardInterrupt
        assert target.patience.left(100.0) <= CLEAN_UP_SECONDS


MEANWHILE = """
import os
import signal
import conformance.report.write as write

signal.signal(signal.SIGINT, signal.default_int_handler)
replace = write._replace

def interrupted(path, text):
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGINT)
    replace(path, text)

write._replace = interrupted
"""


def test_signal_does_not_stop_the_writing_of_results(project: pytest.Pytester, node: TinyNode) -> None:
    result = run_apart(project, "--node-url", node.url, "--output", "out", "--html", "out/page.html", plugin=MEANWHILE)

    assert len(verdicts(project)) == 5
    assert (project.path / "out" / "page.html").exists()
    assert result.ret == results(project)["exit_code"] == 1


CRASHES = {
    "while the session is made": ("conformance.run.session.ConformanceSession.__init__", None),
    "while the nodes start": ("conformance.run.judged_node.JudgedNode.wait_until_ready", None),
    "between cases": ("conformance.run.session.ConformanceSession.pytest_runtest_makereport", 70),
    "while the results are made": ("conformance.run.session.results_of", None),
    "in a form of the report": ("summary", 70),
}
"""Of the run itself: the function or form that crashes, and the exit code in results.json if that is written."""


@pytest.fixture
def passing(project: pytest.Pytester) -> pytest.Pytester:
    """A project whose only case passes, with results of an earlier run."""
    (project.path / "packs" / "trial.yaml").write_text(ONE_CASE, encoding="utf-8")
    (project.path / "out").mkdir()
    (project.path / "out" / "results.json").write_text("of an earlier run", encoding="utf-8")
    return project


@pytest.mark.parametrize("when", CRASHES)
def test_run_that_crashes_ends_with_70_and_so_do_its_results(
    passing: pytest.Pytester, node: TinyNode, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    def crash(*_: object, **__: object) -> None:
        raise KeyError("sk_live_secret")

    place, written = CRASHES[when]
    if place in RENDERERS:
        monkeypatch.setitem(RENDERERS, place, crash)
    else:
        monkeypatch.setattr(place, crash)
    output = ("--output", "out") if written else ()

    result = run(passing, "--node-url", node.url, "--summary", "page.md", *output)

    assert result.ret == 70
    if written is None:
        result.stderr.fnmatch_lines(["Exit: service-conformance: crashed with KeyError at *; its traceback is in *"])
    else:
        assert (results(passing)["exit_code"], results(passing)["conforms"]) == (written, False)


def without_room_for(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the device be full when this file is written."""

    def full(path: Path, text: str) -> None:
        if path.name == name:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(path, text)

    replace = write._replace
    monkeypatch.setattr(write, "_replace", full)


def test_report_that_finds_no_room_is_named_and_counts_in_the_results(
    project: pytest.Pytester, node: TinyNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_room_for("page.html", monkeypatch)

    result = run(project, "--node-url", node.url, "--output", "out", "--html", "page.html", "--summary", "page.md")

    assert "page.html cannot be written: No space left on device" in result.stdout.str()
    assert (project.path / "page.md").exists()
    assert result.ret == results(project)["exit_code"] == 1  # a case fails


def test_report_that_finds_no_room_takes_the_verdict_along(
    passing: pytest.Pytester, node: TinyNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_room_for("page.html", monkeypatch)

    result = run(passing, "--node-url", node.url, "--output", "out", "--badge", "badge.json", "--html", "page.html")

    assert result.ret == results(passing)["exit_code"] == 5
    assert results(passing)["conforms"] is False
    told = "No verdict, since a report is missing: page.html cannot be written: No space left on device"
    assert results(passing)["sentence"] == told
    assert '"lightgrey"' in (passing.path / "badge.json").read_text(encoding="utf-8")


def test_results_that_find_no_room_leave_no_earlier_ones(
    passing: pytest.Pytester, node: TinyNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_room_for("results.json", monkeypatch)

    result = run(passing, "--node-url", node.url, "--output", "out")

    assert "results.json cannot be written: No space left on device" in result.stdout.str()
    assert result.ret == 5
    assert not (passing.path / "out" / "results.json").exists()


SLOW_AND_QUICK = """\
pack: trial
title: t
cases:
  - id: slow
    title: t
    requirements: [GRP-010]
    steps: [{account: a}, {call: add_group, with: {group_name: g}}, {list: list_groups}]
  - id: quick
    title: t
    requirements: [GRP-010]
    steps: [{call: get_node_chain_config, as: nobody}]
"""


def test_case_that_sigterm_ends_in_another_process_cleans_up(project: pytest.Pytester, node: TinyNode) -> None:
    (project.path / "packs" / "trial.yaml").write_text(SLOW_AND_QUICK, encoding="utf-8")
    slow_waits = threading.Event()

    def wait_for_it(asked: Asked) -> Told:
        slow_waits.wait()
        return node.honest(asked)

    def hang(asked: Asked) -> Told:
        slow_waits.set()
        return node.hang(asked)

    node.faults |= {"get_node_chain_config": wait_for_it, "list_groups": hang}

    run_apart(project, "--node-url", node.url, "--output", "out", "--jobs", "2", "--timeout=2", plugin=TERMINATED)

    assert verdicts(project) == {"quick": "pass"}
    assert "remove_group" in node.paths()


def test_node_that_answers_nothing_any_more_ends_the_run(project: pytest.Pytester, node: TinyNode) -> None:
    node.faults["new_account"] = node.faults["get_node_chain_config"] = node.hang

    result = run(project, "--node-url", node.url, "--timeout", "0.2", "--max-timeouts", "2", "--output", "out")

    assert verdicts(project) == {"passes": "inconclusive"}
    assert "2 requests in a row without an answer in time" in str(results(project)["interrupted"])
    assert "4 of 5 cases did not report" in str(results(project)["interrupted"])
    assert (result.ret, node.paths()) == (5, ["new_account", "get_node_chain_config"])


ERRING = """
from conformance.cases import Judge, case

@case("errs", requirements=["GRP-010"])
def errs(judge: Judge) -> None:
    "A case with a mistake in it."
    with judge():
        judge.same(1 / 0, 1, "x")
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_error_of_a_case_does_not_end_the_run(project: pytest.Pytester, node: TinyNode, jobs: str) -> None:
    (project.path / "packs" / "erring.py").write_text(ERRING, encoding="utf-8")
    chosen = ("--case", "*::passes", "--case", "*::errs")

    result = run(project, "--node-url", node.url, "--output", "out", "-v", "--jobs", jobs, *chosen)

    assert verdicts(project) == {"errs": "suite error", "passes": "pass"}
    assert (result.ret, results(project)["exit_code"]) == (6, 6)
    result.stdout.fnmatch_lines_random(
        ["*::errs SUITE ERROR*", "*ZeroDivisionError: division by zero*", "*suite erred: 1 of 2*"]
    )
    (told,) = [case["traceback"] for case in cases(project) if case["traceback"]]
    assert 'judge.same(1 / 0, 1, "x")' in told


GAS = """
from conformance.cases import Judge, case
from conformance.service.node import Node


@case("without-gas", requirements=["GRP-010"], needs=["chain_rpc", "funded_wallet"])
def without_gas(judge: Judge, node: Node) -> None:
    \"\"\"A wallet that sends nothing stands by.\"\"\"
    node.wallets.new("w")
    with judge():
        judge.same(node.groups.list(node.accounts.new().key), [], "the groups of a new account")


@case("with-gas", requirements=["GRP-010"], needs=["chain_rpc", "funded_wallet"])
def with_gas(judge: Judge, node: Node) -> None:
    \"\"\"A contract is put on the chain.\"\"\"
    node.wallets.contract_wallet(node.wallets.new("w"))
"""


def test_missing_key_of_the_funder_stops_only_cases_that_need_gas(
    project: pytest.Pytester, node: TinyNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    (project.path / "packs" / "trial.yaml").unlink()
    (project.path / "packs" / "trial.py").write_text(GAS, encoding="utf-8")
    profile = f"""\
        base_url: {node.url}
        capabilities: [managed_accounts, chain_rpc, funded_wallet]
        chain: {{rpc_url: "{node.url}/rpc", funder_key_variable: NO_SUCH_KEY}}
        """
    (project.path / "profile.yaml").write_text(dedent(profile), encoding="utf-8")

    run(project, "--conformance", "--profile", "profile.yaml", "--output", "out")

    assert verdicts(project) == {"without-gas": "pass", "with-gas": "inconclusive"}
    (told,) = [case["reason"] for case in cases(project) if case["verdict"] == "inconclusive"]
    assert "a private key in the variable NO_SUCH_KEY, which the profile names; got it is not set" in told
