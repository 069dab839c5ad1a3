"""Which statements count as proved, and that the list of the others is true."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from conformance.requirements import (
    BadCatalogue,
    Catalogue,
    Coverage,
    Uncovered,
    catalogue,
    faults,
    load_uncovered,
    statuses,
    uncovered,
)
from conformance.resources import scenarios
from conformance.run.listing import by_requirement
from conformance.run.loader import load

ENTRY = {"section": "Limits", "text": "t"}
KNOWN = Catalogue.model_validate(
    {
        "requirements": [
            {"id": "A-010", "level": "must", **ENTRY},
            {"id": "A-020", "level": "should", **ENTRY},
            {"id": "A-030", "level": "must", **ENTRY},
            {"id": "A-040", "level": "may", **ENTRY},
        ],
        "tensions": [],
        "restatements": {"A-030": ["A-010", "A-020"]},
    }
)


def listed(not_yet: tuple[str, ...] = (), partly: tuple[str, ...] = ()) -> Uncovered:
    return Uncovered.model_validate(
        {
            "not_yet": [{"reason": "later", "ids": not_yet}] if not_yet else [],
            "partly": [{"missing": "a run", "ids": partly}] if partly else [],
        }
    )


def test_every_judged_statement_is_proved_or_has_a_true_reason() -> None:
    found = statuses(catalogue(), uncovered(), by_requirement(load([scenarios()])))
    assert faults(found, uncovered()) == ()


ONE = {"A-010": ("p::a",)}
ALL = {**ONE, "A-020": ("p::b",)}


@pytest.mark.parametrize(
    ("one", "checks", "known", "coverage"),
    [
        pytest.param("A-010", ONE, listed(), Coverage.COVERED, id="with a check"),
        pytest.param("A-010", {}, listed(("A-010",)), Coverage.NOT_YET, id="without a check"),
        pytest.param("A-010", ONE, listed(partly=("A-010",)), Coverage.PARTLY, id="in part"),
        pytest.param("A-030", ONE, listed(), Coverage.NOT_YET, id="restates one without a check"),
        pytest.param("A-030", ALL, listed(partly=("A-020",)), Coverage.NOT_YET, id="restates one in part"),
        pytest.param("A-040", {}, listed(), Coverage.NOT_JUDGED, id="nothing judges it"),
    ],
)
def test_statement_is_covered_by_its_checks(
    one: str, checks: Mapping[str, tuple[str, ...]], known: Uncovered, coverage: Coverage
) -> None:
    found = {status.requirement.id: status.coverage for status in statuses(KNOWN, known, checks)}
    assert found[one] is coverage


def test_restatement_is_proved_by_the_checks_of_all_it_restates() -> None:
    both = {"A-010": ("p::a",), "A-020": ("p::b", "p::a")}
    status = statuses(KNOWN, listed(), both)[2]
    assert (status.coverage, status.checks) == (Coverage.RESTATED, ("p::a", "p::b"))


@pytest.mark.parametrize(
    ("checks", "known", "said"),
    [
        (ONE, listed(("A-030",)), "A-020 is proved by no check"),
        (ALL, listed(("A-010",)), "A-010 is listed under not_yet, and p::a proves it"),
        (ALL, listed(("A-030",)), "A-030 is listed under not_yet, and p::a, p::b proves it"),
        (ALL, listed(("A-040",)), "A-040 is listed under not_yet, and is may"),
        (ONE, listed(("A-030",), ("A-020",)), "A-020 is listed under partly, and no check names it"),
    ],
)
def test_untrue_list_is_told(checks: Mapping[str, tuple[str, ...]], known: Uncovered, said: str) -> None:
    assert any(fault.startswith(said) for fault in faults(statuses(KNOWN, known, checks), known))


def test_true_list_is_no_fault() -> None:
    known = listed(("A-030",), ("A-020",))
    assert faults(statuses(KNOWN, known, ALL), known) == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("not_yet: [{reason: r, ids: [A-099]}]", "A-099 is not in the catalogue"),
        ("partly: [{missing: m, ids: [A-099]}]", "A-099 is not in the catalogue"),
        ("not_yet: [{reason: r, ids: [A-010]}]\npartly: [{missing: m, ids: [A-010]}]", "A-010 is listed twice"),
        ("not_yet: [{reason: '', ids: [A-010]}]", "at least 1 character"),
    ],
)
def test_list_of_wrong_form_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "uncovered.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadCatalogue, match=said):
        load_uncovered(path, KNOWN)
