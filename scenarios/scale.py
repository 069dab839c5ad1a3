"""Accounts that hold much: long lists over their pages, long arrays, ids of three digits.

Specification, "Endpoints" (`page_number`, `page_size`). How long they are stands in `conformance/service/sizes.py`.
This costs some 600 requests that write.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from conformance.cases import Judge, case
from conformance.endpoints.extent import every_other
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import Departure
from conformance.profile.operations import GROUP_LISTS
from conformance.profile.operations import PERMISSION_ARRAYS as ARRAYS
from conformance.service import sizes
from conformance.service.acceptance import Accepted
from conformance.service.bindings import TwoAndTwo, bound, two_and_two
from conformance.service.derivations import hashed_cid
from conformance.service.groups import ALL_PKPS, Group
from conformance.service.lists import IN_GROUP, first_page, page_or_none, read_page, read_pages
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.reach import beyond_its_group
from conformance.service.refusal import was_accepted
from conformance.service.session import DESCRIPTION
from conformance.service.sizes import BYTE, NUMBERS, SIZES, few_places, places, places_behind
from conformance.service.usage_keys import NO_PERMISSIONS, Permissions
from conformance.values.ids import Cid, GroupId, UsageKey
from conformance.values.json_values import MISSING, member, pluck, printed, same_hex

NEEDS = ("managed_accounts",)
COUNTED = (BYTE - 1, BYTE, BYTE + 1, sizes.LARGEST)
"""So many groups are counted before further ones are made."""
LISTS_OF_A_GROUP = ("list_wallets_in_group", "list_actions of a group")
ANY_KEY_LISTS_KEYS = "auth.usage_key_permission.list_api_keys"


def check_pages(judge: Judge, node: Node, request: OutgoingRequest, least: int) -> None:
    """Read a list of at least so many items in pages of three sizes, and pages behind its end."""
    name = request.operation.name
    if "group_id" in request.members and name == "list_actions":
        name += " of a group"
    smaller = min(SIZES[name].page, node.session.target.page_size)
    whole = read_pages(node.session, request)
    node.session.note_tried(name, len(whole))
    node.session.note_tried("page_size", 1, smaller, node.session.target.page_size)
    among: Sequence[object] | None = None  # a list may stand in another order on pages of another size
    with judge.apart("LIST-050"):
        judge.that(
            len(whole) >= least,
            f"at least {least} items of {request.operation.name}, read in pages of {node.session.target.page_size}",
            f"{len(whole)} items",
        )
        paged = read_pages(node.session, request, smaller)
        among = None if paged == whole else whole
        judge.that(
            Counter(map(printed, paged)) == Counter(map(printed, whole)), "the same items on smaller pages", paged
        )
    last = max(len(whole) - 1, 0)
    with judge.apart("LIST-050"):
        alone = read_page(node.session, request, last, 1)
        judge.that(len(alone) == 1 and alone[0] in whole, f"one of the items on page {last} of one item", alone)
    default = node.session.profile.limits.page_size_default
    if default is not None and len(whole) > default:
        with judge.apart("LIST-050"):
            second = page_or_none(node.session, request, 1, None)
            must_be_page(judge, second, whole[default : 2 * default], "the second page of the default size", among)
    largest = node.session.target.page_size
    limits = node.session.profile.limits
    is_stated = limits.page_size_max is not None and not node.session.target.page_size_is_assumed
    if is_stated and limits.page_size_above_max == "capped" and len(whole) > largest:
        with judge.apart("LIST-050", why="a size above the largest counts as the largest"):
            second = page_or_none(node.session, request, 1, largest + 1)
            must_be_page(judge, second, whole[largest : 2 * largest], f"the second page of {largest + 1} items", among)
    with judge.apart("LIST-060"):
        served = 1 if node.session.target.page_size_is_assumed else largest
        behind = -(-max(len(whole), least) // served)
        # Half of the numbers that are far behind the end go to each list.
        far = every_other(NUMBERS["page_number"], [*SIZES].index(name))
        for number, asked in ((behind, largest), *((number, smaller) for number in far)):
            page = {**request.members, "page_number": first_page(node.session) + number, "page_size": asked}
            answer = node.session.send(replace(request, members=page))
            if was_accepted(node.session, answer, or_refused=["any"]):
                judge.same(answer.value, [], f"page {number}")


def must_be_page(
    judge: Judge, page: object, items: Sequence[object], what: str, among: Sequence[object] | None
) -> None:
    """Raise a departure unless a page holds these items, or as many of those `among` which others may stand here."""
    if among is None:
        judge.same(page, items, what)
    else:
        found = page if isinstance(page, list) else []
        is_page = len(found) == len(items) and all(item in among for item in found)
        judge.that(is_page, f"{what} to be {len(items)} items of the list", page)


@case("long-lists", requirements=["LIST-050", "LIST-060"], needs=NEEDS)
def long_lists(judge: Judge, node: Node) -> None:
    """The list of an account's many actions holds each once over its pages."""
    alice, count = node.accounts.new().key, sizes.of(node.session, "list_actions")
    for number in range(count):
        node.actions.add(alice, node.actions.sample_cid(str(number)))
    check_pages(judge, node, node.session.request("list_actions", alice), count)


