"""Lists and paging.

Specification: "Endpoints" (the query fields `page_number` and `page_size`) and "Groups" (`list_groups` is in creation
order). Only `list_groups` has an order that the specification states; of the other lists the same call must give the
same order, and the pages together every item once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.service.acceptance import Accepted
from conformance.service.derivations import account_hash, hashed_cid, random_key
from conformance.service.groups import Group
from conformance.service.lists import (
    IN_GROUP,
    first_page,
    only,
    page_or_none,
    read_page,
    read_pages,
    unchanged_list,
)
from conformance.service.node import Node
from conformance.service.reads import Read
from conformance.service.refusal import must_be_as_stated, must_refuse, was_accepted
from conformance.service.sample_calls import sample_objects, sample_reads
from conformance.service.sizes import U32, U64
from conformance.service.usage_keys import ALL_PERMISSIONS, Permissions
from conformance.values.ids import Cid
from conformance.values.json_values import member, pluck, printed, same, same_hex, same_hexes

NEEDS = ("managed_accounts",)
LISTS = ("list_groups", "list_api_keys", "list_wallets", "list_actions")
FAR_BEHIND = 1000
"""In 32 bits, a page so far behind would be the first."""


def counted(items: Sequence[object]) -> Counter[str]:
    """How often an array holds each of its items."""
    return Counter(map(printed, items))


# ------------------------------------------------------------------------------------------------------- creation order


@case("groups-in-creation-order", requirements=["LIST-010"], needs=NEEDS)
def groups_in_creation_order(judge: Judge, node: Node) -> None:
    """`list_groups` shows groups in the order of their creation, and each new one behind the others."""
    alice = node.accounts.new().key
    groups, made = [], []
    # Names in no order: a list sorted by name, or newest first, shows another one last. Twelve: a list sorted by the
    # text of ids shows the tenth before the second.
    for name in "mzakcybxdwev":
        group = node.groups.add(alice, name)
        groups.append(group.id)
        made.append(group.listed_id)
    with judge():
        listed = pluck(node.groups.list(alice), "id")
        judge.that(len(set(map(printed, listed))) == len(listed), "each id once in the list", listed)
        judge.same([one for one in listed if one in made], made, "the ids of the twelve groups")
    for place in (7, 3):
        node.groups.remove(alice, groups[place])
    with judge():
        left = [one for one in pluck(node.groups.list(alice), "id") if one in made]
        # Which two are gone is for the cases of removals.
        judge.same(left, [one for one in made if one in left], "the groups that are left of twelve, in their order")


@case("creation-order-across-pages", requirements=["LIST-020"], needs=NEEDS)
def creation_order_across_pages(judge: Judge, node: Node) -> None:
    """The pages of `list_groups` joined are the creation order, whoever made a group, none twice and none missing."""
    alice = node.accounts.new().key
    key = node.usage_keys.add(alice, Permissions(can_create_groups=True)).key
    made = [node.groups.add((alice, key)[number % 2], str(number), listed_to=alice).listed_id for number in range(5)]
    request = node.session.request("list_groups", alice)
    with judge():
        groups = node.groups.list(alice)
        listed = pluck(groups, "id")
        judge.that(len(set(map(printed, listed))) == len(listed), "each id once in the list", listed)
        judge.same([one for one in listed if one in made], made, "the ids of the five groups")
    for number in (0, 1):
        with judge.apart():
            page = read_page(node.session, request, number, 2)
            judge.same(page, groups[2 * number : 2 * number + 2], f"page {number} of two groups")
    with judge():
        judge.same(read_pages(node.session, request, 2), groups, "all pages of two groups")


@case("order-survives-removal-and-update", requirements=["LIST-030"], needs=NEEDS)
def order_survives_removal_and_update(judge: Judge, node: Node) -> None:
    """Removing a group and updating another leaves the others in their order."""
    alice = node.accounts.new().key
    groups = [node.groups.add(alice, str(number)) for number in range(5)]
    ids = pluck(node.groups.list(alice)[-5:], "id")

    def must_end_with(*places: int, newer: int = 0) -> None:
        listed = pluck(node.groups.list(alice), "id")
        judge.distinct(listed, "ids of groups")
        ends = listed[: len(listed) - newer][-len(places) :]
        judge.same(ends, [ids[place] for place in places if place < len(ids)], "the last groups, in their order")

    judge.set_up(len(ids) == 5, "a list with five groups")
    node.groups.remove(alice, groups[1].id)
    with judge():
        must_end_with(0, 2, 3, 4)
    node.groups.update(alice, groups[2].id, "updated", pkp_ids=[], cid_hashes=[])
    with judge():
        must_end_with(0, 2, 3, 4)
    node.groups.remove(alice, groups[0].id)
    node.groups.add(alice, "newest")
    with judge():
        must_end_with(2, 3, 4, newer=1)


# -------------------------------------------------------------------------------------------- what reads and writes do


@case(
    "reads-repeat-and-change-nothing",
    requirements=["LIST-120", "LIST-150"],
    needs=NEEDS,
    uses=[{"semantics.managed_key_wallet_listed": False}],
)
def reads_repeat_and_change_nothing(judge: Judge, node: Node) -> None:
    """Each list, called again and again, gives the same items in the same order."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    node.pkps.create(bob)
    pkps, cids = node.pkps.create_several(alice, 2), [node.actions.sample_cid(name) for name in "xy"]
    for cid in cids:
        node.actions.add(alice, cid)
    ids, hashes = [one.id for one in pkps], [hashed_cid(cid) for cid in cids]
    for number in range(2):
        g = node.groups.add(alice, str(number), pkp_ids=ids, cid_hashes=hashes).id
        node.usage_keys.add(alice, Permissions(execute_in_groups=[0]), str(number))
    whole = [node.session.request(name, alice) for name in LISTS]
    requests = [*whole, *(node.session.request(name, alice, group_id=g) for name in IN_GROUP)]
    before = [read_pages(node.session, request) for request in requests]
    with judge("LIST-120"):
        single = [read_pages(node.session, request, 1) for request in whole]
    for request, items in zip(requests, before, strict=True):
        again = read_pages(node.session, request)
        with judge.apart("LIST-150", why="reading a list changes nothing"):
            judge.same(len(again), len(items), f"the number of items of {request.operation.name}")
        with judge.apart("LIST-120", why="the same read gives the same items in the same order"):
            judge.same(again, items, f"the items of {request.operation.name}")
    node.session.call("account_exists", alice)
    node.session.call("get_node_chain_config")
    for request, items in zip(whole, single, strict=True):
        with judge.apart("LIST-120"):
            judge.same(read_pages(node.session, request, 1), items, f"{request.operation.name} in pages of one")
    for name in LISTS:
        request = node.session.request(name, alice, page_size=1)
        first, second = (node.session.send(request) for _ in range(2))
        with judge.apart("LIST-120", why="a list does not go on behind the page that was read before"):
            if was_accepted(node.session, first, or_refused=["any"]):
                judge.same(second.value, first.value, f"{name} with a page size alone, asked again")


