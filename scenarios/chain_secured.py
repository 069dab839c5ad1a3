"""Who may write to a ChainSecured account.

"What the service does" 4, "Authentication" 8: administrative writes come from the admin wallet, and the contract takes
them from nobody else. What others may not write is asked by eth_call, function by function, and held against the same
write from the admin wallet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from conformance.cases import Judge, case
from conformance.service.accounts import ChainSecuredAccount
from conformance.service.admin_writes import group_named, writes_by_admin
from conformance.service.bindings import bound
from conformance.service.contract import dry_run_call, payers
from conformance.service.derivations import (
    ID_RULE,
    account_hash,
    hashed_cid,
    pkp_id,
    random_address,
    random_hash,
    usage_key_hash,
)
from conformance.service.groups import group_id
from conformance.service.lists import one_item_page, only, unchanged_list
from conformance.service.minting import BALANCE, NEVER, MintedWallet
from conformance.service.node import Node
from conformance.service.refusal import Refusals, must_be_unchanged, read_before, was_accepted
from conformance.service.usage_keys import ALL_PERMISSIONS, NO_PERMISSIONS, Permissions
from conformance.values.ids import Address, GroupId, PkpId
from conformance.values.json_values import member, pluck, printed

NEEDS = ("chain_rpc", "funded_wallet")
REGISTRATION = "register_wallet_derivation"


@dataclass(frozen=True)
class Guarded:
    """A ChainSecured account, and who else might write to it."""

    judge: Judge
    node: Node
    account: ChainSecuredAccount
    key_hash: str
    """The name of a usage key of the account that holds every scope: nobody writes in its name either."""
    senders: Mapping[str, Sequence[Address]]
    """From whom the contract takes nothing, by the requirement that says so."""

    def only_the_admin(self, function: str, *arguments: object, in_its_name: bool = False, also: str = "") -> None:
        """The contract takes the write from the admin wallet alone, where asked also in the usage key's name."""
        contract, names = self.node.contract, [self.account.hash, self.key_hash][: 1 + in_its_name]
        asked = {
            requirement: [(sender, [name, *arguments]) for sender in senders for name in names]
            for requirement, senders in self.senders.items()
        }
        admins = (self.account.admin.address, [self.account.hash, *arguments])
        outcomes = iter(contract.dry_runs(function, [admins, *(call for calls in asked.values() for call in calls)]))
        admins_outcome = next(outcomes)

        def by_admin() -> None:
            admins_outcome()

        with Refusals(self.node.session, control=by_admin, unchanged=[]) as refusals:
            for requirement, calls in asked.items():
                of_senders = list(islice(outcomes, len(calls)))
                who = "the payers" if requirement == "CHAIN-100" else "a stranger, another account's owner, a usage key"
                why = f"the contract takes {function} from the admin wallet alone, not from {who}"
                with self.judge.apart(requirement, *filter(None, [also]), why=why):
                    for outcome in of_senders:
                        refusals.must_revert_dry(dry_run_call(function), outcome)

    def write(self, function: str, *arguments: object) -> None:
        """Send a write of the admin wallet."""
        self.node.contract.write(self.account.admin, function, self.account.hash, *arguments)

    def group(self, pkp_ids: Sequence[str] = (), hashes: Sequence[str] = ()) -> GroupId:
        """A new group, written by the admin wallet."""
        self.write("add_group", self.node.label, "d", list(pkp_ids), list(hashes))
        return group_id(member(member(self.node.contract.items("list_groups", self.account.hash), "-1"), "id"))


def guarded(judge: Judge, node: Node) -> tuple[Guarded, PkpId]:
    """A fresh one that a wallet made, with the wallet of its usage key."""
    account = node.accounts.by_wallet(node.wallets.new("carol"))
    erin = node.accounts.by_wallet(node.wallets.new("erin")).admin
    key = node.minting.attached_key(account, ALL_PERMISSIONS)
    others = [random_address(node.session.random), erin.address, key.address]
    senders = {"CHAIN-100": payers(node.session), "CHAIN-110": others}
    wallet = pkp_id(key.address, node.session.target.profile_value(ID_RULE))
    return Guarded(judge, node, account, key.hash, senders), wallet


