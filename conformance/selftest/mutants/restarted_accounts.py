"""Faults of restarts in an account: its labels and their order, what its keys run, what it writes later and pays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress

from conformance.selftest.mutants.restarts import restarts_of
from conformance.selftest.tools.accounts import Write, account_of, change_list, let_execute, permissions_of, whole
from conformance.selftest.tools.alter import (
    Answered,
    Received,
    answer_instead,
    body_of,
    change_items,
    each,
    lasting,
    members,
    note_accepted,
    refusal,
    wrap,
)
from conformance.selftest.tools.alter_chain_answers import Values, change_view
from conformance.selftest.tools.alter_payments import give, take_also
from conformance.selftest.tools.alter_runs import all_groups, change_verdicts, permits
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import LISTS
from reference_node.billing import Cents, charged
from reference_node.chain.account_config import Group, Permissions, UsageKey
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.permission.cid import cid_hash
from reference_node.problems import Forbidden

Hashes = list[bytes]
WORD = 31
"""Bytes of a text that the chain keeps in one slot."""


# ------------------------------------------------------------------------------------------------- labels, order


@mutant(
    each=[
        row("of-groups", "list_groups", "name", breaks="GRP-020"),
        row("of-usage-keys", "list_api_keys", "description", breaks="UKEY-030"),
        row("of-actions", "list_actions", "description", breaks="EP-300"),
    ],
    restarts=True,
)
def restart_cuts_long_labels(node: Node, operation: str, label: str) -> None:
    """Keep of each {label} in `{operation}` what one slot of the chain holds over a restart."""
    if restarts_of(node):
        cut: Callable[[object], str] = lambda text: str(text).encode()[:WORD].decode(errors="ignore")  # noqa: E731 - one expression
        change_items(node, operation, each(lambda item: {**item, label: cut(item[label])}))


@mutant("LIST-010", restarts=True)
def restart_sorts_groups_by_name(node: Node) -> None:
    """List the groups by their names after a restart."""
    if restarts_of(node):
        change_items(node, "list_groups", lambda items: sorted(items, key=lambda item: str(members(item)["name"])))


@mutant("UKEY-020", "UKEY-030", restarts=True)
def kill_loses_new_labels_of_usage_keys(node: Node) -> None:
    """Keep the new labels of a usage key at an orderly end."""
    unsaved: dict[tuple[int, int], tuple[str, str]] = lasting(node, "unsaved labels", {})
    for names, labels in unsaved.items():
        with suppress(ContractRefusal):  # the key has been removed, or its account converted
            node.accounts.update_usage_key_metadata(*names, *labels)
    unsaved.clear()

    def rename(write: Write, acting: int, hashed: int, *labels: object) -> None:
        key = node.accounts.usage_key(acting, hashed)
        write(acting, hashed, *labels)
        unsaved.setdefault((acting, hashed), (key.name, key.description))

    def close(original: Callable[[], None]) -> None:
        unsaved.clear()
        original()

    wrap(node.accounts, "update_usage_key_metadata", rename)
    wrap(node, "close", close)


# ------------------------------------------------------------------------------------------------- runs


@mutant("UKEY-280", restarts=True)
def restart_reads_wildcards_as_the_actions_there_are(node: Node) -> None:
    """Let a usage key of all groups that was made before a restart run after it what groups listed then, alone."""
    listed: set[bytes] = lasting(node, "listed", set())
    keys: set[int] = lasting(node, "keys", set())
    before, made_before = frozenset(listed), frozenset(keys)

    def set_key(write: Write, acting: int, key: UsageKey) -> None:
        keys.add(key.key_hash)
        write(acting, key)

    def add(write: Callable[..., int], acting: int, name: str, text: str, pkps: Hashes, actions: Hashes) -> int:
        listed.update(actions)
        return write(acting, name, text, pkps, actions)

    def update(write: Write, acting: int, group: Group, pkps: Hashes, actions: Hashes) -> None:
        listed.update(actions)
        write(acting, group, pkps, actions)

    def permitted(was: bool, run: tuple[int, bytes, bytes | None]) -> bool:
        held = permissions_of(node, run[0]) if run[0] in made_before else None
        return was and (held is None or 0 not in held.execute_in_groups or run[1] in before)

    wrap(node.accounts, "set_usage_key", set_key)
    wrap(node.accounts, "add_group", add)
    wrap(node.accounts, "update_group", update)
    if restarts_of(node):
        change_verdicts(node, permitted)


@mutant("UKEY-120", also="EXEC-010 EP-360 UKEY-280", restarts=True)
def restart_reads_scope_wildcards_as_the_groups_there_are(node: Node) -> None:
    """Refuse `add_action_to_group` after a restart to a usage key of all groups, where a group is newer than that."""
    made: set[tuple[int, int]] = lasting(node, "groups made", set())
    before = frozenset(made)

    def add_group(write: Callable[..., int], acting: int, *others: object) -> int:
        group = write(acting, *others)
        made.add((account_of(node, acting), group))
        return group

    def add_action(write: Write, acting: int, group: int, action: bytes) -> None:
        held = permissions_of(node, acting)
        if held and 0 in held.manage_ipfs_ids_in_groups and (account_of(node, acting), group) not in before:
            raise Forbidden("not-permitted", "the key was made before this group")
        write(acting, group, action)

    wrap(node.accounts, "add_group", add_group)
    if restarts_of(node):
        wrap(node.accounts, "add_action_to_group", add_action)


@mutant(
    each=[
        row("wallets", "remove_pkp_from_group", 2, breaks="EP-220"),
        row("actions", "remove_action_from_group", 1, breaks="EP-210"),
    ],
    also="EXEC-090",
    restarts=True,
)
def restart_lets_run_what_was_taken_out(node: Node, removal: str, place: int) -> None:
    """Permit runs after a restart with what `{removal}` took out of a group before."""
    removed: set[bytes] = lasting(node, "removed", set())
    before = frozenset(removed)

    def remove(write: Write, acting: int, group: int, member: bytes) -> None:
        write(acting, group, member)
        removed.add(member)

    wrap(node.accounts, removal, remove)
    change_verdicts(node, lambda was, run: was or run[place] in before)


@mutant(
    each=[
        row("wallets", "add_pkp_to_group", "remove_pkp_from_group", breaks="EP-370"),
        row("actions", "add_action_to_group", "remove_action_from_group", breaks="EP-360"),
    ],
    also="LIST-170 EXEC-020 EXEC-010",
    restarts=True,
)
def restart_takes_out_what_came_back(node: Node, addition: str, removal: str) -> None:
    """Take out of a group at a restart what `{removal}` took out once and `{addition}` put back before."""
    removed: list[tuple[object, ...]] = lasting(node, "removed", [])
    returned: list[tuple[object, ...]] = lasting(node, "returned", [])
    for arguments in returned:
        with suppress(ContractRefusal):  # the group was removed
            getattr(node.accounts, removal)(*arguments)
    returned.clear()

    def remove(write: Write, *arguments: object) -> None:
        write(*arguments)
        removed.append(arguments)
        returned[:] = [kept for kept in returned if kept != arguments]

    def add(write: Write, *arguments: object) -> None:
        write(*arguments)
        if arguments in removed:
            returned.append(arguments)

    wrap(node.accounts, removal, remove)
    wrap(node.accounts, addition, add)


def _made_with(node: Node) -> Mapping[int, Permissions]:
    """The permissions with which usage keys were made before the last restart, by their hashes."""
    made: dict[int, Permissions] = lasting(node, "made", {})
    before = dict(made)

    def add(write: Write, acting: int, key: UsageKey) -> None:
        write(acting, key)
        made[key.key_hash] = key.permissions

    wrap(node.accounts, "set_usage_key", add)
    return before


@mutant("KEYLIFE-030", restarts=True)
def restart_lets_keys_run_what_they_once_could(node: Node) -> None:
    """Decide runs after a restart by the permissions, too, with which a usage key was made."""
    before = _made_with(node)

    def permitted(was: bool, run: tuple[int, bytes, bytes | None]) -> bool:
        key, action, wallet = run
        if was or key not in before or not permissions_of(node, key):
            return was
        ids = before[key].execute_in_groups
        return any(permits(group, action, wallet) for group in all_groups(node, key, None if 0 in ids else ids))

    change_verdicts(node, permitted)


# ------------------------------------------------------------------------------------------------- later writes


@mutant("KEYLIFE-070", also="KEYLIFE-030", restarts=True)
def renaming_after_a_restart_writes_old_permissions(node: Node) -> None:
    """Write with new labels the permissions with which a usage key was made, where that was before a restart."""
    before = _made_with(node)

    def rename(write: Write, acting: int, hashed: int, name: str, text: str) -> None:
        write(acting, hashed, name, text)
        if hashed in before:
            node.accounts.update_usage_key(acting, hashed, name, text, before[hashed])

    wrap(node.accounts, "update_usage_key_metadata", rename)


@mutant("EP-280", restarts=True)
def restart_bars_deleted_actions(node: Node) -> None:
    """Refuse `add_action` after a restart for an action that was deleted before it."""
    deleted: set[object] = lasting(node, "deleted", set())
    before = frozenset(deleted)

    def is_barred(request: Received) -> bool:
        return f"0x{cid_hash(str(body_of(request).get('action_ipfs_cid'))).hex()}" in before

    note_accepted(node, "delete_action", lambda request, _: deleted.add(body_of(request).get("hashed_cid")))
    answer_instead(node, "add_action", refusal(409), is_barred)


# ------------------------------------------------------------------------------------------------- credit


@mutant("BILL-180", also="BILL-320", restarts=True)
def restart_makes_runs_free(node: Node) -> None:
    """Charge for runs in the first process and in each second one after it, and nothing in the others."""
    if restarts_of(node) % 2:
        wrap(node.runs, "price", lambda _: 0)


@mutant("BILL-150", also="BILL-020 LIM-050 LIST-150", restarts=True)
def restart_bills_lists(node: Node) -> None:
    """Charge a cent for each list after a restart."""
    if restarts_of(node):
        take_also(node, LISTS, lambda _: 1)


@mutant("BILL-230", also="BILL-020 MODE-100", restarts=True)
def restart_leaves_the_credit_of_converted_accounts(node: Node) -> None:
    """Look for the credit of a wallet that took an account over at the wallet before it, after a restart."""
    moved: set[Address] = lasting(node, "moved", set())
    before = frozenset(moved)

    def move(original: Callable[..., None], account: int, wallet: Address, new: Address) -> None:
        original(account, wallet, new)
        moved.add(new)

    wrap(node.billing, "move", move)
    wrap(node.billing, "balance", lambda original, wallet: 0 if wallet in before else original(wallet))


# ------------------------------------------------------------------------------------------------- attached keys


@mutant("UKEY-380", restarts=True)
def restart_forgets_balances_of_attached_keys(node: Node) -> None:
    """Show no balance in the contract's record of a usage key in each second process."""

    def emptied(_: Values, values: Values) -> Values:
        (record,) = values
        hashed, expiration, _balance, *others = record
        return ((hashed, expiration, 0, *others),)

    if restarts_of(node) % 2:
        change_view(node, "get_usage_api_key", emptied)


