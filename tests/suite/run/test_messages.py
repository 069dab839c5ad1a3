"""Failures in words: values of variables, where they came from, and nothing that only Python prints."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_node import TinyNode, always

import conformance
from conformance.language.words import in_words
from conformance.report.case_text import rows, story_of
from conformance.resources import scenarios
from conformance.run.runner import Case, Target, run_case
from conformance.service.session import Session
from conformance.values.json_values import printed
from conformance.verdict import Outcome, Verdict

CONTAINERS = {"dict", "frozenset", "list", "set", "sorted", "tuple"}
PROBLEMS = {"Mismatch", "NotAccepted", "NotRefused", "WrongRefusal", "LeakyRefusal", "StateChanged", "Malformed"}
COMPARED = {"same", "same_hex", "same_hexes", "members", "items", "that"}
"""The methods of a judge that take what a failure says."""
FILES = sorted([*scenarios().glob("*.py"), *Path(conformance.__file__).parent.rglob("*.py")])


def says_what_failed(call: ast.Call) -> bool:
    match call.func:
        case ast.Name(name):
            return name in PROBLEMS
        case ast.Attribute(ast.Name("judge"), name):
            return name in COMPARED
        case _:
            return False


def python_values(tree: ast.AST) -> Iterator[str]:
    """The parts of failures' texts that Python would print as a container or by `repr`."""
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call) and says_what_failed(node))
    for part in (part for call in calls for part in ast.walk(call) if isinstance(part, ast.FormattedValue)):
        is_container = isinstance(part.value, ast.List | ast.Set | ast.Dict | ast.ListComp | ast.SetComp | ast.Tuple)
        makes_one = isinstance(part.value, ast.Call) and isinstance(part.value.func, ast.Name)
        if is_container or (makes_one and part.value.func.id in CONTAINERS):  # type: ignore[attr-defined]
            yield f"line {part.lineno}: {ast.unparse(part.value)}"


def test_no_failure_says_a_container_of_python() -> None:
    found = {path.name: [*python_values(ast.parse(path.read_text("utf-8")))] for path in FILES}

    assert {name: lines for name, lines in found.items() if lines} == {}


def test_python_values_are_found_in_what_a_failure_says() -> None:
    source = "judge.that(x, f'{list(y)}', z)\nraise Mismatch(f'{[*y]}', z)\nprint(f'{list(y)}')"

    assert [*python_values(ast.parse(source))] == ["line 1: list(y)", "line 2: [*y]"]


@pytest.mark.parametrize(
    ("matcher", "words"),
    [
        (["0x1", {"equals": 2}], '["0x1", 2]'),
        ({"id": {"at_most": 1}, "name": "n"}, '{id: at most 1, name: "n"}'),
        ({"includes": {"type": "integer"}}, "something that includes a value of type integer"),
        ({"matches": "^0x"}, "a text like ^0x"),
    ],
)
def test_matcher_in_words(matcher: object, words: str) -> None:
    assert in_words(matcher) == words


def test_set_is_printed_as_an_array() -> None:
    assert printed({"b": {"2", "1"}, "a": set()}) == '{"b":["1","2"],"a":[]}'


@pytest.mark.parametrize(
    ("expect", "expected"),
    [
        ('{"": {any_order: [{name: "${wanted}"}]}}', 'in any order [{name: "group x"}] of list_groups'),
        ('{"": {includes: {name: "${wanted}"}}}', 'something that includes {name: "group x"} of list_groups'),
        ('{"": [{name: "${wanted}"}]}', '[{name: "group x"}] of list_groups'),
    ],
)
def test_failure_says_values_and_where_they_were_expected(
    run: Callable[[str], Outcome], node: TinyNode, expect: str, expected: str
) -> None:
    node.faults["list_groups"] = always(200, [])
    listing = f"{{list: list_groups, expect: {expect}, judges: [GRP-010]}}"
    outcome = run(f"each: [{{id: one, wanted: group x}}]\nsteps: [{{account: a}}, {listing}]")

    assert outcome.verdict is Verdict.FAIL, outcome.reason
    assert outcome.failure is not None
    assert outcome.failure.expected == expected


def test_failure_says_whose_label_came_in_its_answer(
    cases_of: Callable[[str], list[Case]], node: TinyNode, target: Target
) -> None:
    (case,) = cases_of("steps: [{account: alice}, {call: account_exists, expect: {exists: false}}]")
    other = replace(case, id="trial::other")
    target.judging = {case.id: [case], other.id: [other]}
    label = Session(target, other.id).label
    node.faults["account_exists"] = always(200, [f"{label} one", "suite 0123456789"])

    failure = run_case(case, target).failure

    assert failure is not None
    told = dict(rows(failure, case.id, story_of(failure).names))
    assert told["got"] == '["trial::other\'s label one","suite 0123456789"]'
