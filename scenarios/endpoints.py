"""Endpoints, where cases compute ("Endpoints / Groups", "Endpoints / Wallets and actions")."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.profile.operations import GROUP_LISTS
from conformance.service.acceptance import Accepted, must_accept
from conformance.service.derivations import hashed_cid
from conformance.service.lists import IN_GROUP, one_item_page, read_page, unchanged_list
from conformance.service.node import Node
from conformance.service.refusal import Refusals
from conformance.service.usage_keys import NO_PERMISSIONS, Permissions
from conformance.values.ids import is_address
from conformance.values.json_text import written
from conformance.values.json_values import member, pluck

NEEDS = ("managed_accounts",)
WANTS_A_KEY = frozenset({401, 403})
"""Statuses that refuse a request for want of a key."""
KEY = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")


@case("add-group", requirements=["EP-160", "EP-240", "EP-250"], needs=NEEDS)
def add_group(judge: Judge, node: Node) -> None:
    """A group is made with the wallets and actions that the request names."""
    alice = node.accounts.new().key
    # The second wallet is one that the group must not list.
    pkp, _ = node.pkps.create_several(alice, 2)
    hashed = hashed_cid(node.actions.sample_cid("one"))
    before = pluck(node.groups.list(alice), "id")
    with judge("EP-160"):
        group = node.groups.add(alice, pkp_ids=[pkp.id], cid_hashes=[hashed])
        ids = pluck(node.groups.list(alice), "id")
        judge.that(
            group.listed_id not in before,
            "add_group to make a group with an id that list_groups shows and no earlier group had",
            group.listed_id,
        )
        judge.same(ids, [*before, group.listed_id], "the groups that list_groups shows")
    wallets, actions = node.pkps.list(alice, group.id), node.actions.list(alice, group.id)
    with judge.apart("EP-160", "EP-240"):
        judge.same_hexes(pluck(wallets, "wallet_address"), [pkp.address], "the wallets of the group")
    with judge.apart("EP-160", "EP-250"):
        judge.same_hexes(pluck(actions, "hashed_cid"), [hashed], "the actions of the group")


@case("new-account", requirements=["EP-040", "EP-050", "EP-060", "EP-070"], needs=NEEDS)
def new_account(judge: Judge, node: Node) -> None:
    """An account is made without a key, with an email or without one; the answer has its key and its wallet."""
    labels = {"account_name": node.label, "account_description": "made by the suite"}
    bodies: list[dict[str, str]] = [labels, {**labels, "email": "suite@example.org"}]
    answers = [node.session.send(node.session.request("new_account", **body)) for body in bodies]
    refused = [answer for answer in answers if not answer.accepted]
    for_want_of_a_key = [answer for answer in refused if answer.status in WANTS_A_KEY]
    with judge("EP-060"):
        if len(for_want_of_a_key) == len(answers):
            must_accept(refused[0])
    with judge("EP-040"):
        if len(refused) == len(answers):
            must_accept(refused[0])
    with judge("EP-070"):
        for answer in refused:
            must_accept(answer)
    for account in [answer.value for answer in answers if answer.accepted]:
        with judge("EP-050"):
            key, wallet = member(account, "api_key"), member(account, "wallet_address")
            judge.that(isinstance(key, str) and KEY.fullmatch(key) is not None, "an api_key in base64", key)
            judge.that(is_address(wallet), "a wallet_address", wallet)


@case("writes-by-no-other-method", requirements=["EP-420"], needs=NEEDS)
def writes_by_no_other_method(judge: Judge, node: Node) -> None:
    """No method but the one of the table, or that the profile states, makes an account, a wallet or a group."""
    account = node.accounts.new()
    alice, wallet = account.key, node.pkps.creation(account.key)
    g, h = node.groups.add(alice), node.groups.add(alice)
    removed = node.groups.remove(alice, h.id)
    created = node.session.accept(wallet)[1]
    named = node.session.request("new_account", account_name=node.label, account_description="made by the suite")
    made = node.session.accept(named)[1]
    tries = [
        (made.changed(), "GET"),
        *((created.changed(), method) for method in ("DELETE", "GET") if method != wallet.operation.method),
        (g.accepted.changed(), "PUT"),
        (g.accepted.changed(), "PATCH"),
        (removed.changed(group_id=g.id), "DELETE"),
    ]
    reads = [unchanged_list(node.session, name, alice) for name in ("list_wallets", "list_groups")]
    with judge(), Refusals(node.session, control=[made, created, g.accepted, removed], unchanged=reads) as refusals:
        for request, method in tries:
            refusals.send(replace(request, method=method), ["any"])


@case("list-wallets-in-group-pages", requirements=["EP-240"], needs=NEEDS)
def list_wallets_in_group_pages(judge: Judge, node: Node) -> None:
    """The list of a group's wallets goes page by page."""
    alice = node.accounts.new().key
    pkps = node.pkps.create_several(alice, 2)
    group = node.groups.add(alice, pkp_ids=[pkp.id for pkp in pkps]).id
    request = node.session.request("list_wallets_in_group", alice, group_id=group)
    with judge():
        pages = [read_page(node.session, request, number, 1) for number in range(2)]
        judge.same([len(page) for page in pages], [1, 1], "the number of wallets on each page")
        listed = pluck((wallet for page in pages for wallet in page), "wallet_address")
        judge.same_hexes(listed, [pkp.address for pkp in pkps], "the wallets on both pages", any_order=True)


