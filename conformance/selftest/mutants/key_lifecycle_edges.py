"""Faults about keys that are removed, unknown or another account's, and about what a change leaves alone."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from conformance.selftest.tools.accounts import NOTHING, Write, account_of, permissions_of, whole
from conformance.selftest.tools.alter import Answered, Forward, Received, answer, intercept, wrap
from conformance.selftest.tools.alter_runs import change_verdicts
from conformance.selftest.tools.api_keys import presented
from conformance.selftest.tools.concurrent_requests import ALONE_SECONDS
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Permissions, UsageKey
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.permission.keys import key_hash, parse_key


@mutant("KEYLIFE-110", also="KEYLIFE-100 KEYLIFE-180")
def update_creates_keys(node: Node) -> None:
    """Create a usage key in an update of an unknown value."""

    def update(write: Write, acting_key: int, key: int, name: str, description: str, sent: Permissions) -> None:
        try:
            write(acting_key, key, name, description, sent)
        except ContractRefusal as refusal:
            if refusal.error != "UsageKeyUnknown":
                raise
            node.accounts.set_usage_key(acting_key, UsageKey(key, 0, 0, name, description, sent))

    wrap(node.accounts, "update_usage_key", update)


@mutant(
    "AUTH-080",
    each=[
        row(
            "bools",
            ("can_create_groups", "can_delete_groups", "can_create_pkps"),
            also="SCOPE-090 UKEY-050 UKEY-070 UKEY-090",
        ),
        row("execution", ("execute_in_groups",), also="EXEC-030 UKEY-270 UKEY-300"),
    ],
    also="LIST-170",
)
def next_key_inherits_from_the_removed(node: Node, fields: Sequence[str]) -> None:
    """Give the next usage key of an account what the one removed before had in `{fields}`, too."""
    left: dict[int, Permissions] = {}

    def remove(write: Write, acting_key: int, key: int) -> None:
        former = permissions_of(node, key)
        write(acting_key, key)
        left[acting_key] = former or NOTHING

    def add(write: Write, acting_key: int, key: UsageKey) -> None:
        former = left.pop(acting_key, NOTHING)
        inherited = {field: getattr(key.permissions, field) or getattr(former, field) for field in fields}
        write(acting_key, replace(key, permissions=replace(key.permissions, **inherited)))

    wrap(node.accounts, "remove_usage_key", remove)
    wrap(node.accounts, "set_usage_key", add)


@mutant(
    each=[
        row("update_usage_key", breaks="KEYLIFE-100", also="KEYLIFE-110 KEYLIFE-180"),
        row("remove_usage_key", breaks="KEYLIFE-120 KEYLIFE-180"),
    ],
    also="KEYLIFE-190",
)
def write_of_an_unknown_key_succeeds(node: Node, method: str) -> None:
    """Answer success to `{method}` of an unknown usage key, and write nothing."""

    def write_for(write: Write, *arguments: object) -> None:
        try:
            write(*arguments)
        except ContractRefusal as refusal:
            if refusal.error != "UsageKeyUnknown":
                raise

    wrap(node.accounts, method, write_for)


@mutant("KEYLIFE-150", also="ACC-140 EP-120 EXEC-260 KEYLIFE-080 KEYLIFE-090")
def removal_takes_effect_late(node: Node) -> None:
    """Do the account key's `remove_usage_api_key` only after the usage key has created six more groups."""
    waiting: dict[int, Callable[[], object]] = {}
    uses: list[int] = []

    def postpone(write: Write, acting_key: int, key: int) -> None:
        if permissions_of(node, acting_key):
            write(acting_key, key)
        node.accounts.usage_key(acting_key, key)  # refused where it is no key of the account
        waiting[key] = partial(write, acting_key, key)

    def create(write: Write, acting_key: int, *arguments: object) -> object:
        created = write(acting_key, *arguments)
        if acting_key in waiting:
            uses.append(acting_key)
            if uses.count(acting_key) == 6:
                waiting.pop(acting_key)()
        return created

    wrap(node.accounts, "remove_usage_key", postpone)
    wrap(node.accounts, "add_group", create)