def shows(items: Sequence[object], name: str, value: object) -> bool:
    """Whether one of the items has this value, or this hex number."""
    return any(same(member(item, name), value) or same_hex(member(item, name), value) for item in items)


@case(
    "full-pages-follow-writes",
    requirements=["LIST-170"],
    needs=NEEDS,
    uses=[
        "wire.list_groups.item_fields.name",
        "wire.list_items.fields.usage_key.name",
        "wire.list_items.fields.wallet.id",
    ],
)
def full_pages_follow_writes(judge: Judge, node: Node) -> None:
    """Pages that were full show what later writes, by another client, changed on them, the last page first."""
    other = node.by_client("bearer", keeps_connections=False)
    alice, cids = node.accounts.new().key, [node.actions.sample_cid(name) for name in "xy"]
    hashes = [hashed_cid(cid) for cid in cids]
    pkps = node.pkps.create_several(alice, 2)
    for cid in cids:
        node.actions.add(alice, cid)
    node.usage_keys.add(alice, name="k")
    key = node.usage_keys.add(alice, name="gone").key
    g = node.groups.add(alice, "g", pkp_ids=[pkp.id for pkp in pkps], cid_hashes=hashes).id
    h = node.groups.add(alice, "h").id

    def must_follow(request: OutgoingRequest, name: str, gone: object, write: Callable[[], object]) -> None:
        """The item with this value stood on a page of its own before the write, and stands on none after it."""
        before = read_pages(node.session, request, 1)
        judge.set_up(shows(before, name, gone), f"{request.operation.name} with {printed(gone)}")
        write()
        after: list[object] = []
        with judge(why="each page was full before the write"):
            for number in reversed(range(len(before))):
                after += page_or_none(node.session, request, number, 1)
            judge.that(not shows(after, name, gone), f"{request.operation.name} without {printed(gone)}", after)
            judge.that(len(after) >= len(before) - 1, f"{len(before) - 1} other items", after)

    groups, keys, actions = (
        node.session.request(name, alice) for name in ("list_groups", "list_api_keys", "list_actions")
    )
    wallets_inside, actions_inside = (node.session.request(name, alice, group_id=g) for name in IN_GROUP)
    wallet, action, nothing = pkps[1].id, hashes[1], {"pkp_ids": (), "cid_hashes": ()}
    must_follow(groups, "name", f"{node.label} h", lambda: other.groups.update(alice, h, "renamed", **nothing))
    must_follow(groups, "name", f"{node.label} renamed", lambda: other.groups.remove(alice, h))
    must_follow(keys, "name", f"{node.label} gone", lambda: other.usage_keys.remove(alice, key))
    must_follow(wallets_inside, "id", wallet, lambda: other.groups.remove_pkp(alice, g, wallet))
    must_follow(actions_inside, "hashed_cid", action, lambda: other.groups.remove_action(alice, g, action))
    must_follow(actions, "hashed_cid", action, lambda: other.actions.delete(alice, action))


