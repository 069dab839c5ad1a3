"""Faults about the keys of wallets: whose key signs, what is signed, and what of a key gets out."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping

from eth_utils.crypto import keccak

from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.concurrent_requests import Rendezvous
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node
from reference_node.permission.runs import Run
from reference_node.permission.signatures import sign

KeyOf = Callable[[Run, bytes], bytes]
HEX = re.compile("0x([0-9a-fA-F]{2})*")
MINUTES = 600


def _change_key(node: Node, change: Callable[[Run, bytes, bytes], bytes]) -> None:
    """Use another private key than that of the wallet; `change` gets the run, the PKP id and the right key."""
    wrap(node.runs, "wallet_key", lambda key_of, run, pkp_id: change(run, pkp_id, key_of(run, pkp_id)))


def _other(key: bytes) -> bytes:
    return keccak(key)


@mutant("PKP-100", also="PKP-170")
def keys_change_with_time(node: Node) -> None:
    """Use another key of a wallet ten minutes after its first use."""
    first: dict[bytes, int] = {}

    def aged(_run: Run, pkp: bytes, key: bytes) -> bytes:
        begin = first.setdefault(pkp, node.clock.now())
        return key if node.clock.now() - begin < MINUTES else _other(key)

    _change_key(node, aged)


ALONE_SECONDS = 0.5
"""How long a use of a wallet waits there for that of another run."""


@mutant("PKP-100", "PKP-170", "EXEC-190")
def keys_collide_under_load(node: Node) -> None:
    """Use wrong keys when two runs use wallets at the same moment."""
    busy, rendezvous = threading.Lock(), Rendezvous(ALONE_SECONDS)

    def use(key_of: KeyOf, run: Run, pkp: bytes) -> bytes:
        alone = busy.acquire(blocking=False)
        try:
            key = key_of(run, pkp)
            rendezvous.wait()
            return key if alone else _other(key)
        finally:
            if alone:
                busy.release()

    wrap(node.runs, "wallet_key", use)


def _signs(node: Node, name: str, member: str, digest: Callable[[str], bytes]) -> None:
    """Change what a call signs of its argument."""

    def call(host_call: Callable[..., object], run: Run, called: str, arguments: Mapping[str, object]) -> object:
        if called != name:
            return host_call(run, called, arguments)
        key = host_call(run, "getPrivateKey", arguments)
        return sign(bytes.fromhex(str(key)[2:]), digest(str(arguments[member])))

    wrap(node.runs, "host_call", call)


@mutant("PKP-170", "EXEC-190")
def messages_in_hex_are_signed_as_bytes(node: Node) -> None:
    """Sign a message in hex as the bytes that it stands for."""

    def digest(text: str) -> bytes:
        raw = bytes.fromhex(text[2:]) if HEX.fullmatch(text) else text.encode()
        return keccak(b"\x19Ethereum Signed Message:\n" + str(len(raw)).encode() + raw)

    _signs(node, "signMessage", "message", digest)


@mutant("PKP-170", "EXEC-190")
def messages_are_counted_in_characters(node: Node) -> None:
    """Count the characters of a message for the prefix, not its bytes."""

    def digest(text: str) -> bytes:
        return keccak(b"\x19Ethereum Signed Message:\n" + str(len(text)).encode() + text.encode())

    _signs(node, "signMessage", "message", digest)


@mutant("PKP-170", "EXEC-190")
def digests_are_hashed_again(node: Node) -> None:
    """Hash a digest once more before signing it."""
    _signs(node, "signDigest", "digest", lambda text: keccak(bytes.fromhex(text[2:])))


@mutant("PKP-170", "EXEC-190")
def private_keys_are_of_another_wallet(node: Node) -> None:
    """Give an action a private key that is not the wallet's, though signatures are right."""

    def call(host_call: Callable[..., object], run: Run, called: str, arguments: Mapping[str, object]) -> object:
        given = host_call(run, called, arguments)
        return f"0x{_other(bytes.fromhex(str(given)[2:])).hex()}" if called == "getPrivateKey" else given

    wrap(node.runs, "host_call", call)
