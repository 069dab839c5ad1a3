"""Tests for what packs use to see that a key is secret and random."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from conformance.language.functions import flip_key_bit
from conformance.language.matchers import Matcher
from conformance.language.scope import Scope
from conformance.language.templates import CompileContext
from conformance.language.vocabulary import standard
from conformance.language.wire_forms import hides
from conformance.problems import Mismatch
from conformance.service.secrecy import distinct_bytes, mark_of, shared_prefix
from conformance.values.marked_yaml import Document

SECRET = bytes(range(221, 253))
KEY = base64.b64encode(SECRET).decode()


@pytest.fixture
def scope() -> Scope:
    return Scope("seed", lambda _: None, {})


@pytest.fixture
def hides_key(tmp_path: Path) -> Matcher:
    path = tmp_path / "pack.yaml"
    path.write_text("pack: pack\n")
    return hides(KEY, CompileContext(Document(path), standard()))


@pytest.mark.parametrize(
    "spelling",
    [
        KEY,
        KEY.rstrip("="),
        KEY[::-1],
        base64.urlsafe_b64encode(SECRET).decode(),
        SECRET.hex(),
        f"0x{SECRET.hex().upper()}",
        KEY.replace("/", "%2F").replace("+", "%2B").replace("=", "%3D"),
    ],
)
def test_hides_finds_every_spelling(hides_key: Matcher, scope: Scope, spelling: str) -> None:
    assert hides_key(f"text with {spelling} in it", scope) is not None
    assert hides_key([{"name": spelling}], scope) is not None


def test_hides_finds_a_key_with_escaped_slashes_in_a_raw_body(hides_key: Matcher, scope: Scope) -> None:
    escaped = KEY.replace("/", "\\/")
    assert hides_key(f'["{escaped}"]', scope) is not None


@pytest.mark.parametrize("value", ["", "text", {"api_key_hash": "0x" + "ab" * 32}, KEY[:20], None])
def test_hides_holds_where_the_key_is_not(hides_key: Matcher, scope: Scope, value: object) -> None:
    assert hides_key(value, scope) is None


def test_hides_departs_for_a_key_too_short_to_look_for(tmp_path: Path, scope: Scope) -> None:
    path = tmp_path / "pack.yaml"
    path.write_text("pack: pack\n")
    assert hides("", CompileContext(Document(path), standard()))("anything", scope) is not None


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


@pytest.mark.parametrize(("index", "changed"), [(0, 0), (15, 15), (-1, 31)])
def test_flip_key_bit_changes_one_bit_of_one_byte(scope: Scope, index: int, changed: int) -> None:
    flipped = base64.b64decode(flip_key_bit(scope, KEY, index))  # type: ignore[arg-type]  # functions answer object
    differing = [(place, byte ^ SECRET[place]) for place, byte in enumerate(flipped) if byte != SECRET[place]]
    assert differing == [(changed, 1)]


def test_flip_key_bit_departs_outside_the_key(scope: Scope) -> None:
    with pytest.raises(Mismatch):
        flip_key_bit(scope, KEY, 32)
