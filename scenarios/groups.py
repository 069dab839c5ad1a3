"""Groups, where cases compute: hashed CIDs that are none ("Resources and their fields / Action")."""

from __future__ import annotations

from itertools import cycle

from conformance.cases import Judge, case
from conformance.service.bindings import bound
from conformance.service.derivations import hashed_cid
from conformance.service.lists import unchanged_list
from conformance.service.node import Node
from conformance.service.refusal import Refusals

NEEDS = ("managed_accounts",)
NO_HASH = ("invalid", "malformed", "not_found")


def malformed_hashes(cid: str) -> list[str]:
    """What is not 0x and 64 hex digits: too short, too long, no hex, the raw CID, and what must not become 0."""
    hashed = hashed_cid(cid)
    return [hashed[:-1], f"{hashed}0", f"{hashed[:-1]}g", cid, "", "0x"]


@case("malformed-hash-in-group-lists", requirements=["GRP-240"], needs=NEEDS)
def malformed_hash_in_group_lists(judge: Judge, node: Node) -> None:
    """add_group and update_group refuse a hashed CID that is not 0x and 64 hex digits."""
    alice, cid = node.accounts.new().key, node.actions.sample_cid("x")
    group = node.groups.add(alice, cid_hashes=[hashed_cid(cid)])
    updated = node.groups.update(alice, group.id, pkp_ids=[], cid_hashes=[hashed_cid(cid)])
    lists = [
        unchanged_list(node.session, "list_groups", alice),
        unchanged_list(node.session, "list_actions", alice, group_id=group.id),
    ]
    with judge(), Refusals(node.session, control=[group.accepted, updated], unchanged=lists) as refusals:
        # Every other form goes to the other operation: both take the same list.
        for control, wrong in zip(cycle([group.accepted, updated]), malformed_hashes(cid)):
            refusals.send(control.changed(cid_hashes_permitted=[wrong]), NO_HASH)


@case("malformed-hash-as-hashed-cid", requirements=["GRP-240"], needs=NEEDS)
def malformed_hash_as_hashed_cid(judge: Judge, node: Node) -> None:
    """Removing, updating and deleting refuse a hashed_cid that is not 0x and 64 hex digits."""
    alice = node.accounts.new().key
    cid, spare = (node.actions.sample_cid(name) for name in ("x", "spare"))
    for added in (cid, spare):
        node.actions.add(alice, added)
    g = bound(node, alice, [], [hashed_cid(cid), hashed_cid(spare)])
    controls = [
        node.groups.remove_action(alice, g, hashed_cid(spare)),
        node.actions.update(alice, hashed_cid(spare), "renamed"),
        node.actions.delete(alice, hashed_cid(spare)),
    ]
    lists = [
        unchanged_list(node.session, "list_actions", alice),
        unchanged_list(node.session, "list_actions", alice, group_id=g),
    ]
    with judge(), Refusals(node.session, control=controls, unchanged=lists) as refusals:
        # Each form goes to two of the three operations.
        for left_out, wrong in zip(cycle(controls), malformed_hashes(cid)):
            for control in controls:
                if control is not left_out:
                    refusals.send(control.changed(hashed_cid=wrong), NO_HASH)
