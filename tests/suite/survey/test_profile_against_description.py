"""A profile that does not fit the node's description is told before the run, member by member."""

from __future__ import annotations

import pytest
from pydantic import JsonValue
from stranger import CHOICES, altered

from conformance.doctor import State, first_look
from conformance.doctor.described import fits_description
from conformance.selftest.tools.serving import target_node
from conformance.service.session import Session

TEXTS: dict[str, JsonValue] = {"wire": {"requests": {"group_id_form": "decimal_string"}}}


@pytest.mark.parametrize(
    ("choices", "profile"), [([], {}), (["ids_as_texts"], TEXTS)], ids=["the reference node", "ids as texts"]
)
def test_profile_that_fits_is_well(choices: list[str], profile: dict[str, JsonValue]) -> None:
    with target_node(altered(*map(CHOICES.__getitem__, choices)), "1", profile) as target:
        found = fits_description(Session(target, "fits"))
    assert found is not None
    assert (found.state, found.tells_run) == (State.WELL, False), found.found


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("ids_as_texts", "update_group takes group_id as string, and the suite sends integer"),
        ("wallets_by_get", "create_wallet is POST in the profile and GET in the description"),
        ("other_labels", "new_account needs blurb, handle, which the profile does not know"),
        ("other_labels", "new_account has no member account_name"),
    ],
)
def test_profile_that_does_not_fit_names_the_member(choice: str, said: str) -> None:
    with target_node(altered(CHOICES[choice]), "1") as target:
        found = {one.check: one for one in first_look(target, spends=False)}["description"]
    assert (found.state, found.ends_run, found.tells_run) == (State.DOUBTFUL, False, True)
    assert said in found.found
