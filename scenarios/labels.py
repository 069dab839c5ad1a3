"""Names and descriptions of groups, usage keys and actions: every text comes back as it was given.

Specification, "Resources and their fields": labels are strings; how long they may be is silent. What a node takes, it
lists whole; what it does not take, it refuses.
"""

from __future__ import annotations

from collections.abc import Callable

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.service.derivations import hashed_cid
from conformance.service.lists import read_list
from conformance.service.node import Node
from conformance.service.refusal import was_accepted
from conformance.service.usage_keys import NO_PERMISSIONS
from conformance.values.json_values import pluck, printed

NEEDS = ("managed_accounts",)
HALF = "\ud800"
SHOWN = 300
LABELS: tuple[tuple[str, str], ...] = (
    ("n" * 61, "\u0436" * 130),
    ("\u0436" * 128, "d" * 1000),
    (" e\u0301 \u00e9 ", "\tTwo  blanks, and one behind "),
    ("a \U0001f680 and more", "\U0001f600 \U00020000 behind the first plane"),
    ("a\0b", "a character zero"),
    ("", "without a name"),
    (f"half of a pair {HALF}", "of surrogates"),
    ("007", "1e3"),
    ("-12.50", "0x1F"),
    ("true", "null"),
)
"""Name and description: longer than usual columns, letters in two compositions, blanks, what is hard to keep, and what
looks like another value."""


Requests = Callable[[Node, str], list[OutgoingRequest]]
OF_GROUPS = ("wire.list_groups.item_fields.name", "wire.list_groups.item_fields.description")
OF_USAGE_KEYS = ("wire.list_items.fields.usage_key.name", "wire.list_items.fields.usage_key.description")
OF_ACTIONS = ("wire.list_items.fields.action.name", "wire.list_items.fields.action.description")


def groups(node: Node, key: str) -> list[OutgoingRequest]:
    """A new group for each pair of labels."""
    lists: dict[str, object] = {"pkp_ids_permitted": [], "cid_hashes_permitted": []}
    return [
        node.session.request("add_group", key, group_name=name, group_description=text, **lists)
        for name, text in LABELS
    ]


def usage_keys(node: Node, key: str) -> list[OutgoingRequest]:
    """A new usage key for each pair of labels."""
    given = NO_PERMISSIONS.members
    return [
        node.session.request("add_usage_api_key", key, name=name, description=text, **given) for name, text in LABELS
    ]


def actions(node: Node, key: str) -> list[OutgoingRequest]:
    """A new action for each pair of labels."""
    return [
        node.session.request(
            "add_action", key, action_ipfs_cid=node.actions.sample_cid(str(number)), name=name, description=text
        )
        for number, (name, text) in enumerate(LABELS)
    ]


def updated_groups(node: Node, key: str) -> list[OutgoingRequest]:
    """An update of a group of its own for each pair of labels."""
    lists: dict[str, object] = {"pkp_ids_permitted": [], "cid_hashes_permitted": []}
    return [
        node.session.request(
            "update_group", key, group_id=node.groups.add(key).id, name=name, description=text, **lists
        )
        for name, text in LABELS
    ]


def usage_keys_with_other_labels(node: Node, key: str) -> list[OutgoingRequest]:
    """An update of the metadata of a usage key of its own for each pair of labels."""
    return [
        node.session.request(
            "update_usage_api_key_metadata",
            key,
            usage_api_key=node.usage_keys.add(key).key,
            name=name,
            description=text,
        )
        for name, text in LABELS
    ]


def updated_actions(node: Node, key: str) -> list[OutgoingRequest]:
    """An update of the metadata of an action of its own for each pair of labels."""
    cids = [node.actions.sample_cid(str(number)) for number in range(len(LABELS))]
    for cid in cids:
        node.actions.add(key, cid)
    return [
        node.session.request("update_action_metadata", key, hashed_cid=hashed_cid(cid), name=name, description=text)
        for cid, (name, text) in zip(cids, LABELS, strict=True)
    ]


def check(judge: Judge, node: Node, requests: Requests, lists: str, ids: tuple[str, ...]) -> None:
    """Send one request for each pair, and look for the labels of those that were accepted."""
    alice = node.accounts.new().key
    given = []
    for request, labels in zip(requests(node, alice), LABELS, strict=True):
        answer = node.session.send(request)
        with judge.apart(*ids):
            # What becomes of half a pair of surrogates, which is no text, is silent.
            if was_accepted(node.session, answer, or_refused=["invalid", "malformed"]) and HALF not in labels[0]:
                given.append(labels)
    listed = read_list(node.session, lists, alice)
    for place, member_name in enumerate(("name", "description")):
        texts = pluck(listed, member_name)
        others = [text for text in texts if text not in [labels[place] for labels in given]]
        with judge.apart(ids[place % len(ids)]):
            for labels in given:
                expected = f"an item with the {member_name} that it was given, {labels[place]!r}"
                judge.that(labels[place] in texts, expected[:SHOWN], f"others that none was given: {printed(others)}")


