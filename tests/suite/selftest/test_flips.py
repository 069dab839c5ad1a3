"""What nobody stated is no charge: the reference node, of which something else is assumed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.endpoints.client import Target
from conformance.profile import Profile, value_at
from conformance.resources import scenarios
from conformance.run.case import Case
from conformance.run.loader import load
from conformance.run.runner import run_case
from conformance.selftest.tools.flips import Flip, assuming, charges, flips
from conformance.selftest.tools.serving import target_node
from conformance.verdict import Verdict

SAMPLE = (
    Flip("semantics.add_action_duplicate", "overwrites"),
    Flip("errors.status_codes.forbidden", (418,)),
    Flip("wire.list_groups.item_fields.name", "title"),
    Flip("exec.failure_and_limits.status", 201),
    Flip("wire.operations.method_and_path.run_action", "POST /run"),
    *(flip for flip in flips() if flip.key == "chain.abi.account.list_groups"),
    Flip("attestation.forms.tcb_info", "json_string"),
)


@pytest.fixture(scope="module")
def honest() -> Iterator[Target]:
    with target_node(lambda _: None, "0") as target:
        yield target


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return load([scenarios()], ["actions", "groups", "scopes", "actions_run", "chain_lists", "attestation"])


@pytest.mark.parametrize("flip", SAMPLE, ids=str)
def test_no_case_charges_a_node_with_what_is_assumed_of_it(flip: Flip, cases: list[Case], honest: Target) -> None:
    assert list(charges(flip, cases, honest)) == []


def test_every_key_that_a_vendor_may_state_is_flipped() -> None:
    found = list(flips())
    assert {flip.key for flip in found} == Profile().left_out()
    assert all(value_at(Profile(), flip.key) != flip.value for flip in found)


def test_flipped_profile_states_nothing_and_assumes_the_other_value() -> None:
    profile = assuming(Profile(), Flip("semantics.account_wallet_listed", value=True))
    assert profile.semantics.account_wallet_listed is True
    assert profile.assumed == Profile().left_out()


def test_description_without_an_endpoint_hangs_on_where_it_is_assumed_to_be(honest: Target) -> None:
    key = "wire.operations.method_and_path.create_wallet"
    (case,) = [case for case in load([scenarios()], ["versioning"]) if case.id.endswith("::description-is-complete")]
    with Target(honest.base_url, assuming(honest.profile, Flip(key, "POST /wallets/new")), seed="0") as target:
        outcome = run_case(case, target)

    assert outcome.verdict is Verdict.INCONCLUSIVE, outcome.reason
    assert next(iter(outcome.assumed)) == key
