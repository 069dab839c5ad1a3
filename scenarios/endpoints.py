"""Endpoints: every management operation is there, takes what its row of the tables says and has its effect.

What the effects mean in depth is the matter of the packs about keys, groups, wallets and actions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Generic, TypeVar

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.profile.operations import GROUP_LISTS
from conformance.service.acceptance import Accepted, must_accept
from conformance.service.derivations import hashed_cid, key_with_flipped_bit, random_hash, random_key
from conformance.service.groups import Group, group_id
from conformance.service.lists import (
    IN_GROUP,
    first_page,
    one_item_page,
    only,
    read_page,
    read_pages,
    unchanged_list,
)
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.refusal import ExpectedRefusal, Refusals, must_be_as_stated, must_refuse, was_accepted
from conformance.service.secrecy import must_hide
from conformance.service.session import DESCRIPTION
from conformance.service.sizes import U64
from conformance.service.usage_keys import NO_PERMISSIONS, Permissions
from conformance.values.ids import Cid, GroupId, HashedCid, is_address, is_checked_address
from conformance.values.json_text import written
from conformance.values.json_values import member, pluck, printed, same_hex

NEEDS = ("managed_accounts",)
WANTS_A_KEY = frozenset({401, 403})
"""Statuses that refuse a request for want of a key."""
KEY_NAMES = "wire.list_items.fields.usage_key.name"
UNKNOWN_KEY = "wire.account_exists.request_response.unknown_key"
CID = re.compile("Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{50,}")
KEY = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")


def newest_group(node: Node, alice: str) -> GroupId:
    """The id of the account's newest group."""
    return group_id(member(member(node.groups.list(alice), "-1"), "id"))


@case("bodies-are-json", requirements=["EP-010"], needs=NEEDS, uses=[{"accounts.credits": "granted"}])
def bodies_are_json(judge: Judge, node: Node) -> None:
    """Bodies are JSON, in requests and in answers; a refusal may have another kind of body, if it says so."""
    request = node.session.request("new_account", account_name=node.label, account_description="made by the suite")
    with judge():
        answer, makes = node.session.accept(replace(request, headers={"content-type": "application/json"}))
        key = printed(member(answer.value, "api_key"))
        no_json = replace(node.session.request("new_account"), body="{")
        ill_formed = ("malformed", "invalid")
        must_refuse(node.session, no_json, ill_formed, control=makes, unchanged=[])
        adds = node.session.accept(node.groups.creation(key))[1]
        without_key, groups = replace(adds.changed(), credential=None), unchanged_list(node.session, "list_groups", key)
        must_refuse(node.session, without_key, ["unauthenticated"], control=adds, unchanged=[groups])
        others = [
            node.session.request("list_groups", key, **one_item_page(node.session)),
            node.pkps.creation(key),
            *map(node.session.request, ("get_node_chain_config", "get_api_payers", "get_admin_api_payer")),
            node.session.request("get_action_ipfs_id", code="main()"),
        ]
        for other in others:
            node.session.accept(other)


# -------------------------------------------------------------------------------------- account and key management


@case("new-account-needs-a-name", requirements=["EP-100"], needs=NEEDS)
def new_account_needs_a_name(judge: Judge, node: Node) -> None:
    """An account without a name is not made."""
    described = {"account_description": "made by the suite"}
    named = node.session.accept(node.session.request("new_account", account_name=node.label, **described))[1]
    with judge():
        nameless = node.session.request("new_account", **described)
        must_refuse(node.session, nameless, ["invalid", "malformed"], control=named, unchanged=[])


