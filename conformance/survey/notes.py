"""What a survey has seen of a node."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue


@dataclass(frozen=True)
class Observation:
    """The value of a key, as an answer of the node shows it."""

    value: JsonValue
    how: str
    """The request and what it answered, in a few words."""


class Notes:
    """Observations by the keys of the profile, and what stood in their way."""

    def __init__(self) -> None:
        self.seen: dict[str, Observation] = {}
        self.unclear: dict[str, str] = {}
        """Why a key could not be told, where more is to say than that nobody looked."""

    def see(self, key: str, value: JsonValue, how: str) -> None:
        """The node shows this value. Two values that contradict each other are none."""
        before = self.seen.get(key)
        if before is not None and before.value != value:
            del self.seen[key]
            self.doubt(key, f"{before.how}: {before.value!r}; but {how}: {value!r}")
        elif key not in self.unclear:
            self.seen[key] = Observation(value, how)

    def doubt(self, key: str, why: str) -> None:
        """It cannot be told."""
        self.unclear[key] = why

    def value(self, key: str, otherwise: str) -> str:
        """The text seen for a key, or another where none was seen."""
        seen = self.seen.get(key)
        return seen.value if seen is not None and isinstance(seen.value, str) else otherwise
