"""Faults of restarts: what a node keeps in memory alone, and what it does anew when it starts."""

from __future__ import annotations

import asyncio
import copy
import json
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from eth_utils.address import to_canonical_address
from pydantic import JsonValue

from conformance.selftest.mutants.conversion_old_key import GROUP_WRITES, old_key_lives
from conformance.selftest.tools.accounts import Write, account_of, let_execute, permissions_of, whole
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer_instead,
    body_of,
    change_accepted,
    change_answer,
    change_items,
    each,
    intercept,
    lasting,
    members,
    note_accepted,
    refusal,
    wrap,
)
from conformance.selftest.tools.alter_attestation import (
    ACCOUNT,
    QUOTE,
    certificate_name,
    change_bound_file,
    change_evidence,
)
from conformance.selftest.tools.alter_contract import around_conversion
from conformance.selftest.tools.alter_envelopes import address_in
from conformance.selftest.tools.alter_payments import Confirm, give, ledger_of, payments_of, take
from conformance.selftest.tools.alter_runs import RUN, change_verdicts
from conformance.selftest.tools.api_keys import header, presented, under
from conformance.selftest.tools.mutant import mutant, row
from conformance.selftest.tools.operations import LISTS
from reference_node.billing.ledger import Intent
from reference_node.chain.account_config import Permissions, UsageKey
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.chain.interface import Address, Hash
from reference_node.node import Node
from reference_node.permission.keys import pkp_id
from reference_node.permission.runs import Run
from reference_node.problems import NotFound
from reference_node.sandbox.outcome import HostRefusal

WALLET_MINT, KEY_MINT, CREATE_WALLET = (
    "create_wallet_with_signature",
    "add_usage_api_key_with_signature",
    "create_wallet",
)


UNDER_WAY_SECONDS = 0.2
"""How long a write waits for others, so that it is under way beside them."""

C = TypeVar("C", list[Any], dict[Any, Any], set[Any])


def restarts_of(node: Node) -> int:
    """How often the node was restarted so far. Ask once in each process."""
    starts: list[None] = lasting(node, "starts", [])
    starts.append(None)
    return len(starts) - 1


def _taken(memory: C) -> C:
    """What a memory of the former process holds, which is emptied: this one remembers anew."""
    held = copy.copy(memory)
    memory.clear()
    return held


def _is_of_group(request: Received) -> bool:
    return "group_id=" in request.query


# ------------------------------------------------------------------------------------------------- lists


