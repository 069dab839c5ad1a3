"""Writes at the same time that hit one record, and reads beside a write.

Specification, "States and transitions": each accepted write replaces what its request holds, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.service.acceptance import must_accept
from conformance.service.at_once import send_at_once
from conformance.service.derivations import hashed_cid
from conformance.service.lists import first_page, only, read_list
from conformance.service.node import Node
from conformance.service.refusal import was_accepted
from conformance.service.session import DESCRIPTION
from conformance.service.usage_keys import NO_PERMISSIONS, Permissions
from conformance.values.json_values import member, pluck, printed

NEEDS = ("managed_accounts",)
ROUNDS = 3
LABELS = ("name", "description")
TEXTS = ("one", "two")
"""Two updates at once send each its text as name and as description."""


def send_all(node: Node, requests: list[OutgoingRequest]) -> list[bool]:
    """Send all requests at once; whether each was accepted. A node may refuse one of two that contradict."""
    answers = send_at_once(node.session, requests)
    return [was_accepted(node.session, answer, or_refused=["conflict"]) for answer in answers]


def listed_with_labels(node: Node, items: list[object]) -> bool:
    """Whether one item has the labels that the suite gave to "one"."""
    labels = [[member(item, label) for label in LABELS] for item in items]
    return [f"{node.label} one", DESCRIPTION] in labels


@case("rename-beside-an-update", requirements=["KEYLIFE-070"], needs=NEEDS)
def rename_beside_an_update(judge: Judge, node: Node) -> None:
    """A metadata update beside an update of permissions takes none of these back."""
    alice = node.accounts.new().key
    key = node.usage_keys.add(alice).key
    labels = {"usage_api_key": key, "name": node.label, "description": DESCRIPTION}
    rename = node.session.request("update_usage_api_key_metadata", alice, **labels)
    for turn in range(2 * ROUNDS):
        given = NO_PERMISSIONS if turn % 2 else Permissions(can_create_groups=True)
        update = node.session.request("update_usage_api_key", alice, **labels, **given.members)
        updated, _ = send_all(node, [update, rename])
        if not updated:
            continue
        answer = node.session.send(node.groups.creation(key))
        with judge.apart():
            may = was_accepted(node.session, answer, or_refused=["forbidden"])
            judge.same(may, given.can_create_groups, "whether the key may create groups, as its update says,")


@case(
    "metadata-of-a-usage-key-do-not-mix",
    requirements=["KEYLIFE-060"],
    needs=NEEDS,
    uses=[f"wire.list_items.fields.usage_key.{label}" for label in LABELS],
)
def metadata_of_a_usage_key_do_not_mix(judge: Judge, node: Node) -> None:
    """Of two metadata updates of a usage key at the same time one takes effect as a whole."""
    alice = node.accounts.new().key
    key = node.usage_keys.add(alice, name="one").key
    judge.set_up(listed_with_labels(node, node.usage_keys.list(alice)), "a list with both labels of the new key")
    updates = [
        node.session.request("update_usage_api_key_metadata", alice, usage_api_key=key, name=text, description=text)
        for text in TEXTS
    ]
    for _ in range(ROUNDS):
        send_all(node, updates)
        labels = [[member(item, label) for label in LABELS] for item in node.usage_keys.list(alice)]
        with judge.apart():
            judge.that(
                any([text, text] in labels for text in TEXTS),
                "the name and the description of one and the same of two parallel updates",
                labels,
            )


@case(
    "metadata-of-an-action-do-not-mix",
    requirements=["EP-300"],
    needs=NEEDS,
    uses=[f"wire.list_items.fields.action.{label}" for label in LABELS],
)
def metadata_of_an_action_do_not_mix(judge: Judge, node: Node) -> None:
    """Of two metadata updates of an action at the same time one takes effect as a whole, and it stays one action."""
    alice = node.accounts.new().key
    cid = node.actions.sample_cid("one")
    node.actions.add(alice, cid, "one")
    judge.set_up(listed_with_labels(node, node.actions.list(alice)), "a list with both labels of the new action")
    updates = [
        node.session.request("update_action_metadata", alice, hashed_cid=hashed_cid(cid), name=text, description=text)
        for text in TEXTS
    ]
    for _ in range(ROUNDS):
        send_all(node, updates)
        with judge.apart():
            item = only(node.actions.list(alice), "hashed_cid", hashed_cid(cid))
            labels = [member(item, label) for label in LABELS]
            judge.that(
                labels in [[text, text] for text in TEXTS],
                "the name and the description of one and the same of two parallel updates",
                labels,
            )


@case(
    "equal-additions-at-once-count-once",
    requirements=["GRP-230", "ACT-180"],
    needs=NEEDS,
    uses=["wire.list_items.fields.wallet.id"],
)
def equal_additions_at_once_count_once(judge: Judge, node: Node) -> None:
    """A wallet that is added to a group several times at once is listed once, and a CID is registered once."""
    alice = node.accounts.new().key
    pkp = node.pkps.create(alice)
    cid = node.actions.sample_cid("one")
    group = node.groups.add(alice).id
    to_group = node.session.request("add_pkp_to_group", alice, group_id=group, pkp_id=pkp.id)
    action = {"action_ipfs_cid": cid, "name": node.label, "description": DESCRIPTION}
    registration = node.session.request("add_action", alice, **action)
    # What a second addition of the same is answered with is the vendor's (GRP-220, ACT-180).
    for answer in send_at_once(node.session, [to_group, registration] * 3):
        was_accepted(node.session, answer, or_refused=["any"])
    wallets, actions = node.pkps.list(alice, group), node.actions.list(alice)
    with judge.apart("GRP-230"):
        judge.same_hexes(pluck(wallets, "id"), [pkp.id], "the wallets of the group")
    with judge.apart("ACT-180"):
        judge.same_hexes(pluck(actions, "hashed_cid"), [hashed_cid(cid)], "the actions of the account")


@dataclass(frozen=True)
class Addition:
    """What several requests at once add to an account."""

    lists: str
    ids: tuple[str, str]
    """The requirements about its name and its description."""
    request: Callable[[Node, str, str], OutgoingRequest]
    """Of the account with this key, with this text in both labels."""


def _group(node: Node, key: str, text: str) -> OutgoingRequest:
    lists: dict[str, object] = {"pkp_ids_permitted": [], "cid_hashes_permitted": []}
    return node.session.request("add_group", key, group_name=text, group_description=text, **lists)


def _usage_key(node: Node, key: str, text: str) -> OutgoingRequest:
    return node.session.request("add_usage_api_key", key, name=text, description=text, **NO_PERMISSIONS.members)


def _action(node: Node, key: str, text: str) -> OutgoingRequest:
    cid = node.actions.sample_cid(text)
    return node.session.request("add_action", key, action_ipfs_cid=cid, name=text, description=text)


ADDITIONS = {
    "groups": Addition("list_groups", ("GRP-020", "GRP-030"), _group),
    "usage keys": Addition("list_api_keys", ("UKEY-020", "UKEY-030"), _usage_key),
    "actions": Addition("list_actions", ("ACT-060", "ACT-060"), _action),
}


@case(
    "additions-at-once-keep-their-labels",
    requirements=["LIST-170", "GRP-020", "GRP-030", "UKEY-020", "UKEY-030", "ACT-060"],
    needs=NEEDS,
    uses=[
        *(f"wire.list_groups.item_fields.{label}" for label in LABELS),
        *(f"wire.list_items.fields.{kind}.{label}" for kind in ("usage_key", "action") for label in LABELS),
    ],
)
def additions_at_once_keep_their_labels(judge: Judge, node: Node) -> None:
    """Groups, usage keys and actions that two accounts add at the same time are listed with their own labels."""
    accounts = [node.accounts.new().key for _ in range(2)]
    for what, added in ADDITIONS.items():
        texts = {
            key: [f"{node.label} {what} {place} {number}" for number in range(ROUNDS)]
            for place, key in enumerate(accounts)
        }
        requests = [added.request(node, key, text) for key, given in texts.items() for text in given]
        with judge.apart(*added.ids):
            for answer in send_at_once(node.session, requests):
                must_accept(answer)
        for key, given in texts.items():
            listed = read_list(node.session, added.lists, key)
            with judge.apart("LIST-170"):
                judge.that(len(listed) >= len(given), f"{len(given)} new {what} in the list", listed)
            for label, about in zip(LABELS, added.ids, strict=True) if len(listed) >= len(given) else ():
                with judge.apart(about):
                    got = sorted(text for text in map(printed, pluck(listed, label)) if text.startswith(node.label))
                    judge.same(got, given, f"the {label}s of the account's {what}")


@case("group-is-listed-beside-its-update", requirements=["GRPLIFE-090"], needs=NEEDS)
def group_is_listed_beside_its_update(judge: Judge, node: Node) -> None:
    """A list that is read while a group is updated holds each group in its place."""
    alice = node.accounts.new().key
    groups = [node.groups.add(alice, str(number)) for number in range(3)]
    ids = pluck(node.groups.list(alice), "id")
    read = node.session.request(
        "list_groups", alice, page_number=first_page(node.session), page_size=node.session.target.page_size
    )
    for turn in range(ROUNDS):
        labels = {"name": f"{node.label} {turn}", "description": DESCRIPTION}
        lists: dict[str, object] = {"pkp_ids_permitted": [], "cid_hashes_permitted": []}
        update = node.session.request("update_group", alice, group_id=groups[1].id, **labels, **lists)
        updated, *reads = send_at_once(node.session, [update, read, read])
        must_accept(updated)
        with judge.apart():
            for answer in reads:
                must_accept(answer)
                listed = answer.value if isinstance(answer.value, list) else []
                judge.same(pluck(listed, "id"), ids[: node.session.target.page_size], "the groups in their order")
