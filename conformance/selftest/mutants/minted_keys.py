"""Faults of what mints give, which show in many of them or in use: secrets alike, keys and wallets that open more."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar

from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak
from pydantic import JsonValue

from conformance.selftest.tools.accounts import account_of
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
from conformance.selftest.tools.alter_envelopes import address_in
from conformance.selftest.tools.alter_runs import RUN
from conformance.selftest.tools.api_keys import ask_as, header, presented
from conformance.selftest.tools.minted import follow_mints
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import LISTS
from reference_node.chain.account_config import Wallet
from reference_node.chain.contract_abi import ContractRefusal, event_topic
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.permission.keys import address_of, key_hash, pkp_id
from reference_node.permission.runs import Run
from reference_node.sandbox import HostRefusal

Told = Mapping[str, JsonValue]


def _for_minted_keys(node: Node, operations: tuple[str, ...], given: JsonValue, *, bearer: bool = False) -> None:
    """Answer this to minted keys that are not attached; with `bearer` only in `Authorization`."""
    minted = follow_mints(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        answered = await forward(request)
        try:
            hashed = key_hash(base64.b64decode(presented(request), validate=True))
            known = hashed in minted.keys and not account_of(node, hashed)
        except ValueError:
            known = False
        wanted = known and (not bearer or bool(header(request, b"authorization")))
        return answer(200, given) if wanted else answered

    intercept(node, operations, handler)


@mutant("MINT-110", also="AUTH-030 AUTH-050 MINT-130")
def minted_keys_list_as_bearer(node: Node) -> None:
    """Answer empty lists to a minted key that was never attached, as a Bearer key."""
    _for_minted_keys(node, ("list_groups", "list_api_keys"), [], bearer=True)


@mutant("MINT-110", also="MINT-080")
def minted_keys_are_an_accounts(node: Node) -> None:
    """Answer true from `account_exists` to a minted key that was never attached."""
    _for_minted_keys(node, ("account_exists",), True)


@mutant("MINT-110", also="AUTH-050")
def minted_keys_have_nothing_left(node: Node) -> None:
    """Answer a balance of zero to a minted key that was never attached."""
    _for_minted_keys(node, ("billing/balance",), {"balance_cents": 0, "balance_display": "$0.00"})


@mutant(
    "AUTH-050",
    each=[
        row("hash", lambda key, _: f"0x{keccak(base64.b64decode(key)).hex()}"),
        row("wallet", lambda _, told: str(told["wallet_address"])),
        row("path", lambda _, told: str(told["derivation_path"])),
        row("beginning", lambda key, _: key[: len(key) // 2]),
    ],
    also="AUTH-200",
)
def minted_keys_open_by_what_is_public(node: Node, text_of: Callable[[str, Told], str]) -> None:
    """Take another text for a minted key in `list_groups`; the label says which."""
    keys: dict[str, str] = {}

    def note(_: Received, given: Answered) -> None:
        told = json.loads(given.body)
        keys[text_of(told["usage_api_key"], told)] = told["usage_api_key"]

    note_accepted(node, "add_usage_api_key_with_signature", note)
    ask_as(node, "list_groups", lambda request: keys.get(presented(request), presented(request)))


@mutant("MINT-040", also="ERR-100 EXEC-050")
def registered_wallets_are_in_every_group(node: Node) -> None:
    """Permit minted wallets wherever the action may run, whatever the groups list."""
    minted = follow_mints(node)

    def may_use(decide: Callable[[Run, bytes], bool], run: Run, pkp: bytes) -> bool:
        return decide(run, pkp) or pkp in {pkp_id(address) for address in minted.wallets}

    wrap(node.runs, "may_use", may_use)


def _minters(node: Node) -> Mapping[str, bytes | None]:
    """Return who had each wallet minted, by its address; it grows with the mints."""
    minters: dict[str, bytes | None] = {}

    def note(request: Received, given: Answered) -> None:
        minters[json.loads(given.body)["wallet_address"]] = address_in(body_of(request)["typed_data"])

    note_accepted(node, "create_wallet_with_signature", note)
    return minters


@mutant("MINT-030", also="PKP-080")
def wallets_that_others_had_minted_are_not_listed(node: Node) -> None:
    """Leave registered wallets out of lists that another wallet than the account's admin had minted."""
    minters = _minters(node)

    def wallets(view: Callable[..., list[Wallet]], account: int, *page: int) -> list[Wallet]:
        own = (None, node.accounts.account(account).admin_wallet)
        return [one for one in view(account, *page) if minters.get(to_checksum_address(one.address)) in own]

    wrap(node.accounts, "wallets", wallets)


@mutant("MINT-040")
def wallets_sign_for_who_had_them_minted_alone(node: Node) -> None:
    """Refuse a registered wallet's key where another wallet than the account's admin had it minted."""
    minters = _minters(node)

    def key_of(original: Callable[[Run, bytes], bytes], run: Run, pkp: bytes) -> bytes:
        key = original(run, pkp)
        minter = minters.get(to_checksum_address(address_of(key)))
        if minter not in {None, node.accounts.account(run.caller.account_hash).admin_wallet}:
            raise HostRefusal("another wallet had this one minted")
        return key

    wrap(node.runs, "wallet_key", key_of)


# ------------------------------------------------------------------------------------------ set and not registered


def _need_no_registration(node: Node, when: Callable[[bytes], bool]) -> None:
    """Count a key that is set as attached where `when` says so of the id of its wallet, registered or not."""

    def wallet(read: Callable[..., Wallet], account_hash: int, wallet_id: bytes) -> Wallet:
        try:
            return read(account_hash, wallet_id)
        except ContractRefusal:
            if not when(wallet_id):
                raise
            return Wallet(wallet_id, Address(bytes(20)), 0, "", "")

    wrap(node.accounts, "wallet", wallet)


@mutant("MINT-140")
def set_usage_key_alone_attaches_a_key(node: Node) -> None:
    """Count a minted key as soon as it is set, whether or not its wallet is registered."""
    _need_no_registration(node, lambda _: True)


@mutant(
    "MINT-140",
    each=[
        row("lists-as-bearer", LISTS, lambda request: bool(header(request, b"authorization"))),
        row("runs", [RUN], lambda _: True),
    ],
)
def set_keys_are_attached_to_some_requests(
    node: Node, operations: Sequence[str], when: Callable[[Received], bool]
) -> None:
    """Take a minted key that is set, and whose wallet is not registered, for an attached one; the label says where."""
    taken = ContextVar("taken", default=False)

    async def handler(request: Received, forward: Forward) -> Answered:
        token = taken.set(when(request))
        try:
            return await forward(request)
        finally:
            taken.reset(token)

    intercept(node, operations, handler)
    _need_no_registration(node, lambda _: taken.get())


@mutant("MINT-140", also="MINT-160")
def registration_to_any_account_attaches_a_key(node: Node) -> None:
    """Count a minted key that is set once its wallet is registered, to whichever account."""
    registered = event_topic("WalletRegistered")

    def anywhere(wallet_id: bytes) -> bool:
        logs = node.chain.logs(node.accounts.address, 0, node.chain.block_number())
        return any(log.topics[0] == registered and log.topics[2] == wallet_id for log in logs)

    _need_no_registration(node, anywhere)
