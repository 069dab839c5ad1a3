"""Errors: whatever is refused is recognisable as a refusal, changes nothing and gives nothing away.

Every refusal of every case is judged by this; here stand those that are about nothing else, and the searches for leaks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from conformance.cases import Judge, case
from conformance.endpoints.extent import every_other
from conformance.endpoints.requests import OutgoingRequest
from conformance.service.bindings import bound
from conformance.service.derivations import (
    account_hash,
    hashed_cid,
    key_with_flipped_bit,
    random_hash,
    random_key,
)
from conformance.service.lists import IN_GROUP, one_item_page, unchanged_list
from conformance.service.node import Node
from conformance.service.refusal import ILL_FORMED, NO_ID, Refusals
from conformance.service.secrecy import must_hide
from conformance.service.usage_keys import ALL_PERMISSIONS, Permissions
from conformance.values.json_values import printed

NEEDS = ("managed_accounts",)
NOT_THERE = ("not_found", "forbidden")
"""A node may say that something is not there, or that it is not the account's."""
MAY_CREATE_GROUPS = Permissions(can_create_groups=True)
NOTHING: Mapping[str, object] = {"pkp_ids_permitted": [], "cid_hashes_permitted": []}


@case("open-endpoint", requirements=["ERR-140"])
def open_endpoint(judge: Judge, node: Node) -> None:
    """get_action_ipfs_id answers a malformed request with a refusal, and with no CID."""
    asks = node.session.accept(node.session.request("get_action_ipfs_id", code="main()"))[1]
    with judge(), Refusals(node.session, control=asks, unchanged=[]) as refusals:
        for body in ("main()", '"main()', "{}", "[]"):
            refusals.send(replace(asks.changed(), body=body), ILL_FORMED)
        refusals.send(replace(asks.changed(), path="/core/v1/get_no_such_action_ipfs_id"), ["any"])


# -------------------------------------------------------------------------------------------------- what is not there


@case("groups-that-are-not-there", requirements=["ERR-140", "ERR-150"], needs=NEEDS)
def groups_that_are_not_there(judge: Judge, node: Node) -> None:
    """A group that never was, was removed or is another account's is refused, and nothing changes in either account."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    cid, other = (node.actions.sample_cid(name) for name in ("one", "two"))
    # Bob has more groups than Alice, so that Bob's newest id is none of Alice's, whether ids count per account or over
    # all accounts.
    g, h = bound(node, alice, [p], [hashed_cid(cid)]), node.groups.add(alice).id
    for number in range(3):
        node.groups.add(bob, str(number))
    b = bound(node, bob, [], [hashed_cid(cid)])
    does = [
        node.groups.update(alice, g, pkp_ids=[p.id], cid_hashes=[hashed_cid(cid)]),
        node.groups.remove(alice, h),
        node.groups.add_action(alice, g, other),
        node.groups.remove_action(alice, g, hashed_cid(other)),
        node.groups.add_pkp(alice, g, q.id),
        node.groups.remove_pkp(alice, g, q.id),
    ]
    taken: Mapping[str, Mapping[str, object]] = {
        "update_group": {"name": "taken over", **NOTHING},
        "remove_action_from_group": {"hashed_cid": hashed_cid(cid)},
        "remove_pkp_from_group": {"pkp_id": p.id},
    }
    reads = [unchanged_list(node.session, "list_groups", key) for key in (alice, bob)]
    for key, group in ((alice, g), (bob, b)):
        reads += [unchanged_list(node.session, name, key, group_id=group) for name in IN_GROUP]
    with judge(), Refusals(node.session, control=does, unchanged=reads) as refusals:
        for number, target in enumerate((2**53 - 1, h, b)):
            for accepted in every_other(does, number):
                refusals.send(accepted.changed(group_id=target, **taken.get(accepted.call, {})), NOT_THERE)


@case("actions-that-are-not-there", requirements=["EP-310", "ERR-140", "ERR-150"], needs=NEEDS)
def actions_that_are_not_there(judge: Judge, node: Node) -> None:
    """Metadata that another account registered, or that were deleted, are refused, and nothing changes in either."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    cid, of_bob, gone = (node.actions.sample_cid(name) for name in ("one", "two", "three"))
    for key, added in ((alice, cid), (bob, of_bob), (alice, gone)):
        node.actions.add(key, added)
    does = [node.actions.update(alice, hashed_cid(cid), "renamed"), node.actions.delete(alice, hashed_cid(gone))]
    reads = [unchanged_list(node.session, "list_actions", key) for key in (alice, bob)]
    for target in (of_bob, gone):
        with judge.apart(), Refusals(node.session, control=does, unchanged=reads) as refusals:
            for accepted in does:
                refusals.send(accepted.changed(hashed_cid=hashed_cid(target)), NOT_THERE)


