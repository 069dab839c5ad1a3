"""Groups ("Resources and their fields / Group", "Endpoints / Groups", "Resources and their fields / Action")."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.profile.wire import ZERO_HASH
from conformance.service.acceptance import Accepted, must_accept
from conformance.service.at_once import send_at_once
from conformance.service.bindings import bound
from conformance.service.derivations import ID_RULE, hashed_cid, random_hash
from conformance.service.groups import group_id
from conformance.service.lists import unchanged_list
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.reads import Read
from conformance.service.refusal import NO_ID, Refusals, must_be_as_stated
from conformance.service.usage_keys import Permissions
from conformance.values.ids import Cid, GroupId
from conformance.values.json_values import member, pluck, printed, same

NEEDS = ("managed_accounts",)
WALLET_IDS = "wire.list_items.fields.wallet.id"
GROUP_FIELDS = "wire.list_groups.item_fields"
ID_FORM = "wire.list_groups.id_form"
DECIMAL = re.compile("0|[1-9][0-9]*")


@dataclass(frozen=True)
class Filling:
    """An account with the wallets P and Q and the actions X and Y, and what its groups must list."""

    judge: Judge
    node: Node
    alice: str
    p: Pkp
    q: Pkp
    x: Cid
    y: Cid

    def must_list(
        self,
        group: GroupId,
        wallets: Sequence[Pkp],
        actions: Sequence[Cid],
        why: str,
        about: tuple[Sequence[str], Sequence[str]] = ((), ()),
    ) -> None:
        """The group lists these and nothing else; `about` is what its wallets and its actions judge, if not all."""
        with self.judge.apart(*about[0], why=why):
            ids = pluck(self.node.pkps.list(self.alice, group), "id")
            self.judge.same_hexes(ids, [one.id for one in wallets], "the wallets of the group", any_order=True)
        with self.judge.apart(*about[1], why=why):
            listed = pluck(self.node.actions.list(self.alice, group), "hashed_cid")
            self.judge.same_hexes(listed, [*map(hashed_cid, actions)], "the actions of the group", any_order=True)

    def group(self, wallets: Sequence[Pkp], actions: Sequence[Cid]) -> GroupId:
        """A new group that lists these."""
        return bound(self.node, self.alice, wallets, [*map(hashed_cid, actions)])

    def wallets_of(self, group: GroupId) -> Read:
        """The wallets of a group, as a read that must stay unchanged."""
        return unchanged_list(self.node.session, "list_wallets_in_group", self.alice, group_id=group)


def filling(judge: Judge, node: Node) -> Filling:
    """A fresh account."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    return Filling(judge, node, alice, p, q, node.actions.sample_cid("x"), node.actions.sample_cid("y"))


# --------------------------------------------------------------------------------------------------- what a group holds


@case("group-has-an-id", requirements=["GRP-010", "GRP-180"], needs=NEEDS, uses=[ID_FORM])
def group_has_an_id(judge: Judge, node: Node) -> None:
    """Every group in list_groups has an id within u64 other than 0, in the form that the profile states."""
    alice = node.accounts.new().key
    for _ in range(2):
        node.session.accept(node.groups.creation(alice))
    ids = pluck(node.groups.list(alice)[-2:], "id")
    judge.set_up(len(ids) == 2, "a list with both groups")
    is_number = node.session.stated(ID_FORM) == "integer"
    with judge("GRP-010"):
        numbers = [group_id(one) for one in ids]
        # Ids in hex are read as decimal texts; what is no hex stays as it is.
        fits = [isinstance(one, int) if is_number else DECIMAL.fullmatch(printed(one)) for one in ids]
        judge.that(all(fits), "ids in the form that the profile states", ids)
        judge.that(is_number == isinstance(ids[0], int), "ids in the form that the profile states", ids)
        judge.that(all(0 <= one < 2**64 for one in numbers), "ids within u64", ids)
    with judge("GRP-180"):
        judge.that(0 not in numbers, "ids other than 0, which means all groups", ids)


def keeps_its(judge: Judge, node: Node, label: str, texts: Sequence[str]) -> None:
    """Groups are listed with the texts that they were created with as this label."""
    alice = node.accounts.new().key
    for number, text in enumerate(texts):
        request = node.groups.creation(alice, str(number))
        node.session.accept(request.changed(**{f"group_{label}": f"{node.label} {text}"}))
    with judge():
        listed = pluck(node.groups.list(alice), label)
        for text in texts:
            judge.that(f"{node.label} {text}" in listed, f"a group with the {label} {text}", listed)


