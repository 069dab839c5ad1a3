"""Writes results.json."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from conformance.report.results import Results

RESULTS_NAME = "results.json"


def write_results(results: Results, folder: Path) -> Path:
    """Write ``results.json`` into a folder, which is made; a reader finds the old file or the whole new one."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / RESULTS_NAME
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{RESULTS_NAME}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(results.model_dump_json(indent=2) + "\n")
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path
