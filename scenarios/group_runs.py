"""What groups permit to run, tried with each pair of two actions and two wallets.

Specification: "Resources and their fields / Group", "Endpoints / Execution rule".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.cases import Judge, case
from conformance.service.actions import ActionCode
from conformance.service.groups import ALL_PKPS
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.usage_keys import Permissions
from conformance.values.ids import GroupId, UsageKey

NEEDS = ("managed_accounts",)
FORMS = "wire.group.cid_wildcard_form"


@dataclass(frozen=True)
class TwoAndTwo:
    """Two wallets P and Q, two actions X and Y, and a usage key that may execute in every group."""

    node: Node
    judge: Judge
    alice: str
    p: Pkp
    q: Pkp
    x: ActionCode
    y: ActionCode
    key: UsageKey

    def group(self, pkp_ids: Sequence[object], hashes: Sequence[object]) -> GroupId:
        """A new group that lists these."""
        return self.node.groups.add(self.alice, pkp_ids=pkp_ids, cid_hashes=hashes).id

    def update(self, group: GroupId, pkp_ids: Sequence[object], hashes: Sequence[object]) -> None:
        """Have a group list these in place of what it listed."""
        self.node.groups.update(self.alice, group, pkp_ids=pkp_ids, cid_hashes=hashes)

    def runs(self, *pairs: str) -> None:
        """Try all four pairs: these are permitted, each proven by a signature, and the others refused."""
        tried = {"x with p": (self.x, self.p), "x with q": (self.x, self.q)}
        tried |= {"y with p": (self.y, self.p), "y with q": (self.y, self.q)}
        ran = [name for name, (action, pkp) in tried.items() if self.node.signing.signs(self.key, action, pkp)]
        self.judge.same(ran, list(pairs), "the pairs that run")


def two_and_two(judge: Judge, node: Node) -> TwoAndTwo:
    """Make them in a fresh account."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    x, y = (node.actions.prepared(mark=mark) for mark in "xy")
    everywhere = node.usage_keys.add(alice, Permissions(execute_in_groups=[0])).key
    return TwoAndTwo(node, judge, alice, p, q, x, y, everywhere)


@case("all-wallets", requirements=["GRP-070", "GRP-090", "GRP-110", "GRP-140", "LIM-040"], needs=NEEDS)
def all_wallets(judge: Judge, node: Node) -> None:
    """The all-zero PKP id permits all wallets, later ones too, with the listed actions alone."""
    on = two_and_two(judge, node)
    with judge():
        on.group([], [on.x.hash])
        on.runs()
        on.group([ALL_PKPS], [on.x.hash])
        on.runs("x with p", "x with q")
        node.signing.must_sign(on.key, on.x, node.pkps.create(on.alice))


@case("all-actions", requirements=["GRP-080", "GRP-110", "GRP-140", "LIM-040"], needs=NEEDS, uses=[FORMS])
def all_actions(judge: Judge, node: Node) -> None:
    """The wildcard `0` permits all actions, with the listed wallets alone."""
    on = two_and_two(judge, node)
    with judge():
        on.group([on.p.id], [])
        on.runs()
        on.group([on.p.id], [node.groups.all_actions])
        on.runs("x with p", "y with p")


@case("last-form-of-all-actions", requirements=["GRP-080"], needs=NEEDS, uses=[FORMS])
def last_form_of_all_actions(judge: Judge, node: Node) -> None:
    """The wildcard of actions permits all actions also in the form that the profile names last."""
    on = two_and_two(judge, node)
    forms = node.session.profile.wire.group.cid_wildcard_form or [0]
    with judge():
        on.group([on.p.id], [forms[-1]])
        on.runs("x with p", "y with p")


@case("wildcard-beside-entries", requirements=["GRP-100", "GRP-200"], needs=NEEDS, uses=[FORMS])
def wildcard_beside_entries(judge: Judge, node: Node) -> None:
    """A wildcard beside concrete entries keeps its effect, also when one of them is removed."""
    on = two_and_two(judge, node)
    with judge():
        g = on.group([on.p.id, ALL_PKPS], [on.x.hash])
        on.runs("x with p", "x with q")
        node.groups.remove_pkp(on.alice, g, on.p.id)
        on.runs("x with p", "x with q")
        on.update(g, [on.p.id], [on.x.hash, node.groups.all_actions])
        on.runs("x with p", "y with p")
        node.groups.remove_action(on.alice, g, on.x.hash)
        on.runs("x with p", "y with p")


@case("empty-lists", requirements=["GRP-140"], needs=NEEDS)
def empty_lists(judge: Judge, node: Node) -> None:
    """Empty lists permit nothing, until an action and a wallet are added."""
    on = two_and_two(judge, node)
    with judge():
        g = on.group([], [])
        on.runs()
        node.groups.add_action(on.alice, g, on.x.cid)
        on.runs()
        node.groups.add_pkp(on.alice, g, on.p.id)
        on.runs("x with p")


@case("duplicates-count-once", requirements=["GRP-230"], needs=NEEDS)
def duplicates_count_once(judge: Judge, node: Node) -> None:
    """One removal ends the permission of an entry that was given twice."""
    on = two_and_two(judge, node)
    with judge():
        g = on.group([on.p.id, on.q.id, on.p.id], [on.x.hash, on.y.hash, on.x.hash])
        on.runs("x with p", "x with q", "y with p", "y with q")
        node.groups.remove_pkp(on.alice, g, on.p.id)
        on.runs("x with q", "y with q")
        node.groups.remove_action(on.alice, g, on.x.hash)
        on.runs("y with q")


@case("three-ways-permit-the-same", requirements=["GRP-270", "GRP-040", "GRP-050"], needs=NEEDS)
def three_ways_permit_the_same(judge: Judge, node: Node) -> None:
    """What is given to add_group, to update_group or to the add calls permits the same runs."""
    on = two_and_two(judge, node)
    with judge():
        made = on.group([on.p.id], [on.x.hash])
        on.runs("x with p")
        on.update(made, [], [])
        updated = on.group([], [])
        on.update(updated, [on.p.id], [on.x.hash])
        on.runs("x with p")
        on.update(updated, [], [])
        filled = on.group([], [])
        node.groups.add_pkp(on.alice, filled, on.p.id)
        node.groups.add_action(on.alice, filled, on.x.cid)
        on.runs("x with p")
