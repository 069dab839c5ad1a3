"""Faults around conversions: how the master key may come, how often an envelope counts, and who writes afterwards."""

from __future__ import annotations

from collections.abc import Callable

from conformance.selftest.tools.accounts import Write, account_of
from conformance.selftest.tools.alter import Answered, Forward, Received, intercept, refusal, wrap
from conformance.selftest.tools.alter_contract import around_conversion, former_admins, let_in, payers_of
from conformance.selftest.tools.alter_envelopes import CONVERSION, About, Check, around_verdict, refuse
from conformance.selftest.tools.api_keys import header
from conformance.selftest.tools.mutant import mutant
from reference_node.chain.account_config import KeyInfo
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.typed_data import Flow


@mutant("AUTH-020", also="AUTH-030")
def conversion_takes_no_bearer(node: Node) -> None:
    """Look for the master key of a conversion in `X-Api-Key` alone."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return refusal(401) if header(request, b"authorization") else await forward(request)

    intercept(node, CONVERSION, handler)


@mutant("ENV-460", also="MODE-270")
def envelopes_convert_one_account(node: Node) -> None:
    """Accept a conversion's envelope once, whichever account it is sent for."""
    spent: set[str] = set()

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        if str(signature) in spent:
            raise refuse("typed-data-spent")
        signer = original(data, signature, **about)
        spent.add(str(signature))
        return signer

    around_verdict(node, verify, Flow.CONVERT_ACCOUNT)


@mutant("CHAIN-100")
def payers_fill_groups_of_converted_accounts(node: Node) -> None:
    """Let payers write what groups of converted accounts list."""
    former, payers = former_admins(node), payers_of(node)
    writes = {"update_group", "add_pkp_to_group", "remove_pkp_from_group", "remove_action_from_group"}
    let_in(node, lambda sender, account: sender in payers and account.admin_wallet in former, writes)


@mutant("CHAIN-100", also="MINT-160")
def payers_attach_keys_to_converted_accounts(node: Node) -> None:
    """Let payers write usage keys of converted accounts."""
    former, payers = former_admins(node), payers_of(node)
    writes = {"set_usage_api_key", "update_usage_api_key"}
    let_in(node, lambda sender, account: sender in payers and account.admin_wallet in former, writes)


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
        return write(account_of(node, acting), *arguments)

    wrap(node.accounts, "key_info", info)
    writes = {"add_action", "update_action_metadata", "delete_action"}
    for method in writes:
        wrap(node.accounts, method, write_for)
    let_in(node, lambda sender, _: sender in payers, writes)


def _converted(node: Node) -> set[int]:
    """Return the accounts that are converted from now on; it grows with them."""
    converted: set[int] = set()

    def convert(write: Write, account: int, admin: Address) -> None:
        write(account, admin)
        converted.add(account)

    around_conversion(node, convert)
    return converted


@mutant("MODE-250", "CHAIN-050", also="EXEC-050 EXEC-230 GRPLIFE-110 GRPLIFE-160 KEYLIFE-150")
def verdicts_on_converted_accounts_are_kept(node: Node) -> None:
    """Cache for good what the contract decided on runs in converted accounts."""
    converted = _converted(node)
    kept: dict[tuple[int, bytes, bytes], bool] = {}

    def can_execute(view: Callable[..., bool], key: int, action: bytes, wallet: bytes) -> bool:
        verdict = view(key, action, wallet)
        return kept.setdefault((key, action, wallet), verdict) if account_of(node, key) in converted else verdict

    wrap(node.accounts, "can_execute", can_execute)


@mutant(
    "MODE-250",
    "CHAIN-050",
    also=(
        "AUTH-080 EXEC-050 EXEC-060 EXEC-070 EXEC-080 EXEC-090 EXEC-200 EXEC-230 EXEC-260 GRPLIFE-110 "
        "GRPLIFE-160 KEYLIFE-080 MODE-090"
    ),
)
def keys_of_converted_accounts_are_kept(node: Node) -> None:
    """Let usage keys of converted accounts run after their removal on the chain."""
    converted = _converted(node)
    known: dict[int, KeyInfo] = {}
    permitted: set[tuple[int, bytes]] = set()

    def key_info(view: Callable[[int], KeyInfo], key: int) -> KeyInfo:
        info = view(key)
        if info.account_hash in converted:
            known[key] = info
        return known.get(key, info)

    def can_run(view: Callable[..., bool], key: int, action: bytes) -> bool:
        if view(key, action):
            permitted.add((key, action))
        return (key, action) in permitted if key in known else view(key, action)

    wrap(node.accounts, "key_info", key_info)
    wrap(node.accounts, "can_run", can_run)
    wrap(node.accounts, "can_execute", lambda view, key, action, wallet: view(key, action, wallet) or key in known)
