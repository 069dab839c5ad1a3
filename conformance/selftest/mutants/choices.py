"""Choices that the specification leaves open, made otherwise than the profile of the reference node states them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conformance.selftest.tools.accounts import Hashes, Write, account_of, change_list, groups_listing, whole
from conformance.selftest.tools.alter import answer_instead, change_query, refusal, wrap
from conformance.selftest.tools.alter_permissions import acts_as_owner
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import LARGEST_PAGE, LISTS
from reference_node.chain.account_config import Group, Wallet
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node
from reference_node.permission.keys import pkp_id


def _forgiving(write: Write, error: str, *arguments: object) -> None:
    """Do a write; the refusal with this error counts as success."""
    try:
        write(*arguments)
    except ContractRefusal as refused:
        if refused.error != error:
            raise


@mutant("ACT-180", also="ERR-150 LIST-170")
def second_registration_is_refused_and_written(node: Node) -> None:
    """Refuse a second `add_action` of one CID, and store its labels."""

    def add(write: Write, *arguments: object) -> None:
        try:
            write(*arguments)
        except ContractRefusal:
            node.accounts.update_action_metadata(*arguments)  # type: ignore[arg-type]  # the same as add_action's
            raise

    wrap(node.accounts, "add_action", add)


@mutant("ACT-190")
def grouped_actions_are_the_accounts(node: Node) -> None:
    """Register an action in `add_action_to_group`, though the profile states otherwise."""
    of_group: set[tuple[int, bytes]] = set()
    register = node.accounts.add_action

    def add(write: Write, key: int, group_id: int, cid: bytes) -> None:
        write(key, group_id, cid)
        account = account_of(node, key)
        if cid not in [action.cid_hash for action in whole(node.accounts.actions, account)]:
            register(account, cid, "", "")
            of_group.add((account, cid))

    def name(write: Write, key: int, cid: bytes, *labels: str) -> None:
        if (account_of(node, key), cid) in of_group:
            node.accounts.update_action_metadata(key, cid, *labels)
            of_group.discard((account_of(node, key), cid))
        else:
            write(key, cid, *labels)

    wrap(node.accounts, "add_action_to_group", add)
    wrap(node.accounts, "add_action", name)


@mutant("ACT-200")
def deleted_actions_stay_in_groups(node: Node) -> None:
    """Keep a deleted action in its groups, though the profile states otherwise."""

    def delete(write: Write, key: int, cid: bytes) -> None:
        listing = groups_listing(node, key, cid)
        write(key, cid)
        for group_id in listing:
            node.accounts.add_action_to_group(key, group_id, cid)

    wrap(node.accounts, "delete_action", delete)


@mutant(
    each=[
        row("add_action", ("add_action",), "ActionExists", breaks="ACT-180"),
        row("add-to-group", ("add_pkp_to_group", "add_action_to_group"), "AlreadyInGroup", breaks="GRP-260"),
        row("remove-from-group", ("remove_pkp_from_group", "remove_action_from_group"), "NotInGroup", breaks="GRP-260"),
        row("unknown-wallet", ("add_pkp_to_group",), "WalletUnknown", breaks="PKP-160"),
    ],
    also="ERR-140",
)
def refusal_is_answered_as_success(node: Node, methods: Sequence[str], error: str) -> None:
    """Answer success where the contract says {error}, which the profile states to be a refusal."""
    for method in methods:
        wrap(node.accounts, method, lambda write, *arguments: _forgiving(write, error, *arguments))


@mutant("PKP-160")
def unknown_wallets_are_left_out(node: Node) -> None:
    """Drop unknown wallets from a group's list, though the profile states that they are not found."""

    def known(key: int, pkps: Hashes) -> list[bytes]:
        own = [wallet.id for wallet in whole(node.accounts.wallets, account_of(node, key))]
        return [pkp for pkp in pkps if pkp in own or not any(pkp)]

    def add(write: Callable[..., int], key: int, name: str, description: str, pkps: Hashes, cids: Hashes) -> int:
        return write(key, name, description, known(key, pkps), cids)

    def update(write: Write, key: int, group: Group, pkps: Hashes, cids: Hashes) -> None:
        write(key, group, known(key, pkps), cids)

    wrap(node.accounts, "add_group", add)
    wrap(node.accounts, "update_group", update)


