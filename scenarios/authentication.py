"""Which key opens what, and in which header ("Authentication"). Keys of other accounts are the matter of `accounts`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pydantic import JsonValue

from conformance.cases import Judge, case
from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.service.acceptance import must_accept
from conformance.service.derivations import account_hash, base64_of, hashed_cid, key_with_flipped_bit, random_key
from conformance.service.lists import first_page, one_item_page, read_list, read_pages, unchanged_list
from conformance.service.node import Node
from conformance.service.reads import Read
from conformance.service.refusal import NO_KEY, Refusals, must_refuse, was_accepted
from conformance.service.sample_calls import SampleObjects, sample_objects, sample_reads, sample_writes
from conformance.service.usage_keys import ALL_PERMISSIONS, NO_PERMISSIONS, Permissions
from conformance.values.ids import GroupId
from conformance.values.json_values import member, same

NEEDS = ("managed_accounts",)
CONFLICTING = "auth.conflicting_headers"
NAMES = ("api_key", "x-api-key", "X-Api-Key", "key", "token")
UPDATE_GROUP = "auth.usage_key_permission.update_group"
ACTION_METADATA = "auth.usage_key_permission.action_metadata"
KEY_METADATA = "auth.usage_key_permission.key_metadata"
CLOSED_TO_SOME: list[JsonValue] = ["account_key", *NO_PERMISSIONS.members]
"""Values of these keys by which no usage key without permissions may do it."""
HEADERS = ("x-api-key", "bearer")
PLUS = "+"
"""Half of all keys in base64 hold it; readers of forms take it for a blank."""
MOST_DRAWN = 6


def lists_of(node: Node, key: str, *groups: GroupId) -> list[Read]:
    """All that the writes among the sample calls would change."""
    names = ("list_api_keys", "list_groups", "list_wallets", "list_actions")
    in_groups = [
        unchanged_list(node.session, name, key, group_id=group)
        for name in ("list_actions", "list_wallets_in_group")
        for group in groups
    ]
    return [*(unchanged_list(node.session, name, key) for name in names), *in_groups]


def calls_with_a_key(node: Node, objects: SampleObjects) -> list[OutgoingRequest]:
    """A request of each operation that needs a key, to be accepted in this order; a group's actions are listed, too."""
    reads = sample_reads(node, objects)
    listing = [request for name, request in reads.items() if name.startswith("list_")]
    listing.append(reads["list_actions"].changed(group_id=objects.group))
    return [*listing, *sample_writes(node, objects).values()]


# -------------------------------------------------------------------------------------------------- the two headers


def account_keys_by_plus(node: Node) -> list[str]:
    """An account key without + and one with it, if so many draws give both."""
    keys = [node.accounts.new().key, node.accounts.new().key]
    while len(keys) < MOST_DRAWN and len({PLUS in key for key in keys}) == 1:
        keys.append(node.accounts.new().key)
    keys.sort(key=lambda key: PLUS in key)
    return [keys[0], keys[-1]]


@case("every-endpoint-in-either-header", requirements=["AUTH-010", "AUTH-020", "EP-010"], needs=NEEDS)
def every_endpoint_in_either_header(judge: Judge, node: Node) -> None:
    """Every endpoint that needs a key takes it in X-Api-Key, and in Authorization: Bearer."""
    for via, rules in (("x-api-key", ["AUTH-010", "EP-010"]), ("bearer", ["AUTH-020"])):
        account = node.accounts.new()
        with judge(*rules):
            node.session.accept(replace(node.groups.creation(account.key), via=via))
        for request in calls_with_a_key(node, sample_objects(node, account)):
            with judge.apart(*rules):
                answer = node.session.send(replace(request, via=via))
                must_accept(answer)
                if request.operation.is_list:
                    judge.that(bool(answer.value), f"{request.operation.name} to show what is there", answer.value)


@case("bearer-keys-are-no-form", requirements=["AUTH-020"], needs=NEEDS)
def bearer_keys_are_no_form(judge: Judge, node: Node) -> None:
    """In Authorization a key is taken as it is, also one that holds a +."""
    plain, plus = account_keys_by_plus(node)
    node.session.accept(replace(node.groups.creation(plain), via="bearer"))
    with judge("AUTH-020", why="the key holds a +, unlike the one before" if PLUS in plus else ""):
        node.session.accept(replace(node.groups.creation(plus), via="bearer"))


