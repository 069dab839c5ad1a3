"""Faults of the conversion: who may convert, and how often ("Wallet-signed endpoints" 2)."""

from __future__ import annotations

import base64
import json
import operator
import threading
from collections.abc import Callable
from dataclasses import replace

from eth_abi.abi import encode
from eth_utils.address import to_canonical_address
from eth_utils.crypto import keccak

from conformance.selftest.tools.accounts import Write, accounts_made
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    answer_instead,
    body_of,
    change_refused,
    intercept,
    note_accepted,
    refusal,
    wrap,
)
from conformance.selftest.tools.alter_contract import (
    Sent,
    account_behind,
    around_conversion,
    change_contract,
    converted_accounts,
)
from conformance.selftest.tools.alter_envelopes import CONVERSION, About, Check, address_in, where_refused
from conformance.selftest.tools.alter_payments import charge_to
from conformance.selftest.tools.alter_permissions import acts_as_owner
from conformance.selftest.tools.api_keys import is_by_usage_key, presented
from conformance.selftest.tools.concurrent_requests import Rendezvous
from conformance.selftest.tools.mutant import mutant, row
from conformance.values.typed_data import digest
from reference_node.chain.account_config import UsageKey
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.chain.interface import Address, Reverted
from reference_node.node import Node
from reference_node.permission.keys import key_hash, parse_key
from reference_node.permission.typed_data import Flow, Members

IS_VALID = keccak(text="isValidSignature(bytes32,bytes)")[:4]


@mutant("MODE-210", "ERR-090", also="AUTH-180 ERR-080 ERR-140 MODE-260")
def second_conversion_answers_success(node: Node) -> None:
    """Answer success to the conversion of a converted account."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.status not in {401, 409}:
            return given
        secret = parse_key(presented(request))
        info = node.accounts.key_info(key_hash(secret)) if secret else None
        converted = info is not None and info.is_account_key and not info.managed
        return answer(200, {"success": True}) if converted else given

    intercept(node, CONVERSION, handler)


@mutant("MODE-210", also="BILL-320 ERR-150 MODE-090 MODE-100")
def refused_second_conversion_takes_the_bill(node: Node) -> None:
    """Charge the runs of a converted account to the wallet that a refused second conversion named last."""
    converted = converted_accounts(node)
    named: dict[int, Address] = {}

    def note(request: Received, given: Answered) -> Answered:
        secret, wallet = parse_key(presented(request)), address_in(body_of(request).get("typed_data"))
        if secret and wallet and key_hash(secret) in converted:
            named[key_hash(secret)] = Address(wallet)
        return given

    change_refused(node, CONVERSION, note)
    charge_to(node, named)


@mutant("MODE-210", also="ERR-150 LIST-170")
def refused_second_conversion_renames_keys(node: Node) -> None:
    """Rename the account's usage keys in lists after a refused second conversion."""
    refused: set[int] = set()

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.status == 401 and presented(request):
            refused.add(key_hash(base64.b64decode(presented(request))))
        return given

    def keys(read: Callable[..., list[UsageKey]], account_hash: int, *page: int) -> list[UsageKey]:
        found = read(account_hash, *page)
        return [replace(key, name="second conversion") for key in found] if account_hash in refused else found

    intercept(node, CONVERSION, handler)
    wrap(node.accounts, "usage_keys", keys)


@mutant("MODE-220", also="CHAIN-100 CHAIN-110 MODE-200 MODE-210 MODE-260")
def contract_takes_a_second_conversion(node: Node) -> None:
    """Accept the conversion of an unmanaged account in the contract, without effect."""

    def change(sent: Sent) -> Sent:
        account = account_behind(node, sent.arguments[0])
        if account is None or account.managed:
            return sent
        return Sent(sent.sender, "new_chain_secured_account", ("", ""))

    change_contract(node, change, {"convert_to_chain_secured_account"})


@mutant("MODE-220", each=[row("another", operator.ne), row("the-same", operator.eq)], also="MODE-210")
def owner_converts_again_on_chain(node: Node, to: Callable[[Address, Address], bool]) -> None:
    """Let the admin wallet of an unmanaged account convert it again in the contract, to the admin of the label."""

    def change(sent: Sent) -> Sent:
        account = account_behind(node, sent.arguments[0])
        if account is None or account.managed or sent.sender != account.admin_wallet:
            return sent
        if not to(to_canonical_address(sent.arguments[1]), account.admin_wallet):
            return sent
        return replace(sent, function="add_group", arguments=(sent.arguments[0], "", "", (), ()))

    change_contract(node, change, {"convert_to_chain_secured_account"})


def _hold_conversions(node: Node) -> None:
    """Hold each conversion until another one has been let in, too."""
    rendezvous = Rendezvous()

    def signer(verify: Callable[..., object], data: object, signature: object, flow: Flow) -> object:
        if flow is Flow.CONVERT_ACCOUNT:
            rendezvous.wait()
        return verify(data, signature, flow)

    wrap(node, "signer", signer)


@mutant("MODE-260", also="ERR-090 MODE-210")
def race_lets_all_win(node: Node) -> None:
    """Answer success to every one of several concurrent conversions."""

    def convert(write: Write, account_hash: int, new_admin: Address) -> None:
        try:
            write(account_hash, new_admin)
        except ContractRefusal as refused:
            if refused.error != "AlreadyChainSecured":
                raise

    _hold_conversions(node)
    around_conversion(node, convert)


# ----------------------------------------------------------------------------------------------------- who may convert


