"""The findings of the doctor."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """The state of what was checked."""

    WELL = "ok"
    WRONG = "wrong"
    DOUBTFUL = "look"
    """It may be right: somebody should look at it."""
    NOT_TRIED = "not tried"


@dataclass(frozen=True)
class Finding:
    """The result of one check."""

    check: str
    state: State
    found: str
    mend: str = ""
    """What to do about it."""
    ends_run: bool = False
    """Whether the run has to end, because no case could judge the node."""
