"""The GitHub Action and the GitLab fragment: well formed, and their very shell judges a node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.endpoints.bundled import BundledNode

ROOT = Path(__file__).resolve().parents[2]
ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7"
INSTALLS = "python -m pip install"


def read(path: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The profile of a running node, as a vendor's repository has it."""
    with BundledNode() as node:
        node.wait_until_ready()
        ready = json.loads(node.ready_file.read_text(encoding="utf-8"))
        path = tmp_path_factory.mktemp("vendor") / "my-node.yaml"
        path.write_text(json.dumps({"base_url": ready["base_url"], "capabilities": ["managed_accounts", "openapi"]}))
        yield path


def run(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """As CI runs it: bash that ends at the first failure."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    program = programs / "service-conformance"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m conformance "$@"\n')
    program.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(  # noqa: S603 - our own script
        ["/usr/bin/env", "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "PATH": path, "GITHUB_STEP_SUMMARY": str(folder / "summary.md"), **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def action_script() -> str:
    (step,) = [step for step in read("action.yml")["runs"]["steps"] if step.get("name") == "Judge"]
    return str(step["run"])


def action_inputs(**given: str) -> dict[str, str]:
    """The variables of the step, as GitHub fills them in."""
    inputs = {name: described.get("default", "") for name, described in read("action.yml")["inputs"].items()}
    return {name.upper(): value for name, value in (inputs | given).items()}


def test_action_judges_a_node_and_leaves_reports(profile: Path, tmp_path: Path) -> None:
    done = run(
        action_script(), tmp_path, **action_inputs(profile=str(profile), packs="version* groups", arguments="--quick")
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert {path.name for path in (tmp_path / "conformance-reports").iterdir()} == {
        "results.json",
        "junit.xml",
        "report.html",
    }
    assert "conforms" in (tmp_path / "summary.md").read_text(encoding="utf-8")


def test_action_fails_with_the_exit_code_of_the_run(profile: Path, tmp_path: Path) -> None:
    done = run(action_script(), tmp_path, **action_inputs(profile=str(profile), packs="no-such-pack"))
    assert done.returncode == 2
    assert "no pack is called" in done.stderr + done.stdout


def test_action_takes_a_list_of_known_failures(profile: Path, tmp_path: Path) -> None:
    (tmp_path / "known.yaml").write_text("nonsense: true\n")
    done = run(action_script(), tmp_path, **action_inputs(profile=str(profile), packs="versioning", known="known.yaml"))
    assert done.returncode == 2
    assert "known.yaml" in done.stderr + done.stdout


def test_gitlab_job_judges_a_node_and_leaves_its_artefacts(profile: Path, tmp_path: Path) -> None:
    job = read("examples/ci/gitlab.yml")["conformance"]
    lines = [line for line in job["script"] if not line.startswith(INSTALLS)]
    variables = {**job["variables"], "PROFILE": str(profile), "ARGUMENTS": "--pack versioning --rate 50"}
    done = run("\n".join(lines), tmp_path, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / job["artifacts"]["reports"]["junit"].replace("$REPORTS", variables["REPORTS"])).is_file()


def test_actionlint_finds_nothing() -> None:
    go = shutil.which("go")
    if go is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("Go is missing: install it (https://go.dev/dl)")
    done = subprocess.run(  # noqa: S603 - the Go tool
        [str(go), "run", ACTIONLINT, "-shellcheck=", ".github/workflows/bundled-node.yml"],
        cwd=ROOT,
        env=os.environ | {"GOFLAGS": "-mod=mod"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
