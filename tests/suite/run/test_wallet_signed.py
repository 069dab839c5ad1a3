"""A node whose accounts are used by API key alone: the wallet-signed flows are not offered, never failed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.endpoints.client import Target
from conformance.problems import ProfileSilent
from conformance.profile import Profile
from conformance.profile.operations import WALLET_SIGNED
from conformance.resources import scenarios
from conformance.run.loader import load
from conformance.run.runner import run_case
from conformance.selftest.tools.serving import target_node
from conformance.selftest.variants import VARIANTS
from conformance.service import Session
from conformance.service.envelopes import billing_auth
from conformance.service.wallets import Wallets
from conformance.verdict import Verdict

PACKS = ["mint_wallet", "wallet_signed"]


@pytest.fixture(scope="module")
def by_key_alone() -> Iterator[Target]:
    variant = VARIANTS["bare-lists"]
    with target_node(variant.alter, "0", variant.profile) as target:
        yield target


def test_flows_of_a_node_without_them_are_not_offered(by_key_alone: Target) -> None:
    verdicts = {case.id: run_case(case, by_key_alone).verdict for case in load([scenarios()], PACKS)}

    assert set(verdicts.values()) == {Verdict.NOT_OFFERED}, verdicts


@pytest.mark.parametrize("operation", WALLET_SIGNED)
def test_operation_of_the_flows_names_the_capability_that_it_needs(by_key_alone: Target, operation: str) -> None:
    with pytest.raises(ProfileSilent, match="wallet_signed"):
        Session(by_key_alone, "trial::one").request(operation)


def test_proof_for_billing_is_made_only_for_nodes_with_the_flows(by_key_alone: Target) -> None:
    session = Session(by_key_alone, "trial::two")

    with pytest.raises(ProfileSilent, match="wallet_signed"):
        billing_auth(session, Wallets(session).new("w"))


def test_profile_that_lists_no_capabilities_claims_the_flows() -> None:
    assert Profile().offers("wallet_signed")
