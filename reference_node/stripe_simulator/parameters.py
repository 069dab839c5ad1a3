"""Reads parameters, and refuses unknown names and values of the wrong type as Stripe does."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from reference_node.strict_json import Json
from reference_node.stripe_simulator.errors import Object, StripeError
from reference_node.stripe_simulator.form import FormValue

METADATA_KEYS = 50
METADATA_KEY_LENGTH = 40
METADATA_VALUE_LENGTH = 500
INTEGER_DIGITS = 15
"""More digits than any amount or time has, and few enough for every client's numbers."""


class Kind(Protocol):
    """A type of parameter."""

    def read(self, name: str, value: FormValue) -> Json:
        """The value of the parameter of this name; `None` unsets it. Raises `StripeError`."""


@dataclass(frozen=True)
class Text:
    """A string with a maximum length. With `unsets`, an empty one removes the member's value."""

    limit: int = 5000
    unsets: bool = True

    def read(self, name: str, value: FormValue) -> Json:
        """The string."""
        if not isinstance(value, str):
            raise StripeError(400, f"Invalid string: {name} has members", param=name)
        if not value and self.unsets:
            return None
        if not value:
            raise _empty(name)
        if len(value) > self.limit:
            message = f"Invalid string: {value[:20]}…; must be at most {self.limit} characters"
            raise StripeError(400, message, code="parameter_invalid_string_length", param=name)
        return value


@dataclass(frozen=True)
class Integer:
    """A whole number in decimal digits."""

    least: int | None = None
    most: int | None = None

    def read(self, name: str, value: FormValue) -> Json:
        """The number."""
        if value == "":
            raise _empty(name)
        if not isinstance(value, str) or not re.fullmatch(rf"[+-]?[0-9]{{1,{INTEGER_DIGITS}}}", value):
            shown = value if isinstance(value, str) else "an object"
            raise StripeError(400, f"Invalid integer: {shown}", code="parameter_invalid_integer", param=name)
        number = int(value)
        if self.least is not None and number < self.least:
            bound = f"greater than or equal to {self.least}"
        elif self.most is not None and number > self.most:
            bound = f"less than or equal to {self.most}"
        else:
            return number
        raise StripeError(400, f"This value must be {bound}.", code="parameter_invalid_integer", param=name)


@dataclass(frozen=True)
class Boolean:
    """`true` or `false`."""

    def read(self, name: str, value: FormValue) -> Json:
        """The boolean."""
        if value == "":
            raise _empty(name)
        if value not in ("true", "false"):
            shown = value if isinstance(value, str) else "an object"
            raise StripeError(400, f"Invalid boolean: {shown}", param=name)
        return value == "true"


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    words: Sequence[str]

    def read(self, name: str, value: FormValue) -> Json:
        """The word."""
        if value == "":
            raise _empty(name)
        if not isinstance(value, str) or value not in self.words:
            last = re.sub(r".*\[|\]", "", name)
            message = f"Invalid {last}: must be one of {', '.join(self.words[:-1])}, or {self.words[-1]}"
            raise StripeError(400, message, param=name)
        return value


@dataclass(frozen=True)
class Texts:
    """A list of strings."""

    def read(self, name: str, value: FormValue) -> Json:
        """The list."""
        if value == "":
            return []
        if isinstance(value, str) or not all(re.fullmatch(r"[0-9]{1,4}", key) for key in value):
            raise StripeError(400, "Invalid array", param=name)
        return [Text(unsets=False).read(f"{name}[{key}]", value[key]) for key in sorted(value, key=int)]


