"""What cases build on: it holds on every correct node, and a case that fails because it does not is blocked by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from conformance.drivers.steps.caserun import CaseRun
from conformance.problems import Inconclusive, NotAccepted
from conformance.profile import OPERATIONS
from conformance.requirements import catalogue
from conformance.resources import scenarios
from conformance.run.blame import own_or_blocked
from conformance.run.case import rows_by_id
from conformance.run.foundations import FOUNDATIONS, Foundation
from conformance.run.loader import load
from conformance.run.runner import run_case
from conformance.run.trials import TRIALS
from conformance.selftest.tools.mutant import all_mutants
from conformance.selftest.tools.serving import target_node
from conformance.selftest.variants import VARIANTS
from conformance.verdict import Outcome, Verdict
from reference_node.node import Node

CASES = {case.id: case for case in load([scenarios()])}
MUTANTS = {mutant.name: mutant for mutant in all_mutants()}
ONE_MORE, ORDER = "group_lifecycle::creation-lists-one-more", "lists::groups-in-creation-order"


def unaltered(_: Node) -> None:
    """The reference node."""


@contextmanager
def judged(mutant: str, *cases: str) -> Iterator[Callable[[str], Outcome]]:
    """Runs a case on a mutant, in a run that has selected these."""
    with target_node(MUTANTS[mutant].alter, "1") as target:
        target.judging = rows_by_id(CASES[case] for case in cases)
        yield lambda name: run_case(CASES[name], target)


def outcome_on(mutant: str, case: str, *others: str) -> Outcome:
    """What comes of a case on a mutant, in a run that has selected others, too."""
    with judged(mutant, case, *others) as run:
        return run(case)


def test_trials_pass_on_the_reference_node() -> None:
    assert {*TRIALS} <= {foundation.name for foundation in FOUNDATIONS}
    with target_node(unaltered, "1") as target:
        for name, trial in TRIALS.items():
            trial(CaseRun(target, name))


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_trials_pass_on_correct_nodes_that_chose_otherwise(name: str) -> None:
    with target_node(VARIANTS[name].alter, "1", VARIANTS[name].profile) as target:
        for trial in TRIALS.values():
            with suppress(Inconclusive):
                trial(CaseRun(target, name))


@pytest.mark.parametrize("foundation", FOUNDATIONS, ids=lambda foundation: foundation.name)
def test_foundation_is_judged_by_a_case_about_it(foundation: Foundation) -> None:
    judge = [case for name, case in CASES.items() if name.partition("[")[0] == foundation.judged_by]

    assert foundation.requirements <= {requirement.id for requirement in catalogue().requirements}
    assert foundation.operations <= {*OPERATIONS}
    assert {requirement for case in judge for requirement in case.requirements} & foundation.requirements


def test_case_about_something_else_is_blocked_by_what_it_builds_on() -> None:
    outcome = outcome_on("groups-are-not-created", ORDER, ONE_MORE)

    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert "the number of groups after one add_group more to be 1; got 0" in outcome.reason
    assert f"{ONE_MORE} judges that" in outcome.reason


def test_failure_is_charged_where_the_run_has_no_case_that_judges_what_it_builds_on() -> None:
    outcome = outcome_on("cid-of-a-group-is-hashed-otherwise", "actions::action-in-two-groups")
    assert outcome.verdict is Verdict.FAIL


def test_failing_case_explains_no_failure_of_a_case_that_does_not_build_on_it() -> None:
    failing = "chain_information::chain-id-of-the-chain"
    assert outcome_on("groups-are-not-created", "accounts::group-is-a-child", failing).verdict is Verdict.FAIL


def test_accepted_request_contradicts_nothing_about_refused_ones() -> None:
    case = "errors::usage-keys-that-are-not-there"
    assert outcome_on("any-account-writes-about-a-key:update_usage_key", case).verdict is Verdict.FAIL


def test_contradiction_of_the_nodes_own_description_is_charged_whatever_else_is_wrong() -> None:
    judge, described = "endpoints::action-metadata", "versioning::answers-as-described"
    outcome = outcome_on("listed-names-may-be-null", described, judge)

    assert (outcome.verdict, outcome.blamed) == (Verdict.FAIL, ("VER-050",))


def test_refusal_for_another_reason_than_the_key_contradicts_nothing_about_account_keys() -> None:
    case = "account_keys::key-carries-full-permission"
    assert outcome_on("group-calls-want-quoted-ids", case).verdict is Verdict.INCONCLUSIVE


def test_judges_do_not_block_each_other() -> None:
    """On a node that breaks much, the case of the first foundation that does not hold fails."""
    judges = {foundation.judged_by for foundation in FOUNDATIONS if foundation.judged_by in CASES}
    with judged("groups-are-not-created", *judges) as run:
        for earlier in sorted(judge for judge in judges if judge < ONE_MORE):
            run(earlier)
        assert run(ONE_MORE).verdict is Verdict.FAIL


BLOCKED = {
    "chain-id-is-of-another-chain": ("chain_information::chain-id-of-the-chain", "mint_wallet::mints"),
    "runs-take-bearer-keys-alone": ("key_runs::either-header", "execution_rule::usage-key"),
    "equal-bodies-give-one-account": ("accounts::equal-bodies-make-two-accounts", "execution_rule::two-accounts"),
    "removal-takes-the-last-wallet-along": (
        "endpoints::wallets-join-and-leave-groups",
        "usage_keys::wallets-in-named-groups",
    ),
    "newest-group-is-removed": (
        "group_lifecycle::removal-takes-the-group-away",
        "execution_changes::one-group-of-two",
    ),
    "account-key-is-refused:delete_action": (
        "account_keys::key-carries-full-permission",
        "authentication::every-endpoint-in-either-header",
    ),
    "admin-is-refused-one-write:update_action_metadata": (
        "chain_secured::admin-writes",
        "onchain::writes-emit-events",
    ),
    "group-ids-are-listed-otherwise:2-for-all-but-the-first": (
        "groups::group-ids-are-unique",
        "lists::groups-in-creation-order",
    ),
    "account-key-is-refused:update_group": ("account_keys::key-carries-full-permission", "endpoints::update-group"),
    "email-is-required": ("endpoints::new-account", "endpoints::bodies-are-json"),
    "unknown-intent-is-credited:of-any-form": (
        "payments::unknown-intents-credit-nothing",
        "payments::credited-once-in-any-spelling",
    ),
    "page-number-is-ignored:list_groups": (
        "lists::pages-of-list-groups",
        "group_lifecycle::removal-takes-the-group-away",
    ),
    "minted-secret-is-wrong:hex-digits": (
        "mint_usage_key::wallet-of-the-secret",
        "chain_lists::lists-follow-usage-keys",
    ),
    "wallet-is-in-one-group": ("wallets::wallet-in-two-groups", "usage_keys::wallets-in-named-groups"),
    "wallets-of-a-group-are-all-wallets": (
        "endpoints::wallets-join-and-leave-groups",
        "design_flows::wallets-are-created-and-added",
    ),
    "group-of-actions-is-ignored": (
        "endpoints::actions-join-and-leave-groups",
        "design_flows::actions-are-added-and-removed",
    ),
    "raw-cid-has-another-hash:lower-case": ("actions::two-versions-are-two-actions", "endpoints::action-metadata"),
    "only-one-action-is-kept": ("accounts::action-metadata-is-a-child", "lists::order-of-the-other-lists"),
    "kind-of-key-decides:account-key-runs-nothing": (
        "execution_rule::account-key",
        "group_runs::account-key-uses-every-group",
    ),
    "listed-names-may-be-null": ("endpoints::action-metadata", "accounts::other-accounts-actions-stay-as-they-are"),
    "lists-are-cached-for-ever": ("lists::lists-follow-group-writes", "endpoints::add-group"),
    "page-size-is-ignored:list_groups": ("lists::pages-of-list-groups", "endpoints::list-groups"),
    "usage-key-is-always-the-same": (
        "endpoints::usage-key-operations",
        "usage_keys::may-create-and-delete-as-its-flags-say",
    ),
    "write-does-nothing:update_action_metadata": (
        "endpoints::action-metadata",
        "actions::one-cid-in-two-accounts",
    ),
    "read-is-billed:balance": ("metering::each-read-is-free", "payment_endpoints::balance-is-current"),
    "balance-is-stale": ("payments::payment-becomes-credit", "metering::each-write-is-charged"),
    "open-intent-is-given-again": (
        "payment_intents::amounts-from-the-minimum",
        "payments::refused-intents-can-still-be-paid",
    ),
    "mint-believes-any-signature:usage-key": ("envelopes::signer-is-another", "envelopes::key-header"),
    "attached-keys-run-everything": (
        "chain_runs::permissions-of-attached-keys",
        "conversion::new-key-beside-the-old",
    ),
    "every-run-is-marked-as-failed": ("actions_run::failing-code", "actions_run::code-runs-as-it-was-sent"),
    "open-endpoint-needs-a-key:get_service_action_ipfs_id": (
        "authentication::open-endpoints",
        "versioning::path-prefix",
    ),
    "groups-take-registered-actions-only": ("actions::any-cid-in-a-group", "usage_keys::actions-in-all-groups"),
    "refused-conversions-convert": ("conversion::refusals-leave-the-record", "envelopes::other-domains"),
    "private-keys-are-of-another-wallet": ("key_custody::the-private-key-is-the-wallets", "execution_rule::matrix"),
    "promises-are-not-waited-for": (
        "actions_run::code-runs-as-it-was-sent",
        "key_custody::messages-are-signed-with-the-wallets-key",
    ),
    "signatures-are-not-guarded": ("execution_rule::unlisted-wallet", "execution_changes::members-of-a-group"),
    "results-are-kept-by-code": (
        "actions_run::parameters-come-unchanged",
        "key_custody::messages-are-signed-with-the-wallets-key",
    ),
    "update-makes-a-new-group": ("group_lifecycle::update-keeps-id-and-place", "endpoints::update-group"),
    "answer-is-wrong:cid-in-hex": ("endpoints::action-cid", "execution_rule::usage-key"),
    "refusals-of-runs-tell-the-key": ("key_runs::answers-hold-no-key", "execution_rule::unlisted-wallet"),
}
"""By mutant: the case that judges what does not hold, and one that builds on it."""


@pytest.mark.parametrize("mutant", BLOCKED)
def test_judging_case_fails_and_one_that_builds_on_it_is_blocked(mutant: str) -> None:
    judge, other = BLOCKED[mutant]
    with judged(mutant, judge, other) as run:
        blocked, own = run(other), run(judge)

    assert own.verdict is Verdict.FAIL
    assert blocked.verdict is Verdict.INCONCLUSIVE
    assert blocked.reason.endswith((f"{judge} judges that", f"is judged by {judge}"))


def test_refused_request_contradicts_nothing_about_what_accepted_ones_cost() -> None:
    outcome = outcome_on("renaming-to-the-same-name-is-refused", "metering::each-write-is-charged")

    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert "update_usage_api_key_metadata" in outcome.reason


def test_refusal_says_nothing_about_a_scope_where_the_owner_is_refused_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reference_node.fields.is_cid", lambda _: False)
    with target_node(unaltered, "1") as target:
        outcome = run_case(CASES["scopes::each-scope-can-be-granted"], target)

    assert outcome.verdict is Verdict.INCONCLUSIVE
    assert "expected acceptance (2xx) of add_action_to_group" in outcome.reason


def test_trials_are_made_at_the_right_time() -> None:
    cases = ("mint_wallet::registered-wallet-signs", "mint_usage_key::expires", "envelopes::valid")
    with target_node(unaltered, "1") as target:
        target.judging = rows_by_id(CASES[name] for name in cases)
        run = CaseRun(target, "moves the clock")
        proof = run.request("create_wallet_with_signature", typed_data={}, signature="0x")
        answer = run.send(proof)
        run.clock.move(900)

        problem = own_or_blocked(NotAccepted("acceptance", answer.summary, answer.exchange), CASES[cases[0]], run)

        assert isinstance(problem, NotAccepted), problem
        assert run.clock.offset == 0


CHARGED_ALONE = {
    "chain-id-is-of-another-chain": ("chain_information::chain-id-of-the-chain", "CHAIN-030"),
    "unknown-groups-are-server-faults": ("errors::groups-that-are-not-there", "ERR-140"),
    "refusals-say-success": ("errors::groups-that-are-not-there", "ERR-140"),
    "verdicts-of-the-rule-are-kept": ("conversion::new-key-beside-the-old", "CHAIN-050"),
    "refused-second-conversion-renames-keys": ("conversion::second-conversion-over-http", "MODE-210"),
    "groups-are-not-created": (ONE_MORE, "GRPLIFE-010"),
    "cid-of-a-group-is-hashed-otherwise": ("endpoints::actions-join-and-leave-groups", "EP-360"),
    "refusals-redirect": ("scopes::creator-gains-no-scope", "ERR-140"),
    "refusals-call-text-json": ("accounts::other-accounts-actions-stay-as-they-are", "EP-010"),
    "others-write-for-wallets:payers": ("chain_secured::after-a-conversion", "CHAIN-100"),
    "keys-change-with-time": ("execution_rule::matrix-chain-secured", "PKP-170"),
}
"""By mutant: a case whose step is about several requirements, and what alone such a failure contradicts of them."""


@pytest.mark.parametrize("mutant", CHARGED_ALONE)
def test_failure_is_charged_to_what_its_kind_can_contradict(mutant: str) -> None:
    case, charged = CHARGED_ALONE[mutant]
    outcome = outcome_on(mutant, case)
    assert (outcome.verdict, outcome.blamed) == (Verdict.FAIL, (charged,))


def test_failure_is_charged_to_the_requirements_of_the_rows_that_failed() -> None:
    outcome = outcome_on("types-are-not-checked", "envelopes::fields-of-the-types")

    assert outcome.verdict is Verdict.FAIL
    assert outcome.failure is not None
    assert "version-chain-name" in outcome.failure.step, outcome.failure.step
    assert {*outcome.blamed} == {"ENV-040", "ENV-050", "ENV-060", "ENV-070", "ENV-080", "ENV-090"}
    assert outcome.blamed[0] == "ENV-040", "the first row that failed is about the order of the domain's fields"


def test_update_of_a_group_is_not_charged_where_a_new_group_permits_the_same() -> None:
    mutant = "group-permits-by-another-rule:wildcard-of-wallets-for-actions"
    assert outcome_on(mutant, "execution_changes::update-of-a-group").verdict is Verdict.INCONCLUSIVE


def test_refused_envelope_is_not_charged_with_what_an_accepted_one_changed() -> None:
    outcome = outcome_on("minted-key-joins-the-callers-account", "envelopes::key-header")
    assert outcome.verdict is Verdict.PASS