def hashed(node: Node, name: str) -> str:
    """The hashed CID of an action of the case's own."""
    return hashed_cid(node.actions.sample_cid(name))


@dataclass(frozen=True)
class Objects:
    """What of the account the writes name, beside its usage key."""

    full: GroupId
    """A group that lists the wallet and the action a."""
    empty: GroupId
    wallet: PkpId
    minted: MintedWallet
    """A wallet that is not registered yet."""


def only_the_admin_writes(first: Guarded, objects: Objects, also: Mapping[str, str]) -> None:
    """The contract takes each write from the admin wallet alone; `also` is what some functions break besides.

    `first` asks for the senders of one function, and all functions are asked by the last two of the payers.
    """
    on = replace(first, senders={**first.senders, "CHAIN-100": first.senders["CHAIN-100"][-2:]})
    node, full, empty, wallet, minted = on.node, objects.full, objects.empty, objects.wallet, objects.minted
    action, other = hashed(node, "a"), hashed(node, "b")
    new_key = [random_hash(node.session.random), node.session.stated(NEVER), BALANCE, "n", "d"]
    registration = [minted.address, minted.path, "n", "d"]
    first.only_the_admin("add_group", "n", "d", [], [], in_its_name=True)
    on.only_the_admin("update_group", empty, "n", "d", [], [])
    on.only_the_admin("remove_group", empty, in_its_name=True)
    on.only_the_admin("add_pkp_to_group", empty, wallet)
    on.only_the_admin("remove_pkp_from_group", full, wallet)
    on.only_the_admin("add_action_to_group", empty, action, in_its_name=True)
    on.only_the_admin("remove_action_from_group", full, action)
    on.only_the_admin("add_action", other, "n", "d")
    on.only_the_admin("update_action_metadata", action, "m", "d")
    on.only_the_admin("delete_action", action)
    on.only_the_admin("set_usage_api_key", *new_key, *NO_PERMISSIONS.arguments, also=also.get("set_usage_api_key", ""))
    on.only_the_admin("update_usage_api_key", on.key_hash, "n", "d", *NO_PERMISSIONS.arguments)
    on.only_the_admin("update_usage_api_key_metadata", on.key_hash, "m", "d")
    on.only_the_admin("remove_usage_api_key", on.key_hash)
    on.only_the_admin(REGISTRATION, *registration, also=also.get(REGISTRATION, ""))
    on.only_the_admin("create_wallet", *registration, in_its_name=True)


@case("others-write-nothing", requirements=["CHAIN-100", "CHAIN-110", "MINT-060", "MINT-160"], needs=NEEDS)
def others_write_nothing(judge: Judge, node: Node) -> None:
    """Nobody but the admin wallet writes groups, what is in them, actions, usage keys or wallets of the account."""
    on, wallet = guarded(judge, node)
    action = hashed(node, "a")
    full, empty = on.group([wallet], [action]), on.group()
    on.write("add_action", action, "n", "d")
    objects = Objects(full, empty, wallet, node.minting.wallet(on.account.admin))
    only_the_admin_writes(on, objects, {"set_usage_api_key": "MINT-160", REGISTRATION: "MINT-060"})