@dataclass(frozen=True)
class Metadata:
    """Up to 50 pairs of text. An empty value removes its key; an empty string in place of the pairs removes all."""

    def read(self, name: str, value: FormValue) -> Json:
        """The changes: text by key, `None` for those to remove; `None` alone removes all."""
        if value == "":
            return None
        if isinstance(value, str):
            raise StripeError(400, "Invalid object", param=name)
        return {key: self._value(f"{name}[{key}]", key, text) for key, text in value.items()}

    def _value(self, name: str, key: str, value: FormValue) -> Json:
        if not isinstance(value, str):
            message = f"Metadata values must be strings, but for key '{key}' you passed in a value of type object"
            raise StripeError(400, message, param=name)
        if len(key) > METADATA_KEY_LENGTH:
            limit = f"Metadata keys can be at most {METADATA_KEY_LENGTH} characters"
            raise StripeError(400, limit, param=name)
        if len(value) > METADATA_VALUE_LENGTH:
            limit = f"Metadata values can have up to {METADATA_VALUE_LENGTH} characters, but you passed in {len(value)}"
            raise StripeError(400, limit, param=name)
        return value or None


@dataclass(frozen=True)
class Nested:
    """An object with members of its own."""

    members: Mapping[str, Kind]
    required: Sequence[str] = ()

    def read(self, name: str, value: FormValue) -> Json:
        """The object."""
        if value == "":
            raise _empty(name)
        if isinstance(value, str):
            raise StripeError(400, "Invalid object", param=name)
        return read_members(self.members, self.required, value, name)


def read_members(
    known: Mapping[str, Kind], required: Sequence[str], given: Mapping[str, FormValue], inside: str = ""
) -> Object:
    """The values of the parameters on one level. Raises `StripeError`."""
    unknown = [_nested(inside, name) for name in given if name not in known]
    if unknown:
        raise StripeError(
            400,
            f"Received unknown parameter{'s' if len(unknown) > 1 else ''}: {', '.join(unknown)}",
            code="parameter_unknown",
            param=unknown[0],
        )
    for name in required:
        if name not in given:
            full = _nested(inside, name)
            raise StripeError(400, f"Missing required param: {full}.", code="parameter_missing", param=full)
    return {name: known[name].read(_nested(inside, name), value) for name, value in given.items()}


def _nested(inside: str, name: str) -> str:
    return f"{inside}[{name}]" if inside else name


def _empty(name: str) -> StripeError:
    return StripeError(
        400,
        f"You passed an empty string for '{name}'. We assume empty values are an attempt to unset a parameter; however "
        f"'{name}' cannot be unset. You should remove '{name}' from your request or supply a non-empty value.",
        code="parameter_invalid_empty",
        param=name,
    )


@dataclass(frozen=True, slots=True)
class Values:
    """The parameter values of a request."""

    members: Object

    def __contains__(self, name: str) -> bool:
        return name in self.members

    def text(self, name: str) -> str | None:
        """A string; `None` where there is none or it is unset."""
        value = self.members.get(name)
        return value if isinstance(value, str) else None

    def integer(self, name: str) -> int | None:
        """A number."""
        value = self.members.get(name)
        return value if isinstance(value, int) else None

    def flag(self, name: str) -> bool:
        """A boolean; false where it is not given."""
        return self.members.get(name) is True

    def texts(self, name: str) -> list[str]:
        """A list of strings; empty where it is not given."""
        value = self.members.get(name)
        return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []

    def nested(self, name: str) -> Values | None:
        """The values inside an object."""
        value = self.members.get(name)
        return Values(value) if isinstance(value, dict) else None

    def change(self, metadata: dict[str, str]) -> dict[str, str]:
        """The metadata after the request. Raises `StripeError` for too many keys."""
        if "metadata" not in self.members:
            return metadata
        given = self.members["metadata"]
        changes = given if isinstance(given, dict) else dict.fromkeys(metadata)
        changed = {key: text for key, text in metadata.items() if key not in changes}
        changed |= {key: text for key, text in changes.items() if isinstance(text, str)}
        if len(changed) > METADATA_KEYS:
            message = f"You can only have up to {METADATA_KEYS} metadata keys, and this would make {len(changed)}"
            raise StripeError(400, message, param="metadata")
        return changed
