"""What the checkers of others say of the action, the templates and their shell, and what `.ci/run` says without Go."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from composite import ACTION
from pipelines import ROOT, TEMPLATES, below, gitlab_job, jenkins_shells, jenkinsfile, literal, text
from programs import absent

PROGRAMS = Path(sys.executable).parent
ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7"
WORKFLOWS = (".github/workflows/bundled-node.yml", "examples/ci/github.yml")
PLACE = "OWNER/REPOSITORY@TAG"
"""Stands where the vendor fills in an address, as long as the project publishes none."""


def checked(*command: str, given: str | None = None) -> str:
    """What a checker says that finds a fault; empty where it finds none."""
    done = subprocess.run(  # noqa: S603 - checkers on our own files
        command, cwd=ROOT, input=given, capture_output=True, text=True, timeout=900, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr or f"{command[0]} ends with {done.returncode}"


def schema(name: str, path: str) -> str:
    return checked(str(PROGRAMS / "check-jsonschema"), "--builtin-schema", f"vendor.{name}", str(ROOT / path))


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("github-actions", "action.yml"),
        *(("github-workflows", path) for path in WORKFLOWS),
        ("gitlab-ci", "examples/ci/gitlab.yml"),
    ],
)
def test_schema_finds_nothing(name: str, path: str) -> None:
    assert schema(name, path) == ""


def test_schema_finds_a_fault(tmp_path: Path) -> None:
    broken = {"conformance": gitlab_job() | {"artifacts": {"when": "sometimes"}}}
    (tmp_path / "gitlab.yml").write_text(yaml.safe_dump(broken))
    assert "artifacts" in schema("gitlab-ci", str(tmp_path / "gitlab.yml"))


def shells() -> dict[str, tuple[str, str]]:
    """Every script, by where it stands: its dialect and its text."""
    steps = ACTION["runs"]["steps"]
    found = {f"action.yml, {step['name']}": ("bash", step["run"]) for step in steps if "run" in step}
    found["gitlab.yml"] = ("bash", "\n".join(gitlab_job()["script"]))
    _, stages, always = jenkins_shells()
    found |= {f"Jenkinsfile, {number}": ("sh", script) for number, script in enumerate([*stages, *always], 1)}
    return found | {".ci/run": ("bash", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))}


@pytest.mark.parametrize("place", shells())
def test_shellcheck_finds_nothing(place: str) -> None:
    dialect, script = shells()[place]
    assert checked(str(PROGRAMS / "shellcheck"), "-s", dialect, "-", given=script) == ""


def test_shellcheck_finds_a_fault() -> None:
    assert "SC2086" in checked(str(PROGRAMS / "shellcheck"), "-s", "sh", "-", given="rm $1\n")


def test_actionlint_finds_nothing_in_the_workflows(tmp_path: Path) -> None:
    go = shutil.which("go")
    if go is None:
        absent("Go is missing: install it (https://go.dev/dl)")
    lint = (go, "run", "-mod=mod", ACTIONLINT, f"-shellcheck={PROGRAMS / 'shellcheck'}", "-pyflakes=")
    assert checked(*lint, *WORKFLOWS) == ""
    broken = tmp_path / "broken.yml"
    broken.write_text((TEMPLATES / "github.yml").read_text().replace("outputs.sentence }}", "outputs.sentence }"))
    assert "broken.yml" in checked(*lint, str(broken))


def test_workflow_of_the_repository_and_the_template_give_inputs_and_read_outputs_that_there_are() -> None:
    for path in WORKFLOWS:
        for job in yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))["jobs"].values():
            (step,) = [one for one in job["steps"] if one.get("uses", "") in {"./", uses()}]
            assert step["with"].keys() <= ACTION["inputs"].keys()
    read = re.findall(r"steps\.conformance\.outputs\.([\w-]+)", (TEMPLATES / "github.yml").read_text(encoding="utf-8"))
    assert set(read) <= ACTION["outputs"].keys()
    assert "conforms" in read


def test_action_and_its_page_name_the_same_inputs_and_outputs() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    tables = [set(re.findall(r"^\| `([\w-]+)` \|", part, re.MULTILINE)) for part in page.split("\n## ")]
    assert ACTION["inputs"].keys() in tables
    assert ACTION["outputs"].keys() in tables


# --------------------------------------------------------------------------------------------------------- Jenkinsfile


def test_jenkinsfile_is_groovy_throughout() -> None:
    assert not jenkinsfile().has_error
    assert [text(node) for node in below(jenkinsfile()) if node.type == "ERROR" or node.is_missing] == []


def test_shell_of_the_jenkinsfile_takes_nothing_from_groovy() -> None:
    strings = [node for node in below(jenkinsfile()) if node.type in {"string_literal", "character_literal"}]
    assert [text(node) for node in strings if text(node).startswith('"""')] == []
    _, stages, always = jenkins_shells()
    assert len(stages) == len(always) == 2
    assert literal(strings[0]) == "MINUTES"


# ----------------------------------------------------------------------------------------------- where the project is


def published() -> str:
    """The address of the repository; empty where the project publishes none."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address: str = project.get("urls", {}).get("Repository", "")
    return f"{address.rstrip('/')}@v{project['version']}" if address else ""


def uses() -> str:
    """What stands behind `uses:`."""
    return published().removeprefix("https://github.com/") or PLACE


def test_addresses_are_those_that_the_project_publishes_or_marked_as_open() -> None:
    address = f"git+{published() or f'https://HOST/{PLACE}'}"
    suite = f"service-conformance[attestation] @ {address}"
    assert gitlab_job()["variables"]["SUITE"] == suite
    assert jenkins_shells()[0]["SUITE"] == suite
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    for place in (page, (TEMPLATES / "github.yml").read_text(encoding="utf-8")):
        assert re.findall(r"uses: (\S*(?:OWNER|service-conformance)\S*)", place) == [uses()]
    if not published():
        for name in ("github.yml", "gitlab.yml", "Jenkinsfile"):
            assert "fill in: where your vendor publishes" in (TEMPLATES / name).read_text(encoding="utf-8").lower()


# ------------------------------------------------------------------------------------------------------------- .ci/run


def needed_go() -> tuple[int, ...]:
    """The Go that some `go.mod` asks for, the newest."""
    files = subprocess.run(  # noqa: S603
        [str(shutil.which("git")), "ls-files", "*go.mod"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert files
    found = [re.findall(r"^go ([\d.]+)$", (ROOT / file).read_text(), re.MULTILINE) for file in files]
    return max(tuple(map(int, version.split("."))) for versions in found for version in versions)


def test_ci_names_the_go_that_it_needs(tmp_path: Path) -> None:
    major, minor, *_ = needed_go()
    for name, body in {"go": f"echo go{major}.{minor - 1}.9", "apt-get": "exit 9", "npm": "exit 9"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(  # noqa: S603 - our own script, which ends before it does anything
        [str(ROOT / ".ci" / "run")],
        env=os.environ | {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    version = ".".join(map(str, needed_go()))
    told = f"go{major}.{minor - 1}.9 is too old: install {version} or newer (https://go.dev/dl)\n"
    assert (done.returncode, done.stderr) == (1, told)