@case(
    "after-a-conversion",
    requirements=["CHAIN-090", "CHAIN-100", "CHAIN-110", "MODE-050"],
    needs=[*NEEDS, "managed_accounts"],
    uses=[{"chain.admin_hash_meaning": "api_key_hash"}],
)
def after_a_conversion(judge: Judge, node: Node) -> None:
    """After a conversion the contract takes writes from the new admin, and from no payer and no former owner."""
    alice, carol = node.accounts.new(), node.wallets.new("carol")
    key = node.usage_keys.add(alice.key, ALL_PERMISSIONS).key
    p, cid, action = node.pkps.create(alice.key), node.actions.sample_cid("a"), hashed(node, "a")
    node.actions.add(alice.key, cid)
    full, empty = bound(node, alice.key, [p], [action]), bound(node, alice.key, [], [])
    minted = node.minting.wallet(carol)
    account = node.accounts.converted(alice.key, carol)
    senders = {
        "CHAIN-100": payers(node.session),
        "CHAIN-110": [random_address(node.session.random), alice.wallet_address],
    }
    on = Guarded(judge, node, account, usage_key_hash(key, node.session.profile), senders)
    only_the_admin_writes(on, Objects(full, empty, p.id, minted), {})
    with judge("CHAIN-090"):
        on.write("add_group", "by the new admin", "d", [], [])
        groups = node.contract.items("list_groups", account.hash)
        judge.that("by the new admin" in pluck(groups, "name"), "the new admin's group in the contract", groups)
    with judge("MODE-050", why="a group that the new admin adds takes the place of no other"):
        for group in (full, empty):
            name = printed(member(only(groups, "id", group), "name"))
            judge.that(name.startswith(node.label), f"the group {group} with the name that it had before", name)


# ------------------------------------------------------------------------------------------------ what the admin can do


@case("admin-writes", requirements=["CHAIN-090"], needs=NEEDS)
def admin_writes(judge: Judge, node: Node) -> None:
    """The admin wallet writes groups, what is in them, actions, and wallets by either function of the contract."""
    account = node.accounts.by_wallet(node.wallets.new("carol"))
    write, items = writes_by_admin(node, account, judge), node.contract.items
    own, cid_hash = account.hash, hashed(node, "a")
    with judge.apart():
        for name in ("first", "second"):
            node.contract.write(account.admin, "add_group", own, name, f"of the {name}", [], [])
        groups = items("list_groups", own)
        judge.same(pluck(groups, "name"), ["first", "second"], "the names of the groups in the contract")
        g, h = (group_id(member(group, "id")) for group in groups)
        node.contract.write(account.admin, "update_group", own, g, "changed", "of the changed", [], [])
        node.contract.write(account.admin, "remove_group", own, h)
        left = {"id": g, "name": "changed", "description": "of the changed"}
        judge.same(items("list_groups", own), [left], "the groups in the contract")
    with judge.apart():
        action = {"cidHash": cid_hash, "name": "named", "description": "d"}
        node.contract.write(account.admin, "add_action", own, cid_hash, "named", "d")
        judge.same(items("list_actions", own), [action], "the actions in the contract")
        node.contract.write(account.admin, "update_action_metadata", own, cid_hash, "renamed", "e")
        action |= {"name": "renamed", "description": "e"}
        judge.same(items("list_actions", own), [action], "the actions in the contract")
        node.contract.write(account.admin, "delete_action", own, cid_hash)
        judge.same(items("list_actions", own), [], "the actions in the contract")
    minted = [node.minting.wallet(account.admin) for _ in range(2)]
    judge.set_up(minted[0].address != minted[1].address, "two wallets of two mints")
    for function, one in zip((REGISTRATION, "create_wallet"), minted, strict=True):
        write(function, one.address, one.path, function, "d")
    with judge():
        wallets = items("list_wallets", own)
        judge.same_hexes(pluck(wallets, "walletAddress"), [one.address for one in minted], "the contract's wallets")
        judge.same(pluck(wallets, "name"), [REGISTRATION, "create_wallet"], "the names of the contract's wallets")
    write("add_group", node.label, "d", [], [])
    pkp, group = member(wallets[0], "id"), group_named(node, account, node.label)
    for verb, preposition, there in (("add", "to", True), ("remove", "from", False)):
        write(f"{verb}_pkp_{preposition}_group", group, pkp)
        write(f"{verb}_action_{preposition}_group", group, cid_hash)
        with judge():
            listed = pluck(items("list_wallets_in_group", own, group), "walletAddress")
            judge.same_hexes(listed, [minted[0].address][:there], "the wallets of the group in the contract")
            actions = pluck(items("list_actions_in_group", own, group), "cidHash")
            judge.same(actions, [cid_hash][:there], "the actions of the group in the contract")


