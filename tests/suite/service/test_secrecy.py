"""What tells that keys are random, and that an answer holds one."""

from __future__ import annotations

import httpx
import pytest

from conformance.endpoints.messages import Answer
from conformance.problems import Mismatch
from conformance.service.secrecy import distinct_bytes, mark_of, must_hide, shared_prefix

KEY = "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA="


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


@pytest.mark.parametrize(
    ("body", "headers", "place"),
    [
        ('[{"name": "a"}, {"held": {"key": "KEY"}}]', {}, '.[1]["held"]["key"] of the body'),
        ('{"KEY": 1}', {}, "a part of the body"),
        ("no JSON: KEY", {}, "a part of the body"),
        ("{}", {"x-key": "KEY"}, "the header x-key"),
    ],
)
def test_key_in_an_answer_is_told_with_its_place(body: str, headers: dict[str, str], place: str) -> None:
    given = {name: value.replace("KEY", KEY) for name, value in headers.items()}
    answer = Answer(200, httpx.Headers(given), body.replace("KEY", KEY), exchange=7)
    with pytest.raises(Mismatch) as told:
        must_hide(answer, KEY, "the account key")
    assert (told.value.got, told.value.exchange) == (f"the account key in {place}", 7)
    must_hide(answer, f"{'A' * 43}=", "another key")
