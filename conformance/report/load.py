"""Reads the results of an earlier run."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from conformance.problems import LoadProblem
from conformance.report.results import FORMAT, Results
from conformance.report.write import RESULTS_NAME


def load_results(path: Path) -> Results:
    """The results in a file, or in a folder's ``results.json``. Raises LoadProblem."""
    file = path / RESULTS_NAME if path.is_dir() else path
    try:
        content = file.read_bytes()
        results = Results.model_validate_json(content)
    except OSError as problem:
        raise LoadProblem(f"cannot be read: {problem.strerror}", file) from problem
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        message = f"{where}: {first['msg']}"
        raise LoadProblem(f"holds no results of a run in format {FORMAT}: {message}", file) from problem
    if missing := _missing_cases(results):
        raise LoadProblem(f"is no whole file: it names the case {missing} and does not hold it", file)
    return results.read_from(content)


def _missing_cases(results: Results) -> str:
    """The first case that a statement or a cause refers to and the file lacks; empty where there is none."""
    cases = {case.case for case in results.cases}
    named = (*(result.failed for result in results.requirements), *(cause.cases or ("",) for cause in results.causes))
    return next((repr(name) for names in named for name in names if name not in cases), "")