@case("headers-are-equivalent", requirements=["AUTH-030"], needs=NEEDS)
def headers_are_equivalent(judge: Judge, node: Node) -> None:
    """Each kind of key has the same rights under either header."""
    alice = node.accounts.new().key
    permitted = node.usage_keys.add(alice, Permissions(can_create_groups=True)).key
    unpermitted = node.usage_keys.add(alice).key
    removed = node.usage_keys.add(alice, Permissions(can_create_groups=True)).key
    node.usage_keys.remove(alice, removed)
    creation = node.groups.creation(alice)
    groups = unchanged_list(node.session, "list_groups", alice)
    before = len(node.groups.list(alice))
    for via in HEADERS:
        for key in (alice, permitted):
            with judge("AUTH-030"):
                _, adds = node.session.accept(replace(creation, credential=key, via=via))
        with judge.apart("AUTH-030"), Refusals(node.session, control=adds, unchanged=[groups]) as refusals:
            refusals.send(replace(creation, credential=unpermitted, via=via), ["forbidden"])
            refusals.send(replace(creation, credential=removed, via=via), ["unauthenticated"])
    with judge.apart("AUTH-030"):
        judge.same(len(node.groups.list(alice)) - before, 4, "the number of groups that four additions made")


# ----------------------------------------------------------------------------------------------------- no valid key


def refuse_keys(
    node: Node,
    keys: Sequence[Sequence[tuple[str | None, str]]],
    objects: SampleObjects,
    further: Sequence[OutgoingRequest] = (),
) -> None:
    """Refuse each call that needs a key these ones, given with their headers; the calls take the groups in turn.

    Further requests are refused beside them.
    """
    calls, alice = calls_with_a_key(node, objects), objects.alice.key

    def owner_may() -> None:
        for request in calls:
            node.session.accept(request)

    lists = lists_of(node, alice, objects.group, objects.spare)
    with Refusals(node.session, control=owner_may, unchanged=lists) as refusals:
        for number, request in enumerate(calls):
            for key, via in keys[number % len(keys)]:
                refusals.send(replace(request, credential=key, via=via), ["unauthenticated"])
        for request in further:
            refusals.send(request, ["any"])


@case("every-endpoint-needs-a-key", requirements=["AUTH-040"], needs=NEEDS)
def every_endpoint_needs_a_key(judge: Judge, node: Node) -> None:
    """Without a key nothing is listed, made, changed, filled, emptied or removed, whatever the query names."""
    objects = sample_objects(node, node.accounts.new())
    # An open path in the query, and a usage key in the body, which would name the account where no header does.
    removal = node.session.request("remove_usage_api_key", None, usage_api_key=objects.removable)
    removal = replace(removal, path=f"{removal.operation.path}?x=/core/v1/get_api_payers")
    with judge():
        refuse_keys(node, [[(None, "x-api-key")]], objects, [removal])


@case("every-endpoint-needs-a-known-key", requirements=["AUTH-050"], needs=NEEDS)
def every_endpoint_needs_a_known_key(judge: Judge, node: Node) -> None:
    """With what is no key, or is one no longer, nothing is listed, made, changed, filled, emptied or removed."""
    objects = sample_objects(node, node.accounts.new())
    alice, unknown = objects.alice.key, random_key(node.session.random)
    removed = node.usage_keys.add(alice, ALL_PERMISSIONS).key
    node.session.accept(node.groups.creation(removed))  # whoever remembers what a key may do does so now
    node.usage_keys.remove(alice, removed)
    hashed, zeros = account_hash(alice, node.session.profile), base64_of(bytes(32))
    texts = [key_with_flipped_bit(alice), "", hashed, "no key at all", zeros]
    keys = [
        [
            *((unknown, via) for via in HEADERS),
            (removed, HEADERS[number % 2]),
            (texts[number % len(texts)], "x-api-key"),
        ]
        for number in range(2 * len(texts))
    ]
    with judge():
        refuse_keys(node, keys, objects)


