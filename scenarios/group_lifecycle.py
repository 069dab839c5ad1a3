"""Life of a group ("States and transitions / Group": none, exists, deleted).

The id of a new group is learnt from `list_groups`, where the newest is last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from conformance.cases import Judge, case
from conformance.endpoints.extent import every_other
from conformance.endpoints.requests import OutgoingRequest
from conformance.service.acceptance import Accepted, must_accept
from conformance.service.at_once import send_at_once
from conformance.service.bindings import bound
from conformance.service.derivations import account_hash, hashed_cid
from conformance.service.groups import group_id
from conformance.service.lists import IN_GROUP, only, read_list, read_pages, unchanged_list
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.reads import Read
from conformance.service.refusal import Refusals, was_accepted
from conformance.service.session import DESCRIPTION
from conformance.service.sizes import NUMBERS
from conformance.service.usage_keys import Permissions
from conformance.values.ids import Cid, GroupId, HashedCid
from conformance.values.json_text import written
from conformance.values.json_values import member, pluck, printed, same

NEEDS = ("managed_accounts",)
LABELS = ("name", "description")
NOTHING: Mapping[str, object] = {"pkp_ids_permitted": [], "cid_hashes_permitted": []}
GROUP_FIELDS = "wire.list_groups.item_fields"
WALLET_IDS = "wire.list_items.fields.wallet.id"


@case("creation-lists-one-more", requirements=["GRPLIFE-010"], needs=NEEDS)
def creation_lists_one_more(judge: Judge, node: Node) -> None:
    """add_group adds one group with a new id, and nothing else changes."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    node.groups.add(alice, "g")
    before, of_bob = node.groups.list(alice), node.groups.list(bob)
    node.session.accept(node.groups.creation(alice, "h"))
    with judge():
        ids = pluck(node.groups.list(alice), "id")
        judge.same(len(ids), len(before) + 1, "the number of groups after one add_group more")
        judge.distinct(ids, "ids of groups")
        judge.same(node.groups.list(bob), of_bob, "the groups of another account")


def labelled(node: Node, alice: str, group: GroupId, name: str, description: str) -> OutgoingRequest:
    """An update of a group's labels, which empties its lists."""
    labels = {"name": name, "description": description}
    return node.session.request("update_group", alice, group_id=group, **labels, **NOTHING)


def update_replaces(judge: Judge, node: Node, label: str, *, to_nothing: bool = False) -> None:
    """update_group replaces this label alone, of one of two groups; where asked, also by an empty text."""
    alice = node.accounts.new().key
    first, second, other = (f"{node.label} {text}" for text in ("ένα, 一", "zwölf, δύο, 二", "two"))
    labels = [{f"group_{name}": text for name in LABELS} for text in (first, other)]
    groups = [node.session.accept(node.groups.creation(alice).changed(**texts))[0] for texts in labels]
    listed = node.groups.list(alice)[-len(groups) :]
    judge.set_up(pluck(listed, label) == [first, other], f"a list with the {label}s of both groups")
    g, other_id = (member(item, "id") for item in listed)

    def must_be_listed(text: str) -> None:
        groups = node.groups.list(alice)
        judge.members(only(groups, "id", g), {label: text}, "the updated group")
        judge.members(only(groups, "id", other_id), {label: other}, "the other group")

    def update(text: str) -> OutgoingRequest:
        return labelled(node, alice, group_id(g), **{**dict.fromkeys(LABELS, first), label: text})

    node.session.accept(update(second))
    with judge():
        must_be_listed(second)
        if to_nothing:
            answer = node.session.send(update(""))
            must_be_listed("" if was_accepted(node.session, answer, or_refused=["malformed", "invalid"]) else second)


@case("update-replaces-the-name", requirements=["GRPLIFE-020"], needs=NEEDS, uses=[f"{GROUP_FIELDS}.name"])
def update_replaces_the_name(judge: Judge, node: Node) -> None:
    """update_group replaces the name, of that group only."""
    update_replaces(judge, node, "name")


@case(
    "update-replaces-the-description", requirements=["GRPLIFE-030"], needs=NEEDS, uses=[f"{GROUP_FIELDS}.description"]
)
def update_replaces_the_description(judge: Judge, node: Node) -> None:
    """update_group replaces the description, of that group only, and an empty one is refused or taken."""
    update_replaces(judge, node, "description", to_nothing=True)


