"""Starts of commands, in processor time, against starts of Python alone and of Python with argparse."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from functools import partial

from benchmarks.timing import Row, medians

ROUNDS = 9
EMPTY, ARGPARSE = ("-c", "pass"), ("-c", "import argparse")
COMMANDS = {
    "service-conformance --version": (("-m", "conformance", "--version"), 6.0),
    "service-conformance run --help": (("-m", "conformance", "run", "--help"), 6.0),
    "service-conformance requirements": (("-m", "conformance", "requirements"), 30.0),
    "reference-node --version": (("-m", "reference_node", "--version"), 6.0),
}
"""What is asked, and the largest ratio to Python with argparse."""


def rows() -> list[Row]:
    """Each command's start."""
    calls = [EMPTY, ARGPARSE, *(words for words, _ in COMMANDS.values())]
    timings: list[Callable[[], float]] = [partial(_processor_time, words) for words in calls]
    empty, argparse, *measured = medians(timings, ROUNDS)
    first = Row("Python with argparse started", argparse, "Python started", empty, 6.0)
    others = zip(COMMANDS.items(), measured, strict=True)
    return [first, *(Row(name, ms, "Python with argparse", argparse, bound) for (name, (_, bound)), ms in others)]


def _processor_time(words: tuple[str, ...]) -> float:
    """The milliseconds of a processor that a start takes, those of the system included."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], stdout=subprocess.DEVNULL, check=True)  # noqa: S603 - this Python
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000
