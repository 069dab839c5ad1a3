"""The pytest plugin: nothing unless asked, packs as items, verdicts as outcomes, results, processes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from textwrap import dedent

import pytest
from plugin_project import ALL, ONE_CASE, PACK, cases, quiet, results, run, run_apart, run_bundled, verdicts
from tiny_node import TinyNode

pytest_plugins = ["pytester"]


def test_plain_pytest_in_a_project_with_packs_is_not_touched(project: pytest.Pytester) -> None:
    project.makepyfile("def test_one(): pass")

    result = run(project, ".")

    result.assert_outcomes(passed=1)
    assert "conformance:" not in result.stdout.str()


def test_plugin_imports_nothing_of_the_suite_unless_asked(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys
        def test_one():
            own = {name for name in sys.modules if name.split(".")[0] in {"conformance", "reference_node"}}
            assert own == {"conformance", "conformance.ending", "conformance.endpoints", "conformance.endpoints.extent",
                           "conformance.run", "conformance.run.options", "conformance.run.plugin"}
            heavy = {"httpx", "eth_abi", "eth_utils", "yaml", "jinja2", "cryptography", "rich", "jsonschema"}
            assert not heavy & sys.modules.keys()
        """
    )

    pytester.runpytest_subprocess(*quiet()).assert_outcomes(passed=1)


def test_every_verdict_has_its_pytest_outcome_and_its_word(project: pytest.Pytester, node: TinyNode) -> None:
    result = run(project, "--node-url", node.url, "--output", "out", "-v")

    assert verdicts(project) == ALL
    assert result.ret == 1
    result.stdout.fnmatch_lines_random(
        ["*trial::passes PASSED*", "*trial::fails?x? FAILED*", "*::teaches-nothing INCONCLUSIVE*",
         "*::not-offered NOT OFFERED*"]
    )  # fmt: skip
    assert results(project)["exit_code"] == 1


def test_junit_of_plain_pytest_counts_verdicts_as_that_of_the_report(project: pytest.Pytester, node: TinyNode) -> None:
    run(project, "--node-url", node.url, "--junitxml", "pytest.xml", "--junit", "own.xml")

    own = ET.parse(project.path / "own.xml").getroot()  # noqa: S314 - the suite's file
    theirs = ET.parse(project.path / "pytest.xml").getroot()[0]  # noqa: S314 - pytest's file
    counts = ("tests", "failures", "errors", "skipped")
    assert [own.get(name) for name in counts] == [theirs.get(name) for name in counts] == ["5", "2", "0", "2"]
    (unsure,) = theirs.findall("./testcase[@name='teaches-nothing']/skipped")
    assert "create_wallet" in (unsure.get("message") or "")


def test_failure_prints_all_that_one_needs(project: pytest.Pytester, node: TinyNode) -> None:
    result = run(project, "--node-url", node.url, "--seed", "99", "--case", "trial::fails[x]")

    text = result.stdout.str()
    key = next(iter(node.groups))
    assert key not in text
    for part in (
        "This one fails",
        "GRP-010",
        "`id` (u64)",
        "steps[1] list list_groups",
        "expected  1 of list_groups",
        "got       []",
        "curl -i -X GET",
        "$API_KEY_1",
        f"service-conformance run --node-url {node.url} --seed 99 --case 'trial::fails[x]'",
    ):
        assert part in text, part


def test_pack_with_a_fault_runs_nothing_and_tells_file_and_line(project: pytest.Pytester, node: TinyNode) -> None:
    path = project.path / "packs" / "trial.yaml"
    path.write_text(PACK.replace("call: create_wallet", "call: fly"), encoding="utf-8")

    result = run(project, "--node-url", node.url)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*trial.yaml:16: no operation is called 'fly'*"])
    assert node.asked == []


