"""Faults by which the private key of a wallet gets out of the node."""

from __future__ import annotations

import base64
from collections.abc import Callable
from urllib.parse import quote

from conformance.selftest.tools.alter import (
    wrap,
)
from conformance.selftest.tools.alter_runs import change_code
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.permission.runs import Run
from reference_node.sandbox import HostError

KeyOf = Callable[[Run, bytes], bytes]


def _watch_keys(node: Node) -> list[str]:
    """Return the private keys that runs use from now on, in hex."""
    used: list[str] = []

    def use(key_of: KeyOf, run: Run, pkp: bytes) -> bytes:
        key = key_of(run, pkp)
        used.append(key.hex())
        return key

    wrap(node.runs, "wallet_key", use)
    return used


SPELLINGS: dict[str, Callable[[bytes], str]] = {
    "bytes": lambda key: str(list(key)),
    "hex-with-colons": lambda key: key.hex(":"),
    "base32": lambda key: base64.b32encode(key).decode(),
    "base64-of-hex": lambda key: base64.b64encode(f"{key.hex()}\n".encode()).decode(),
    "for-urls": lambda key: quote(base64.b64encode(key), safe=""),
    "for-html": lambda key: "".join(f"&#{ord(letter)};" for letter in key.hex()),
}


@mutant("PKP-090", each=[row("of-messages", "signMessage"), row("of-digests", "signDigest")], also="EXEC-180")
def failed_signings_tell_the_private_key(node: Node, name: str) -> None:
    """Append the private key to the error of a signing whose value is no text or no digest."""
    used = _watch_keys(node)

    def call(original: Callable[..., object], run: Run, called: str, arguments: object) -> object:
        try:
            return original(run, called, arguments)
        except HostError as error:
            raise HostError(f"{error} (key {used[-1]})" if called == name and used else str(error)) from None

    wrap(node.runs, "host_call", call)


@mutant("PKP-090", also="EXEC-200 EXEC-270 EXEC-280")
def sandbox_holds_the_last_private_key(node: Node) -> None:
    """Leave the private key that was used last in the sandbox, where the next action finds it."""
    used = _watch_keys(node)
    change_code(node, lambda code: f'globalThis.__cache = {{ keys: ["{used[-1]}"] }};{code}' if used else code)
