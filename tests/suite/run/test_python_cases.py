"""Cases in Python: what the loader refuses, and what a judge's blocks make of a departure."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent, indent

import pytest
from tiny_node import Asked, TinyNode, Told, always

from conformance.problems import LoadProblem
from conformance.resources import scenarios
from conformance.run.listing import list_python_cases, pack_files
from conformance.run.loader import load_pack
from conformance.run.runner import Target, run_case
from conformance.verdict import Outcome, Verdict

Run = Callable[[str], Outcome]
Write = Callable[[str], Path]
REFUSED = always(400, {"code": "no"})
TWO_GROUPS = """
    @case("two-groups", requirements=["GRP-010", "GRP-020"])
    def two_groups(judge: Judge, accounts: Accounts, groups: Groups) -> None:
        '''Two groups differ.'''
        alice = accounts.new()
        with judge("GRP-010"):
            first = groups.add(alice.key)
        with judge("GRP-020"):
            second = groups.add(alice.key)
            judge.that(first.id != second.id, "another id than the first group's", second.id)
"""

ROWS = """
    COUNTS = {"one": 1, "two-of-them": 2}

    @case("groups", requirements=["GRP-010"], each=COUNTS)
    def made(judge: Judge, accounts: Accounts, groups: Groups, row: int) -> None:
        '''As many groups as the row says.'''
        alice = accounts.new()
        with judge():
            for _ in range(row):
                groups.add(alice.key)
            judge.same(len(groups.list(alice.key)), row, "the number of groups")
