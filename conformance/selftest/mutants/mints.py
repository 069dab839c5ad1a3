"""Faults of the mints by signature: whom they serve, and what they give ("Wallet-signed endpoints" 1 and 3)."""

from __future__ import annotations

import base64
import json
import secrets
from collections import Counter
from collections.abc import Callable

from eth_utils.address import to_checksum_address
from pydantic import JsonValue

from conformance.selftest.tools.accounts import Write
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    answer_instead,
    body_of,
    change_answer,
    intercept,
    members,
    note_accepted,
    refusal,
    wrap,
)
from conformance.selftest.tools.alter_contract import around_conversion
from conformance.selftest.tools.alter_envelopes import MINTS, address_in, believe_any_signature
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.minted import follow_mints
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.permission.keys import address_of
from reference_node.permission.typed_data import Flow

WALLET_MINT, KEY_MINT = MINTS
Told = dict[str, JsonValue]


def _change(node: Node, operation: str, change: Callable[[Told], Told]) -> None:
    """Rewrite what a mint answers."""
    change_answer(node, operation, lambda value: change(members(value)))


# -------------------------------------------------------------------------------------------------- who is served


@mutant("AUTH-060", also="ENV-010 ENV-460 MINT-010 MINT-080 MINT-180 MINT-190 MINT-210 WSIG-010 WSIG-030 WSIG-090")
def mints_need_a_key(node: Node) -> None:
    """Refuse mints without a key."""
    answer_instead(node, MINTS, refusal(401), lambda request: not presented(request))


@mutant("MINT-210", also="AUTH-060 ENV-010 ENV-460 MINT-010 MINT-080 MINT-180 MINT-190 WSIG-010 WSIG-030 WSIG-090")
def mints_are_for_admins(node: Node) -> None:
    """Refuse mints of a wallet that has not become the admin of an account by a conversion."""
    admins: set[bytes] = set()

    def convert(write: Write, account: int, admin: bytes) -> None:
        write(account, admin)
        admins.add(admin)

    around_conversion(node, convert)
    answer_instead(
        node, MINTS, refusal(403), lambda request: address_in(body_of(request).get("typed_data")) not in admins
    )


@mutant(
    each=[
        row("wallet", Flow.CREATE_WALLET, breaks="MINT-020", also="ENV-210"),
        row("usage-key", Flow.ADD_USAGE_API_KEY, breaks="ENV-210"),
    ],
    also="ENV-150 ENV-220 ENV-390 ERR-060",
)
def mint_believes_any_signature(node: Node, flow: Flow) -> None:
    """Skip the comparison of the signer with the address in envelopes of {flow}."""
    believe_any_signature(node, flow)


# --------------------------------------------------------------------------------------------------- what is minted


@mutant(
    each=[
        row("wallet", WALLET_MINT, breaks="MINT-180", also="PKP-110 WSIG-080"),
        row("usage-key", KEY_MINT, breaks="MINT-100 MINT-190", also="UKEY-420 WSIG-080"),
    ]
)
def same_mint_again_gives_the_same(node: Node, operation: str) -> None:
    """Answer the same request of `{operation}` again with the first answer."""
    first: dict[str, Answered] = {}

    async def handler(request: Received, forward: Forward) -> Answered:
        signature = str(body_of(request).get("signature"))
        given = await forward(request)
        return first.setdefault(signature, given) if given.accepted else given

    intercept(node, operation, handler)


@mutant("MINT-180", also="MINT-040 PKP-040")
def same_path_again(node: Node) -> None:
    """Answer the path of the first minted wallet for all."""
    paths: list[JsonValue] = []

    def change(told: Told) -> Told:
        paths.append(told["derivation_path"])
        return {**told, "derivation_path": paths[0]}

    _change(node, WALLET_MINT, change)


@mutant("MINT-180", also="ENV-460")
def second_request_is_a_replay(node: Node) -> None:
    """Refuse a mint whose signature was accepted before."""
    seen: set[str] = set()

    async def handler(request: Received, forward: Forward) -> Answered:
        signature = str(body_of(request).get("signature"))
        if signature in seen:
            return refusal(409)
        given = await forward(request)
        if given.accepted:
            seen.add(signature)
        return given

    intercept(node, WALLET_MINT, handler)


