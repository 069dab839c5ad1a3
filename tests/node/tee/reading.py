"""Reads what these tests need of a quote, at offsets counted by hand from Intel's layout."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass

import pytest

HEADER = 48
V5_BODY_DESCRIPTOR = 6
MR_TD = 136
RTMR0 = 328


@dataclass(frozen=True)
class ReadQuote:
    """The fields of a quote that is bound to other things."""

    version: int
    mr_td: str
    rtmrs: list[str]


def read_quote(quote_hex: str) -> ReadQuote:
    quote = bytes.fromhex(quote_hex)
    version = int.from_bytes(quote[:2], "little")
    body = quote[HEADER + (V5_BODY_DESCRIPTOR if version == 5 else 0) :]
    registers = [body[RTMR0 + 48 * index : RTMR0 + 48 * (index + 1)].hex() for index in range(4)]
    return ReadQuote(version, body[MR_TD : MR_TD + 48].hex(), registers)


def program(name: str, package: str) -> str:
    """The path of a program; without it the test is skipped, in CI it fails."""
    found = shutil.which(name)
    if found is None:
        advice = f"{name} is missing: install the Debian package {package}"
        if os.environ.get("CI"):
            pytest.fail(advice)
        pytest.skip(advice)
    return found
