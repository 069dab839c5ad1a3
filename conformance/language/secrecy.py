"""What packs need to see that a key is secret: that no answer discloses it, and that it is random.

Specification, "Resources and their fields": a key value is returned once, and encodes a random secret.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from itertools import takewhile

from pydantic import JsonValue

from conformance.language.functions import function
from conformance.language.matchers import Difference, Matcher
from conformance.language.operators import named
from conformance.language.scope import Scope
from conformance.language.templates import CompileContext, compile_value
from conformance.problems import Mismatch
from conformance.service.secrecy import spellings
from conformance.values.json_values import printed


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
        forms = spellings(printed(template(scope)))
        if not forms:
            return Difference("a key of some length to look for", template(scope))
        return Difference("nothing that discloses the key", value) if any(form in text for form in forms) else None

    return match
