"""Who may write to a ChainSecured account, asked of the contract function by function.

"What the service does" 4, "Authentication" 8: administrative writes come from the admin wallet, and the contract takes
them from nobody else. Each write is asked by eth_call, and held against the same one from the admin wallet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from conformance.cases import Judge, case
from conformance.service.accounts import ChainSecuredAccount
from conformance.service.bindings import bound
from conformance.service.contract import dry_run_call, payers
from conformance.service.derivations import (
    ID_RULE,
    hashed_cid,
    pkp_id,
    random_address,
    random_hash,
    usage_key_hash,
)
from conformance.service.groups import group_id
from conformance.service.minting import BALANCE, NEVER, MintedWallet
from conformance.service.node import Node
from conformance.service.refusal import Refusals
from conformance.service.usage_keys import ALL_PERMISSIONS, NO_PERMISSIONS
from conformance.values.ids import Address, GroupId, PkpId
from conformance.values.json_values import member, pluck

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
                who = "the payers" if requirement == "CHAIN-100" else "a stranger, another account's owner, a usage key"
                why = f"the contract takes {function} from the admin wallet alone, not from {who}"
                with self.judge.apart(requirement, *filter(None, [also]), why=why):
                    for outcome in islice(outcomes, len(calls)):
                        refusals.must_revert_dry(dry_run_call(function), outcome)

    def write(self, function: str, *arguments: object) -> None:
        """Send a write of the admin wallet."""
        self.node.contract.write(self.account.admin, function, self.account.hash, *arguments)

    def group(self, pkp_ids: Sequence[str] = (), hashes: Sequence[str] = ()) -> GroupId:
        """A new group, written by the admin wallet."""
        self.write("add_group", self.node.label, "d", list(pkp_ids), list(hashes))
        return group_id(member(self.node.contract.items("list_groups", self.account.hash)[-1], "id"))


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
    requirements=["CHAIN-090", "CHAIN-100", "CHAIN-110"],
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
        names = pluck(node.contract.items("list_groups", account.hash), "name")
        judge.that("by the new admin" in names, "the new admin's group in the contract", names)
