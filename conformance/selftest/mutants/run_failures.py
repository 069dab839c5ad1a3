"""Faults about runs of code that fails."""

from __future__ import annotations

from dataclasses import replace

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    change_answer,
    intercept,
    members,
    refusal,
    wrap,
)
from conformance.selftest.tools.alter_runs import RUN, Sandboxed, change_result
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node
from reference_node.sandbox import RunResult, SandboxBroken


@mutant("EXEC-320")
def failures_look_like_results(node: Node) -> None:
    """The mark of an error is never set."""
    change_result(node, lambda _code, _params, result: replace(result, has_error=False))


@mutant("EXEC-320")
def every_run_is_marked_as_failed(node: Node) -> None:
    """The mark of an error is always set."""
    change_answer(node, RUN, lambda value: {**members(value), "has_error": True})


@mutant("EXEC-320", server_fault=True)
def failures_are_server_faults(node: Node) -> None:
    """Code that fails is answered with 500."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return replace(given, status=500) if b'"has_error":true' in given.body else given

    intercept(node, RUN, handler)


@mutant("EXEC-320")
def failures_are_refusals(node: Node) -> None:
    """Code that fails is refused, otherwise than the profile says."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return refusal(422) if b'"has_error":true' in given.body else given

    intercept(node, RUN, handler)


@mutant("EXEC-320")
def the_message_of_a_failure_is_hidden(node: Node) -> None:
    """Only what the action itself wrote is in the logs of a failure."""

    def hidden(_code: str, _params: str, result: RunResult) -> RunResult:
        return replace(result, logs=result.logs.partition("\n")[0]) if result.has_error else result

    change_result(node, hidden)


@mutant("EXEC-320")
def the_logs_of_a_failure_are_lost(node: Node) -> None:
    """Only the message of the error is in the logs of a failure."""

    def lost(_code: str, _params: str, result: RunResult) -> RunResult:
        return replace(result, logs=result.logs.rpartition("\n")[2]) if result.has_error else result

    change_result(node, lost)


@mutant("EXEC-320")
def a_failure_spoils_the_next_run(node: Node) -> None:
    """The run after one that failed fails, too."""
    failed: list[RunResult] = []

    def run(sandboxed: Sandboxed, *given: object) -> RunResult:
        if failed:
            return failed.pop()
        result = sandboxed(*given)
        failed.extend([result] if result.has_error else [])
        return result

    wrap(node.sandbox, "run", run)


@mutant("EXEC-320")
def code_without_a_main_succeeds(node: Node) -> None:
    """Code that defines no `main` ends well, with nothing."""

    def run(sandboxed: Sandboxed, code: str, *others: object) -> RunResult:
        if "main" not in code:
            return RunResult("null", "", has_error=False, seconds=0.0)
        return sandboxed(code, *others)

    wrap(node.sandbox, "run", run)


@mutant("EXEC-320", server_fault=True)
def what_json_cannot_hold_breaks_the_sandbox(node: Node) -> None:
    """A response that cannot be written as JSON ends the machinery; no Retry-After tells to come again."""

    def run(sandboxed: Sandboxed, code: str, *others: object) -> RunResult:
        if "10n" in code:
            raise SandboxBroken("no JSON")
        return sandboxed(code, *others)

    wrap(node.sandbox, "run", run)


@mutant("EXEC-370", server_fault=True)
def nothing_returned_is_a_server_fault(node: Node) -> None:
    """A `main` that returns nothing is answered with 500."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return replace(given, status=500) if b'"response":null' in given.body and given.accepted else given

    intercept(node, RUN, handler)
