"""Keys in every form that nodes write them in."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.endpoints.redaction import Secrets
from conformance.values.key_text import key_bytes, key_like

FORMS: dict[str, Callable[[bytes], str]] = {
    "base64": lambda raw: base64.b64encode(raw).decode(),
    "base64 without padding": lambda raw: base64.b64encode(raw).decode().rstrip("="),
    "base64url": lambda raw: base64.urlsafe_b64encode(raw).decode(),
    "base64url without padding": lambda raw: base64.urlsafe_b64encode(raw).decode().rstrip("="),
    "hex": bytes.hex,
    "hex in capitals": lambda raw: raw.hex().upper(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@given(raw=st.binary(min_size=32, max_size=32))
def test_key_stands_for_its_bytes(form: Callable[[bytes], str], raw: bytes) -> None:
    assert key_bytes(form(raw)) == raw


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_other_key_has_the_form_of_the_first(form: Callable[[bytes], str]) -> None:
    first, other = bytes([0xFB, 0xEF, 0xFF, *range(0xC0, 0xDD)]), bytes([0xFB, 0xEF, 0xFE, *range(0xA0, 0xBD)])
    assert key_like(form(first), other) == form(other)


@pytest.mark.parametrize("text", ["not a key", "=", "AAAAA", "ключ", "0x!!", "AAAA=AAAA"])
def test_other_text_is_no_key(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - there is one reason for it
        key_bytes(text)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_key_is_hidden_in_every_form(form: Callable[[bytes], str]) -> None:
    raw = bytes(range(32))
    secrets = Secrets()
    secrets.learn(form(raw))
    for spelling in FORMS.values():
        assert secrets.hide(f"see {spelling(raw)}.") in {"see $API_KEY_1.", "see $API_KEY_1=."}
