"""Usage API keys and what their permission fields open ("Resources and their fields / Usage API key")."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import cycle
from typing import NamedTuple

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.profile.operations import PERMISSION_ARRAYS as ARRAYS
from conformance.profile.operations import PERMISSION_FLAGS as FLAGS
from conformance.service.acceptance import Accepted
from conformance.service.at_once import at_once
from conformance.service.bindings import one_group, two_and_two
from conformance.service.derivations import account_hash, hashed_cid, usage_key_hash
from conformance.service.groups import Group
from conformance.service.lists import IN_GROUP, one_item_page, only, read_pages, unchanged_list
from conformance.service.node import Node
from conformance.service.reach import beyond_its_group
from conformance.service.reads import Read
from conformance.service.refusal import Refusals, must_refuse, was_accepted
from conformance.service.scope_trial import ScopeTrial
from conformance.service.secrecy import mark_of, must_hide, shared_prefix
from conformance.service.secrets_search import witnessed
from conformance.service.session import DESCRIPTION
from conformance.service.sizes import NUMBERS, U64
from conformance.service.usage_keys import ALL_PERMISSIONS, NO_PERMISSIONS, Permissions
from conformance.values.ids import GroupId, UsageKey
from conformance.values.json_values import MISSING, member, pluck, printed, printed_json, same_hex

NEEDS = ("managed_accounts",)
MEMBERS = ("name", "description", *Permissions().members)
UNKNOWN_GROUP = "semantics.usage_key_unknown_group_id"
FAR_FROM_GROUPS = 10**9
"""So far from the id of a group no other one is."""


@case("key-value-is-shown-once", requirements=["UKEY-360", "UKEY-370"], needs=NEEDS)
def key_value_is_shown_once(judge: Judge, node: Node) -> None:
    """No answer but that of its creation holds the value of a usage key, of the first or of the newest."""
    alice, cid = node.accounts.new().key, node.actions.sample_cid("one")
    key = node.usage_keys.add(alice, ALL_PERMISSIONS).key
    answers, keys = witnessed(node.session), node.session.request("list_api_keys", alice)
    page = {**one_item_page(node.session), "page_size": 3}
    newest = node.usage_keys.add(alice, ALL_PERMISSIONS, "other").key
    node.session.accept(keys.changed(**page))
    node.usage_keys.update(alice, key, ALL_PERMISSIONS, "2")
    node.usage_keys.rename(alice, key, "3")
    read_pages(node.session, keys, 1)
    # What the key itself does. Whether it may read the lists is SCOPE-160.
    group = node.groups.add(key, listed_to=alice).id
    node.groups.add_action(key, group, cid)
    node.pkps.creations(key, 1)
    for name in ("list_api_keys", "list_groups", "list_wallets"):
        node.session.send(node.session.request(name, key, **page))
    node.groups.remove(key, group)
    node.usage_keys.remove(alice, key)
    node.session.accept(replace(keys.changed(**page), via="bearer"))
    node.session.send(node.session.request("list_groups", key, **page))
    for answer in answers:
        name = answer.operation.name if answer.operation is not None else ""
        with judge.apart("UKEY-360", *["UKEY-370"] * (name == keys.operation.name)):
            for value in (key, newest) if name != "add_usage_api_key" else (key,):
                must_hide(answer, value, "the value of the usage key")


@case("usage-key-on-chain", requirements=["UKEY-010", "UKEY-020", "UKEY-030"], needs=[*NEEDS, "chain_rpc"])
def usage_key_on_chain(judge: Judge, node: Node) -> None:
    """The contract holds a usage key as it was created over HTTP."""
    alice = node.accounts.new().key
    g, own = node.groups.add(alice).id, account_hash(alice, node.session.profile)
    given = Permissions(True, False, True, [g], [0], [], [g, 0])
    labels = {"name": node.label, "description": f"of {node.label}"}
    key = node.session.call("add_usage_api_key", alice, **labels, **given.members)
    hashed = usage_key_hash(node.usage_keys.value_in(key), node.session.profile)
    with judge("UKEY-010"):
        record = member(node.contract.view("get_usage_api_key", own, hashed), "usageKey")
        groups = member(record, "executeInGroups")
        in_order = {"executeInGroups": sorted(groups, reverse=True, key=str) if isinstance(groups, list) else groups}
        expected = {**given.record, "executeInGroups": sorted([g, 0], reverse=True, key=str)}
        known = record if isinstance(record, dict) else {}
        judge.members({**known, **in_order}, expected, "the permissions in the contract")
    for (label, text), about in zip(labels.items(), ("UKEY-020", "UKEY-030"), strict=True):
        with judge.apart(about):
            judge.members(record, {label: text}, "the label of the key in the contract")
    with judge("UKEY-020"):
        only(node.contract.items("list_usage_api_keys", own), "name", node.label)


class Opened(NamedTuple):
    """An operation on a group's list, the array that opens it, and the requirements that say so."""

    operation: str
    array: str
    named: str
    """The groups that the array names are open."""
    others: str
    """Others are not."""
    all: str
    """With 0 in it all are."""


