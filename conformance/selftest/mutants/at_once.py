"""Faults that show when requests are under way at the same time: equal ones, or a removal and what it removes."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Sequence

from pydantic import JsonValue

from conformance.selftest.tools.accounts import Hashes, Write, account_of, actions_of, group_of, lists_of, whole
from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer,
    body_of,
    change_items,
    intercept,
    members,
    wrap,
)
from conformance.selftest.tools.alter_runs import change_code
from conformance.selftest.tools.concurrent_requests import Overtaking, Rendezvous, one_answer_at_a_time
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Group, Permissions, UsageKey
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node

UNDER_WAY_SECONDS = 0.5
"""How long a request is under way where another is to come meanwhile, and many come alone."""


@mutant(
    each=[
        row("new_account", breaks="ACC-200", also="AKEY-050 EP-050"),
        row("add_usage_api_key", breaks="UKEY-420", also="BILL-220 UKEY-360"),
    ]
)
def equal_requests_at_once_get_one_answer(node: Node, operation: str) -> None:
    """Answer equal requests of `{operation}` that come while one is under way with the answer to that one."""
    one_answer_at_a_time(node, operation, lambda request: (request.key, request.body))


def _removal_overtakes(node: Node, method: str) -> Overtaking:
    """Make removals by this method wait for a request that they overtake, and release it when they are done."""
    overtaking = Overtaking()

    def remove(write: Write, *given: object) -> None:
        overtaking.overtake()
        write(*given)
        overtaking.done()

    wrap(node.accounts, method, remove)
    return overtaking


@mutant("KEYLIFE-100", also="KEYLIFE-080 KEYLIFE-090 KEYLIFE-150")
def update_brings_back_a_key_removed_meanwhile(node: Node) -> None:
    """Check in an update that the key exists, and write it even if it was removed meanwhile."""
    removal = _removal_overtakes(node, "remove_usage_key")

    def update(write: Write, key: int, updated: int, name: str, description: str, given: Permissions) -> None:
        node.accounts.usage_key(account_of(node, key), updated)
        removal.wait()
        try:
            write(key, updated, name, description, given)
        except ContractRefusal:
            node.accounts.set_usage_key(key, UsageKey(updated, 0, 0, name, description, given))

    wrap(node.accounts, "update_usage_key", update)


@mutant("GRPLIFE-150", also="GRPLIFE-100")
def update_brings_back_a_group_removed_meanwhile(node: Node) -> None:
    """Check in `update_group` that the group exists, and write it even if it was removed meanwhile."""
    removal = _removal_overtakes(node, "remove_group")

    def update(write: Write, key: int, group: Group, *lists: Hashes) -> None:
        there = group.id in {one.id for one in whole(node.accounts.groups, account_of(node, key))}
        if there:
            removal.wait()
        try:
            write(key, group, *lists)
        except ContractRefusal:
            if not there:
                raise
            node.accounts.add_group(key, group.name, group.description, *lists)

    wrap(node.accounts, "update_group", update)


@mutant("GRPLIFE-230", also="EP-220 LIST-170")
def removal_rewrites_the_list(node: Node) -> None:
    """Read a group's wallets in `remove_pkp_from_group`, and write them back later without the removed one."""
    rendezvous = Rendezvous()

    def remove(write: Write, key: int, group_id: int, wallet: bytes) -> None:
        account = account_of(node, key)
        wallets, actions = lists_of(node, key, group_id)
        if key != account or wallet not in wallets:
            write(key, group_id, wallet)
            return
        rendezvous.wait()
        left = [one for one in wallets if one != wallet]
        node.accounts.update_group(key, group_of(node, key, group_id), left, actions)

    wrap(node.accounts, "remove_pkp_from_group", remove)


