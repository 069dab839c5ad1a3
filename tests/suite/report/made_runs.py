"""Runs as the report gets them, made up."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TypedDict, Unpack

from rich.console import Console

from conformance.profile import Profile
from conformance.report import Results, RunRecord, results_of, show
from conformance.requirements import Catalogue, Uncovered
from conformance.verdict import Exchange, Failure, Outcome, Verdict

ENTRY = {"section": "Limits", "text": "The node counts."}
KNOWN = Catalogue.model_validate(
    {
        "requirements": [
            {"id": "A-010", "level": "must", **ENTRY},
            {"id": "A-020", "level": "should", **ENTRY},
            {"id": "A-030", "level": "must", **ENTRY},
            {"id": "B-010", "level": "must", **ENTRY},
            {"id": "B-020", "level": "may", **ENTRY},
        ],
        "tensions": [],
        "restatements": {"A-030": ["A-010", "A-020"]},
    }
)
LISTED = Uncovered.model_validate(
    {
        "not_yet": [{"reason": "needs a run", "ids": ["B-010"]}],
        "partly": [{"missing": "the run", "ids": ["A-020"]}],
    }
)
NOTHING_LISTED = Uncovered()
CHECKS = {"A-010": ("p::a", "p::b"), "A-020": ("p::b",)}
EXCHANGE = Exchange("GET", "http://n/x", {"X-Api-Key": "$KEY"}, None, 200, {}, "[]", 0.1, "curl http://n/x")


class Fields(TypedDict, total=False):
    seed: str
    base_url: str
    bundled: bool
    rerun: tuple[str, ...]
    faults: tuple[str, ...]
    interrupted: str
    checks: dict[str, tuple[str, ...]]
    profile: Profile
    quick: bool
    selected: tuple[str, ...]
    started: datetime


def outcome(case: str, verdict: Verdict, *requirements: str, problem: str = "") -> Outcome:
    failed = verdict in {Verdict.FAIL, Verdict.KNOWN}
    return Outcome(
        case=case,
        title=f"Title of {case}",
        requirements=requirements,
        verdict=verdict,
        reason="" if verdict is Verdict.PASS else f"reason of {case}",
        failure=Failure("steps[1] call x", "a [b] list", "nothing", EXCHANGE) if failed else None,
        exchanges=3,
        seconds=0.5,
        properties={"problem": problem} if problem else {},
    )


def record(*outcomes: Outcome, **fields: Unpack[Fields]) -> RunRecord:
    given: Fields = {
        "seed": "7",
        "base_url": "http://n",
        "bundled": False,
        "checks": dict(CHECKS),
        "profile": Profile(),
        "started": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        **fields,
    }
    finished = datetime(2026, 1, 2, 3, 5, 5, tzinfo=UTC)
    return RunRecord(profile_source="node.yaml", finished=finished, outcomes=outcomes, **given)


PASSED = outcome("p::a", Verdict.PASS, "A-010")
FAILED = outcome("p::b", Verdict.FAIL, "A-010", "A-020")
UNSURE = outcome("p::b", Verdict.INCONCLUSIVE, "A-020")


def results(*outcomes: Outcome, **fields: Unpack[Fields]) -> Results:
    """The results of a run that judges the statements of `KNOWN`."""
    return results_of(record(*outcomes, **fields), KNOWN, LISTED)


def terminal(shown: Results, told: Sequence[str] = (), width: int = 140) -> str:
    """What a run says on the terminal; `told` are the cases that it has told in full before."""
    console = Console(file=io.StringIO(), width=width, color_system=None)
    show(shown, console, told)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()