@mutant("BILL-020", each=[row("first", 0), row("last", -1)], also="BILL-070 BILL-120", restarts=True)
def restart_finds_customers_by_email(node: Node, place: int) -> None:
    """Answer all accounts of an email the balance of one of them after a restart; the label says of which."""
    wallets: dict[str, list[Address]] = lasting(node, "wallets", {})
    before = {wallet: made[place] for made in wallets.values() for wallet in made}

    def note(request: Received, given: Answered) -> None:
        email, address = body_of(request).get("email"), str(given.told["wallet_address"])
        if isinstance(email, str):
            wallets.setdefault(email, []).append(Address(bytes.fromhex(address.removeprefix("0x"))))

    note_accepted(node, "new_account", note)
    wrap(node.billing, "balance", lambda original, wallet: original(before.get(wallet, wallet)))


@mutant("BILL-320", each=[row("empty", False), row("with-credit", True)], also="MODE-090 MODE-100", restarts=True)
def restart_bills_the_former_wallet(node: Node, has_credit: bool) -> None:
    """Charge the runs of a converted account to the wallet before after a restart; the label says what that has."""
    former: dict[int, Address] = lasting(node, "former", {})
    before = dict(former)

    @contextmanager
    def charge(usual: Callable[..., AbstractContextManager[None]], account_hash: int, cents: Cents) -> Iterator[None]:
        wallet = before.get(account_hash)
        with usual(account_hash, cents) if wallet is None else charged(node.billing, wallet, cents):
            yield

    def move(original: Callable[..., None], account: int, wallet: Address, new: Address) -> None:
        original(account, wallet, new)
        former[account] = wallet
        if has_credit:
            give(node, wallet, 100)

    wrap(node.billing, "move", move)
    wrap(node, "charged", charge)