WALLET_ADDRESS = "wire.list_items.fields.wallet.wallet_address"
ADD_ACTION = Opened("add_action_to_group", "manage_ipfs_ids_in_groups", "UKEY-100", "UKEY-110", "UKEY-120")
REMOVE_ACTION = Opened("remove_action_from_group", "manage_ipfs_ids_in_groups", "UKEY-140", "UKEY-150", "UKEY-160")
ADD_PKP = Opened("add_pkp_to_group", "add_pkp_to_groups", "UKEY-180", "UKEY-190", "UKEY-200")
REMOVE_PKP = Opened("remove_pkp_from_group", "remove_pkp_from_groups", "UKEY-220", "UKEY-230", "UKEY-240")


class Pair(NamedTuple):
    """Two members of groups: `old`, which each new group lists, and `new`, which keys add."""

    adds: Opened
    removes: Opened
    lists: str
    field: str
    old: str
    new: str
    """What the field shows of them."""
    add_new: Mapping[str, object]
    add_old: Mapping[str, object]
    remove_new: Mapping[str, object]
    remove_old: Mapping[str, object]
    """The members of requests about them."""

    def read(self, node: Node, alice: str, group: GroupId) -> Read:
        """The list of a group."""
        return unchanged_list(node.session, self.lists, alice, group_id=group)

    def shows(self, items: object) -> tuple[bool, bool]:
        """Whether a list shows the old member, and whether the new one."""
        shown = pluck(items if isinstance(items, list) else [], self.field)
        old, new = (any(same_hex(one, value) for one in shown) for value in (self.old, self.new))
        return old, new


def two_actions(node: Node) -> Pair:
    """Two actions."""
    old, new = (node.actions.sample_cid(name) for name in ("old", "new"))
    hashes = hashed_cid(old), hashed_cid(new)
    added = {"action_ipfs_cid": new}, {"action_ipfs_cid": old}
    removed = {"hashed_cid": hashes[1]}, {"hashed_cid": hashes[0]}
    return Pair(ADD_ACTION, REMOVE_ACTION, "list_actions", "hashed_cid", *hashes, *added, *removed)


def two_wallets(node: Node, alice: str) -> Pair:
    """Two wallets of the account."""
    p, q = node.pkps.create_several(alice, 2)
    sent = {"pkp_id": q.id}, {"pkp_id": p.id}
    addresses = p.address, q.address
    return Pair(ADD_PKP, REMOVE_PKP, "list_wallets_in_group", "wallet_address", *addresses, *sent, *sent)


@case(
    "actions-in-named-groups",
    requirements=["UKEY-100", "UKEY-110", "UKEY-140", "UKEY-150", "UKEY-290", "UKEY-300"],
    needs=NEEDS,
)
def actions_in_named_groups(judge: Judge, node: Node) -> None:
    """A usage key adds and removes actions in the groups that its manage_ipfs_ids_in_groups names, and no other."""
    alice, pair = node.accounts.new().key, two_actions(node)
    groups = [node.groups.add(alice, cid_hashes=[pair.old]).id for _ in range(3)]
    judge_named(judge, node, alice, pair, groups)


@case(
    "wallets-in-named-groups",
    requirements=["UKEY-180", "UKEY-190", "UKEY-220", "UKEY-230", "UKEY-290", "UKEY-300"],
    needs=NEEDS,
    uses=[WALLET_ADDRESS],
)
def wallets_in_named_groups(judge: Judge, node: Node) -> None:
    """A usage key adds and removes wallets in the groups that add_pkp_to_groups and remove_pkp_from_groups name."""
    alice = node.accounts.new().key
    pair = two_wallets(node, alice)
    groups = [node.groups.add(alice, pkp_ids=[pair.remove_old["pkp_id"]]).id for _ in range(3)]
    judge_named(judge, node, alice, pair, groups)