@case("open-endpoints", requirements=["AUTH-060", "AUTH-070"])
def open_endpoints(judge: Judge, node: Node) -> None:
    """The open endpoints answer without a key, and the same with a wrong one."""
    unknown = random_key(node.session.random)
    names = ("get_node_chain_config", "get_api_payers", "get_admin_api_payer")
    calls = [node.session.request(name, None) for name in names]
    calls.append(node.session.request("get_action_ipfs_id", None, code="async function main() { return 1 }"))
    headers: list[dict[str, str | None]] = [
        {"x-api-key": unknown},
        {"authorization": f"Bearer {unknown}"},
        {"x-api-key": "no key at all"},
        {"authorization": "Basic bm86a2V5"},
    ]
    for request in calls:
        with judge("AUTH-060"):
            answer, _ = node.session.accept(request)
        for wrong in headers:
            with judge.apart("AUTH-070"):
                other, _ = node.session.accept(replace(request, headers=wrong))
                got, expected = but_for_what_is_new(node, request, other, answer)
                judge.same(got, expected, "the answer with a wrong key", at=other.exchange)


def but_for_what_is_new(node: Node, request: OutgoingRequest, other: Answer, answer: Answer) -> tuple[object, object]:
    """Another answer and that of the request, without the members that are new each time the request is sent."""
    got, expected = without_order(other.value), without_order(answer.value)
    if same(got, expected) or not isinstance(expected, dict):
        return got, expected
    again = node.session.accept(request)[0].value
    kept = [name for name, value in expected.items() if same(member(again, name), value)]
    return {name: member(got, name) for name in kept}, {name: expected[name] for name in kept}


def without_order(value: object) -> object:
    """An answer, whose payers may come in any order."""
    payers = member(value, "addresses")
    return sorted(map(str, payers)) if isinstance(payers, list) else value


BY_GATEWAYS: dict[str, str | None] = {
    "x-forwarded-for": "127.0.0.1",
    "x-real-ip": "127.0.0.1",
    "x-original-url": "/core/v1/get_api_payers",
    "x-rewrite-url": "/core/v1/get_api_payers",
    "x-forwarded-user": "admin",
}
"""By which gateways tell a server who asks, and for what; anybody can send them."""


@case("key-in-another-place", requirements=["AUTH-200"], needs=NEEDS)
def key_in_another_place(judge: Judge, node: Node) -> None:
    """A key in the query, the body, a cookie or another scheme or header opens nothing, nor does what gateways tell."""
    alice = node.accounts.new().key
    read = node.session.request("list_groups", alice, page_number=first_page(node.session), page_size=1)
    write = node.groups.creation(alice)
    lists, adds = (node.session.accept(request)[1] for request in (read, write))
    groups = unchanged_list(node.session, "list_groups", alice)
    as_headers: list[dict[str, str | None]] = [
        {"cookie": "; ".join(f"{name}={alice}" for name in NAMES[:3])},
        {"authorization": f"Basic {base64_of(f'{alice}:'.encode())}"},
        {"authorization": f"Basic {base64_of(f'user:{alice}'.encode())}"},
        {"authorization": f"Basic {alice}"},
        {"authorization": alice},
        {"authorization": f"Token {alice}"},
        {"api-key": alice},
        BY_GATEWAYS,
    ]
    with judge(), Refusals(node.session, control=[lists, adds], unchanged=[groups]) as refusals:
        # Of members that no operation has, a node may refuse any; these two are what it would look for.
        for request, names in ((read, NAMES), (write, NAMES[:2])):
            moved = replace(request, credential=None).changed(**dict.fromkeys(names, alice))
            refusals.send(moved, NO_KEY)
        for headers in node.session.some(as_headers):
            refusals.send(replace(read, credential=None, headers=headers), NO_KEY)