@case(
    "many-usage-keys",
    requirements=["LIST-050", "LIST-060", "GRPLIFE-110", "GRPLIFE-130", "MODE-080"],
    needs=NEEDS,
)
def many_usage_keys(judge: Judge, node: Node) -> None:
    """Many usage keys are listed once each, all lose a group that is removed, and all are kept by a conversion."""
    on, count = two_and_two(node), sizes.of(node.session, "list_api_keys")
    g, h = bound(node, on.alice, [on.p], [on.x]), bound(node, on.alice, [on.q], [on.y])
    both = Permissions(execute_in_groups=[g, h])
    keys = [node.usage_keys.add(on.alice, both, str(number)).key for number in range(count)]
    check_pages(judge, node, node.session.request("list_api_keys", on.alice), count)
    node.groups.remove(on.alice, h)
    bound(node, on.alice, [on.q], [on.y])
    with judge("GRPLIFE-130"):
        runs = node.signing.must_sign(keys[-1], on.x, on.p).accepted
    for place in places_behind(count):
        with judge.apart("GRPLIFE-110", why=f"usage key {place + 1} of {count} named a group that was removed"):
            node.signing.must_be_refused(keys[place], on.y, on.q, control=runs)
    node.session.note_tried("usage keys of a removed group", count)
    listed = node.session.target.profile_value(ANY_KEY_LISTS_KEYS) == "any_key"
    shown = node.usage_keys.list(keys[-1]) if listed else []
    node.accounts.convert(on.alice, node.wallets.new("carol"))
    for place in places_behind(count):
        with judge.apart("MODE-080", why=f"usage key {place + 1} of {count} stays attached"):
            node.signing.must_sign(keys[place], on.x, on.p)
    if listed:
        with judge.apart("MODE-080"):
            judge.same(node.usage_keys.list(keys[-1]), shown, "the usage keys after the conversion")
    node.session.note_tried("usage keys of a converted account", count)


