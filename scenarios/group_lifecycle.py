"""Life of a group, where cases compute ("States and transitions / Group")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.cases import Judge, case
from conformance.endpoints.extent import every_other
from conformance.endpoints.requests import OutgoingRequest
from conformance.service.acceptance import Accepted
from conformance.service.bindings import bound
from conformance.service.derivations import hashed_cid
from conformance.service.lists import IN_GROUP, unchanged_list
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.reads import Read
from conformance.service.refusal import Refusals
from conformance.service.usage_keys import Permissions
from conformance.values.ids import Cid, GroupId, HashedCid
from conformance.values.json_values import pluck, printed

NEEDS = ("managed_accounts",)


@case("update-keeps-id-and-place", requirements=["GRPLIFE-090"], needs=NEEDS)
def update_keeps_id_and_place(judge: Judge, node: Node) -> None:
    """update_group keeps the group's id and place, and leaves every other group as it was."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    x, y = (hashed_cid(node.actions.sample_cid(name)) for name in "xy")
    g, h, i = (bound(node, alice, [pkp], [action]) for pkp, action in ((p, x), (p, x), (q, y)))

    def others_lists() -> list[object]:
        return [[node.pkps.list(alice, group), node.actions.list(alice, group)] for group in (g, i)]

    groups, lists = node.groups.list(alice), others_lists()
    place = len(groups) - 2  # the newest is the last; an account may begin with groups of its own
    node.groups.update(alice, h, "renamed", pkp_ids=[q.id], cid_hashes=[])
    with judge():
        after = node.groups.list(alice)
        judge.same(pluck(after, "id"), pluck(groups, "id"), "the groups' ids in their order")
        others = [items[:place] + items[place + 1 :] for items in (after, groups)]
        judge.same(others[0], others[1], "the items of the other groups")
        judge.same(others_lists(), lists, "the wallets and actions of the other groups")


@case(
    "update-replaces-the-lists",
    requirements=["GRPLIFE-040", "GRPLIFE-050", "GRPLIFE-060", "GRPLIFE-080"],
    needs=NEEDS,
    uses=["wire.list_items.fields.wallet.id"],
)
def update_replaces_the_lists(judge: Judge, node: Node) -> None:
    """update_group replaces the permitted wallets and actions, those that were added one by one as well."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    x, y = (node.actions.sample_cid(name) for name in "xy")
    hash_of_x, hash_of_y = hashed_cid(x), hashed_cid(y)
    g = bound(node, alice, [p], [hash_of_x])

    def judge_update(wallets: Sequence[Pkp], of_wallets: str, actions: Sequence[HashedCid], of_actions: str) -> None:
        ids = [one.id for one in wallets]
        with judge(*of_wallets.split(), *of_actions.split()):
            node.groups.update(alice, g, pkp_ids=ids, cid_hashes=actions)
        listed = pluck(node.pkps.list(alice, g), "id")
        with judge.apart(*of_wallets.split()):
            judge.same_hexes(listed, ids, "the wallets after update_group named all of them", any_order=True)
        listed = pluck(node.actions.list(alice, g), "hashed_cid")
        with judge.apart(*of_actions.split()):
            judge.same_hexes(listed, actions, "the actions after update_group named all of them", any_order=True)

    node.groups.add_pkp(alice, g, q.id)
    node.groups.add_action(alice, g, y)
    filled = (len(node.pkps.list(alice, g)), len(node.actions.list(alice, g)))
    judge.set_up(filled == (2, 2), "a group with two wallets and two actions")
    judge_update([p], "GRPLIFE-040 GRPLIFE-080", [hash_of_x], "GRPLIFE-050 GRPLIFE-080")
    judge_update([], "GRPLIFE-060", [], "GRPLIFE-060")
    judge_update([q], "GRPLIFE-040 GRPLIFE-080", [hash_of_y], "GRPLIFE-050 GRPLIFE-080")
    judge_update([], "GRPLIFE-040", [hash_of_y], "GRPLIFE-050")
    judge_update([p], "GRPLIFE-040", [], "GRPLIFE-050")


# ------------------------------------------------------------------------------------------- groups that are not there


@case("later-groups-do-not-revive-the-access", requirements=["GRPLIFE-120"], needs=NEEDS)
def later_groups_do_not_revive_the_access(judge: Judge, node: Node) -> None:
    """Groups made after a removal give the removed group's keys no access."""
    # Ids may or may not be used again: what counts is that the key cannot act on any group made later.
    alice, cid = node.accounts.new().key, node.actions.sample_cid("x")
    p, held = node.pkps.create(alice), hashed_cid(cid)
    g = bound(node, alice, [], [])
    key = node.usage_keys.add(alice, Permissions(False, False, False, [g], [g], [g], [g])).key
    adds = [node.groups.add_pkp(key, g, p.id), node.groups.add_action(key, g, cid)]
    removes = [node.groups.remove_pkp(key, g, p.id), node.groups.remove_action(key, g, held)]
    node.groups.remove(alice, g)
    empty, filled = bound(node, alice, [], []), bound(node, alice, [p], [held])
    reads = [
        unchanged_list(node.session, name, alice, group_id=group) for name in IN_GROUP for group in (empty, filled)
    ]
    reads.append(unchanged_list(node.session, "list_groups", alice))
    with judge(), Refusals(node.session, control=[*adds, *removes], unchanged=reads) as refusals:
        for controls, group in ((adds, empty), (removes, filled)):
            for control in controls:
                refusals.send(control.changed(group_id=group), ["forbidden"])