# -------------------------------------------------------------------------------------------------- malformed bodies

NOT_JSON = ('{"name": "text", ', "", "name=text&group_id=1", "{} {}", "<name>text</name>")
NO_OBJECT = ("[]", '[{"name": "text"}]', '"text"', "5", "null", "true")
NOT_UTF_8 = '{"name": "\ud800"}'
"""A lone surrogate goes out as the three bytes that UTF-8 forbids."""
DEEP = "[" * 20_000
Forms = Sequence[Sequence[object]]
WRONG_TEXTS: Forms = ((5, True), (["text"], {"text": "text"}))
WRONG_IDS: Forms = (("text", ""), (1.5, -1, 2**64), (True, None, [1], {"id": 1}))
WRONG_LISTS: Forms = (("text", 5, True, {"text": "text"}), ([None], [True], [[]]))
NAMES_WHAT_THERE_IS = frozenset({"group_id", "usage_api_key"})
"""A value of the wrong type may be refused like one that is not there."""

Writes = tuple[Sequence[tuple[Accepted, dict[str, object]]], Sequence[tuple[str, dict[str, object]]]]
"""Accepted writes, what to change to make each one accepted again, with an effect, and the lists that would show it."""


def writes_of_keys(node: Node, alice: str) -> Writes:
    """Writes of usage keys."""
    first, second = node.usage_keys.add(alice, Permissions(can_create_groups=True)), node.usage_keys.add(alice)
    writes: list[tuple[Accepted, dict[str, object]]] = [
        (first.accepted, {"name": "another"}),
        (node.usage_keys.update(alice, first.key, NO_PERMISSIONS), {"name": "updated"}),
        (node.usage_keys.rename(alice, first.key), {"name": "renamed"}),
        (node.usage_keys.remove(alice, second.key), {"usage_api_key": first.key}),
    ]
    return writes, [("list_api_keys", {})]


def writes_of_groups(node: Node, alice: str) -> Writes:
    """Writes of groups."""
    g, h = node.groups.add(alice), node.groups.add(alice)
    writes: list[tuple[Accepted, dict[str, object]]] = [
        (g.accepted, {"group_name": "another"}),
        (node.groups.update(alice, g.id, pkp_ids=[], cid_hashes=[]), {"name": "updated"}),
        (node.groups.remove(alice, h.id), {"group_id": g.id}),
    ]
    return writes, [("list_groups", {})]


def writes_of_members(node: Node, alice: str) -> Writes:
    """Writes of what a group lists."""
    p, q = node.pkps.create_several(alice, 2)
    one, two = (node.actions.sample_cid(name) for name in ("one", "two"))
    # Its id is 1 on many nodes, what a wrong value might be taken for.
    g = node.groups.add(alice, pkp_ids=[p.id], cid_hashes=[hashed_cid(one)]).id
    writes: list[tuple[Accepted, dict[str, object]]] = [
        (node.groups.add_action(alice, g, two), {}),
        (node.groups.remove_action(alice, g, hashed_cid(two)), {"hashed_cid": hashed_cid(one)}),
        (node.groups.add_pkp(alice, g, q.id), {}),
        (node.groups.remove_pkp(alice, g, q.id), {"pkp_id": p.id}),
    ]
    return writes, [(name, {"group_id": g}) for name in IN_GROUP]


