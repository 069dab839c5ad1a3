"""Ends every command: prepares the console, and gives a crash one line and an exit code that is no verdict.

Imports nothing of the suite, so that a module that cannot be imported ends a command in the same way. The reference
node ends with codes of its own, and tells of crashes by what stands here.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Members of conformance.report.ExitCode, which takes a while to load.
USAGE = 2
INTERRUPTED = 5
CRASHED = 70
"""EX_SOFTWARE of sysexits.h."""

PROGRAM = "service-conformance"
OF_THE_SUITE = ": this is a fault of the suite and no verdict"


def end(command: Callable[[], int]) -> int:
    """Run a command and return its exit code. What it does not foresee is told in one line: `CRASHED`."""
    if sys.stdout is None or sys.stderr is None:  # a file that is opened next would take its place
        say(f"{PROGRAM}: standard output or error is closed: send it to a file or to /dev/null")
        return USAGE
    for stream in (sys.stdout, sys.stderr):
        spell_out(stream)
    try:
        code = command()
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else _ended_with(leaving)
    except KeyboardInterrupt:
        say(f"{PROGRAM}: interrupted")
        code = INTERRUPTED
    except Exception as fault:  # noqa: BLE001 - whatever it is, it is no verdict
        say(f"{PROGRAM}: {crash(fault)}")
        code = CRASHED
    problem = flush()
    return code if problem is None else not_printed(problem)


def _ended_with(leaving: SystemExit) -> int:
    """The exit code where some library ends the process by a text, or without saying anything."""
    if leaving.code is None:
        return 0
    say(f"{PROGRAM}: {crash(leaving)}")
    return CRASHED


@contextmanager
def crash_ends_pytest() -> Iterator[None]:
    """End pytest with one line and `CRASHED` at a crash: its own exit code for that is one of our verdicts."""
    import pytest  # noqa: PLC0415 - only a run of pytest calls this

    try:
        yield
    except (pytest.UsageError, pytest.exit.Exception):
        raise
    except Exception as fault:  # noqa: BLE001 - as in `end`
        pytest.exit(f"{PROGRAM}: {crash(fault)}", CRASHED)


def crash(fault: BaseException, program: str = PROGRAM, meaning: str = OF_THE_SUITE) -> str:
    """One line that tells of a crash and names a new file with its traceback, which its owner alone may read.

    It leaves out the message of the exception, which may hold a key. `meaning` is what it says of results.
    """
    import tempfile  # noqa: PLC0415 - these cost time, and few commands crash
    import traceback  # noqa: PLC0415

    frames = traceback.extract_tb(fault.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    line = f"crashed with {type(fault).__name__}{where}{meaning}"
    text = "".join(traceback.format_exception(fault))
    try:
        handle, name = tempfile.mkstemp(prefix=f"{program}-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as problem:
        return f"{line}; its traceback cannot be written: {problem.strerror}"
    return f"{line}; its traceback is in {name}"


def say(line: str) -> None:
    """Print a line on the standard error, if that takes it."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:
        _discard(2)


def print_document(text: str) -> None:
    """Print what programs read, in UTF-8 whatever the locale is; at a terminal in the terminal's encoding."""
    if not sys.stdout.isatty() and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    sys.stdout.write(text)


def flush() -> OSError | None:
    """Write out what is printed, or discard it: Python would complain of it once more, and change the exit code."""
    try:
        sys.stderr.flush()
    except OSError:
        _discard(2)
    try:
        sys.stdout.flush()
    except OSError as problem:
        _discard(1)
        return problem
    return None


def not_printed(problem: OSError) -> int:
    """The exit code where the standard output takes nothing more. A reader that leaves early need not be told."""
    if not isinstance(problem, BrokenPipeError):
        say(f"{PROGRAM}: {problem}")
    _discard(1)
    return INTERRUPTED


def _discard(descriptor: int) -> None:
    """What is still to be printed there goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


SPELT_OUT = {
    **dict.fromkeys("─━╸╺–—", "-"),  # noqa: RUF001 - a sign is what is meant
    **dict.fromkeys("│┃", "|"),
    **dict.fromkeys("‘’", "'"),  # noqa: RUF001 - a sign is what is meant
    **dict.fromkeys("“”", '"'),
    **dict.fromkeys("•·", "*"),
    **dict.fromkeys("✓✔✅", "ok"),
    **dict.fromkeys("×✗✘❌", "x"),  # noqa: RUF001 - a sign is what is meant
    "…": "...",
    "→": "->",
    "←": "<-",
    "≥": ">=",
    "≤": "<=",
    "≠": "!=",
    "⚠": "!",
    "\N{VARIATION SELECTOR-16}": "",
}
"""What stands for a sign where the console's encoding lacks it."""


def _spelt_out(fault: UnicodeError) -> tuple[str | bytes, int]:
    """An error handler of codecs: signs in ASCII, other characters as Python escapes them."""
    if not isinstance(fault, UnicodeEncodeError):
        raise fault
    character = fault.object[fault.start]
    escaped = character.encode("ascii", "backslashreplace").decode()
    return SPELT_OUT.get(character, escaped), fault.start + 1


codecs.register_error("spell-out", _spelt_out)


def spell_out(stream: object) -> None:
    """Have a text stream take every character, whatever its encoding is."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:  # the streams of a test runner may lack it
        reconfigure(errors="spell-out")