@case(
    "contract-follows-the-group",
    requirements=["GRPLIFE-010", "GRPLIFE-020", "GRPLIFE-030", "GRPLIFE-100"],
    needs=[*NEEDS, "chain_rpc"],
)
def contract_follows_the_group(judge: Judge, node: Node) -> None:
    """The contract holds the updated name and description, and no group that was removed."""
    alice = node.accounts.new().key
    own = account_hash(alice, node.session.profile)
    g, h = (node.groups.add(alice, name).id for name in ("one", "two"))
    with judge("GRPLIFE-010"):
        made = node.contract.items("list_groups", own)
        for group in (g, h):
            only(made, "id", group)
    labels = {"name": f"{node.label} one", "description": DESCRIPTION}
    judge.set_up(labels.items() <= as_object(only(made, "id", g)).items(), "the group in the contract as it was made")
    renamed = {name: f"{node.label} another {name}" for name in LABELS}
    with judge("GRPLIFE-020", "GRPLIFE-030"):
        node.session.accept(labelled(node, alice, g, **renamed))
    with judge("GRPLIFE-100"):
        node.groups.remove(alice, h)
        left = node.contract.items("list_groups", own)
        judge.that(h not in pluck(left, "id"), "a contract without the removed group", left)
    for name, about in (("name", "GRPLIFE-020"), ("description", "GRPLIFE-030")):
        with judge.apart(about, why="the contract holds what the update gave"):
            judge.members(only(left, "id", g), {name: renamed[name]}, "the group in the contract")


@case("removal-takes-the-group-away", requirements=["GRPLIFE-100", "GRPLIFE-180", "GRPLIFE-190"], needs=NEEDS)
def removal_takes_the_group_away(judge: Judge, node: Node) -> None:
    """A removed group is on no page any more and the others remain as they are; its id may be quoted or a number."""
    alice = node.accounts.new().key
    for number in range(6):
        node.groups.add(alice, str(number))
    groups = node.groups.list(alice)
    judge.set_up(len(groups) >= 6, "a list with six groups")
    by_hand = node.session.request("remove_group", alice)
    wire = next(iter(node.session.target.operation("remove_group").request.values()))
    *_, quoted, kept, named, second, as_number, last = pluck(groups, "id")

    def left(most: int, *others: object, page_size: int | None = None) -> list[object]:
        listed = read_pages(node.session, node.session.request("list_groups", alice), page_size)
        gone = [group for group in groups if group not in listed and member(group, "id") in others]
        judge.that(len(listed) <= most and not gone, f"at most {most} groups, the others as before", listed)
        return listed

    with judge("GRPLIFE-190"):
        node.session.accept(replace(by_hand, body=written({wire: group_id(as_number)})))
        after_number = left(len(groups))
    by_number = len(groups) - len(after_number)
    with judge("GRPLIFE-180"):
        node.session.accept(replace(by_hand, body=written({wire: printed(quoted)})))
    # That it is this group which is gone, and no other, is for the next removal: it sends the id in quotes, too.
    with judge("GRPLIFE-180" if by_number else "GRPLIFE-100", why="remove_group takes a group away"):
        there = left(len(groups) - by_number - 1)
    with judge("GRPLIFE-190"):
        judge.same(by_number, 1, "the number of groups that a removal by a number takes away")
    node.groups.remove(alice, group_id(named))
    others = [one for one in (kept, second, last) if one in pluck(there, "id")]
    for size in (1, None):
        with judge("GRPLIFE-100", why="remove_group takes away the group that it names, and no other"):
            rest = left(len(there) - 1, *others, page_size=size)
            judge.same(len(rest), len(there) - 1, "the groups left")
    with judge("GRPLIFE-190"):
        gone = [one for one in groups if one not in after_number]
        judge.same(pluck(gone, "id"), [as_number], "the groups that a removal by a number took away")