def judge_named(judge: Judge, node: Node, alice: str, pair: Pair, groups: Sequence[GroupId]) -> None:
    """Judge a key whose arrays name two groups of three, and one whose arrays are empty."""
    g, between, h = groups
    named = {pair.adds.array: [g, h], pair.removes.array: [g, h]}
    key, empty = node.usage_keys.add(alice, NO_PERMISSIONS.but(named)).key, node.usage_keys.add(alice).key
    controls: list[Accepted] = []
    for opened, members in ((pair.adds, pair.add_new), (pair.removes, pair.remove_old)):
        for group, requirement, too in ((g, opened.named, ""), (h, "UKEY-290", ", too")):
            with judge.apart(requirement, why=f"the key's {opened.array} names this group{too}"):
                request = node.session.request(opened.operation, key, group_id=group, **members)
                controls.append(node.session.accept(request)[1])
    if len(controls) < 4:
        return
    reads = [pair.read(node, alice, group) for group in (g, h, between)]
    in_g, in_h, in_between = node.session.recent_reads.values(reads)
    if judge_changed(judge, pair, in_g, pair.adds.named, pair.removes.named):
        judge_changed(judge, pair, in_h, "UKEY-290", "UKEY-290")
        with judge.apart("UKEY-290", why="the group that lies between the named ones stays as it was"):
            judge.that(pair.shows(in_between) == (True, False), f"{pair.lists} as before", in_between)
    adds, _, removes, _ = controls
    for opened, control in ((pair.adds, adds), (pair.removes, removes)):
        with judge.apart(opened.others, "UKEY-290", why=f"the key's {opened.array} does not name this group"):
            request = control.changed(group_id=between)
            must_refuse(node.session, request, ["forbidden"], control=control, unchanged=reads[2:])
    if pair.adds.array != pair.removes.array:
        does_not_add = adds.changed(group_id=h, **pair.add_old), pair.removes, pair.adds
        does_not_remove = removes.changed(group_id=h, **pair.remove_new), pair.adds, pair.removes
        for request, opened, other in (does_not_add, does_not_remove):
            alone = node.usage_keys.add(alice, NO_PERMISSIONS.but({opened.array: [g, h]})).key
            control = adds if other is pair.adds else removes
            with judge.apart(other.others, why=f"the key's {opened.array} alone names this group"):
                refused = replace(request, credential=alone)
                must_refuse(node.session, refused, ["forbidden"], control=control, unchanged=reads[1:2])
    with judge.apart("UKEY-300"), Refusals(node.session, control=[adds, removes], unchanged=reads[1:]) as refusals:
        for refused in (
            adds.changed(group_id=between),
            removes.changed(group_id=between),
            adds.changed(group_id=h, **pair.add_old),
            removes.changed(group_id=h, **pair.remove_new),
        ):
            refusals.send(replace(refused, credential=empty), ["forbidden"])


def judge_changed(judge: Judge, pair: Pair, items: object, of_adding: str, of_removing: str) -> bool:
    """Judge the list of a group to which a key added the new member, and from which it removed the old one."""
    old, new = pair.shows(items)
    with judge.apart(of_adding, why="the group lists what the key added"):
        judge.that(new, f"{pair.lists} to show {pair.new}", items)
    with judge.apart(of_removing, why="what the key removed is gone from the group"):
        judge.that(not old, f"{pair.lists} not to show {pair.old}", items)
    return new and not old


@case(
    "actions-in-all-groups", requirements=["UKEY-120", "UKEY-160", "UKEY-310", "UKEY-320", "KEYLIFE-030"], needs=NEEDS
)
def actions_in_all_groups(judge: Judge, node: Node) -> None:
    """With 0 in manage_ipfs_ids_in_groups a usage key changes actions in all groups, until an update names some."""
    alice, pair = node.accounts.new().key, two_actions(node)
    judge_wildcard(judge, node, alice, pair, partial(node.groups.add, alice, cid_hashes=[pair.old]))