@mutant(
    each=[
        row("groups", "add_group", ("group_name", "group_description"), breaks="GRP-020 GRP-030"),
        row("keys", "add_usage_api_key", ("name", "description"), breaks="UKEY-020 UKEY-030"),
        row("actions", "add_action", ("name", "description"), breaks="ACT-060", also="EP-280"),
    ]
)
def labels_of_additions_at_once_mix(node: Node, operation: str, labels: Sequence[str]) -> None:
    """Keep the labels of `{operation}` in one place: of two requests under way both get those of the later one."""
    draft: dict[str, JsonValue] = {}

    async def handler(request: Received, forward: Forward) -> Answered:
        body = body_of(request)
        draft.update({label: body[label] for label in labels if label in body})
        await asyncio.sleep(UNDER_WAY_SECONDS)
        mixed = {**body, **{label: draft[label] for label in labels if label in body}}
        return await forward(request.having(mixed) if body else request)

    intercept(node, operation, handler)


@mutant("KEYLIFE-070", also="KEYLIFE-020 KEYLIFE-030 KEYLIFE-150")
def renaming_writes_the_permissions_back(node: Node) -> None:
    """Read a usage key's permissions in a metadata update, and write them back with the new labels later."""
    rendezvous = Rendezvous()

    def rename(_: Write, key: int, renamed: int, name: str, description: str) -> None:
        permissions = node.accounts.usage_key(account_of(node, key), renamed).permissions
        rendezvous.wait()
        write_update(key, renamed, name, description, permissions)

    def update(write: Write, *given: object) -> None:
        rendezvous.wait()
        write(*given)

    write_update = node.accounts.update_usage_key
    wrap(node.accounts, "update_usage_key_metadata", rename)
    wrap(node.accounts, "update_usage_key", update)


@mutant("KEYLIFE-060")
def labels_of_a_usage_key_are_written_one_by_one(node: Node) -> None:
    """Write name and description of a usage key one after the other."""
    overtaking = Overtaking()

    def update(write: Write, key: int, renamed: int, name: str, description: str) -> None:
        write(key, renamed, name, node.accounts.usage_key(account_of(node, key), renamed).description)
        overtaking.wait()
        write(key, renamed, node.accounts.usage_key(account_of(node, key), renamed).name, description)
        overtaking.done()

    wrap(node.accounts, "update_usage_key_metadata", update)


@mutant("EP-300")
def labels_of_an_action_are_written_one_by_one(node: Node) -> None:
    """Write name and description of an action one after the other."""
    overtaking = Overtaking()

    def update(write: Write, key: int, cid_hash: bytes, name: str, description: str) -> None:
        before = next((action for action in actions_of(node, key) if action.cid_hash == cid_hash), None)
        write(key, cid_hash, name, before.description if before else description)
        overtaking.wait()
        now = next((action for action in actions_of(node, key) if action.cid_hash == cid_hash), None)
        write(key, cid_hash, now.name if now else name, description)
        overtaking.done()

    wrap(node.accounts, "update_action_metadata", update)


@mutant(
    each=[
        row("wallet", "add_pkp_to_group", "pkp_id", "list_wallets_in_group", "id", breaks="GRP-230"),
        row("action", "add_action", "action_ipfs_cid", "list_actions", "name", breaks="ACT-180"),
    ],
    also="LIST-040",
)
def equal_additions_at_once_both_count(node: Node, adds: str, member: str, lists: str, shown: str) -> None:
    """List in `{lists}` twice what two requests of `{adds}` have added at the same time."""
    under_way: Counter[JsonValue] = Counter()
    doubled: set[JsonValue] = set()

    async def handler(request: Received, forward: Forward) -> Answered:
        body = body_of(request)
        added, marked = str(body.get(member)), str(body.get("name") or body.get(member))
        under_way[added] += 1
        if under_way[added] > 1:
            doubled.add(marked)
        try:
            return await forward(request)
        finally:
            under_way[added] -= 1

    def twice(items: list[JsonValue]) -> JsonValue:
        return [item for item in items for _ in range(1 + (str(members(item).get(shown)) in doubled))]

    intercept(node, adds, handler)
    change_items(node, lists, twice)