@case("group-has-a-name", requirements=["GRP-020"], needs=NEEDS, uses=[f"{GROUP_FIELDS}.name"])
def group_has_a_name(judge: Judge, node: Node) -> None:
    """A group is listed with the name that it was created with."""
    keeps_its(judge, node, "name", ["one", "δύο, 二 und ein Gruß"])


@case("group-has-a-description", requirements=["GRP-030"], needs=NEEDS, uses=[f"{GROUP_FIELDS}.description"])
def group_has_a_description(judge: Judge, node: Node) -> None:
    """A group is listed with the description that it was created with."""
    keeps_its(judge, node, "description", ["first", "second"])


@case("lists-given-at-creation", requirements=["GRP-040", "GRP-050"], needs=NEEDS, uses=[WALLET_IDS])
def lists_given_at_creation(judge: Judge, node: Node) -> None:
    """The wallets and the action hashes given to add_group are permitted in that group, and in no other."""
    on = filling(judge, node)
    given: list[tuple[list[Pkp], list[Cid]]] = [([on.p], [on.x]), ([on.q, on.p], [on.y, on.x]), ([], [])]
    groups = [on.group(*lists) for lists in given]
    for group, lists in zip(groups, given, strict=True):
        why = "what add_group names is permitted in that group, and nothing else"
        on.must_list(group, *lists, why, (["GRP-040"], ["GRP-050"]))


@case("group-ids-are-unique", requirements=["GRP-190", "GRPLIFE-220"], needs=NEEDS)
def group_ids_are_unique(judge: Judge, node: Node) -> None:
    """Groups made one after the other and at the same time all have ids of their own."""
    alice = node.accounts.new().key
    before = len(node.groups.list(alice))
    for number in range(2):
        node.session.accept(node.groups.creation(alice, f"before {number}"))
    with judge("GRPLIFE-220"):
        for answer in send_at_once(node.session, [node.groups.creation(alice, str(number)) for number in range(5)]):
            must_accept(answer)
    node.session.accept(node.groups.creation(alice, "after"))
    ids = pluck(node.groups.list(alice), "id")
    with judge("GRP-190"):
        judge.distinct(ids, "ids of groups")
    with judge("GRPLIFE-220"):
        judge.same(len(ids), before + 8, "the number of groups, eight more than before,")


@case("duplicates-count-once", requirements=["GRP-230"], needs=NEEDS, uses=[WALLET_IDS])
def duplicates_count_once(judge: Judge, node: Node) -> None:
    """An entry given twice, also once in capitals, is listed once, and one removal takes it away."""
    on = filling(judge, node)
    p, q, x, y = on.p.id, on.q.id, hashed_cid(on.x), hashed_cid(on.y)
    capital_p, capital_x = (f"0x{one[2:].upper()}" for one in (p, x))
    both = ([on.p, on.q], [on.x, on.y])
    with judge():
        g = node.groups.add(on.alice, pkp_ids=[p, q, p], cid_hashes=[x, x, y]).id
    on.must_list(g, *both, "what add_group names twice is listed once")
    # That capitals mean nothing is another case's: these entries are given once.
    node.groups.update(on.alice, g, pkp_ids=[q, capital_p], cid_hashes=[capital_x, y])
    judge.set_up(len(node.pkps.list(on.alice, g)) == 2, "a group with the two wallets")
    with judge():
        node.groups.update(on.alice, g, pkp_ids=[q, capital_p, p, q], cid_hashes=[capital_x, y, x, y])
    on.must_list(g, *both, "what update_group names twice, once in capitals, is listed once")
    with judge():
        node.groups.remove_pkp(on.alice, g, on.p.id)
        node.groups.remove_action(on.alice, g, x)
    on.must_list(g, [on.q], [on.y], "one removal takes away what was named twice")