@case(
    "wallets-in-all-groups",
    requirements=["UKEY-200", "UKEY-240", "UKEY-310", "UKEY-320", "KEYLIFE-030"],
    needs=NEEDS,
    uses=[WALLET_ADDRESS],
)
def wallets_in_all_groups(judge: Judge, node: Node) -> None:
    """With 0 in its two arrays a usage key changes wallets in all groups, until an update names some."""
    alice = node.accounts.new().key
    pair = two_wallets(node, alice)
    judge_wildcard(judge, node, alice, pair, partial(node.groups.add, alice, pkp_ids=[pair.remove_old["pkp_id"]]))


def judge_wildcard(judge: Judge, node: Node, alice: str, pair: Pair, new_group: Callable[[], Group]) -> None:
    """Judge a key whose arrays hold 0 alone, then name a group, and one whose arrays hold it beside a group's id."""
    g, other = new_group().id, new_group().id
    changes = ((pair.adds, pair.add_new), (pair.removes, pair.remove_old))
    key = node.usage_keys.add(alice, NO_PERMISSIONS.but({opened.array: [0] for opened, _ in changes})).key
    younger = new_group().id

    def change(opened: Opened, members: Mapping[str, object], key: str, group: GroupId) -> None:
        node.session.accept(node.session.request(opened.operation, key, group_id=group, **members))

    for opened, members in changes:
        with judge.apart(opened.all, "UKEY-320", why=f"the wildcard 0 in {opened.array} holds for all groups"):
            change(opened, members, key, g)
        with judge.apart("UKEY-320", why=f"the wildcard 0 in {opened.array} holds for groups made after the key"):
            change(opened, members, key, younger)
    if judge_changed(judge, pair, pair.read(node, alice, g).get(), pair.adds.all, pair.removes.all):
        judge_changed(judge, pair, pair.read(node, alice, younger).get(), "UKEY-320", "UKEY-320")
    # "Execution rule" says "includes a group G (or `0`)", "Authentication" "or `0` as the wildcard".
    arrays = {opened.array: ids for (opened, _), ids in zip(changes, ([0, g], [g, 0]), strict=True)}
    with judge("UKEY-310", why="0 in an array is the wildcard beside other ids, too"):
        beside = node.usage_keys.add(alice, NO_PERMISSIONS.but(arrays)).key
        for opened, members in changes:
            change(opened, members, beside, other)
    node.usage_keys.update(alice, key, NO_PERMISSIONS.but({opened.array: [g] for opened, _ in changes}))
    read = pair.read(node, alice, younger)
    for opened, members in ((pair.adds, pair.add_old), (pair.removes, pair.remove_new)):
        control = node.session.accept(node.session.request(opened.operation, key, group_id=g, **members))[1]
        with judge.apart("KEYLIFE-030", why=f"{opened.array} names another group, and 0 no more"):
            refused = control.changed(group_id=younger)
            must_refuse(node.session, refused, ["forbidden"], control=control, unchanged=[read])


@case(
    "may-create-and-delete-as-its-flags-say",
    requirements=["UKEY-040", "UKEY-050", "UKEY-060", "UKEY-070", "UKEY-080", "UKEY-090"],
    needs=NEEDS,
)
def may_create_and_delete_as_its_flags_say(judge: Judge, node: Node) -> None:
    """Each flag alone opens its operation to a usage key, and every permission but the flag does not."""
    alice = node.accounts.new().key
    kept, doomed = (node.groups.add(alice, name).id for name in ("kept", "doomed"))
    # The operation table gives create wallet the auth "account key"; the field can_create_pkps and the scope pkp:create
    # say that a usage key may create PKPs. Both keys are taken to be accepted.
    removal = node.session.request("remove_group", alice, group_id=doomed)
    flags: tuple[tuple[str, str, str, str, int, OutgoingRequest, dict[str, object]], ...] = (
        ("can_create_groups", "UKEY-040", "UKEY-050", "list_groups", 1, node.groups.creation(alice, "new"), {}),
        ("can_delete_groups", "UKEY-060", "UKEY-070", "list_groups", -1, removal, {"group_id": kept}),
        ("can_create_pkps", "UKEY-080", "UKEY-090", "list_wallets", 1, node.pkps.creation(alice), {}),
    )
    for flag, may, may_not, lists, more, request, other in flags:
        alone = node.usage_keys.add(alice, NO_PERMISSIONS.but({flag: True})).key
        lacking = node.usage_keys.add(alice, ALL_PERMISSIONS.but({flag: False})).key
        read = unchanged_list(node.session, lists, alice)
        before = items_of(node, read)
        control: Accepted | None = None
        with judge.apart(may, why=f"the key has {flag}"):
            control = node.session.accept(replace(request, credential=alone))[1]
            after = items_of(node, read)
            judge.that(len(after) == len(before) + more, f"{lists} to have {len(before) + more} items", after)
        if control is not None:
            with judge.apart(may_not, why=f"the key has every permission but {flag}"):
                refused = replace(control.changed(**other), credential=lacking)
                must_refuse(node.session, refused, ["forbidden"], control=control, unchanged=[read])