@case("admin-writes-usage-keys", requirements=["CHAIN-090"], needs=NEEDS)
def admin_writes_usage_keys(judge: Judge, node: Node) -> None:
    """The admin wallet attaches, changes and removes usage keys."""
    account = node.accounts.by_wallet(node.wallets.new("carol"))
    write = writes_by_admin(node, account, judge)
    key = node.minting.usage_key(account.admin)
    node.minting.register(account, key)

    def must_be_recorded(name: str, description: str) -> None:
        with judge():
            records = node.contract.items("list_usage_api_keys", account.hash)
            judge.items(records, [{"name": name, "description": description}], "the usage keys in the contract")

    created = Permissions(can_create_groups=True).arguments
    write("set_usage_api_key", key.hash, node.session.stated(NEVER), BALANCE, "named", "d", *created)
    must_be_recorded("named", "d")
    write("update_usage_api_key_metadata", key.hash, "renamed", "e")
    must_be_recorded("renamed", "e")
    changed = Permissions(can_delete_groups=True, manage_ipfs_ids_in_groups=[0])
    write("update_usage_api_key", key.hash, "changed", "f", *changed.arguments)
    with judge():
        record = member(node.contract.view("get_usage_api_key", account.hash, key.hash), "usageKey")
        expected = {"name": "changed", "description": "f", **changed.record}
        judge.members(record, expected, "the contract's record of the key")
    write("remove_usage_api_key", key.hash)
    with judge():
        judge.same(node.contract.items("list_usage_api_keys", account.hash), [], "the usage keys in the contract")


# Key hashes are public on the chain. Whether the contract takes one that another account holds is silent; that it then
# is that account's still follows from whose key it is. A contract that takes none of these transactions passes.
@case("keys-of-others-stay-theirs", requirements=["ACC-120", "KEYLIFE-180"], needs=[*NEEDS, "managed_accounts"])
def keys_of_others_stay_theirs(judge: Judge, node: Node) -> None:
    """A wallet that attaches, changes and removes another account's keys in its own account takes nothing from them."""
    dana = node.accounts.by_wallet(node.wallets.new("mallory"))
    alice = node.accounts.new().key
    key = node.usage_keys.add(alice, Permissions(can_create_groups=True)).key
    hashes = [usage_key_hash(key, node.session.profile), account_hash(alice, node.session.profile)]
    node.contract.write(dana.admin, "add_group", dana.hash, f"{node.label} of mallory", "d", [], [])
    node.session.accept(node.groups.creation(key, "before"))
    reads = [unchanged_list(node.session, name, alice) for name in ("list_api_keys", "list_groups")]

    def take(function: str, *arguments: object) -> None:
        with judge():
            before = read_before(node.session, reads)
            node.contract.send(dana.admin, function, [dana.hash, *arguments], to_be_reverted=True)
            must_be_unchanged(node.session, reads, before, node.session.last_exchange)

    for taken in hashes:
        forever = [node.session.stated(NEVER), BALANCE, "n", "d"]
        take("set_usage_api_key", taken, *forever, *NO_PERMISSIONS.arguments)
        take("update_usage_api_key", taken, "n", "d", *Permissions(can_delete_groups=True).arguments)
    with judge():
        page = {**one_item_page(node.session), "page_size": node.session.target.page_size}
        answer = node.session.send(node.session.request("list_groups", key, **page))
        was_accepted(node.session, answer, or_refused=["any"])
        judge.that("of mallory" not in answer.text, "a key that opens no account but its own", answer.text)
    with judge("KEYLIFE-180"):
        node.session.accept(node.groups.creation(key, "attached"))
        node.session.accept(node.groups.creation(alice, "own"))
    for taken in hashes:
        take("remove_usage_api_key", taken)
    with judge("KEYLIFE-180"):
        node.session.accept(node.groups.creation(key, "removed"))
    groups = node.groups.list(alice)
    with judge():
        judge.that(len(groups) >= 4, "each group in the account that the key is of", groups)
        of_dana = node.contract.items("list_groups", dana.hash)
        judge.same(len(of_dana), 1, "the number of groups of the other account")
