"""Automatic faults: what the operators change, how a fault is planted, and the table of survivors."""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection

import pytest
from forked import forked

from conformance.resources import scenarios
from conformance.run.loader import load
from conformance.selftest.automatic import trials
from conformance.selftest.automatic.faults import Fault, all_faults, plant
from conformance.selftest.automatic.operators import changes
from conformance.selftest.automatic.probes import Notes, place_probes
from conformance.selftest.automatic.reach import MOST, START, Reach, Seen
from conformance.selftest.automatic.report import Figures, triage
from conformance.selftest.automatic.trials import Ending, FaultTrial
from reference_node.permission.cid import is_cid
from reference_node.permission.keys import is_private_key


def changed(code: str) -> set[tuple[str, str]]:
    """The code that each change puts into the only function of some code, by operator."""
    function = ast.parse(code).body[0]
    assert isinstance(function, ast.FunctionDef)
    return {(change.operator, change.after) for change in changes(function)}


@pytest.mark.parametrize(
    ("body", "operator", "after"),
    [
        ("return a < b", "other comparison", "a <= b"),
        ("return a in b", "other comparison", "a not in b"),
        ("return a and b", "and for or", "a or b"),
        ("return a and b", "operand left out", "b"),
        ("return not a", "negation left out", "a"),
        ("return 1 if a else 2", "negated condition", "not a"),
        ("return [c for c in a if b]", "condition left out", "True"),
        ("return a + b", "other arithmetic", "a - b"),
        ("return 7", "off by one", "8"),
        ("return 7", "off by one", "6"),
        ("return True", "other constant", "False"),
        ("return 'text'", "other constant", "''"),
        ("a.b(c)", "dropped statement", "pass"),
        ("a.b = c", "dropped statement", "pass"),
        ("raise a", "dropped statement", "pass"),
        ("return f(a, b)", "swapped arguments", "f(b, a)"),
    ],
)
def test_operator_makes_the_change(body: str, operator: str, after: str) -> None:
    assert (operator, after) in changed(f"def f(a, b, c):\n    {body}")


def test_function_that_answers_with_a_truth_answers_early() -> None:
    early = {after for operator, after in changed("def f() -> bool:\n    return g()") if operator == "early return"}
    assert early == {"return True", "return False"}


def test_words_are_left_as_they_are() -> None:
    code = 'def f(a: "Text" = 1) -> "Text":\n    """Words."""\n    b: "Text" = a\n    raise ValueError("words")'
    assert changed(code) == {("dropped statement", "pass")}


def test_texts_are_not_subtracted() -> None:
    assert not changed("def f(a):\n    return a + f'{a}'")


def test_names_of_faults_are_unique() -> None:
    names = [fault.name for fault in all_faults()]
    assert len(names) == len(set(names)) > 1000


def called(name: str) -> Fault:
    return next(fault for fault in all_faults() if fault.name == name)


def test_planted_fault_changes_the_loaded_function() -> None:
    fault = called("permission/keys.py::is_private_key::early-return::1")
    assert forked(lambda: (plant(fault), is_private_key(bytes(32)))) == (True, True)
    assert not is_private_key(bytes(32)), "the fault stays in the process that it was planted into"


def reach_of(fault: Fault, cases: set[str], packs: dict[str, str]) -> Reach:
    """A fault that may alter something in these cases."""
    return Reach(Seen(reached={fault.name: cases}, altered={fault.name: cases}), packs)


def trying(altered: set[str], packs: dict[str, str]) -> list[str]:
    """The cases that try a fault which may alter something in some of them."""
    fault = all_faults()[0]
    return [*reach_of(fault, altered, packs).cases(fault)]


@pytest.mark.parametrize(
    ("altered", "every", "tried"),
    [
        ({"runs::a", "lists::a", "lists::b"}, "runs::a runs::b lists::a lists::b", "lists::a runs::a lists::b runs::b"),
        ({"runs::b"}, "runs::a runs::b lists::a", "runs::b runs::a lists::a"),
        ({START, "runs::b"}, "runs::a runs::b", "runs::b runs::a"),
    ],
    ids=[
        "first those of the pack that comes here more often",
        "all others last, as the value may be kept",
        "all others last, as something alters at the start",
    ],
)
def test_cases_that_are_likely_to_notice_a_fault_are_tried_first(altered: set[str], every: str, tried: str) -> None:
    packs = {case: case.partition("::")[0] for case in every.split()}
    assert trying(altered, packs) == tried.split()