def items_of(node: Node, read: Read) -> list[object]:
    """The items of a list."""
    (items,) = node.session.recent_reads.values([read])
    return items if isinstance(items, list) else []


@case(
    "labels-keep-their-text",
    requirements=["UKEY-020", "UKEY-030"],
    needs=NEEDS,
    uses=[f"wire.list_items.fields.usage_key.{name}" for name in ("name", "description")],
)
def labels_keep_their_text(judge: Judge, node: Node) -> None:
    """Name and description of a usage key keep every character."""
    alice, label = node.accounts.new().key, node.label
    texts = (
        (f"{label} name", f"{label} description"),
        (f"{label} Schlüssel 鍵 🔑", f"{label} Опис, ñ, 説明"),
        (f"{label} \"a\" <b> \\ 'c'; --", f"{label} %20 {{x}} & $y\tz"),
    )
    for name, description in texts:
        members: dict[str, object] = {"name": name, "description": description, **NO_PERMISSIONS.members}
        node.session.accept(node.session.request("add_usage_api_key", alice, **members))
    listed = node.usage_keys.list(alice)
    for name, description in texts:
        with judge.apart("UKEY-020"):
            judge.that(name in pluck(listed, "name"), f"a key of the name {name!r}", listed)
        with judge.apart("UKEY-030"):
            judge.that(description in pluck(listed, "description"), f"a key described as {description!r}", listed)


@case("created-with-nine-fields", requirements=["UKEY-010"], needs=NEEDS)
def created_with_nine_fields(judge: Judge, node: Node) -> None:
    """A usage key is created with a name, a description and seven permission fields, and then listed."""
    alice = node.accounts.new().key
    before = len(node.usage_keys.list(alice))
    with judge():
        for permissions in (ALL_PERMISSIONS, NO_PERMISSIONS):
            node.usage_keys.add(alice, permissions)
        listed = node.usage_keys.list(alice)
        judge.that(len(listed) == before + 2, f"{before + 2} usage keys", listed)


@case(
    "fields-are-listed-as-given",
    requirements=["UKEY-010", "UKEY-440", "UKEY-460"],
    needs=NEEDS,
    uses=[f"wire.list_items.fields.usage_key.{name}" for name in MEMBERS],
)
def fields_are_listed_as_given(judge: Judge, node: Node) -> None:
    """The list shows each permission of a usage key as it was given; odd ones are refused, kept, or grant nothing."""
    alice = node.accounts.new().key
    four = [node.groups.add(alice, str(number)).id for number in range(4)]
    # No two fields of one type have the same value in all three keys.
    orders = [four, [four[3], *four[:3]], [*four[2:], *four[:2]]]
    given = [Permissions(row == 0, row == 1, row == 2, *([group] for group in orders[row])) for row in range(3)]
    with judge("UKEY-010"):
        for row, permissions in enumerate(given):
            node.usage_keys.add(alice, permissions, f"key {row}")
    rounded, largest = NUMBERS["group ids that keys hold"]
    large = {array: [rounded] for array in ARRAYS} | {ARRAYS[-1]: [rounded, largest]}
    # Whether a group that an array names has to exist (UKEY-470), and what null means are silent.
    odd: tuple[tuple[str, str, Sequence[str], Mapping[str, object]], ...] = (
        ("large", "UKEY-460", ["any"], large),
        ("null flags", "UKEY-440", ["malformed", "invalid"], dict.fromkeys(FLAGS)),
        ("null arrays", "UKEY-440", ["malformed", "invalid"], dict.fromkeys(ARRAYS)),
    )
    kept = {}
    for name, requirement, classes, members in odd:
        with judge(requirement):
            fields = {**NO_PERMISSIONS.members, **members}
            answer = node.session.send(addition(node, alice, name, fields))
            kept[name] = was_accepted(node.session, answer, or_refused=classes)
    listed = node.usage_keys.list(alice)

    def shown(name: str) -> list[object]:
        text = f"{node.label} {name}"
        return [item for item in listed if text in (member(item, "name"), member(item, "description"))]

    for row, permissions in enumerate(given):
        with judge.apart("UKEY-010"):
            judge.items(shown(f"key {row}"), [permissions.members], "the permissions of the key")
    with judge.apart("UKEY-460", why="an accepted number is kept exactly, a refused one is not kept"):
        text = printed_json(listed)
        numbers = (rounded, largest, rounded - 1)
        holds = [str(number) in text for number in numbers]
        judge.same(holds, [kept["large"], kept["large"], False], f"whether {', '.join(map(str, numbers))} are listed")
    for item in (*shown("null flags"), *shown("null arrays")):
        with judge.apart("UKEY-440", why="null grants nothing"):
            granted = [field for field in (*FLAGS, *ARRAYS) if member(item, field) not in (False, None, [], MISSING)]
            judge.same(granted, [], "the permissions of the key")