@case(
    "group-that-lists-much",
    requirements=["LIST-050", "LIST-060", "GRP-040", "GRP-050", "GRP-070", "GRPLIFE-040", "GRPLIFE-050"],
    needs=NEEDS,
)
def group_that_lists_much(judge: Judge, node: Node) -> None:
    """A group lists many wallets and actions, permits and pages all, and an update replaces all."""
    on, tenth = two_and_two(node), node.actions.prepared(mark="tenth")
    wallets, actions = (sizes.of(node.session, name) for name in LISTS_OF_A_GROUP)
    made = node.pkps.creations(on.alice, max(wallets, sizes.of(node.session, "list_wallets")) - 2)
    check_pages(judge, node, node.session.request("list_wallets", on.alice), len(made) + 2)
    pkps = [on.q, *node.pkps.listed(on.alice, made)[: wallets - 2], on.p]
    cids = [node.actions.sample_cid(str(number)) for number in range(actions)]
    cids[0], cids[9], cids[-1] = on.y.cid, tenth.cid, on.x.cid
    group = filled(node, on.alice, pkps, cids)
    key = node.usage_keys.executing_in(on.alice, group)
    for place in places(len(pkps)):
        with judge.apart("GRP-040", why=f"the group lists the wallet, {place + 1} of {len(pkps)}"):
            node.signing.must_sign(key, on.y, pkps[place])
    for number, action in ((10, tenth), (len(cids), on.x)):
        with judge.apart("GRP-050", why=f"the group lists the action, {number} of {len(cids)}"):
            node.signing.must_sign(key, action, on.q)
    in_all = node.usage_keys.executing_in(on.alice, bound(node, on.alice, [ALL_PKPS], [on.y]))
    with judge.apart("GRP-070", why=f"the group permits all wallets, also the newest of {len(made) + 2}"):
        node.signing.must_sign(in_all, on.y, pkps[-2])
    judge_replaced(judge, node, on.alice, group, pkps, cids)


def filled(node: Node, owner: str, pkps: Sequence[Pkp], cids: Sequence[Cid]) -> GroupId:
    """A new group that lists these, as many as a write may name from its beginning."""
    first = in_one_write(node, "add_group", pkps, cids)
    group = bound(node, owner, pkps[: first[0]], [hashed_cid(cid) for cid in cids[: first[1]]])
    for pkp in pkps[first[0] :]:
        node.groups.add_pkp(owner, group, pkp.id)
    for cid in cids[first[1] :]:
        node.groups.add_action(owner, group, cid)
    for name, items in zip(LISTS_OF_A_GROUP, (pkps, cids), strict=True):
        node.session.note_tried(name, len(items))
    return group


