"""Where the files that travel with the package are: inside it when installed, at the repository's top in a checkout."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
"""The folder of this package."""


def _folder(name: str) -> Path:
    installed = PACKAGE / "data" / name
    return installed if installed.is_dir() else PACKAGE.parent / name


def scenarios() -> Path:
    """The folder of the shipped packs."""
    return _folder("scenarios")


def fixtures() -> Path:
    """The folder of the shipped vectors."""
    return _folder("fixtures")


def artifacts() -> Path:
    """The folder of the compiled contracts that the suite puts on a chain."""
    installed = PACKAGE / "data" / "artifacts"
    return installed if installed.is_dir() else PACKAGE.parent / "contracts" / "artifacts"