@case("different-keys-as-stated", requirements=["AUTH-190", "AUTH-080"], needs=NEEDS, uses=[CONFLICTING])
def different_keys_as_stated(judge: Judge, node: Node) -> None:
    """Of two different keys in the two headers the one counts that the profile states, or both are refused.

    The one that counts has its own rights alone, and pays for what is written.
    """
    alice, bob = node.accounts.new().key, node.accounts.new().key
    unknown = random_key(node.session.random)
    node.groups.add(alice, "of alice")
    adds = node.groups.add(bob, "of bob").accepted
    read = node.session.request("list_groups", alice, **one_item_page(node.session))
    _, lists = node.session.accept(read)
    node.session.accept(replace(read, via="bearer"))
    shown: dict[str, list[object]] = {key: read_list(node.session, "list_groups", key) for key in (alice, bob)}
    judge.set_up(shown[alice] != shown[bob], "two accounts whose lists differ")
    stated = node.session.stated(CONFLICTING)
    groups = [unchanged_list(node.session, "list_groups", key) for key in (alice, bob)]
    refused, billed = [], list[tuple[str, OutgoingRequest]]()
    for first, second in ((alice, bob), (bob, alice), (alice, unknown), (unknown, alice)):
        both: dict[str, str | None] = {"x-api-key": first, "authorization": f"Bearer {second}"}
        counts = {"x_api_key_wins": first, "bearer_wins": second}.get(str(stated), unknown)
        sent = replace(read, credential=None, headers=both)
        with judge.apart("AUTH-190"):
            if counts in shown:
                listed = read_pages(node.session, replace(sent, members={}))
                judge.same(listed, shown[counts], "the list of the key that counts")
                if node.session.profile.offers("billing") and {first, second} == {*shown}:
                    billed.append((counts, replace(adds.changed(), credential=None, headers=both)))
            else:
                must_refuse(node.session, sent, ["any"], control=lists, unchanged=[])
                refused.append(replace(adds.changed(), credential=None, headers=both))
    with judge.apart("AUTH-190"), Refusals(node.session, control=adds, unchanged=groups) as refusals:
        for write in refused:
            refusals.send(write, ["any"])
    with judge.apart("AUTH-080"):
        if stated != "refused":
            pair = [node.usage_keys.add(alice).key, bob]
            first, second = pair if stated == "x_api_key_wins" else reversed(pair)
            both = {"x-api-key": first, "authorization": f"Bearer {second}"}
            write = replace(adds.changed(), credential=None, headers=both)
            must_refuse(node.session, write, ["forbidden"], control=adds, unchanged=groups)
    for counts, write in billed:
        with judge.apart("AUTH-190"):
            before = {key: node.payments.balance(key) for key in shown}
            node.session.accept(write)
            paid = [key for key, cents in before.items() if node.payments.balance(key) < cents]
            judge.that(paid == [counts], "a write with both keys that the key pays which counts", f"{len(paid)} payers")


# ------------------------------------------------------------------------------------------- what a usage key may do


def refuse_rewriting(node: Node, permissions: Permissions) -> None:
    """Refuse a usage key with these permissions to rewrite a group."""
    alice = node.accounts.new().key
    pkp, hashed = node.pkps.create(alice), hashed_cid(node.actions.sample_cid("one"))
    group = node.groups.add(alice, pkp_ids=[pkp.id]).id
    updates = node.groups.update(alice, group, "wider", pkp_ids=[pkp.id], cid_hashes=[hashed])
    key = node.usage_keys.add(alice, permissions).key
    taken_over = updates.changed(name=f"{node.label} taken over", pkp_ids_permitted=[], cid_hashes_permitted=[])
    in_group = [
        unchanged_list(node.session, name, alice, group_id=group) for name in ("list_actions", "list_wallets_in_group")
    ]
    unchanged = [unchanged_list(node.session, "list_groups", alice), *in_group]
    must_refuse(node.session, replace(taken_over, credential=key), ["forbidden"], control=updates, unchanged=unchanged)


def refuse_metadata(node: Node, permissions: Permissions) -> None:
    """Refuse a usage key with these permissions to register, change and delete metadata of actions."""
    alice = node.accounts.new().key
    cid, other = (node.actions.sample_cid(name) for name in ("one", "two"))
    adds = [node.actions.add(alice, one) for one in (cid, other)][-1]
    updates = node.actions.update(alice, hashed_cid(cid), "anew")
    deletes = node.actions.delete(alice, hashed_cid(other))
    key = node.usage_keys.add(alice, permissions).key
    taken_over = updates.changed(name=f"{node.label} taken over")
    listed = unchanged_list(node.session, "list_actions", alice)
    with Refusals(node.session, control=[adds, updates, deletes], unchanged=[listed]) as refusals:
        for request in (adds.changed(), taken_over, deletes.changed(hashed_cid=hashed_cid(cid))):
            refusals.send(replace(request, credential=key), ["forbidden"])


