"""What an admin wallet writes on the chain decides runs, and gives no use of another account's wallets.

Specification: "What the service does" 4 and 5, "Endpoints / Execution rule".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from conformance.cases import Judge, case
from conformance.profile.wire import ZERO_HASH
from conformance.service.admin_writes import wallet_record, writes_by_admin
from conformance.service.bindings import Converted, converted, one_group
from conformance.service.derivations import ID_RULE, account_hash, pkp_id
from conformance.service.groups import ALL_PKPS
from conformance.service.node import Node
from conformance.service.refusal import must_refuse
from conformance.service.usage_keys import ALL_PERMISSIONS, Permissions
from conformance.values.ids import Address, PkpId
from conformance.values.json_values import member, printed

NEEDS = ("chain_rpc", "funded_wallet", "managed_accounts")
ONE_BIT = (1, 2**255)
"""Bits of a derivation path, at both ends: what reads only the other end takes it for the same path."""
RUNS_AFTER_CONVERSION = (
    {"chain.admin_hash_meaning": "api_key_hash"},
    {"billing.credits_after_conversion": "moved"},
)


@case(
    "runs-follow-the-chain",
    requirements=["CHAIN-050", "ACC-150"],
    needs=NEEDS,
    uses=RUNS_AFTER_CONVERSION,
)
def runs_follow_the_chain(judge: Judge, node: Node) -> None:
    """A write of the admin wallet on the chain takes effect in the next run of a usage key."""
    on = converted(node)
    write, key = writes_by_admin(node, on.account, within=partial(judge, "ACC-150")), on.attached.hash
    in_g, in_h = (replace(ALL_PERMISSIONS, execute_in_groups=[group]).arguments for group in (on.g, on.h))
    runs = node.signing.must_sign(on.key, on.x, on.p).accepted
    node.signing.must_be_refused(on.key, on.x, on.q, control=runs)

    def x_with_p(permitted: bool) -> None:
        with judge("CHAIN-050"):
            if permitted:
                node.signing.must_sign(on.key, on.x, on.p)
            else:
                node.signing.must_be_refused(on.key, on.x, on.p, control=runs)

    plain = node.actions.without_a_wallet()
    without_a_wallet = node.runs.request(on.key, plain.code)

    for what, value in {"action": on.x.hash, "pkp": on.p.id}.items():
        write(f"remove_{what}_from_group", on.g, value)
        x_with_p(permitted=False)
        write(f"add_{what}_to_group", on.g, value)
        x_with_p(permitted=True)
    write("add_action_to_group", on.g, plain.hash)
    with judge("CHAIN-050"):
        runs_without = node.runs.must_succeed(without_a_wallet).accepted
    write("update_usage_api_key", key, "n", "d", *in_h)
    with judge("CHAIN-050"):
        must_refuse(node.session, without_a_wallet, ["forbidden"], control=runs_without, unchanged=[])
    x_with_p(permitted=False)
    with judge("CHAIN-050"):
        node.signing.must_sign(on.key, on.y, on.q)
    write("update_usage_api_key", key, "n", "d", *in_g)
    x_with_p(permitted=True)
    for wallet, action in ((on.p, on.y), (on.q, on.x)):
        write("update_group", on.g, "n", "d", [wallet.id], [action.hash])
        x_with_p(permitted=False)
        write("update_group", on.g, "n", "d", [on.p.id], [on.x.hash])
        x_with_p(permitted=True)
    write("remove_group", on.g)
    x_with_p(permitted=False)


@case(
    "permissions-of-attached-keys",
    requirements=["MINT-150"],
    needs=NEEDS,
    uses=RUNS_AFTER_CONVERSION,
)
def permissions_of_attached_keys(judge: Judge, node: Node) -> None:
    """Of the four arrays of a key attached on the chain only `execute_in_groups` lets it run."""
    on = converted(node)
    write = writes_by_admin(node, on.account)
    with judge():
        runs = node.signing.must_sign(on.key, on.x, on.p).accepted
        node.signing.must_be_refused(on.key, on.y, on.q, control=runs)
        node.signing.must_be_refused(on.key, on.x, on.q, control=runs)
    for permissions in (
        Permissions(True, True, True, manage_ipfs_ids_in_groups=[on.g]),
        Permissions(True, True, True, add_pkp_to_groups=[on.g]),
        Permissions(True, True, True, remove_pkp_from_groups=[on.g]),
        Permissions(True, True, True, [0], [0], [0], execute_in_groups=[on.h]),
    ):
        with judge.apart():
            write("update_usage_api_key", on.attached.hash, "n", "d", *permissions.arguments)
            node.signing.must_be_refused(on.key, on.x, on.p, control=runs)
    everywhere = Permissions(execute_in_groups=[0])
    with judge():
        write("update_usage_api_key", on.attached.hash, "n", "d", *everywhere.arguments)
        node.signing.must_sign(on.key, on.x, on.p)
        node.signing.must_sign(on.key, on.y, on.q)


@case(
    "all-wallets-written-on-the-chain",
    requirements=["GRP-070", "PKP-080"],
    needs=NEEDS,
    uses=RUNS_AFTER_CONVERSION,
)
def all_wallets_written_on_the_chain(judge: Judge, node: Node) -> None:
    """The zero hash among a group's wallets on the chain permits every wallet, with the listed action alone.

    One that the admin wallet has minted, and nobody registered, is none of them.
    """
    on = converted(node)
    runs = node.signing.must_sign(on.key, on.x, on.p).accepted
    node.signing.must_be_refused(on.key, on.x, on.q, control=runs)
    writes_by_admin(node, on.account)("update_group", on.g, "n", "d", [ALL_PKPS], [on.x.hash])
    with judge("GRP-070"):
        node.signing.must_sign(on.key, on.x, on.q)
        node.signing.must_be_refused(on.key, on.y, on.p, control=runs)
    with judge("PKP-080"):
        if (rule := node.session.target.profile_value(ID_RULE)) is not None:
            minted = node.minting.wallet(on.account.admin)
            node.signing.must_not_sign_as(on.key, on.x, pkp_id(minted.address, rule), minted.address)


@case(
    "all-actions-written-on-the-chain",
    requirements=["GRP-080"],
    needs=NEEDS,
    uses=RUNS_AFTER_CONVERSION,
)
def all_actions_written_on_the_chain(judge: Judge, node: Node) -> None:
    """The zero hash among a group's actions on the chain permits every action, with the listed wallet alone."""
    on = converted(node)
    runs = node.signing.must_sign(on.key, on.x, on.p).accepted
    node.signing.must_be_refused(on.key, on.y, on.p, control=runs)
    writes_by_admin(node, on.account)("update_group", on.g, "n", "d", [on.p.id], [ZERO_HASH])
    with judge():
        node.signing.must_sign(on.key, on.y, on.p)
        node.signing.must_be_refused(on.key, on.x, on.q, control=runs)