def test_packs_of_one_s_own_run_beside_the_shipped_ones(project: pytest.Pytester, node: TinyNode) -> None:
    (project.path / "mine").mkdir()
    own = ONE_CASE.replace("pack: trial", "pack: own")
    (project.path / "mine" / "own.yaml").write_text(own, encoding="utf-8")

    result = run(project, "--node-url", node.url, "--pack-dir", "mine", "--pack", "own", "--output", "out")

    assert verdicts(project) == {"passes": "pass"}
    assert result.ret == 0
    listed = [one for one in results(project)["requirements"] if one["id"] == "GRP-010"]  # type: ignore[attr-defined]
    assert set(listed[0]["checks"]) == {"own::passes", "trial::passes", "trial::fails[x]", "trial::fails[y]"}


def test_cases_of_one_name_in_packs_outside_the_root_are_all_counted(project: pytest.Pytester, node: TinyNode) -> None:
    (project.path / "packs" / "trial.yaml").write_text(ONE_CASE, encoding="utf-8")
    (project.path / "packs" / "other.yaml").write_text(ONE_CASE.replace("pack: trial", "pack: other"), encoding="utf-8")
    root = project.mkdir("elsewhere")

    run(project, "--node-url", node.url, "--rootdir", str(root), "--output", "out")

    assert [case["case"] for case in cases(project)] == ["other::passes", "trial::passes"]


def test_usage_error_leaves_no_folder(project: pytest.Pytester, node: TinyNode) -> None:
    (project.path / "kept").mkdir()
    folders = ("--output", "new/out", "--replay", "new/out/replay", "--html", "kept/deep/page.html")

    result = run(project, "--node-url", node.url, "--case", "*::misspelt", *folders)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert not (project.path / "new").exists()
    assert [*(project.path / "kept").iterdir()] == []


def test_pack_named_as_a_file_that_has_a_twin_is_a_usage_error(project: pytest.Pytester, node: TinyNode) -> None:
    (project.path / "trial.yaml").write_text(PACK, encoding="utf-8")

    result = run(project, "--node-url", node.url, "trial.yaml")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*is also in*"])


@pytest.mark.parametrize(("does", "failed"), [("pass", 0), ("assert False", 1)])
def test_packs_named_as_files_run_with_ordinary_tests_that_count_too(
    project: pytest.Pytester, node: TinyNode, does: str, failed: int
) -> None:
    project.makepyfile(test_mine=f"def test_one(): {does}")

    result = run(project, "--node-url", node.url, "packs/trial.yaml", "test_mine.py", "--case", "*::passes")

    result.assert_outcomes(passed=2 - failed, failed=failed, deselected=4)
    assert result.ret == failed


KNOWN = """\
known:
  - {case: "trial::fails", reason: two groups are there, link: "https://tracker.example/7"}
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_listed_failures_are_known_and_the_rest_decides(project: pytest.Pytester, node: TinyNode, jobs: str) -> None:
    (project.path / "known.yaml").write_text(KNOWN, encoding="utf-8")

    result = run(project, "--node-url", node.url, "--known", "known.yaml", "--output", "out", "-v", "--jobs", jobs)

    assert verdicts(project) == {**ALL, "fails[x]": "known", "fails[y]": "known"}
    result.stdout.fnmatch_lines(["*fails?x? KNOWN*"])
    assert result.ret == 3, "inconclusive, for one case taught nothing"


def test_known_failure_that_is_none_any_more_fails_the_run(project: pytest.Pytester, node: TinyNode) -> None:
    (project.path / "known.yaml").write_text(KNOWN.replace("fails", "passes"), encoding="utf-8")

    result = run(project, "--node-url", node.url, "--known", "known.yaml", "--case", "*::passes")

    assert result.ret == 1


def test_seed_decides_what_a_case_does_however_many_run_at_once(project: pytest.Pytester, node: TinyNode) -> None:
    labels = []
    for jobs in ("1", "2"):
        run(project, "--node-url", node.url, "--output", "out", "--jobs", jobs, "--seed", "5")
        labels.append({asked.body["account_name"] for asked in node.asked if asked.path == "new_account"})
        node.asked.clear()

    assert results(project)["seed"] == "5"
    assert labels[0] == labels[1] != set()


OTHERS = """\
pack: trial
title: t
cases:
  - id: others
    title: t
    requirements: [GRP-010]
    each: [{id: a}, {id: b}, {id: c}, {id: d}, {id: e}, {id: f}]
    steps: [{account: a}, {list: list_groups}]