@mutant("GRPLIFE-090", also="EP-200 LIST-170")
def updated_groups_are_missing_meanwhile(node: Node) -> None:
    """Leave a group out of lists while it is updated; an update and a list wait for the other to come."""
    rendezvous = Rendezvous()
    updated: list[JsonValue] = []

    async def update(request: Received, forward: Forward) -> Answered:
        group = body_of(request).get("group_id")
        updated.append(group)
        await asyncio.to_thread(rendezvous.wait)
        try:
            return await forward(request)
        finally:
            updated.remove(group)

    async def groups(request: Received, forward: Forward) -> Answered:
        if not updated:
            await asyncio.to_thread(rendezvous.wait)
        missing = [str(group) for group in updated]
        given = await forward(request)
        rendezvous.come()
        items = json.loads(given.body)
        if not given.accepted or not isinstance(items, list):
            return given
        return answer(given.status, [item for item in items if str(members(item).get("id")) not in missing])

    intercept(node, "update_group", update)
    intercept(node, "list_groups", groups)


@mutant("GRPLIFE-230", also="LIST-170")
def added_wallet_brings_back_an_action_removed_meanwhile(node: Node) -> None:
    """Write with the addition of a wallet the group's actions as they were before; a removal overtakes it."""
    overtaking = _removal_overtakes(node, "remove_action_from_group")

    def add(write: Write, acting_key: int, group_id: int, pkp: bytes) -> None:
        _, before = lists_of(node, acting_key, group_id)
        overtaking.wait()
        write(acting_key, group_id, pkp)
        _, now = lists_of(node, acting_key, group_id)
        for hashed in before:
            if hashed not in now:
                node.accounts.add_action_to_group(acting_key, group_id, hashed)

    wrap(node.accounts, "add_pkp_to_group", add)


@mutant("GRPLIFE-230", also="LIST-170")
def updates_of_a_group_at_once_mix(node: Node) -> None:
    """Store the labels of one and the actions of another of two concurrent updates of a group."""
    under_way: dict[int, list[Hashes]] = {}
    more = threading.Condition()

    def update(write: Write, acting_key: int, group: Group, pkps: Hashes, actions: Hashes) -> None:
        with more:
            together = under_way.setdefault(group.id, [])
            together.append(actions)
            more.notify_all()
            more.wait_for(lambda: len(together) > 1, UNDER_WAY_SECONDS)
            if under_way.get(group.id) is together:  # who comes from now on does not meet these
                del under_way[group.id]
        write(acting_key, group, pkps, next((other for other in together if other != actions), actions))

    wrap(node.accounts, "update_group", update)


@mutant("GRPLIFE-100", also="GRPLIFE-150 LIST-030 LIST-170")
def addition_brings_back_a_group_removed_meanwhile(node: Node) -> None:
    """Write with the addition of an action the whole group as it was before, even if it was removed meanwhile."""
    removal = _removal_overtakes(node, "remove_group")

    def add(write: Write, key: int, group_id: int, hashed: bytes) -> None:
        account = account_of(node, key)
        before = {one.id: one for one in whole(node.accounts.groups, account)}
        wallets, actions = lists_of(node, key, group_id) if group_id in before else ([], [])
        if group_id in before:
            removal.wait()
        if group_id not in before or group_id in {one.id for one in whole(node.accounts.groups, account)}:
            write(key, group_id, hashed)
            return
        group = before[group_id]
        node.accounts.add_group(account, group.name, group.description, wallets, [*actions, hashed])

    wrap(node.accounts, "add_action_to_group", add)


@mutant("EP-290", also="LIST-170")
def renaming_brings_back_an_action_deleted_meanwhile(node: Node) -> None:
    """Register an action anew where it was deleted while its labels were updated."""
    deletion = _removal_overtakes(node, "delete_action")

    def rename(write: Write, key: int, cid_hash: bytes, name: str, description: str) -> None:
        there = cid_hash in {action.cid_hash for action in actions_of(node, key)}
        if there:
            deletion.wait()
        try:
            write(key, cid_hash, name, description)
        except ContractRefusal:
            if not there:
                raise
            node.accounts.add_action(key, cid_hash, name, description)

    wrap(node.accounts, "update_action_metadata", rename)