def refused_to_a_stranger(judge: Judge, node: Node, accepted: Accepted, unchanged: Sequence[Read]) -> None:
    """A write that was accepted is refused with a key of nobody, and the lists stay as they are."""
    request = replace(accepted.changed(), credential=random_key(node.session.random))
    with judge():
        must_refuse(node.session, request, ["unauthenticated"], control=accepted, unchanged=unchanged)


@case(
    "lists-follow-group-writes",
    requirements=["LIST-170"],
    needs=NEEDS,
    uses=["wire.list_items.fields.wallet.id", "wire.list_groups.item_fields.name"],
)
def lists_follow_group_writes(judge: Judge, node: Node) -> None:
    """After an accepted write on groups the lists show it to another client, after a refused one they are as before."""
    writer = node.by_client("bearer", keeps_connections=False)
    alice, x = node.accounts.new().key, node.actions.sample_cid("x")
    p, hashed = node.pkps.create(alice), hashed_cid(x)

    def must_be_last(group: Group, name: str) -> None:
        with judge():
            last = member(node.groups.list(alice), "-1")
            judge.members(last, {"id": group.listed_id, "name": f"{node.label} {name}"}, "the last group")

    def holds(*, wallet: bool, action: bool) -> None:
        with judge():
            wallets, actions = node.pkps.list(alice, g.id), node.actions.list(alice, g.id)
            judge.same_hexes(pluck(wallets, "id"), [p.id] * wallet, "the wallets of the group")
            judge.same_hexes(pluck(actions, "hashed_cid"), [hashed] * action, "the actions of the group")

    g = writer.groups.add(alice, "g")
    must_be_last(g, "g")
    groups = [unchanged_list(node.session, "list_groups", alice)]
    lists = [*groups, *(unchanged_list(node.session, name, alice, group_id=g.id) for name in IN_GROUP)]
    refused_to_a_stranger(judge, node, g.accepted, groups)
    updated = writer.groups.update(alice, g.id, "renamed", pkp_ids=[p.id], cid_hashes=[hashed])
    must_be_last(g, "renamed")
    holds(wallet=True, action=True)
    writer.groups.update(alice, g.id, "again", pkp_ids=[], cid_hashes=[])
    holds(wallet=False, action=False)
    refused_to_a_stranger(judge, node, updated, lists)
    key = node.usage_keys.add(alice, ALL_PERMISSIONS).key
    adds_pkp = writer.groups.add_pkp(key, g.id, p.id)
    holds(wallet=True, action=False)
    adds_action = writer.groups.add_action(key, g.id, x)
    holds(wallet=True, action=True)
    removes_pkp = writer.groups.remove_pkp(key, g.id, p.id)
    holds(wallet=False, action=True)
    removes_action = writer.groups.remove_action(key, g.id, hashed)
    holds(wallet=False, action=False)
    for accepted in (adds_pkp, adds_action):
        refused_to_a_stranger(judge, node, accepted, lists)
    writer.groups.add_pkp(alice, g.id, p.id)
    writer.groups.add_action(alice, g.id, x)
    holds(wallet=True, action=True)
    for accepted in (removes_pkp, removes_action):
        refused_to_a_stranger(judge, node, accepted, lists)
    # A node that remembers which group is unknown has to forget it; ids often go up by one.
    for name in IN_GROUP:
        node.session.send(node.session.request(name, alice, group_id=g.id + 1))
    h = writer.groups.add(alice, "h", pkp_ids=[p.id], cid_hashes=[hashed])
    must_be_last(h, "h")
    with judge(why="a group that is made is listed, though it was asked for before"):
        judge.same_hexes(pluck(node.pkps.list(alice, h.id), "id"), [p.id], "the wallets of the new group")
        judge.same_hexes(pluck(node.actions.list(alice, h.id), "hashed_cid"), [hashed], "its actions")
    removed = writer.groups.remove(key, h.id)
    must_be_last(g, "again")
    with judge():
        request = replace(removed.changed(group_id=g.id), credential=random_key(node.session.random))
        must_refuse(node.session, request, ["unauthenticated"], control=removed, unchanged=lists)