@case("removal-removes-nothing-else", requirements=["GRPLIFE-140"], needs=NEEDS)
def removal_removes_nothing_else(judge: Judge, node: Node) -> None:
    """Removing a group, and a second one, removes no wallet, no action's metadata and no usage key of the account."""
    alice = node.accounts.new().key
    p, x = node.pkps.create(alice), node.actions.sample_cid("x")
    node.actions.add(alice, x)
    g = bound(node, alice, [p], [hashed_cid(x)])
    node.usage_keys.add(alice, Permissions(False, False, False, [g], [g], [g], [g]), "of the group")
    of_all = node.usage_keys.add(alice, Permissions(True, False, False, [0], [], [], [0]), "of all").key
    wallets, actions, keys = node.pkps.list(alice), node.actions.list(alice), node.usage_keys.list(alice)
    judge.set_up(len(actions) == 1, "a list with the one action")

    def removes_alone(group: GroupId) -> None:
        node.groups.remove(alice, group)
        with judge(why="remove_group removes no wallet, no action and no metadata of the account"):
            judge.same(node.pkps.list(alice), wallets, "the account's wallets")
            judge.same(node.actions.list(alice), actions, "the account's actions")

    removes_alone(g)
    removes_alone(bound(node, alice, [p], [hashed_cid(x)]))
    with judge(why="remove_group removes no usage key"):
        # The key that named the group may be listed without it now; the other one is listed as before, and works.
        left = node.usage_keys.list(alice)
        for label in LABELS:
            judge.same(pluck(left, label), pluck(keys, label), f"the {label}s of the usage keys")
        alike = [one for one in left if any(same(one, before) for before in keys)]
        judge.that(len(alike) >= len(keys) - 1, "the keys that did not name the group as before", left)
        node.session.accept(node.groups.creation(of_all))


@case("listed-id-goes-back-verbatim", requirements=["GRPLIFE-190"], needs=NEEDS, uses=[WALLET_IDS])
def listed_id_goes_back_verbatim(judge: Judge, node: Node) -> None:
    """Every other group operation takes the id in the form in which list_groups shows it."""
    on = two_equal_groups(node)
    node.actions.add(on.alice, on.y)
    g = member(member(node.groups.list(on.alice), "-1"), "id")
    group_id(g)  # it is one
    calls: list[tuple[str, dict[str, object]]] = [
        ("add_pkp_to_group", {"pkp_id": on.q.id}),
        ("remove_pkp_from_group", {"pkp_id": on.p.id}),
        ("add_action_to_group", {"action_ipfs_cid": on.y}),
        ("remove_action_from_group", {"hashed_cid": hashed_cid(on.x)}),
    ]
    with judge():
        for name, members in calls:
            node.session.call(name, on.alice, group_id=g, **members)
        wallets, actions = (read_list(node.session, name, on.alice, group_id=g) for name in IN_GROUP)
        judge.same_hexes(pluck(wallets, "id"), [on.q.id], "the wallets of the group")
        judge.same_hexes(pluck(actions, "hashed_cid"), [hashed_cid(on.y)], "the actions of the group")
        labels = {"name": node.label, "description": DESCRIPTION}
        node.session.call("update_group", on.alice, group_id=g, **labels, **NOTHING)
        judge.same(read_list(node.session, IN_GROUP[0], on.alice, group_id=g), [], "the wallets of the group")


# ----------------------------------------------------------------------------------------------------- at the same time


@case("updates-under-way-revive-nothing", requirements=["GRPLIFE-150"], needs=NEEDS)
def updates_under_way_revive_nothing(judge: Judge, node: Node) -> None:
    """A group that is removed while updates and additions are under way is gone for good."""
    alice = node.accounts.new().key
    node.groups.add(alice, "kept")
    kept = node.groups.list(alice)
    g = node.groups.add(alice).id
    update = labelled(node, alice, g, node.label, "again")
    addition = node.session.request(
        "add_action_to_group", alice, group_id=g, action_ipfs_cid=node.actions.sample_cid("x")
    )
    removal = node.session.request("remove_group", alice, group_id=g)
    removed, *others = send_at_once(node.session, [removal, update, addition, update])
    must_accept(removed)
    with judge():
        for answer in others:
            was_accepted(node.session, answer, or_refused=["any"])  # with which class: `removal-takes-the-group-away`
        judge.same(node.groups.list(alice), kept, "the groups without the removed one")


# ------------------------------------------------------------------------------------------------ updates in their turn


def as_object(value: object) -> dict[str, object]:
    """An item of a list, if it is an object."""
    return value if isinstance(value, dict) else {}