# update_group, the action metadata and a key's own metadata have no permission field of their own (tension of
# Authentication 3 and the usage-key table). A node that opens them to every key says so in its profile.
@case(
    "key-without-permissions-changes-no-group",
    requirements=["AUTH-080"],
    needs=NEEDS,
    uses=[{UPDATE_GROUP: CLOSED_TO_SOME}],
)
def key_without_permissions_changes_no_group(judge: Judge, node: Node) -> None:
    """A usage key without permissions rewrites no group."""
    with judge():
        refuse_rewriting(node, NO_PERMISSIONS)


@case(
    "key-without-permissions-changes-no-metadata",
    requirements=["AUTH-080"],
    needs=NEEDS,
    uses=[{ACTION_METADATA: CLOSED_TO_SOME}],
)
def key_without_permissions_changes_no_metadata(judge: Judge, node: Node) -> None:
    """A usage key without permissions registers, changes and deletes no action metadata."""
    with judge():
        refuse_metadata(node, NO_PERMISSIONS)


@case("groups-are-the-account-keys", requirements=["SCOPE-140"], needs=NEEDS, uses=[{UPDATE_GROUP: "account_key"}])
def groups_are_the_account_keys(judge: Judge, node: Node) -> None:
    """Where the account key alone rewrites groups, no permission lets a usage key do it."""
    with judge():
        refuse_rewriting(node, ALL_PERMISSIONS)


@case(
    "action-metadata-is-the-account-keys",
    requirements=["SCOPE-150"],
    needs=NEEDS,
    uses=[{ACTION_METADATA: "account_key"}],
)
def action_metadata_is_the_account_keys(judge: Judge, node: Node) -> None:
    """Where the account key alone registers actions, no permission lets a usage key register, change or delete one."""
    with judge():
        refuse_metadata(node, ALL_PERMISSIONS)


@case("key-metadata-is-the-account-keys", requirements=["AUTH-140"], needs=NEEDS, uses=[{KEY_METADATA: "account_key"}])
def key_metadata_is_the_account_keys(judge: Judge, node: Node) -> None:
    """Where the account key alone renames usage keys, no permission lets a usage key do it, not even its own."""
    alice = node.accounts.new().key
    mighty, other = (node.usage_keys.add(alice, held).key for held in (ALL_PERMISSIONS, NO_PERMISSIONS))
    renames = node.usage_keys.rename(alice, other)
    keys = unchanged_list(node.session, "list_api_keys", alice)
    with judge(), Refusals(node.session, control=renames, unchanged=[keys]) as refusals:
        for named in (other, mighty):
            request = renames.changed(usage_api_key=named, name=f"{node.label} taken over")
            refusals.send(replace(request, credential=mighty), ["forbidden"])


