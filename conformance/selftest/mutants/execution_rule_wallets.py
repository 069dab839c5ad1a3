"""Faults in how a run names its wallet: names that nobody guards, and what is taken where none is named."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from eth_utils.crypto import keccak

from conformance.selftest.tools.alter import Answered, Received, note_accepted, wrap
from conformance.selftest.tools.alter_runs import own_groups
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import WILDCARD
from reference_node.node import Node
from reference_node.permission.runs import Run
from reference_node.permission.signatures import message_digest, sign
from reference_node.sandbox import HostRefusal

Arguments = Mapping[str, object]
HostCall = Callable[[Run, str, Arguments], object]
ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


@mutant("EXEC-200", also="EXEC-050")
def call_without_an_id_is_not_guarded(node: Node) -> None:
    """Use the account's first wallet for a call that names none, without asking for permission."""

    def call(host_call: HostCall, run: Run, name: str, arguments: Arguments) -> object:
        first = node.accounts.wallets(run.caller.account_hash, 0, 1)
        if arguments.get("pkpId") or not first or name not in {"getPrivateKey", "signMessage"}:
            return host_call(run, name, arguments)
        key = node.runs.wallet_key(run, first[0].id)
        if name == "getPrivateKey":
            return f"0x{key.hex()}"
        return sign(key, message_digest(str(arguments["message"]).encode()))

    wrap(node.runs, "host_call", call)


@mutant("PKP-140")
def ids_in_capitals_name_no_wallet(node: Node) -> None:
    """Refuse a run that names its wallet in capitals."""

    def call(host_call: HostCall, run: Run, name: str, arguments: Arguments) -> object:
        named = str(arguments.get("pkpId"))
        if named.startswith("0x") and any(letter.isupper() for letter in named):
            raise HostRefusal("there is no such wallet")
        return host_call(run, name, arguments)

    wrap(node.runs, "host_call", call)


@mutant("EXEC-200", also="EXEC-050")
def used_wallet_opens_the_keys_of_others(node: Node) -> None:
    """Give a run the private key of any wallet after its first permitted call."""
    begun: list[Run] = []

    def call(host_call: HostCall, run: Run, name: str, arguments: Arguments) -> object:
        if name == "getPrivateKey" and any(one is run for one in begun):
            return f"0x{node.runs.wallet_key(run, bytes.fromhex(str(arguments['pkpId'])[2:])).hex()}"
        given = host_call(run, name, arguments)
        begun.append(run)
        return given

    wrap(node.runs, "host_call", call)


@mutant(
    each=[
        row("minted", "create_wallet_with_signature", breaks="PKP-080", also="EXEC-050 EXEC-090 EXEC-200"),
        row("of-any-account", "create_wallet", breaks="PKP-150", also="EXEC-050 EXEC-090 EXEC-200"),
    ]
)
def all_wallets_are_all_of_the_node(node: Node, operation: str) -> None:
    """Take the wildcard for every wallet that `{operation}` made, registered in the account or not."""
    made: dict[bytes, int] = {}

    def note(_request: Received, given: Answered) -> None:
        told = json.loads(given.body)
        made[keccak(bytes.fromhex(told["wallet_address"][2:]))] = int(told["derivation_path"], 16)

    def create(write: Callable[..., None], key: int, address: bytes, path: int, *labels: str) -> None:
        write(key, address, path, *labels)
        made[keccak(address)] = path

    def key_of(derived: Callable[[Run, bytes], bytes], run: Run, pkp: bytes) -> bytes:
        try:
            return derived(run, pkp)
        except HostRefusal:
            if pkp not in made:
                raise
            return node.keys.wallet_key(made[pkp])

    def may_use(mine: Callable[[Run, bytes], bool], run: Run, pkp: bytes) -> bool:
        groups = own_groups(node, run.caller.key_hash)
        wide = any(WILDCARD in group.wallets and run.action in group.actions for group in groups)
        return mine(run, pkp) or (pkp in made and wide)

    wrap(node.runs, "may_use", may_use)
    wrap(node.runs, "wallet_key", key_of)
    if operation == "create_wallet":
        wrap(node.accounts, "create_wallet", create)
    else:
        note_accepted(node, operation, note)