@mutant("MODE-120", also="AUTH-040 AUTH-130 AUTH-200 MODE-370 WSIG-020")
def conversion_needs_no_key(node: Node) -> None:
    """Apply a conversion without a key to the account that was made before the last."""
    keys: list[str] = []

    def note(_request: Received, given: Answered) -> None:
        keys.append(json.loads(given.body)["api_key"])

    async def convert(request: Received, forward: Forward) -> Answered:
        if presented(request) or len(keys) < 2:
            return await forward(request)
        return await forward(replace(request, headers=(*request.headers, (b"x-api-key", keys[-2].encode()))))

    note_accepted(node, "new_account", note)
    intercept(node, CONVERSION, convert)


@mutant("MODE-130", "AUTH-130", "AUTH-160", also="AUTH-080 WSIG-020")
def usage_keys_convert(node: Node) -> None:
    """Let a usage key with every scope convert its account."""
    acts_as_owner(node, "convert_to_chain_secured", lambda permissions: all(permissions.arguments()))


@mutant("MODE-140", "MODE-150", also="ENV-150 ENV-210 ENV-220 ENV-350 ENV-360 ENV-370 ENV-380 ENV-390 ERR-070 MODE-180")
def signature_is_not_looked_at(node: Node) -> None:
    """Accept any signature of a conversion whose envelope names the new admin."""
    where_refused(node, lambda _, data, *__: address_in(data), Flow.CONVERT_ACCOUNT, code="signature")


@mutant("MODE-150", "MODE-160", "MODE-170")
def named_wallet_becomes_the_admin(node: Node) -> None:
    """Make `new_admin_wallet_address` the admin without comparing it with the signer."""
    named: dict[bytes, bytes] = {}

    async def handler(request: Received, forward: Forward) -> Answered:
        body = body_of(request)
        signer, wanted = address_in(body.get("typed_data")), str(body.get("new_admin_wallet_address"))
        if signer is None or len(wanted) != 42:
            return await forward(request)
        named[signer] = bytes.fromhex(wanted[2:])
        body["new_admin_wallet_address"] = f"0x{signer.hex()}"
        return await forward(request.having(body))

    intercept(node, CONVERSION, handler)
    around_conversion(node, lambda write, account, admin: write(account, named.get(bytes(admin), admin)))


@mutant("MODE-180", "ERR-070", also="ENV-210 ENV-220 ENV-350 ENV-360 MODE-150")
def contract_signatures_convert(node: Node) -> None:
    """Accept the signature of a contract account that calls it valid (ERC-1271)."""
    _take_contract_signatures(node, Flow.CONVERT_ACCOUNT)


@mutant(
    "MINT-260",
    each=[
        row("wallet-mint", Flow.CREATE_WALLET),
        row("key-mint", Flow.ADD_USAGE_API_KEY),
        row("billing", Flow.BILLING_AUTH, also="BILL-240"),
    ],
    also="ENV-210 ENV-220 ENV-350 ENV-360",
)
def contract_signatures_count(node: Node, flow: Flow) -> None:
    """Accept such a signature in the flow {flow}, though the profile states that it is refused."""
    _take_contract_signatures(node, flow)


def _take_contract_signatures(node: Node, flow: Flow) -> None:
    def judge(_: Check, data: Members, signature: object, __: About) -> object:
        address = address_in(data)
        return address if address is not None and _calls_valid(node, address, data, str(signature)) else None

    where_refused(node, judge, flow)


def _calls_valid(node: Node, address: bytes, data: Members, signature: str) -> bool:
    try:
        signed = bytes.fromhex(signature.removeprefix("0x"))
    except ValueError:
        return False
    asked = encode(["bytes32", "bytes"], [digest(data), signed])
    try:
        said = node.chain.call(Address(address), IS_VALID + asked)
    except Reverted:
        return False
    return said[:4] == IS_VALID


@mutant("MODE-370", also="AUTH-130")
def conversion_converts_the_account_before(node: Node) -> None:
    """Convert the account that was made before the caller's as well."""
    made = accounts_made(node)

    def convert(write: Write, account_hash: int, new_admin: Address) -> None:
        write(account_hash, new_admin)
        before = made[: made.index(account_hash)][-1:]
        for neighbour in before:
            if node.accounts.account(neighbour).managed:
                write(neighbour, new_admin)

    around_conversion(node, convert)


@mutant("MODE-370", also="AUTH-130")
def conversion_converts_the_account_after(node: Node) -> None:
    """Convert the account that was made after the caller's as well."""
    made = accounts_made(node)

    def convert(write: Write, account_hash: int, new_admin: Address) -> None:
        write(account_hash, new_admin)
        for neighbour in made[made.index(account_hash) + 1 :][:1]:
            if node.accounts.account(neighbour).managed:
                write(neighbour, new_admin)

    around_conversion(node, convert)


@mutant("MODE-240", also="AKEY-070 ERR-150")
def refused_conversion_locks_the_key_out(node: Node) -> None:
    """Refuse `add_group` of the master key after a refused conversion."""
    locked: set[str] = set()

    async def convert(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if not given.accepted and not is_by_usage_key(node, request):
            locked.add(presented(request))
        return given

    intercept(node, CONVERSION, convert)
    answer_instead(node, "add_group", refusal(403), lambda request: presented(request) in locked - {""})


@mutant("MODE-190", "MODE-010", also="ERR-080 MODE-020 MODE-030 MODE-090 MODE-100 MODE-110 MODE-160 MODE-250")
def conversions_wait_in_a_queue(node: Node) -> None:
    """Answer a conversion at once, and send it to the chain half a minute later."""

    def convert(write: Write, account_hash: int, new_admin: Address) -> None:
        later = threading.Timer(30, write, (account_hash, new_admin))
        later.daemon = True
        later.start()

    around_conversion(node, convert)
