"""A run that was stopped, killed or lost its node is taken up again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from plugin_project import ALL, results, run, run_apart, verdicts
from tiny_node import TinyNode, always

from conformance.run.journal import JOURNAL_NAME

pytest_plugins = ["pytester"]

KILLED = """
import os
import signal

def pytest_runtest_logreport(report):
    if report.when == "call" and "fails[x]" in report.nodeid:
        os.kill(os.getpid(), signal.SIGKILL)
"""


STOPPING = """
import pytest

def pytest_runtest_logreport(report):
    if report.when == "call" and "CASE" in report.nodeid:
        pytest.exit("enough")
"""


def stop_at(project: pytest.Pytester, case: str, *options: str) -> None:
    """Run until this case has ended."""
    project.makepyfile(stopping=STOPPING.replace("CASE", case))
    project.syspathinsert()
    run(project, "-p", "stopping", *options)


@pytest.fixture
def stopped(project: pytest.Pytester, node: TinyNode) -> pytest.Pytester:
    """A run that was stopped when two of its five cases had a verdict."""
    stop_at(project, "fails[x]", "--node-url", node.url, "--output", "out", "--seed", "five")
    return project


def journal(project: pytest.Pytester) -> Path:
    return project.path / "out" / JOURNAL_NAME


def usage_error(project: pytest.Pytester, *options: str) -> str:
    result = run(project, *options)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    return result.stderr.str()


def test_killed_run_goes_on_with_the_cases_that_have_no_verdict(project: pytest.Pytester, node: TinyNode) -> None:
    run_apart(project, "--node-url", node.url, "--output", "out", "--seed", "five", plugin=KILLED)
    assert not (project.path / "out" / "results.json").exists()
    made = len(node.groups)

    result = run(project, "--resume", "out")

    assert verdicts(project) == ALL
    assert len(node.groups) == made + 2, "fails[y] and teaches-nothing make an account each"
    assert result.ret == results(project)["exit_code"] == 1
    assert results(project)["seed"] == "five"
    assert len(results(project)["resumed"]) == 1  # type: ignore[arg-type]  # a list
    assert "stopped and taken up again once" in str(results(project)["sentence"])
    assert not journal(project).exists()


def test_run_is_taken_up_again_more_than_once(stopped: pytest.Pytester) -> None:
    stop_at(stopped, "fails[y]", "--resume", "out")

    run(stopped, "--resume", "out")

    assert verdicts(stopped) == ALL
    assert "taken up again 2 times" in str(results(stopped)["sentence"])


def test_line_that_was_being_written_is_left_out(stopped: pytest.Pytester) -> None:
    text = journal(stopped).read_text(encoding="utf-8")
    journal(stopped).write_text(text[:-40], encoding="utf-8")

    run(stopped, "--resume", "out")

    assert verdicts(stopped) == ALL


def test_cases_that_did_not_meet_the_node_run_again(project: pytest.Pytester, node: TinyNode) -> None:
    for path in ("list_groups", "new_account"):
        node.faults[path] = node.hang
    run(project, "--node-url", node.url, "--output", "out", "--timeout", "0.2", "--max-timeouts", "2")
    assert results(project)["exit_code"] in {1, 5}
    node.faults.clear()

    run(project, "--resume", "out", "--timeout", "45")

    again = verdicts(project)
    assert again.keys() == ALL.keys()
    assert again["not-offered"] == "not offered"
    assert results(project)["interrupted"] == ""


def test_run_that_came_to_its_end_cannot_be_taken_up_again(project: pytest.Pytester, node: TinyNode) -> None:
    run(project, "--node-url", node.url, "--output", "out")

    assert "no run is here that was stopped" in usage_error(project, "--resume", "out")


def test_run_goes_on_as_it_began(stopped: pytest.Pytester) -> None:
    assert "without this --pack" in usage_error(stopped, "--resume", "out", "--pack", "trial")
    assert "without this --seed" in usage_error(stopped, "--resume", "out", "--seed", "six")
    first, *others = journal(stopped).read_text(encoding="utf-8").splitlines()
    for changed, why in (
        ({"suite": "0.9"}, "version 0.9 of the suite began this run"),
        ({"options": [["evidence", "e"]]}, "a run with --evidence has to be run in one"),
        ({"profile": "00"}, "has changed since this run was stopped"),
    ):
        lines = [json.dumps({**json.loads(first), **changed}), *others]
        journal(stopped).write_text("\n".join(lines), encoding="utf-8")
        assert why in usage_error(stopped, "--resume", "out")


def test_line_that_is_no_outcome_is_named(stopped: pytest.Pytester) -> None:
    lines = journal(stopped).read_text(encoding="utf-8").splitlines()
    journal(stopped).write_text("\n".join([lines[0], "{}", *lines[1:], ""]), encoding="utf-8")

    assert f"{JOURNAL_NAME}:2: this line is no outcome" in usage_error(stopped, "--resume", "out")


def test_journal_that_cannot_be_written_stops_nothing(project: pytest.Pytester, node: TinyNode) -> None:
    journal(project).mkdir(parents=True)
    node.faults["add_group"] = always(500)

    run(project, "--node-url", node.url, "--output", "out")

    assert verdicts(project) == ALL


# ---------------------------------------------------------------------------------------------- cases of an earlier run


@pytest.fixture
def earlier(project: pytest.Pytester, node: TinyNode) -> pytest.Pytester:
    """A run that has ended."""
    run(project, "--node-url", node.url, "--output", "earlier", "--seed", "five")
    return project


@pytest.mark.parametrize(
    ("only", "cases"),
    [
        ([], {"fails[x]", "fails[y]", "teaches-nothing"}),
        (["--only", "inconclusive"], {"teaches-nothing"}),
        (["--only", "pass,not offered"], {"passes", "not-offered"}),
    ],
)
def test_cases_of_an_earlier_run_run_again(
    earlier: pytest.Pytester, node: TinyNode, only: list[str], cases: set[str]
) -> None:
    run(earlier, "--node-url", node.url, "--output", "out", "--from", "earlier", *only)

    assert verdicts(earlier).keys() == cases
    assert results(earlier)["seed"] == "five"
    assert "--from=earlier" in results(earlier)["selected"]  # type: ignore[operator]  # a list


def test_earlier_run_that_cannot_be_used_is_a_clear_error(earlier: pytest.Pytester, node: TinyNode) -> None:
    def told(*options: str) -> str:
        return usage_error(earlier, "--node-url", node.url, *options)

    assert "no case of the run in earlier ended as suite error" in told("--from", "earlier", "--only", "suite error")
    assert "knows no verdict 'bad'; there are pass, fail" in told("--from", "earlier", "--only", "fail,bad")
    assert "--from DIR names no run" in told("--only", "fail")
    assert "cannot be read" in told("--from", "nowhere")
    assert "another folder" in told("--from", "earlier", "--output", "earlier")
