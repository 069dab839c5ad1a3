"""The design-level flow paths, for nodes that serve them: other spellings of management operations.

Specification: "Design-level flow paths", "Authentication" 9.
"""

from __future__ import annotations

from collections.abc import Sequence

from conformance.cases import Judge, case
from conformance.service import (
    Accounts,
    Group,
    Groups,
    Permissions,
    Pkps,
    Read,
    Refusals,
    Session,
    UsageKeys,
    read_list,
)
from conformance.service.derivations import hashed_cid, sample_cid
from conformance.service.node import Node
from conformance.service.refusal import must_refuse
from conformance.values.json_values import member

NEEDS = ("managed_accounts", "design_flows")
USES = ("flows.relationship",)


def flow_cids(session: Session, raw: Sequence[str]) -> list[str]:
    """CIDs as the profile says that the flow paths take them."""
    relationship = session.profile.flows.relationship
    return [hashed_cid(cid) for cid in raw] if relationship and relationship.cids == "hashed" else list(raw)


def listed_actions(session: Session, key: str, group: Group) -> list[object]:
    """The hashed CIDs that a group lists."""
    return [member(item, "hashed_cid") for item in read_list(session, "list_actions", key, group_id=group.id)]


def listed_pkps(session: Session, key: str, group: Group) -> list[object]:
    """The PKP ids that a group lists."""
    return [member(item, "id") for item in read_list(session, "list_wallets_in_group", key, group_id=group.id)]


@case("actions-are-added-and-removed", requirements=["FLOW-010", "FLOW-020", "FLOW-030"], needs=NEEDS, uses=USES)
def actions_are_added_and_removed(judge: Judge, node: Node) -> None:
    """/groups/:id/actions puts the CIDs of `add` into the group and takes those of `remove` out of it; runs follow."""
    session, alice = node.session, node.accounts.new()
    p, x = node.pkps.create(alice.key), node.actions.prepared()
    group, other = node.groups.add(alice.key, pkp_ids=[p.id]), node.groups.add(alice.key)
    raw: list[str] = [sample_cid(f"{session.seed}{number}") for number in range(6)]
    uses_none = node.actions.without_a_wallet()
    raw[1], raw[3] = x.cid, uses_none.cid
    cids = flow_cids(session, raw)
    hashes = [hashed_cid(cid) for cid in raw]

    def change(**body: object) -> None:
        session.call("flow_group_actions", alice.key, group_id=group.id, **body)

    def listed() -> list[object]:
        return listed_actions(session, alice.key, group)

    with judge("FLOW-010"):
        change(add=cids[:4])
        runs = node.signing.must_sign(alice.key, x, p).accepted
        run = node.runs.request(alice.key, uses_none.code)
        succeeds = node.runs.must_succeed(run).accepted
        judge.same_hexes(listed(), hashes[:4], "the actions of the group after `add`", any_order=True)
    with judge("FLOW-020"):
        change(remove=[cids[1], cids[3]])
        node.signing.must_be_refused(alice.key, x, p, control=runs)
        must_refuse(session, run, ["forbidden"], control=succeeds, unchanged=[])
        judge.same_hexes(listed(), [hashes[0], hashes[2]], "the actions of the group after `remove`", any_order=True)
    with judge("FLOW-030"):
        change(add=cids[4:], remove=[cids[0], cids[2]])
        changed = "the actions of the group after `add` and `remove` in one request"
        judge.same_hexes(listed(), hashes[4:], changed, any_order=True)
        judge.same(listed_actions(session, alice.key, other), [], "the actions of another group")


@case("wallets-are-created-and-added", requirements=["FLOW-040", "FLOW-050", "FLOW-060"], needs=NEEDS, uses=USES)
def wallets_are_created_and_added(judge: Judge, node: Node) -> None:
    """/pkps/create creates a wallet, and /groups/:id/pkps puts wallets into a group, for a key with `group:addPkp`.

    All other scopes for the group do not stand in for that one, nor does it for another group.
    """
    session, keys, pkps, x = node.session, node.usage_keys, node.pkps, node.actions.prepared()
    alice = node.accounts.new()
    group, other = node.groups.add(alice.key, cid_hashes=[x.hash]), node.groups.add(alice.key)
    *own, left_out = pkps.create_several(alice.key, 4)
    before = len(pkps.list(alice.key))

    def listed() -> list[object]:
        return listed_pkps(session, alice.key, group)

    with judge("FLOW-040"):
        session.call("flow_create_pkp", alice.key)
        judge.same(len(pkps.list(alice.key)), before + 1, "the number of wallets after /pkps/create")
    ids = [pkp.id for pkp in own]
    with judge("FLOW-050"):
        session.call("flow_group_pkps", alice.key, group_id=group.id, add=ids[:2])
        node.signing.must_sign(alice.key, x, own[1])
        judge.same_hexes(listed(), ids[:2], "the wallets of the group after `add`", any_order=True)
    adds = keys.add(alice.key, Permissions(add_pkp_to_groups=[group.id])).key
    stranger = keys.add(alice.key, Permissions(True, True, True, [group.id], [other.id], [group.id], [group.id])).key
    reads = [Read("the wallets of the group", listed, f"wallets of {group.id}")]
    with judge("FLOW-060", why="add_pkp_to_groups with the group opens it"):
        request = session.request("flow_group_pkps", adds, group_id=group.id, add=ids[2:])
        _, accepted = session.accept(request)
    with (
        judge("FLOW-060", why="only add_pkp_to_groups with this group opens it, which the key holds for another group"),
        Refusals(session, control=accepted, unchanged=reads) as refusals,
    ):
        refusals.send(session.request("flow_group_pkps", stranger, group_id=group.id, add=[left_out.id]), ["forbidden"])
    with judge("FLOW-050"):
        judge.same_hexes(listed(), ids, "the wallets of the group after two calls", any_order=True)


