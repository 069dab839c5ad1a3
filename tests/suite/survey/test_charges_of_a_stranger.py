"""What a stranger breaks is charged to the one statement that it breaks; what builds on that is blocked."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from pydantic import JsonValue
from stranger import DEVIATIONS, altered

from conformance.resources import scenarios
from conformance.run.case import rows_by_id
from conformance.run.loader import load
from conformance.run.runner import run_case
from conformance.selftest.tools.serving import target_node
from conformance.verdict import Verdict

CASES = {case.id: case for case in load([scenarios()])}
CHARGED: Mapping[str, tuple[str, ...]] = {
    "hash_as_id": ("endpoints::action-metadata", "EP-270"),
    "short_wallet_ids": ("wallets::wallet-is-named-by-its-id", "PKP-010"),
    "account_key_may_not_run": ("execution_rule::account-key", "EXEC-020"),
}
BLOCKED: Mapping[str, tuple[str, ...]] = {
    "hash_as_id": (
        "actions::two-versions-are-two-actions",
        "endpoints::add-group",
        "groups::lists-given-at-creation",
        "lists::lists-follow-wallet-and-action-writes",
    ),
    "short_wallet_ids": (
        "endpoints::add-group",
        "endpoints::wallets-join-and-leave-groups",
        "scopes::a-missing-scope-is-not-replaced",
        "scopes::creator-fills-the-group",
        "scopes::each-scope-can-be-granted",
        "scopes::seven-scopes-in-one-key",
    ),
    "account_key_may_not_run": (
        "group_runs::account-key-uses-every-group",
        "key_runs::either-header",
    ),
}


def test_wallet_of_another_account_is_judged_though_account_keys_may_not_run() -> None:
    with target_node(altered(DEVIATIONS["account_key_may_not_run"]), "1") as target:
        outcome = run_case(CASES["key_custody::listing-a-wallet-of-another-account"], target)
    assert outcome.verdict is Verdict.PASS, outcome.reason


def test_node_that_takes_addresses_is_judged_where_the_profile_says_so() -> None:
    names = [name for name in BLOCKED["short_wallet_ids"] if name.startswith("scopes::")]
    judge, *charged = CHARGED["short_wallet_ids"]
    says: dict[str, JsonValue] = {"wire": {"requests": {"pkp_id_form": "address"}}}
    with target_node(altered(DEVIATIONS["short_wallet_ids"]), "1", says) as target:
        outcomes = {name: run_case(CASES[name], target) for name in (judge, *names)}

    assert list(outcomes.pop(judge).contradicted) == charged
    assert {name: one.verdict for name, one in outcomes.items()} == dict.fromkeys(names, Verdict.PASS)


@pytest.mark.parametrize("deviation", CHARGED)
def test_deviation_is_charged_once(deviation: str) -> None:
    case, *charged = CHARGED[deviation]
    with target_node(altered(DEVIATIONS[deviation]), "1") as target:
        target.judging = rows_by_id(CASES[name] for name in (case, *BLOCKED[deviation]))
        outcomes = {name: run_case(CASES[name], target) for name in (case, *BLOCKED[deviation])}

    judge = outcomes.pop(case)
    assert (judge.verdict, list(judge.contradicted)) == (Verdict.FAIL, charged), judge.reason
    assert {name: one.verdict for name, one in outcomes.items()} == dict.fromkeys(outcomes, Verdict.INCONCLUSIVE)
    told = {name: one.reason for name, one in outcomes.items() if case.partition("[")[0] not in one.reason}
    assert told == {}, "each names the case that judges what blocks it"
