"""Accounts that hold much: long lists over their pages, ids of three digits.

Specification, "Endpoints" (`page_number`, `page_size`). This costs some 600 requests that write.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.service.bindings import bound, two_and_two
from conformance.service.derivations import hashed_cid
from conformance.service.groups import Group
from conformance.service.lists import IN_GROUP, first_page, read_page, read_pages
from conformance.service.node import Node
from conformance.service.reach import beyond_its_group
from conformance.service.refusal import was_accepted
from conformance.values.ids import GroupId, HashedCid
from conformance.values.json_values import pluck, printed

NEEDS = ("managed_accounts",)
MANY = 61
KEYS = 201
FIFTY_ONE = 51
MORE_THAN_SIX_BITS = 97
BYTE = 256
MORE_THAN_A_BYTE = 258
AROUND_A_BYTE = (BYTE - 1, BYTE, BYTE + 1)
ENDS = (10, 16, 20, 32, 50, 64, 100, 128, 200, BYTE)
"""Numbers of items at which pages, buffers and small integers end."""
ANY_KEY_LISTS_KEYS = {"auth.usage_key_permission.list_api_keys": "any_key"}
SMALL, MIDDLE = 7, 37
"""Items on a smaller page. Divide none of the lengths, so that the last page is shorter."""
FAR = (2**31, 2**32, 2**32 + 1, 2**63, 2**64 - 1)
"""Page numbers that narrower integers read as negative, as the first or as the second page."""


def places(count: int) -> list[int]:
    """The first positions of a list, the last, and those on both sides of each of `ENDS`."""
    sides = {side for end in ENDS for side in (end - 1, end)}
    return sorted(place for place in {0, 1, 2, count - 1} | sides if place < count)


def check_pages(judge: Judge, node: Node, request: OutgoingRequest, least: int, size: int = SMALL) -> None:
    """Read a list of at least so many items in pages of three sizes, and pages behind its end."""
    smaller = min(size, node.session.target.page_size)
    whole = read_pages(node.session, request)
    with judge.apart("LIST-050"):
        judge.that(
            len(whole) >= least,
            f"at least {least} items of {request.operation.name}, read in pages of {node.session.target.page_size}",
            f"{len(whole)} items",
        )
        paged = read_pages(node.session, request, smaller)
        judge.that(
            Counter(map(printed, paged)) == Counter(map(printed, whole)), "the same items on smaller pages", paged
        )
    last = max(len(whole) - 1, 0)
    with judge.apart("LIST-050"):
        alone = read_page(node.session, request, last, 1)
        judge.that(len(alone) == 1 and alone[0] in whole, f"one of the items on page {last} of one item", alone)
    largest = node.session.target.page_size
    with judge.apart("LIST-060"):
        served = 1 if node.session.target.page_size_is_assumed else largest
        behind = -(-max(len(whole), least) // served)
        for number, asked in ((behind, largest), *((number, smaller) for number in FAR)):
            page = {**request.members, "page_number": first_page(node.session) + number, "page_size": asked}
            answer = node.session.send(replace(request, members=page))
            if was_accepted(node.session, answer, or_refused=["any"]):
                judge.same(answer.value, [], f"page {number}")


@case("long-lists", requirements=["LIST-050", "LIST-060"], needs=NEEDS)
def long_lists(judge: Judge, node: Node) -> None:
    """Lists of more than fifty items hold each item once over their pages."""
    alice = node.accounts.new().key
    for number in range(MANY):
        node.actions.add(alice, node.actions.sample_cid(str(number)))
    for number in range(KEYS):
        node.usage_keys.add(alice, name=str(number))
    for operation, least, size in (("list_actions", MANY, SMALL), ("list_api_keys", KEYS, MIDDLE)):
        check_pages(judge, node, node.session.request(operation, alice), least, size)


@case("conversion-keeps-many-usage-keys", requirements=["MODE-080"], needs=NEEDS, uses=[ANY_KEY_LISTS_KEYS])
def conversion_keeps_many_usage_keys(judge: Judge, node: Node) -> None:
    """A conversion keeps more than fifty usage keys as they were."""
    alice = node.accounts.new().key
    keys = [node.usage_keys.add(alice, name=str(number)).key for number in range(FIFTY_ONE)]
    shown = node.usage_keys.list(keys[-1])
    judge.set_up(len(shown) >= len(keys), f"a list of {len(keys)} usage keys")
    node.accounts.convert(alice, node.wallets.new("carol"))
    with judge():
        judge.same(node.usage_keys.list(keys[-1]), shown, "the usage keys after the conversion")


@case(
    "group-that-lists-much",
    requirements=["LIST-050", "LIST-060", "GRP-040", "GRP-050", "GRPLIFE-040", "GRPLIFE-050"],
    needs=NEEDS,
)
def group_that_lists_much(judge: Judge, node: Node) -> None:
    """A group is made with more than fifty wallets and ninety actions, pages all, and an update replaces all."""
    alice = node.accounts.new().key
    made = node.pkps.creations(alice, MANY)
    check_pages(judge, node, node.session.request("list_wallets", alice), MANY)
    pkps = [pkp.id for pkp in node.pkps.listed(alice, made)]
    most = node.session.profile.limits.entries_per_write
    actions = MORE_THAN_SIX_BITS if most is None else MANY
    cids = [node.actions.sample_cid(str(number)) for number in range(actions)]
    if most is None:
        group = bound(node, alice, pkps, [hashed_cid(cid) for cid in cids])
    else:
        group = node.groups.add(alice).id
        for pkp, cid in zip(pkps, cids, strict=True):
            node.groups.add_pkp(alice, group, pkp)
            node.groups.add_action(alice, group, cid)

    def held() -> tuple[int, int]:
        """How many wallets and actions the group lists."""
        return len(node.pkps.list(alice, group)), len(node.actions.list(alice, group))

    def replaced(given: int) -> tuple[int, int]:
        """Give the group as many of each, the newest first; how many they are."""
        ids, hashes = pkps[::-1][:given], [hashed_cid(cid) for cid in cids[::-1][:given]]
        node.groups.update(alice, group, pkp_ids=ids, cid_hashes=hashes)
        return len(ids), len(hashes)

    of_creation = zip(IN_GROUP, ("GRP-040", "GRP-050"), held(), (MANY, actions), strict=True)
    sent = replaced(actions if most is None else min(MANY, most // 2))
    of_update = zip(("GRPLIFE-040", "GRPLIFE-050"), held(), sent, strict=True)
    for (operation, *creation), update in zip(of_creation, of_update, strict=True):
        # Where the list has shown all of one write, it is the other write that lost something.
        shown = [write for write in (creation, update) if write[1] == write[2]]
        for requirement, listed, given in (creation, update) if shown else ():
            with judge.apart(str(requirement)):
                judge.same(listed, given, f"the number of items in {operation}")
        request, least = node.session.request(operation, alice, group_id=group), update[1] if shown else update[2]
        check_pages(judge, node, request, least, MIDDLE)
    sent = replaced(2)
    for requirement, listed, given in zip(("GRPLIFE-040", "GRPLIFE-050"), held(), sent, strict=True):
        with judge.apart(requirement):
            judge.same(listed, given, "the number of items after an update with two")


def alike_in_a_byte(ids: Sequence[GroupId]) -> list[tuple[GroupId, GroupId]]:
    """Groups with another one that a key would reach if one byte of the id counted, or if 256 were the wildcard."""
    all_groups = [(one, ids[0]) for one in ids if one % BYTE == 0]
    pairs = [(one, other) for one in ids for other in ids if one > other and one % BYTE == other % BYTE]
    return [*all_groups[:1], *pairs[:1], *((second, first) for first, second in pairs[:1])]


def more_than_a_byte_counts(judge: Judge, node: Node, key: str, hashed: HashedCid) -> list[Group]:
    """Make groups that list an action; the list of groups has all of them where a byte just counts them."""
    groups: list[Group] = []
    listed = pluck(node.groups.list(key), "id")
    for number in range(MORE_THAN_A_BYTE):
        groups.append(node.groups.add(key, str(number), cid_hashes=[hashed]))
        listed.append(groups[-1].listed_id)
        if len(listed) in AROUND_A_BYTE:
            with judge.apart("LIST-050"):
                shown = pluck(node.groups.list(key), "id")
                lost = Counter(map(printed, listed)) - Counter(map(printed, shown))
                judge.same(sorted(lost), [], f"what the list of {len(listed)} groups lacks")
                judge.same(len(shown), len(listed), "the number of groups on all pages")
    return groups


@case(
    "more-groups-than-a-byte-counts",
    requirements=[
        "GRP-190",
        "EP-250",
        "EP-290",
        "LIST-010",
        "LIST-020",
        "LIST-050",
        "LIST-060",
        "ACT-200",
        "EXEC-010",
        "EXEC-070",
        "GRPLIFE-100",
        "UKEY-110",
        "UKEY-150",
        "UKEY-190",
        "UKEY-230",
        "UKEY-270",
    ],
    needs=NEEDS,
)
def more_groups_than_a_byte_counts(judge: Judge, node: Node) -> None:
    """Of more than 255 groups each has its own id, actions and keys, and its removal leaves the others."""
    on = two_and_two(node)
    alice = on.alice
    cid, shared = (node.actions.sample_cid(name) for name in ("one", "in all"))
    node.actions.add(alice, shared)
    groups = more_than_a_byte_counts(judge, node, alice, hashed_cid(shared))
    check_pages(judge, node, node.session.request("list_groups", alice), len(groups), MIDDLE)
    made = [group.listed_id for group in groups]
    with judge.apart("LIST-010", "LIST-020"):
        judge.same([one for one in pluck(node.groups.list(alice), "id") if one in made], made, "the groups' order")
    ids = [group.id for group in groups]
    with judge("GRP-190"):
        judge.distinct(ids, "ids, one for each group")
    deletion = node.session.request("delete_action", alice, hashed_cid=hashed_cid(shared))
    with judge("EP-290"):
        answer = node.session.send(deletion)
        # How many groups may list what is deleted is silent; a server fault is none of the refusals.
        deleted = was_accepted(node.session, answer, or_refused=["any"])
    judge.set_up(deleted, f"a deletion of what {len(ids)} groups list")
    left = {ids[place]: node.actions.list(alice, ids[place]) for place in places(len(ids))}
    with judge.apart("ACT-200"):
        for group, actions in left.items():
            judge.same(actions, left[ids[0]], f"the actions of the group {group}, as of the first, after a deletion")
    before = {group: left[group] for group in (*ids[:3], ids[-1])}
    node.groups.add_action(alice, ids[-1], on.x.cid)
    node.groups.add_pkp(alice, ids[-1], on.p.id)
    last, second = (node.usage_keys.executing_in(alice, group) for group in (ids[-1], ids[1]))
    permitted = node.signing.signs(last, on.x, on.p)
    with judge.apart("EXEC-010"):
        judge.that(permitted, f"a run in the group {ids[-1]} to be permitted", "a refusal")
    if permitted:
        runs = node.signing.must_sign(last, on.x, on.p).accepted
        with judge.apart("EXEC-070"):
            node.signing.must_be_refused(second, on.x, on.p, control=runs)
    node.groups.add_action(alice, ids[-1], cid)
    with judge.apart("EP-250"):
        for group, actions in before.items():
            more = 2 * int(group == ids[-1])
            now = node.actions.list(alice, group)
            judge.same(now[: len(actions)], actions, f"the actions of the group {group}, as before")
            judge.same(len(now), len(actions) + more, f"the number of actions in the group {group}")
    for name in ("two", "three"):
        node.groups.add_action(alice, ids[-1], node.actions.sample_cid(name))
    request = node.session.request("list_actions", alice, group_id=ids[-1])
    with judge.apart("LIST-050"):
        judge.same(
            read_pages(node.session, request, 2), read_pages(node.session, request), "the actions on pages of two"
        )
    check_pages(judge, node, request, 4)
    for named, other in alike_in_a_byte(ids):
        for requirement, trial in beyond_its_group(node, on, named, other).items():
            with judge.apart(requirement):
                trial()
    all_groups = node.groups.list(alice)
    node.groups.remove(alice, ids[-1])
    with judge.apart("GRPLIFE-100"):
        judge.same(node.groups.list(alice), all_groups[:-1], "the groups that are left")