def addition(node: Node, alice: str, name: str, fields: Mapping[str, object]) -> OutgoingRequest:
    """The request for a usage key of this name, with these permission fields."""
    labels = {"name": f"{node.label} {name}", "description": DESCRIPTION}
    return node.session.request("add_usage_api_key", alice, **labels, **fields)


# false must not become 0, the wildcard. Whether the text "true" says true is silent.
OF_WRONG_TYPE = (
    (FLAGS, ("maybe", [True], {"0": True})),
    (ARRAYS, ("0", 0, {"0": 0}, True, [False], [None], [""])),
)
OUTSIDE_U64 = ((ARRAYS, (-1, 1.5, U64)),)


@case("odd-permissions-are-refused", requirements=["UKEY-450", "UKEY-460", "ERR-150"], needs=NEEDS)
def odd_permissions_are_refused(judge: Judge, node: Node) -> None:
    """A permission field of the wrong JSON type, or a group id outside of u64, is refused when it is given."""
    alice = node.accounts.new().key
    g = node.groups.add(alice).id
    naming = Permissions(False, False, False, [g], [g], [g], [g])
    added = node.usage_keys.add(alice, naming)
    controls = (added.accepted, node.usage_keys.update(alice, added.key, naming))
    unchanged = [unchanged_list(node.session, "list_api_keys", alice)]
    # All else of an update is new, so that a part of it that is carried out shows.
    new: dict[str, object] = {**dict.fromkeys(FLAGS, True), **{array: [] for array in ARRAYS}}
    for requirement, table in (("UKEY-450", OF_WRONG_TYPE), ("UKEY-460", OUTSIDE_U64)):
        told = judge.apart(requirement, unchanged="ERR-150")
        with told, Refusals(node.session, control=controls, unchanged=unchanged) as refusals:
            for fields, values in table:
                for turn, control in enumerate(controls):
                    # Each value meets a field at creation and another one in an update.
                    for field, value in zip(cycle([*fields[turn:], *fields[:turn]]), node.session.some(values)):
                        sent = [value] if requirement == "UKEY-460" else value
                        others = new if turn else {}
                        request = control.changed(name=f"{node.label} refused", **{**others, field: sent})
                        refusals.send(request, ["malformed", "invalid"])


@case("omitted-permission-is-not-granted", requirements=["UKEY-440"], needs=NEEDS)
def omitted_permission_is_not_granted(judge: Judge, node: Node) -> None:
    """A permission field that a creation or an update leaves out is refused, or the permission is not granted."""
    # Whether a field may be left out is silent (UKEY-430, KEYLIFE-140).
    alice = node.accounts.new().key
    trial = ScopeTrial(node.session, alice)
    added = node.usage_keys.add(alice)
    updated = node.usage_keys.update(alice, added.key, NO_PERMISSIONS)
    for way, control in (("creation", added.accepted), ("update", updated)):
        request = without_permissions(control)
        answer = node.session.send(request)
        accepted = was_accepted(node.session, answer, or_refused=["malformed", "invalid"])
        key = node.usage_keys.value_in(answer) if accepted and way == "creation" else added.key
        with judge.apart():
            told = f"the operations that the key may call after the {way} without permissions"
            opened = trial.opens(key)
            judge.same(opened, [], told, trial.shown_at(opened, []))


