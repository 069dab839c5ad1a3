"""The observations of a survey."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue


@dataclass(frozen=True)
class Observation:
    """The value of a profile key, and the answer of the node that shows it."""

    value: JsonValue
    how: str
    """The request and its answer, in a few words."""


class Notes:
    """Observations by profile key, and why other keys could not be observed."""

    def __init__(self) -> None:
        self.seen: dict[str, Observation] = {}
        self.unclear: dict[str, str] = {}
        """Why a key's value could not be observed, for keys that were tried."""

    def see(self, key: str, value: JsonValue, how: str) -> None:
        """Note that the node shows this value. Where an earlier one differs, neither is kept."""
        before = self.seen.get(key)
        if before is not None and before.value != value:
            del self.seen[key]
            self.doubt(key, f"{before.how}: {before.value!r}; but {how}: {value!r}")
        elif key not in self.unclear:
            self.seen[key] = Observation(value, how)

    def doubt(self, key: str, why: str) -> None:
        """Note why the value of a key could not be observed."""
        self.unclear[key] = why

    def value(self, key: str, otherwise: str) -> str:
        """The text observed for a key, or `otherwise` where none was."""
        seen = self.seen.get(key)
        return seen.value if seen is not None and isinstance(seen.value, str) else otherwise