"""


def trial(body: str, *requirements: str) -> str:
    """A case about these requirements, or else about GRP-010; its body begins in line 11 of the file."""
    head = f"""
        @case("trial", requirements={[*requirements] or ["GRP-010"]})
        def trial(judge: Judge, accounts: Accounts, groups: Groups) -> None:
            '''A trial.'''
    """
    return dedent(head) + indent(dedent(body.lstrip("\n")), "    ")


def test_case_that_finds_what_it_expects_passes(run_python: Run) -> None:
    found = run_python(TWO_GROUPS)
    assert (found.verdict, found.case, found.title) == (Verdict.PASS, "mine::two-groups", "Two groups differ.")
    assert found.requirements == ("GRP-010", "GRP-020")


def test_departure_outside_of_a_block_is_inconclusive(run_python: Run, node: TinyNode) -> None:
    node.faults["new_account"] = REFUSED
    found = run_python(TWO_GROUPS)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.failure is not None
    assert found.failure.step == "line 11"


def test_departure_inside_of_a_block_breaks_its_requirements_and_no_others(run_python: Run, node: TinyNode) -> None:
    node.faults["add_group"] = REFUSED
    found = run_python(TWO_GROUPS)
    assert (found.verdict, found.contradicted) == (Verdict.FAIL, ("GRP-010",))
    assert found.failure is not None
    assert found.failure.step == "line 13"


@pytest.mark.parametrize(("problem", "broken"), [("StateChanged", ("GRP-020",)), ("NotRefused", ("GRP-010",))])
def test_changed_state_breaks_the_requirement_that_nothing_changes(
    run_python: Run, problem: str, broken: tuple[str, ...]
) -> None:
    body = f"""
        from conformance.problems import {problem}
        with judge("GRP-010", unchanged="GRP-020"):
            raise {problem}("one", "other")
    """
    found = run_python(trial(body, "GRP-010", "GRP-020"))
    assert (found.verdict, found.contradicted) == (Verdict.FAIL, broken)


def test_case_goes_on_after_a_failure_that_stands_apart(run_python: Run) -> None:
    body = """
        accounts.new()
        for requirement, value in {"GRP-010": 1, "GRP-020": 2, "GRP-030": 3}.items():
            with judge.apart(requirement):
                judge.same(value, 2, "the value")
    """
    found = run_python(trial(body, "GRP-010", "GRP-020", "GRP-030"))
    assert (found.verdict, found.contradicted) == (Verdict.FAIL, ("GRP-010", "GRP-030"))
    assert found.failure is not None
    assert (found.failure.step, found.failure.got) == ("line 14", "1")
    assert found.failure.beside == ("line 14: expected the value to be 2; got 3",)


def test_failure_that_stands_apart_says_of_how_many_checks_it_is(run_python: Run) -> None:
    body = """
        for value in range(5):
            with judge.apart("GRP-010"):
                judge.that(value != 3, "another value" if value == 3 else f"not 3, {value} above 0", value)
        with judge.apart("GRP-020"):
            judge.same(1, 2, "the only value")
    """
    found = run_python(trial(body, "GRP-010", "GRP-020"))
    assert found.failure is not None
    right = "not 3, 1 above 0; not 3, 2 above 0; not 3, 4 above 0"
    assert found.failure.step == f"line 13 (1 of 5 such checks failed; right: {right})"
    assert [one.partition(":")[0] for one in found.failure.beside] == ["line 15"]


def test_failure_shows_the_exchange_that_answered_what_is_wrong(run_python: Run) -> None:
    text = trial("""
        with judge():
            alice = accounts.new()
            groups.add(alice.key)
            judge.distinct([alice.key, alice.key], "keys")
    """)
    found = run_python(text)
    assert found.failure is not None
    assert found.failure.exchange is not None
    assert found.failure.exchange.url.endswith("/new_account")


def test_many_failures_that_stand_apart_are_kept_beside_the_first(run_python: Run) -> None:
    text = trial("""
        for number in range(20):
            with judge.apart("GRP-010"):
                judge.same("x" * 200, number, "the value")
    """)
    found = run_python(text)
    assert found.failure is not None
    assert len(found.failure.beside) == 19
    assert found.reason.endswith("(and 19 more)")


def test_trouble_after_a_failure_that_stands_apart_leaves_the_failure(run_python: Run) -> None:
    text = trial("""
        with judge.apart():
            judge.same(1, 2, "the value")
        judge.set_up(False, "something else")
    """)
    found = run_python(text)
    assert (found.verdict, found.contradicted) == (Verdict.FAIL, ("GRP-010",))


def test_value_that_differs_is_told_in_the_words_of_the_case(run_python: Run) -> None:
    text = TWO_GROUPS.replace("first.id != second.id", "first.id == second.id")
    found = run_python(text)
    assert (found.verdict, found.contradicted) == (Verdict.FAIL, ("GRP-020",))
    assert found.failure is not None
    assert (found.failure.expected, found.failure.got) == ("another id than the first group's", "2")


@pytest.mark.parametrize(
    ("values", "got"),
    [
        ('["a", "b"]', None),
        ('["a", "b", "a", "a"]', "a, 3 times"),
        ('pluck([{"id": "a"}, {}], "id")', "nothing (the member is not there)"),
    ],
)
def test_values_that_have_to_differ_are_told_by_what_came_too_often(
    run_python: Run, values: str, got: str | None
) -> None:
    text = trial(f"""
        from conformance.values.json_values import pluck
        with judge():
            judge.distinct({values}, "ids")
    """)
    failure = run_python(text).failure
    assert (failure and failure.got) == got


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TWO_GROUPS.replace('"GRP-020"]', '"GRP-020", "GRP-030"]'), "no block of the case judges GRP-030"),
        (TWO_GROUPS.replace('judge("GRP-020")', 'judge("ACC-010")'), "is about ACC-010"),
    ],
    ids=["no block", "a block about another"],
)
def test_requirements_that_blocks_and_case_do_not_share_are_an_error_of_the_case(
    run_python: Run, text: str, said: str
) -> None:
    found = run_python(text)
    assert found.verdict is Verdict.SUITE_ERROR
    assert said in found.reason


ERRING = trial("""
    alice = accounts.new()
    with judge():
        raise KeyError(alice.key)
