"""Faults about what is minted by signature: whose it is, and what it may, before and after it is attached."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from conformance.selftest.tools.accounts import NOTHING, account_of, change_list, whole
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    body_of,
    intercept,
    note_accepted,
    wrap,
)
from conformance.selftest.tools.alter_contract import Sent, account_behind, change_contract
from conformance.selftest.tools.alter_envelopes import MINTS, address_in
from conformance.selftest.tools.alter_payments import take, take_also
from conformance.selftest.tools.api_keys import last_account_key, presented
from conformance.selftest.tools.minted import Minted, follow_mints
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import KeyInfo, UsageKey, Wallet
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.permission.keys import key_hash, pkp_id

WALLET_MINT, KEY_MINT = MINTS


# ---------------------------------------------------------------------------------------------- nobody's until attached


Arguments = tuple[Any, ...]


def _exchanged(arguments: Arguments, one: int, other: int) -> Arguments:
    """Exchange two arguments."""
    changed = [*arguments]
    changed[one], changed[other] = changed[other], changed[one]
    return tuple(changed)


def _register(node: Node, request: Received, given: Answered) -> None:
    """Register a minted wallet in the account of the presented key, if it is an account's."""
    told = json.loads(given.body)
    account = key_hash(base64.b64decode(presented(request)))
    path = int(told["derivation_path"], 16)
    with suppress(ContractRefusal):
        node.accounts.create_wallet(account, Address(bytes.fromhex(told["wallet_address"][2:])), path, "", "")


@mutant("MINT-010", "MINT-200", also="PKP-080 WSIG-090")
def minted_wallet_joins_the_callers_account(node: Node) -> None:
    """Register a minted wallet in the account whose key the mint carries."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted and presented(request):
            _register(node, request, given)
        return given

    intercept(node, WALLET_MINT, handler)


@mutant("MINT-080", "MINT-200", also="MINT-110 WSIG-090")
def minted_key_joins_the_callers_account(node: Node) -> None:
    """Attach a minted usage key to the account whose key the mint carries."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted and presented(request):
            account = key_hash(base64.b64decode(presented(request)))
            hashed = key_hash(base64.b64decode(json.loads(given.body)["usage_api_key"]))
            with suppress(ContractRefusal):
                node.accounts.set_usage_key(account, UsageKey(hashed, 0, 0, "", "", NOTHING))
        return given

    intercept(node, KEY_MINT, handler)


@mutant("PKP-080", "MINT-010")
def minted_wallets_are_listed_everywhere(node: Node) -> None:
    """List a minted wallet in every account until one registers it."""
    minted = follow_mints(node)

    def with_minted(_: int, listed: list[Wallet]) -> list[Wallet]:
        free = [one for one in minted.wallets if not node.accounts.derivation_owner(minted.wallets[one])]
        return [*listed, *(Wallet(pkp_id(one), one, minted.wallets[one], "", "") for one in free)]

    change_list(node, "wallets", with_minted)


@mutant("MINT-030", "PKP-080", "CHAIN-090", also="MINT-070 MINT-120")
def registration_does_nothing(node: Node) -> None:
    """Accept a registration in the contract, and register nothing."""

    def change(sent: Sent) -> Sent:
        return replace(sent, function="add_action", arguments=(sent.arguments[0], secrets.token_bytes(32), "", ""))

    change_contract(node, change, {"register_wallet_derivation"})


@mutant("MINT-030", "PKP-080", also="LIST-170")
def registered_wallets_are_not_listed(node: Node) -> None:
    """Leave registered wallets that were minted out of lists."""
    minted = follow_mints(node)
    wrap(
        node.accounts,
        "wallets",
        lambda view, *page: [wallet for wallet in view(*page) if Address(wallet.address) not in minted.wallets],
    )


@mutant(
    each=[
        row("labels-exchanged", lambda given: _exchanged(given, 3, 4), breaks="MINT-070"),
        row(
            "64-bits-of-the-path",
            lambda given: (*given[:2], given[2] % 2**64, *given[3:]),
            breaks="MINT-030",
            also="MINT-040",
        ),
    ]
)
def registered_wallet_is_stored_otherwise(node: Node, change: Callable[[Arguments], Arguments]) -> None:
    """Let the contract hear other arguments of `registerWalletDerivation` than were sent; the label says which."""
    change_contract(node, lambda sent: replace(sent, arguments=change(sent.arguments)), {"register_wallet_derivation"})