def _change_lists(
    node: Node, operation: str, in_group: bool | None, change: Callable[[str | None, list[JsonValue]], list[JsonValue]]
) -> None:
    """Change what a list holds for this key; of `list_actions`, that of a group or that of the account."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if not given.accepted or in_group not in {None, _is_of_group(request)}:
            return given
        return given.having(change(request.key, json.loads(given.body)))

    intercept(node, operation, handler)


@mutant(
    each=[
        row("groups", "list_groups", None, breaks="GRPLIFE-010", also="EP-200"),
        row("usage-keys", "list_api_keys", None, breaks="KEYLIFE-010", also="EP-150"),
        row("wallets", "list_wallets", None, breaks="EP-230"),
        row("actions", "list_actions", False, breaks="EP-280", also="EP-260"),
        row("actions-of-groups", "list_actions", True, breaks="EP-360", also="EP-250"),
        row("wallets-of-groups", "list_wallets_in_group", None, breaks="EP-370", also="EP-240"),
    ],
    restarts=True,
)
def restart_loses_the_first_item(node: Node, operation: str, in_group: bool | None) -> None:
    """Leave one more item out of `{operation}` after each restart, the first ones first."""
    lost = restarts_of(node)
    _change_lists(node, operation, in_group, lambda _, items: items[lost:])


@mutant(
    each=[
        row("groups", "remove_group", "group_id", "list_groups", "id", breaks="GRPLIFE-100", also="LIST-010"),
        row("actions", "delete_action", "hashed_cid", "list_actions", "hashed_cid", breaks="EP-290"),
        row(
            "actions-of-groups", "remove_action_from_group", "hashed_cid", "list_actions", "hashed_cid", breaks="EP-210"
        ),
        row("wallets-of-groups", "remove_pkp_from_group", "pkp_id", "list_wallets_in_group", "id", breaks="EP-220"),
    ],
    restarts=True,
)
def restart_lists_what_was_removed(node: Node, removal: str, named: str, operation: str, member: str) -> None:
    """List in `{operation}` after a restart what `{removal}` took out before."""
    removed: dict[str, list[JsonValue]] = lasting(node, "removed", {})
    in_group = removal.endswith("_from_group") if operation == "list_actions" else None

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted and request.key:
            removed.setdefault(request.key, []).append({member: body_of(request)[named], "name": "", "description": ""})
        return given

    back = copy.deepcopy(removed)
    intercept(node, removal, handler)
    _change_lists(node, operation, in_group, lambda key, items: [*items, *back.get(key or "", [])])


@mutant(
    each=[
        row("group-names", "list_groups", "name", breaks="GRP-020"),
        row("group-descriptions", "list_groups", "description", breaks="GRP-030"),
        row("action-names", "list_actions", "name", breaks="EP-300"),
    ],
    restarts=True,
)
def restart_loses_labels(node: Node, operation: str, label: str) -> None:
    """Leave one more character at the end of each {label} in `{operation}` out after each restart."""
    lost = restarts_of(node)
    change_items(node, operation, each(lambda item: {**item, label: str(item[label])[: -lost or None]}))


@mutant(
    each=[
        row("groups", "list_groups", breaks="LIST-010"),
        row("usage-keys", "list_api_keys", breaks="LIST-120", also="LIST-110"),
        row("wallets", "list_wallets", breaks="LIST-120", also="LIST-110"),
        row("actions", "list_actions", breaks="LIST-120", also="LIST-110"),
    ],
    restarts=True,
)
def restart_loses_the_order(node: Node, operation: str) -> None:
    """Turn the order in `{operation}` round at each restart."""
    step = -1 if restarts_of(node) % 2 else 1
    change_items(node, operation, lambda items: items[::step])


@mutant("GRPLIFE-010", restarts=True)
def kill_loses_the_last_group(node: Node) -> None:
    """Keep a new group when something else is written, or at an orderly end."""
    unsaved: list[tuple[int, int]] = lasting(node, "unsaved", [])
    for key, group in _taken(unsaved):
        node.accounts.remove_group(key, group)

    def add(write: Callable[..., int], key: int, *others: object) -> int:
        made = write(key, *others)
        unsaved[:] = [(key, made)]
        return made

    def other(write: Write, *arguments: object) -> None:
        unsaved.clear()
        write(*arguments)

    def close(original: Callable[[], None]) -> None:
        unsaved.clear()
        original()

    wrap(node.accounts, "add_group", add)
    for name in ("create_wallet", "set_usage_key", "add_action"):
        wrap(node.accounts, name, other)
    wrap(node, "close", close)


@mutant("GRPLIFE-010", restarts=True)
def kill_loses_groups_made_at_once(node: Node) -> None:
    """Keep groups that are made at the same time when the next one is made alone."""
    unsaved: list[tuple[int, int]] = lasting(node, "unsaved", [])
    for key, group in _taken(unsaved):
        node.accounts.remove_group(key, group)
    under_way: list[Received] = []

    async def make(request: Received, forward: Forward) -> Answered:
        if not under_way:
            unsaved.clear()
        under_way.append(request)
        try:
            await asyncio.sleep(UNDER_WAY_SECONDS)
            return await forward(request)
        finally:
            under_way.remove(request)

    def add(write: Callable[..., int], key: int, *others: object) -> int:
        made = write(key, *others)
        if len(under_way) > 1:
            unsaved.append((key, made))
        return made

    intercept(node, "add_group", make)
    wrap(node.accounts, "add_group", add)


# ------------------------------------------------------------------------------------------------- keys, permissions


@mutant("KEYLIFE-080", "KEYLIFE-090", restarts=True)
def restart_opens_removed_usage_keys(node: Node) -> None:
    """Keep removals of usage keys in memory: after a restart the keys open again what they opened."""
    removed: dict[int, UsageKey] = lasting(node, "removed", {})
    for account, key in _taken(removed).items():
        with suppress(ContractRefusal):  # its groups were removed as well
            node.accounts.set_usage_key(account, key)

    def remove(write: Write, acting: int, hashed: int) -> None:
        removed[acting] = node.accounts.usage_key(acting, hashed)
        write(acting, hashed)

    wrap(node.accounts, "remove_usage_key", remove)


@mutant("KEYLIFE-080", each=["x-api-key", "authorization"], restarts=True)
def restart_lets_removed_usage_keys_read(node: Node, via: str) -> None:
    """List an account's groups to a removed usage key in `{via}` after a restart."""
    owners: dict[str, str] = lasting(node, "owners", {})
    readers = dict(owners)

    def remove(request: Received, _given: Answered) -> None:
        owners[str(body_of(request)["usage_api_key"])] = presented(request)

    async def read(request: Received, forward: Forward) -> Answered:
        owner = readers.get(presented(request)) if header(request, via.encode()) else None
        return await forward(under(request, owner) if owner else request)

    note_accepted(node, "remove_usage_api_key", remove)
    intercept(node, "list_groups", read)


