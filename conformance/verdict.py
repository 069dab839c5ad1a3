"""The five verdicts of a case, and the record that a case leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Verdict(StrEnum):
    """What is known about a case after it ran."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    NOT_OFFERED = "not offered"
    """The profile does not claim what the case needs."""
    KNOWN = "known"
    """It failed, and the vendor listed it with a reason and a link."""
    INCONCLUSIVE = "inconclusive"
    """Set-up or network failed, so that nothing was learnt about the requirement."""


NOT_APPLICABLE = "not-applicable"
"""The ``problem`` of a case that is not offered because the profile answers otherwise than the case is for."""


@dataclass(frozen=True)
class Exchange:
    """One HTTP request and its answer, redacted: no credential is in any of its fields."""

    method: str
    url: str
    request_headers: dict[str, str]
    request_body: str | None
    status: int | None
    """None when no answer came."""
    response_headers: dict[str, str]
    response_body: str
    seconds: float
    curl: str
    """The request as a shell command, the credential replaced by a shell variable."""


@dataclass(frozen=True)
class Failure:
    """Where a case departed from the specification."""

    step: str
    """The step as the pack names it, for example ``steps[3] call list_groups (lists-while-alive)``."""
    expected: str
    got: str
    exchange: Exchange | None = None


@dataclass(frozen=True)
class Outcome:
    """The record of one case."""

    case: str
    """``pack::case`` or ``pack::case[row]``; what ``--case`` takes to run it alone."""
    title: str
    requirements: tuple[str, ...]
    verdict: Verdict
    reason: str = ""
    """One sentence for every verdict but pass."""
    failure: Failure | None = None
    exchanges: int = 0
    """How many HTTP requests the case sent."""
    seconds: float = 0.0
    properties: dict[str, str] = field(default_factory=dict)
