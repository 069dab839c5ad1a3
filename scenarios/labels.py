"""Names and descriptions of groups, usage keys and actions: every text comes back as it was given.

Specification, "Resources and their fields": labels are strings; how long they may be is silent. What a node takes, it
lists whole; what it does not take, it refuses.
"""

from __future__ import annotations

from collections.abc import Callable

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.service.lists import read_list
from conformance.service.node import Node
from conformance.service.refusal import was_accepted
from conformance.service.usage_keys import NO_PERMISSIONS
from conformance.values.json_values import pluck

NEEDS = ("managed_accounts",)
HALF = "\ud800"
SHOWN = 300
LABELS: tuple[tuple[str, str], ...] = (
    ("n" * 61, "\u0436" * 130),
    ("\u0436" * 128, "d" * 1000),
    (" e\u0301 \u00e9 ", "\tTwo  blanks, and one behind "),
    ("a\0b", "a character zero"),
    ("", "without a name"),
    (f"half of a pair {HALF}", "of surrogates"),
)
"""Name and description: longer than usual columns, letters in two compositions, blanks, and what is hard to keep."""


Requests = Callable[[Node, str], list[OutgoingRequest]]
LISTED = "wire.list_items.fields"


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


def check(judge: Judge, node: Node, requests: Requests, lists: str, ids: tuple[str, ...]) -> None:
    """Make one object for each pair, and look for the labels of those that were accepted."""
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
        with judge.apart(ids[place % len(ids)]):
            for labels in given:
                judge.that(labels[place] in texts, f"an item with the {member_name} {labels[place]!r}"[:SHOWN], texts)


@case(
    "of-groups",
    requirements=["GRP-020", "GRP-030"],
    needs=NEEDS,
    uses=["wire.list_groups.item_fields.name", "wire.list_groups.item_fields.description"],
)
def of_groups(judge: Judge, node: Node) -> None:
    """Long, composed and blank labels of groups are listed as they were given, or refused."""
    check(judge, node, groups, "list_groups", ("GRP-020", "GRP-030"))


@case(
    "of-usage-keys",
    requirements=["UKEY-020", "UKEY-030"],
    needs=NEEDS,
    uses=[f"{LISTED}.usage_key.name", f"{LISTED}.usage_key.description"],
)
def of_usage_keys(judge: Judge, node: Node) -> None:
    """Long, composed and blank labels of usage keys are listed as they were given, or refused."""
    check(judge, node, usage_keys, "list_api_keys", ("UKEY-020", "UKEY-030"))


@case(
    "of-actions", requirements=["ACT-060"], needs=NEEDS, uses=[f"{LISTED}.action.name", f"{LISTED}.action.description"]
)
def of_actions(judge: Judge, node: Node) -> None:
    """Long, composed and blank labels of actions are listed as they were given, or refused."""
    check(judge, node, actions, "list_actions", ("ACT-060",))