@mutant("UKEY-280", also="EXEC-010 SCOPE-020", restarts=True)
def restart_lets_the_wildcard_run_nothing(node: Node) -> None:
    """Refuse runs of usage keys that execute in every group after a restart."""

    def permitted(was: bool, run: tuple[int, bytes, bytes | None]) -> bool:
        held = permissions_of(node, run[0])
        return was and not (held is not None and 0 in held.execute_in_groups)

    if restarts_of(node):
        change_verdicts(node, permitted)


@mutant("KEYLIFE-020", "KEYLIFE-030", also="EXEC-010 KEYLIFE-010", restarts=True)
def restart_undoes_updates_of_permissions(node: Node) -> None:
    """Keep new permissions of usage keys in memory: after a restart they are those of the key's creation."""
    made: dict[tuple[int, int], Permissions] = lasting(node, "made", {})
    for (account, hashed), permissions in _taken(made).items():
        key = node.accounts.usage_key(account, hashed)
        node.accounts.update_usage_key(account, hashed, key.name, key.description, permissions)

    def update(write: Write, acting: int, hashed: int, *others: object) -> None:
        made.setdefault((acting, hashed), node.accounts.usage_key(acting, hashed).permissions)
        write(acting, hashed, *others)

    wrap(node.accounts, "update_usage_key", update)


@mutant("KEYLIFE-070", also="KEYLIFE-020", restarts=True)
def restart_keeps_labels_of_renamed_keys_alone(node: Node) -> None:
    """Keep a usage key that was renamed with its new labels and without its permissions."""
    renamed: set[tuple[int, int]] = lasting(node, "renamed", set())
    for account, hashed in _taken(renamed):
        key = node.accounts.usage_key(account, hashed)
        nothing = Permissions(False, False, False, (), (), (), key.permissions.execute_in_groups)
        node.accounts.update_usage_key(account, hashed, key.name, key.description, nothing)

    def rename(write: Write, acting: int, hashed: int, *labels: object) -> None:
        write(acting, hashed, *labels)
        renamed.add((acting, hashed))

    wrap(node.accounts, "update_usage_key_metadata", rename)


@mutant("GRPLIFE-120", also="KEYLIFE-030", restarts=True)
def restart_gives_ids_of_removed_groups_again(node: Node) -> None:
    """Count groups anew after a restart: the next one has the rights that usage keys had in a removed one."""
    holders: list[tuple[int, int]] = lasting(node, "holders", [])
    before = _taken(holders)

    def remove(write: Write, acting: int, group: int) -> None:
        account = account_of(node, acting)
        keys = whole(node.accounts.usage_keys, account)
        holders.extend((account, key.key_hash) for key in keys if group in key.permissions.execute_in_groups)
        write(acting, group)

    def add(write: Callable[..., int], acting: int, *others: object) -> int:
        made = write(acting, *others)
        for account, hashed in [holder for holder in before if holder[0] == acting]:
            let_execute(node, account, hashed, made)
        return made

    wrap(node.accounts, "remove_group", remove)
    wrap(node.accounts, "add_group", add)


@mutant(
    each=[
        row("account-keys", "account", breaks="AKEY-060", also="BILL-020 EP-340"),
        row("usage-keys", "usage", breaks="EXEC-010 MODE-090", also="KEYLIFE-010 KEYLIFE-070"),
    ],
    restarts=True,
)
def restart_forgets_keys(node: Node, kind: str) -> None:
    """Keep {kind} keys in memory: after a restart nobody holds those from before."""
    known: set[int] = lasting(node, "known", set())
    before = frozenset(known)

    def make(write: Write, acting: int, what: object, *others: object) -> None:
        known.add(what.key_hash if isinstance(what, UsageKey) else acting)
        write(acting, what, *others)

    wrap(node.accounts, "key_info", lambda original, hashed: original(0 if hashed in before else hashed))
    wrap(node.accounts, "new_account" if kind == "account" else "set_usage_key", make)


