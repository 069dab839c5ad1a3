"""What packs need to see that a key is secret: that no answer discloses it, and that it is random.

Specification, "Resources and their fields": a key value is returned once, and encodes a random secret.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from itertools import takewhile
from urllib.parse import quote

from pydantic import JsonValue

from conformance.language.functions import function
from conformance.language.matchers import Difference, Matcher
from conformance.language.operators import named
from conformance.language.scope import Scope
from conformance.language.templates import CompileContext, compile_value
from conformance.problems import Mismatch
from conformance.values.json_values import printed
from conformance.values.key_text import key_bytes

SHORTEST_SPELLING = 16
"""Of a key; anything shorter stands in many an answer by chance."""


def _spellings(text: str) -> list[str]:
    forms = {text, text.rstrip("="), quote(text, safe=""), text.replace("/", "\\/")}
    try:
        raw = key_bytes(text)
    except ValueError:
        raw = b""
    forms |= {raw.hex(), raw.hex().upper()}
    forms |= {encode(raw).decode().rstrip("=") for encode in (base64.b64encode, base64.urlsafe_b64encode)}
    forms |= {form[::-1] for form in forms}
    return sorted(form for form in forms if len(form) >= SHORTEST_SPELLING)


@function
def encode_base64(_: Scope, text: object) -> str:
    """The bytes that the hex text stands for, in standard base64 with padding."""
    return base64.b64encode(_bytes(text)).decode()


@function
def common_prefix(_: Scope, *texts: object) -> str:
    """The longest text with which all of these texts begin; they may come in one array."""
    columns = zip(*(printed(text) for text in _flat(texts)), strict=False)
    return "".join(column[0] for column in takewhile(lambda column: len(set(column)) == 1, columns))


@function
def distinct_bytes(_: Scope, *texts: object) -> int:
    """How many different bytes the hex texts hold together; they may come in one array."""
    return len({byte for text in _flat(texts) for byte in _bytes(text)})


def _flat(values: Iterable[object]) -> list[object]:
    return [item for value in values for item in (value if isinstance(value, list) else [value])]


def _bytes(text: object) -> bytes:
    try:
        return bytes.fromhex(printed(text).removeprefix("0x"))
    except ValueError:
        raise Mismatch("hex digits", printed(text)) from None


@named("hides")
def hides(raw: JsonValue, context: CompileContext) -> Matcher:
    """A value in which this key stands nowhere, in no spelling."""
    template = compile_value(raw, context)

    def match(value: object, scope: Scope) -> Difference | None:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        spellings = _spellings(printed(template(scope)))
        if not spellings:
            return Difference("a key of some length to look for", template(scope))
        disclosed = [spelling for spelling in spellings if spelling in text]
        return Difference("nothing that discloses the key", value) if disclosed else None

    return match