@mutant(
    "KEYLIFE-180",
    "ACC-120",
    each=["update_usage_key", row("update_usage_key_metadata", breaks="AUTH-140"), "remove_usage_key"],
)
def any_account_writes_about_a_key(node: Node, method: str) -> None:
    """Do `{method}` without asking whose usage key it is; a usage key may replace metadata alone."""

    def write_for(write: Write, acting_key: int, key: int, *arguments: object) -> None:
        may = method == "update_usage_key_metadata" or permissions_of(node, acting_key) is None
        write((may and account_of(node, key)) or acting_key, key, *arguments)

    wrap(node.accounts, method, write_for)


@mutant("KEYLIFE-180", also="ACC-120 ERR-150 EXEC-010")
def removal_by_a_stranger_ends_the_runs(node: Node) -> None:
    """Let a usage key run nothing once any account has asked to remove it, until it is updated."""
    barred: set[int] = set()

    def remove(write: Write, acting_key: int, key: int) -> None:
        barred.add(key)
        write(acting_key, key)

    def update(write: Write, acting_key: int, key: int, *arguments: object) -> None:
        write(acting_key, key, *arguments)
        barred.discard(key)

    wrap(node.accounts, "remove_usage_key", remove)
    wrap(node.accounts, "update_usage_key", update)
    change_verdicts(node, lambda right, question: right and question[0] not in barred)


@mutant("KEYLIFE-190", each=["update_usage_api_key", "remove_usage_api_key"])
def account_key_passes_for_a_usage_key(node: Node, operation: str) -> None:
    """Answer success to `{operation}` of the account key."""

    async def handler(request: Received, forward: Forward) -> Answered:
        secret = parse_key(presented(request))
        named = json.loads(request.body).get("usage_api_key") == presented(request)
        if secret and named and node.accounts.key_info(key_hash(secret)).is_account_key:
            return answer(200, {"success": True})
        return await forward(request)

    intercept(node, operation, handler)


@mutant("KEYLIFE-130", also="LIST-170")
def update_keeps_the_labels(node: Node) -> None:
    """Keep the labels in `update_usage_api_key`, though the profile says that it replaces them."""

    def update(write: Write, acting_key: int, key: int, name: str, text: str, sent: Permissions) -> None:
        if node.accounts.key_info(acting_key).is_account_key:
            before = node.accounts.usage_key(acting_key, key)
            name, text = before.name, before.description
        write(acting_key, key, name, text, sent)

    wrap(node.accounts, "update_usage_key", update)


@mutant("KEYLIFE-200", also="KEYLIFE-020 KEYLIFE-030")
def updates_at_once_mix(node: Node) -> None:
    """Store the bools of one and the arrays of another of several concurrent updates of a key."""
    under_way: dict[int, list[Permissions]] = {}
    more = threading.Condition()

    def update(write: Write, acting_key: int, key: int, name: str, description: str, sent: Permissions) -> None:
        with more:
            together = under_way.setdefault(key, [])
            together.append(sent)
            more.notify_all()
            more.wait_for(lambda: any(other != sent for other in together), ALONE_SECONDS)
            other = next((other for other in together if other != sent), sent)
            if under_way.get(key) is together:  # who comes from now on does not meet these
                del under_way[key]
        mixed = replace(
            sent,
            can_create_groups=other.can_create_groups,
            can_delete_groups=other.can_delete_groups,
            can_create_pkps=other.can_create_pkps,
        )
        write(acting_key, key, name, description, mixed)

    wrap(node.accounts, "update_usage_key", update)


@mutant("KEYLIFE-210")
def removal_takes_the_keys_groups(node: Node) -> None:
    """Remove with a usage key the groups that it created."""
    created: list[tuple[int, int]] = []

    def create(write: Write, acting_key: int, *arguments: object) -> object:
        group = write(acting_key, *arguments)
        created.append((acting_key, int(str(group))))
        return group

    def remove(write: Write, acting_key: int, key: int) -> None:
        write(acting_key, key)
        for creator, group in created:
            if creator == key:
                node.accounts.remove_group(acting_key, group)

    wrap(node.accounts, "add_group", create)
    wrap(node.accounts, "remove_usage_key", remove)


@mutant("KEYLIFE-210", also="LIST-170")
def removal_hides_the_keys_wallets(node: Node) -> None:
    """Hide with a removed usage key the wallets that it created."""
    created: dict[bytes, int] = {}

    def create(write: Write, acting_key: int, address: bytes, *arguments: object) -> None:
        write(acting_key, address, *arguments)
        created[address] = acting_key

    wrap(node.accounts, "create_wallet", create)
    wrap(
        node.accounts,
        "wallets",
        lambda view, account, *page: [
            found for found in view(account, *page) if account_of(node, created.get(found.address, account))
        ],
    )