@case(
    "usage-keys-that-are-not-there",
    requirements=["ERR-140", "ERR-150", "ERR-160", "KEYLIFE-100", "KEYLIFE-110", "KEYLIFE-120", "KEYLIFE-180"],
    needs=NEEDS,
)
def usage_keys_that_are_not_there(judge: Judge, node: Node) -> None:
    """A key that is no usage key of the account is refused, and nothing changes in either account, nor its credit."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    key, removed = (node.usage_keys.add(alice, MAY_CREATE_GROUPS, name).key for name in ("kept", "removed"))
    of_bob = node.usage_keys.add(bob, MAY_CREATE_GROUPS).key
    updates = [node.usage_keys.update(alice, key, MAY_CREATE_GROUPS), node.usage_keys.rename(alice, key, "renamed")]
    removes = node.usage_keys.remove(alice, removed)
    takes_over: Mapping[str, Mapping[str, object]] = {
        "update_usage_api_key": {**ALL_PERMISSIONS.but({"can_create_groups": False}).members, "name": "taken over"},
        "update_usage_api_key_metadata": {"name": "taken over"},
    }
    reads = [unchanged_list(node.session, "list_api_keys", owner) for owner in (alice, bob)]
    about = {
        random_key(node.session.random): ("KEYLIFE-110", "KEYLIFE-120"),
        removed: ("KEYLIFE-100", "KEYLIFE-120"),
        of_bob: ("KEYLIFE-180", "KEYLIFE-180"),
        alice: ("KEYLIFE-110", "KEYLIFE-120"),
        bob: ("KEYLIFE-180", "KEYLIFE-180"),
    }
    classes, errors = (*NOT_THERE, "invalid"), ("ERR-140", "ERR-150", "ERR-160")
    billed = node.session.profile.offers("billing")
    credit = node.payments.balance(bob) if billed else 0
    refused = []
    for number, (target, (of_updates, _)) in enumerate(about.items()):
        with (
            judge.apart(*errors, of_updates, unchanged="ERR-150"),
            Refusals(node.session, control=updates, unchanged=reads) as refusals,
        ):
            for accepted in every_other(updates, number):
                refusals.send(accepted.changed(usage_api_key=target, **takes_over[accepted.call]), classes)
            if refusals.held:
                refused.append(target)
    # Last: a removal could undo what one of those before has done. What an update has made, it may remove.
    for target in refused:
        with (
            judge.apart(*errors, about[target][1], unchanged="ERR-150"),
            Refusals(node.session, control=removes, unchanged=reads) as refusals,
        ):
            refusals.send(removes.changed(usage_api_key=target), classes)
    if billed:
        with judge.apart("ERR-150"):
            judge.same(node.payments.balance(bob), credit, "the balance of the account that asked for nothing")
    with judge("ERR-150"):
        # The keys that stood before stand still, each with its rights.
        for own in (bob, of_bob, alice, key):
            node.session.accept(node.groups.creation(own, "still"))


@case("refusals-leave-the-contract-alone", requirements=["ERR-150"], needs=[*NEEDS, "chain_rpc"])
def refusals_leave_the_contract_alone(judge: Judge, node: Node) -> None:
    """After refusals of every kind the contract's record is what it was."""
    alice, cid = node.accounts.new().key, node.actions.sample_cid("one")
    own, hashed = account_hash(alice, node.session.profile), hashed_cid(cid)
    key, weak = node.usage_keys.add(alice, MAY_CREATE_GROUPS).key, node.usage_keys.add(alice).key
    unknown = random_key(node.session.random)
    p = node.pkps.create(alice)
    g, h = node.groups.add(alice, pkp_ids=[p.id], cid_hashes=[hashed]), node.groups.add(alice).id
    adds, creates, removes = g.accepted, p.accepted, node.groups.remove(alice, h)
    node.actions.add(alice, cid)
    renames = node.actions.update(alice, hashed, "renamed")
    views = ("list_groups", "list_wallets", "list_actions", "list_usage_api_keys")
    reads = [node.contract.unchanged_items(view, own) for view in views]
    of_group = ("list_actions_in_group", "list_wallets_in_group")
    reads += [node.contract.unchanged_items(view, own, g.id) for view in of_group]
    reads += [unchanged_list(node.session, name, alice) for name in ("list_groups", "list_wallets", "list_actions")]
    # Without a valid key, without permission, malformed, and about what is not there.
    refused: list[tuple[OutgoingRequest, Sequence[str]]] = [
        (replace(adds.changed(), credential=None), ["unauthenticated"]),
        (replace(creates.changed(), credential=unknown), ["unauthenticated"]),
        (replace(creates.changed(), credential=key), ["forbidden"]),
        (replace(adds.changed(), credential=weak), ["forbidden"]),
        (replace(removes.changed(group_id=g.id), credential=key), ["forbidden"]),
        (replace(adds.changed(), body="{"), ILL_FORMED),
        (adds.changed(pkp_ids_permitted=[p.id, "0x12"]), ILL_FORMED),
        (adds.changed(cid_hashes_permitted=[hashed, "0x12"]), ILL_FORMED),
        (removes.changed(), ["not_found"]),
        (renames.changed(hashed_cid=random_hash(node.session.random)), ["not_found"]),
    ]
    controls = [adds, creates, removes, renames]
    with judge(), Refusals(node.session, control=controls, unchanged=reads) as refusals:
        for request, classes in refused:
            refusals.send(request, classes)


