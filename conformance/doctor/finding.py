"""What the doctor finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """How a thing stands."""

    WELL = "ok"
    WRONG = "wrong"
    DOUBTFUL = "look"
    """It may be as it should."""
    NOT_TRIED = "not tried"


@dataclass(frozen=True)
class Finding:
    """One thing that a run needs."""

    check: str
    state: State
    found: str
    mend: str = ""
    """What to do about it."""
    ends_run: bool = False
    """Whether no case could tell anything about the node."""
