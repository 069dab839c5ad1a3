"""Reads the files that `verify` and `statement` are given. Problems name the option and the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from conformance.problems import Problem
from conformance.verify import Evidence, load_folder
from conformance.verify.evidence import read_file


def read(path: Path) -> bytes:
    """The bytes of a file."""
    try:
        return read_file(path)
    except OSError as problem:
        raise Problem(f"{path}: cannot be read: {problem.strerror}") from problem


def checked(option: str, path: Path, parse: Callable[[bytes], object]) -> bytes:
    """The bytes of an option's file, which `parse` takes; it raises ValueError for others."""
    body = read(path)
    try:
        parse(body)
    except ValueError as problem:
        raise Problem(f"{option} {path}: {problem}") from problem
    return body


def evidence_in(folder: Path) -> Evidence:
    """The evidence in a folder of the option `--evidence`."""
    try:
        return load_folder(folder)
    except OSError as problem:
        raise Problem(f"--evidence {problem.filename or folder}: {problem.strerror}") from problem
    except ValueError as problem:
        raise Problem(f"--evidence {problem}") from problem
