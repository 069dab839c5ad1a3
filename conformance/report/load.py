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
        return Results.model_validate_json(file.read_bytes())
    except OSError as problem:
        raise LoadProblem(f"cannot be read: {problem.strerror}", file) from problem
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        said = f"{where}: {first['msg']}"
        raise LoadProblem(f"holds no results of a run in format {FORMAT}: {said}", file) from problem
