"""Faults about the logs of runs."""

from __future__ import annotations

import threading
from dataclasses import replace
from itertools import groupby

from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.alter_execution import Sandboxed, change_code, change_logs, change_result
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node
from reference_node.sandbox import RunResult

KEPT_LINES = 10


@mutant("EXEC-180")
def logs_are_those_of_the_run_before(node: Node) -> None:
    """Each run answers what the one before it wrote."""
    last = [""]

    def of_the_one_before(logs: str) -> str:
        before, last[0] = last[0], logs
        return before

    change_logs(node, of_the_one_before)


@mutant("EXEC-180")
def logs_add_up(node: Node) -> None:
    """The logs of a run begin with those of all runs before it."""
    written: list[str] = []

    def with_all(logs: str) -> str:
        written.append(logs)
        return "\n".join(written)

    change_logs(node, with_all)


@mutant("EXEC-180")
def logs_are_turned_round(node: Node) -> None:
    """The last line that an action wrote stands first."""
    change_logs(node, lambda logs: "\n".join(reversed(logs.split("\n"))))


@mutant("EXEC-180")
def logs_end_early(node: Node) -> None:
    """Only the first ten lines are kept."""
    change_logs(node, lambda logs: "\n".join(logs.split("\n")[:KEPT_LINES]))


@mutant("EXEC-180")
def logs_are_sorted(node: Node) -> None:
    """Lines are sorted by the end of their text, as a store without an order might give them."""
    change_logs(node, lambda logs: "\n".join(sorted(logs.split("\n"), key=lambda line: line[::-1])))


@mutant("EXEC-180")
def logs_hold_the_response(node: Node) -> None:
    """What `main` returns is logged as well."""
    change_result(node, lambda _code, _params, result: replace(result, logs=f"{result.logs}\n{result.response}"))


@mutant("EXEC-180")
def logs_of_runs_at_once_are_one(node: Node) -> None:
    """Runs that are under way at the same time write into one log."""
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


@mutant("EXEC-180", "EXEC-140")
def logs_are_always_empty(node: Node) -> None:
    """Nothing that an action writes is answered."""
    change_logs(node, lambda _: "")


@mutant("EXEC-180")
def equal_lines_are_logged_once(node: Node) -> None:
    """Of equal lines one after the other the first alone is kept."""
    change_logs(node, lambda logs: "\n".join(line for line, _ in groupby(logs.split("\n"))))


@mutant("EXEC-180")
def first_argument_alone_is_logged(node: Node) -> None:
    """Of several arguments of `console.log` the first is written."""
    change_code(node, lambda code: f"console.log = (log => first => log(first))(console.log);{code}")


@mutant("EXEC-180")
def errors_of_the_console_are_lost(node: Node) -> None:
    """What goes to `console.error` is written nowhere."""
    change_code(node, lambda code: f"console.error = () => {{}};{code}")


@mutant("EXEC-180")
def long_lines_are_cut(node: Node) -> None:
    """A line of the logs ends after a thousand characters."""
    change_logs(node, lambda logs: "\n".join(line[:1000] for line in logs.split("\n")))


@mutant("EXEC-180")
def formats_in_logs_are_taken_out(node: Node) -> None:
    """A `%s` that stands for nothing is missing in the logs."""
    change_logs(node, lambda logs: logs.replace("%s", ""))


@mutant("EXEC-180")
def logs_of_a_failure_come_with_the_next_run(node: Node) -> None:
    """What a run wrote that failed is written out with the logs of the run after it."""
    kept: list[str] = []

    def with_kept(_code: str, _params: str, result: RunResult) -> RunResult:
        before = "".join(kept)
        kept[:] = [f"{result.logs}\n"] if result.has_error else []
        return replace(result, logs=before + result.logs)

    change_result(node, with_kept)


@mutant("EXEC-180")
def empty_lines_are_not_logged(node: Node) -> None:
    """Lines without a character are left out of the logs."""
    change_logs(node, lambda logs: "\n".join(line for line in logs.split("\n") if line))


@mutant("EXEC-180")
def characters_beyond_16_bits_are_not_logged(node: Node) -> None:
    """The logs hold a question mark for each character beyond the basic plane."""
    change_logs(node, lambda logs: "".join(letter if ord(letter) < 2**16 else "?" for letter in logs))