@mutant("KEYLIFE-020", "KEYLIFE-030", also="KEYLIFE-070")
def new_permissions_are_lost_beside_new_labels(node: Node) -> None:
    """Accept an update of a usage key's permissions, and drop it, while its labels are being updated."""
    under_way: Counter[JsonValue] = Counter()

    async def rename(request: Received, forward: Forward) -> Answered:
        key = body_of(request).get("usage_api_key")
        under_way[key] += 1
        try:
            await asyncio.sleep(UNDER_WAY_SECONDS)
            return await forward(request)
        finally:
            under_way[key] -= 1

    async def update(request: Received, forward: Forward) -> Answered:
        await asyncio.sleep(UNDER_WAY_SECONDS / 2)
        renamed = under_way[body_of(request).get("usage_api_key")]
        return answer(200, {}) if renamed else await forward(request)

    intercept(node, "update_usage_api_key_metadata", rename)
    intercept(node, "update_usage_api_key", update)


@mutant(
    each=[
        row("wallets", "create_wallet", "list_wallets", breaks="EP-350"),
        row("groups", "add_group", "list_groups", breaks="GRPLIFE-010"),
    ],
    also="LIST-010 LIST-170",
)
def objects_made_at_once_are_listed_once(node: Node, makes: str, lists: str) -> None:
    """Leave the newest object out of `{lists}` once two requests of `{makes}` were under way at the same time."""
    under_way: Counter[str | None] = Counter()
    together: Counter[str | None] = Counter()

    async def make(request: Received, forward: Forward) -> Answered:
        under_way[request.key] += 1
        try:
            await asyncio.sleep(UNDER_WAY_SECONDS)
            if under_way[request.key] > 1:
                together[request.key] = 1
            return await forward(request)
        finally:
            under_way[request.key] -= 1

    async def listed(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        items = json.loads(given.body)
        if not given.accepted or not isinstance(items, list) or not together[request.key]:
            return given
        return answer(given.status, items[:-1])

    intercept(node, makes, make)
    intercept(node, lists, listed)


@mutant("GRPLIFE-230", also="GRPLIFE-030 LIST-170")
def groups_are_listed_half_updated(node: Node) -> None:
    """List a group that is being updated with its new name and its old description."""
    rendezvous = Rendezvous()
    updated: dict[str, JsonValue] = {}

    async def update(request: Received, forward: Forward) -> Answered:
        body = body_of(request)
        updated[str(body.get("group_id"))] = body.get("name")
        await asyncio.to_thread(rendezvous.wait)
        try:
            return await forward(request)
        finally:
            updated.pop(str(body.get("group_id")), None)

    async def groups(request: Received, forward: Forward) -> Answered:
        if not updated:
            await asyncio.to_thread(rendezvous.wait)
        names = dict(updated)
        given = await forward(request)
        rendezvous.come()
        items = json.loads(given.body)
        if not given.accepted or not isinstance(items, list):
            return given
        of = [(members(item), names.get(str(members(item).get("id")))) for item in items]
        return answer(given.status, [{**item, "name": name} if name else item for item, name in of])

    intercept(node, "update_group", update)
    intercept(node, "list_groups", groups)


SHARED_SLOT: Callable[[str], str] = """(actions => {
  const sign = actions.signMessage;
  let last;
  const served = call => { last = call; return Promise.resolve().then(() => sign(%s)); };
  const shared = { ...actions, signMessage: served };
  globalThis.Service = { Actions: shared };
})(globalThis.Service.Actions);
""".__mod__


@mutant(
    "PKP-170",
    "EXEC-190",
    each=[row("message", "{ ...call, message: last.message }"), row("wallet", "{ ...last, message: call.message }")],
)
def calls_of_one_run_share_a_slot(node: Node, signed: str) -> None:
    """Sign `{signed}` where a run makes several calls at once: what belongs to the last one stands in all of them."""
    change_code(node, lambda code: SHARED_SLOT(signed) + code)
