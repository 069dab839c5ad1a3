"""Faults about domain, message and size of signed envelopes ("Typed-data envelope")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.selftest.tools.alter import silence, wrap
from conformance.selftest.tools.alter_envelopes import (
    About,
    Check,
    address_in,
    around_verdict,
    judge_by,
    members_of,
    refuse,
)
from conformance.selftest.tools.mutant import mutant, row
from conformance.values.typed_data import digest, envelope
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.permission.signatures import parse_signature, recover
from reference_node.permission.typed_data import Members, domain_name

Envelope = dict[str, Any]
"""The members of an envelope that is altered in any of them."""
LOWEST_64_BITS = 2**64 - 1


@mutant("ENV-240", also="ENV-260")
def times_are_cut_to_64_bits(node: Node) -> None:
    """Compare the lowest 64 bits of `issuedAt` with the node's time."""
    wrap(node.envelopes, "check_window", lambda check, issued_at, now: check(issued_at & LOWEST_64_BITS, now))


def _of_64_bits(domain: Members, *_: object) -> Members:
    stated = str(domain["chainId"])
    return {**domain, "chainId": str(int(stated) & LOWEST_64_BITS)} if stated.isdecimal() else domain


def _named_alike(domain: Members, _: int, title: str) -> Members:
    name = domain_name(title)
    return {**domain, "name": name} if str(domain["name"]).strip().lower() == name.lower() else domain


def _ending_alike(domain: Members, chain_id: int, _: str) -> Members:
    return {**domain, "chainId": str(chain_id)} if str(domain["chainId"]).endswith(str(chain_id)) else domain


@mutant(
    each=[
        row("lowest-64-bits", _of_64_bits, breaks="ENV-200", also="BILL-240 MODE-340"),
        row("end-of-the-chain-id", _ending_alike, breaks="ENV-200", also="BILL-240 ENV-430 MODE-340"),
        row("name-without-case-and-blanks", _named_alike, breaks="ENV-470"),
    ],
    also="ENV-220",
)
def domain_is_compared_in_part(node: Node, read: Callable[[Members, int, str], Members]) -> None:
    """Compare only a part of the domain's chain id or name; the label says which."""
    wrap(node.envelopes, "check_domain", lambda check, domain, *ours: check(read(domain, *ours), *ours))


@mutant("ENV-200", also="ENV-190")
def chain_ids_that_are_integers_are_not_compared(node: Node) -> None:
    """Verify an envelope whose `chainId` is a JSON integer for the chain that it names."""

    def stated(document: Members, _: About) -> About:
        domain = document["domain"]
        chain_id = domain.get("chainId") if isinstance(domain, dict) else None
        return {"chain_id": chain_id} if isinstance(chain_id, int) else {}

    judge_by(node, stated)


def _other_chain_id(document: Envelope) -> None:
    document["domain"]["chainId"] = int(document["domain"]["chainId"])


def _other_version(document: Envelope) -> None:
    document["domain"]["version"] = "2"


def _other_name(document: Envelope) -> None:
    document["domain"]["name"] = document["domain"]["name"].removesuffix(" ChainSecured")


def _no_version(document: Envelope) -> None:
    del document["types"]["EIP712Domain"][1], document["domain"]["version"]


def _other_order(document: Envelope) -> None:
    document["types"][document["primaryType"]].reverse()


@mutant(
    each=[
        row("chain-id-as-an-integer", _other_chain_id, breaks="ENV-010 ENV-190"),
        row("second-version", _other_version, breaks="ENV-010 ENV-180"),
        row("brand-alone", _other_name, breaks="ENV-010 ENV-170"),
        row("domain-without-version", _no_version, breaks="ENV-010 ENV-020"),
        row("message-turned-round", _other_order, breaks="ENV-010 ENV-030"),
    ],
    also="BILL-230 ENV-250 ENV-270 ENV-290 ENV-310 ENV-420 ENV-430 MINT-010 MINT-080 MINT-210 MODE-010",
)
def another_envelope_is_demanded(node: Node, alter: Callable[[Envelope], None]) -> None:
    """Take only envelopes that differ from the specified in one thing; the label says which."""

    def verify(_: Check, data: object, signature: object, about: About) -> object:
        address = address_in(data) or b""
        document: Envelope = envelope(
            str(about["flow"]),
            name=domain_name(str(about["title"])),
            chain_id=int(str(about["chain_id"])),
            address=f"0x{address.hex()}",
            issued_at=int(str(about["now"])),
        )
        alter(document)
        sent = members_of(data)
        if any(sent.get(name) != document[name] for name in ("types", "primaryType", "domain")):
            raise refuse("typed-data-not-canonical")
        if recover(digest(sent), parse_signature(signature)) != address:
            raise refuse("signature-mismatch")
        return address

    around_verdict(node, verify)


@mutant("ENV-420")
def address_has_to_be_checksummed(node: Node) -> None:
    """Refuse an address in lower case."""

    def check(original: Check, message: Members) -> object:
        if str(message["address"]).islower():
            raise refuse("typed-data-address")
        return original(message)

    wrap(node.envelopes, "address", check)


@mutant("ENV-490")
def address_is_cut_to_size(node: Node) -> None:
    """Ignore what follows the first 20 bytes of an address."""
    wrap(node.envelopes, "address", lambda read, message: read({**message, "address": str(message["address"])[:42]}))


@mutant("ENV-210", "ENV-220", "ENV-390", also="BILL-260 ENV-150 ERR-070 MINT-020 MODE-150 MODE-180")
def signer_is_not_compared(node: Node) -> None:
    """Skip the comparison of the signer with the address."""
    silence(node.envelopes, "check_signer")


@mutant("ENV-210", also="BILL-240 ENV-220 MINT-020")
def signer_is_compared_in_part(node: Node) -> None:
    """Skip the comparison of the signer with the zero address."""

    def check(original: Check, signer: Address, address: Address) -> None:
        if any(address):
            original(signer, address)

    wrap(node.envelopes, "check_signer", check)


# ------------------------------------------------------------------------------------------------------------ size


@mutant("ENV-320")
def size_is_not_checked(node: Node) -> None:
    """Skip the check of the size."""
    silence(node.envelopes, "check_size")