# -------------------------------------------------------------------------------------------------------------- leaks


# A message that repeats what was wrong repeats a key as soon as a key stands in the wrong place.
@case("keys-in-wrong-places", requirements=["ERR-150", "ERR-160"], needs=NEEDS)
def keys_in_wrong_places(judge: Judge, node: Node) -> None:
    """A key that stands where it does not belong, or beside what is missing, is not repeated, in whatever spelling."""
    alice = node.accounts.new().key
    key = node.usage_keys.add(alice, MAY_CREATE_GROUPS).key
    adds, renames = node.groups.add(alice).accepted, node.usage_keys.rename(alice, key, "renamed")
    updates = node.usage_keys.update(alice, key, MAY_CREATE_GROUPS)
    removes = node.groups.remove(alice, node.groups.add(alice).id)
    lists = node.session.accept(node.session.request("list_groups", alice, **one_item_page(node.session)))[1]
    reads = [unchanged_list(node.session, name, alice) for name in ("list_groups", "list_api_keys")]
    for secret in (alice, key):
        refused: list[tuple[OutgoingRequest, Sequence[str]]] = [
            (removes.changed(group_id=secret), NO_ID),
            (adds.changed(group_name=[secret]), ILL_FORMED),
            (adds.changed(pkp_ids_permitted=[secret]), NO_ID),
            (adds.changed(cid_hashes_permitted=[secret]), NO_ID),
            (renames.changed(usage_api_key={"value": secret}), ILL_FORMED),
            (renames.changed(usage_api_key=secret, name=5), NO_ID),
            (replace(renames.changed(), body=f'{{"usage_api_key": "{secret}", "name": }}'), ILL_FORMED),
            (lists.changed(page_number=secret), ILL_FORMED),
            (replace(removes.changed(), members={"name": secret}), ILL_FORMED),
        ]
        controls = [removes, adds, renames, lists]
        told = judge.apart("ERR-160", unchanged="ERR-150")
        with told, Refusals(node.session, control=controls, unchanged=reads) as refusals:
            for request, classes in refused:
                answer = refusals.send(request, classes)
                must_hide(answer, secret, "the key that was sent")
    for complete in (renames, updates):  # without its other members, which a node may leave as they are
        with judge.apart("ERR-160"):
            incomplete = replace(complete.changed(), members={"usage_api_key": key})
            must_hide(node.session.send(incomplete), key, "the key that was sent")


@case("refused-keys-are-not-repeated", requirements=["ERR-160"], needs=NEEDS)
def refused_keys_are_not_repeated(judge: Judge, node: Node) -> None:
    """A key that opens nothing, or not enough, is not repeated by the refusal, in whatever spelling."""
    alice = node.accounts.new().key
    key, removed = (node.usage_keys.add(alice, MAY_CREATE_GROUPS, name).key for name in ("kept", "removed"))
    node.usage_keys.remove(alice, removed)
    creates, wallets = node.pkps.create(alice).accepted, [unchanged_list(node.session, "list_wallets", alice)]
    unknown = random_key(node.session.random)
    no_key = f"not a key at all {printed(node.label)}"
    for secret in (unknown, key_with_flipped_bit(alice), no_key, removed, key):
        with judge.apart(), Refusals(node.session, control=creates, unchanged=wallets) as refusals:
            for via in ("x-api-key", "bearer"):
                request = replace(creates.changed(), credential=secret, via=via)
                answer = refusals.send(request, ["unauthenticated", "forbidden"])
                must_hide(answer, secret, "the key that was sent")