"""
MOVES_THE_CLOCK = """
from conformance.cases import Judge, case
from conformance.service.node import Node


@case("moves-the-clock", requirements=["GRP-010"], needs=["clock_control"])
def moves_the_clock(judge: Judge, node: Node) -> None:
    \"\"\"Five seconds later there are no groups.\"\"\"
    alice = node.accounts.new().key
    node.clock.move(5)
    with judge():
        judge.same(node.groups.list(alice), [], "the groups of a new account")
"""


def test_case_that_others_would_notice_runs_when_they_have_ended(project: pytest.Pytester, node: TinyNode) -> None:
    (project.path / "packs" / "trial.yaml").write_text(OTHERS, encoding="utf-8")
    (project.path / "packs" / "clock.py").write_text(MOVES_THE_CLOCK, encoding="utf-8")
    profile = {"control_url": f"{node.url}/control", "capabilities": ["clock_control"]}
    (project.path / "profile.yaml").write_text(json.dumps(profile), encoding="utf-8")

    run(project, "--node-url", node.url, "--profile", "profile.yaml", "--jobs", "4")

    asked = [asked.path for asked in node.asked]
    assert asked.count("new_account") == 7
    assert asked.index("list_groups") < asked.index("/control/clock") > 12, asked
    assert "new_account" not in asked[asked.index("/control/clock") :]


def test_ordinary_tests_run_beside_several_processes(project: pytest.Pytester, node: TinyNode) -> None:
    project.makepyfile(test_mine="def test_one(): pass\ndef test_two(): pass")

    result = run(project, "--node-url", node.url, "--jobs", "2", "packs/trial.yaml", "test_mine.py")

    outcomes = result.parseoutcomes()
    assert (outcomes["passed"], outcomes["failed"], outcomes["inconclusive"]) == (3, 2, 1)


FORKING = """
import os
import threading

os.register_at_fork(before=lambda: print("threads:", threading.active_count()))
"""


def test_no_thread_runs_when_the_processes_are_forked(project: pytest.Pytester, node: TinyNode) -> None:
    result = run_bundled(project, node, "-s", "--jobs", "2", plugin=FORKING)

    told = [line for line in result.outlines if line.startswith("threads:")]
    assert len(told) >= 2  # other forks than those of the two processes are none of our business
    assert set(told) == {"threads: 1"}


def test_xdist_is_refused_for_packs(project: pytest.Pytester, node: TinyNode) -> None:
    result = run_apart(project, "--node-url", node.url, "-n2")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*with --jobs N, not with pytest-xdist*"])


def test_budgets_are_kept(project: pytest.Pytester, node: TinyNode) -> None:
    spends = dedent("""\
        pack: trial
        title: t
        cases:
          - id: spends
            title: t
            requirements: [GRP-010]
            steps: [{account: a}, ADD, ADD, ADD, ADD, ADD]
        """).replace("ADD", "{call: add_group, with: {group_name: g}}")
    (project.path / "packs" / "trial.yaml").write_text(spends, encoding="utf-8")

    result = run(project, "--node-url", node.url, "--max-spend", "2", "--output", "out")

    assert verdicts(project) == {"spends": "inconclusive"}
    assert result.ret == 3
    assert node.paths().count("add_group") == 2


def test_password_in_the_address_is_refused_and_written_nowhere(project: pytest.Pytester, node: TinyNode) -> None:
    address = node.url.replace("http://", "http://user:open-sesame@")

    result = run(project, "--node-url", address, "--output", "out", "--junitxml", "out/junit.xml")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*a user or password stands before its host: leave it out*"])
    assert "sesame" not in result.stdout.str() + result.stderr.str()
    assert not (project.path / "out").exists()


def test_listing_what_would_run_sends_nothing(project: pytest.Pytester) -> None:
    result = run(project, "--conformance", "--collect-only", "-q")

    result.stdout.fnmatch_lines(["trial::fails?x?"])
    assert result.ret == 0