@case("flows-need-the-scope-of-their-operation", requirements=["FLOW-060", "FLOW-070"], needs=NEEDS, uses=USES)
def flows_need_the_scope_of_their_operation(
    judge: Judge, accounts: Accounts, groups: Groups, keys: UsageKeys, pkps: Pkps, session: Session
) -> None:
    """The flow paths are open to the account key and to keys with the scope for the group, and to nobody else."""
    alice = accounts.new()
    group, other = groups.add(alice.key), groups.add(alice.key)
    wallets = pkps.create_several(alice.key, 2)
    cids = flow_cids(session, [sample_cid(f"{session.seed}{number}") for number in range(2)])
    manages = Permissions(manage_ipfs_ids_in_groups=[group.id])
    adds = Permissions(add_pkp_to_groups=[group.id])
    elsewhere = keys.add(
        alice.key,
        Permissions(manage_ipfs_ids_in_groups=[other.id], add_pkp_to_groups=[other.id]),
    )
    reads = [
        Read("the actions of the group", lambda: listed_actions(session, alice.key, group), f"actions of {group.id}"),
        Read("the wallets of the group", lambda: listed_pkps(session, alice.key, group), f"wallets of {group.id}"),
        Read("the wallets of the account", lambda: pkps.list(alice.key), "wallets"),
    ]
    for operation, scope, body, again in (
        ("flow_group_actions", manages, {"group_id": group.id, "add": cids[:1]}, {"add": cids[1:]}),
        ("flow_group_pkps", adds, {"group_id": group.id, "add": [wallets[0].id]}, {"add": [wallets[1].id]}),
        ("flow_create_pkp", Permissions(can_create_pkps=True), {}, {}),
    ):
        permitted = keys.add(alice.key, scope)
        with judge("FLOW-060"):
            _, accepted = session.accept(session.request(operation, permitted.key, **body))
            with Refusals(session, control=accepted, unchanged=reads) as refusals:
                refusals.send(session.request(operation, elsewhere.key, **{**body, **again}), ["forbidden"])
        with judge("FLOW-070"), Refusals(session, control=accepted, unchanged=reads) as refusals:
            refusals.send(session.request(operation, None, **{**body, **again}), ["unauthenticated"])
        with judge("FLOW-060"):
            session.accept(session.request(operation, alice.key, **{**body, **again}))


@case("each-change-of-actions-needs-the-scope", requirements=["FLOW-060", "FLOW-070"], needs=NEEDS, uses=USES)
def each_change_of_actions_needs_the_scope(
    judge: Judge, accounts: Accounts, groups: Groups, keys: UsageKeys, session: Session
) -> None:
    """`add` alone, `remove` alone and both in one request to /groups/:id/actions need `group:manageActions` for it."""
    alice = accounts.new()
    raw: list[str] = [sample_cid(f"{session.seed}{number}") for number in range(6)]
    kept, one, another, first, second, third = flow_cids(session, raw)
    group, other = groups.add(alice.key, cid_hashes=[hashed_cid(cid) for cid in raw[:3]]), groups.add(alice.key)
    manages = keys.add(alice.key, Permissions(manage_ipfs_ids_in_groups=[group.id])).key
    strangers = [
        keys.add(
            alice.key,
            Permissions(True, True, True, [other.id], [group.id], [group.id], [group.id]),
        ).key,
        keys.add(alice.key).key,
    ]
    reads = [
        Read("the actions of the group", lambda: listed_actions(session, alice.key, group), f"actions of {group.id}")
    ]
    # What the permitted key does comes first; its requests take out and put in what the refused ones leave alone.
    for permitted, refused in (
        ({"add": [first]}, {"add": [third]}),
        ({"remove": [one]}, {"remove": [kept]}),
        ({"add": [second], "remove": [another]}, {"add": [third], "remove": [kept]}),
    ):
        with judge("FLOW-060"):
            _, accepted = session.accept(session.request("flow_group_actions", manages, group_id=group.id, **permitted))
        sent = {"group_id": group.id, **refused}
        for key, charged in ((strangers[0], "FLOW-060"), (strangers[1], "FLOW-060"), (None, "FLOW-070")):
            with judge.apart(charged), Refusals(session, control=accepted, unchanged=reads) as refusals:
                classes = ["unauthenticated"] if key is None else ["forbidden"]
                refusals.send(session.request("flow_group_actions", key, **sent), classes)
