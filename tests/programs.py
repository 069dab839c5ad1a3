"""Programs of others that some tests need: without one a test is skipped, in CI it fails."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def absent(advice: str) -> NoReturn:
    """Skip a test, or fail it in CI, for want of a program."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(advice)
