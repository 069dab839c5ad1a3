"""The GitHub Action: its steps, run as GitHub runs them, judge nodes and tell what came of it."""

from __future__ import annotations

import json
import os
import re
import venv
from itertools import count
from pathlib import Path

import pytest
from composite import Job, Repository, Used

QUICK = {"packs": "versioning", "arguments": "--quick"}
NUMBERS = count(1)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """The caller's repository."""
    return Repository(tmp_path_factory.mktemp("repository"))


def files(folder: Path) -> dict[str, int]:
    """Everything below a folder, with the time of its last change."""
    return {str(path.relative_to(folder)): path.lstat().st_mtime_ns for path in folder.rglob("*")}


@pytest.fixture(scope="module")
def on_main(repository: Repository) -> Job:
    """A job on the base branch; the caller's Python stands first on its path, and its pip installs elsewhere."""
    job = Job(repository, "main")
    callers = repository.folder / "callers-python"
    venv.create(callers, symlinks=True)
    job.variables["PATH"] = f"{callers / 'bin'}{os.pathsep}{job.variables['PATH']}"
    job.variables |= {"PYTHONPATH": str(callers), "PIP_USER": "1", "PIP_TARGET": str(callers)}
    job.variables["PIP_NO_COMPILE"] = "no"  # as pip spells `--no-compile`, which saves a third of its time
    return job


@pytest.fixture(scope="module")
def before(on_main: Job) -> dict[str, int]:
    """The files of the caller's Python before the action was used."""
    return files(on_main.repository.folder / "callers-python")


@pytest.fixture(scope="module")
def first(on_main: Job, before: dict[str, int], sound: Path) -> Used:
    """The first use in the job on the base branch, which installs the suite."""
    assert before
    return on_main.use(profile=str(sound), reports="out/reports", **QUICK)


@pytest.fixture(scope="module")
def second(on_main: Job, first: Used, hostile: Path) -> Used:
    """Another use in the same job."""
    assert not first.failed, first.log
    return on_main.use(profile=str(hostile), **QUICK)


@pytest.fixture
def job(repository: Repository, on_main: Job, first: Used) -> Job:
    """A job on a pull request."""
    assert not first.failed, first.log
    return pull_request(repository, on_main)


def pull_request(repository: Repository, on_main: Job) -> Job:
    """A job on a pull request, which takes the environment that the first use made."""
    made = Job(repository, f"pull-{next(NUMBERS)}", base_ref="main", ref_name="7/merge")
    (made.temporary / "service-conformance").mkdir()
    for place in (on_main.temporary / "service-conformance").glob("venv-*"):
        (made.temporary / "service-conformance" / place.name).symlink_to(place)
    return made


def test_node_that_conforms_is_told_as_outputs(first: Used) -> None:
    assert not first.failed, first.log
    told = first.outputs
    assert (told["conforms"], told["exit-code"], told["failed"], told["broken"]) == ("true", "0", "0", "0")
    assert int(told["passed"]) > 0
    assert told["sentence"].startswith("The node conforms as far as these cases tell")
    assert first.commands == []
    assert first.summary.startswith("# ✅ Conformance of ")


def test_callers_python_is_not_changed(on_main: Job, first: Used, before: dict[str, int]) -> None:
    assert not first.failed, first.log
    assert files(on_main.repository.folder / "callers-python") == before


def test_reports_in_a_folder_of_a_folder_are_kept(on_main: Job, first: Used) -> None:
    assert first.outputs["results"] == "out/reports/results.json"
    assert on_main.artifacts[first.outputs["artifact"]] == {"results.json", "junit.xml", "report.html"}
    assert first.outputs["artifact"] == "conformance-conformance"


def test_second_use_in_a_job_has_a_folder_and_an_artefact_of_its_own(on_main: Job, second: Used) -> None:
    told = second.outputs
    assert (told["artifact"], told["reports"]) == ("conformance-conformance-2", "conformance-reports-2")
    assert "results.json" in on_main.artifacts[told["artifact"]]


def test_node_that_breaks_statements_fails_the_job_with_an_annotation_for_each(on_main: Job, second: Used) -> None:
    results = json.loads((on_main.folder / second.outputs["results"]).read_text(encoding="utf-8"))
    broken = [requirement["id"] for requirement in results["requirements"] if requirement["verdict"] == "fail"]
    assert second.failed
    assert (second.outputs["conforms"], second.outputs["exit-code"]) == ("false", "1")
    assert second.outputs["broken"] == str(len(broken)) != "0"
    named = [re.match(r"::error title=([A-Z]+-\d+) \(", command) for command in second.commands]
    assert sorted(found[1] for found in named if found) == sorted(broken)
    assert second.summary.startswith("# ❌ Conformance of ")