@case(
    "lists-follow-wallet-and-action-writes",
    requirements=["LIST-170"],
    needs=NEEDS,
    uses=["wire.list_items.fields.wallet.wallet_address", "wire.list_items.fields.action.name"],
)
def lists_follow_wallet_and_action_writes(judge: Judge, node: Node) -> None:
    """After a write on wallets or actions lists show it to another client, after a refused one they are as before."""
    reader, writer = node.by_client("bearer"), node.by_client("x-api-key", keeps_connections=False)
    alice = node.accounts.new().key
    x, y = (node.actions.sample_cid(name) for name in "xy")
    before = len(node.pkps.list(node.accounts.new().key))
    wallets, actions = (unchanged_list(reader.session, name, alice) for name in ("list_wallets", "list_actions"))
    made: list[object] = []
    for count in (1, 2):
        ((answer, accepted),) = writer.pkps.creations(alice, 1)
        made.append(member(answer.value, "wallet_address"))
        listed = reader.pkps.list(alice)
        judge.set_up(count > 1 or len(listed) > before, "a list with the first wallet")
        with judge(why="list_wallets shows each wallet that create_wallet made"):
            judge.same(len(listed), before + count, "the number of wallets")
            for address in made:
                only(listed, "wallet_address", address)
        refused_to_a_stranger(judge, node, accepted, [wallets])

    def must_list(names: Mapping[Cid, str], why: str) -> None:
        with judge(why=why):
            listed = reader.actions.list(alice)
            judge.same(len(listed), len(names), "the number of actions")
            for cid, name in names.items():
                expected = {"name": f"{node.label} {name}".strip()}
                judge.members(only(listed, "hashed_cid", hashed_cid(cid)), expected, "the name of the action")

    added = writer.actions.add(alice, x, "n")
    judge.set_up(bool(reader.actions.list(alice)), "a list with the registered action")
    must_list({x: "n"}, "list_actions shows an action that add_action registered")
    with judge():
        other = replace(added.changed(action_ipfs_cid=y), credential=random_key(node.session.random))
        must_refuse(node.session, other, ["unauthenticated"], control=added, unchanged=[actions])
    updated = writer.actions.update(alice, hashed_cid(x), "renamed")
    must_list({x: "renamed"}, "list_actions shows the name that update_action_metadata gave")
    with judge():
        wrong = replace(updated.changed(name="wrong"), credential=random_key(node.session.random))
        must_refuse(node.session, wrong, ["unauthenticated"], control=updated, unchanged=[actions])
    writer.actions.add(alice, y, "other")
    must_list({x: "renamed", y: "other"}, "list_actions shows both actions")
    deleted = writer.actions.delete(alice, hashed_cid(x))
    must_list({y: "other"}, "list_actions no longer shows the deleted action")
    with judge():
        other = replace(deleted.changed(hashed_cid=hashed_cid(y)), credential=random_key(node.session.random))
        must_refuse(node.session, other, ["unauthenticated"], control=deleted, unchanged=[actions])
    writer.actions.add(alice, x, "anew")
    must_list({x: "anew", y: "other"}, "list_actions shows an action that was deleted and registered anew")


# ---------------------------------------------------------------------------------------------------------------- pages


def check_pages(judge: Judge, node: Node, request: OutgoingRequest, items: Sequence[object]) -> None:
    """Ask for pages of two and of three, and for pages behind the last; `items` is the whole list, of three or more."""
    judge.set_up(bool(items), "a list that shows what was added")
    with judge.apart("LIST-040"):
        first = read_page(node.session, request, 0, 2)
        judge.that(len(first) <= 2, "at most two items on a page of two", first)
    with judge.apart("LIST-050"):
        by_two = read_pages(node.session, request, 2)
        judge.that(counted(by_two) == counted(items), f"each of {len(items)} items once on the pages of two", by_two)
        by_three = [*read_page(node.session, request, 0, 3), *page_or_none(node.session, request, 1, 3)]
        all_once = counted(by_three) == counted(items)
        judge.that(all_once, f"each of {len(items)} items once on the pages of three", by_three)
    with judge.apart("LIST-060"):
        judge.same(page_or_none(node.session, request, len(items), 1), [], "the page behind the last item")
        judge.same(page_or_none(node.session, request, FAR_BEHIND, 2), [], "a page far behind the last")
        if node.session.profile.limits.page_size_default is not None:
            behind = len(items)  # whatever the default size is
            judge.same(page_or_none(node.session, request, behind, None), [], f"page {behind} of the default size")
        wrapped = replace(request, members={**request.members, "page_number": U32, "page_size": 2})
        answer = node.session.send(wrapped)
        # How large a page number may be is silent.
        if was_accepted(node.session, answer, or_refused=["any"]):
            judge.same(answer.value, [], f"page {U32}")