def writes_of_actions(node: Node, alice: str) -> Writes:
    """Writes of actions."""
    one, two = (node.actions.sample_cid(name) for name in ("one", "two"))
    added = node.actions.add(alice, two)
    node.actions.add(alice, one)
    writes: list[tuple[Accepted, dict[str, object]]] = [
        (added, {}),
        (node.actions.update(alice, hashed_cid(one), "updated"), {"name": "again"}),
        (node.actions.delete(alice, hashed_cid(two)), {"hashed_cid": hashed_cid(one)}),
    ]
    return writes, [("list_actions", {}), ("list_wallets", {})]


@case(
    "malformed-bodies-and-other-methods",
    requirements=["EP-030", "EP-420"],
    needs=NEEDS,
    each={
        "usage-keys": writes_of_keys,
        "groups": writes_of_groups,
        "group-members": writes_of_members,
        "actions": writes_of_actions,
    },
)
def malformed_bodies_and_other_methods(judge: Judge, node: Node, row: Callable[[Node, str], Writes]) -> None:
    """Nothing comes, changes or goes by a malformed body or by GET, no list is served by POST, and right ones go on."""
    alice = node.accounts.new().key
    writes, lists = row(node, alice)
    reads = [unchanged_list(node.session, name, alice, **members) for name, members in lists]
    pages = [node.session.request(name, alice, **members, **one_item_page(node.session)) for name, members in lists]
    controls = [node.session.accept(page)[1] for page in pages]
    # Which 4xx a router answers with is its own choice; what counts is that it refuses and that nothing happens.
    with (
        judge.apart("EP-420"),
        Refusals(node.session, control=[*controls, *(control for control, _ in writes)], unchanged=reads) as refusals,
    ):
        for page in pages:
            refusals.send(replace(page, method="POST"), ["any"])
        for control, others in writes:
            right = control.changed(**others)
            in_query = {name: value for name, value in right.members.items() if not isinstance(value, list)}
            refusals.send(replace(right, method="GET", members=in_query), ["any"])
    # Whether the refusal of a malformed body is a 400 or a 422 is the node's choice.
    for turn, (control, others) in enumerate(writes):
        with judge.apart("EP-030"), Refusals(node.session, control=control, unchanged=reads) as refusals:
            for request, classes in malformed(control.changed(**others), turn):
                refusals.send(request, classes)
    with judge.apart("EP-030"):
        control, others = writes[0]
        node.session.accept(control.changed(**others))


def malformed(right: OutgoingRequest, turn: int) -> Iterator[tuple[OutgoingRequest, Sequence[str]]]:
    """Wrong forms of a request, one of each kind, with the classes of their refusals; another turn takes other ones."""
    ill_formed = ("malformed", "invalid")
    values = list(right.members.values())
    bodies = [NOT_JSON[turn % len(NOT_JSON)], NO_OBJECT[turn % len(NO_OBJECT)], NOT_UTF_8, written(values)]
    # Right values in their order are no object either, nor is the only one.
    bodies += [written(values[0])] if len(values) == 1 else [DEEP] if turn == 0 else []
    for body in bodies:
        yield replace(right, body=body), ill_formed
    for number, (name, value) in enumerate(right.members.items()):
        classes = (*ill_formed, "not_found") if name in NAMES_WHAT_THERE_IS else ill_formed
        wrong = WRONG_IDS if name == "group_id" else WRONG_TEXTS if isinstance(value, str) else ()
        for forms in WRONG_LISTS if name in GROUP_LISTS else wrong:
            form = forms[(turn + number) % len(forms)]
            # In `remove_group` an id is sent as a text, whatever it is.
            alone = written({right.operation.request.get(name, name): form}) if len(values) == 1 else None
            yield replace(right.changed(**{name: form}), body=alone), classes
