"""The cases of the packs, shipped and the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.resources import scenarios
from conformance.run.case import Case
from conformance.run.loader import load


def folders(pack_dirs: Sequence[Path] = ()) -> list[Path]:
    """Where the shipped packs are, and the user's own."""
    return [scenarios(), *pack_dirs]


def load_cases(pack_dirs: Sequence[Path] = ()) -> list[Case]:
    """The cases of the shipped packs and of those in some folders. LoadProblem: a pack cannot be used."""
    return load(folders(pack_dirs))
