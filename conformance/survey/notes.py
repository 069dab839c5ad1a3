"""The observations of a survey."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from pydantic import JsonValue

from conformance.problems import StepProblem
from conformance.survey.described import DescribedApi

COMMANDS = "restart."
"""How the keys begin that hold programs for the suite to run: their vendor alone may state them."""


@dataclass(frozen=True)
class Observation:
    """An observed value of a profile key, with the answer that shows it."""

    value: JsonValue
    how: str
    """A short description of the request and its answer."""


class Notes:
    """Observations by profile key, and reasons why other keys could not be observed."""

    def __init__(self, stated: Mapping[str, JsonValue] | None = None) -> None:
        """Begin with what a vendor states, by profile key: no observation changes it."""
        self.seen = {key: Observation(value, "stated") for key, value in (stated or {}).items()}
        self.stated = frozenset(self.seen)
        self.contradicted: dict[str, None] = {}
        """The stated keys of which an answer shows another value."""
        self.unclear: dict[str, str] = {}
        """For each key that was tried in vain, the reason."""
        self.api: DescribedApi | None = None
        """What the node's OpenAPI description says; None where it has none."""
        self.cut_short: dict[str, str] = {}
        """The parts of the survey that met no answer, with the reason."""

    @contextmanager
    def whole(self, part: str) -> Iterator[None]:
        """Keep what the block observes if it comes to its end: half of a list would state what is not so."""
        seen, unclear = dict(self.seen), dict(self.unclear)
        try:
            yield
        except StepProblem as problem:
            self.seen, self.unclear = seen, unclear
            self.cut_short[part] = f"{problem.cause}: {problem.got}"

    def see(self, key: str, value: JsonValue, how: str) -> None:
        """Note an observed value. If it contradicts an earlier one, drop both, unless that is stated."""
        if key.startswith(COMMANDS):
            raise ValueError(f"no answer of a node may set {key}")
        before = self.seen.get(key)
        if before is not None and key in self.stated:
            if before.value != value:
                self.contradicted[key] = None
                self.seen[key] = Observation(before.value, f"stated; the node shows {value!r}: {how}")
        elif before is not None and before.value != value:
            del self.seen[key]
            self.doubt(key, f"{before.how}: {before.value!r}; but {how}: {value!r}")
        elif key not in self.unclear:
            self.seen[key] = Observation(value, how)

    def also(self, key: str, value: JsonValue, how: str) -> None:
        """Note another entry of a list, some of whose entries may have been observed before."""
        before = self.seen.get(key)
        known = before.value if before is not None and isinstance(before.value, list) else []
        if key in self.stated or value in known:
            return
        if before is not None:
            self.seen[key] = Observation([*known, value], f"{before.how}; {how}")
        else:
            self.see(key, [value], how)

    def doubt(self, key: str, why: str) -> None:
        """Note why the value of a key could not be observed."""
        self.unclear[key] = why

    def value(self, key: str, otherwise: str) -> str:
        """The text observed for a key, or `otherwise` where none was."""
        seen = self.seen.get(key)
        return seen.value if seen is not None and isinstance(seen.value, str) else otherwise
