"""What tells that keys are random, and that an answer holds one."""

from __future__ import annotations

import pytest

from conformance.service.secrecy import distinct_bytes, mark_of, shared_prefix


@pytest.mark.parametrize(("texts", "length"), [(["abc", "abd"], 2), (["abc", "x"], 0), (["ab", "abc"], 2)])
def test_shared_prefix_is_the_longest(texts: list[str], length: int) -> None:
    assert shared_prefix(texts) == shared_prefix([text.encode() for text in texts]) == length


@pytest.mark.parametrize(
    ("keys", "mark"),
    [(["sk_live_abc", "sk_live_abd"], "sk_live_"), (["abc", "abd"], ""), (["uk-1.x", "uk-2.x"], "uk-")],
)
def test_mark_of_keys_ends_at_a_separator(keys: list[str], mark: str) -> None:
    assert mark_of(keys) == mark


def test_distinct_bytes_counts_over_all_secrets() -> None:
    assert distinct_bytes([b"\0\1", b"\1\2"]) == 3
