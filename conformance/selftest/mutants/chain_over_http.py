"""Faults of how the node follows the contract: what wallets write there shows late, wrongly or not at all over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.selftest.tools.accounts import account_of, permissions_of
from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.alter_runs import Lists, all_groups, change_verdicts, decide, own_groups
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import KeyInfo, UsageKey
from reference_node.chain.contract_abi import event_topic
from reference_node.chain.interface import Receipt
from reference_node.node import Node
from reference_node.permission.keys import address_of
from reference_node.permission.runs import Run

View = Callable[..., Any]


def _unmanaged(node: Node, account_hash: int) -> bool:
    return bool(account_hash) and not node.accounts.account(account_hash).managed


@mutant("CHAIN-050", also="EP-250 LIST-170")
def lists_of_a_group_are_kept(node: Node) -> None:
    """Cache the actions of each group of a ChainSecured account for good."""
    memory: dict[tuple[int, ...], Any] = {}

    def listed(view: View, account: int, *asked: int) -> object:
        if not _unmanaged(node, account):
            return view(account, *asked)
        return memory.setdefault((account, *asked), view(account, *asked))

    wrap(node.accounts, "actions_in_group", listed)


@mutant("CHAIN-050", also="EP-230 LIST-170 MINT-030")
def wallets_of_other_origin_are_not_listed(node: Node) -> None:
    """List only the wallets that the node created over HTTP."""
    own: set[bytes] = set()

    def create(write: View, account: int, address: bytes, *others: object) -> object:
        own.add(address)
        return write(account, address, *others)

    wrap(node.accounts, "create_wallet", create)
    wrap(node.accounts, "wallets", lambda view, *asked: [wallet for wallet in view(*asked) if wallet.address in own])


@mutant("CHAIN-050", also="AUTH-050 EXEC-260 KEYLIFE-080 KEYLIFE-150")
def keys_are_known_for_good(node: Node) -> None:
    """Cache for good whose key a hash is, so that a key removed on the chain still counts."""
    known: dict[int, KeyInfo] = {}

    def info(view: View, key: int) -> KeyInfo:
        found = known[key] if key in known else view(key)
        if found.account_hash and not found.managed:
            known[key] = found
        return KeyInfo(*found)

    wrap(node.accounts, "key_info", info)


@mutant("CHAIN-050", also="ERR-100 EXEC-230 GRPLIFE-110 GRPLIFE-160 KEYLIFE-150 MINT-150 MODE-250")
def verdicts_of_the_rule_are_kept(node: Node) -> None:
    """Cache for good what the contract decided on runs in ChainSecured accounts."""
    said: dict[tuple[object, ...], bool] = {}

    def kept(verdict: bool, asked: tuple[int, bytes, bytes | None]) -> bool:
        return said.setdefault(asked, verdict) if _unmanaged(node, account_of(node, asked[0])) else verdict

    change_verdicts(node, kept)


@mutant(
    "CHAIN-050",
    each=[
        row("wallet-taken-away", "GroupUpdated", "can_execute", also="EXEC-050 GRPLIFE-040 GRPLIFE-070"),
        row("group-taken-away", "UsageApiKeyUpdated", "can_run", also="EXEC-030 KEYLIFE-030 UKEY-270 UKEY-300"),
    ],
    also="ERR-100 EXEC-230 KEYLIFE-150 MINT-150 MODE-250",
)
def permitted_runs_outlive_one_event(node: Node, event: str, decision: str) -> None:
    """Keep what `{decision}` permitted until an event of the account other than `{event}`, where it is ChainSecured."""
    permitted: dict[tuple[object, ...], int] = {}

    def forget(account: int) -> None:
        for asked in [asked for asked, owner in permitted.copy().items() if owner == account]:
            permitted.pop(asked, None)

    def send(mine: Callable[[bytes], Receipt], raw: bytes) -> Receipt:
        receipt = mine(raw)
        for log in receipt.logs:
            account = int.from_bytes(log.topics[1]) if len(log.topics) > 1 else 0
            if log.topics[0] != event_topic(event) or not _unmanaged(node, account):
                forget(account)
        return receipt

    def decide(view: View, key: int, *asked: bytes) -> bool:
        if (key, *asked) in permitted:
            return True
        right = bool(view(key, *asked))
        if right:
            permitted[key, *asked] = account_of(node, key)
        return right

    wrap(node.chain, "send", send)
    wrap(node.accounts, decision, decide)


@mutant(
    "CHAIN-050",
    "MINT-150",
    "AUTH-170",
    also="AUTH-160 EXEC-010 EXEC-240 MINT-120 MODE-080 MODE-090 MODE-330 MODE-360 UKEY-260",
)
def attached_keys_count_for_nothing(node: Node) -> None:
    """Treat usage keys of ChainSecured accounts as unknown over HTTP."""

    def info(view: View, key: int) -> KeyInfo:
        found: KeyInfo = view(key)
        unknown = found.account_hash and not found.is_account_key and not found.managed
        return KeyInfo(0, False, False, 0) if unknown else found

    wrap(node.accounts, "key_info", info)


@mutant("UKEY-390", "UKEY-380")
def expired_keys_are_let_in(node: Node) -> None:
    """Ignore the expiration of usage keys."""
    wrap(node.accounts, "key_info", lambda view, key: view(key)._replace(expiration=0))


@mutant("UKEY-390")
def expirations_are_signed_numbers_of_64_bits(node: Node) -> None:
    """Let a usage key expire at once whose expiration has the 64th bit or a higher one."""

    def info(view: View, key: int) -> KeyInfo:
        found: KeyInfo = view(key)
        return found._replace(expiration=1) if found.expiration >= 2**63 else found

    wrap(node.accounts, "key_info", info)


def _listed_keys(node: Node, change: Callable[[UsageKey], UsageKey]) -> None:
    """List usage keys of ChainSecured accounts otherwise than the contract has them."""

    def listed(view: View, account: int, *page: int) -> list[UsageKey]:
        keys: list[UsageKey] = view(account, *page)
        return [change(key) for key in keys] if _unmanaged(node, account) else keys

    wrap(node.accounts, "usage_keys", listed)


@mutant("UKEY-380")
def listed_balances_are_zero(node: Node) -> None:
    """Show no balance of attached keys in `list_api_keys`."""
    _listed_keys(node, lambda key: replace(key, balance=0))


@mutant("CHAIN-050", also="EP-150 MODE-080")
def listed_arrays_are_exchanged(node: Node) -> None:
    """Exchange `add_pkp_to_groups` and `remove_pkp_from_groups` of attached keys in `list_api_keys`."""

    def exchanged(key: UsageKey) -> UsageKey:
        given = key.permissions
        adds, removes = given.remove_pkp_from_groups, given.add_pkp_to_groups
        return replace(key, permissions=replace(given, add_pkp_to_groups=adds, remove_pkp_from_groups=removes))

    _listed_keys(node, exchanged)


@mutant(
    "MINT-150",
    "AUTH-170",
    also=(
        "AUTH-080 ERR-100 EXEC-030 EXEC-040 EXEC-050 EXEC-060 EXEC-070 EXEC-080 EXEC-090 EXEC-200 EXEC-220 "
        "EXEC-230 GRP-140 GRPLIFE-110 GRPLIFE-160 MODE-090 SCOPE-110 UKEY-270 UKEY-300"
    ),
)
def attached_keys_run_everything(node: Node) -> None:
    """Permit every run with a usage key of a ChainSecured account."""
    change_verdicts(node, lambda verdict, asked: verdict or _unmanaged(node, account_of(node, asked[0])))


@mutant("MINT-150", also="AUTH-080 ERR-100 EXEC-030 EXEC-070 EXEC-090 MODE-090 SCOPE-090 SCOPE-110 UKEY-270 UKEY-300")
def every_array_of_attached_keys_lets_run(node: Node) -> None:
    """Let an attached key run in each group that any of its four arrays names."""

    def reach(node: Node, key: int) -> list[Lists]:
        permissions = permissions_of(node, key)
        if permissions is None or not _unmanaged(node, account_of(node, key)):
            return own_groups(node, key)
        named = {*permissions.manage_ipfs_ids_in_groups, *permissions.add_pkp_to_groups}
        named.update(permissions.remove_pkp_from_groups)
        return [*own_groups(node, key), *(group for group in all_groups(node, key) if group.id in named)]

    decide(node, reach=reach)


@mutant("MINT-150", also="AUTH-160 EXEC-090 LIM-040 MODE-090 UKEY-280 UKEY-310 UKEY-320")
def attached_wildcards_are_not_read(node: Node) -> None:
    """Ignore the 0 in `execute_in_groups` of attached keys."""

    def reach(node: Node, key: int) -> list[Lists]:
        permissions = permissions_of(node, key)
        if permissions is None or not _unmanaged(node, account_of(node, key)):
            return own_groups(node, key)
        return [group for group in own_groups(node, key) if group.id in permissions.execute_in_groups]

    decide(node, reach=reach)


@mutant("GRP-070", "GRP-080", also="EXEC-090 EXEC-100 EXEC-110 GRP-090 GRP-100 LIM-040 MODE-090")
def zeros_that_wallets_write_are_ordinary_entries(node: Node) -> None:
    """Ignore the zero hash in groups of ChainSecured accounts."""

    def exact(verdict: bool, asked: tuple[int, bytes, bytes | None]) -> bool:
        key, action, wallet = asked
        if not verdict or not _unmanaged(node, account_of(node, key)):
            return verdict
        named = [group for group in own_groups(node, key) if action in group.actions]
        return any(wallet is None or wallet in group.wallets for group in named)

    change_verdicts(node, exact)


@mutant("MINT-050", also="EXEC-200 PKP-150 PKP-170")
def derivation_paths_are_capabilities(node: Node) -> None:
    """Sign with the key of any derivation path that the account has registered, whosever wallet it is."""

    def key(_: View, run: Run, pkp: bytes) -> bytes:
        return node.keys.wallet_key(node.accounts.wallet(run.caller.account_hash, pkp).derivation_path)

    wrap(node.runs, "wallet_key", key)


@mutant("PKP-150")
def copied_registrations_sign(node: Node) -> None:
    """Sign with another account's wallet once its address and path are registered in the caller's account."""

    def key(derived: View, run: Run, pkp: bytes) -> object:
        wallet = node.accounts.wallet(run.caller.account_hash, pkp)
        private_key = node.keys.wallet_key(wallet.derivation_path)
        return private_key if address_of(private_key) == wallet.address else derived(run, pkp)

    wrap(node.runs, "wallet_key", key)
