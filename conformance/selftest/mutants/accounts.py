"""Faults about accounts: what belongs to which of them, and what the chain is told."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from conformance.selftest.tools.accounts import Write, account_of, accounts_made, whole
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    body_of,
    change_items,
    intercept,
    refusal,
    wrap,
)
from conformance.selftest.tools.mutant import mutant, row
from reference_node.assembly import build_node
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node

Read = Callable[..., list[object]]


@mutant("ACC-010", also="ACC-080 EP-230 EP-350 LIST-050 LIST-170")
def wallets_are_never_listed(node: Node) -> None:
    """Answer `list_wallets` with an empty list."""
    change_items(node, "list_wallets", lambda _: [])


@mutant("ACC-080", "PKP-040", "PKP-110", also="EXEC-190 PKP-170")
def all_wallets_have_one_path(node: Node) -> None:
    """Register each wallet with derivation path 7."""
    wrap(node.accounts, "create_wallet", lambda write, key, address, _, *labels: write(key, address, 7, *labels))


@mutant("ACC-020", "ACC-080", "ACC-140", also="ACC-030 ACC-040 CHAIN-050 CHAIN-080 MINT-120 MODE-020 MODE-030 MODE-190")
def writes_reach_no_public_chain(node: Node) -> None:
    """Write to a chain of the node's own; the contract on the public one stays empty."""
    node.rpc = build_node(node.settings).rpc


@mutant("ACC-030")
def payer_is_every_accounts_admin(node: Node) -> None:
    """Create each account with the payer's address as its admin wallet."""
    payer = node.accounts.api_payers()[0]
    wrap(node.accounts, "new_account", lambda write, account, _, *labels: write(account, payer, *labels))


@mutant("ACC-040", "AKEY-070", also="ACC-140 ACC-170 AKEY-060 GRP-250")
def accounts_are_born_chain_secured(node: Node) -> None:
    """Convert each account to its own wallet when it is created, so that it is not managed."""

    def create(write: Write, account: int, wallet: bytes, *labels: str) -> None:
        write(account, wallet, *labels)
        node.accounts.convert_to_chain_secured(account, wallet)

    wrap(node.accounts, "new_account", create)


@mutant("ACC-070", "ACC-140")
def groups_are_not_created(node: Node) -> None:
    """Answer a group id from `add_group` to an account key and create nothing."""

    def add(write: Callable[..., int], acting_key: int, *arguments: object) -> int:
        info = node.accounts.key_info(acting_key)
        return 1 if info.is_account_key and info.managed else write(acting_key, *arguments)

    wrap(node.accounts, "add_group", add)


@mutant("ACC-090", also="EP-260 LIST-050 LIST-170")
def only_one_action_is_kept(node: Node) -> None:
    """Show in the account's list of actions only the one that was registered first."""
    wrap(node.accounts, "actions", lambda view, account, page, size: view(account, page, size)[:1] if page == 0 else [])


@mutant("ACC-110", each=[row("groups", breaks="AKEY-060"), "wallets", row("actions", also="EP-260"), "usage_keys"])
def view_shows_every_account(node: Node, view: str) -> None:
    """List the `{view}` of every account, whosever list is asked for."""
    made = accounts_made(node)

    def read(one: Read, _: int, page: int, size: int) -> list[object]:
        return [item for account in made for item in whole(one, account)][page * size : (page + 1) * size]

    wrap(node.accounts, view, read)


def _look_in_other_accounts(node: Node, method: str) -> None:
    """Try a call in the accounts made before, the newest first, where the caller's has no group of this id."""
    made = accounts_made(node)

    def called(one: Callable[..., object], acting: int, *arguments: object) -> object:
        for candidate in (acting, *reversed(made)):
            try:
                return one(candidate, *arguments)
            except ContractRefusal as refusal:
                if refusal.error != "GroupUnknown":
                    raise
        return one(acting, *arguments)

    wrap(node.accounts, method, called)


@mutant("ACC-110", also="LIST-160")
def wallets_are_listed_of_groups_of_other_accounts(node: Node) -> None:
    """Look for a group in other accounts, too, where `list_wallets_in_group` does not find it in the caller's."""
    _look_in_other_accounts(node, "wallets_in_group")


@mutant(
    "ACC-120",
    "UKEY-330",
    each=["add_action_to_group", "remove_action_from_group", "remove_pkp_from_group", "remove_group"],
)
def write_finds_groups_of_other_accounts(node: Node, method: str) -> None:
    """Do `{method}` in whichever account has the group, where the caller's has none of this id."""
    _look_in_other_accounts(node, method)


@mutant("ACC-120", each=["update_action_metadata", "delete_action"], also="ACT-210 ERR-150")
def write_reaches_the_action_in_every_account(node: Node, method: str) -> None:
    """Do `{method}` in every account that has registered the action."""
    made = accounts_made(node)

    def write_for(write: Write, acting_key: int, *arguments: object) -> None:
        for account in made:
            if account != account_of(node, acting_key):
                with suppress(ContractRefusal):
                    write(account, *arguments)
        write(acting_key, *arguments)

    wrap(node.accounts, method, write_for)


@mutant("ACC-200", "AKEY-030", also="AKEY-050 EP-050")
def equal_bodies_give_one_account(node: Node) -> None:
    """Answer `new_account` with the account that was made with the same body before."""
    known: dict[bytes, Answered] = {}

    async def create(request: Received, forward: Forward) -> Answered:
        if request.body not in known:
            known[request.body] = await forward(request)
        return known[request.body]

    intercept(node, "new_account", create)


@mutant("ACC-200")
def emails_belong_to_one_account(node: Node) -> None:
    """Refuse `new_account` with an email that was used before."""
    known: set[str] = set()

    async def create(request: Received, forward: Forward) -> Answered:
        email = body_of(request).get("email")
        if not isinstance(email, str):
            return await forward(request)
        if email in known:
            return refusal(409)
        known.add(email)
        return await forward(request)

    intercept(node, "new_account", create)
