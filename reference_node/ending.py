"""How a command ends: a crash is told in one line and has an exit code of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable

from conformance import ending

EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_CRASHED = 70
"""What was not foreseen: EX_SOFTWARE of sysexits.h."""
EXIT_OUTPUT = 74
"""The standard output, or another file, fails: EX_IOERR of sysexits.h."""
EXIT_INTERRUPTED = 130
"""What a shell reports of a command that Ctrl-C ends. A node that serves ends with 0."""

PROGRAM = "reference-node"


def end(command: Callable[[], int]) -> int:
    """Run a command and return its exit code."""
    if sys.stdout is None or sys.stderr is None:  # a file that is opened next would take its place
        say("standard output or error is closed: send it to a file or to /dev/null")
        return EXIT_FAILURE
    ending.spell_out(sys.stdout)
    try:
        code = command()
        sys.stdout.flush()
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else EXIT_CRASHED if leaving.code else 0
    except KeyboardInterrupt:
        say("interrupted")
        code = EXIT_INTERRUPTED
    except OSError as fault:
        if not isinstance(fault, BrokenPipeError):  # a reader that leaves early need not be told
            say(str(fault))
        code = EXIT_OUTPUT
    except Exception as fault:  # noqa: BLE001 - whatever it is, it must not end as what it is not
        say(ending.crash(fault, PROGRAM, meaning=""))
        code = EXIT_CRASHED
    return code if ending.flush() is None else code or EXIT_OUTPUT


def say(line: str) -> None:
    """Print a line on the standard error, if that takes it."""
    ending.say(f"{PROGRAM}: {line}")
