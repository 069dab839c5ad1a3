"""Faults about what a group permits to run."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from conformance.selftest.tools.accounts import account_of, groups_of_usage_keys, whole
from conformance.selftest.tools.alter import change_body, members, wrap
from conformance.selftest.tools.alter_runs import Lists, all_groups, decide, own_groups, permits
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import WILDCARD
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node

NEAR_BITS = 8


@mutant("GRP-060", also="EXEC-010 EXEC-020 EXEC-090 UKEY-260")
def a_group_pairs_its_lists(node: Node) -> None:
    """Permit a group's first action its first wallet alone, the second its second, where no wildcard is listed."""

    def paired(group: Lists, action: bytes, wallet: bytes | None) -> bool:
        if (
            len(group.actions) == 1
            or len(group.wallets) == 1
            or wallet is None
            or WILDCARD in (*group.actions, *group.wallets)
        ):
            return permits(group, action, wallet)
        return (action, wallet) in zip(group.actions, group.wallets, strict=False)

    decide(node, paired)


@mutant("GRP-090", also="EXEC-090 EXEC-110 GRP-070")
def the_wildcard_covers_no_account_of_many_wallets(node: Node) -> None:
    """Ignore the wildcard of wallets where the account has more than three of them."""

    def reach(node: Node, key: int) -> list[Lists]:
        many = len(node.accounts.wallets(account_of(node, key), 0, 4)) > 3
        return [
            replace(group, wallets=tuple(wallet for wallet in group.wallets if wallet != WILDCARD)) if many else group
            for group in own_groups(node, key)
        ]

    decide(node, reach=reach)


@mutant("GRP-100", also="EXEC-090 EXEC-100 EXEC-110 GRP-070 GRP-080")
def a_wildcard_counts_only_alone(node: Node) -> None:
    """Ignore a wildcard beside concrete entries."""

    def alone(group: Lists, action: bytes, wallet: bytes | None) -> bool:
        any_action, any_wallet = group.actions == (WILDCARD,), group.wallets == (WILDCARD,)
        return (any_action or action in group.actions) and (any_wallet or wallet is None or wallet in group.wallets)

    decide(node, alone)


@mutant(
    each=[
        row("wallets", "add_pkp_to_group", breaks="EXEC-110", also="GRP-070"),
        row("actions", "add_action_to_group", breaks="EXEC-100", also="GRP-080"),
    ],
    also="EXEC-090 GRP-100 LIST-170",
)
def additions_end_the_wildcard(node: Node, method: str) -> None:
    """Take the wildcard out of a group in `{method}` of anything else."""
    remove = getattr(node.accounts, method.replace("add", "remove").replace("_to_", "_from_"))

    def add(write: Callable[..., None], key: int, group_id: int, entry: bytes) -> None:
        write(key, group_id, entry)
        if entry != WILDCARD:
            with suppress(ContractRefusal):
                remove(account_of(node, key), group_id, WILDCARD)

    wrap(node.accounts, method, add)


@mutant("GRP-120", also="AUTH-080 ERR-100 EXEC-030 EXEC-070 EXEC-090 GRP-150 SCOPE-110 UKEY-270 UKEY-290 UKEY-300")
def wildcards_hold_in_every_group(node: Node) -> None:
    """Let a group with both wildcards count for every key of the account."""

    def reach(node: Node, key: int) -> list[Lists]:
        both = [group for group in all_groups(node, key) if WILDCARD in group.actions and WILDCARD in group.wallets]
        return [*own_groups(node, key), *both]

    decide(node, reach=reach)


@mutant("GRP-130", also="ERR-100 EXEC-040 EXEC-090")
def nearly_zero_is_the_wildcard_of_actions(node: Node) -> None:
    """Read a hash whose last byte alone is not zero as the wildcard."""

    def near(group: Lists, action: bytes, wallet: bytes | None) -> bool:
        wild = any(int.from_bytes(entry) >> NEAR_BITS == 0 for entry in group.actions)
        return (wild or group.has_action(action)) and group.has_wallet(wallet)

    decide(node, near)