@mutant(
    each=[
        row("update_usage_key", breaks="KEYLIFE-020", also="EP-130 EXEC-230 KEYLIFE-030 KEYLIFE-200"),
        row("update_usage_key_metadata", breaks="KEYLIFE-060"),
    ],
    also="ACC-140 CHAIN-050 CHAIN-160",
)
def chain_never_hears_of(node: Node, method: str) -> None:
    """Keep what `{method}` changes in memory, and not in the contract."""
    known: dict[int, UsageKey | None] = {}

    def there(acting_key: int, key: int) -> UsageKey:
        if permissions_of(node, acting_key):
            raise ContractRefusal("OwnerOnly", {"keyHash": acting_key})
        found = known.get(key, node.accounts.usage_key(acting_key, key))
        if found is None:
            raise ContractRefusal("UsageKeyUnknown", {"accountHash": acting_key, "keyHash": key})
        return found

    def update(_: Write, acting_key: int, key: int, name: str, description: str, sent: Permissions) -> None:
        known[key] = replace(there(acting_key, key), name=name, description=description, permissions=sent)

    def rename(_: Write, acting_key: int, key: int, name: str, description: str) -> None:
        known[key] = replace(there(acting_key, key), name=name, description=description)

    def remove(_: Write, acting_key: int, key: int) -> None:
        there(acting_key, key)
        known[key] = None

    def read(view: Callable[..., list[UsageKey]], *page: int) -> list[UsageKey]:
        shown = [known.get(key.key_hash, key) for key in view(*page)]
        return [key for key in shown if key]

    kept: dict[str, Callable[..., object]] = {
        "update_usage_key": update,
        "update_usage_key_metadata": rename,
        "remove_usage_key": remove,
    }
    wrap(node.accounts, method, kept[method])
    wrap(node.accounts, "usage_keys", read)


@mutant("KEYLIFE-210")
def removal_deletes_the_accounts_actions(node: Node) -> None:
    """Delete the account's registered actions in `remove_usage_api_key`."""

    def remove(write: Write, acting_key: int, key: int) -> None:
        write(acting_key, key)
        for action in whole(node.accounts.actions, account_of(node, acting_key)):
            node.accounts.delete_action(acting_key, action.cid_hash)

    wrap(node.accounts, "remove_usage_key", remove)


@mutant("KEYLIFE-080", also="EXEC-260 KEYLIFE-090")
def conversion_brings_removed_keys_back(node: Node) -> None:
    """Carry the account's usage keys over at the conversion with those that were removed."""
    removed: dict[int, list[UsageKey]] = {}

    def remove(write: Write, acting_key: int, key: int) -> None:
        account = account_of(node, acting_key)
        gone: list[UsageKey] = []
        with suppress(ContractRefusal):
            gone.append(node.accounts.usage_key(account, key))
        write(acting_key, key)
        removed.setdefault(account, []).extend(gone)

    def convert(write: Write, account: int, wallet: Address) -> None:
        for key in removed.get(account, []):
            with suppress(ContractRefusal):
                node.accounts.set_usage_key(account, key)
        write(account, wallet)

    wrap(node.accounts, "remove_usage_key", remove)
    wrap(node.accounts, "convert_to_chain_secured", convert)


@mutant("KEYLIFE-100", also="KEYLIFE-080 KEYLIFE-090 KEYLIFE-150")
def removal_overtakes_the_update_before_it(node: Node) -> None:
    """Send the update of a usage key to the chain behind its removal, where that is the next write, and it is back."""
    before: dict[int, UsageKey] = {}

    def update(write: Write, acting_key: int, key: int, name: str, description: str, sent: Permissions) -> None:
        write(acting_key, key, name, description, sent)
        before.clear()
        before[key] = UsageKey(key, 0, 0, name, description, sent)

    def remove(write: Write, acting_key: int, key: int) -> None:
        overtaken = before.get(key)
        write(acting_key, key)
        if overtaken is not None:
            node.accounts.set_usage_key(acting_key, overtaken)

    def other(write: Write, *given: object) -> object:
        before.clear()
        return write(*given)

    wrap(node.accounts, "_write", other)
    wrap(node.accounts, "update_usage_key", update)
    wrap(node.accounts, "remove_usage_key", remove)
