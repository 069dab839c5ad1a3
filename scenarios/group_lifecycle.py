"""Life of a group, where cases compute ("States and transitions / Group")."""

from __future__ import annotations

from conformance.cases import Judge, case
from conformance.service.bindings import bound
from conformance.service.derivations import hashed_cid
from conformance.service.node import Node
from conformance.values.json_values import pluck


@case("update-keeps-id-and-place", requirements=["GRPLIFE-090"], needs=["managed_accounts"])
def update_keeps_id_and_place(judge: Judge, node: Node) -> None:
    """update_group keeps the group's id and place, and leaves every other group as it was."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    x, y = (hashed_cid(node.actions.sample_cid(name)) for name in "xy")
    g, h, i = (bound(node, alice, [pkp], [action]) for pkp, action in ((p, x), (p, x), (q, y)))

    def others_lists() -> list[object]:
        return [[node.pkps.list(alice, group), node.actions.list(alice, group)] for group in (g, i)]

    groups, lists = node.groups.list(alice), others_lists()
    place = next(number for number, group in enumerate(pluck(groups, "id")) if str(group) == str(h))
    node.groups.update(alice, h, "renamed", pkp_ids=[q.id], cid_hashes=[])
    with judge():
        after = node.groups.list(alice)
        judge.same(pluck(after, "id"), pluck(groups, "id"), "the groups' ids in their order")
        others = [items[:place] + items[place + 1 :] for items in (after, groups)]
        judge.same(others[0], others[1], "the items of the other groups")
        judge.same(others_lists(), lists, "the wallets and actions of the other groups")
