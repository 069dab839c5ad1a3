"""Faults about runs of code that fails."""

from __future__ import annotations

from dataclasses import replace

from conformance.selftest.tools.alter import Answered, Forward, Received, change_answer, intercept, members, wrap
from conformance.selftest.tools.alter_runs import RUN, Sandboxed, change_result
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node
from reference_node.sandbox import RunResult, SandboxBroken


@mutant("EXEC-320")
def every_run_is_marked_as_failed(node: Node) -> None:
    """Answer always that a run has failed."""
    change_answer(node, RUN, lambda value: {**members(value), "has_error": True})


@mutant("EXEC-320")
def unshowable_errors_look_like_results(node: Node) -> None:
    """Answer that a run has not failed whose code throws a `Symbol` outside of `main`."""

    def shown(code: str, _params: str, result: RunResult) -> RunResult:
        return replace(result, has_error=False) if code.startswith("throw Symbol") else result

    change_result(node, shown)


@mutant("EXEC-320", also="EXEC-180")
def the_message_of_a_failure_is_hidden(node: Node) -> None:
    """Leave the error's message out of the logs of a failure."""

    def hidden(_code: str, _params: str, result: RunResult) -> RunResult:
        return replace(result, logs=result.logs.partition("\n")[0]) if result.has_error else result

    change_result(node, hidden)


@mutant("EXEC-320", also="EXEC-180 EXEC-270 EXEC-370")
def a_failure_spoils_the_next_run(node: Node) -> None:
    """Let the run after a failed one fail, too."""
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
    """Answer success to code that defines no `main`."""

    def run(sandboxed: Sandboxed, code: str, *others: object) -> RunResult:
        if "main" not in code:
            return RunResult("null", "", has_error=False, seconds=0.0)
        return sandboxed(code, *others)

    wrap(node.sandbox, "run", run)


@mutant("EXEC-320", server_fault=True, also="ERR-140")
def what_json_cannot_hold_breaks_the_sandbox(node: Node) -> None:
    """Break the sandbox over a response that JSON can't hold, and answer 503 without Retry-After."""

    def run(sandboxed: Sandboxed, code: str, *others: object) -> RunResult:
        if "10n" in code:
            raise SandboxBroken("no JSON")
        return sandboxed(code, *others)

    wrap(node.sandbox, "run", run)


@mutant("EXEC-370", server_fault=True, also="EXEC-400")
def nothing_returned_is_a_server_fault(node: Node) -> None:
    """Answer a `main` that returns nothing, or null, with status 500."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        empty = b'"response":null' in given.body and b'"has_error":false' in given.body
        return replace(given, status=500) if empty else given

    intercept(node, RUN, handler)