def in_one_write(node: Node, operation: str, pkps: Sequence[Pkp], cids: Sequence[Cid]) -> tuple[int, int]:
    """How many of these wallets and actions one write names."""
    most, counts = node.session.profile.limits.entries_per_write, []
    for name, items in zip(GROUP_LISTS, (pkps, cids), strict=True):
        array = f"{operation}.{name}"
        counts.append(min(len(items), sizes.of(node.session, array), len(items) if most is None else most // 2))
        node.session.note_tried(array, counts[-1])
    return counts[0], counts[1]


def judge_replaced(
    judge: Judge, node: Node, alice: str, group: GroupId, pkps: Sequence[Pkp], cids: Sequence[Cid]
) -> None:
    """Judge the lists of a group that lists all of these, and again after updates with many of them, and with two."""

    def held() -> tuple[int, int]:
        """How many wallets and actions the group lists."""
        return len(node.pkps.list(alice, group)), len(node.actions.list(alice, group))

    def replaced(wallets: int, actions: int) -> tuple[int, int]:
        """Give the group so many of each, the newest first; how many they are."""
        ids, hashes = [pkp.id for pkp in pkps[::-1][:wallets]], [hashed_cid(cid) for cid in cids[::-1][:actions]]
        node.groups.update(alice, group, pkp_ids=ids, cid_hashes=hashes)
        return len(ids), len(hashes)

    of_creation = zip(IN_GROUP, ("GRP-040", "GRP-050"), held(), (len(pkps), len(cids)), strict=True)
    sent = replaced(*in_one_write(node, "update_group", pkps, cids))
    of_update = zip(("GRPLIFE-040", "GRPLIFE-050"), held(), sent, strict=True)
    for (operation, *creation), update in zip(of_creation, of_update, strict=True):
        # Where the list has shown all of one write, it is the other write that lost something.
        shown = [write for write in (creation, update) if write[1] == write[2]]
        for requirement, listed, given in (creation, update) if shown else ():
            with judge.apart(str(requirement)):
                judge.same(listed, given, f"the number of items in {operation}")
        request, least = node.session.request(operation, alice, group_id=group), update[1] if shown else update[2]
        check_pages(judge, node, request, least)
    sent = replaced(2, 2)
    for requirement, listed, given in zip(("GRPLIFE-040", "GRPLIFE-050"), held(), sent, strict=True):
        with judge.apart(requirement):
            judge.same(listed, given, "the number of items after an update with two")


def alike_in_a_byte(ids: Sequence[GroupId]) -> list[tuple[GroupId, GroupId]]:
    """Groups with another one that a key would reach if one byte of the id counted, or if 256 were the wildcard."""
    all_groups = [(one, ids[0]) for one in ids if one % BYTE == 0]
    pairs = [(one, other) for one in ids for other in ids if one > other and one % BYTE == other % BYTE]
    return [*all_groups[:1], *pairs[:1], *((second, first) for first, second in pairs[:1])] or [(ids[-1], ids[0])]


def many_groups(judge: Judge, node: Node, on: TwoAndTwo) -> list[Group]:
    """Make groups that list Q, X and Y; the list of groups has all of them where a byte just counts them."""
    groups: list[Group] = []
    listed = pluck(node.groups.list(on.alice), "id")
    for number in range(sizes.of(node.session, "list_groups")):
        hashes = [on.x.hash, on.y.hash]
        groups.append(node.groups.add(on.alice, str(number), pkp_ids=[on.q.id], cid_hashes=hashes))
        listed.append(groups[-1].listed_id)
        if len(listed) in COUNTED:
            with judge.apart("LIST-050"):
                shown = pluck(node.groups.list(on.alice), "id")
                lost = Counter(map(printed, listed)) - Counter(map(printed, shown))
                judge.same(sorted(lost), [], f"what the list of {len(listed)} groups lacks")
                judge.same(len(shown), len(listed), "the number of groups on all pages")
    return groups


def keys_naming(judge: Judge, node: Node, alice: str, ids: Sequence[GroupId]) -> Mapping[str, UsageKey]:
    """For each array a key that names all these groups in it, at first and by an update; none where one is refused."""
    keys: dict[str, UsageKey] = {}
    for array in ARRAYS:
        fields = NO_PERMISSIONS.but({array: ids}).members
        labels = {"name": f"{node.label} {array}", "description": DESCRIPTION}
        with judge("UKEY-290"):
            answer = node.session.send(node.session.request("add_usage_api_key", alice, **labels, **fields))
            # How many groups an array may name is silent.
            if was_accepted(node.session, answer, or_refused=["any"]):
                keys[array] = node.usage_keys.value_in(answer)
                node.session.note_tried(f"add_usage_api_key.{array}", len(ids))
    must_show_all(judge, node, alice, keys, ids, "UKEY-290")
    with judge("KEYLIFE-020"):
        for array, key in keys.items():
            fields = NO_PERMISSIONS.but({array: [ids[-1], *ids[:-1]]}).members
            labels = {"name": f"{node.label} {array}", "description": DESCRIPTION}
            answer = node.session.send(
                node.session.request("update_usage_api_key", alice, usage_api_key=key, **labels, **fields)
            )
            if was_accepted(node.session, answer, or_refused=["any"]):
                node.session.note_tried(f"update_usage_api_key.{array}", len(ids))
    must_show_all(judge, node, alice, keys, ids, "KEYLIFE-020")
    return keys if len(keys) == len(ARRAYS) else {}


def must_show_all(
    judge: Judge, node: Node, alice: str, arrays: Iterable[str], ids: Sequence[GroupId], requirement: str
) -> None:
    """The list of usage keys shows all these groups in the array of each key, which is named by it."""
    listed = node.usage_keys.list(alice)
    for array in arrays:
        items = [item for item in listed if member(item, "name") == f"{node.label} {array}"]
        held = member(items[0], array) if items else MISSING
        with judge.apart(requirement):
            if held is not MISSING:
                shown = set(map(str, held)) if isinstance(held, list) else set()
                judge.same(sorted(set(map(str, ids)) - shown), [], f"the groups that {array} lacks in the list")


def act_in(node: Node, on: TwoAndTwo, keys: Mapping[str, UsageKey], group: GroupId, cid: Cid) -> None:
    """Let each key do in a group what its array opens. P is in no group before and after."""
    manage, add, remove, execute = (keys[array] for array in ARRAYS)
    node.groups.add_action(manage, group, cid)
    node.groups.add_pkp(add, group, on.p.id)
    try:
        node.signing.must_sign(execute, on.x, on.p)
        node.groups.remove_pkp(remove, group, on.p.id)
    except Departure:
        node.groups.remove_pkp(on.alice, group, on.p.id)
        raise


@case(
    "more-groups-than-a-byte-counts",
    requirements=[
        "GRP-190",
        "EP-250",
        "EP-290",
        "EP-360",
        "LIST-010",
        "LIST-020",
        "LIST-050",
        "LIST-060",
        "ACT-200",
        "EXEC-010",
        "EXEC-020",
        "EXEC-070",
        "GRPLIFE-100",
        "GRPLIFE-130",
        "KEYLIFE-020",
        "UKEY-100",
        "UKEY-110",
        "UKEY-150",
        "UKEY-190",
        "UKEY-230",
        "UKEY-270",
        "UKEY-280",
        "UKEY-290",
    ],
    needs=NEEDS,
)
def more_groups_than_a_byte_counts(judge: Judge, node: Node) -> None:
    """Of many groups, more than 255, each has its own id, lists and keys, and the removal of one leaves the others."""
    on = two_and_two(node)
    alice = on.alice
    node.actions.add(alice, on.y.cid)
    groups = many_groups(judge, node, on)
    check_pages(judge, node, node.session.request("list_groups", alice), len(groups))
    made = [group.listed_id for group in groups]
    with judge.apart("LIST-010", "LIST-020"):
        judge.same([one for one in pluck(node.groups.list(alice), "id") if one in made], made, "the groups' order")
    ids = [group.id for group in groups]
    with judge("GRP-190"):
        judge.distinct(ids, "ids, one for each group")
    permissions = Permissions(execute_in_groups=[ids[-1]], manage_ipfs_ids_in_groups=[ids[-1]])
    last = node.usage_keys.add(alice, permissions).key
    with judge.apart("EXEC-010", why=f"Q and Y are in {len(ids)} groups, and the key names the last"):
        node.signing.must_sign(last, on.y, on.q)
    node.session.note_tried("groups of a wallet", len(ids))
    keys = keys_naming(judge, node, alice, ids)
    acted: list[int] = []
    for place in few_places(len(ids)) if keys else ():
        with judge.apart("UKEY-290", why=f"an array of the key names the group, {place + 1} of {len(ids)}"):
            act_in(node, on, keys, ids[place], node.actions.sample_cid("added"))
            acted.append(place)
    # An id that is the beginning of others, or their remainder, names one group all the same.
    if 0 in acted or not keys:
        with judge.apart("EP-250"):
            listed = len(node.actions.list(alice, ids[0]))
            judge.same(listed, 3 if keys else 2, "the number of actions in the first group")
    deletion_leaves_all_alike(judge, node, on, ids)
    last_group_counts(judge, node, on, ids, last)
    tenth_group_goes(judge, node, on, groups, keys if len(acted) == len(few_places(len(ids))) else {})
    del ids[9]
    for named, other in alike_in_a_byte(ids):
        for requirement, trial in beyond_its_group(node, on, named, other).items():
            with judge.apart(requirement):
                trial()


def deletion_leaves_all_alike(judge: Judge, node: Node, on: TwoAndTwo, ids: Sequence[GroupId]) -> None:
    """Delete Y, which all groups list: it goes from all of them, or stays in all. It joins the last one again."""
    deletion = node.session.request("delete_action", on.alice, hashed_cid=on.y.hash)
    with judge("EP-290"):
        answer = node.session.send(deletion)
        # How many groups may list what is deleted is silent; a server fault is none of the refusals.
        deleted = was_accepted(node.session, answer, or_refused=["any"])
    judge.set_up(deleted, f"a deletion of what {len(ids)} groups list")

    def lists_y(group: GroupId) -> bool:
        return any(same_hex(one, on.y.hash) for one in pluck(node.actions.list(on.alice, group), "hashed_cid"))

    node.session.note_tried("groups of a deleted action", len(ids))
    with judge.apart("ACT-200"):
        stays = lists_y(ids[0])
        for place in places_behind(len(ids))[1:]:
            judge.same(lists_y(ids[place]), stays, f"whether the group {ids[place]} lists what the first one does")
    with judge.apart("EP-360", why=f"an action that was deleted joins the last of {len(ids)} groups again"):
        if lists_y(ids[-1]):
            node.groups.remove_action(on.alice, ids[-1], on.y.hash)
        node.groups.add_action(on.alice, ids[-1], on.y.cid)
        judge.that(lists_y(ids[-1]), "the action in the list of the group", "others alone")


def last_group_counts(judge: Judge, node: Node, on: TwoAndTwo, ids: Sequence[GroupId], last: UsageKey) -> None:
    """P in the last group alone is permitted to keys of that group; what is added to it goes into no other one."""
    alice, group = on.alice, ids[-1]
    before = {one: node.actions.list(alice, one) for one in (*ids[:3], group)}
    node.groups.add_pkp(alice, group, on.p.id)
    in_all, second = (node.usage_keys.executing_in(alice, one) for one in (0, ids[1]))
    runs: list[Accepted] = []
    for key, requirement in ((last, "EXEC-010"), (alice, "EXEC-020"), (in_all, "UKEY-280")):
        with judge.apart(requirement, why=f"X and P are in the group {group}, the last of {len(ids)}"):
            runs.append(node.signing.must_sign(key, on.x, on.p).accepted)
    if runs:
        with judge.apart("EXEC-070"):
            node.signing.must_be_refused(second, on.x, on.p, control=runs[0])
    node.groups.add_action(alice, group, node.actions.sample_cid("two"))
    added = 1
    with judge.apart("UKEY-100", why=f"the key may manage the group {group}, the last of {len(ids)}"):
        node.groups.add_action(last, group, node.actions.sample_cid("three"))
        added += 1
    with judge.apart("EP-250"):
        for one, actions in before.items():
            more = added if one == group else 0
            now = node.actions.list(alice, one)
            kept = [action for action in now if action in actions]  # a list may have its newest items first
            judge.same(kept, actions, f"the actions of the group {one}, as before")
            judge.same(len(now), len(actions) + more, f"the number of actions in the group {one}")
    request = node.session.request("list_actions", alice, group_id=group)
    with judge.apart("LIST-050"):
        judge.same(
            read_pages(node.session, request, 2), read_pages(node.session, request), "the actions on pages of two"
        )
    check_pages(judge, node, request, len(before[group]) + added)
    node.groups.remove_pkp(alice, group, on.p.id)


def tenth_group_goes(
    judge: Judge, node: Node, on: TwoAndTwo, groups: Sequence[Group], keys: Mapping[str, UsageKey]
) -> None:
    """The removal of the tenth group leaves the others, and the keys that named all of them act in these."""
    before = node.groups.list(on.alice)
    node.groups.remove(on.alice, groups[9].id)
    with judge.apart("GRPLIFE-100"):
        left = [item for item in before if member(item, "id") != groups[9].listed_id]
        judge.same(node.groups.list(on.alice), left, "the groups that are left")
    for place in sorted({0, 10, len(groups) - 1}):
        with judge.apart("GRPLIFE-130", why=f"the keys name the group, {place + 1} of {len(groups)}, before and after"):
            if keys:
                act_in(node, on, keys, groups[place].id, node.actions.sample_cid("added later"))