@mutant("LIST-080")
def default_page_has_two_items(node: Node) -> None:
    """Show two items on a page without `page_size`, though the profile states twenty."""
    change_query(node, LISTS, lambda query: {"page_size": "2", **query})


@mutant("LIST-090")
def larger_pages_are_cut_down(node: Node) -> None:
    """Cut a page size over the largest down, though the profile states that it is refused."""

    def cut(query: dict[str, str]) -> dict[str, str]:
        size = query.get("page_size", "")
        return {**query, "page_size": LARGEST_PAGE} if size.isdecimal() and int(size) > int(LARGEST_PAGE) else query

    change_query(node, LISTS, cut)


@mutant("LIST-090")
def largest_page_is_refused(node: Node) -> None:
    """Refuse the largest page size that the profile states."""
    answer_instead(node, "list_groups", refusal(422), lambda request: f"page_size={LARGEST_PAGE}" in request.query)


@mutant("LIST-110", each=["usage_keys", "wallets", "wallets_in_group"])
def view_is_newest_first(node: Node, view: str) -> None:
    """List `{view}` newest first, where the profile states the order of creation, or of adding to the group."""
    change_list(node, view, lambda *listed: listed[-1][::-1])


@mutant("LIST-110")
def actions_are_listed_since_a_group_named_them(node: Node) -> None:
    """List the account's actions in the order in which a request first named them, in a group or in the account."""
    named: dict[bytes, int] = {}

    def join(write: Write, key: int, group_id: int, action: bytes) -> None:
        write(key, group_id, action)
        named.setdefault(action, len(named))

    def register(write: Write, key: int, action: bytes, *labels: object) -> None:
        write(key, action, *labels)
        named.setdefault(action, len(named))

    wrap(node.accounts, "add_action_to_group", join)
    wrap(node.accounts, "add_action", register)
    change_list(node, "actions", lambda _, found: sorted(found, key=lambda action: named.get(action.cid_hash, 0)))


@mutant("LIST-160")
def unknown_groups_are_empty(node: Node) -> None:
    """Answer an empty list for an unknown group, though the profile states that it is not found."""

    def forgiving(view: Callable[..., list[object]], *arguments: int) -> list[object]:
        try:
            return view(*arguments)
        except ContractRefusal:
            return []

    wrap(node.accounts, "wallets_in_group", forgiving)
    wrap(node.accounts, "actions_in_group", forgiving)


@mutant("LIST-160", also="ACC-110")
def lists_of_foreign_groups_are_shown(node: Node) -> None:
    """Show another account's group in `list_actions`, where the caller has none of that id."""
    accounts: list[int] = []

    def add(write: Callable[..., int], key: int, *arguments: object) -> int:
        accounts.append(node.accounts.key_info(key).account_hash)
        return write(key, *arguments)

    def actions(view: Callable[..., list[object]], account: int, *arguments: int) -> list[object]:
        for holder in (account, *accounts):
            try:
                return view(holder, *arguments)
            except ContractRefusal:
                continue
        return view(account, *arguments)

    wrap(node.accounts, "add_group", add)
    wrap(node.accounts, "actions_in_group", actions)


@mutant("LIST-180")
def own_wallet_is_listed(node: Node) -> None:
    """Show the account's own wallet first in `list_wallets`, though the profile states that it is not listed."""

    def with_own(account: int, listed: list[Wallet]) -> list[Wallet]:
        admin = node.accounts.account(account).admin_wallet
        return [Wallet(pkp_id(admin), admin, 0, "", ""), *listed]

    change_list(node, "wallets", with_own)


@mutant("AUTH-140")
def usage_keys_rename_keys(node: Node) -> None:
    """Let every usage key rename keys of its account, though the profile leaves that to the account key."""
    acts_as_owner(node, "update_usage_key_metadata")


@mutant("SCOPE-130")
def creators_fill_groups(node: Node) -> None:
    """Let `can_create_groups` suffice to fill a new group, though the profile asks for the wildcard scopes."""
    acts_as_owner(node, "add_group", lambda permissions: permissions.can_create_groups)
