"""The console of Rich that every command prints on."""

from __future__ import annotations

import errno
import os
from typing import NoReturn

from rich.console import Console


class CommandConsole(Console):
    """Leaves it to the command what a reader that leaves early means: Rich would end it with 1, which is a verdict."""

    def on_broken_pipe(self) -> NoReturn:
        """Raise BrokenPipeError."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
