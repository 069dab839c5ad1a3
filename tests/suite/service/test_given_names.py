"""Names that cases give twice, against nodes that take them and nodes that demand new ones."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from conformance.problems import NotAccepted
from conformance.selftest.tools.serving import target_node
from conformance.selftest.variants import VARIANTS
from conformance.service import Accounts, Groups, Session, UsageKeys
from conformance.service.at_once import at_once
from conformance.values.json_values import pluck


@pytest.fixture(scope="module")
def demanding() -> Iterator[Session]:
    """A session with a node that takes no name twice."""
    variant = VARIANTS["demanding"]
    with target_node(variant.alter, "7", variant.profile) as target:
        yield Session(target, "trial::names")


def test_equal_names_stay_equal_where_the_node_takes_them(on_chain: Session) -> None:
    alice = Accounts(on_chain).new().key
    for _ in range(2):
        Groups(on_chain).add(alice, "same")
        UsageKeys(on_chain).add(alice, name="same")

    same = f"{on_chain.label} same"
    assert pluck(Groups(on_chain).list(alice), "name") == [same] * 2
    assert pluck(UsageKeys(on_chain).list(alice), "name") == [same] * 2


def test_taken_name_is_sent_again_with_a_number(demanding: Session) -> None:
    alice, bob = (Accounts(demanding).new().key for _ in range(2))
    for owner in (alice, alice, alice, bob):
        Groups(demanding).add(owner, "same")
    key = UsageKeys(demanding).add(alice, name="same").key
    UsageKeys(demanding).add(alice, name="same")
    UsageKeys(demanding).rename(alice, key, "same")

    same = f"{demanding.label} same"
    assert pluck(Groups(demanding).list(alice), "name") == [same, f"{same} 2", f"{same} 3"]
    assert pluck(Groups(demanding).list(bob), "name") == [same]
    assert pluck(UsageKeys(demanding).list(alice), "name") == [same, f"{same} 2"]


def test_refusal_of_a_new_name_is_sent_once(demanding: Session) -> None:
    alice = Accounts(demanding).new().key
    before = len(demanding.log)
    with pytest.raises(NotAccepted):
        Groups(demanding).add(alice, "new", pkp_ids=["no id"])

    assert len(demanding.log) == before + 1


def test_two_equal_names_of_requests_at_once_do_not_tell_that_the_node_takes_them(on_chain: Session) -> None:
    on_chain.target.repeatable_names.clear()  # the node is shared with other tests
    alice = Accounts(on_chain).new().key
    at_once([partial(Groups(on_chain).add, alice, "at once")] * 2)
    assert on_chain.target.repeatable_names == set()

    for _ in range(2):
        Groups(on_chain).add(alice, "one by one")
    assert on_chain.target.repeatable_names == {"group"}