@case("account-key-works-in-every-group", requirements=["GRP-250"], needs=NEEDS, uses=[WALLET_IDS])
def account_key_works_in_every_group(judge: Judge, node: Node) -> None:
    """The account key lists, updates, fills, empties and removes a group that a usage key made."""
    on = filling(judge, node)
    before = node.groups.list(on.alice)
    key = node.usage_keys.add(on.alice, Permissions(can_create_groups=True)).key
    node.session.accept(node.groups.creation(key))
    with judge():
        listed = node.groups.list(on.alice)
        judge.same(len(listed), len(before) + 1, "the number of groups that the account key lists")
        g = group_id(member(listed[-1], "id"))
        node.groups.update(on.alice, g, pkp_ids=[on.q.id], cid_hashes=[])
        node.groups.add_pkp(on.alice, g, on.p.id)
        node.groups.add_action(on.alice, g, on.x)
    on.must_list(g, [on.p, on.q], [on.x], "the account key fills the group")
    with judge():
        node.groups.remove_pkp(on.alice, g, on.p.id)
        node.groups.remove_action(on.alice, g, hashed_cid(on.x))
    on.must_list(g, [on.q], [], "the account key empties the group")
    with judge():
        node.groups.remove(on.alice, g)
        left = pluck(node.groups.list(on.alice), "id")
        judge.that(member(listed[-1], "id") not in left, "a list without the removed group", left)


@case("three-ways-to-fill-a-group", requirements=["GRP-270"], needs=NEEDS)
def three_ways_to_fill_a_group(judge: Judge, node: Node) -> None:
    """A group filled at creation, by update_group or item by item lists the same."""
    on = filling(judge, node)
    lists: tuple[list[object], list[object]] = ([on.p.id, on.q.id], [hashed_cid(on.x), hashed_cid(on.y)])
    created, updated, filled = on.group([on.p, on.q], [on.x, on.y]), on.group([], []), on.group([], [])
    node.groups.update(on.alice, updated, pkp_ids=lists[0], cid_hashes=lists[1])
    for pkp, cid in ((on.p, on.x), (on.q, on.y)):
        node.groups.add_pkp(on.alice, filled, pkp.id)
        node.groups.add_action(on.alice, filled, cid)
    with judge():
        for read in (node.pkps.list, node.actions.list):
            first, *others = (read(on.alice, group) for group in (created, updated, filled))
            judge.same(len(first), 2, "the number of items of a group that was filled at its creation")
            for other in others:
                alike = len(other) == 2 and all(any(same(one, known) for one in other) for known in first)
                judge.that(alike, "the same items in a group that was filled otherwise", other)
        hashes = pluck(node.actions.list(on.alice, created), "hashed_cid")
        judge.same_hexes(hashes, lists[1], "the actions of the group", any_order=True)


# ------------------------------------------------------------------- what the profile says where nothing else does


def as_stated(
    node: Node, key: str, calls: Sequence[tuple[Accepted, OutgoingRequest]], unchanged: Sequence[Read]
) -> None:
    """Send requests that the profile's key says to be accepted or refused; each beside the call that is its control."""
    for control, request in calls:
        must_be_as_stated(node.session, request, key, control=control, unchanged=unchanged)


@case("adding-twice-and-removing-what-is-not-there", requirements=["GRP-260"], needs=NEEDS, uses=[WALLET_IDS])
def adding_twice_and_removing_what_is_not_there(judge: Judge, node: Node) -> None:
    """Adding what a group holds, or removing what it lacks, does what the profile says and no more."""
    on = filling(judge, node)
    g = on.group([on.q], [on.y])
    lists = [on.wallets_of(g), unchanged_list(node.session, "list_actions", on.alice, group_id=g)]
    added = [node.groups.add_pkp(on.alice, g, on.p.id), node.groups.add_action(on.alice, g, on.x)]
    key = "semantics.group_membership_idempotence"
    with judge():
        as_stated(node, f"{key}.add_present", [(one, one.changed()) for one in added], lists)
    on.must_list(g, [on.p, on.q], [on.x, on.y], "a second addition leaves what it names in the group once")
    removed = [
        node.groups.remove_pkp(on.alice, g, on.p.id),
        node.groups.remove_action(on.alice, g, hashed_cid(on.x)),
    ]
    with judge():
        as_stated(node, f"{key}.remove_absent", [(one, one.changed()) for one in removed], lists)
    on.must_list(g, [on.q], [on.y], "a second removal leaves what else is in the group")