@case("of-groups", requirements=["GRP-020", "GRP-030"], needs=NEEDS, uses=OF_GROUPS)
def of_groups(judge: Judge, node: Node) -> None:
    """Long, composed and blank labels of groups are listed as they were given, or refused."""
    check(judge, node, groups, "list_groups", ("GRP-020", "GRP-030"))


@case("of-usage-keys", requirements=["UKEY-020", "UKEY-030"], needs=NEEDS, uses=OF_USAGE_KEYS)
def of_usage_keys(judge: Judge, node: Node) -> None:
    """Long, composed and blank labels of usage keys are listed as they were given, or refused."""
    check(judge, node, usage_keys, "list_api_keys", ("UKEY-020", "UKEY-030"))


@case("of-actions", requirements=["ACT-060"], needs=NEEDS, uses=OF_ACTIONS)
def of_actions(judge: Judge, node: Node) -> None:
    """Long, composed and blank labels of actions are listed as they were given, or refused."""
    check(judge, node, actions, "list_actions", ("ACT-060",))


@case("of-updated-groups", requirements=["GRPLIFE-020", "GRPLIFE-030"], needs=NEEDS, uses=OF_GROUPS)
def of_updated_groups(judge: Judge, node: Node) -> None:
    """Long, composed and blank labels in `update_group` are listed as they were given, or refused."""
    check(judge, node, updated_groups, "list_groups", ("GRPLIFE-020", "GRPLIFE-030"))


@case("of-usage-keys-with-other-labels", requirements=["KEYLIFE-060"], needs=NEEDS, uses=OF_USAGE_KEYS)
def of_usage_keys_with_other_labels(judge: Judge, node: Node) -> None:
    """Long, composed and blank labels in `update_usage_api_key_metadata` are listed as they were given, or refused."""
    check(judge, node, usage_keys_with_other_labels, "list_api_keys", ("KEYLIFE-060",))


@case("of-updated-actions", requirements=["EP-300"], needs=NEEDS, uses=OF_ACTIONS)
def of_updated_actions(judge: Judge, node: Node) -> None:
    """Long, composed and blank labels in `update_action_metadata` are listed as they were given, or refused."""
    check(judge, node, updated_actions, "list_actions", ("EP-300",))


@case(
    "set-back",
    requirements=["GRPLIFE-020", "GRPLIFE-030", "KEYLIFE-060", "EP-300"],
    needs=NEEDS,
    uses=[*OF_GROUPS, *OF_USAGE_KEYS, *OF_ACTIONS],
)
def set_back(judge: Judge, node: Node) -> None:
    """Labels that an update sets back to what they were at first are those again."""
    alice, cid = node.accounts.new().key, node.actions.sample_cid("one")
    group, key = node.groups.add(alice).id, node.usage_keys.add(alice).key
    node.actions.add(alice, cid)
    empty: dict[str, object] = {"pkp_ids_permitted": [], "cid_hashes_permitted": []}
    updates: dict[str, tuple[str, dict[str, object], tuple[str, ...]]] = {
        "list_groups": ("update_group", {"group_id": group, **empty}, ("GRPLIFE-020", "GRPLIFE-030")),
        "list_api_keys": ("update_usage_api_key_metadata", {"usage_api_key": key}, ("KEYLIFE-060",)),
        "list_actions": ("update_action_metadata", {"hashed_cid": hashed_cid(cid)}, ("EP-300",)),
    }
    for lists, (update, named, ids) in updates.items():
        first = [pluck(read_list(node.session, lists, alice), member) for member in ("name", "description")]
        own = [labels for labels in zip(*first, strict=True) if node.session.label in printed(labels[0])]
        judge.set_up(len(own) == 1, f"one item of the case in {lists}, with its labels")
        for name, text in (("another", "other words"), own[0]):
            node.session.accept(node.session.request(update, alice, **named, name=name, description=text))
        with judge.apart(*ids):
            now = [pluck(read_list(node.session, lists, alice), member) for member in ("name", "description")]
            judge.same(now, first, f"the labels in {lists} once they are set back")
