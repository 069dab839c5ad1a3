"""Writes results.json, and the matrices to read."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from conformance.report.matrix import markdown, matrices
from conformance.report.results import Results

RESULTS_NAME = "results.json"
MATRIX_NAME = "execution_matrix.md"


def make_writable(folder: Path, *names: str) -> None:
    """Make a folder, and see before anything takes long that files of these names can be written there.

    Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        if (folder / name).is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(folder / name))
    with tempfile.TemporaryFile(dir=folder):
        pass


def write_results(results: Results, folder: Path) -> Path:
    """Write ``results.json`` into a folder, which is made; a reader finds the old file or the whole new one.

    Beside it stands ``execution_matrix.md`` when the run tried a matrix; one of an earlier run goes away.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / RESULTS_NAME
    write_whole(path, results_text(results))
    drawing = folder / MATRIX_NAME
    if cases := matrices(results):
        write_whole(drawing, markdown(cases))
    else:
        drawing.unlink(missing_ok=True)
    return path


def results_text(results: Results) -> str:
    """The content of ``results.json``."""
    return results.model_dump_json(indent=2) + "\n"


def write_whole(path: Path, text: str) -> None:
    """Write a file that no reader finds half-written. Raises OSError."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
