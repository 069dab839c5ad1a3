"""The suite judges the second node, `examples/node-typescript`: green as it is, red with each faulty switch."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from second_node import EXAMPLE, node, serving

from conformance.endpoints.client import Target
from conformance.profile import load_profile
from conformance.resources import scenarios
from conformance.run.case import rows_by_id
from conformance.run.runner import load, run_case
from conformance.selftest.tools.surveys import measured
from conformance.verdict import Verdict

CAUGHT_BY = {
    "key-value-listed": ("usage_keys::key-value-is-shown-once", "UKEY-360 UKEY-370"),
    "permissions-merged": ("key_lifecycle::update-replaces-permissions", "KEYLIFE-030"),
    "metadata-resets-permissions": ("key_lifecycle::metadata-update-keeps-permissions", "KEYLIFE-070"),
    "removed-key-lives": ("endpoints::usage-key-operations", "KEYLIFE-080"),
    "removed-group-runs": (
        "execution_changes::removal-of-a-group",
        "GRPLIFE-110 GRPLIFE-160 EXEC-230",
    ),
    "split-groups": ("execution_rule::conditions-in-different-groups", "EXEC-060"),
    "wildcard-ignored-for-removal": ("usage_keys::wallets-in-all-groups", "UKEY-240 UKEY-310 UKEY-320"),
    "add-permission-removes": ("scopes::each-scope-can-be-granted", "SCOPE-090"),
    "reads-charged": ("metering::each-read-is-free", "BILL-150 LIM-050 LIST-150"),
    "issued-in-future": ("envelopes::outside-the-window", "ENV-260 LIM-020"),
}
"""Each faulty switch, a case that fails with it, and the requirements that this failure contradicts."""


PROFILE = EXAMPLE / "profile.yaml"


def test_second_node_is_green_in_two_processes(program: Path, tmp_path: Path) -> None:
    with serving(program) as url:
        options = ("--profile", PROFILE, "--node-url", url, "--output", tmp_path, "--jobs", "2")
        command = [sys.executable, "-m", "conformance", "run", *map(str, options)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)  # noqa: S603 - our own
    assert (tmp_path / "results.json").is_file(), done.stdout + done.stderr
    results = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    verdicts = Counter(case["verdict"] for case in results["cases"])
    assert set(verdicts) == {"pass", "not offered"}, done.stdout
    assert verdicts["pass"] > 400, done.stdout


def test_each_faulty_switch_has_a_case(program: Path) -> None:
    told = node(program, "--faults").stdout.splitlines()
    assert [line.partition(":")[0] for line in told] == list(CAUGHT_BY)


@pytest.mark.parametrize(("fault", "name", "broken"), [(fault, *caught) for fault, caught in CAUGHT_BY.items()])
def test_faulty_switch_is_caught_and_charged(program: Path, fault: str, name: str, broken: str) -> None:
    (case,) = (case for case in load([scenarios()], [name.partition("::")[0]]) if case.id == name)
    with serving(program, "--fault", fault) as url, Target(url, load_profile(PROFILE)) as target:
        target.judging = rows_by_id([case])
        outcome = run_case(case, target)
    assert outcome.verdict is Verdict.FAIL, outcome.reason
    assert set(outcome.contradicted) == set(broken.split()), outcome.reason


def test_each_answer_of_the_profile_says_why() -> None:
    lines = PROFILE.read_text(encoding="utf-8").splitlines()
    answers = [line for line in lines if line.strip() and not line.lstrip().startswith("#") and not line.endswith(":")]
    assert [line for line in answers if " # " not in line] == []


def test_first_profile_of_the_readme_is_valid(tmp_path: Path) -> None:
    readme = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    (tmp_path / "my-node.yaml").write_text(readme.partition("```yaml\n")[2].partition("```")[0], encoding="utf-8")
    command = [sys.executable, "-m", "conformance", "profile", "check", str(tmp_path / "my-node.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - our own
    assert done.returncode == 0, done.stdout + done.stderr


def test_survey_states_nothing_that_the_profile_denies(program: Path) -> None:
    with serving(program) as url, Target(url, load_profile(PROFILE)) as target:
        one = measured("second node", target, tries=True)
    assert one.wrong == ()
    assert len(one.found) >= 0.7 * len(one.different), set(one.different) - set(one.found)