@case("update-keeps-id-and-place", requirements=["GRPLIFE-090"], needs=NEEDS)
def update_keeps_id_and_place(judge: Judge, node: Node) -> None:
    """update_group keeps the group's id and place, and leaves every other group as it was."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    x, y = (hashed_cid(node.actions.sample_cid(name)) for name in "xy")
    g, h, i = (bound(node, alice, [pkp], [action]) for pkp, action in ((p, x), (p, x), (q, y)))

    def others_lists() -> list[object]:
        return [[node.pkps.list(alice, group), node.actions.list(alice, group)] for group in (g, i)]

    groups, lists = node.groups.list(alice), others_lists()
    place = len(groups) - 2  # the newest is the last; an account may begin with groups of its own
    node.groups.update(alice, h, "renamed", pkp_ids=[q.id], cid_hashes=[])
    with judge():
        after = node.groups.list(alice)
        judge.same(pluck(after, "id"), pluck(groups, "id"), "the groups' ids in their order")
        others = [items[:place] + items[place + 1 :] for items in (after, groups)]
        judge.same(others[0], others[1], "the items of the other groups")
        judge.same(others_lists(), lists, "the wallets and actions of the other groups")


@case(
    "update-replaces-the-lists",
    requirements=["GRPLIFE-040", "GRPLIFE-050", "GRPLIFE-060", "GRPLIFE-080"],
    needs=NEEDS,
    uses=[WALLET_IDS],
)
def update_replaces_the_lists(judge: Judge, node: Node) -> None:
    """update_group replaces the permitted wallets and actions, those that were added one by one as well."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    x, y = (node.actions.sample_cid(name) for name in "xy")
    hash_of_x, hash_of_y = hashed_cid(x), hashed_cid(y)
    g = bound(node, alice, [p], [hash_of_x])

    def judge_update(wallets: Sequence[Pkp], of_wallets: str, actions: Sequence[HashedCid], of_actions: str) -> None:
        ids = [one.id for one in wallets]
        with judge(*of_wallets.split(), *of_actions.split()):
            node.groups.update(alice, g, pkp_ids=ids, cid_hashes=actions)
        listed = pluck(node.pkps.list(alice, g), "id")
        with judge.apart(*of_wallets.split()):
            judge.same_hexes(listed, ids, "the wallets that the last update_group named", any_order=True)
        listed = pluck(node.actions.list(alice, g), "hashed_cid")
        with judge.apart(*of_actions.split()):
            judge.same_hexes(listed, actions, "the actions that the last update_group named", any_order=True)

    node.groups.add_pkp(alice, g, q.id)
    node.groups.add_action(alice, g, y)
    filled = (len(node.pkps.list(alice, g)), len(node.actions.list(alice, g)))
    judge.set_up(filled == (2, 2), "a group with two wallets and two actions")
    judge_update([p], "GRPLIFE-040 GRPLIFE-080", [hash_of_x], "GRPLIFE-050 GRPLIFE-080")
    judge_update([], "GRPLIFE-060", [], "GRPLIFE-060")
    judge_update([q], "GRPLIFE-040 GRPLIFE-080", [hash_of_y], "GRPLIFE-050 GRPLIFE-080")
    judge_update([], "GRPLIFE-040", [hash_of_y], "GRPLIFE-050")
    judge_update([p], "GRPLIFE-040", [], "GRPLIFE-050")


# ------------------------------------------------------------------------------------------- groups that are not there


@case("later-groups-do-not-revive-the-access", requirements=["GRPLIFE-120", "GRP-140"], needs=NEEDS)
def later_groups_do_not_revive_the_access(judge: Judge, node: Node) -> None:
    """Groups made after a removal list nothing that the removed one did, and give its keys no access."""
    # Ids may or may not be used again: what counts is that the key cannot act on any group made later.
    alice, cid = node.accounts.new().key, node.actions.sample_cid("x")
    p, held = node.pkps.create(alice), hashed_cid(cid)
    g = bound(node, alice, [p], [held])
    key = node.usage_keys.add(alice, Permissions(False, False, False, [g], [g], [g], [g])).key
    removes = [node.groups.remove_pkp(key, g, p.id), node.groups.remove_action(key, g, held)]
    adds = [node.groups.add_pkp(key, g, p.id), node.groups.add_action(key, g, cid)]
    node.groups.remove(alice, g)
    # All of them have the name of the removed one.
    empty, filled = bound(node, alice, [], []), bound(node, alice, [p], [held])
    reads = [
        unchanged_list(node.session, name, alice, group_id=group) for group in (empty, filled) for name in IN_GROUP
    ]
    reads.append(unchanged_list(node.session, "list_groups", alice))
    wallets, actions, *_ = node.session.recent_reads.values(reads)
    with judge.apart("GRP-140", why="the group was made with empty lists, after one of its name was removed"):
        judge.same([wallets, actions], [[], []], "the wallets and the actions of the new group")
    with judge("GRPLIFE-120"), Refusals(node.session, control=[*adds, *removes], unchanged=reads) as refusals:
        for controls, group in ((adds, empty), (removes, filled)):
            for control in controls:
                refusals.send(control.changed(group_id=group), ["forbidden"])


