"""Faults about the logs of runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import groupby

from conformance.selftest.tools.alter import Answered, Forward, Received, intercept, wrap
from conformance.selftest.tools.alter_runs import RUN, Sandboxed, change_code, change_logs, change_result
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.sandbox import RunResult

KEPT_LINES = 10


def _lines(change: Callable[[list[str]], Iterable[str]]) -> Callable[[str], str]:
    return lambda logs: "\n".join(change(logs.split("\n")))


@mutant(
    "EXEC-180",
    each=[
        row("empty", lambda _: "", breaks="EXEC-140 EXEC-320"),
        row("first-ten-lines", _lines(lambda lines: lines[:KEPT_LINES]), also="EXEC-320"),
        row("sorted-by-ends", _lines(lambda lines: sorted(lines, key=lambda line: line[::-1])), also="EXEC-320"),
        row("errors-first", _lines(lambda lines: sorted(lines, key=lambda line: not line.startswith("error")))),
        row("equal-lines-once", _lines(lambda lines: (line for line, _ in groupby(lines)))),
        row("lines-cut-at-1000", _lines(lambda lines: (line[:1000] for line in lines))),
        row("without-empty-lines", _lines(lambda lines: filter(None, lines))),
        row("without-formats", lambda logs: logs.replace("%s", "")),
        row("16-bits", lambda logs: "".join(letter if ord(letter) < 2**16 else "?" for letter in logs)),
    ],
)
def logs_are_altered(node: Node, change: Callable[[str], str]) -> None:
    """Answer other logs than an action wrote; the label says which."""
    change_logs(node, change)


@mutant("EXEC-180", also="EP-010 EXEC-140 VER-050")
def tabs_in_logs_are_not_escaped(node: Node) -> None:
    """Write tabs of the logs into the answer as they are, which no JSON string may hold (RFC 8259, 7)."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        logs = given.told.get("logs") if given.accepted else None
        return replace(given, body=given.body.replace(rb"\t", b"\t")) if logs and "\t" in str(logs) else given

    intercept(node, RUN, handler)


@mutant("EXEC-180", also="EXEC-320")
def logs_hold_the_response(node: Node) -> None:
    """Add to the logs what `main` returns."""
    change_result(node, lambda _code, _params, result: replace(result, logs=f"{result.logs}\n{result.response}"))


@mutant("EXEC-180", also="EXEC-270")
def logs_of_runs_at_once_are_one(node: Node) -> None:
    """Write the logs of concurrent runs into one log."""
    lock = threading.Lock()
    under_way: list[list[str]] = []

    def run(sandboxed: Sandboxed, *given: object) -> RunResult:
        own: list[str] = []
        with lock:
            under_way.append(own)
        result = sandboxed(*given)
        with lock:
            for log in under_way:
                log.append(result.logs)
            under_way[:] = [log for log in under_way if log is not own]  # `remove` takes an equal one
        return replace(result, logs="\n".join(own))

    wrap(node.sandbox, "run", run)


@mutant("EXEC-180")
def first_argument_alone_is_logged(node: Node) -> None:
    """Log only the first argument of `console.log`."""
    change_code(node, lambda code: f"console.log = (log => first => log(first))(console.log);{code}")


@mutant("EXEC-180", also="EXEC-270")
def logs_of_a_failure_come_with_the_next_run(node: Node) -> None:
    """Put the logs of a failed run before those of the next, too."""
    kept: list[str] = []

    def with_kept(_code: str, _params: str, result: RunResult) -> RunResult:
        before = "".join(kept)
        kept[:] = [f"{result.logs}\n"] if result.has_error else []
        return replace(result, logs=before + result.logs)

    change_result(node, with_kept)
