"""Form-encoded parameters with nested names, as Stripe's API takes them: `a[b]=1`, `a[]=1`, `a[0][b]=1`."""

from __future__ import annotations

import re
from typing import TypeAlias
from urllib.parse import parse_qsl

from reference_node.stripe_simulator.errors import StripeError

FormValue: TypeAlias = "str | dict[str, FormValue]"

FIELD_LIMIT = 1000
DEPTH_LIMIT = 16

_NAME = re.compile(r"([^\[\]]+)((?:\[[^\[\]]*\])*)", re.DOTALL)


def parse_form(text: bytes) -> dict[str, FormValue]:
    """The parameters in a query or a body; lists are dicts with the positions as their keys. Raises `StripeError`."""
    try:
        fields = parse_qsl(
            text.decode("ascii"),
            keep_blank_values=True,
            strict_parsing=bool(text),
            errors="strict",
            max_num_fields=FIELD_LIMIT,
        )
    except ValueError:  # UnicodeDecodeError as well
        raise StripeError(
            400, f"Invalid form: send at most {FIELD_LIMIT} parameters as name=value in URL-encoded UTF-8"
        ) from None
    parameters: dict[str, FormValue] = {}
    for name, value in fields:
        _insert(parameters, name, value)
    return parameters


def _insert(parameters: dict[str, FormValue], name: str, value: str) -> None:
    matched = _NAME.fullmatch(name)
    if matched is None:
        raise StripeError(400, f"Invalid parameter name: {name}", param=name)
    keys = [matched[1], *matched[2][1:-1].split("][")] if matched[2] else [matched[1]]
    if len(keys) > DEPTH_LIMIT:
        raise StripeError(400, f"Invalid parameter name: {name} is nested too deeply", param=name)
    at = parameters
    for key in keys[:-1]:
        inner = at.setdefault(key or str(len(at)), {})
        if isinstance(inner, str):
            raise _conflict(name)
        at = inner
    last = keys[-1] or str(len(at))
    if last in at:
        raise _conflict(name)
    at[last] = value


def _conflict(name: str) -> StripeError:
    return StripeError(400, f"Received more than one value for the parameter: {name}", param=name)