@case("pages-of-list-groups", requirements=["LIST-040", "LIST-050", "LIST-060"], needs=NEEDS)
def pages_of_list_groups(judge: Judge, node: Node) -> None:
    """`list_groups` answers pages of at most `page_size` items that together hold each item once."""
    alice = node.accounts.new().key
    for number in range(5):
        node.groups.add(alice, str(number))
    check_pages(judge, node, node.session.request("list_groups", alice), node.groups.list(alice))


@case(
    "pages-of-list-api-keys",
    requirements=["LIST-040", "LIST-050", "LIST-060"],
    needs=NEEDS,
    uses=["wire.list_items.fields.usage_key.name"],
)
def pages_of_list_api_keys(judge: Judge, node: Node) -> None:
    """`list_api_keys` answers pages of at most `page_size` items that together hold each item once."""
    alice = node.accounts.new().key
    names = [f"{node.label} {number}" for number in range(3)]
    for number in range(3):
        node.usage_keys.add(alice, name=str(number))
    keys = node.usage_keys.list(alice)
    judge.set_up(set(names) <= {printed(name) for name in pluck(keys, "name")}, f"a list with the keys {names}")
    check_pages(judge, node, node.session.request("list_api_keys", alice), keys)


@case("pages-of-list-wallets", requirements=["LIST-040", "LIST-050", "LIST-060"], needs=NEEDS)
def pages_of_list_wallets(judge: Judge, node: Node) -> None:
    """`list_wallets` answers pages of at most `page_size` items that together hold each item once."""
    alice = node.accounts.new().key
    node.pkps.create_several(alice, 3)
    # With the account's own wallet, where the profile lists it, there are four.
    check_pages(judge, node, node.session.request("list_wallets", alice), node.pkps.list(alice))


@case(
    "pages-of-list-wallets-in-group",
    requirements=["LIST-040", "LIST-050", "LIST-060"],
    needs=NEEDS,
    uses=["wire.list_items.fields.wallet.id"],
)
def pages_of_list_wallets_in_group(judge: Judge, node: Node) -> None:
    """`list_wallets_in_group` answers pages of at most `page_size` items that together hold each item once."""
    alice = node.accounts.new().key
    # The account has another wallet, made first, and the group names its own in another order.
    _, *ids = (pkp.id for pkp in node.pkps.create_several(alice, 4))
    group = node.groups.add(alice, pkp_ids=ids[::-1]).id
    wallets = node.pkps.list(alice, group)
    judge.set_up(same_hexes(pluck(wallets, "id"), ids, any_order=True), "a list of the group's three wallets")
    check_pages(judge, node, node.session.request("list_wallets_in_group", alice, group_id=group), wallets)


@case("pages-of-list-actions", requirements=["LIST-040", "LIST-050", "LIST-060"], needs=NEEDS)
def pages_of_list_actions(judge: Judge, node: Node) -> None:
    """`list_actions`, with and without `group_id`, answers pages of at most `page_size` items, each item once."""
    alice = node.accounts.new().key
    cids = [node.actions.sample_cid(name) for name in "wxyz"]
    hashes = [hashed_cid(cid) for cid in cids]
    of_group = hashes[:0:-1]  # not the first that is registered, and in another order
    group = node.groups.add(alice, cid_hashes=of_group).id
    for cid in cids:
        node.actions.add(alice, cid)
    for members, listed in (({}, hashes), ({"group_id": group}, of_group)):
        request = node.session.request("list_actions", alice, **members)
        actions = read_pages(node.session, request)
        found = same_hexes(pluck(actions, "hashed_cid"), listed, any_order=True)
        judge.set_up(found, f"a list of {len(listed)} actions")
        check_pages(judge, node, request, actions)


@case("paging-fields-left-out", requirements=["LIST-080"], needs=NEEDS, uses=["limits.page_size_default"])
def paging_fields_left_out(judge: Judge, node: Node) -> None:
    """Where the profile states a default page size, the paging fields may be left out."""
    alice = node.accounts.new().key
    for number in range(5):
        node.groups.add(alice, str(number))
    groups = node.groups.list(alice)
    size = int(printed(node.session.stated("limits.page_size_default")))
    with judge():
        judge.same(node.session.call("list_groups", alice).value, groups[:size], "the page without paging fields")
        page = node.session.call("list_groups", alice, page_size=2).value
        judge.same(page, groups[:2], "the page of two without a number")


