"""The command line in the process of the test, which costs less than a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from conformance import cli


def exit_code(arguments: Sequence[str]) -> int:
    """Of a call as the console script makes it."""
    with pytest.raises(SystemExit) as ended:
        sys.exit(cli.main(list(arguments)))
    return int(ended.value.code or 0)
