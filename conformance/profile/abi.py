"""Function signatures as a profile writes them: `name(type name, …) returns (type name, …)`, structs as tuples."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import AfterValidator

_ELEMENTARY = re.compile(
    r"(u?int(8|16|24|32|40|48|56|64|128|160|192|256)|address|bool|string|bytes([1-9]|[12]\d|3[0-2])?)"
)
LONGEST = 4_000
"""Characters of a signature, ten times those of the longest that the suite knows."""
DEEPEST = 16
"""Tuples inside one another."""
SHOWN = 60
"""Characters of a signature that an error shows, around the place of the fault."""
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Parameter:
    """One argument, result or struct member."""

    type: str
    """As ABI encoders take it; a struct is a tuple, for example ``(uint64,string)[]``."""
    name: str
    """Empty when the signature gives none."""
    members: tuple[Parameter, ...] = ()
    """The members, when the type is a tuple or an array of tuples."""


@dataclass(frozen=True)
class Function:
    """A contract function."""

    name: str
    inputs: tuple[Parameter, ...]
    outputs: tuple[Parameter, ...]

    @property
    def canonical(self) -> str:
        """The text whose keccak256 begins with the selector: ``getAccount(uint256)``."""
        return f"{self.name}({','.join(parameter.type for parameter in self.inputs)})"

    @classmethod
    def parse(cls, signature: str) -> Self:
        """Parse a signature. Raises ValueError with the fault and its column."""
        if len(signature) > LONGEST:
            raise ValueError(f"a function signature has up to {LONGEST} characters, this one {len(signature)}")
        reader = _Reader(signature)
        name = reader.word("a function name")
        inputs = reader.parameters()
        outputs: tuple[Parameter, ...] = ()
        if reader.take("returns"):
            outputs = reader.parameters()
        if reader.rest():
            raise reader.error("the end, or `returns (…)`")
        return cls(name, inputs, outputs)


class _Reader:
    """A recursive-descent parser of one signature."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def rest(self) -> str:
        self._at += len(self._text[self._at :]) - len(self._text[self._at :].lstrip())
        return self._text[self._at :]

    def error(self, wanted: str) -> ValueError:
        begin = max(0, self._at - SHOWN // 2)
        around = self._text[begin : begin + SHOWN]
        shown = f"{'…' if begin else ''}{around}{'…' if begin + SHOWN < len(self._text) else ''}"
        return ValueError(f"expected {wanted} at column {self._at + 1} of {shown!r}")

    def take(self, token: str) -> bool:
        if not self.rest().startswith(token):
            return False
        self._at += len(token)
        return True

    def _match(self, pattern: re.Pattern[str], wanted: str) -> str:
        match = pattern.match(self.rest())
        if match is None:
            raise self.error(wanted)
        self._at += match.end()
        return match.group()

    def word(self, wanted: str) -> str:
        return self._match(_WORD, wanted)

    def parameters(self, depth: int = 0) -> tuple[Parameter, ...]:
        if depth > DEEPEST:
            raise self.error(f"no more than {DEEPEST} tuples inside one another")
        if not self.take("("):
            raise self.error("`(`")
        if self.take(")"):
            return ()
        parameters = [self._parameter(depth)]
        while self.take(","):
            parameters.append(self._parameter(depth))
        if not self.take(")"):
            raise self.error("`,` or `)`")
        return tuple(parameters)

    def _parameter(self, depth: int) -> Parameter:
        members: tuple[Parameter, ...] = ()
        if self.rest().startswith("("):
            members = self.parameters(depth + 1)
            base = f"({','.join(member.type for member in members)})"
        else:
            start = self._at
            base = self.word("a type")
            if _ELEMENTARY.fullmatch(base) is None:
                self._at = start
                raise self.error("a type such as uint256, address, bytes32, string, bool or a tuple")
        suffix = self._match(re.compile(r"(\[\d*\])*"), "a type")
        name = _WORD.match(self.rest())
        return Parameter(base + suffix, self.word("a name") if name else "", members)


def _parsable(signature: str) -> str:
    Function.parse(signature)
    return signature


Signature = Annotated[str, AfterValidator(_parsable)]
"""The text of a function signature, known to parse."""
