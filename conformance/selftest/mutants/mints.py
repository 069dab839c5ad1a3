"""Faults of the mints by signature: whom they serve, and what they give ("Wallet-signed endpoints" 1 and 3)."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Callable

from eth_utils.address import to_checksum_address
from pydantic import JsonValue

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    body_of,
    change_answer,
    intercept,
    members,
    refusal,
    wrap,
)
from conformance.selftest.tools.alter_envelopes import MINTS, address_in, believe_any_signature
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.minted import follow_mints
from conformance.selftest.tools.mutant import mutant
from reference_node.chain.interface import Address
from reference_node.keys import address_of
from reference_node.node import Node
from reference_node.typed_data import Flow

WALLET_MINT, KEY_MINT = MINTS
Told = dict[str, JsonValue]


def _change(node: Node, operation: str, change: Callable[[Told], Told]) -> None:
    """Rewrite what a mint answers."""
    change_answer(node, operation, lambda value: change(members(value)))


# -------------------------------------------------------------------------------------------------- who is served


@mutant("MINT-010", "MINT-080", "MINT-210")
def mints_need_a_key(node: Node) -> None:
    """The mints serve nobody without an account."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return await forward(request) if presented(request) else refusal(401)

    intercept(node, MINTS, handler)


@mutant("MINT-010", "MINT-080", "MINT-210")
def mints_need_ether(node: Node) -> None:
    """The mints serve wallets that have ether on the settlement chain."""

    async def handler(request: Received, forward: Forward) -> Answered:
        signer = address_in(body_of(request).get("typed_data"))
        poor = signer is not None and not node.chain.balance(Address(signer))
        return refusal(403) if poor else await forward(request)

    intercept(node, MINTS, handler)


@mutant("MINT-020")
def wallet_mint_believes_any_signature(node: Node) -> None:
    """The wallet mint does not hold the signer against the envelope's address."""
    believe_any_signature(node, Flow.CREATE_WALLET)


@mutant("MINT-080")
def key_mint_believes_any_signature(node: Node) -> None:
    """The mint of usage keys does not hold the signer against the envelope's address."""
    believe_any_signature(node, Flow.ADD_USAGE_API_KEY)


@mutant("MINT-020")
def refused_mint_tells_a_wallet(node: Node) -> None:
    """The refusal of a mint holds the wallet that was minted nevertheless."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted:
            return given
        return answer(given.status, {**json.loads(given.body), "wallet_address": f"0x{secrets.token_hex(20)}"})

    intercept(node, WALLET_MINT, handler)


# --------------------------------------------------------------------------------------------------- what is minted


def _once_for_each_signature(node: Node, operation: str) -> None:
    first: dict[str, Answered] = {}

    async def handler(request: Received, forward: Forward) -> Answered:
        signature = str(body_of(request).get("signature"))
        given = await forward(request)
        return first.setdefault(signature, given) if given.accepted else given

    intercept(node, operation, handler)


@mutant("MINT-180")
def same_wallet_again(node: Node) -> None:
    """The same request again gives the same wallet."""
    _once_for_each_signature(node, WALLET_MINT)


@mutant("MINT-100", "MINT-190")
def same_key_again(node: Node) -> None:
    """The same request again gives the same usage key."""
    _once_for_each_signature(node, KEY_MINT)


@mutant("MINT-180")
def same_path_again(node: Node) -> None:
    """Each wallet is another one, and all have the path of the first."""
    paths: list[JsonValue] = []

    def change(told: Told) -> Told:
        paths.append(told["derivation_path"])
        return {**told, "derivation_path": paths[0]}

    _change(node, WALLET_MINT, change)


@mutant("MINT-180")
def second_request_is_a_replay(node: Node) -> None:
    """An envelope counts once: its signature is remembered."""
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


@mutant("MINT-090")
def secret_of_31_bytes(node: Node) -> None:
    """The minted secret lacks a byte."""
    _change(node, KEY_MINT, lambda told: {**told, "usage_api_key": base64.b64encode(bytes(31)).decode()})


@mutant("MINT-090")
def secret_in_url_safe_base64(node: Node) -> None:
    """The minted secret is in the other alphabet of base64, without padding."""

    def change(told: Told) -> Told:
        raw = base64.b64decode(str(told["usage_api_key"]))
        return {**told, "usage_api_key": base64.urlsafe_b64encode(raw).decode().rstrip("=")}

    _change(node, KEY_MINT, change)


@mutant("MINT-090")
def secret_in_hex(node: Node) -> None:
    """The minted secret is in hex."""

    def change(told: Told) -> Told:
        return {**told, "usage_api_key": base64.b64decode(str(told["usage_api_key"])).hex()}

    _change(node, KEY_MINT, change)


@mutant("MINT-080")
def wallet_of_another_secret(node: Node) -> None:
    """The minted wallet has nothing to do with the minted secret."""

    def change(told: Told) -> Told:
        return {**told, "wallet_address": to_checksum_address(address_of(secrets.token_bytes(32)))}

    _change(node, KEY_MINT, change)


@mutant("MINT-100", "MINT-190")
def secret_of_the_signer(node: Node) -> None:
    """The minted secret follows from the wallet that signs: it is always the same."""
    secret: dict[bytes, str] = {}

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        signer = address_in(body_of(request).get("typed_data"))
        if not given.accepted or signer is None:
            return given
        told = json.loads(given.body)
        return answer(200, {**told, "usage_api_key": secret.setdefault(signer, told["usage_api_key"])})

    intercept(node, KEY_MINT, handler)


@mutant("MINT-010", "MINT-210")
def mint_gives_the_signers_wallet(node: Node) -> None:
    """The minted wallet is the signer's own."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        signer = address_in(body_of(request).get("typed_data"))
        if not given.accepted or signer is None:
            return given
        return answer(200, {**json.loads(given.body), "wallet_address": to_checksum_address(signer)})

    intercept(node, WALLET_MINT, handler)


@mutant("MINT-040")
def path_is_not_the_wallets(node: Node) -> None:
    """The derivation path that is told is not the minted wallet's."""
    _change(node, WALLET_MINT, lambda told: {**told, "derivation_path": f"0x{secrets.token_hex(32)}"})


@mutant("MINT-040")
def minted_wallets_are_derived_otherwise_later(node: Node) -> None:
    """Runs derive the key of a minted wallet by another rule than the mint."""
    minted = follow_mints(node)

    def wallet_key(derive: Callable[..., bytes], run: object, pkp: bytes) -> bytes:
        key = derive(run, pkp)
        return key[::-1] if Address(address_of(key)) in minted.wallets else key

    wrap(node.runs, "wallet_key", wallet_key)
