"""Faults about names and descriptions that hold for one kind of resource or another."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace

from pydantic import JsonValue

from conformance.selftest.tools.accounts import Write, account_of, actions_of, change_list, group_of, whole
from conformance.selftest.tools.alter import change_answer, change_body, members, wrap
from conformance.selftest.tools.alter_runs import everywhere
from conformance.selftest.tools.mutant import mutant, row
from reference_node.chain.account_config import Action, Group, UsageKey
from reference_node.chain.contract_abi import ContractRefusal
from reference_node.node import Node


@mutant(
    each=[
        row("update_group", breaks="GRPLIFE-020 GRPLIFE-030", also="EP-180"),
        row("update_usage_key_metadata", breaks="KEYLIFE-060", also="EP-140"),
        row("update_action_metadata", breaks="EP-300", also="ACT-060"),
    ],
    also="LIST-170",
)
def labels_end_at_the_first_letter_of_four_bytes(node: Node, method: str) -> None:
    """Cut the texts of `{method}` at the first character that takes four bytes in UTF-8."""

    def cut(text: str) -> str:
        return re.split("[\U00010000-\U0010ffff]", text)[0]

    def kept(value: object) -> object:
        if isinstance(value, Group):
            return value._replace(name=cut(value.name), description=cut(value.description))
        return cut(value) if isinstance(value, str) else value

    wrap(node.accounts, method, lambda write, *arguments: write(*map(kept, arguments)))


Labels = tuple[str, str]


def _labels_of_an_action(node: Node, acting_key: int, cid: bytes) -> Labels:
    known = (action for action in actions_of(node, acting_key) if action.cid_hash == cid)
    return next(((action.name, action.description) for action in known), ("", ""))


def _one_alone(former: Labels, new: Labels) -> bool:
    return sum(one != other for one, other in zip(former, new, strict=True)) == 1


@mutant(
    each=[row("update_action_metadata", "update_action_metadata", _labels_of_an_action, breaks="ACT-060 EP-300")],
    also="LIST-170",
)
def update_of_one_label_does_nothing(node: Node, method: str, labels_of: Callable[[Node, int, object], Labels]) -> None:
    """Ignore a call of `{method}` that changes either the name or the description, and not both."""

    def update(write: Write, acting_key: int, named: object, *labels: str) -> None:
        name, description = labels
        if not _one_alone(labels_of(node, acting_key, named), (name, description)):
            write(acting_key, named, name, description)

    wrap(node.accounts, method, update)


@mutant("GRPLIFE-020", "GRPLIFE-030", also="EP-180 LIST-170")
def update_of_one_label_of_a_group_does_nothing(node: Node) -> None:
    """Keep both labels of a group in an update that changes either of them, and not both."""

    def update(write: Write, acting_key: int, group: Group, *lists: object) -> None:
        former = group_of(node, acting_key, group.id)
        kept = _one_alone((former.name, former.description), (group.name, group.description))
        write(acting_key, former if kept else group, *lists)

    wrap(node.accounts, "update_group", update)


NUMERIC = re.compile(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?", re.IGNORECASE)


def _as_number(value: JsonValue) -> JsonValue:
    return float(value) if isinstance(value, str) and NUMERIC.fullmatch(value) else value


@mutant(
    each=[
        row("list_groups", breaks="GRP-020 GRP-030 GRPLIFE-020 GRPLIFE-030"),
        row("list_api_keys", breaks="UKEY-020 UKEY-030 KEYLIFE-060"),
        row("list_actions", breaks="ACT-060 EP-300"),
    ],
    also="LIST-050",
)
def labels_like_numbers_are_numbers(node: Node, operation: str) -> None:
    """Show labels that look like numbers as numbers in `{operation}`."""
    change_answer(node, operation, everywhere(_as_number))


@mutant("KEYLIFE-060", also="EP-140 LIST-170")
def empty_description_of_a_usage_key_counts_as_left_out(node: Node) -> None:
    """Keep the description when `update_usage_api_key_metadata` sends an empty one."""

    def update(write: Write, acting_key: int, key: int, name: str, description: str) -> None:
        before = node.accounts.usage_key(account_of(node, acting_key), key).description
        write(acting_key, key, name, description or before)

    wrap(node.accounts, "update_usage_key_metadata", update)


@mutant("EP-140", also="KEYLIFE-060 LIST-170")
def oldest_usage_key_of_a_name_is_renamed(node: Node) -> None:
    """Look for the usage key of `update_usage_api_key_metadata` by its name: the oldest one that has it is changed."""

    def update(write: Write, acting_key: int, key: int, name: str, description: str) -> None:
        account = account_of(node, acting_key)
        named = node.accounts.usage_key(account, key).name
        there = whole(node.accounts.usage_keys, account)
        write(acting_key, next((one.key_hash for one in there if one.name == named), key), name, description)

    wrap(node.accounts, "update_usage_key_metadata", update)


@mutant("ACT-060", "EP-300", also="LIST-170")
def empty_description_of_an_action_counts_as_left_out(node: Node) -> None:
    """Keep the description when `update_action_metadata` sends an empty one."""

    def update(write: Write, key: int, cid_hash: bytes, name: str, description: str) -> None:
        known: list[Action] = whole(node.accounts.actions, account_of(node, key))
        before = next((action.description for action in known if action.cid_hash == cid_hash), "")
        write(key, cid_hash, name, description or before)

    wrap(node.accounts, "update_action_metadata", update)


@mutant(
    each=[
        row("add_group", "add_group", "group_", breaks="GRPLIFE-020 GRPLIFE-030", also="EP-180"),
        row("add_usage_api_key", "add_usage_api_key", "", breaks="KEYLIFE-060", also="EP-140"),
        row("add_action", "add_action", "", breaks="EP-300"),
    ],
    also="LIST-170",
)
def labels_are_not_set_back(node: Node, add: str, prefix: str) -> None:
    """Keep the labels where an update gives those with which something was made by `{add}`."""
    made: list[object] = []
    updated: list[dict[str, JsonValue]] = [{}]

    def note(value: JsonValue) -> JsonValue:
        made.append([members(value).get(f"{prefix}{name}") for name in ("name", "description")])
        return value

    def update(value: JsonValue) -> JsonValue:
        labels = {name: members(value).get(name) for name in ("name", "description")}
        if [*labels.values()] in made:
            return {**members(value), **updated[-1]}
        updated.append(labels)
        return value

    change_body(node, add, note)
    change_body(node, UPDATES[add], update)


UPDATES = {
    "add_group": "update_group",
    "add_usage_api_key": "update_usage_api_key_metadata",
    "add_action": "update_action_metadata",
}


@mutant("KEYLIFE-060")
def renaming_to_the_same_name_is_refused(node: Node) -> None:
    """Answer 404 when `update_usage_api_key_metadata` changes nothing."""

    def update(write: Write, key: int, renamed: int, *labels: str) -> None:
        there = node.accounts.usage_key(account_of(node, key), renamed)
        if (there.name, there.description) == labels:
            raise ContractRefusal("UsageKeyUnknown", {})
        write(key, renamed, *labels)

    wrap(node.accounts, "update_usage_key_metadata", update)


def _composed(label: str) -> str:
    return unicodedata.normalize("NFC", label)


Keep = Callable[[str], str]
KEPT: tuple[tuple[str, Keep, str], ...] = (
    ("255-bytes", lambda label: label.encode()[:255].decode(errors="ignore"), "name description"),
    ("999-characters", lambda label: label[:999], "description"),
    ("composed", _composed, "name"),
)
"""What is kept of a label, and which of the labels of the cases that changes."""
GIVEN: tuple[tuple[str, str, dict[str, str], str], ...] = (
    ("group", "add_group", {"name": "GRP-020", "description": "GRP-030"}, "EP-160"),
    ("usage-key", "set_usage_key", {"name": "UKEY-020", "description": "UKEY-030"}, "EP-110 UKEY-010"),
    ("action", "add_action", {"name": "ACT-060", "description": "ACT-060"}, "EP-280"),
)


@mutant(
    each=[
        row(
            f"{kind}-{kept}",
            method,
            keep,
            breaks=" ".join(dict.fromkeys(broken[name] for name in names.split())),
            also=also,
        )
        for kind, method, broken, also in GIVEN
        for kept, keep, names in KEPT
    ],
    also="LIST-170",
)
def part_of_a_label_is_kept(node: Node, method: str, keep: Keep) -> None:
    """Keep a part of the texts that `{method}` is given; the label says which."""

    def kept(value: object) -> object:
        if isinstance(value, str):
            return keep(value)
        if isinstance(value, UsageKey):
            return replace(value, name=keep(value.name), description=keep(value.description))
        return value

    wrap(node.accounts, method, lambda write, *given: write(*map(kept, given)))


@mutant("ACT-060", also="EP-260 EP-300 LIST-170")
def actions_without_a_name_are_not_listed(node: Node) -> None:
    """Leave actions whose name is empty out of the account's list."""
    change_list(node, "actions", lambda _, found: [action for action in found if action.name])