def without_permissions(control: Accepted) -> OutgoingRequest:
    """The accepted request without its permission fields."""
    request = control.changed()
    left = {name: value for name, value in request.members.items() if name not in (*FLAGS, *ARRAYS)}
    return replace(request, members=left)


@case("wildcard-ends-at-the-account", requirements=["UKEY-330"], needs=NEEDS)
def wildcard_ends_at_the_account(judge: Judge, node: Node) -> None:
    """The wildcards of a usage key do not reach groups of another account."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    own, (p, q) = node.pkps.create(alice), node.pkps.create_several(bob, 2)
    cids = [node.actions.sample_cid(name) for name in ("one", "two")]
    one, two = map(hashed_cid, cids)
    # Bob has two groups and Alice has none, so that the id of his second one is not one of hers, however ids are
    # numbered (ACC-130).
    spare = node.groups.add(bob).id
    g = node.groups.add(bob, pkp_ids=[p.id], cid_hashes=[one]).id
    key, of_bob = (node.usage_keys.add(owner, ALL_PERMISSIONS).key for owner in (alice, bob))
    does: list[tuple[Accepted, dict[str, object]]] = [
        (node.groups.add_action(of_bob, g, cids[1]), {}),
        (node.groups.remove_action(of_bob, g, two), {"hashed_cid": one}),
        (node.groups.add_pkp(of_bob, g, q.id), {"pkp_id": own.id}),
        (node.groups.remove_pkp(of_bob, g, q.id), {"pkp_id": p.id}),
        (node.groups.remove(of_bob, spare), {"group_id": g}),
    ]
    reads = [unchanged_list(node.session, name, bob, group_id=g) for name in IN_GROUP]
    reads.append(unchanged_list(node.session, "list_groups", bob))
    with judge(), Refusals(node.session, control=[control for control, _ in does], unchanged=reads) as refusals:
        for control, other in does:
            refusals.send(replace(control.changed(**other), credential=key), ["not_found", "forbidden"])


@case("far-group-ids-open-nothing", requirements=["UKEY-110", "UKEY-190", "UKEY-230", "UKEY-270"], needs=NEEDS)
def far_group_ids_open_nothing(judge: Judge, node: Node) -> None:
    """A permission for group 2**24 or 2**32, or for a group's id plus 2**32, in any one array, opens no other group."""
    on = one_group(node)
    q = node.pkps.create(on.alice)
    in_g, runs = node.signing.request(on.key, on.x, on.p), node.signing.must_sign(on.key, on.x, on.p).accepted
    adds_action = node.groups.add_action(on.alice, on.g, node.actions.sample_cid("added"))
    adds_pkp, removes_pkp = node.groups.add_pkp(on.alice, on.g, q.id), node.groups.remove_pkp(on.alice, on.g, q.id)
    controls = {
        "manage_ipfs_ids_in_groups": ("UKEY-110", adds_action),
        "execute_in_groups": ("UKEY-270", runs),
        "add_pkp_to_groups": ("UKEY-190", adds_pkp),
        "remove_pkp_from_groups": ("UKEY-230", removes_pkp),
    }
    changes: dict[str, dict[str, object]] = {
        "manage_ipfs_ids_in_groups": {"action_ipfs_cid": node.actions.sample_cid("not added")},
        "remove_pkp_from_groups": {"pkp_id": on.p.id},
    }
    reads = [unchanged_list(node.session, name, on.alice, group_id=on.g) for name in IN_GROUP]
    spare: list[UsageKey] = []
    for place, (array, (requirement, control)) in enumerate(controls.items()):
        request = in_g if array == "execute_in_groups" else control.changed(**changes.get(array, {}))
        far = NUMBERS["group ids that are 0 in fewer bits"]
        groups = [*far, on.g + far[-1]]
        keys = list(keys_naming(node, on.alice, array, groups, spare, updated_first=place % 2 == 1))
        with judge.apart(requirement):
            for key in keys:
                must_refuse(
                    node.session, replace(request, credential=key), ["forbidden"], control=control, unchanged=reads
                )


SOME = 12
"""Groups of which one has a number of two digits that begins with another's, and ends with a third one's."""