@dataclass(frozen=True)
class TwoEqualGroups:
    """Groups G and H that permit the wallet P and the action X, an account's other wallet Q and another action Y."""

    node: Node
    alice: str
    p: Pkp
    q: Pkp
    x: Cid
    y: Cid
    g: GroupId
    h: GroupId

    def accepted_writes(self) -> list[Accepted]:
        """Every write to G, which leaves it as it was, but for its removal."""
        groups, alice, g, y = self.node.groups, self.alice, self.g, hashed_cid(self.y)
        return [
            groups.add_pkp(alice, g, self.q.id),
            groups.remove_pkp(alice, g, self.q.id),
            groups.add_action(alice, g, self.y),
            groups.remove_action(alice, g, y),
            groups.update(alice, g, pkp_ids=[self.p.id], cid_hashes=[hashed_cid(self.x)]),
        ]

    def to(self, group: int, accepted: Accepted) -> OutgoingRequest:
        """The write to another group; what it takes out is what such a group would hold."""
        held: dict[str, dict[str, object]] = {
            "remove_pkp_from_group": {"pkp_id": self.p.id},
            "remove_action_from_group": {"hashed_cid": hashed_cid(self.x)},
        }
        return accepted.changed(group_id=group, **held.get(accepted.call, {}))

    def lists(self, group: GroupId) -> list[Read]:
        """The account's groups, and what one of them permits."""
        in_group = (unchanged_list(self.node.session, name, self.alice, group_id=group) for name in IN_GROUP)
        return [unchanged_list(self.node.session, "list_groups", self.alice), *in_group]


def two_equal_groups(node: Node) -> TwoEqualGroups:
    """Make them in a fresh account."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    x, y = (node.actions.sample_cid(name) for name in "xy")
    g, h = (bound(node, alice, [p], [hashed_cid(x)]) for _ in range(2))
    return TwoEqualGroups(node, alice, p, q, x, y, g, h)


@case("nothing-works-on-a-deleted-group", requirements=["GRPLIFE-150"], needs=NEEDS)
def nothing_works_on_a_deleted_group(judge: Judge, node: Node) -> None:
    """With the account key too, no group operation works on a removed group, and it does not come back."""
    on = two_equal_groups(node)
    controls = [*on.accepted_writes(), node.groups.remove(on.alice, on.g)]
    listed = [printed(group) for group in pluck(node.groups.list(on.alice), "id")]
    judge.set_up(str(on.h) in listed and str(on.g) not in listed, "a list with H and without G")
    with judge(), Refusals(node.session, control=controls, unchanged=on.lists(on.h)) as refusals:
        for control in controls:
            refusals.send(on.to(on.g, control), ["not_found"])


@case("unknown-group", requirements=["GRPLIFE-200"], needs=NEEDS)
def unknown_group(judge: Judge, node: Node) -> None:
    """An id that no group ever had, 0 as well, is refused by every group operation, and creates and changes nothing."""
    on = two_equal_groups(node)
    controls = [*on.accepted_writes(), node.groups.remove(on.alice, on.h)]
    # 0 stands for all groups in the arrays of keys, and for none here; who keeps 32 or 64 bits takes the last for G.
    with judge(), Refusals(node.session, control=controls, unchanged=on.lists(on.g)) as refusals:
        for number, unknown in enumerate((900_000_000_000, 0, on.g + 2**32, on.g + 2**64)):
            for control in every_other(controls, number):
                refusals.send(on.to(unknown, control), ["not_found", "invalid", "malformed"])