@case("largest-page", requirements=["LIST-090"], needs=NEEDS)
def largest_page(judge: Judge, node: Node) -> None:
    """The largest page size is served, and a larger one is refused or cut down as the profile says."""
    alice = node.accounts.new().key
    for number in range(5):
        node.groups.add(alice, str(number))
    request = node.session.request("list_groups", alice)
    groups = read_pages(node.session, request, 2)
    largest = int(printed(node.session.stated("limits.page_size_max")))
    beyond = node.session.stated("limits.page_size_above_max")
    with judge():
        judge.same(read_page(node.session, request, 0, largest), groups[:largest], "the largest page")
        first = node.session.stated("wire.paging.first_page_number")
        asked = node.session.request("list_groups", alice, page_number=first, page_size=largest + 1)
        answer = node.session.send(asked)
        served = was_accepted(node.session, answer, or_refused=["invalid"])
        judge.same("capped" if served else "refused", beyond, "what becomes of a larger page size")
        if served:
            judge.same(answer.value, groups[:largest], "the page that is cut down")


@case("bad-page-fields", requirements=["LIST-100"], needs=NEEDS, uses=[{"semantics.managed_key_wallet_listed": False}])
def bad_page_fields(judge: Judge, node: Node) -> None:
    """A malformed page number or size is refused or answered harmlessly, and the next call works."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    node.pkps.create(bob)
    pkps, cids = node.pkps.create_several(alice, 2), [node.actions.sample_cid(name) for name in "xy"]
    for cid in cids:
        node.actions.add(alice, cid)
    for number in range(2):
        node.usage_keys.add(alice, name=str(number))
        g = node.groups.add(alice, pkp_ids=[pkp.id for pkp in pkps], cid_hashes=list(map(hashed_cid, cids))).id
    names = ("list_groups", "list_api_keys", "list_actions", "list_wallets")
    requests = [node.session.request(name, alice) for name in names]
    requests += [node.session.request(name, alice, group_id=g) for name in reversed(IN_GROUP)]
    wholes = [read_pages(node.session, request) for request in requests]
    first = first_page(node.session)
    numbers = [(-1, 1), ("one", 1), (U64 - 1, 2), (U64, 1)]
    sizes = [(first, 0), (first, -1), (first, "all"), (first, U64)]
    for turn, (request, items) in enumerate(zip(requests, wholes, strict=True)):
        # Every other form goes to the next list.
        for page_number, page_size in [*numbers, *sizes][turn % 2 :: 2]:
            page = {"page_number": page_number, "page_size": page_size}
            with judge.apart():
                answer = node.session.send(replace(request, members={**request.members, **page}))
                if was_accepted(node.session, answer, or_refused=["any"]):
                    others = counted(answer.value if isinstance(answer.value, list) else [answer.value]) - counted(
                        items
                    )
                    judge.same(list(others), [], f"what {request.operation.name} shows that is not in the list")
        with judge.apart(why="the next call works"):
            judge.same(read_pages(node.session, request), items, f"{request.operation.name} after malformed fields")


# -------------------------------------------------------------------------------------------------- lists follow writes


@case(
    "items-go-one-by-one",
    requirements=["LIST-170", "EP-210", "EP-220", "EP-290", "GRPLIFE-100", "KEYLIFE-050", "KEYLIFE-090"],
    needs=NEEDS,
    uses=["wire.list_items.fields.wallet.id"],
)
def items_go_one_by_one(judge: Judge, node: Node) -> None:
    """When the first item is removed, then the last, then the one between, each list loses that item and no other."""
    alice = node.accounts.new().key
    session = node.session
    # A fresh account may have groups and usage keys of its own.
    own_groups, own_keys = node.groups.list(alice), node.usage_keys.list(alice)
    pkps = node.pkps.create_several(alice, 3)
    cids = [node.actions.sample_cid(name) for name in "xyz"]
    hashes = [hashed_cid(cid) for cid in cids]
    for cid in cids:
        node.actions.add(alice, cid)
    groups = [node.groups.add(alice, str(number)) for number in range(3)]
    keys = [node.usage_keys.add(alice, name="k").key for _ in range(3)]
    g = node.groups.add(alice, "g", pkp_ids=[pkp.id for pkp in pkps], cid_hashes=hashes).id
    all_keys = node.usage_keys.list(alice)
    session.settle()
    lists = (node.pkps.list(alice, g), node.actions.list(alice, g), node.actions.list(alice))
    judge.set_up([len(items) for items in lists] == [3, 3, 3], "lists of the three wallets and the three actions")
    judge.set_up(len(node.groups.list(alice)) == len(own_groups) + 4, "a list of the four new groups")
    judge.set_up(len(all_keys) == len(own_keys) + 3, "a list of the three new usage keys")

    def keeps(items: list[object], name: str, gone: object, left: int) -> None:
        judge.same(len(items), left, "the number of items that are left")
        judge.that(not shows(items, name, gone), f"no item whose {name} is {printed(gone)}", items)

    for left, turn in ((2, 0), (1, 2), (0, 1)):
        with judge("EP-220"):
            node.groups.remove_pkp(alice, g, pkps[turn].id)
        with judge("LIST-170", "EP-220"):
            keeps(node.pkps.list(alice, g), "id", pkps[turn].id, left)
        with judge("EP-210"):
            node.groups.remove_action(alice, g, hashes[turn])
        with judge("LIST-170", "EP-210"):
            keeps(node.actions.list(alice, g), "hashed_cid", hashes[turn], left)
        with judge("EP-290"):
            node.actions.delete(alice, hashes[turn])
        with judge("LIST-170", "EP-290"):
            keeps(node.actions.list(alice), "hashed_cid", hashes[turn], left)
        with judge("LIST-170", "GRPLIFE-100"):
            node.groups.remove(alice, groups[turn].id)
            # With the group whose lists are looked at there is one more.
            keeps(node.groups.list(alice), "id", groups[turn].listed_id, len(own_groups) + left + 1)
        with judge("LIST-170", "KEYLIFE-090"):
            node.usage_keys.remove(alice, keys[turn])
            listed = node.usage_keys.list(alice)
            judge.same(len(listed), len(own_keys) + left, "the number of usage keys that are left")
        with judge("KEYLIFE-050"):
            judge.that(counted(listed) <= counted(all_keys), "keys that are as they were", listed)


# -------------------------------------------------------------------------------------------------- as the profile says


@case(
    "order-of-the-other-lists",
    requirements=["LIST-110"],
    needs=NEEDS,
    uses=[
        "wire.list_items.fields.usage_key.name",
        "wire.list_items.fields.wallet.id",
        "wire.list_items.fields.wallet.wallet_address",
    ],
)
def order_of_the_other_lists(judge: Judge, node: Node) -> None:
    """Usage keys, wallets and actions, also those in a group, are listed in the order that the profile says."""
    order, order_in_group = (node.session.stated(f"semantics.list_order_{which}") for which in ("other", "in_group"))
    alice = node.accounts.new().key
    pkps, cids = [], [node.actions.sample_cid(name) for name in "xyz"]
    for number, cid in enumerate(cids):
        pkps.append(node.pkps.create(alice))
        node.actions.add(alice, cid)
        node.usage_keys.add(alice, name=str(number))
    g = node.groups.add(alice, "g").id

    def in_order(listed: list[object], expected: Sequence[str], what: str, order: object = order) -> None:
        # Others, such as the account's own wallet where the profile lists it, may stand anywhere.
        known = [value for value in listed if any(same_hex(value, one) for one in expected)]
        judge.same_hexes(known, [*reversed(expected)] if order == "newest_first" else expected, what)

    joined = (1, 2, 0)
    for turn in joined:
        node.groups.add_pkp(alice, g, pkps[turn].id)
        node.groups.add_action(alice, g, cids[turn])
    hashes = [hashed_cid(cid) for cid in cids]
    names = [f"{node.label} {number}" for number in range(3)]
    turns = sorted(joined) if order_in_group == "account" else joined
    if order_in_group == "account":
        order_in_group = order
    with judge():
        in_order(pluck(node.usage_keys.list(alice), "name"), names, "the order of the usage keys")
        in_order(
            pluck(node.pkps.list(alice), "wallet_address"), [pkp.address for pkp in pkps], "the order of the wallets"
        )
        in_order(pluck(node.actions.list(alice), "hashed_cid"), hashes, "the order of the actions")
        ids, shown = [pkps[turn].id for turn in turns], [hashes[turn] for turn in turns]
        in_order(pluck(node.pkps.list(alice, g), "id"), ids, "the order of the group's wallets", order_in_group)
        in_order(pluck(node.actions.list(alice, g), "hashed_cid"), shown, "that of its actions", order_in_group)


@case(
    "order-of-actions-that-a-group-knew-before",
    requirements=["LIST-110"],
    needs=NEEDS,
    uses=[{"semantics.list_actions_unregistered.account_list": "absent"}],
)
def order_of_actions_that_a_group_knew_before(judge: Judge, node: Node) -> None:
    """An action that joined a group before it was registered stands in each list where the profile says."""
    order, order_in_group = (node.session.stated(f"semantics.list_order_{which}") for which in ("other", "in_group"))
    alice = node.accounts.new().key
    joined_first, registered_first = cids = [node.actions.sample_cid(name) for name in "xy"]
    hashes = [hashed_cid(cid) for cid in cids]
    g = node.groups.add(alice, "g").id
    node.groups.add_action(alice, g, joined_first)
    judge.set_up(not node.actions.list(alice), "no action in the account that a group alone names")
    node.actions.add(alice, registered_first)
    node.actions.add(alice, joined_first)
    node.groups.add_action(alice, g, registered_first)
    in_account = hashes if order == "newest_first" else hashes[::-1]
    in_group = {"newest_first": hashes[::-1], "account": in_account}.get(printed(order_in_group), hashes)
    with judge():
        judge.same_hexes(pluck(node.actions.list(alice), "hashed_cid"), in_account, "the order of the actions")
        judge.same_hexes(pluck(node.actions.list(alice, g), "hashed_cid"), in_group, "that of the group's actions")


@case("list-of-an-unknown-group", requirements=["LIST-160"], needs=NEEDS)
def list_of_an_unknown_group(judge: Judge, node: Node) -> None:
    """A list of a group that is not there answers what the profile says, and never another account's items."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    pkp = node.pkps.create(bob)
    hashed = hashed_cid(node.actions.sample_cid("x"))
    # Bob's second group: alice has one group, so its number, if groups are counted in each account, is not hers.
    of_bob = [node.groups.add(bob, name, pkp_ids=[pkp.id], cid_hashes=[hashed]) for name in "gh"][-1].id
    own = node.groups.add(alice, "g").id
    judge.set_up(of_bob != own, "another id for bob's second group than for the one of alice")
    page: dict[str, object] = {"page_number": node.session.stated("wire.paging.first_page_number"), "page_size": 2}
    for operation in ("list_wallets_in_group", "list_actions"):
        with judge():
            answer, asks = node.session.accept(node.session.request(operation, alice, group_id=own, **page))
        with judge.apart():
            judge.same(answer.value, [], f"{operation} of the own group")
        for group in (900_000_000_000, of_bob, own + U32):
            with judge.apart():
                request = node.session.request(operation, alice, group_id=group, **page)
                stated = "semantics.list_unknown_group"
                said = must_be_as_stated(node.session, request, stated, control=asks, unchanged=[]).text.lower()
                for secret in (pkp.id, hashed):
                    judge.that(secret[2:].lower() not in said, "nothing of another account's group", said)