def test_nothing_that_a_node_answers_is_a_command_to_the_runner(second: Used) -> None:
    assert "# #[error]pwned" in second.log
    assert "##[error]pwned" not in second.log
    assert [command for command in second.commands if not command.startswith("::error title=")] == []
    assert "pwned" not in second.outputs.values()


def test_pull_request_is_compared_with_its_base_and_keeps_nothing_for_others(
    job: Job, first: Used, hostile: Path
) -> None:
    kept = dict(job.repository.caches)
    used = job.use(profile=str(hostile), **QUICK)
    assert used.outputs["artifact"] == first.outputs["artifact"]
    assert "# Changes between two runs" in used.summary
    assert "## Broken (" in used.summary
    assert used.outputs["exit-code"] == "1"
    assert job.repository.caches == kept


@pytest.mark.parametrize(
    ("base", "said"),
    [("", "no results of the base are kept yet"), ("node.yaml", "the results of the base cannot be read")],
)
def test_comparison_that_cannot_be_made_does_not_change_the_verdict(
    job: Job, sound: Path, base: str, said: str
) -> None:
    (job.folder / "node.yaml").write_text(sound.read_text())
    used = job.use(profile="node.yaml", artifact="never-kept", base=base, **QUICK)
    assert (used.failed, used.outputs["conforms"]) == (False, "true")
    assert f"No comparison: {said}" in used.summary


@pytest.mark.parametrize(
    "inputs",
    [
        {"profile": "no-such.yaml"},
        {"packs": "no-such-pack"},
        {"known": "no-such.yaml"},
        {"arguments": "--help"},
    ],
    ids=str,
)
def test_run_without_a_verdict_is_not_called_conforming(job: Job, sound: Path, inputs: dict[str, str]) -> None:
    reports = job.folder / "conformance-reports"
    reports.mkdir()
    (reports / "results.json").write_text("of an earlier job")
    used = job.use(**({"profile": str(sound), **QUICK} | inputs))
    assert used.failed
    assert (used.outputs["conforms"], used.outputs["exit-code"], used.outputs["passed"]) == ("false", "2", "")
    assert (used.outputs["results"], list(reports.iterdir())) == ("", [])
    (told,) = used.commands
    assert told.startswith("::error title=No verdict on the node::The run gave no verdict on the node")
    assert used.outputs["sentence"] in used.summary


def test_run_that_could_not_judge_is_not_called_conforming(job: Job, sound: Path) -> None:
    stated = json.loads(sound.read_text()) | {"capabilities": []}
    (job.folder / "node.yaml").write_text(json.dumps(stated))
    used = job.use(profile="node.yaml", packs="groups", arguments="--case *::group-has-an-id")
    assert used.failed
    assert (used.outputs["conforms"], used.outputs["exit-code"], used.outputs["not-offered"]) == ("false", "3", "1")
    (told,) = used.commands
    assert told.startswith("::error title=The node is not shown to conform::")


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"profile": ""}, "profile is missing"),
        ({"artifact": "a/b"}, "artifact is a name"),
        ({"reports": "a\nresults=b"}, "profile, reports and artifact are one line each"),
    ],
)
def test_inputs_that_mean_nothing_are_named(job: Job, inputs: dict[str, str], said: str) -> None:
    used = job.use(**({"profile": "node.yaml"} | inputs))
    assert used.failed
    assert [command.startswith(f"::error title=service-conformance::{said}") for command in used.commands] == [True]
    assert (used.outputs["conforms"], job.artifacts) == ("false", {})


@pytest.mark.usefixtures("second")
def test_two_uses_cannot_write_into_one_folder(on_main: Job, first: Used, sound: Path) -> None:
    results = on_main.folder / first.outputs["results"]
    kept = results.read_text()
    again = on_main.use(profile=str(sound), reports="./out/reports/", artifact="other", **QUICK)
    assert again.failed
    assert "reports is the folder of an earlier use in this job" in again.log
    assert results.read_text() == kept


def test_jobs_of_a_matrix_keep_artefacts_of_their_own(job: Job, repository: Repository, on_main: Job) -> None:
    other = pull_request(repository, on_main)
    other.artifacts = job.artifacts
    for index, one in enumerate((job, other)):
        one.strategy = {"job-index": index, "job-total": 2}
        one.use(profile="no-such.yaml")
    assert set(job.artifacts) == {"conformance-conformance-0", "conformance-conformance-1"}
