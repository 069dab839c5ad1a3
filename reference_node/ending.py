"""How a command ends: a crash is told in one line and has an exit code of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

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
    if hasattr(sys.stdout, "reconfigure"):  # a test's may lack it
        sys.stdout.reconfigure(errors="backslashreplace")
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
        say(_crash(fault))
        code = EXIT_CRASHED
    return code if _is_flushed() else code or EXIT_OUTPUT


def say(line: str) -> None:
    """Print a line on the standard error, if that takes it."""
    try:
        print(f"{PROGRAM}: {line}", file=sys.stderr, flush=True)
    except OSError:
        _discard(2)


def _crash(fault: Exception) -> str:
    """One line that names a new file with the traceback, which its owner alone may read.

    It leaves out the message of the exception, which may hold a key.
    """
    import tempfile  # noqa: PLC0415 - these cost time, and few commands crash
    import traceback  # noqa: PLC0415

    frames = traceback.extract_tb(fault.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    line = f"crashed with {type(fault).__name__}{where}"
    try:
        handle, name = tempfile.mkstemp(prefix=f"{PROGRAM}-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write("".join(traceback.format_exception(fault)))
    except OSError as problem:
        return f"{line}; its traceback cannot be written: {problem.strerror}"
    return f"{line}; its traceback is in {name}"


def _is_flushed() -> bool:
    """Whether all that is printed is written out. Python would complain of it once more, and change the exit code."""
    try:
        sys.stderr.flush()
    except OSError:
        _discard(2)
    try:
        sys.stdout.flush()
    except OSError:
        _discard(1)
        return False
    return True


def _discard(descriptor: int) -> None:
    """What is still to be printed there goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