@case(
    "usage-key-operations",
    requirements=[
        "EP-110",
        "EP-120",
        "EP-130",
        "EP-140",
        "EP-150",
        "KEYLIFE-030",
        "KEYLIFE-050",
        "KEYLIFE-070",
        "KEYLIFE-080",
        "KEYLIFE-100",
        "UKEY-040",
    ],
    needs=NEEDS,
    uses=[KEY_NAMES],
)
def usage_key_operations(judge: Judge, node: Node) -> None:
    """A usage key is added, updated, renamed and removed, and the others stay as they are."""
    alice = node.accounts.new().key
    groups = [unchanged_list(node.session, "list_groups", alice)]

    def must_list(*there: str, gone: Sequence[str] = ()) -> None:
        names = pluck(node.usage_keys.list(alice), "name")
        fits = all(f"{node.label} {one}" in names for one in there)
        fits = fits and not any(f"{node.label} {one}" in names for one in gone)
        judge.that(fits, f"the names of the keys {', '.join(there)} and not {', '.join(gone) or 'of others'}", names)

    def bystander_adds() -> GroupId:
        with judge("KEYLIFE-050", why="what is done to another key leaves this one's permissions"):
            node.session.accept(node.groups.creation(bystander))
        return newest_group(node, alice)

    with judge("EP-110"):
        bystander, key = (
            node.usage_keys.add(alice, Permissions(can_create_groups=True), name).key for name in ("bystander", "key")
        )
        judge.that(min(len(bystander), len(key)) >= 16, "keys of 16 characters at least", [bystander, key])
        judge.distinct([bystander, key], "usage keys")
    # First what a key does: one that came to nothing is no fault of the list. One that is forbidden to add is a key.
    adding = node.groups.creation(key)
    adds, answer = Accepted(adding.operation.name, adding), node.session.send(adding)
    forbidden = ExpectedRefusal.of(["forbidden"], node.session.profile).statuses
    with judge("UKEY-040", why="the key was made with can_create_groups"):
        judge.that(answer.status not in forbidden, "a usage key that may add a group", answer.summary)
    with judge("EP-110", why="the key was made with can_create_groups"):
        must_accept(answer)
    with judge("EP-150", why="list_api_keys shows both keys"):
        must_list("bystander", "key")
    # The update takes away the one permission; that it works is seen by what the key may do, not by a list.
    made = bystander_adds()
    with judge("EP-130"):
        updates = node.usage_keys.update(alice, key, Permissions(can_delete_groups=True), "key")
    with judge("EP-130", why="update_usage_api_key gave the key can_delete_groups"):
        node.groups.remove(key, made)
    with judge("KEYLIFE-030", why="update_usage_api_key took can_create_groups away from the key"):
        must_refuse(node.session, adds.changed(), ["forbidden"], control=adds, unchanged=groups)
    made = bystander_adds()
    with judge("EP-140", why="update_usage_api_key_metadata renames the key that it names, and no other"):
        node.usage_keys.rename(alice, key, "renamed")
        must_list("bystander", "renamed", gone=["key"])
    with judge("KEYLIFE-070", why="a metadata update leaves the permissions of the key"):
        node.groups.remove(key, made)
    lists = node.session.accept(node.session.request("list_groups", alice, **one_item_page(node.session)))[1]
    ways = ("x-api-key", "bearer")
    for via in ways:
        node.session.send(replace(lists.changed(), credential=key, via=via))  # whoever remembers the key does so now
    with judge("EP-120", why="remove_usage_api_key removes the key that it names, and no other"):
        node.usage_keys.remove(alice, key)
        must_list("bystander", gone=["renamed"])
    with (
        judge("KEYLIFE-080", why="the key was removed by remove_usage_api_key"),
        Refusals(node.session, control=[adds, lists], unchanged=groups) as refusals,
    ):
        for request, via in product((adds, lists), ways):
            refusals.send(replace(request.changed(), credential=key, via=via), ["unauthenticated"])
    node.session.send(updates.changed())
    with judge("KEYLIFE-100", why="an update of a removed key does not bring it back"):
        again = replace(lists.changed(), credential=key)
        must_refuse(node.session, again, ["unauthenticated"], control=lists, unchanged=groups)
    bystander_adds()


def by_description(node: Node, alice: str, labels: Mapping[str, str]) -> object:
    """The only usage key in the account's list with the description of these labels."""
    return only(node.usage_keys.list(alice), "description", labels["description"])


