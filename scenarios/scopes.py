"""The scopes of the access model, held against every operation that they gate ("Resources and their fields")."""

from __future__ import annotations

from dataclasses import replace

from conformance.cases import Judge, case
from conformance.profile.wire import ZERO_HASH
from conformance.service.derivations import account_hash, hashed_cid, usage_key_hash
from conformance.service.groups import ALL_PKPS
from conformance.service.lists import IN_GROUP, only, unchanged_list
from conformance.service.node import Node
from conformance.service.refusal import Refusals, must_refuse
from conformance.service.scope_trial import ALL_GATED, ScopeTrial, opened_by
from conformance.service.usage_keys import ALL_PERMISSIONS, NO_PERMISSIONS, Permissions
from conformance.values.json_values import member, pluck

NEEDS = ("managed_accounts",)
ONE_SCOPE = [
    Permissions(can_create_groups=True),
    Permissions(can_delete_groups=True),
    Permissions(can_create_pkps=True),
]
OF_GROUPS = ("manage_ipfs_ids_in_groups", "add_pkp_to_groups", "remove_pkp_from_groups", "execute_in_groups")
ONE_MISSING = [
    Permissions(),
    Permissions(execute_in_groups=[0]),
    replace(ALL_PERMISSIONS, can_create_groups=False),
    replace(ALL_PERMISSIONS, can_delete_groups=False),
    replace(ALL_PERMISSIONS, can_create_pkps=False),
    replace(ALL_PERMISSIONS, manage_ipfs_ids_in_groups=[]),
    replace(ALL_PERMISSIONS, add_pkp_to_groups=[]),
    replace(ALL_PERMISSIONS, remove_pkp_from_groups=[]),
]


@case("scopes-on-chain", requirements=["SCOPE-010"], needs=[*NEEDS, "chain_rpc"])
def scopes_on_chain(judge: Judge, node: Node) -> None:
    """The contract records each scope of a usage key."""
    alice = node.accounts.new().key
    own = account_hash(alice, node.session.profile)
    for permissions in (*ONE_SCOPE, *(NO_PERMISSIONS.but({array: [0]}) for array in OF_GROUPS)):
        key = usage_key_hash(node.usage_keys.add(alice, permissions).key, node.session.profile)
        with judge.apart():
            record = member(node.contract.view("get_usage_api_key", own, key), "usageKey")
            judge.members(record, permissions.record, "the permissions in the contract")


@case("creator-gains-no-scope", requirements=["SCOPE-120", "UKEY-070"], needs=NEEDS)
def creator_gains_no_scope(judge: Judge, node: Node) -> None:
    """A usage key that creates a group gains no scope in it."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    cid, other = (node.actions.sample_cid(name) for name in ("one", "two"))
    key = node.usage_keys.add(alice, Permissions(can_create_groups=True)).key
    g = node.groups.add(key, listed_to=alice).id
    # The owner fills the group; the key that created it may neither add to it nor take from it.
    does = [
        node.groups.add_action(alice, g, cid),
        node.groups.add_pkp(alice, g, p.id),
        *(node.groups.add_action(alice, g, other), node.groups.remove_action(alice, g, hashed_cid(other))),
        *(node.groups.add_pkp(alice, g, q.id), node.groups.remove_pkp(alice, g, q.id)),
    ]
    tries = [
        does[2].changed(),
        does[3].changed(hashed_cid=hashed_cid(cid)),
        does[4].changed(),
        does[5].changed(pkp_id=p.id),
    ]
    removes = node.groups.remove(alice, node.groups.add(alice, "another").id)
    inside = [unchanged_list(node.session, name, alice, group_id=g) for name in IN_GROUP]
    with judge("SCOPE-120"), Refusals(node.session, control=does, unchanged=inside) as refusals:
        for request in tries:
            refusals.send(replace(request, credential=key), ["forbidden"])
    groups = [unchanged_list(node.session, "list_groups", alice)]
    with judge("UKEY-070"):
        removal = replace(removes.changed(group_id=g), credential=key)
        must_refuse(node.session, removal, ["forbidden"], control=removes, unchanged=groups)
    node.groups.remove(alice, g)


@case(
    "creator-fills-the-group",
    requirements=["SCOPE-130"],
    needs=NEEDS,
    uses=[{"auth.add_group_prefill_by_usage_key": "wildcard_needed"}, "wire.group.cid_wildcard_form"],
)
def creator_fills_the_group(judge: Judge, node: Node) -> None:
    """add_group with contents is refused to a key that may only create groups, and open to one with both wildcards."""
    alice = node.accounts.new().key
    p, hashed = node.pkps.create(alice), hashed_cid(node.actions.sample_cid("one"))
    creates = Permissions(can_create_groups=True)
    key = node.usage_keys.add(alice, creates).key
    wide = creates.but({"manage_ipfs_ids_in_groups": [0], "add_pkp_to_groups": [0]})
    filling = node.usage_keys.add(alice, wide, "filling").key
    empty = node.session.accept(node.groups.creation(key))[1]
    groups = [unchanged_list(node.session, "list_groups", alice)]
    with judge(), Refusals(node.session, control=empty, unchanged=groups) as refusals:
        for pkps, cids in (([], [hashed]), ([p.id], []), ([], [node.groups.all_actions])):
            refusals.send(node.groups.creation(key, "filled", pkp_ids=pkps, cid_hashes=cids), ["forbidden"])
    with judge(why="the key may create groups, and holds the wildcard 0 in both arrays"):
        made = node.groups.add(filling, "filled", pkp_ids=[p.id], cid_hashes=[hashed], listed_to=alice)
    with judge():
        judge.same_hexes(pluck(node.actions.list(alice, made.id), "hashed_cid"), [hashed], "the actions of the group")
        judge.same(len(node.pkps.list(alice, made.id)), 1, "the number of wallets of the group")


@case(
    "created-group-is-in-no-array",
    requirements=["SCOPE-120"],
    needs=NEEDS,
    uses=[f"wire.list_items.fields.usage_key.{name}" for name in ("name", "execute_in_groups")],
)
def created_group_is_in_no_array(judge: Judge, node: Node) -> None:
    """A group that a usage key creates is not listed in that key's own execute_in_groups."""
    alice = node.accounts.new().key
    key = node.usage_keys.add(alice, Permissions(can_create_groups=True)).key
    node.session.accept(node.groups.creation(key))
    with judge():
        item = only(node.usage_keys.list(alice), "name", node.label)
        judge.members(item, {"execute_in_groups": []}, "the listed key")


