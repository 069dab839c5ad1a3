"""Faults about what a run takes and answers."""

from __future__ import annotations

import json
from dataclasses import replace

from pydantic import JsonValue

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    change_answer,
    change_body,
    intercept,
    members,
    note_accepted,
    wrap,
)
from conformance.selftest.tools.alter_runs import RUN, Sandboxed, change_code
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.sandbox import RunResult


@mutant(
    "EP-380", "EXEC-140", each=[row("logs", also="EXEC-180 EXEC-320"), row("response", also="EXEC-370")], also="VER-050"
)
def runs_lack_a_member(node: Node, member: str) -> None:
    """Answer a run without `{member}`."""
    change_answer(node, RUN, lambda value: {name: inner for name, inner in members(value).items() if name != member})


@mutant("VER-050")
def logs_are_answered_line_by_line(node: Node) -> None:
    """Answer `logs` as an array of lines, though the description says text."""

    def in_lines(value: JsonValue) -> JsonValue:
        lines: list[JsonValue] = [*str(members(value).get("logs")).split("\n")]
        return {**members(value), "logs": lines}

    change_answer(node, RUN, in_lines)


@mutant("VER-050", also="EP-380 EXEC-140 EXEC-320")
def failures_of_runs_have_no_response(node: Node) -> None:
    """Answer a failed run without `response`, which the description requires."""

    def without(value: JsonValue) -> JsonValue:
        told = members(value)
        return {name: inner for name, inner in told.items() if name != "response"} if told["has_error"] else told

    change_answer(node, RUN, without)


@mutant("EXEC-150", "EXEC-160", also="ERR-100 EXEC-050 EXEC-090 EXEC-120 EXEC-180 EXEC-200 EXEC-230 EXEC-270 EXEC-370")
def results_are_kept_by_code(node: Node) -> None:
    """Answer the same code with its first result, whatever the parameters."""
    kept: dict[str, RunResult] = {}

    def run(sandboxed: Sandboxed, code: str, *others: object) -> RunResult:
        if code not in kept:
            kept[code] = sandboxed(code, *others)
        return kept[code]

    wrap(node.sandbox, "run", run)


@mutant("EXEC-150", also="EXEC-320 EXEC-370")
def promises_are_not_waited_for(node: Node) -> None:
    """Answer a run before the promise of `main` settles."""
    change_code(
        node,
        lambda code: (
            f"{code}\n;try {{ main = (begin => params => ({{ value: {{}}, ...begin(params) }}))(main) }} catch {{}}"
        ),
    )


@mutant("EP-030", server_fault=True, also="EP-010 ERR-140")
def broken_run_requests_are_server_faults(node: Node) -> None:
    """Answer a run request whose body is no JSON with status 500."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return replace(given, status=500) if given.status == 400 else given

    intercept(node, RUN, handler)


@mutant("EXEC-360", also="EP-030")
def cids_are_run(node: Node) -> None:
    """Run the code of a CID that the node has computed."""
    known: dict[str, str] = {}

    def remember(request: Received, given: Answered) -> None:
        known[json.loads(given.body)] = json.loads(request.body)

    note_accepted(node, "get_service_action_ipfs_id", remember)
    change_body(node, RUN, lambda value: _with_code(members(value), known))


def _with_code(body: dict[str, JsonValue], known: dict[str, str]) -> JsonValue:
    cid = next((text for text in body.values() if isinstance(text, str) and text in known), None)
    return body if cid is None else {"code": known[cid], "jsParams": body.get("jsParams", {})}
