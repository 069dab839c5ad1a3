"""Faults in how a run names its wallet: names that nobody guards, and what is taken where none is named."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping

from eth_utils.crypto import keccak

from conformance.selftest.tools.alter import Answered, Received, body_of, note_accepted, wrap
from conformance.selftest.tools.alter_envelopes import address_in
from conformance.selftest.tools.alter_runs import change_code, own_groups
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.variants.other_habits import other_habits
from reference_node.chain.account_config import WILDCARD
from reference_node.node import Node
from reference_node.permission.runs import Run
from reference_node.permission.signatures import message_digest, sign
from reference_node.sandbox import HostRefusal

Arguments = Mapping[str, object]
HostCall = Callable[[Run, str, Arguments], object]
ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
WALLET_ID = re.compile(r"0x[0-9a-fA-F]{64}")


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


def _unguarded(node: Node, run: Run, arguments: Arguments) -> str:
    key = node.runs.wallet_key(run, bytes.fromhex(str(arguments["pkpId"])[2:]))
    return sign(key, message_digest(str(arguments["message"]).encode()))


def _change_call(node: Node, statements: str) -> None:
    """Let these statements make the argument of `signMessage` of that of the script, `call`."""
    change_code(
        node,
        lambda code: (
            "Object.defineProperty(globalThis, 'Service', { value: (({ Actions }) => ({ Actions: { ...Actions, "
            f"signMessage: async call => {{ {statements} return await Actions.signMessage(call); }} }} }}))(Service) "
            f"}});{code}"
        ),
    )


@mutant(
    "EXEC-200",
    each=[
        row("text", "const id = call.pkpId; call = { ...call, checked: `${id}`, pkpId: `${id}` };"),
        row("member", "call = { checked: call.pkpId, pkpId: call.pkpId, message: call.message };"),
    ],
    also="EXEC-050",
)
def wallet_is_read_twice(node: Node, statements: str) -> None:
    """Read the wallet of a call once to decide, and once more to sign; the label says what is read of it."""

    def call(host_call: HostCall, run: Run, name: str, arguments: Arguments) -> object:
        checked = str(arguments.get("checked"))
        if name != "signMessage" or not WALLET_ID.fullmatch(checked):
            return host_call(run, name, arguments)
        if not node.runs.may_use(run, bytes.fromhex(checked[2:])):
            raise HostRefusal("this wallet may not be used here")
        return _unguarded(node, run, arguments)

    _change_call(node, statements)
    wrap(node.runs, "host_call", call)


@mutant("EXEC-200", also="EXEC-050")
def wallets_are_decided_where_the_script_runs(node: Node) -> None:
    """Decide in the script's own realm, by `Array.prototype.includes`, which scripts can replace."""

    def call(host_call: HostCall, run: Run, name: str, arguments: Arguments) -> object:
        return _unguarded(node, run, arguments) if arguments.get("free") is True else host_call(run, name, arguments)

    _change_call(node, "call = { ...call, free: [].includes(call.pkpId) };")
    wrap(node.runs, "host_call", call)


@mutant("EXEC-200", on=other_habits, also="EXEC-050 EXEC-380")
def refused_wallets_are_permitted_again(node: Node) -> None:
    """Note a wallet as decided before the decision, so that a second call with it in the same run is permitted."""
    decided: list[tuple[Run, bytes]] = []

    def may_use(original: Callable[[Run, bytes], bool], run: Run, pkp: bytes) -> bool:
        if any(one is run and wallet == pkp for one, wallet in decided):
            return True
        decided.append((run, pkp))
        return original(run, pkp)

    wrap(node.runs, "may_use", may_use)


@mutant("EXEC-200", also="EXEC-050 PKP-170")
def wildcard_is_a_wallet(node: Node) -> None:
    """Derive a key for the zero id where a run names it as its wallet in a group that permits all wallets."""

    def key_of(derived: Callable[[Run, bytes], bytes], run: Run, pkp: bytes) -> bytes:
        return node.keys.wallet_key(1) if pkp == WILDCARD else derived(run, pkp)

    def may_use(mine: Callable[[Run, bytes], bool], run: Run, pkp: bytes) -> bool:
        groups = own_groups(node, run.caller.key_hash)
        listed = any(pkp in group.wallets and group.has_action(run.action) for group in groups)
        return mine(run, pkp) or (pkp == WILDCARD and listed)

    wrap(node.runs, "wallet_key", key_of)
    wrap(node.runs, "may_use", may_use)


@mutant(
    each=[
        row("minted", "create_wallet_with_signature", breaks="PKP-080", also="EXEC-050 EXEC-090 EXEC-200"),
        row("minted-by-its-admin", "create_wallet_with_signature", True, breaks="PKP-080", also="EXEC-050 EXEC-200"),
        row("of-any-account", "create_wallet", breaks="PKP-150", also="EXEC-050 EXEC-090 EXEC-200"),
    ]
)
def all_wallets_are_all_of_the_node(node: Node, operation: str, by_admin: bool = False) -> None:
    """Take the wildcard for every wallet that `{operation}` made, registered in the account or not; see the label."""
    made: dict[bytes, int] = {}
    makers: dict[bytes, bytes | None] = {}

    def note(request: Received, given: Answered) -> None:
        told = json.loads(given.body)
        makers[keccak(bytes.fromhex(told["wallet_address"][2:]))] = address_in(body_of(request).get("typed_data"))
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
        admin = node.accounts.account(run.caller.account_hash).admin_wallet
        return mine(run, pkp) or (pkp in made and wide and (not by_admin or makers.get(pkp) == admin))

    wrap(node.runs, "may_use", may_use)
    wrap(node.runs, "wallet_key", key_of)
    if operation == "create_wallet":
        wrap(node.accounts, "create_wallet", create)
    else:
        note_accepted(node, operation, note)
