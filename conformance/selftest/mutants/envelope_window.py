"""Faults about the window of signed envelopes ("Authentication" 6)."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace

from conformance.selftest.tools.alter import Answered, Forward, Received, intercept, wrap
from conformance.selftest.tools.alter_envelopes import MINTS, Check, refuse, replace_check
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.permission.typed_data import WINDOW_SECONDS, Flow, Members


def _window(node: Node, before: int, after: int, divisor: int = 1) -> None:
    """Check a window of other widths."""

    def check(issued_at: int, now: int) -> None:
        if not now - before <= issued_at // divisor <= now + after:
            raise refuse("typed-data-expired")

    replace_check(node, "check_window", check)


@mutant("ENV-260")
def window_is_not_checked_for_times_in_hex(node: Node) -> None:
    """Skip the check of the window where `issuedAt` is written in hex."""
    times: ContextVar[object] = ContextVar("issuedAt")

    def parts(read: Callable[..., tuple[Members, Members]], document: object, flow: Flow) -> tuple[Members, Members]:
        domain, message = read(document, flow)
        times.set(message["issuedAt"])
        return domain, message

    def check(checked: Check, issued_at: int, now: int) -> None:
        if not str(times.get()).startswith("0x"):
            checked(issued_at, now)

    wrap(node.envelopes, "parts", parts)
    wrap(node.envelopes, "check_window", check)


@mutant("ENV-260")
def window_counts_in_32_bits(node: Node) -> None:
    """Compare the lowest 32 bits of an `issuedAt` that 64 bits hold with the node's time."""

    def check(original: Check, issued_at: int, now: int) -> None:
        original(issued_at % 2**32 if issued_at < 2**64 else issued_at, now)

    wrap(node.envelopes, "check_window", check)


TIME = re.compile(rb'"issuedAt":"(\d+)"')


@mutant("ENV-260")
def window_is_of_the_last_time(node: Node) -> None:
    """Of two members `issuedAt` in a mint, compare the last one with the node's time, and verify the first."""
    last: ContextVar[int | None] = ContextVar("last", default=None)

    async def handler(request: Received, forward: Forward) -> Answered:
        times = [*TIME.finditer(request.body)]
        if len(times) < 2:
            return await forward(request)
        token = last.set(int(times[-1][1]))
        try:
            return await forward(replace(request, body=request.body.replace(b"," + times[-1][0], b"")))
        finally:
            last.reset(token)

    intercept(node, MINTS, handler)
    wrap(node.envelopes, "check_window", lambda check, issued_at, now: check(last.get() or issued_at, now))


@mutant(
    each=[
        row("open-ahead", 0, 2**256, breaks="ENV-260 ENV-300 BILL-240"),
        row("closed-ahead", 0, 2 - WINDOW_SECONDS, breaks="ENV-250 ENV-290"),
        row("wider-behind", 20, 0, breaks="ENV-260", also="BILL-240 ENV-280"),
        row("narrower-behind", -20, 0, breaks="ENV-250", also="ENV-270"),
        row("narrower-ahead", 0, -20, breaks="ENV-250", also="ENV-290"),
        row("a-second-late", 1, 0, breaks="ENV-280 BILL-240"),
        row("a-second-early", 0, 1, breaks="ENV-300 BILL-240"),
    ]
)
def window_has_other_bounds(node: Node, before: int, after: int) -> None:
    """Move the bounds of the window by {before} s into the past and {after} s ahead."""
    _window(node, WINDOW_SECONDS + before, WINDOW_SECONDS + after)


@mutant(
    "ENV-010",
    "ENV-230",
    also="BILL-230 ENV-250 ENV-260 ENV-270 ENV-290 ENV-310 ENV-420 MINT-010 MINT-080 MINT-210 MODE-010",
)
def time_is_in_milliseconds(node: Node) -> None:
    """Read `issuedAt` in milliseconds."""
    _window(node, WINDOW_SECONDS, WINDOW_SECONDS, 1000)


@mutant("ENV-260", also="ENV-230")
def milliseconds_are_good_too(node: Node) -> None:
    """Accept an `issuedAt` in milliseconds, too."""

    def check(original: Check, issued_at: int, now: int) -> None:
        original(issued_at // 1000 if issued_at > 10**11 else issued_at, now)

    wrap(node.envelopes, "check_window", check)