# The endpoint table says "Key" for removing and updating keys; Authentication 9 makes adding, revoking and updating
# their scope owner-only, and there is no permission field for them. Authentication 9 is followed.
@case("usage-keys-are-the-owners", requirements=["AUTH-100", "AUTH-110", "AUTH-120", "AUTH-160"], needs=NEEDS)
def usage_keys_are_the_owners(judge: Judge, node: Node) -> None:
    """No permission lets a usage key add, remove or widen a usage key, be it another or itself."""
    alice = node.accounts.new().key
    added = node.usage_keys.add(alice, ALL_PERMISSIONS)
    mighty, third = added.key, node.usage_keys.add(alice).key
    other = node.usage_keys.add(alice, Permissions(can_create_groups=True)).key
    removes = node.usage_keys.remove(alice, third)
    updates = node.usage_keys.update(alice, other, Permissions(can_create_groups=True))
    wider = updates.changed(name=f"{node.label} widened", **ALL_PERMISSIONS.members)
    keys = [unchanged_list(node.session, "list_api_keys", alice)]
    with judge.apart("AUTH-100", "AUTH-160"):
        request = replace(added.accepted.changed(**NO_PERMISSIONS.members), credential=mighty)
        must_refuse(node.session, request, ["forbidden"], control=added.accepted, unchanged=keys)
    with judge.apart("AUTH-120", "AUTH-160"), Refusals(node.session, control=updates, unchanged=keys) as refusals:
        for named in (other, mighty):
            refusals.send(replace(wider.changed(usage_api_key=named), credential=mighty), ["forbidden"])
    with judge.apart("AUTH-120"):
        must_refuse(node.session, replace(wider, credential=other), ["forbidden"], control=updates, unchanged=keys)
    # Lists are one view of a key's permissions; what it may do is the other.
    removed, left = (node.groups.add(alice).id for _ in range(2))
    removes_group = node.groups.remove(mighty, removed)
    groups = [unchanged_list(node.session, "list_groups", alice)]
    with judge.apart("AUTH-120"):
        request = replace(removes_group.changed(group_id=left), credential=other)
        must_refuse(node.session, request, ["forbidden"], control=removes_group, unchanged=groups)
    with judge.apart("AUTH-110", "AUTH-160"), Refusals(node.session, control=removes, unchanged=keys) as refusals:
        for named in (other, mighty):
            refusals.send(replace(removes.changed(usage_api_key=named), credential=mighty), ["forbidden"])
    for named in (other, mighty):
        with judge.apart("AUTH-110"):
            node.session.accept(node.groups.creation(named))


@case("no-way-to-more-rights", requirements=["AUTH-210"], needs=NEEDS)
def no_way_to_more_rights(judge: Judge, node: Node) -> None:
    """No operation that a usage key may call gives it more rights."""
    alice = node.accounts.new().key
    cid, stays = node.actions.sample_cid("one"), hashed_cid(node.actions.sample_cid("two"))
    pkp, other_pkp = node.pkps.create_several(alice, 2)
    h, g = (node.groups.add(alice, pkp_ids=[pkp.id], cid_hashes=[stays]).id for _ in range(2))
    held = Permissions(True, True, manage_ipfs_ids_in_groups=[int(g)], add_pkp_to_groups=[int(g)])
    key, spare = node.usage_keys.add(alice, held).key, node.usage_keys.add(alice).key
    adds_action, adds_pkp = node.groups.add_action(key, g, cid), node.groups.add_pkp(key, g, other_pkp.id)
    takes_out = node.groups.remove_pkp(alice, g, pkp.id)
    _, creates = node.session.accept(node.pkps.creation(alice))
    removes_key = node.usage_keys.remove(alice, spare)
    with judge():
        # By its metadata: permission fields in a call that has none, where it is open to a usage key at all.
        renaming = node.session.request(
            "update_usage_api_key_metadata", key, usage_api_key=key, name=node.label, description="d"
        )
        more = replace(ALL_PERMISSIONS, can_create_groups=False, can_delete_groups=False, execute_in_groups=[])
        answer = node.session.send(renaming.changed(**more.members))
        was_accepted(node.session, answer, or_refused=["any"])
        # By making itself anew.
        keys = [unchanged_list(node.session, "list_api_keys", alice)]
        request = replace(removes_key.changed(usage_api_key=key), credential=key)
        must_refuse(node.session, request, ["forbidden"], control=removes_key, unchanged=keys)
    # Having made a group gives no rights in it, nor is the group that follows the newest one heir to what named that.
    node.groups.remove(key, g)
    successor, own = (node.groups.add(key, listed_to=alice).id for _ in range(2))
    members = [
        unchanged_list(node.session, name, alice, group_id=group)
        for name in ("list_actions", "list_wallets_in_group")
        for group in (h, own, successor)
    ]
    controls = [adds_action, adds_pkp, takes_out, creates]
    wallets = unchanged_list(node.session, "list_wallets", alice)
    with judge(), Refusals(node.session, control=controls, unchanged=[*members, wallets]) as refusals:
        for group in (h, own, successor):
            for control, named in ((adds_action, {}), (adds_pkp, {"pkp_id": other_pkp.id})):
                refusals.send(replace(control.changed(group_id=group, **named), credential=key), ["forbidden"])
        refusals.send(replace(takes_out.changed(group_id=h), credential=key), ["forbidden"])
        refusals.send(replace(node.pkps.creation(alice), credential=key), ["forbidden"])