@case(
    "usage-key-descriptions",
    requirements=["EP-140"],
    needs=NEEDS,
    uses=[KEY_NAMES, "wire.list_items.fields.usage_key.description"],
)
def usage_key_descriptions(judge: Judge, node: Node) -> None:
    """A metadata update changes the description of the key that it names, not of an older one with the same name."""
    alice = node.accounts.new().key
    older = {"name": f"{node.label} stays", "description": DESCRIPTION}
    after = {**older, "description": f"{node.label} described anew"}
    node.usage_keys.add(alice, name="stays")
    judge.members(only(node.usage_keys.list(alice), "name", older["name"]), older, "the labels of the new key")
    key = node.usage_keys.add(alice, name="stays").key
    with judge():
        node.session.call("update_usage_api_key_metadata", alice, usage_api_key=key, **after)
        by_description(node, alice, after)  # its name is another where names have to differ in an account
    node.usage_keys.remove(alice, key)
    with judge(why="with the key that was described anew, its description is gone, and the older key has its own"):
        judge.members(by_description(node, alice, older), older, "the labels of the older key")


@case("list-api-keys", requirements=["EP-150"], needs=NEEDS)
def list_api_keys(judge: Judge, node: Node) -> None:
    """The list of usage keys goes page by page and never shows a key's value."""
    alice = node.accounts.new().key
    before = len(node.usage_keys.list(alice))
    # Their names differ: a list may show nothing else that tells two keys apart.
    keys = [node.usage_keys.add(alice, name=name).key for name in ("one", "two")]
    request, first = node.session.request("list_api_keys", alice), first_page(node.session)
    with judge():
        for number in (first, first + 1):
            answer = node.session.accept(request.changed(page_number=number, page_size=1))[0]
            length = len(answer.value) if isinstance(answer.value, list) else answer.value
            judge.same(length, 1, "the number of keys on a page of one")
            for key in keys:
                must_hide(answer, key, "the value of a key")
        listed = read_pages(node.session, request, 1)
        judge.same(len(listed), before + 2, "the number of keys on all pages")
        judge.distinct(listed, "items of the list")


# ---------------------------------------------------------------------------------------------------------- groups


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


