"""What several cases failed or were inconclusive for is told once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_runs import EXCHANGE, outcome, results, terminal

from conformance.report import Results
from conformance.report.causes import causes, others
from conformance.report.page import html
from conformance.report.results import CauseResult
from conformance.report.summary import markdown
from conformance.verdict import Exchange, Failure, Outcome, Verdict

MISSING = replace(
    EXCHANGE, method="POST", url="http://n/core/v1/create_wallet", status=404, response_body="no such path"
)


def met(case: str, exchange: Exchange, verdict: Verdict = Verdict.FAIL, **told: str) -> Outcome:
    failure = Failure("steps[1]", told.get("expected", "acceptance"), told.get("got", "status"), exchange)
    return replace(outcome(case, verdict, "A-010", problem=told.get("problem", "not-accepted")), failure=failure)


def test_cases_that_met_one_answer_share_a_cause_and_a_failed_one_comes_first() -> None:
    (cause,) = causes([
        met("p::a", MISSING, Verdict.INCONCLUSIVE, problem="blocked"),
        met("p::c", MISSING),
        met("p::b", MISSING),
        outcome("p::d", Verdict.PASS, "A-010"),
    ])  # fmt: skip

    assert cause.headline == "POST /core/v1/create_wallet answers 404: no such path"
    assert (cause.cases, cause.failed, cause.inconclusive) == (("p::b", "p::c", "p::a"), 2, 1)


def test_case_to_look_at_charges_least_by_the_fewest_requests() -> None:
    long, short = met("p::a", MISSING), replace(met("p::z", MISSING), exchanges=1)
    several = replace(short, case="p::m", requirements=("A-010", "A-020"))
    (cause,) = causes([long, several, short])
    assert cause.cases == ("p::z", "p::m", "p::a")


def test_case_about_what_the_profile_answers_is_no_example_where_another_shows_the_cause() -> None:
    by_profile = replace(met("p::a", MISSING), requirements=("LIST-160",), exchanges=1)
    by_specification = replace(met("p::z", MISSING), requirements=("LIST-160", "LIST-010"), exchanges=9)
    (cause,) = causes([by_profile, by_specification])
    assert cause.cases == ("p::z", "p::a")


def test_answers_that_differ_in_ids_and_numbers_alone_are_one_cause() -> None:
    one = replace(MISSING, response_body='{"detail": "no group 7", "instance": "0f3c2a1b-1111-2222-3333-444455556666"}')
    two = replace(
        MISSING, response_body='{"detail": "no group 12", "instance": "9a8b7c6d-1111-2222-3333-444455556666"}'
    )

    assert len(causes([met("p::a", one), met("p::b", two)])) == 1


def test_same_server_fault_of_several_operations_is_one_cause() -> None:
    paths = ("create_wallet", "add_group", "add_action", "remove_group", "update_group")
    (cause,) = causes([
        met(f"p::{path}", replace(MISSING, url=f"http://n/core/v1/{path}", status=500, response_body=f"failed: {n}"))
        for n, path in enumerate(paths)
    ])  # fmt: skip

    named = ", ".join(f"POST /core/v1/{path}" for path in ("add_action", "add_group", "create_wallet", "remove_group"))
    assert cause.headline == f"{named} and 1 more answer 500: failed: 2"
    shown = CauseResult(headline=cause.headline, cases=cause.cases, failed=5, inconclusive=0)
    assert others(shown) == f"4 more cases end so: {named} and 1 more answer 500"


@pytest.mark.parametrize("status", [400, 401])
def test_refusal_that_several_operations_meet_is_one_cause_shown_by_the_fewest_requests(status: int) -> None:
    refused = replace(MISSING, status=status, response_body='{"code": "key-missing"}')
    late = [met(f"p::{path}", replace(refused, url=f"http://n/core/v1/{path}")) for path in ("a", "b")]
    early = replace(met("p::z", replace(refused, url="http://n/core/v1/c")), exchanges=1)
    (cause,) = causes([*late, early])
    assert cause.cases[0] == "p::z"
    assert cause.headline.endswith(f'/core/v1/a, POST /core/v1/b answer {status}: {{"code": "key-missing"}}')
    assert causes(late) == ()


def test_other_paths_statuses_and_expectations_are_other_causes() -> None:
    answered = replace(MISSING, status=200, response_body="{}")
    assert causes([
        met("p::a", MISSING),
        met("p::b", replace(MISSING, url="http://n/core/v1/add_group")),
        met("p::c", replace(MISSING, status=500)),
        met("p::d", replace(MISSING, response_body="no such group")),
        met("p::e", answered, expected="success true"),
        met("p::f", answered, expected="an id"),
    ]) == ()  # fmt: skip


def test_blocked_case_shares_the_cause_of_the_case_that_fails() -> None:
    answered = replace(MISSING, status=200, response_body="{}")
    blocked = met("p::a", answered, Verdict.INCONCLUSIVE, problem="blocked", got="nothing (a value is not as expected)")

    (cause,) = causes([blocked, met("p::b", answered, got="nothing")])

    assert cause.headline == "POST /core/v1/create_wallet: expected acceptance; got nothing"


def test_gateways_and_missing_credit_are_one_cause_wherever_they_show() -> None:
    down = replace(MISSING, status=502, response_body="<html>502</html>")
    elsewhere = replace(down, url="http://n/core/v1/list_groups", method="GET")
    poor = [met(f"p::{name}", MISSING, Verdict.INCONCLUSIVE, problem="out-of-credit", got="402") for name in "cd"]

    found = causes([met("p::a", down), met("p::b", elsewhere), *poor])

    assert [(cause.headline, len(cause.cases)) for cause in found] == [
        ("a gateway answers 502 in the node's place: <html>502</html>", 2),
        ("the account has no credit: 402", 2),
    ]


def test_single_case_and_cases_without_exchange_share_nothing() -> None:
    alone = replace(outcome("p::b", Verdict.FAIL, "A-010"), failure=None)
    assert causes([met("p::a", MISSING), alone, replace(alone, case="p::c")]) == ()


def shared() -> Results:
    """A run in which three cases have one cause."""
    blocked = met("p::c", MISSING, Verdict.INCONCLUSIVE, problem="blocked")
    return results(met("p::a", MISSING), met("p::b", MISSING), blocked)


def test_terminal_tells_a_shared_cause_once() -> None:
    text = terminal(shared(), width=160)

    assert text.count("answers 404") == 1
    assert "3 cases (2 failed, 1 inconclusive); look at p::a" in text
    assert "p::b: cause 1" in text
    assert "Inconclusive: p::c" not in text


def test_summary_and_page_tell_a_shared_cause_once() -> None:
    told = markdown(shared())
    assert told.count("answers 404") == 1
    assert "`p::b`: cause 1" in told
    assert "Cases that taught nothing" not in told
    page = html(shared())
    assert page.count("POST /core/v1/create_wallet answers 404") == 1
    assert '<a href="#cause-1">cause 1</a>' in page