@mutant(
    each=[
        row("31-bytes", lambda secret: base64.b64encode(secret[:31]), breaks="MINT-090", also="VER-050"),
        row("url-safe", lambda key: base64.urlsafe_b64encode(key).rstrip(b"="), breaks="MINT-090", also="VER-050"),
        row("half-zero", lambda secret: base64.b64encode(bytes(16) + secret[16:]), breaks="MINT-100", also="UKEY-420"),
        row(
            "hex-digits",
            lambda secret: base64.b64encode(secret[:16].hex().encode()),
            breaks="MINT-100",
            also="UKEY-420",
        ),
    ],
    also="MINT-080 MINT-120",
)
def minted_secret_is_wrong(node: Node, change: Callable[[bytes], bytes]) -> None:
    """Answer another secret from the mint of usage keys than 32 random bytes in base64; the label says which."""

    def changed(told: Told) -> Told:
        return {**told, "usage_api_key": change(base64.b64decode(str(told["usage_api_key"]))).decode()}

    _change(node, KEY_MINT, changed)


@mutant("MINT-080", also="MINT-120")
def wallet_of_another_secret(node: Node) -> None:
    """Answer a wallet that has nothing to do with the minted secret."""

    def change(told: Told) -> Told:
        return {**told, "wallet_address": to_checksum_address(address_of(secrets.token_bytes(32)))}

    _change(node, KEY_MINT, change)


@mutant("WSIG-080", also="MINT-010 MINT-100 PKP-110")
def mints_of_one_second_share_their_wallet(node: Node) -> None:
    """Answer a mint of a usage key with the wallet that the same signer minted in that second."""
    minted: dict[JsonValue, Told] = {}

    def stamp(request: Received) -> JsonValue:
        return json.dumps(members(members(body_of(request).get("typed_data")).get("message")))

    def of_wallet(request: Received, given: Answered) -> None:
        minted[stamp(request)] = json.loads(given.body)

    async def of_key(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if not given.accepted or stamp(request) not in minted:
            return given
        return answer(200, {**given.told, **minted[stamp(request)]})

    note_accepted(node, WALLET_MINT, of_wallet)
    intercept(node, KEY_MINT, of_key)


@mutant("MINT-010", also="MINT-030 MINT-040 PKP-110 WSIG-080")
def paths_are_numbered_by_second(node: Node) -> None:
    """Answer the first mint of a wallet in a second, and the second one, with what any other wallet's got there."""
    counted: Counter[str] = Counter()
    paths: dict[tuple[str, int], Answered] = {}

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if not given.accepted:
            return given
        message = members(members(body_of(request).get("typed_data")).get("message"))
        counted[str(message)] += 1
        return paths.setdefault((str(message["issuedAt"]), counted[str(message)]), given)

    intercept(node, WALLET_MINT, handler)


@mutant("MINT-040")
def path_is_not_the_wallets(node: Node) -> None:
    """Answer a derivation path that is not the minted wallet's."""
    _change(node, WALLET_MINT, lambda told: {**told, "derivation_path": f"0x{secrets.token_hex(32)}"})


@mutant("MINT-280", also="MINT-140")
def path_of_a_minted_key_leads_elsewhere(node: Node) -> None:
    """Answer a path with a minted usage key that is drawn apart from its secret."""
    _change(node, KEY_MINT, lambda told: {**told, "derivation_path": f"0x{secrets.token_hex(32)}"})


@mutant("MINT-040", also="PKP-100 PKP-170")
def minted_wallets_are_derived_otherwise_later(node: Node) -> None:
    """Derive other keys of minted wallets in runs than in the mint."""
    minted = follow_mints(node)

    def wallet_key(derive: Callable[..., bytes], run: object, pkp: bytes) -> bytes:
        key = derive(run, pkp)
        return key[::-1] if Address(address_of(key)) in minted.wallets else key

    wrap(node.runs, "wallet_key", wallet_key)