""")


def test_exception_of_a_case_is_an_error_of_the_suite_with_its_traceback(run_python: Run, tmp_path: Path) -> None:
    found = run_python(ERRING)
    assert (found.verdict, found.failure, found.exchanges) == (Verdict.SUITE_ERROR, None, 1)
    assert found.reason == "KeyError: '$API_KEY_1'"
    assert f'{tmp_path / "mine.py"}", line 13, in trial' in found.traceback


@pytest.mark.parametrize(
    ("ends", "reason"),
    [("import sys; sys.exit(3)", "SystemExit: 3"), ("import pytest; pytest.skip('not today')", "Skipped: not today")],
)
def test_case_that_ends_the_process_or_skips_itself_is_an_error_of_the_suite(
    run_python: Run, ends: str, reason: str
) -> None:
    text = re.sub("raise .*", ends, ERRING)
    found = run_python(text)
    assert (found.verdict, found.reason) == (Verdict.SUITE_ERROR, reason)


@pytest.mark.parametrize("ends", ["KeyboardInterrupt", "type('GreenletExit', (BaseException,), {})"])
def test_case_that_is_ended_from_outside_ends(run_python: Run, ends: str) -> None:
    with pytest.raises(BaseException, match="by a signal"):
        run_python(re.sub("raise .*", f"raise {ends}('by a signal')", ERRING))


def test_case_with_an_exception_leaves_nothing_behind(run_python: Run, node: TinyNode) -> None:
    text = ERRING.replace("raise", "groups.add(alice.key); raise")
    assert run_python(text).verdict is Verdict.SUITE_ERROR
    assert node.paths()[-1] == "remove_group"


def test_profile_that_is_silent_about_what_the_case_needs_makes_it_not_offered(run_python: Run) -> None:
    text = """
        from conformance.service.contract import Contract

        @case("code", requirements=["GRP-010"])
        def code(judge: Judge, contract: Contract) -> None:
            '''The contract answers.'''
            with judge():
                contract.view("account_exists", "0x00")
    """
    assert run_python(text).verdict is Verdict.NOT_OFFERED


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (TWO_GROUPS.replace("GRP-020", "GRP-999"), 8, "no requirement is called 'GRP-999'"),
        (TWO_GROUPS.replace("two-groups", "Two Groups"), 8, "is not in kebab case"),
        (TWO_GROUPS.replace("'''Two groups differ.'''", ""), 8, "has no docstring"),
        (TWO_GROUPS.replace("groups: Groups", "groups: int"), 8, "the argument 'groups' of two-groups has no type of"),
        (TWO_GROUPS.replace("groups: Groups", "groups: Nowhere"), 8, "typed by something unknown"),
        (TWO_GROUPS.replace("judge: Judge, ", ""), 8, "asks for no Judge: nothing in it could fail"),
        (TWO_GROUPS.replace('["GRP-010", "GRP-020"]', "[]"), 8, "names no requirement"),
        (TWO_GROUPS.replace("])", "], needs=['magic'])", 1), 8, "no capability is called 'magic'"),
        (TWO_GROUPS.replace("])", "], uses=['wire.magic'])", 1), 8, "no profile key is called 'wire.magic'"),
        (TWO_GROUPS + TWO_GROUPS.replace("def two", "def other"), 18, "another case of this pack has the id"),
        (ROWS.replace(", row: int", ""), 10, "takes the argument `row` exactly if it has `each`"),
        (ROWS.replace('"one"', '"One"'), 10, "the id 'One' of a row of groups is not in kebab case"),
        ("\n    x = 1\n", 0, "no function of the file is a case"),
        ("\n    x = 1 / 0\n", 8, "cannot be imported: ZeroDivisionError: division by zero"),
        ("\n    def x(:\n", 8, "is not Python: invalid syntax"),
    ],
)
def test_file_that_cannot_work_is_refused_with_its_line(python_pack: Write, text: str, line: int, said: str) -> None:
    path = python_pack(text)
    with pytest.raises(LoadProblem) as refused:
        load_pack(path)
    assert said in str(refused.value)
    assert str(refused.value).startswith(f"{path}:{line}: " if line else f"{path}: ")


def test_all_that_is_wrong_with_a_file_is_told_at_once(python_pack: Write) -> None:
    text = TWO_GROUPS.replace("two-groups", "Two Groups").replace("GRP-020", "GRP-999")
    with pytest.raises(LoadProblem) as refused:
        load_pack(python_pack(text))
    assert "kebab case" in str(refused.value)
    assert "GRP-999" in str(refused.value)


def test_cases_are_listed_without_running_the_file(python_pack: Write) -> None:
    (listed,) = list_python_cases(python_pack(TWO_GROUPS + "\n    raise SystemExit\n"))
    assert (listed.id, listed.requirements) == ("mine::two-groups", ("GRP-010", "GRP-020"))


def test_case_runs_once_for_each_row(python_pack: Write, target: Target, node: TinyNode) -> None:
    cases = load_pack(python_pack(ROWS))
    assert [case.id for case in cases] == ["mine::groups[one]", "mine::groups[two-of-them]"]
    assert [run_case(case, target).verdict for case in cases] == [Verdict.PASS] * 2
    assert node.paths().count("add_group") == 3


def test_pack_may_have_a_yaml_and_a_python_file_side_by_side(tmp_path: Path) -> None:
    for name in ("mine.py", "mine.yaml", "_parts.py"):
        (tmp_path / name).touch()
    assert pack_files([tmp_path]) == [tmp_path / "mine.py", tmp_path / "mine.yaml"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.py").touch()
    with pytest.raises(LoadProblem, match="the pack 'mine' is also in"):
        pack_files([tmp_path, elsewhere])


COMPARISONS = {"same", "that", "distinct", "members", "items", "same_hex", "same_hexes"}


def unjudged(source: str) -> list[int]:
    """The lines of comparisons in cases that judge nothing: behind a block of the judge, or with no such block.

    Before the first block a comparison says what the case presupposes; a departure there is inconclusive.
    """
    found: list[int] = []

    def look(node: ast.AST, *, judged: bool) -> None:
        if isinstance(node, ast.With) and any("judge" in ast.unparse(item.context_expr) for item in node.items):
            judged = True
            blocks.append(node.lineno)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not judged:
            compares = node.func.attr in COMPARISONS and ast.unparse(node.func.value) == "judge"
            comparisons.extend([node.lineno] if compares else [])
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, (ast.FunctionDef, ast.Lambda)):
                look(child, judged=judged)

    for function in ast.parse(source).body:
        if isinstance(function, ast.FunctionDef) and any(
            ast.unparse(decorator).startswith("case(") for decorator in function.decorator_list
        ):
            blocks: list[int] = []
            comparisons: list[int] = []
            look(function, judged=False)
            found.extend(line for line in comparisons if line > min(blocks, default=0))
    return found


@pytest.mark.parametrize("pack", sorted(scenarios().glob("*.py")), ids=lambda path: path.stem)
def test_comparisons_of_cases_stand_in_or_before_blocks_that_judge(pack: Path) -> None:
    assert unjudged(pack.read_text(encoding="utf-8")) == []


def test_comparison_behind_the_block_or_without_one_is_seen() -> None:
    compared = "    judge.that(True)"
    case = ('@case("a")', "def a(judge):", compared, "    with judge():", f"    {compared}", compared)
    assert unjudged("\n".join(case)) == [6]
    assert unjudged("\n".join(case[:3])) == [3]


def test_cases_that_trouble_the_provider_renew_the_certificate_or_restart_the_node_run_alone() -> None:
    packs = (load_pack(scenarios() / f"{name}.py") for name in ("provider_faults", "attestation", "restarts"))
    alone = {case.id.partition("[")[0] for pack in packs for case in pack if case.info.alone}

    assert {"provider_faults::provider-does-not-answer", "attestation::evidence-follows-a-renewal"} <= alone
    assert "restarts::account-is-kept" in alone
    assert "attestation::nobody-chooses-the-report-data" not in alone


CHANGED_BY_THE_SECOND = trial("""
    from conformance.service.lists import unchanged_list
    from conformance.service.refusal import Refusals

    alice = accounts.new()
    made = groups.creation(alice.key)
    _, control = groups._session.accept(made)
    lists = [unchanged_list(groups._session, "list_groups", alice.key)]
    with judge(), Refusals(groups._session, control=control, unchanged=lists) as refusals:
        for name in ("first", "second", "third"):
            refusals.send(made.changed(group_name=name), ["any"])
""")


def test_refused_request_that_changed_something_is_sought_among_several(run_python: Run, node: TinyNode) -> None:
    def add_group(asked: Asked) -> Told:
        if asked.body["group_name"] not in {"first", "second", "third"}:
            return node.honest(asked)
        if asked.body["group_name"] == "second":
            node.honest(asked)
        return Told(403, {"code": "no"})

    node.faults["add_group"] = add_group
    found = run_python(CHANGED_BY_THE_SECOND)

    assert found.verdict is Verdict.FAIL, found.reason
    assert found.failure is not None
    assert found.failure.exchange is not None
    assert '"group_name":"second"' in (found.failure.exchange.request_body or "")


def test_departure_in_a_block_tells_first_why(run_python: Run, node: TinyNode) -> None:
    node.faults["add_group"] = lambda asked: REFUSED(asked) if node.groups.get(asked.key) else node.honest(asked)
    text = TWO_GROUPS.replace('judge("GRP-020")', 'judge("GRP-020", why="an account may have two groups")')
    found = run_python(text)
    assert found.failure is not None
    assert found.failure.expected == "an account may have two groups: acceptance (2xx) of add_group"
