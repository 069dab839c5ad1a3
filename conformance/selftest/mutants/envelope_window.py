"""Faults about the window of signed envelopes ("Authentication" 6)."""

from __future__ import annotations

from conformance.selftest.tools.alter import silence, wrap
from conformance.selftest.tools.alter_envelopes import Check, refuse, replace_check
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node
from reference_node.typed_data import WINDOW_SECONDS


def _window(node: Node, before: int, after: int, divisor: int = 1) -> None:
    """A window of other widths."""

    def check(issued_at: int, now: int) -> None:
        if not now - before <= issued_at // divisor <= now + after:
            raise refuse("typed-data-expired")

    replace_check(node, "check_window", check)


@mutant("ENV-260", "ENV-280", "ENV-300")
def window_is_not_checked(node: Node) -> None:
    """An envelope is good for ever."""
    silence(node.envelopes, "check_window")


@mutant("ENV-260", "ENV-300")
def window_is_open_ahead(node: Node) -> None:
    """An envelope from the future is good, however far ahead."""
    _window(node, WINDOW_SECONDS, 2**256)


@mutant("ENV-260", "ENV-280")
def window_is_open_behind(node: Node) -> None:
    """An old envelope is good, however old."""
    _window(node, 2**256, WINDOW_SECONDS)


@mutant("ENV-250", "ENV-290")
def window_takes_nothing_from_ahead(node: Node) -> None:
    """A clock that is ahead of the node's is no excuse."""
    _window(node, WINDOW_SECONDS, 2)


@mutant("ENV-270")
def window_ends_a_second_early(node: Node) -> None:
    """300 s ago is too old."""
    _window(node, WINDOW_SECONDS - 1, WINDOW_SECONDS)


@mutant("ENV-280")
def window_ends_a_second_late(node: Node) -> None:
    """301 s ago is not yet too old."""
    _window(node, WINDOW_SECONDS + 1, WINDOW_SECONDS)


@mutant("ENV-290")
def window_begins_a_second_late(node: Node) -> None:
    """300 s ahead is too early."""
    _window(node, WINDOW_SECONDS, WINDOW_SECONDS - 1)


@mutant("ENV-300")
def window_begins_a_second_early(node: Node) -> None:
    """301 s ahead is not yet too early."""
    _window(node, WINDOW_SECONDS, WINDOW_SECONDS + 1)


@mutant("ENV-010", "ENV-230")
def time_is_in_milliseconds(node: Node) -> None:
    """`issuedAt` counts milliseconds."""
    _window(node, WINDOW_SECONDS, WINDOW_SECONDS, 1000)


@mutant("ENV-260")
def milliseconds_are_good_too(node: Node) -> None:
    """An `issuedAt` in milliseconds is taken as one in seconds."""

    def check(original: Check, issued_at: int, now: int) -> None:
        original(issued_at // 1000 if issued_at > 10**11 else issued_at, now)

    wrap(node.envelopes, "check_window", check)


@mutant("ENV-280")
def window_counts_in_minutes(node: Node) -> None:
    """Seconds are rounded to minutes before they are compared."""

    def check(issued_at: int, now: int) -> None:
        if abs((now - issued_at) // 60) > WINDOW_SECONDS // 60:
            raise refuse("typed-data-expired")

    replace_check(node, "check_window", check)
