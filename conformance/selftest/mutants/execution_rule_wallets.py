"""Faults in how a run names its wallet: names that nobody guards, and what is taken where none is named."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from eth_utils.crypto import keccak

from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.mutant import mutant
from reference_node.chain.account_config import WILDCARD
from reference_node.node import Node
from reference_node.runs import Run
from reference_node.sandbox import HostRefusal
from reference_node.signatures import message_digest, sign

Arguments = Mapping[str, object]
HostCall = Callable[[Run, str, Arguments], object]
ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
CAPITALS = re.compile(r"0x[0-9A-F]{64}")


def _unguarded(node: Node, wallet: Callable[[Run, object], bytes | None]) -> None:
    """Where `wallet` finds one by the name that a call gives, the call is answered without asking for permission."""

    def call(host_call: HostCall, run: Run, name: str, arguments: Arguments) -> object:
        found = wallet(run, arguments.get("pkpId"))
        if found is None:
            return host_call(run, name, arguments)
        key = node.runs.wallet_key(run, found)
        return (
            f"0x{key.hex()}"
            if name == "getPrivateKey"
            else sign(key, message_digest(str(arguments["message"]).encode()))
        )

    wrap(node.runs, "host_call", call)


def _first_wallet(node: Node, run: Run) -> bytes | None:
    return next((one.id for one in node.accounts.wallets(run.caller.account_hash, 0, 1)), None)


@mutant("EXEC-050", "EXEC-200")
def no_wallet_is_the_first(node: Node) -> None:
    """An action that names no wallet uses the account's first one."""
    _unguarded(node, lambda run, named: None if named else _first_wallet(node, run))


@mutant("EXEC-050", "EXEC-200")
def all_zero_id_is_the_first_wallet(node: Node) -> None:
    """The wildcard is taken for a wallet that may be named: what signs is the account's first one."""
    _unguarded(node, lambda run, named: _first_wallet(node, run) if named == f"0x{WILDCARD.hex()}" else None)


@mutant("EXEC-050", "EXEC-200")
def addresses_are_not_guarded(node: Node) -> None:
    """A wallet that is named by its address is used without asking the groups."""
    _unguarded(
        node,
        lambda _, named: (
            keccak(bytes.fromhex(named[2:])) if isinstance(named, str) and ADDRESS.fullmatch(named) else None
        ),
    )


@mutant("EXEC-050", "EXEC-200")
def ids_in_capitals_are_not_guarded(node: Node) -> None:
    """Of a wallet that is named in capitals nothing is found that forbids it."""
    _unguarded(
        node,
        lambda _, named: bytes.fromhex(named[2:]) if isinstance(named, str) and CAPITALS.fullmatch(named) else None,
    )


@mutant("PKP-140")
def ids_in_capitals_name_no_wallet(node: Node) -> None:
    """A run that names its wallet in capitals is refused."""

    def call(host_call: HostCall, run: Run, name: str, arguments: Arguments) -> object:
        named = str(arguments.get("pkpId"))
        if named.startswith("0x") and any(letter.isupper() for letter in named):
            raise HostRefusal("there is no such wallet")
        return host_call(run, name, arguments)

    wrap(node.runs, "host_call", call)


@mutant("EXEC-200")
def used_wallet_opens_the_keys_of_others(node: Node) -> None:
    """Whether a wallet may be used is asked once a run; then it gets the private key of any."""
    begun: list[Run] = []

    def call(host_call: HostCall, run: Run, name: str, arguments: Arguments) -> object:
        if name == "getPrivateKey" and any(one is run for one in begun):
            return f"0x{node.runs.wallet_key(run, bytes.fromhex(str(arguments['pkpId'])[2:])).hex()}"
        given = host_call(run, name, arguments)
        begun.append(run)
        return given

    wrap(node.runs, "host_call", call)
