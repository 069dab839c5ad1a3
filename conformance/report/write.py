"""Writes results.json, and the execution matrices as Markdown."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from conformance.report.matrix import markdown, matrices
from conformance.report.results import Results

RESULTS_NAME = "results.json"
MATRIX_NAME = "execution_matrix.md"
BEFORE, AFTER = "before", "after"
"""Folders of evidence, in the folder of `--evidence`."""


def make_writable(folder: Path, *names: str) -> list[Path]:
    """Make a folder and check, before a long run, that these files can be written into it. Raises OSError.

    Return the folders that it made, the innermost first.
    """
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        if (folder / name).is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(folder / name))
    if names and all(is_special(folder / name) for name in names):
        return made
    with tempfile.TemporaryFile(dir=folder):
        pass
    return made


def write_results(results: Results, folder: Path) -> Path:
    """Write ``results.json`` atomically into a folder, which is made if necessary.

    Write ``execution_matrix.md`` beside it if the run tried a matrix, and else delete that of an earlier run.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / RESULTS_NAME
    drawing = folder / MATRIX_NAME
    if cases := matrices(results):
        write_whole(drawing, markdown(cases))
    else:
        drawing.unlink(missing_ok=True)
    write_whole(path, results.content.decode())  # last: it counts what could not be written
    return path


def write_whole(path: Path, text: str) -> None:
    """Write a file atomically: a reader sees the old content or the whole new one. Raises OSError with this path.

    What a link leads to is replaced. A device or a pipe is written into: to replace it would take it from others.
    """
    try:
        if is_special(path):
            path.write_text(text, encoding="utf-8", newline="\n")
        else:
            _replace(path.resolve(), text)
    except OSError as problem:
        problem.filename, problem.filename2 = str(path), None
        raise


def is_special(path: Path) -> bool:
    """Whether a path is no regular file, and leads to none but by way of a device: `/dev/stdout`."""
    return path.exists() and (not path.is_file() or path.absolute().is_relative_to(DEVICES))


DEVICES = "/dev"


def _replace(path: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
