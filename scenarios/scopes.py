"""Which scope opens which operations, tried one by one ("Resources and their fields / Usage API key", scopes)."""

from __future__ import annotations

from dataclasses import replace

from conformance.cases import Judge, case
from conformance.profile.wire import ZERO_HASH
from conformance.service.derivations import hashed_cid
from conformance.service.groups import ALL_PKPS
from conformance.service.lists import unchanged_list
from conformance.service.node import Node
from conformance.service.refusal import must_refuse
from conformance.service.scope_trial import ALL_GATED, ScopeTrial, opened_by
from conformance.service.usage_keys import ALL_PERMISSIONS, NO_PERMISSIONS, Permissions

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
        with judge.apart("SCOPE-090"):
            judge.same(
                [one for one in opened if one not in own],
                [],
                f"of the other operations, those that a key with the scope of {' and '.join(own)} alone may call",
            )
        with judge.apart("SCOPE-010", "SCOPE-090"):
            judge.same([one for one in opened if one in own], own, "what a key may call that has their scope alone")


@case("a-missing-scope-is-not-replaced", requirements=["SCOPE-090", "AUTH-080"], needs=NEEDS)
def a_missing_scope_is_not_replaced(judge: Judge, node: Node) -> None:
    """All scopes but one do not open the operations of the one that is missing."""
    alice = node.accounts.new().key
    trial = ScopeTrial(node.session, alice)
    for others in ONE_MISSING:
        key = node.usage_keys.add(alice, others).key
        missing = [operation for operation in ALL_GATED if operation not in opened_by(others)]
        with judge.apart(*(["AUTH-080", "SCOPE-090"] if others == Permissions() else ["SCOPE-090"])):
            judge.same(trial.opens(key, missing), [], f"what a key opens without the scope of {' and '.join(missing)}")


@case("seven-scopes-in-one-key", requirements=["SCOPE-010", "AUTH-160"], needs=NEEDS)
def seven_scopes_in_one_key(judge: Judge, node: Node) -> None:
    """A usage key can hold all seven scopes at once."""
    alice = node.accounts.new().key
    trial = ScopeTrial(node.session, alice)
    with judge():
        key = node.usage_keys.add(alice, ALL_PERMISSIONS).key
        opened = trial.opens(key)
        judge.same(opened, ALL_GATED, "the operations that a key with every scope may call")


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