@dataclass(frozen=True)
class Narrowed(Lists):
    """A group whose wildcards do not cover what was removed from it."""

    denied: frozenset[bytes]

    def has_action(self, action: bytes) -> bool:
        """Whether it names the action, or its wildcard covers it."""
        return action in self.actions or (action not in self.denied and super().has_action(action))

    def has_wallet(self, wallet: bytes | None) -> bool:
        """Whether it names the wallet, or its wildcard covers it."""
        return wallet in self.wallets or (wallet not in self.denied and super().has_wallet(wallet))


@mutant("GRP-200", also="EXEC-090 EXEC-100 EXEC-110 GRP-070 GRP-080 GRP-100 GRPLIFE-070")
def removed_entries_are_denied(node: Node) -> None:
    """Refuse what was removed from a group, even if the group's wildcard permits it, until it is named again."""
    denied: set[tuple[int, int, bytes]] = set()
    for method in ("remove_pkp_from_group", "remove_action_from_group"):

        def remove(write: Callable[..., None], key: int, group_id: int, entry: bytes) -> None:
            write(key, group_id, entry)
            denied.add((account_of(node, key), group_id, entry))

        wrap(node.accounts, method, remove)

    def reach(node: Node, key: int) -> list[Lists]:
        own = account_of(node, key)
        return [
            Narrowed(
                group.id,
                group.actions,
                group.wallets,
                frozenset(entry for account, number, entry in denied if (account, number) == (own, group.id)),
            )
            for group in own_groups(node, key)
        ]

    decide(node, reach=reach)


@mutant("ACT-070", also="ERR-100 EXEC-040 EXEC-060 EXEC-080 EXEC-090 EXEC-120 GRP-140")
def registered_actions_may_run(node: Node) -> None:
    """Permit a registered action every wallet that some group lists."""

    def may(view: Callable[..., bool], key: int, action: bytes, *wallet: bytes) -> bool:
        account = node.accounts.key_info(key).account_hash
        registered = any(known.cid_hash == action for known in whole(node.accounts.actions, account))
        listed = any(group.has_wallet(wallet[0] if wallet else None) for group in own_groups(node, key))
        return view(key, action, *wallet) or (registered and listed)

    wrap(node.accounts, "can_run", may)
    wrap(node.accounts, "can_execute", may)


@mutant("ACT-120", also="ACT-170")
def hashes_in_the_place_of_cids_are_taken_as_hashed(node: Node) -> None:
    """Add a 0x hash in `action_ipfs_cid` to the group as it is."""
    hashes: dict[bytes, bytes] = {}

    def remember(value: object) -> object:
        cid = str(members(value).get("action_ipfs_cid"))  # type: ignore[arg-type]  # JSON
        if cid.startswith("0x") and len(cid) == 66:
            hashes[node.runs.action("")] = bytes.fromhex(cid[2:])
            return {**members(value), "action_ipfs_cid": EMPTY_CID}  # type: ignore[arg-type]  # JSON
        return value

    change_body(node, "add_action_to_group", remember)  # type: ignore[arg-type]  # JSON

    def add(write: Callable[..., None], key: int, group_id: int, action: bytes) -> None:
        write(key, group_id, hashes.pop(action, action))

    wrap(node.accounts, "add_action_to_group", add)


EMPTY_CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
"""Of no bytes at all."""


@mutant("GRP-250", also="AKEY-070 AUTH-150 EXEC-020 EXEC-090")
def the_account_key_runs_in_its_own_groups_alone(node: Node) -> None:
    """Ignore groups that usage keys made in runs of the account key."""
    foreign = groups_of_usage_keys(node)

    def reach(node: Node, key: int) -> list[Lists]:
        found = node.accounts.key_info(key)
        hidden = foreign if found.is_account_key else set()
        return [group for group in own_groups(node, key) if (found.account_hash, group.id) not in hidden]

    decide(node, reach=reach)