@case("each-scope-can-be-granted", requirements=["SCOPE-010", "SCOPE-090"], needs=NEEDS)
def each_scope_can_be_granted(judge: Judge, node: Node) -> None:
    """The owner grants a scope to a usage key, which then opens its own operations and no other."""
    alice = node.accounts.new().key
    trial = ScopeTrial(node.session, alice)
    # A scope of groups names one here: whether the wildcard stands for another scope is seen where one is missing.
    scopes: list[Permissions | str] = [*ONE_SCOPE, *OF_GROUPS]
    for scope in scopes:
        with judge("SCOPE-090"):
            group = trial.new_group()
            alone = scope if isinstance(scope, Permissions) else NO_PERMISSIONS.but({scope: [group]})
            key = node.usage_keys.add(alice, alone).key
            opened = trial.opens(key, group=group)
        own = opened_by(alone)
        of_others, of_own = ([one for one in opened if (one in own) == is_own] for is_own in (False, True))
        at = trial.shown_at(of_others, []), trial.shown_at(of_own, own)
        with judge.apart("SCOPE-090"):
            told = f"of the other operations, those that a key with the scope of {' and '.join(own)} alone may call"
            judge.same(of_others, [], told, at[0])
        with judge.apart("SCOPE-010", "SCOPE-090"):
            judge.same(of_own, own, "what a key may call that has their scope alone", at[1])


@case("a-missing-scope-is-not-replaced", requirements=["SCOPE-090", "AUTH-080"], needs=NEEDS)
def a_missing_scope_is_not_replaced(judge: Judge, node: Node) -> None:
    """All scopes but one do not open the operations of the one that is missing."""
    alice = node.accounts.new().key
    trial = ScopeTrial(node.session, alice)
    for others in ONE_MISSING:
        key = node.usage_keys.add(alice, others).key
        missing = [operation for operation in ALL_GATED if operation not in opened_by(others)]
        with judge.apart(*(["AUTH-080", "SCOPE-090"] if others == Permissions() else ["SCOPE-090"])):
            opened = trial.opens(key, missing)
            told = f"what a key opens without the scope of {' and '.join(missing)}"
            judge.same(opened, [], told, trial.shown_at(opened, []))


@case("seven-scopes-in-one-key", requirements=["SCOPE-010", "AUTH-160"], needs=NEEDS)
def seven_scopes_in_one_key(judge: Judge, node: Node) -> None:
    """A usage key can hold all seven scopes at once."""
    alice = node.accounts.new().key
    trial = ScopeTrial(node.session, alice)
    with judge():
        key = node.usage_keys.add(alice, ALL_PERMISSIONS).key
        opened = trial.opens(key)
        at = trial.shown_at(opened, ALL_GATED)
        judge.same(opened, ALL_GATED, "the operations that a key with every scope may call", at)


@case("wildcards-of-a-group-need-its-scope", requirements=["UKEY-150", "UKEY-190", "UKEY-230"], needs=NEEDS)
def wildcards_of_a_group_need_its_scope(judge: Judge, node: Node) -> None:
    """A key without the scope neither opens a group to all wallets nor takes a wildcard out of it."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    hashed = hashed_cid(node.actions.sample_cid("one"))
    g = node.groups.add(alice, pkp_ids=[p.id], cid_hashes=[hashed]).id
    wide = node.groups.add(alice, pkp_ids=[ALL_PKPS], cid_hashes=[node.groups.all_actions]).id
    key = node.usage_keys.add(alice, Permissions(True, False, True, execute_in_groups=[0])).key
    adds = node.groups.add_pkp(alice, g, q.id)
    takes_out = node.groups.remove_pkp(alice, g, q.id)
    drops = node.groups.remove_action(alice, g, hashed)
    unchanged = [
        unchanged_list(node.session, operation, alice, group_id=group)
        for operation in ("list_wallets_in_group", "list_actions")
        for group in (g, wide)
    ]
    for requirement, control, group, members in (
        ("UKEY-190", adds, g, {"pkp_id": ALL_PKPS}),
        ("UKEY-230", takes_out, wide, {"pkp_id": ALL_PKPS}),
        ("UKEY-150", drops, wide, {"hashed_cid": ZERO_HASH}),
    ):
        request = replace(control.changed(group_id=group, **members), credential=key)
        with judge.apart(requirement):
            # Whether these take a wildcard at all is silent: any refusal will do.
            must_refuse(node.session, request, ["any"], control=control, unchanged=unchanged)
