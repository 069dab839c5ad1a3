"""The list of known failures is read strictly and must stay true."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from conformance.problems import LoadProblem
from conformance.run.listing import ListedCase
from conformance.run.runner import Known, load_known
from conformance.verdict import Outcome, Verdict

ONE = ListedCase("trial::one", ("GRP-010",))
ROW = "reason: we know\n    link: https://tracker.example/1\n"


def known(tmp_path: Path, *entries: str) -> Known:
    path = tmp_path / "known.yaml"
    path.write_text("known:\n" + "".join(f"  - {entry}\n    {ROW}" for entry in entries), encoding="utf-8")
    return load_known(path)


def outcome(case: str, verdict: Verdict) -> Outcome:
    return Outcome(case=case, title="t", requirements=("GRP-010",), verdict=verdict, reason="because")


@pytest.mark.parametrize(
    "entry",
    [
        "case: trial::one",
        "case: trial::one[x]",
        "requirement: GRP-010",
        "case: trial::o*",
        'case: "trial::one[?]"',
        "requirement: GRP-*",
    ],
)
def test_listed_failure_is_known_and_keeps_its_reason(tmp_path: Path, entry: str) -> None:
    judged = known(tmp_path, entry).apply(outcome("trial::one[x]", Verdict.FAIL))

    assert judged.verdict is Verdict.KNOWN
    assert all(word in judged.reason for word in ("we know", "https://tracker.example/1", "because"))


@pytest.mark.parametrize("entry", ["case: trial::on", "case: trial::one[y]", "requirement: GRP-020", "case: b*::*"])
def test_failure_that_is_not_listed_stays_a_failure(tmp_path: Path, entry: str) -> None:
    assert known(tmp_path, entry).apply(outcome("trial::one[x]", Verdict.FAIL)).verdict is Verdict.FAIL


@pytest.mark.parametrize("case", ["trial::one", "trial::one[x]"])
def test_listed_case_that_passes_charges_the_list_alone(tmp_path: Path, case: str) -> None:
    listed = known(tmp_path, f"case: {case}")
    passing = outcome("trial::one[x]", Verdict.PASS)

    assert listed.apply(passing) is passing
    (fault,) = listed.faults([ListedCase("trial::one[x]", ())], [passing])
    assert fault == f"trial::one[x] no longer fails: remove it from {tmp_path / 'known.yaml'}"


@pytest.mark.parametrize("verdict", [Verdict.INCONCLUSIVE, Verdict.NOT_OFFERED])
def test_listed_case_that_taught_nothing_stays_so(tmp_path: Path, verdict: Verdict) -> None:
    assert known(tmp_path, "case: trial::one").apply(outcome("trial::one", verdict)).verdict is verdict


def test_case_that_a_glob_lists_may_pass_beside_one_that_fails(tmp_path: Path) -> None:
    listed = known(tmp_path, "case: trial::*")
    passing = outcome("trial::one", Verdict.PASS)
    cases = [ONE, ListedCase("trial::two", ())]

    assert listed.apply(passing) is passing
    assert listed.faults(cases, [passing, outcome("trial::two", Verdict.KNOWN)]) == ()
    assert "no longer fails: remove it" in listed.faults(cases, [passing])[0]


@pytest.mark.parametrize(("today", "verdict"), [("2027-01-31", Verdict.KNOWN), ("2027-02-01", Verdict.FAIL)])
def test_entry_counts_until_its_last_day(tmp_path: Path, today: str, verdict: Verdict) -> None:
    path = tmp_path / "known.yaml"
    path.write_text(f"known:\n  - case: trial::one\n    expires: 2027-01-31\n    {ROW}", encoding="utf-8")
    listed = load_known(path, date.fromisoformat(today))

    assert listed.apply(outcome("trial::one", Verdict.FAIL)).verdict is verdict
    faults = listed.faults([ONE], [])
    assert [("has expired on 2027-01-31" in fault) for fault in faults] == [True] * (verdict is Verdict.FAIL)


@pytest.mark.parametrize("entry", ["case: trial::two", "requirement: GRP-020"])
def test_entry_that_matches_no_case_is_a_fault(tmp_path: Path, entry: str) -> None:
    (fault,) = known(tmp_path, entry).faults([ONE], [])

    assert "matches no case" in fault


def test_requirement_entry_without_a_failing_case_is_a_fault(tmp_path: Path) -> None:
    listed = known(tmp_path, "requirement: GRP-010")

    assert len(listed.faults([ONE], [outcome("trial::one", Verdict.PASS)])) == 1
    both = [outcome("trial::one", Verdict.PASS), outcome("trial::two", Verdict.KNOWN)]
    assert listed.faults([ONE], both) == ()
    assert listed.faults([ONE], []) == (), "not selected: not judged"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[]", 1, "one member"),
        ("known: {}", 1, "one member"),
        ("known:\n- case: a\n  reason: r\n", 2, "link"),
        (
            "known:\n- case: a\n  reason: r\n  link: http://l\n  until: x\n",
            5,
            "not a member of an entry, which takes case, requirement, reason, link, expires",
        ),
        ("known:\n- case: a\n  reason: r\n  link: http://l\n  expires: soon\n", 5, "must be a day such as"),
        ("known:\n- case: a\n  reason: r\n  link: somewhere\n", 4, "link"),
        ("known:\n- case: a\n  reason: ''\n  link: https://a.example\n", 3, "reason"),
        ("known:\n- reason: r\n  link: https://a.example\n", 2, "either `case` or `requirement`"),
        ("known:\n- {case: a, requirement: b, reason: r, link: https://a.example}\n", 2, "either"),
        ("known:\n" + 2 * "- {case: a, reason: r, link: https://a.example}\n", 3, "twice"),
    ],
)
def test_list_with_a_fault_is_refused_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = tmp_path / "known.yaml"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(LoadProblem) as caught:
        load_known(path)

    assert words in str(caught.value)
    assert caught.value.line == line