@dataclass(frozen=True)
class TwoEqualGroups:
    """Groups G and H that permit the wallet P and the action X, an account's other wallet Q and another action Y."""

    node: Node
    alice: str
    p: Pkp
    q: Pkp
    x: Cid
    y: Cid
    g: GroupId
    h: GroupId

    def accepted_writes(self) -> list[Accepted]:
        """Every write to G, which leaves it as it was, but for its removal."""
        groups, alice, g, y = self.node.groups, self.alice, self.g, hashed_cid(self.y)
        return [
            groups.add_pkp(alice, g, self.q.id),
            groups.remove_pkp(alice, g, self.q.id),
            groups.add_action(alice, g, self.y),
            groups.remove_action(alice, g, y),
            groups.update(alice, g, pkp_ids=[self.p.id], cid_hashes=[hashed_cid(self.x)]),
        ]

    def to(self, group: int, accepted: Accepted) -> OutgoingRequest:
        """The write to another group; what it takes out is what such a group would hold."""
        held: dict[str, dict[str, object]] = {
            "remove_pkp_from_group": {"pkp_id": self.p.id},
            "remove_action_from_group": {"hashed_cid": hashed_cid(self.x)},
        }
        return accepted.changed(group_id=group, **held.get(accepted.call, {}))

    def lists(self, group: GroupId) -> list[Read]:
        """The account's groups, and what one of them permits."""
        in_group = (unchanged_list(self.node.session, name, self.alice, group_id=group) for name in IN_GROUP)
        return [unchanged_list(self.node.session, "list_groups", self.alice), *in_group]


def two_equal_groups(node: Node) -> TwoEqualGroups:
    """Make them in a fresh account."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    x, y = (node.actions.sample_cid(name) for name in "xy")
    g, h = (bound(node, alice, [p], [hashed_cid(x)]) for _ in range(2))
    return TwoEqualGroups(node, alice, p, q, x, y, g, h)


@case("nothing-works-on-a-deleted-group", requirements=["GRPLIFE-150"], needs=NEEDS)
def nothing_works_on_a_deleted_group(judge: Judge, node: Node) -> None:
    """With the account key too, no group operation works on a removed group, and it does not come back."""
    on = two_equal_groups(node)
    controls = [*on.accepted_writes(), node.groups.remove(on.alice, on.g)]
    listed = [printed(group) for group in pluck(node.groups.list(on.alice), "id")]
    judge.set_up(str(on.h) in listed and str(on.g) not in listed, "a list with H and without G")
    with judge(), Refusals(node.session, control=controls, unchanged=on.lists(on.h)) as refusals:
        for control in controls:
            refusals.send(on.to(on.g, control), ["not_found"])


@case("unknown-group", requirements=["GRPLIFE-200"], needs=NEEDS)
def unknown_group(judge: Judge, node: Node) -> None:
    """An id that no group ever had, 0 as well, is refused by every group operation, and creates and changes nothing."""
    on = two_equal_groups(node)
    controls = [*on.accepted_writes(), node.groups.remove(on.alice, on.h)]
    # 0 stands for all groups in the arrays of keys, and for none here; who keeps 32 or 64 bits takes the others for G.
    one, two = (on.g + number for number in NUMBERS["group_id"])
    with judge(), Refusals(node.session, control=controls, unchanged=on.lists(on.g)) as refusals:
        for number, unknown in enumerate((one, 0, two, one)):
            for control in every_other(controls, number):
                refusals.send(on.to(unknown, control), ["not_found", "invalid", "malformed"])