# --------------------------------------------------------------------------------------------------------- wallets


@mutant("PKP-100", also="PKP-170", restarts=True)
def restart_derives_other_keys(node: Node) -> None:
    """Derive the keys of wallets from a secret of the process: after a restart they sign with other keys."""
    made: set[Hash] = lasting(node, "made", set())
    before = frozenset(made)

    def create(write: Write, acting: int, address: Address, *others: object) -> None:
        made.add(Hash(pkp_id(address)))
        write(acting, address, *others)

    def wallet_key(derive: Callable[[Run, Hash], bytes], run: Run, wanted: Hash) -> bytes:
        key = derive(run, wanted)
        return bytes(byte ^ 1 for byte in key) if wanted in before else key

    wrap(node.accounts, "create_wallet", create)
    wrap(node.runs, "wallet_key", wallet_key)


@mutant(
    each=[
        row("wallets", CREATE_WALLET, breaks="PKP-110"),
        row("minted-wallets", WALLET_MINT, breaks="MINT-180", also="PKP-110"),
        row("minted-keys", KEY_MINT, breaks="MINT-190", also="MINT-100 UKEY-420"),
    ],
    restarts=True,
)
def restart_counts_from_the_beginning(node: Node, operation: str) -> None:
    """Derive what `{operation}` makes from a counter in memory: after a restart the first is made again."""
    made: dict[object, list[Answered]] = lasting(node, "made", {})
    number: Counter[object] = Counter()

    def changed(request: Received, given: Answered) -> Answered:
        caller = request.key or address_in(body_of(request).get("typed_data"))
        of_caller = made.setdefault(caller, [])
        of_caller.append(given)
        number[caller] += 1
        return of_caller[number[caller] - 1]

    change_accepted(node, operation, changed)


@mutant("MINT-180", each=[row("the-third", 2), row("the-fourth", 3)], also="PKP-110", restarts=True)
def restart_counts_from_the_registered_wallets(node: Node, registered: int) -> None:
    """Count minted wallets after a restart from how many are registered: hand {registered} and later ones out again."""
    made: list[dict[str, JsonValue]] = lasting(node, "made", [])
    again = iter(_taken(made)[registered:])

    def counted(value: JsonValue) -> JsonValue:
        told = {**members(value), **next(again, {})}
        made.append({name: told[name] for name in ("wallet_address", "derivation_path")})
        return told

    change_answer(node, (WALLET_MINT, KEY_MINT), counted)


@mutant("MINT-040", restarts=True)
def restart_forgets_minted_wallets(node: Node) -> None:
    """Keep the path of a minted wallet in memory: after a restart its key cannot be derived any more."""
    minted: set[str] = lasting(node, "minted", set())
    before = frozenset(minted)

    def note(value: JsonValue) -> JsonValue:
        minted.add(str(members(value)["wallet_address"]))
        return value

    def wallet_key(derive: Callable[[Run, Hash], bytes], run: Run, wanted: Hash) -> bytes:
        if any(pkp_id(to_canonical_address(address)) == wanted for address in before):
            raise HostRefusal("nobody knows how to derive its key")
        return derive(run, wanted)

    change_answer(node, WALLET_MINT, note)
    wrap(node.runs, "wallet_key", wallet_key)


@mutant("MINT-120", also="MINT-150", restarts=True)
def restart_forgets_minted_usage_keys(node: Node) -> None:
    """Keep minted usage keys in memory until they are attached: after a restart attaching them opens nothing."""
    minted: set[str] = lasting(node, "minted", set())
    before = frozenset(minted)

    def note(value: JsonValue) -> JsonValue:
        minted.add(str(members(value)["usage_api_key"]))
        return value

    change_answer(node, KEY_MINT, note)
    answer_instead(node, RUN, refusal(401), lambda request: presented(request) in before)


