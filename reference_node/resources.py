"""Locates the package's data files: inside the package when installed, at the repository root in a checkout."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
"""The folder of this package."""


def artifacts() -> Path:
    """The folder of the compiled contracts."""
    installed = PACKAGE / "data" / "artifacts"
    return installed if installed.is_dir() else PACKAGE.parent / "contracts" / "artifacts"
