"""Faults about the window of signed envelopes ("Authentication" 6)."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.alter_envelopes import Check, refuse, replace_check
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.permission.typed_data import WINDOW_SECONDS, Flow, Members


def _window(node: Node, before: int, after: int, divisor: int = 1) -> None:
    """Check a window of other widths."""

    def check(issued_at: int, now: int) -> None:
        if not now - before <= issued_at // divisor <= now + after:
            raise refuse("typed-data-expired")

    replace_check(node, "check_window", check)


@mutant("ENV-260", each=[row("hex", str, "0x")])
def window_is_not_checked_in_another_spelling(node: Node, kind: type, beginning: str) -> None:
    """Skip the check of the window where `issuedAt` is written in another form than as a decimal text."""
    times: ContextVar[object] = ContextVar("issuedAt")

    def parts(read: Callable[..., tuple[Members, Members]], document: object, flow: Flow) -> tuple[Members, Members]:
        domain, message = read(document, flow)
        times.set(message["issuedAt"])
        return domain, message

    def check(checked: Check, issued_at: int, now: int) -> None:
        written = times.get()
        if not (isinstance(written, kind) and str(written).startswith(beginning)):
            checked(issued_at, now)

    wrap(node.envelopes, "parts", parts)
    wrap(node.envelopes, "check_window", check)


@mutant("ENV-260", "ENV-300", "BILL-240")
def window_is_open_ahead(node: Node) -> None:
    """Accept an envelope from any time ahead."""
    _window(node, WINDOW_SECONDS, 2**256)


@mutant("ENV-250", "ENV-290")
def window_takes_nothing_from_ahead(node: Node) -> None:
    """Refuse an envelope from more than two seconds ahead."""
    _window(node, WINDOW_SECONDS, 2)


@mutant("ENV-260", each=[row("behind", 20, 0, also="ENV-280")], also="BILL-240")
def window_is_wider(node: Node, before: int, after: int) -> None:
    """Accept envelopes up to 20 s beyond one bound of the window; the label says which."""
    _window(node, WINDOW_SECONDS + before, WINDOW_SECONDS + after)


@mutant("ENV-250", each=[row("behind", 20, 0, also="ENV-270"), row("ahead", 0, 20, also="ENV-290")])
def window_is_narrower(node: Node, before: int, after: int) -> None:
    """Refuse envelopes up to 20 s within one bound of the window; the label says which."""
    _window(node, WINDOW_SECONDS - before, WINDOW_SECONDS - after)


@mutant("ENV-280", "BILL-240")
def window_ends_a_second_late(node: Node) -> None:
    """Accept an envelope that is 301 s old."""
    _window(node, WINDOW_SECONDS + 1, WINDOW_SECONDS)


@mutant("ENV-300", "BILL-240")
def window_begins_a_second_early(node: Node) -> None:
    """Accept an envelope from 301 s ahead."""
    _window(node, WINDOW_SECONDS, WINDOW_SECONDS + 1)


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