# ------------------------------------------------------------------------------------ registrations of others' wallets


@dataclass(frozen=True)
class StrangeWallet:
    """A wallet of another account, as the contract's records have it."""

    address: Address
    id: PkpId
    path: object


def wallet_of_bob(node: Node) -> StrangeWallet:
    """One of a fresh account."""
    bob = node.accounts.new()
    pkp = node.pkps.create(bob.key)
    bobs = account_hash(bob.key, node.session.profile)
    record = wallet_record(node, bobs, pkp.address)
    return StrangeWallet(pkp.address, PkpId(printed(member(record, "id"))), member(record, "derivationPath"))


def may_register(node: Node, on: Converted, address: str, path: object) -> bool:
    """Register what is another account's with the admin wallet: whether the contract took it, which it need not."""
    arguments = [on.account.hash, address, path, f"{node.label} copied", "over"]
    return node.contract.send(on.account.admin, "register_wallet_derivation", arguments, to_be_reverted=True).succeeded


@case(
    "path-of-another-wallet",
    requirements=["MINT-050"],
    needs=NEEDS,
    uses=RUNS_AFTER_CONVERSION,
)
def path_of_another_wallet(judge: Judge, node: Node) -> None:
    """A wallet that was registered with another account's derivation path signs nothing as that account's wallet."""
    on = converted(node)
    bobs = wallet_of_bob(node)
    minted, strange = node.minting.wallet(on.account.admin), node.minting.wallet(on.account.admin)
    node.minting.register(on.account, minted)
    registered = may_register(node, on, strange.address, bobs.path)
    wallets = [minted, strange] if registered else [minted]
    own, *copied = (
        PkpId(printed(member(wallet_record(node, on.account.hash, wallet.address), "id"))) for wallet in wallets
    )
    writes_by_admin(node, on.account)("update_group", on.g, "n", "d", [own, *copied], [on.x.hash])
    node.signing.must_sign(on.key, on.x, replace(on.p, id=own, address=minted.address))
    with judge():
        for pkp_id in copied:
            node.signing.must_not_sign_as(on.key, on.x, pkp_id, bobs.address)


@case(
    "copied-registration",
    requirements=["PKP-150", "CHAIN-180"],
    needs=NEEDS,
    uses=RUNS_AFTER_CONVERSION,
)
def copied_registration(judge: Judge, node: Node) -> None:
    """A registration copied from another account's record, address and path, gives no use of its wallet.

    Neither of a wallet that its owner has used, nor of one that nobody has, nor by a path that differs in one bit. The
    owner's records stay as they were.
    """
    on = converted(node)
    bob = one_group(node)
    pkps = [bob.p, *node.pkps.create_several(bob.alice, 3)]
    bobs = account_hash(bob.alice, node.session.profile)
    node.signing.must_sign(bob.key, bob.x, bob.p)
    records = [wallet_record(node, bobs, pkp.address) for pkp in pkps]
    listed = node.pkps.list(bob.alice)
    # As they are for the first two: one wallet that was used, and one that was not.
    for pkp, record, flipped in zip(pkps, records, (0, 0, *ONE_BIT), strict=True):
        path = member(record, "derivationPath")
        may_register(node, on, pkp.address, path ^ flipped if isinstance(path, int) else path)
    ids = [printed(member(record, "id")) for record in records]
    writes_by_admin(node, on.account)("update_group", on.g, "n", "d", [on.p.id, *ids], [on.x.hash])
    node.signing.must_sign(on.key, on.x, on.p)
    for pkp, record in zip(pkps, records, strict=True):
        with judge.apart("PKP-150"):
            node.signing.must_not_sign_as(on.key, on.x, pkp.id, pkp.address)
        with judge.apart("CHAIN-180"):
            judge.same(wallet_record(node, bobs, pkp.address), record, f"the owner's record of {pkp.address}")
    with judge("CHAIN-180"):
        judge.same(node.pkps.list(bob.alice), listed, "the owner's list of wallets")
