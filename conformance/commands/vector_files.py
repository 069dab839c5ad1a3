"""Writing files of vectors, and comparing the shipped ones with what a seed gives."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from conformance.report import ExitCode
from conformance.report.write import write_whole


def write_files(folder: Path, files: Mapping[str, str]) -> int:
    """Write files into a folder; the exit code."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            write_whole(folder / name, text)
    except OSError as problem:
        print(f"service-conformance: {folder} cannot be written: {problem.strerror}", file=sys.stderr)
        return ExitCode.USAGE
    print(f"{len(files)} files in {folder}")
    return ExitCode.CONFORMS


def check_files(folder: Path, files: Mapping[str, str], seed: str) -> int:
    """Compare a folder with the files that a seed gives; the exit code."""
    present = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.json")}
    differing = sorted(name for name in files.keys() | present.keys() if files.get(name) != present.get(name))
    for name in differing:
        print(f"{folder / name} is not what the seed {seed} gives")
    if not differing:
        print(f"{len(files)} files in {folder} are what the seed {seed} gives")
    return ExitCode.FAILS if differing else ExitCode.CONFORMS