@case("list-of-group-zero", requirements=["EP-240", "EP-250"], needs=NEEDS)
def list_of_group_zero(judge: Judge, node: Node) -> None:
    """No group has the id 0: a list of it is refused or empty, and not that of the whole account."""
    alice = node.accounts.new().key
    pkp = node.pkps.create(alice)
    node.actions.add(alice, node.actions.sample_cid("x"))
    node.groups.add(alice, pkp_ids=[pkp.id], cid_hashes=[hashed_cid(node.actions.sample_cid("x"))])
    page: dict[str, object] = {"page_number": node.session.stated("wire.paging.first_page_number"), "page_size": 2}
    for requirement, operation in (("EP-240", "list_wallets_in_group"), ("EP-250", "list_actions")):
        answer = node.session.send(node.session.request(operation, alice, group_id=0, **page))
        with judge.apart(requirement):
            if was_accepted(node.session, answer, or_refused=["any"]):
                judge.same(answer.value, [], f"{operation} of group 0")


@case(
    "account-wallet-in-the-list",
    requirements=["LIST-180"],
    needs=NEEDS,
    uses=["wire.list_items.fields.wallet.wallet_address"],
)
def account_wallet_in_the_list(judge: Judge, node: Node) -> None:
    """Whether `list_wallets` shows the account's own wallet is as the profile says."""
    alice = node.accounts.new()
    pkp = node.pkps.create(alice.key)
    addresses = pluck(node.pkps.list(alice.key), "wallet_address")
    judge.set_up(any(same_hex(one, pkp.address) for one in addresses), f"a list with the wallet {pkp.address}")
    with judge():
        listed = any(same_hex(one, alice.wallet_address) for one in addresses)
        judge.same(listed, node.session.stated("semantics.account_wallet_listed"), "whether its own wallet is listed")


# --------------------------------------------------------------------------------------------------------- side effects


@case("reads-send-no-transaction", requirements=["LIST-150"], needs=[*NEEDS, "chain_rpc"])
def reads_send_no_transaction(judge: Judge, node: Node) -> None:
    """Lists and reads put no transaction of this account on the chain."""
    alice = node.accounts.new()
    objects = sample_objects(node, alice)
    before = node.session.chain.block_number()
    for name, request in sample_reads(node, objects).items():
        if name != "balance" or node.session.profile.offers("billing"):
            node.session.accept(request)
    with judge():
        # Others may write at the same time: each write of this account carries its hash.
        mined = node.contract.transactions_after(before, holding=account_hash(alice.key, node.session.profile))
        judge.same(mined, [], "the transactions that name the account")