@case(
    "update-group",
    requirements=["EP-180", "GRPLIFE-020", "GRPLIFE-030", "GRPLIFE-040", "GRPLIFE-050", "GRPLIFE-090"],
    needs=NEEDS,
    uses=["wire.list_groups.item_fields"],
)
def update_group(judge: Judge, node: Node) -> None:
    """update_group replaces a group's name, description and lists, and leaves other groups as they are."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    x, y = (hashed_cid(node.actions.sample_cid(name)) for name in ("one", "two"))
    g = node.groups.add(alice, "first", pkp_ids=[p.id], cid_hashes=[x])
    other = node.groups.add(alice, "untouched", pkp_ids=[p.id], cid_hashes=[x])
    ids = pluck(node.groups.list(alice)[-2:], "id")

    def listed(number: int, name: str, description: str = DESCRIPTION) -> None:
        group = only(node.groups.list(alice), "id", member(ids, str(number)))
        judge.members(group, {"name": name, "description": description}, "the labels of the group")

    def lists_wallet(group: GroupId, pkp: Pkp) -> None:
        wallets = node.pkps.list(alice, group)
        judge.same_hexes(pluck(wallets, "wallet_address"), [pkp.address], "the wallets of the group")

    def lists_action(group: GroupId, hashed: str) -> None:
        judge.same_hexes(pluck(node.actions.list(alice, group), "hashed_cid"), [hashed], "the actions of the group")

    listed(0, f"{node.label} first")
    listed(1, f"{node.label} untouched")
    labels = {"name": f"{node.label} second", "description": "other"}
    new_lists: dict[str, object] = {"pkp_ids_permitted": [q.id], "cid_hashes_permitted": [y]}
    with judge("EP-180"):
        node.session.call("update_group", alice, group_id=g.id, **labels, **new_lists)
        updated = only(node.groups.list(alice), "id", member(ids, "0"))
    for requirement, label in (("GRPLIFE-020", "name"), ("GRPLIFE-030", "description")):
        with judge.apart(requirement, why=f"update_group replaces the {label} of the group"):
            judge.same(member(updated, label), labels[label], f"the {label} of the group")
    with judge.apart("GRPLIFE-040", why="update_group replaces the permitted wallets of the group"):
        lists_wallet(g.id, q)
    with judge.apart("GRPLIFE-050", why="update_group replaces the permitted actions of the group"):
        lists_action(g.id, y)
    with judge.apart("GRPLIFE-090", why="update_group leaves the other groups as they are"):
        listed(1, f"{node.label} untouched")
        lists_wallet(other.id, p)
        lists_action(other.id, x)


@case("remove-group", requirements=["EP-190", "GRPLIFE-100"], needs=NEEDS)
def remove_group(judge: Judge, node: Node) -> None:
    """The named group is removed and no other."""
    alice = node.accounts.new().key
    first, second, third = (node.groups.add(alice, str(number)) for number in range(3))
    ids = pluck(node.groups.list(alice)[-3:], "id")
    judge.set_up(len(ids) == 3 and first.id != third.id, "a list with three groups")
    with judge("EP-190", why="remove_group takes the named group away"):
        node.groups.remove(alice, second.id)
        left = pluck(node.groups.list(alice), "id")
        judge.that(ids[1] not in left, "a list without the removed group", left)
    with judge("GRPLIFE-100", why="remove_group leaves the other groups, in their order"):
        judge.same([one for one in left if one in ids], [ids[0], ids[2]], "the other groups")


@case("list-groups", requirements=["EP-200"], needs=NEEDS)
def list_groups(judge: Judge, node: Node) -> None:
    """The list of groups is an array of items with an id, page by page."""
    alice = node.accounts.new().key
    made = [node.groups.add(alice, name) for name in ("first", "second")]
    request = node.session.request("list_groups", alice)
    with judge():
        ids = pluck(node.groups.list(alice), "id")
    if not ids:  # The list hides a group that is there; of one that is not, the case about add_group tells.
        node.groups.add_action(alice, made[0].id, node.actions.sample_cid("one"))
    with judge():
        judge.that(all(group.listed_id in ids for group in made), "both new groups", ids)
        judge.distinct(ids, "ids of groups")
        pages = [pluck(read_page(node.session, request, number, 1), "id") for number in range(2)]
        judge.same([len(page) for page in pages], [1, 1], "the number of groups on pages of one")
        judge.that(pages[0] != pages[1] and all(page[0] in ids for page in pages), "a group on each page", pages)


Joined = TypeVar("Joined")


@dataclass(frozen=True)
class Joining(Generic[Joined]):
    """Two things of an account that join groups and leave them."""

    one: Joined
    other: Joined
    made_with: Callable[[Sequence[Joined]], Group]
    """Makes a group that lists them."""
    add: Callable[[GroupId, Joined], object]
    remove: Callable[[GroupId, Joined], object]
    listed: Callable[[GroupId], Sequence[object]]
    shown: Callable[[Joined], str]
    """The hex by which the list shows it."""
    about: tuple[str, str, str]
    """The requirements of the addition, the list and the removal."""
    several: str
    """The requirement that it may belong to several groups."""


def join_and_leave(judge: Judge, node: Node, alice: str, on: Joining[Joined]) -> None:
    """Both join G, the other one joins H, too, and leaves G."""
    added, listed, removed = on.about
    # Not made with them: the lists that a group is made with are another case's.
    g, h = node.groups.add(alice, "g").id, node.groups.add(alice, "h").id

    def holds(group: GroupId, *things: Joined) -> None:
        judge.same_hexes(on.listed(group), [*map(on.shown, things)], "what the group lists", any_order=True)

    with judge(added):
        for thing in (on.other, on.one):
            on.add(g, thing)
    with judge(listed):
        shown = on.listed(g)
    if len(shown) < 2:  # Is it the addition or the list? A group that was made with both tells.
        made = on.made_with([on.one, on.other]).id
        with judge(listed, why="two things that joined a group, or that it was made with, are listed"):
            shown = on.listed(made)
            judge.that(len(shown) == 2, "both in either group", shown)
    with judge(added, why="an addition stands beside what is in the group"):
        holds(g, on.other, on.one)
    with judge(added):
        on.add(h, on.other)
    with judge(listed, why="the list of a group shows nothing of another group"):
        inside = on.listed(h)
        judge.that(not any(same_hex(one, on.shown(on.one)) for one in inside), "nothing of the other group", inside)
    with judge(added, why="what is in a first group can join a second"):
        holds(h, on.other)
    with judge(on.several, why="what joins a second group stays in the first"):
        holds(g, on.other, on.one)
    with judge(removed, why="a removal takes out what it names, of the group that it names, and nothing else"):
        on.remove(g, on.other)
        holds(g, on.one)
    with judge(removed, why="a removal leaves the other group as it is"):
        holds(h, on.other)


@case("actions-join-and-leave-groups", requirements=["EP-210", "EP-250", "EP-360", "ACT-080"], needs=NEEDS)
def actions_join_and_leave_groups(judge: Judge, node: Node) -> None:
    """An action joins one group and leaves one group, and no other action or group is touched."""
    alice, groups = node.accounts.new().key, node.groups
    one, other = (node.actions.sample_cid(name) for name in ("one", "two"))
    for cid in (one, other):
        node.actions.add(alice, cid)
    on = Joining(
        one=one,
        other=other,
        made_with=lambda cids: groups.add(alice, cid_hashes=[*map(hashed_cid, cids)]),
        add=lambda group, cid: groups.add_action(alice, group, cid),
        remove=lambda group, cid: groups.remove_action(alice, group, hashed_cid(cid)),
        listed=lambda group: pluck(node.actions.list(alice, group), "hashed_cid"),
        shown=hashed_cid,
        about=("EP-360", "EP-250", "EP-210"),
        several="ACT-080",
    )
    join_and_leave(judge, node, alice, on)


@case("wallets-join-and-leave-groups", requirements=["EP-220", "EP-240", "EP-370", "PKP-060"], needs=NEEDS)
def wallets_join_and_leave_groups(judge: Judge, node: Node) -> None:
    """A wallet joins one group and leaves one group, and no other wallet or group is touched."""
    alice, groups = node.accounts.new().key, node.groups
    one, other = node.pkps.create_several(alice, 2)
    on = Joining(
        one=one,
        other=other,
        made_with=lambda pkps: groups.add(alice, pkp_ids=[pkp.id for pkp in pkps]),
        add=lambda group, pkp: groups.add_pkp(alice, group, pkp.id),
        remove=lambda group, pkp: groups.remove_pkp(alice, group, pkp.id),
        listed=lambda group: pluck(node.pkps.list(alice, group), "wallet_address"),
        shown=lambda pkp: pkp.address,
        about=("EP-370", "EP-240", "EP-220"),
        several="PKP-060",
    )
    join_and_leave(judge, node, alice, on)


# ---------------------------------------------------------------------------------------------- wallets and actions


@case("create-wallet", requirements=["EP-230", "EP-350"], needs=NEEDS)
def create_wallet(judge: Judge, node: Node) -> None:
    """A wallet is made and registered in one call, and the list of wallets goes page by page."""
    alice = node.accounts.new().key
    before, request = len(node.pkps.list(alice)), node.session.request("list_wallets", alice)
    made: list[object] = []

    def holds_all(wallets: Sequence[object], count: int) -> None:
        judge.same(len(wallets), before + count, "the number of listed wallets")
        for address in made:
            only(wallets, "wallet_address", address)

    for count in (1, 2):
        with judge("EP-350"):
            ((answer, _),) = node.pkps.creations(alice, 1)
            made.append(member(answer.value, "wallet_address"))
            judge.that(is_address(made[-1]), "a wallet_address", made[-1])
            judge.distinct([printed(one).lower() for one in made], "addresses of wallets")
        wallets = node.pkps.list(alice)
        with judge("EP-230", why="create_wallet registers the wallet: list_wallets shows it"):
            for address in made[: count - 1]:
                only(wallets, "wallet_address", address)
        with judge("EP-350"):
            holds_all(wallets, count)
    with judge("EP-230", why="both wallets of two create_wallet calls are listed"):
        holds_all(read_pages(node.session, request, 1), 2)
        judge.same(len(read_page(node.session, request, 0, 1)), 1, "the number of wallets on a page of one")


@case(
    "action-metadata",
    requirements=["EP-260", "EP-270", "EP-280", "EP-290", "EP-300"],
    needs=NEEDS,
    uses=["wire.list_items.fields.action.name", "wire.list_items.fields.action.description"],
)
def action_metadata(judge: Judge, node: Node) -> None:
    """Action metadata are registered, listed under the hash of the CID, updated and deleted."""
    alice = node.accounts.new().key
    x, y = (node.actions.sample_cid(name) for name in ("one", "two"))
    hash_of_x, hash_of_y = hashed_cid(x), hashed_cid(y)
    g = node.groups.add(alice, cid_hashes=[hash_of_x]).id
    labels = {hash_of_x: ("one", "first"), hash_of_y: ("two", "second")}

    def register(cid: Cid) -> None:
        name, description = labels[hashed_cid(cid)]
        node.session.call("add_action", alice, action_ipfs_cid=cid, name=name, description=description)

    def can_be_renamed(hashed: HashedCid) -> bool:
        name, description = labels[hashed]
        members = {"hashed_cid": hashed, "name": name, "description": description}
        return node.session.send(node.session.request("update_action_metadata", alice, **members)).accepted

    def must_be_listed(*hashes: str) -> None:
        listed = node.actions.list(alice)
        judge.same(len(listed), len(hashes), "the number of listed actions")
        for own in hashes:
            name, description = labels[HashedCid(own)]
            expected = {"name": name, "description": description}
            judge.members(only(listed, "hashed_cid", own), expected, "the labels of the action")

    with judge("EP-280"):
        register(y)
        register(x)
    with judge("EP-260"):
        listed, shown_at = node.actions.list(alice), node.session.last_exchange
    # An action that can be renamed was added: the list is at fault. One of the two is in a group.
    are_added = len(listed) == 2 or all(map(can_be_renamed, labels))
    with judge("EP-260" if are_added else "EP-280", why="the list of all actions shows both that were added"):
        judge.same(len(listed), 2, "the number of listed actions", shown_at)
    with judge("EP-270", why="both actions are listed by the hashes of their CIDs"):
        hashes = pluck(listed, "hashed_cid")
        judge.same_hexes(hashes, [hash_of_x, hash_of_y], "the hashes of the actions", any_order=True)
    with judge("EP-280", why="both have the name and description that they were given"):
        must_be_listed(hash_of_x, hash_of_y)
    judge.set_up(len(node.actions.list(alice, g)) == 1, "a list of the group with the action")
    labels[hash_of_x] = "one", "third"
    with judge("EP-300", why="update_action_metadata replaces the description of one action, and no other's"):
        node.session.call("update_action_metadata", alice, hashed_cid=hash_of_x, name="one", description="third")
        must_be_listed(hash_of_x, hash_of_y)
    with judge("EP-300", why="an action whose metadata changed stays in its group"):
        judge.same_hexes(pluck(node.actions.list(alice, g), "hashed_cid"), [hash_of_x], "the actions of the group")
    with judge("EP-290", why="a deleted action is no longer listed, and the other one stays"):
        node.actions.delete(alice, hash_of_x)
        must_be_listed(hash_of_y)
    # What is registered anew starts from its own texts: nothing of the deleted metadata comes back.
    labels[hash_of_x] = "anew", "fourth"
    with judge("EP-280", why="an action that was deleted and added anew is listed"):
        register(x)
        judge.same(len(node.actions.list(alice)), 2, "the number of listed actions")
    with judge("EP-290", "EP-280", why="an action that was deleted and added anew shows its new labels"):
        must_be_listed(hash_of_x, hash_of_y)


@case("unregistered-action-metadata", requirements=["EP-310"], needs=NEEDS)
def unregistered_action_metadata(judge: Judge, node: Node) -> None:
    """Metadata that the account never registered can be neither updated nor deleted."""
    alice, cid = node.accounts.new().key, node.actions.sample_cid("one")
    unregistered = random_hash(node.session.random)
    for added in (cid, node.actions.sample_cid("stays")):
        node.actions.add(alice, added)
    does = [node.actions.update(alice, hashed_cid(cid), "renamed"), node.actions.delete(alice, hashed_cid(cid))]
    actions = [unchanged_list(node.session, "list_actions", alice)]
    with judge(), Refusals(node.session, control=does, unchanged=actions) as refusals:
        for accepted in does:
            refusals.send(accepted.changed(hashed_cid=unregistered), ["not_found"])


def cid_of(node: Node, body: str) -> object:
    """The CID that the node answers for a body."""
    request = replace(node.session.request("get_action_ipfs_id"), body=body)
    return member(node.session.accept(request)[0].value, "cid")


@case("action-cid", requirements=["EP-320"])
def action_cid(judge: Judge, node: Node) -> None:
    """The CID of a code is computed for anybody, and each code has its own."""
    codes = [written(f"async function main() {{ return {number} }}") for number in (1, 1, 2)]
    with judge():
        one, again, another = (cid_of(node, code) for code in codes)
        for cid in (one, another):
            judge.that(CID.fullmatch(printed(cid)) is not None, "a CID", cid)
        judge.same(again, one, "the CID of the same code")
        judge.that(another != one, "another CID of another code", another)


@case(
    "action-cid-of-escaped-code",
    requirements=["EP-330"],
    each={
        "ascii": ('"main(/a/)"', r'"\u006d\u0061in(\/a\u002f)"'),
        "newline-and-quote": (r'"a\n\"b\"\t"', r'"a\u000a\u0022b\u0022\u0009"'),
        "accents": ('"é中"', r'"\u00e9\u4e2d"'),
        "beyond-the-basic-plane": ('"😀"', r'"\ud83d\ude00"'),
        "white-space-around": ('"main()"', '  "main()"\n'),
    },
)
def action_cid_of_escaped_code(judge: Judge, node: Node, row: tuple[str, str]) -> None:
    """The CID is that of the code, whatever JSON escapes carry it."""
    plain, escaped = row
    cid = cid_of(node, plain)
    with judge():
        judge.same(cid_of(node, escaped), cid, "the CID of the code, written with escapes,")
        judge.that(cid_of(node, '"another code"') != cid, "another CID of another code", cid)


@case("account-exists", requirements=["EP-340"], needs=NEEDS)
def account_exists(judge: Judge, node: Node) -> None:
    """The node says whether a key has an account."""
    keys = [node.accounts.new().key for _ in range(2)]
    nobodys = (random_key(node.session.random), key_with_flipped_bit(keys[0]))
    with judge():
        for key, via in zip(keys, ("x-api-key", "bearer"), strict=True):
            answer, _ = node.session.accept(replace(node.session.request("account_exists", key), via=via))
            judge.same(member(answer.value, "exists"), True, "`exists` of an account's key")
        # Whether an unknown key is answered or refused is the node's choice; that it exists is never the answer.
        for unknown in nobodys:
            answer = node.session.send(node.session.request("account_exists", unknown))
            if was_accepted(node.session, answer, or_refused=["any"]):
                judge.same(member(answer.value, "exists"), False, "`exists` of a key that nobody owns")


@case("account-exists-of-an-unknown-key", requirements=["EP-400"], needs=NEEDS)
def account_exists_of_an_unknown_key(judge: Judge, node: Node) -> None:
    """A key that nobody owns is answered or refused as the profile says."""
    existing = node.session.accept(node.session.request("account_exists", node.accounts.new().key))[1]
    with judge():
        unknown = replace(existing.changed(), credential=random_key(node.session.random))
        must_be_as_stated(node.session, unknown, UNKNOWN_KEY, control=existing, unchanged=[])


# ------------------------------------------------------------------------------------------------------- addresses


def are_addresses(judge: Judge, values: object) -> None:
    """All values are well-formed addresses."""
    known = values if isinstance(values, list) else []
    judge.that(bool(known) and all(map(is_checked_address, known)), "addresses (0x, 40 hex digits, EIP-55)", values)


@case("addresses-of-the-chain", requirements=["EP-430"])
def addresses_of_the_chain(judge: Judge, node: Node) -> None:
    """The addresses of contract and payers are well-formed."""
    with judge():
        are_addresses(judge, [member(node.session.call("get_node_chain_config").value, "contract_address")])
        are_addresses(judge, member(node.session.call("get_api_payers").value, "addresses"))
        are_addresses(judge, [member(node.session.call("get_admin_api_payer").value, "address")])


@case(
    "addresses-of-wallets",
    requirements=["EP-430"],
    needs=NEEDS,
    uses=["wire.list_items.fields.wallet.wallet_address", {"accounts.credits": "granted"}],
)
def addresses_of_wallets(judge: Judge, node: Node) -> None:
    """The addresses of wallets are well-formed, in answers and in lists."""
    with judge():
        alice = node.accounts.new()
        are_addresses(judge, [alice.wallet_address])
        made = node.pkps.creations(alice.key, 1)
        are_addresses(judge, [member(answer.value, "wallet_address") for answer, _ in made])
    wallets = node.pkps.list(alice.key)
    judge.set_up(bool(wallets), "a list with the wallet")
    with judge():
        are_addresses(judge, pluck(wallets, "wallet_address"))
    (pkp,) = node.pkps.listed(alice.key, made)
    group = node.groups.add(alice.key, pkp_ids=[pkp.id]).id
    with judge():
        are_addresses(judge, pluck(node.pkps.list(alice.key, group), "wallet_address"))


# --------------------------------------------------------------------------------------------------------- methods


@case("open-paths-by-another-method", requirements=["EP-420"])
def open_paths_by_another_method(judge: Judge, node: Node) -> None:
    """The open paths, too, are served with their stated method alone."""
    names = ("get_node_chain_config", "get_api_payers", "get_admin_api_payer")
    pairs = [(node.session.request(name), "POST") for name in names]
    pairs.append((node.session.request("get_action_ipfs_id", code="1"), "GET"))
    controls = [node.session.accept(request)[1] for request, _ in pairs]
    with judge(), Refusals(node.session, control=controls, unchanged=[]) as refusals:
        for request, method in pairs:
            # Which 4xx a router answers with is its own choice; what counts is that it refuses.
            refusals.send(replace(request, method=method), ["any"])


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
WRONG_IDS: Forms = (("text", ""), (1.5, -1, U64), (True, None, [1], {"id": 1}))
WRONG_LISTS: Forms = (("text", 5, True, {"text": "text"}), ([None], [True], [[]]))
NAMES_WHAT_THERE_IS = frozenset({"group_id", "usage_api_key"})
"""A value of the wrong type may be refused like one that is not there."""

WRONG_BODIES = [*NOT_JSON, *NO_OBJECT, NOT_UTF_8, DEEP, '{"a":' * 4_000, '[{"a":' * 4_000]
WRONG_CODES = [
    "async function main() { return 1 }",
    '"main()',
    "'main()'",
    r'"\x"',
    '"a\nb"',
    '"a" "b"',
    '{"code": "main()"}',
    '["main()"]',
    "5",
    "null",
    "",
    DEEP,
]

Writes = tuple[Sequence[tuple[Accepted, dict[str, object]]], Sequence[tuple[str, dict[str, object]]]]
"""Accepted writes, what to change to make each one accepted again, with an effect, and the lists that would show it."""


# What is no JSON, or JSON of another shape than the tables say, is refused, changes nothing and breaks nothing: each
# case ends with a request that is right. Whether such a refusal is a 400 or a 422 is the node's choice.


@case("malformed-account-bodies", requirements=["EP-030"], needs=NEEDS)
def malformed_account_bodies(judge: Judge, node: Node) -> None:
    """No account comes of a malformed body."""
    labels = {"account_name": node.label, "account_description": "d"}
    makes = node.session.accept(node.session.request("new_account", **labels))[1]
    requests = [replace(makes.changed(), body=body) for body in WRONG_BODIES]
    for value in (value for forms in WRONG_TEXTS for value in forms):
        requests += [makes.changed(**{name: value}) for name in (*labels, "email")]
    with judge():
        with Refusals(node.session, control=makes, unchanged=[]) as refusals:
            for request in requests:
                refusals.send(request, ["malformed", "invalid"])
        node.session.accept(makes.changed())


@case("malformed-code-bodies", requirements=["EP-030"])
def malformed_code_bodies(judge: Judge, node: Node) -> None:
    """No CID comes of a body that is no JSON string."""
    asks = node.session.accept(node.session.request("get_action_ipfs_id", code="main()"))[1]
    with judge():
        with Refusals(node.session, control=asks, unchanged=[]) as refusals:
            for body in WRONG_CODES:
                refusals.send(replace(asks.changed(), body=body), ["malformed", "invalid"])
        node.session.accept(asks.changed())


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
    node.actions.add(alice, one)
    added = node.actions.add(alice, two)
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
