"""The suite judges the second node, `examples/node-typescript`: green as it is, red with each faulty switch."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from second_node import EXAMPLE, node, serving

CAUGHT_BY = {
    "key-value-listed": "usage_keys::key-value-is-shown-once",
    "permissions-merged": "key_lifecycle::update-replaces-group-ids",
    "metadata-resets-permissions": "key_lifecycle::metadata-update-keeps-permissions[first-half]",
    "removed-key-lives": "key_lifecycle::removed-key-opens-nothing",
    "removed-group-runs": "execution_changes::removal-of-a-group",
    "split-groups": "execution_rule::conditions-in-different-groups",
    "wildcard-ignored-for-removal": "usage_keys::may-remove-pkps-in-all-groups",
    "add-permission-removes": "scopes::each-scope-can-be-granted[group-add-pkp]",
    "reads-charged": "metering::each-read-is-free",
    "issued-in-future": "envelopes::outside-the-window",
}
"""Each faulty switch, and a case that fails with it."""


def judged(url: str, reports: Path, *options: str) -> tuple[str, dict[str, str]]:
    """What a run of the suite prints, and the verdict of each case."""
    profile = ("--profile", str(EXAMPLE / "profile.yaml"), "--node-url", url, "--output", str(reports))
    command = [sys.executable, "-m", "conformance", "run", *profile, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)  # noqa: S603 - built above
    assert (reports / "results.json").is_file(), done.stdout + done.stderr
    results = json.loads((reports / "results.json").read_text(encoding="utf-8"))
    return done.stdout, {case["case"]: case["verdict"] for case in results["cases"]}


def test_second_node_is_green_in_two_processes(program: Path, tmp_path: Path) -> None:
    with serving(program) as url:
        printed, verdicts = judged(url, tmp_path, "--jobs", "2")
    assert set(verdicts.values()) == {"pass", "not offered"}, printed
    assert Counter(verdicts.values())["pass"] > 400, printed


def test_each_faulty_switch_has_a_case(program: Path) -> None:
    told = node(program, "--faults").stdout.splitlines()
    assert [line.partition(":")[0] for line in told] == list(CAUGHT_BY)


@pytest.mark.parametrize(("fault", "case"), CAUGHT_BY.items())
def test_faulty_switch_is_caught(program: Path, tmp_path: Path, fault: str, case: str) -> None:
    with serving(program, "--fault", fault) as url:
        printed, verdicts = judged(url, tmp_path, "--case", case)
    assert verdicts == {case: "fail"}, printed