# ----------------------------------------------------------------------------------------------------- usable too early


def _counts(node: Node, account_of: Callable[[int], int]) -> None:
    """Count a minted key for the account that `account_of` finds for its wallet's path; 0: for none."""
    minted = follow_mints(node)

    def key_info(ask: Callable[[int], KeyInfo], hashed: int) -> KeyInfo:
        info = ask(hashed)
        if info.account_hash or hashed not in minted.keys:
            return info
        account = account_of(minted.keys[hashed])
        return KeyInfo(account, is_account_key=False, managed=False, expiration=0) if account else info

    wrap(node.accounts, "key_info", key_info)


@mutant("MINT-130")
def registration_alone_attaches_a_key(node: Node) -> None:
    """Count a minted key as soon as its wallet is registered."""
    _counts(node, node.accounts.derivation_owner)


def _is_loose(node: Node, minted: Minted, hashed: int) -> bool:
    """Whether this is a minted key of which neither transaction of the attach has landed."""
    path = minted.keys.get(hashed)
    return path is not None and not node.accounts.derivation_owner(path) and not account_of(node, hashed)


@mutant("MINT-110", "MINT-190", also="AUTH-050")
def minted_key_lists_nothing_but_lists(node: Node) -> None:
    """Answer empty lists to a minted key that was never attached."""
    minted = follow_mints(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        try:
            known = _is_loose(node, minted, key_hash(base64.b64decode(presented(request))))
        except ValueError:
            known = False
        return answer(200, []) if given.status == 401 and known else given

    intercept(node, ("list_groups", "list_api_keys"), handler)


@mutant("MINT-110", also="ACC-120 AUTH-050")
def minted_key_acts_for_the_last_account(node: Node) -> None:
    """Let a minted key that was never attached act for the account made last."""
    minted = follow_mints(node)
    last = last_account_key(node)

    async def act(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.status != 401 or not last or not presented(request):
            return given
        if not _is_loose(node, minted, key_hash(base64.b64decode(presented(request)))):
            return given
        others = tuple(pair for pair in request.headers if pair[0] != b"x-api-key")
        return await forward(replace(request, headers=(*others, (b"x-api-key", last[0].encode()))))

    intercept(node, ("add_group", "create_wallet"), act)


# ------------------------------------------------------------------------------- what it may, and how long


STORED = "KEYLIFE-010 MINT-150 SCOPE-010 UKEY-010"
"""What a usage key stored with other permissions contradicts."""


@mutant(
    each=[
        row(
            "execute-in-none",
            lambda given: (*given[:12], ()),
            breaks="MINT-120",
            also=f"{STORED} EXEC-010 UKEY-260 UKEY-280",
        ),
        row(
            "without-bools",
            lambda given: (*given[:6], False, False, False, *given[9:]),
            breaks="MINT-120",
            also=f"{STORED} SCOPE-030 SCOPE-040 SCOPE-050 UKEY-040 UKEY-060 UKEY-080",
        ),
        row(
            "without-a-wildcard-behind-groups",
            lambda given: (
                (*given[:12], tuple(filter(None, given[12])) or given[12]) if given[12][:1] != (0,) else given
            ),
            breaks="UKEY-310",
            also="MINT-120 MINT-150",
        ),
        row("balance-in-64-bits", lambda given: (*given[:3], given[3] % 2**64, *given[4:]), breaks="UKEY-380"),
        row(
            "add-groups-as-remove-groups",
            lambda given: _exchanged(given, 10, 11),
            breaks="UKEY-380",
            also=f"{STORED} MINT-120 SCOPE-070 SCOPE-080 UKEY-180 UKEY-190 UKEY-200 UKEY-220 UKEY-230 UKEY-240",
        ),
        row(
            "delete-groups-as-create-wallets",
            lambda given: _exchanged(given, 7, 8),
            breaks="UKEY-380",
            also=f"{STORED} MINT-120 SCOPE-030 SCOPE-050 UKEY-060 UKEY-070 UKEY-080 UKEY-090",
        ),
    ],
    also="CHAIN-050",
)
def attached_key_is_stored_otherwise(node: Node, change: Callable[[Arguments], Arguments]) -> None:
    """Let the contract hear other arguments of `setUsageApiKey` than a wallet sent; the label says which."""

    def heard(sent: Sent) -> Sent:
        account = account_behind(node, sent.arguments[0])
        # Keys that are added over HTTP are stored by the same function.
        if account is None or account.managed:
            return sent
        return replace(sent, arguments=change(sent.arguments))

    change_contract(node, heard, {"set_usage_api_key"})


@mutant("UKEY-310", also="CHAIN-050 EXEC-010 MINT-120 MINT-150 UKEY-280 UKEY-320")
def attached_wildcards_are_spelt_out(node: Node) -> None:
    """Let the contract hear the groups that there are in place of a `0` in what an attached key may execute."""

    def heard(sent: Sent) -> Sent:
        account, (owner, *_) = account_behind(node, sent.arguments[0]), sent.arguments
        if account is None or account.managed or 0 not in sent.arguments[12]:
            return sent
        groups = tuple(group.id for group in whole(node.accounts.groups, owner))
        return replace(sent, arguments=(*sent.arguments[:12], groups))

    change_contract(node, heard, {"set_usage_api_key"})


@mutant("MINT-120", also="EXEC-010 MINT-150 UKEY-260")
def keys_set_before_their_registration_run_nothing(node: Node) -> None:
    """Refuse every run with a minted key whose wallet was not registered yet when it was set."""
    minted = follow_mints(node)
    dead: set[int] = set()

    def heard(sent: Sent) -> Sent:
        path = minted.keys.get(sent.arguments[1])
        if path is not None and not node.accounts.derivation_owner(path):
            dead.add(sent.arguments[1])
        return sent

    change_contract(node, heard, {"set_usage_api_key"})
    wrap(node.accounts, "can_run", lambda ask, hashed, *rest: hashed not in dead and ask(hashed, *rest))


@mutant("MINT-120", also="CHAIN-050")
def groups_of_a_key_that_is_set_again_are_kept(node: Node) -> None:
    """Add the group arrays of `setUsageApiKey` to those that the account's key has already."""

    def heard(sent: Sent) -> Sent:
        account, (owner, hashed, *_) = account_behind(node, sent.arguments[0]), sent.arguments
        if account is None or account.managed or not node.accounts.key_info(hashed).account_hash:
            return sent
        had = node.accounts.usage_key(owner, hashed).permissions
        former = (
            had.manage_ipfs_ids_in_groups,
            had.add_pkp_to_groups,
            had.remove_pkp_from_groups,
            had.execute_in_groups,
        )
        both = [tuple({*groups, *given}) for groups, given in zip(former, sent.arguments[9:], strict=True)]
        return replace(sent, arguments=(*sent.arguments[:9], *both))

    change_contract(node, heard, {"set_usage_api_key"})


@mutant("UKEY-380")
def expiration_by_another_clock(node: Node) -> None:
    """Compare expirations with a minute after the node's start, whatever time has passed."""
    begun = node.chain.timestamp()

    def key_info(ask: Callable[[int], KeyInfo], hashed: int) -> KeyInfo:
        info = ask(hashed)
        over = info.expiration and begun + 60 >= info.expiration
        return info._replace(expiration=info.expiration if over else 0)

    wrap(node.accounts, "key_info", key_info)


@mutant("MINT-200", also="WSIG-090")
def mints_cost_a_cent(node: Node) -> None:
    """Charge a mint to the account whose key it carries."""
    take_also(node, MINTS, lambda _: 1)


@mutant("MINT-200")
def mints_cost_their_signer_a_cent(node: Node) -> None:
    """Charge a mint to the wallet that signs it."""

    def charge(request: Received, _: Answered) -> None:
        signer = address_in(body_of(request).get("typed_data"))
        if signer is not None:
            take(node, Address(signer), 1)

    note_accepted(node, MINTS, charge)