@mutant("LIST-010", restarts=True)
def restart_sorts_groups_by_the_text_of_their_ids(node: Node) -> None:
    """List groups after a restart in the order of their ids as texts."""
    if restarts_of(node):
        change_list(node, "groups", lambda _, groups: sorted(groups, key=lambda group: str(group.id)))


@mutant("GRPLIFE-120", also="KEYLIFE-030", restarts=True)
def restart_gives_the_id_of_the_newest_group_again(node: Node) -> None:
    """Count on from the newest group there is after a restart: the next one has the rights of one that was removed."""
    holders: dict[tuple[int, int], list[int]] = lasting(node, "holders", {})
    before = dict(holders)

    def remove(write: Write, acting: int, group: int) -> None:
        account = account_of(node, acting)
        keys = whole(node.accounts.usage_keys, account)
        if group > max((one.id for one in whole(node.accounts.groups, account) if one.id != group), default=0):
            holders[account, group] = [key.key_hash for key in keys if group in key.permissions.execute_in_groups]
        write(acting, group)

    def add(write: Callable[..., int], acting: int, *others: object) -> int:
        account, made = account_of(node, acting), write(acting, *others)
        for hashed in before.pop((account, made - 1), []):
            let_execute(node, account, hashed, made)
        return made

    wrap(node.accounts, "remove_group", remove)
    wrap(node.accounts, "add_group", add)
