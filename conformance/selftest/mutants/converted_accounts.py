"""Faults around conversions: how the master key may come, how often an envelope counts, and who writes afterwards."""

from __future__ import annotations

from collections.abc import Callable

from eth_utils.crypto import keccak

from conformance.selftest.tools.accounts import Write, account_of, change_list
from conformance.selftest.tools.alter import answer_instead, refusal, wrap
from conformance.selftest.tools.alter_contract import converted_accounts, former_admins, let_in, payers_of
from conformance.selftest.tools.alter_envelopes import CONVERSION, Check, good_once
from conformance.selftest.tools.api_keys import header
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import KeyInfo, Wallet
from reference_node.node import Node
from reference_node.permission.typed_data import Flow


@mutant("AUTH-020", also="AUTH-030")
def conversion_takes_no_bearer(node: Node) -> None:
    """Look for the master key of a conversion in `X-Api-Key` alone."""
    answer_instead(node, CONVERSION, refusal(401), lambda request: header(request, b"authorization"))


@mutant("ENV-460", also="MODE-240 MODE-270")
def envelopes_convert_one_account(node: Node) -> None:
    """Accept a conversion's envelope once, whichever account it is sent for."""
    good_once(node, Flow.CONVERT_ACCOUNT)


@mutant("CHAIN-110", also="MINT-160")
def former_owner_attaches_keys(node: Node) -> None:
    """Let the former admin wallet attach usage keys after a conversion."""
    former = former_admins(node)
    let_in(node, lambda sender, account: former.get(account.admin_wallet) == sender, {"set_usage_api_key"})


@mutant("AUTH-170", also="AUTH-080 AUTH-220 AUTH-230 CHAIN-100 SCOPE-150")
def keys_of_wallets_register_actions(node: Node) -> None:
    """Let any usage key of a ChainSecured account register, rename and delete its actions over HTTP."""
    payers = payers_of(node)

    def info(view: Check, key: int) -> object:
        found = view(key)
        return found._replace(managed=True) if not found.is_account_key else found  # type: ignore[attr-defined]

    def write_for(write: Write, acting: int, *arguments: object) -> object:
        account = account_of(node, acting)
        return write(account if account and not node.accounts.account(account).managed else acting, *arguments)

    wrap(node.accounts, "key_info", info)
    writes = {"add_action", "update_action_metadata", "delete_action"}
    for method in writes:
        wrap(node.accounts, method, write_for)
    let_in(node, lambda sender, _: sender in payers, writes)


@mutant("MODE-250", "CHAIN-050", also="EXEC-230 EXEC-260 KEYLIFE-080")
def keys_of_converted_accounts_are_kept(node: Node) -> None:
    """Let usage keys of converted accounts run what they have run, after their removal on the chain."""
    converted = converted_accounts(node)
    known: dict[int, KeyInfo] = {}
    removed: set[int] = set()
    granted: set[tuple[int, bytes, bytes | None]] = set()

    def key_info(view: Callable[[int], KeyInfo], key: int) -> KeyInfo:
        info = view(key)
        if info.account_hash in converted:
            known[key] = info
            removed.discard(key)
        elif key in known:
            removed.add(key)
            return known[key]
        return info

    def decide(view: Callable[..., bool], key: int, action: bytes, wallet: bytes | None = None) -> bool:
        if key in removed:
            return (key, action, wallet) in granted
        verdict = view(key, action) if wallet is None else view(key, action, wallet)
        if verdict:
            granted.add((key, action, wallet))
        return verdict

    wrap(node.accounts, "key_info", key_info)
    wrap(node.accounts, "can_run", decide)
    wrap(node.accounts, "can_execute", decide)


@mutant(each=[row("wallets", breaks="MODE-060"), row("wallets_in_group", breaks="MODE-050")])
def wallets_are_those_of_the_admins_own_account(node: Node, view: str) -> None:
    """Read `{view}` of a converted account under the hash of its admin wallet, where that has an account of its own."""
    converted = converted_accounts(node)

    def read(original: Callable[..., object], account: int, *rest: object) -> object:
        own = int.from_bytes(keccak(node.accounts.account(account).admin_wallet))
        has_one = account in converted and node.accounts.account_exists(own)
        return original(own if has_one else account, *rest)

    wrap(node.accounts, view, read)


@mutant("MODE-060", also="EP-230 LIST-170 PKP-060")
def admins_are_no_wallets_of_their_account(node: Node) -> None:
    """Leave the wallet that is the account's admin out of the account's wallets."""

    def without_admin(account: int, found: list[Wallet]) -> list[Wallet]:
        return [one for one in found if one.address != node.accounts.account(account).admin_wallet]

    change_list(node, "wallets", without_admin)
