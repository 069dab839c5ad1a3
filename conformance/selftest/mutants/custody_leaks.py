"""Faults by which the private key of a wallet gets out of the node."""

from __future__ import annotations

import base64
from collections.abc import Callable
from urllib.parse import quote

from conformance.selftest.tools.alter import Answered, Forward, Received, answer, intercept, wrap
from conformance.selftest.tools.alter_runs import RUN, change_code
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


def _append_to_logs(node: Node, spelling: Callable[[str], str]) -> None:
    """Append the private key that a run has used last to its logs; nothing to those of a run that used none."""
    used = _watch_keys(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        before = len(used)
        given = await forward(request)
        if not given.accepted or len(used) == before:
            return given
        told = given.told
        return answer(given.status, {**told, "logs": f"{told['logs']}derived {spelling(used[-1])}"})

    intercept(node, RUN, handler)


@mutant("PKP-090", also="EXEC-180")
def logs_hold_the_private_key(node: Node) -> None:
    """Append the private key of a run's wallet to its logs."""
    _append_to_logs(node, str)


SPELLINGS: dict[str, Callable[[bytes], str]] = {
    "bytes": lambda key: str(list(key)),
    "hex-with-colons": lambda key: key.hex(":"),
    "base32": lambda key: base64.b32encode(key).decode(),
    "base64-of-hex": lambda key: base64.b64encode(f"{key.hex()}\n".encode()).decode(),
    "for-urls": lambda key: quote(base64.b64encode(key), safe=""),
    "for-html": lambda key: "".join(f"&#{ord(letter)};" for letter in key.hex()),
}


@mutant("PKP-090", also="EXEC-180", each=[row(*spelling) for spelling in SPELLINGS.items()])
def logs_spell_the_private_key(node: Node, spelling: Callable[[bytes], str]) -> None:
    """Append the private key of a run's wallet to its logs in the spelling that the label tells."""
    _append_to_logs(node, lambda used: spelling(bytes.fromhex(used)))


@mutant("PKP-090", also="ERR-160")
def headers_hold_the_private_key(node: Node) -> None:
    """Send the private key of a run's wallet in a header for tracing, in decimals."""
    used = _watch_keys(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        before = len(used)
        given = await forward(request)
        if len(used) == before:
            return given
        trace = (b"x-trace", str(int(used[-1], 16)).encode())
        return Answered(given.status, (*given.headers, trace), given.body)

    intercept(node, RUN, handler)


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


@mutant("PKP-090", also="ERR-160 VER-050")
def refusals_hold_the_private_key(node: Node) -> None:
    """Show in the refusal of a run the private key that was used last."""
    used = _watch_keys(node)

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted or not used:
            return given
        return answer(given.status, {**given.told, "detail": f"no group permits {used[-1]}"})

    intercept(node, RUN, handler)