@case("wildcard-for-wallets-added-and-removed", requirements=["GRP-210"], needs=NEEDS)
def wildcard_for_wallets_added_and_removed(judge: Judge, node: Node) -> None:
    """The all-zero PKP id, added to a group and removed from it, is accepted or refused as the profile says."""
    on = filling(judge, node)
    g, h = on.group([on.q], []), bound(node, on.alice, [ZERO_HASH], [])
    added, removed = node.groups.add_pkp(on.alice, g, on.p.id), node.groups.remove_pkp(on.alice, g, on.p.id)
    key = "semantics.pkp_wildcard_by_add_remove"
    with judge():
        as_stated(node, f"{key}.add", [(added, added.changed(pkp_id=ZERO_HASH))], [on.wallets_of(g)])
        wildcard_removed = removed.changed(group_id=h, pkp_id=ZERO_HASH)
        as_stated(node, f"{key}.remove", [(removed, wildcard_removed)], [on.wallets_of(h)])


@case("wallet-id-of-nobody", requirements=["PKP-160"], needs=NEEDS)
def wallet_id_of_nobody(judge: Judge, node: Node) -> None:
    """A PKP id that the account does not have does in a group what the profile says."""
    on = filling(judge, node)
    unknown = random_hash(node.session.random)
    if node.session.target.profile_value(ID_RULE) == "left_padded_address":
        unknown = f"0x{unknown[-40:]:0>64}"
    made = node.groups.add(on.alice, pkp_ids=[on.p.id])
    updated = node.groups.update(on.alice, made.id, pkp_ids=[on.p.id], cid_hashes=[])
    added = node.groups.add_pkp(on.alice, made.id, on.q.id)
    groups = unchanged_list(node.session, "list_groups", on.alice)
    key, listed = "semantics.unknown_pkp_id_in_group", {"pkp_ids_permitted": [unknown]}
    with judge():
        as_stated(node, f"{key}.listed", [(made.accepted, made.accepted.changed(**listed))], [groups])
        reads = [groups, on.wallets_of(made.id)]
        as_stated(node, f"{key}.listed", [(updated, updated.changed(**listed))], reads)
        as_stated(node, f"{key}.added", [(added, added.changed(pkp_id=unknown))], reads)


# -------------------------------------------------------------------------------------------- hashed CIDs that are none


def malformed_hashes(cid: str) -> list[str]:
    """What is not 0x and 64 hex digits: too short, too long, no hex, the raw CID, and what must not become 0."""
    hashed = hashed_cid(cid)
    return [hashed[:-1], f"{hashed}0", f"{hashed[:-1]}g", cid, "", "0x"]


@case("malformed-hash-in-group-lists", requirements=["GRP-240"], needs=NEEDS)
def malformed_hash_in_group_lists(judge: Judge, node: Node) -> None:
    """add_group and update_group refuse a hashed CID that is not 0x and 64 hex digits."""
    alice, cid = node.accounts.new().key, node.actions.sample_cid("x")
    group = node.groups.add(alice, cid_hashes=[hashed_cid(cid)])
    updated = node.groups.update(alice, group.id, pkp_ids=[], cid_hashes=[hashed_cid(cid)])
    lists = [
        unchanged_list(node.session, "list_groups", alice),
        unchanged_list(node.session, "list_actions", alice, group_id=group.id),
    ]
    with judge(), Refusals(node.session, control=[group.accepted, updated], unchanged=lists) as refusals:
        # Every other form goes to the other operation: both take the same list.
        for control, wrong in zip(cycle([group.accepted, updated]), malformed_hashes(cid)):
            refusals.send(control.changed(cid_hashes_permitted=[wrong]), NO_ID)


@case("malformed-hash-as-hashed-cid", requirements=["GRP-240"], needs=NEEDS)
def malformed_hash_as_hashed_cid(judge: Judge, node: Node) -> None:
    """Removing, updating and deleting refuse a hashed_cid that is not 0x and 64 hex digits."""
    alice = node.accounts.new().key
    cid, spare = (node.actions.sample_cid(name) for name in ("x", "spare"))
    for added in (cid, spare):
        node.actions.add(alice, added)
    g = bound(node, alice, [], [hashed_cid(cid), hashed_cid(spare)])
    controls = [
        node.groups.remove_action(alice, g, hashed_cid(spare)),
        node.actions.update(alice, hashed_cid(spare), "renamed"),
        node.actions.delete(alice, hashed_cid(spare)),
    ]
    lists = [
        unchanged_list(node.session, "list_actions", alice),
        unchanged_list(node.session, "list_actions", alice, group_id=g),
    ]
    with judge(), Refusals(node.session, control=controls, unchanged=lists) as refusals:
        # Each form goes to one of the three operations, which read the same member.
        for control, wrong in zip(cycle(controls), malformed_hashes(cid)):
            refusals.send(control.changed(hashed_cid=wrong), NO_ID)
