"""The templates for GitLab and Jenkins: their very shell judges nodes, as GitLab's runner and Jenkins run it."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from composite import read_variables
from http_server import Answer, Request, serve
from pipelines import gitlab_job, jenkins_shells

QUICK = "--pack versioning --quick"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with programs that stand in for what the templates install: this suite, and no pip that loads it."""
    programs = tmp_path_factory.mktemp("programs")
    python, suite = shlex.quote(sys.executable), f"exec {shlex.quote(sys.executable)} -m conformance"
    made = f"""#!/bin/sh
case "$1 $2" in
"-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && printf '#!/bin/sh\\n%s "$@"\\n' {shlex.quote(suite)} \\
  > "$3/bin/service-conformance" && chmod +x "$3/bin/service-conformance" ;;
"-m pip") echo "$@" > installed.txt ;;
*) exec {python} "$@" ;;
esac
"""
    for name in ("python", "python3"):
        (programs / name).write_text(made)
        (programs / name).chmod(0o755)
    return programs


def shell(
    script: str, folder: Path, programs: Path, variables: Mapping[str, str], *command: str
) -> subprocess.CompletedProcess[str]:
    """Run a script in a folder as a CI server does."""
    return subprocess.run(  # noqa: S603 - our own templates
        [*command, "-c", script],
        cwd=folder,
        env=os.environ | {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"} | dict(variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
        check=False,
    )


# ------------------------------------------------------------------------------------------------------------- GitLab


def gitlab(folder: Path, programs: Path, profile: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Run the job as GitLab's runner does: all lines of its script in one bash that ends at the first failure."""
    job = gitlab_job()
    variables = job["variables"] | {"PROFILE": str(profile), "ARGUMENTS": QUICK, "CI_JOB_NAME": "conformance"} | given
    return shell("\n".join(job["script"]), folder, programs, variables, "/usr/bin/env", "bash", "-eo", "pipefail")


def reported(folder: Path, kind: str) -> Path:
    """The file of a report of the job."""
    job = gitlab_job()
    return folder / str(job["artifacts"]["reports"][kind]).replace("$REPORTS", job["variables"]["REPORTS"])


@pytest.fixture
def base_results(tmp_path: Path) -> Iterator[tuple[str, list[str]]]:
    """GitLab's API with the results of a branch: its address, and the paths and tokens that were asked with."""
    asked: list[str] = []
    kept = tmp_path / "kept.json"

    def api(request: Request) -> Answer:
        asked.append(f"{request.target} {request.headers['job-token']}")
        return Answer(200, kept.read_bytes()) if kept.exists() else Answer(404)

    with serve(api) as url:
        yield f"{url}/api/v4", asked


def test_gitlab_job_judges_a_node_and_hands_on_the_verdict(sound: Path, tmp_path: Path, installed: Path) -> None:
    done = gitlab(tmp_path, installed, sound)
    assert done.returncode == 0, done.stdout
    told = read_variables(reported(tmp_path, "dotenv"))
    assert (told["CONFORMANCE_CONFORMS"], told["CONFORMANCE_EXIT_CODE"]) == ("true", "0")
    assert reported(tmp_path, "junit").is_file()
    assert gitlab_job()["variables"]["SUITE"] in (tmp_path / "installed.txt").read_text()


def test_gitlab_job_compares_a_merge_request_and_ends_as_the_run(
    sound: Path, hostile: Path, tmp_path: Path, installed: Path, base_results: tuple[str, list[str]]
) -> None:
    address, asked = base_results
    request = {
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "release/1",
        "CI_API_V4_URL": address,
        "CI_PROJECT_ID": "7",
        "CI_JOB_TOKEN": "token",
    }
    first = gitlab(tmp_path, installed, sound, **request)
    assert first.returncode == 0, first.stdout
    assert "No comparison: no results of the target branch" in first.stdout
    (tmp_path / "conformance-reports" / "results.json").rename(tmp_path / "kept.json")
    second = gitlab(tmp_path, installed, hostile, **request)
    assert second.returncode == 1, second.stdout
    path = "/api/v4/projects/7/jobs/artifacts/release%2F1/raw/conformance-reports/results.json?job=conformance"
    assert asked == [f"{path} token"] * 2
    assert "## Broken (" in (tmp_path / "conformance-reports" / "changes.md").read_text()


@pytest.mark.parametrize("arguments", ["--pack no-such-pack", "--help"])
def test_gitlab_job_without_a_verdict_is_not_called_conforming(
    sound: Path, tmp_path: Path, installed: Path, arguments: str
) -> None:
    (tmp_path / "conformance-reports").mkdir()
    (tmp_path / "conformance-reports" / "results.json").write_text("of an earlier job")
    done = gitlab(tmp_path, installed, sound, ARGUMENTS=arguments)
    assert done.returncode == 2, done.stdout
    assert read_variables(reported(tmp_path, "dotenv")) == {
        "CONFORMANCE_CONFORMS": "false",
        "CONFORMANCE_EXIT_CODE": "2",
    }


# ------------------------------------------------------------------------------------------------------------ Jenkins


def jenkins(
    folder: Path, programs: Path, profile: Path, *, base: Path | None = None, **given: str
) -> list[subprocess.CompletedProcess[str]]:
    """Run the stages up to one that fails, and then what is always run: each in a shell of its own."""
    environment, stages, always = jenkins_shells()
    variables = environment | {"PROFILE": str(profile), "ARGUMENTS": QUICK} | given
    done: list[subprocess.CompletedProcess[str]] = []
    for script in stages:
        done.append(shell(script, folder, programs, variables, "/bin/sh", "-xe"))
        if done[-1].returncode:
            break
    if base:
        shutil.copytree(base, folder / "base")  # as copyArtifacts does
    return done + [shell(script, folder, programs, variables, "/bin/sh", "-e") for script in always]


def test_jenkins_pipeline_judges_a_change_compares_it_and_says_the_verdict(
    sound: Path, hostile: Path, tmp_path: Path, installed: Path
) -> None:
    install, judge, compare, describe = jenkins(tmp_path, installed, sound)
    assert [one.returncode for one in (install, judge, compare, describe)] == [0] * 4, judge.stdout
    assert describe.stdout.startswith("The node conforms as far as these cases tell")
    reports = tmp_path / "conformance-reports"
    assert {path.name for path in reports.iterdir()} == {"results.json", "junit.xml", "report.html", "variables.env"}

    base = reports.rename(tmp_path / "kept")
    install, judge, compare, describe = jenkins(tmp_path, installed, hostile, base=base)
    assert [one.returncode for one in (install, judge, compare, describe)] == [0, 1, 0, 0], judge.stdout
    assert "## Broken (" in compare.stdout
    assert "does not conform" in describe.stdout


@pytest.mark.parametrize("arguments", ["--pack no-such-pack", "--help"])
def test_jenkins_pipeline_without_a_verdict_fails_and_says_so(
    sound: Path, tmp_path: Path, installed: Path, arguments: str
) -> None:
    install, judge, compare, describe = jenkins(tmp_path, installed, sound, ARGUMENTS=arguments)
    assert (install.returncode, compare.returncode) == (0, 0)
    assert judge.returncode != 0
    assert describe.stdout == "The run gave no verdict on the node: its log says why.\n"
    assert not (tmp_path / "conformance-reports" / "results.json").exists()