def test_fault_of_several_cases_is_tried_by_the_other_cases_of_their_packs_alone() -> None:
    packs = {f"runs::{number}": "runs" for number in range(10)} | {"lists::a": "lists"}
    assert {*trying({f"runs::{number}" for number in range(6)}, packs)} == {*packs} - {"lists::a"}


def test_so_many_cases_are_tried() -> None:
    packs = {f"runs::{number}": "runs" for number in range(MOST + 50)}
    assert len(trying({*packs}, packs)) == MOST


def probed(name: str, call: Callable[[], object]) -> tuple[bool, bool]:
    """Whether a call comes to a fault's place, and whether the fault would alter a value in it."""

    def noted() -> tuple[bool, bool]:
        notes = Notes()
        place_probes([called(name)], notes)
        call()
        return name in notes.reached, name in notes.altering

    return forked(noted)


@pytest.mark.parametrize(("text", "altered"), [("Qm", True), ("Qm1", False), ("f", False)])
def test_probe_tells_whether_a_value_would_differ(text: str, altered: bool) -> None:
    # `2 <= len(text) <= LONGEST_CID` becomes `2 < len(text) <= LONGEST_CID`.
    assert probed("permission/cid.py::is_cid::other-comparison::1", lambda: is_cid(text)) == (True, altered)


def test_probe_in_a_branch_that_does_not_run_tells_nothing() -> None:
    assert probed("permission/cid.py::is_cid::operand-left-out::3", lambda: is_cid("bafy")) == (False, False)


def test_every_fault_can_be_probed() -> None:
    forked(lambda: place_probes(all_faults(), Notes()))


def tried(monkeypatch: pytest.MonkeyPatch, trial: Callable[[Fault, object, str, Connection], object]) -> FaultTrial:
    """The trial of one fault, with what its process does given by `trial`."""
    monkeypatch.setattr(trials, "_try", trial)
    fault, cases = all_faults()[0], load([scenarios()], ["versioning"])[:1]
    reach = reach_of(fault, {START}, {case.id: case.pack for case in cases})
    (ended,) = trials.fault_trials([fault], cases, reach, "0", jobs=1)
    return ended


def test_trial_whose_cases_do_not_end_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "LONGEST_SILENCE", 0.1)
    ended = tried(monkeypatch, lambda *_: threading.Event().wait())
    assert (ended.ending, ended.told) == (Ending.HUNG, "no case ended for 0 s")


def test_trial_goes_on_while_its_cases_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def two_cases(_fault: Fault, _cases: object, _seed: str, to: Connection) -> tuple[Ending, str, int]:
        to.send(None)
        to.send(None)
        return Ending.CAUGHT, "told", 2

    ended = tried(monkeypatch, two_cases)
    assert (ended.ending, ended.told, ended.tried) == (Ending.CAUGHT, "told", 2)


def test_survivor_that_nobody_has_looked_at_counts_as_a_hole() -> None:
    unknown = [fault for fault in all_faults() if fault.name not in triage()][:2]
    figures = Figures([FaultTrial(unknown[0], Ending.SURVIVED), FaultTrial(unknown[1], Ending.CAUGHT)])
    assert [trial.fault for trial in figures.unexplained] == unknown[:1]
    assert figures.share == 0.5


def test_crash_that_any_check_notices_says_nothing_about_the_checks() -> None:
    unknown = [fault for fault in all_faults() if fault.name not in triage()][:2]
    figures = Figures([FaultTrial(unknown[0], Ending.SURVIVED), FaultTrial(unknown[1], Ending.CRASHED)])
    assert (figures.caught, figures.share) == (0, 0.0)


def test_entry_for_a_function_explains_what_no_case_comes_near() -> None:
    fault = next(fault for fault in all_faults() if fault.function == "permission/cid.py::_take_varint")
    unreached, survivor = FaultTrial(fault, Ending.UNREACHED), FaultTrial(fault, Ending.SURVIVED, tried=1)
    assert Figures([unreached, survivor]).unexplained == [survivor]


def test_explained_survivors_are_faults_of_this_code() -> None:
    known = {fault.name: (fault.before, fault.after) for fault in all_faults()}
    known |= {fault.function: ("", "") for fault in all_faults()}
    stale = [
        name
        for name, found in triage().items()
        if ".sol::" not in name and known.get(name) != (found.before, found.after)
    ]
    assert stale == [], "the code has changed: look at these again"