@mutant("MODE-110", "ERR-080", also="ACC-160 CHAIN-100 CHAIN-110 MODE-230", restarts=True)
def restart_lets_old_master_keys_write(node: Node) -> None:
    """Keep in memory that a master key is the old one: after a restart it writes again."""
    converted: dict[int, float] = lasting(node, "converted", {})

    def convert(write: Write, account: int, new_admin: Address) -> None:
        write(account, new_admin)
        converted[account] = time.monotonic()

    old_key_lives(node, *GROUP_WRITES, converted=dict(converted), goes_on=False)
    around_conversion(node, convert)


# ------------------------------------------------------------------------------------------------------- payments


@mutant("BILL-100", restarts=True)
def restart_credits_used_payments_again(node: Node) -> None:
    """Keep in memory which payments were credited: after a restart a further confirmation credits them again."""
    confirmed: set[str] = set()

    def confirm(original: Confirm, wallet: Address, intent_id: str) -> None:
        known = ledger_of(node).intent(intent_id)
        original(wallet, intent_id)
        if known is not None and known.state == "credited" and intent_id not in confirmed:
            give(node, wallet, known.cents)
        confirmed.add(intent_id)

    wrap(payments_of(node), "confirm", confirm)


@mutant("BILL-020", also="BILL-070 BILL-160", restarts=True)
def restart_loses_credit(node: Node) -> None:
    """Keep bought credit in memory: after a restart it is gone."""
    bought: list[Intent] = lasting(node, "bought", [])
    for intent in _taken(bought):
        take(node, intent.wallet, intent.cents)

    def credit(original: Callable[[str], bool], intent_id: str) -> bool:
        done, intent = original(intent_id), ledger_of(node).intent(intent_id)
        if done and intent is not None:
            bought.append(intent)
        return done

    wrap(ledger_of(node), "credit", credit)


@mutant("BILL-070", restarts=True)
def restart_forgets_open_payments(node: Node) -> None:
    """Keep payment intents in memory: after a restart nobody knows those that were not confirmed."""
    made: set[str] = lasting(node, "intents", set())
    before = frozenset(made)

    def note(original: Callable[..., None], wallet: Address, intent: str, *others: object) -> None:
        original(wallet, intent, *others)
        made.add(intent)

    def confirm(original: Confirm, wallet: Address, intent_id: str) -> None:
        if intent_id in before:
            raise NotFound("payment-unknown", "this account has no such payment")
        original(wallet, intent_id)

    wrap(ledger_of(node), "note_intent", note)
    wrap(payments_of(node), "confirm", confirm)


@mutant("BILL-140", also="LIM-050", restarts=True)
def restart_forgets_the_prices(node: Node) -> None:
    """Charge for writes in the first process and in each second one after it, and nothing in the others."""
    if restarts_of(node) % 2:
        wrap(node.billing, "settle", lambda settle, hold, _: settle(hold, 0))


# ------------------------------------------------------------------------------------------------------- evidence


@mutant(
    each=[row("quote", QUOTE, breaks="ATT-170 ATT-240"), row("certificate", None, breaks="ATT-180 ATT-110")],
    restarts=True,
)
def restart_leaves_evidence_behind(node: Node, name: str | None) -> None:
    """Take a new certificate at a restart, and go on to serve the former {name} file."""
    if restarts_of(node):
        machine, kept = node.attestation, name or certificate_name(node)
        before = machine.evidence.files[kept]
        change_evidence(node, lambda evidence: replace(evidence, files={**evidence.files, kept: before}))
        machine.rotate()


@mutant("ATT-190", also="ATT-010", restarts=True)
def restart_registers_another_acme_account(node: Node) -> None:
    """Show another ACME account after a restart, and leave the CAA records as they are."""
    if restarts_of(node):
        change_bound_file(node, ACCOUNT, lambda body: body.replace(b"/acct/", b"/acct/9"))
        node.attestation.rotate()


@mutant("CHAIN-190", also="CHAIN-010 CHAIN-030 CHAIN-040", restarts=True)
def restart_forgets_the_contract(node: Node) -> None:
    """Answer a contract address of zeros after a restart until something else was asked for."""
    known: list[bool] = [] if restarts_of(node) else [True]

    async def note(request: Received, forward: Forward) -> Answered:
        known.append(True)
        return await forward(request)

    def shown(value: JsonValue) -> JsonValue:
        return value if known else {**members(value), "contract_address": f"0x{0:040x}"}

    intercept(node, LISTS, note)
    change_answer(node, "get_node_chain_config", shown)