def alike_in_text(ids: Sequence[GroupId]) -> list[tuple[GroupId, GroupId]]:
    """Pairs of groups that a key would reach together if ids were compared as parts of a text, one of each kind."""
    texts = {one: str(one) for one in ids}
    others = [(one, other) for one in reversed(ids) for other in ids if one != other]
    begins = [(one, other) for one, other in others if texts[one].startswith(texts[other])]
    ends = [(one, other) for one, other in others if texts[one].endswith(texts[other])]
    return [*begins[:1], *ends[:1], *((other, one) for one, other in begins[:1])] or others[:1]


@case(
    "numbers-that-hold-other-numbers",
    requirements=["UKEY-110", "UKEY-150", "UKEY-190", "UKEY-230", "UKEY-270"],
    needs=NEEDS,
)
def numbers_that_hold_other_numbers(judge: Judge, node: Node) -> None:
    """A key for group 12 acts neither in group 1 nor in group 2, and a key for group 1 not in group 12."""
    on = two_and_two(node)
    ids = [node.groups.add(on.alice, str(number)).id for number in range(SOME)]
    for named, other in alike_in_text(ids):
        for requirement, trial in beyond_its_group(node, on, named, other).items():
            with judge.apart(requirement):
                trial()


def keys_naming(
    node: Node, alice: str, array: str, groups: Sequence[int], spare: list[UsageKey], *, updated_first: bool
) -> Iterator[UsageKey]:
    """Keys that name one of the groups in this array, by turns made and updated so, where the node names it at all.

    `spare` keeps a key that no update has changed.
    """
    labels = {"name": node.label, "description": DESCRIPTION}
    for place, group in enumerate(groups):
        members: dict[str, object] = {**labels, **NO_PERMISSIONS.members, array: [group]}
        updated = updated_first == (place % 2 == 0)
        if updated:
            spare[:] = spare or [node.usage_keys.add(alice).key]
            members["usage_api_key"] = spare[0]
        operation = "update_usage_api_key" if updated else "add_usage_api_key"
        answer = node.session.send(node.session.request(operation, alice, **members))
        # Whether an array may name a group that does not exist is silent (UKEY-470).
        if was_accepted(node.session, answer, or_refused=["any"]):
            yield spare.pop() if updated else node.usage_keys.value_in(answer)


@case("key-values-are-random", requirements=["UKEY-420"], needs=NEEDS)
def key_values_are_random(judge: Judge, node: Node) -> None:
    """Usage keys made by equal requests have values with nothing in common."""
    add = partial(node.usage_keys.add, node.accounts.new().key)
    with judge():
        keys = [added.key for added in (add(), add(), add(), add(), *at_once([add] * 4))]
        judge.distinct(keys, "key values, one for each add_usage_api_key")
        # How a value is written is silent (UKEY-410): 16 bytes take 22 characters of base64, and more of anything else.
        secrets = [key.removeprefix(mark_of(keys)) for key in keys]
        judge.that(all(len(secret) >= 22 for secret in secrets), "values of 16 bytes and more", keys)
        judge.that(shared_prefix(secrets) <= 3, "random key values, no two of which begin alike", keys)


@case("groups-that-are-not-there-as-stated", requirements=["UKEY-470"], needs=NEEDS, uses=[UNKNOWN_GROUP])
def groups_that_are_not_there_as_stated(judge: Judge, node: Node) -> None:
    """A permission array that names no group of the account is taken or refused, as the profile states."""
    alice = node.accounts.new().key
    group, stated = node.groups.add(alice).id, printed(node.session.stated(UNKNOWN_GROUP))
    known = Permissions(False, False, False, *([group] for _ in ARRAYS))
    added = node.usage_keys.add(alice, known)
    controls = (added.accepted, node.usage_keys.update(alice, added.key, known))
    # All else of the request is new, so that a part of it that is carried out shows.
    others: dict[str, object] = {**ALL_PERMISSIONS.members, "name": "others", "description": "none of it"}
    requests = [
        control.changed(**{**others, array: [group, group + FAR_FROM_GROUPS]})
        for control in controls
        for array in ARRAYS
    ]
    if stated == "accepted":
        for request in requests:
            with judge.apart():
                node.session.accept(request)
        return
    keys = [unchanged_list(node.session, "list_api_keys", alice)]
    with judge(), Refusals(node.session, control=controls, unchanged=keys) as refusals:
        for request in requests:
            refusals.send(request, [stated])
