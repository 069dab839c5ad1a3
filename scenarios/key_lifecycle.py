"""How a usage key comes to be, changes and ends ("States and transitions / Usage key").

`execute_in_groups` shows only when an action is run: the pack execution_changes is about that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

from conformance.cases import Judge, case
from conformance.service.acceptance import must_accept
from conformance.service.at_once import send_at_once
from conformance.service.bindings import one_group, two_groups
from conformance.service.derivations import account_hash, hashed_cid, random_key, usage_key_hash
from conformance.service.lists import one_item_page, only, read_pages, unchanged_list
from conformance.service.node import Node
from conformance.service.refusal import Refusals, was_accepted
from conformance.service.scope_trial import ALL_GATED, ScopeTrial, opened_by
from conformance.service.session import DESCRIPTION
from conformance.service.usage_keys import ALL_PERMISSIONS, NO_PERMISSIONS, Permissions
from conformance.values.json_values import MISSING, member, pluck, printed, same

NEEDS = ("managed_accounts",)
FIELDS = "wire.list_items.fields.usage_key"
LABEL_FIELDS = (f"{FIELDS}.name", f"{FIELDS}.description")
UPDATE_LABELS = "semantics.update_usage_key_labels"
FIRST = Permissions(can_create_groups=True, manage_ipfs_ids_in_groups=[0], remove_pkp_from_groups=[0])
SECOND = Permissions(False, True, True, add_pkp_to_groups=[0], execute_in_groups=[0])
MISSING_FIELDS = "wire.update_usage_api_key.missing_fields.permissions"


# ------------------------------------------------------------------------------------------------ what lists show of it


@case("exists-once-created", requirements=["KEYLIFE-010"], needs=NEEDS, uses=[f"{FIELDS}.name"])
def exists_once_created(judge: Judge, node: Node) -> None:
    """A usage key is listed and usable once it was created."""
    alice = node.accounts.new().key
    key = node.usage_keys.add(alice, Permissions(can_create_groups=True)).key
    with judge():
        only(node.usage_keys.list(alice), "name", node.label)
    before = len(node.groups.list(alice))
    with judge():
        node.session.accept(node.groups.creation(key))
        judge.same(len(node.groups.list(alice)), before + 1, "the number of groups after the key added one")


@case(
    "execute-permission-follows-updates",
    requirements=["KEYLIFE-020", "KEYLIFE-030", "KEYLIFE-070"],
    needs=NEEDS,
    uses=[f"{FIELDS}.name", f"{FIELDS}.execute_in_groups"],
)
def execute_permission_follows_updates(judge: Judge, node: Node) -> None:
    """An update replaces the listed execute_in_groups, and a metadata update leaves it and all others alone."""
    alice = node.accounts.new().key
    old, *new = (node.groups.add(alice).id for _ in range(4))
    key = node.usage_keys.executing_in(alice, old, *new[1:])  # as many as after the update, with the same last one

    def shown() -> dict[str, object]:
        """The permissions that the list shows, arrays in one order."""
        ours = [one for one in node.usage_keys.list(alice) if node.label in printed(member(one, "name"))]
        judge.same(len(ours), 1, "the number of keys of the case")
        found = {name: value for name in NO_PERMISSIONS.members if (value := member(ours[0], name)) is not MISSING}
        return {name: sorted(value, key=printed) if isinstance(value, list) else value for name, value in found.items()}

    with judge("KEYLIFE-020"):
        node.usage_keys.update(alice, key, Permissions(True, False, True, new[::-1], new, new, new))
        groups = shown().get("execute_in_groups")
        judge.that(isinstance(groups, list) and new[0] in groups, "execute_in_groups with the new group", groups)
    with judge("KEYLIFE-030"):
        updated = shown()
        given = {"execute_in_groups": sorted(new, key=printed)}
        judge.members(updated, given, "the permissions after the update")
    node.usage_keys.rename(alice, key, "renamed")
    with judge("KEYLIFE-070"):
        judge.same(shown(), updated, "the permissions after a metadata update")


def labels_of(node: Node, alice: str) -> list[tuple[object, object]]:
    """The name and the description of each listed key of the case."""
    listed = [(member(one, "name"), member(one, "description")) for one in node.usage_keys.list(alice)]
    return sorted((one for one in listed if node.label in f"{one[0]} {one[1]}"), key=str)


@case("update-of-labels-as-stated", requirements=["KEYLIFE-130"], needs=NEEDS, uses=[UPDATE_LABELS, *LABEL_FIELDS])
def update_of_labels_as_stated(judge: Judge, node: Node) -> None:
    """An update of a usage key treats name and description as the profile says."""
    alice = node.accounts.new().key
    key = node.usage_keys.add(alice).key
    labels = {"name": f"{node.label} renamed", "description": "anew"}
    replaced = node.session.stated(UPDATE_LABELS) == "replaced"
    node.session.call("update_usage_api_key", alice, usage_api_key=key, **labels, **NO_PERMISSIONS.members)
    with judge():
        expected = (labels["name"], labels["description"]) if replaced else (node.label, DESCRIPTION)
        judge.same([*map(list, labels_of(node, alice))], [list(expected)], "the labels, as the profile states,")


@case("metadata-update-replaces-labels", requirements=["KEYLIFE-060"], needs=NEEDS, uses=[*LABEL_FIELDS])
def metadata_update_replaces_labels(judge: Judge, node: Node) -> None:
    """A metadata update replaces name and description, and may be sent again; an empty text is refused, or taken."""
    alice = node.accounts.new().key
    key = node.usage_keys.add(alice).key
    node.usage_keys.add(alice, name="bystander")
    bystander = [f"{node.label} bystander", DESCRIPTION]

    def must_be_listed(*labels: str) -> None:
        expected = sorted([[*labels], bystander], key=str)
        judge.same(sorted(map(list, labels_of(node, alice)), key=str), expected, "the labels of the usage keys")

    labels = (f"{node.label} renamed", f"described anew, {node.label}")
    for renamed in (("renamed once", "described once"), labels, labels):
        with judge():
            rename(node, alice, key, *renamed)
    with judge():
        must_be_listed(*labels)
    for emptied in ((f"{node.label} again", ""), ("", f"{node.label} without a name")):
        with judge():
            labels = emptied if rename(node, alice, key, *emptied, or_refused=["malformed", "invalid"]) else labels
            must_be_listed(*labels)


def rename(node: Node, alice: str, key: str, name: str, description: str, or_refused: Sequence[str] = ()) -> bool:
    """Send a metadata update; whether it was accepted."""
    labels = {"usage_api_key": key, "name": name, "description": description}
    answer = node.session.send(node.session.request("update_usage_api_key_metadata", alice, **labels))
    if not or_refused:
        must_accept(answer)
    return was_accepted(node.session, answer, or_refused=or_refused)


@case(
    "life-on-chain",
    requirements=["KEYLIFE-020", "KEYLIFE-030", "KEYLIFE-060", "KEYLIFE-070", "KEYLIFE-090"],
    needs=[*NEEDS, "chain_rpc"],
)
def life_on_chain(judge: Judge, node: Node) -> None:
    """The contract shows a usage key's update, renaming and removal."""
    alice = node.accounts.new().key
    g, own = node.groups.add(alice).id, account_hash(alice, node.session.profile)
    key = node.usage_keys.add(alice, Permissions(True, False, True, [g], [0], [], [g])).key
    updated = Permissions(False, True, False, [0], [], [g], [])

    def record() -> object:
        answer = node.contract.view("get_usage_api_key", own, usage_key_hash(key, node.session.profile))
        return member(answer, "usageKey")

    node.usage_keys.update(alice, key, updated)
    given = ("canDeleteGroups", "manageIpfsIdsInGroups", "removePkpFromGroups")
    with judge("KEYLIFE-020"):
        judge.members(record(), {name: updated.record[name] for name in given}, "what the update gave, in the contract")
    with judge("KEYLIFE-030"):
        judge.members(record(), updated.record, "the permissions in the contract after the update")
    labels = {"name": f"{node.label} renamed", "description": "anew"}
    node.session.call("update_usage_api_key_metadata", alice, usage_api_key=key, **labels)
    with judge("KEYLIFE-060"):
        judge.members(record(), labels, "the labels in the contract after the metadata update")
    with judge("KEYLIFE-070"):
        judge.members(record(), updated.record, "the permissions in the contract after the metadata update")
    node.usage_keys.remove(alice, key)
    with judge("KEYLIFE-090"):
        names = pluck(node.contract.items("list_usage_api_keys", own), "name")
        ours = [name for name in names if node.label in printed(name)]
        judge.same(ours, [], "the usage keys of the case in the contract after the removal")


# ------------------------------------------------------------------------------------------------------- how it ends


@case("removed-key-is-not-listed", requirements=["KEYLIFE-090"], needs=NEEDS)
def removed_key_is_not_listed(judge: Judge, node: Node) -> None:
    """A removed usage key is gone from the list, and the others are still there."""
    alice = node.accounts.new().key
    node.usage_keys.add(alice, name="first")
    first = node.usage_keys.list(alice)
    key = node.usage_keys.add(alice).key
    with judge():
        judge.same(len(node.usage_keys.list(alice)), len(first) + 1, "the number of keys before one is removed")
    node.usage_keys.remove(alice, key)
    with judge():
        # Pages of one item: no page holds it either.
        for size in (None, 1):
            listed = read_pages(node.session, node.session.request("list_api_keys", alice), size)
            judge.same(listed, first, "the other usage keys")


@case("removed-key-is-not-revived", requirements=["KEYLIFE-100", "KEYLIFE-110"], needs=NEEDS)
def removed_key_is_not_revived(judge: Judge, node: Node) -> None:
    """Neither update brings a removed usage key back, or makes one of a value that never was a key.

    Nor does one that came right before the removal.
    """
    alice = node.accounts.new().key
    key, unknown = node.usage_keys.add(alice, ALL_PERMISSIONS).key, random_key(node.session.random)
    adds, renames = node.session.accept(node.groups.creation(key))[1], node.usage_keys.rename(alice, key, "renamed")
    does = [node.usage_keys.update(alice, key, ALL_PERMISSIONS), renames, adds]
    node.usage_keys.remove(alice, key)
    reads = [unchanged_list(node.session, name, alice) for name in ("list_api_keys", "list_groups")]
    with judge.apart("KEYLIFE-110"), Refusals(node.session, control=does, unchanged=reads) as refusals:
        refusals.send(does[0].changed(usage_api_key=unknown), ["not_found"])
        refusals.send(replace(does[-1].changed(), credential=unknown), ["unauthenticated"])
    with judge("KEYLIFE-100"), Refusals(node.session, control=does, unchanged=reads) as refusals:
        for accepted in does[:2]:
            refusals.send(accepted.changed(), ["not_found"])
        refusals.send(does[-1].changed(), ["unauthenticated"])


@case("nothing-to-remove", requirements=["KEYLIFE-120"], needs=NEEDS)
def nothing_to_remove(judge: Judge, node: Node) -> None:
    """The removal of a usage key that was removed before or never existed is refused."""
    alice = node.accounts.new().key
    key = node.usage_keys.add(alice).key
    node.usage_keys.add(alice, name="other")
    removes = node.usage_keys.remove(alice, key)
    keys = [unchanged_list(node.session, "list_api_keys", alice)]
    with judge(), Refusals(node.session, control=removes, unchanged=keys) as refusals:
        for value in (key, random_key(node.session.random)):
            refusals.send(removes.changed(usage_api_key=value), ["not_found"])


@case("removal-under-load", requirements=["KEYLIFE-100", "KEYLIFE-150"], needs=NEEDS)
def removal_under_load(judge: Judge, node: Node) -> None:
    """Once a removal is answered, no call with the key is accepted, though calls and updates of it were under way."""
    alice = node.accounts.new().key
    others = node.usage_keys.list(alice)
    key = node.usage_keys.add(alice, ALL_PERMISSIONS).key
    adds = node.session.accept(node.groups.creation(key))[1]
    updates = [
        node.usage_keys.update(alice, key, ALL_PERMISSIONS).changed(),
        node.usage_keys.rename(alice, key).changed(),
    ]
    removal = node.session.request("remove_usage_api_key", alice, usage_api_key=key)
    removed, *answers = send_at_once(node.session, [removal, *updates, *[adds.changed()] * 4])
    with judge("KEYLIFE-150"):
        must_accept(removed)
        # While the removal is under way, either answer is right.
        for answer in answers[2:]:
            was_accepted(node.session, answer, or_refused=["unauthenticated", "forbidden"])
    with judge("KEYLIFE-100"):
        for answer in answers[:2]:
            was_accepted(node.session, answer, or_refused=["not_found"])
        judge.same(node.usage_keys.list(alice), others, "the other usage keys")
    groups = [unchanged_list(node.session, "list_groups", alice)]
    with judge("KEYLIFE-150"), Refusals(node.session, control=adds, unchanged=groups) as refusals:
        for _ in range(3):
            refusals.send(adds.changed(), ["unauthenticated"])


@case("narrowing-under-load", requirements=["KEYLIFE-150"], needs=NEEDS)
def narrowing_under_load(judge: Judge, node: Node) -> None:
    """Once a narrowing update is answered, nothing is accepted under the old permissions, beside calls under way."""
    alice = node.accounts.new().key
    key = node.usage_keys.add(alice, ALL_PERMISSIONS).key
    adds = node.session.accept(node.groups.creation(key))[1]
    labels = {"usage_api_key": key, "name": node.label, "description": DESCRIPTION}
    narrowed = ALL_PERMISSIONS.but({"can_create_groups": False})
    narrowing = node.session.request("update_usage_api_key", alice, **labels, **narrowed.members)
    updated, *answers = send_at_once(node.session, [narrowing, *[adds.changed()] * 4])
    must_accept(updated)
    groups = [unchanged_list(node.session, "list_groups", alice)]
    with judge():
        for answer in answers:
            was_accepted(node.session, answer, or_refused=["forbidden"])
        with Refusals(node.session, control=adds, unchanged=groups) as refusals:
            for _ in range(3):
                refusals.send(adds.changed(), ["forbidden"])


@case("account-key-is-no-usage-key", requirements=["KEYLIFE-190"], needs=NEEDS)
def account_key_is_no_usage_key(judge: Judge, node: Node) -> None:
    """The account key is neither updated nor removed in place of a usage key."""
    alice = node.accounts.new().key
    key = node.usage_keys.add(alice).key
    does = [node.usage_keys.update(alice, key, NO_PERMISSIONS), node.usage_keys.remove(alice, key)]
    keys = [unchanged_list(node.session, "list_api_keys", alice)]
    with judge(), Refusals(node.session, control=does, unchanged=keys) as refusals:
        for accepted in does:
            # Which of these it is, is nowhere stated.
            refusals.send(accepted.changed(usage_api_key=alice), ["not_found", "forbidden", "invalid", "conflict"])
    node.session.accept(node.pkps.creation(alice))
    node.usage_keys.add(alice, ALL_PERMISSIONS)


@case("what-a-removed-key-made-remains", requirements=["KEYLIFE-210"], needs=NEEDS)
def what_a_removed_key_made_remains(judge: Judge, node: Node) -> None:
    """Groups and wallets that a usage key created outlive it."""
    alice, cid = node.accounts.new().key, node.actions.sample_cid("one")
    key, hashed = node.usage_keys.add(alice, ALL_PERMISSIONS).key, hashed_cid(cid)
    group = node.groups.add(key, listed_to=alice).id
    made = node.pkps.creations(key, 1)
    node.groups.add_action(key, group, cid)
    node.actions.add(alice, cid)
    # Items of groups and wallets may show what was added, so that they are read after it.
    groups, wallets = node.groups.list(alice), node.pkps.list(alice)
    (pkp,) = node.pkps.listed(alice, made)
    node.usage_keys.remove(alice, key)
    with judge():
        judge.same(node.groups.list(alice), groups, "the groups after the removal of the key")
        judge.same(node.pkps.list(alice), wallets, "the wallets after the removal of the key")
        inside = pluck(node.actions.list(alice, group), "hashed_cid")
        judge.same_hexes(inside, [hashed], "the actions of the group")
        only(node.actions.list(alice), "hashed_cid", hashed)
    # All of it is still usable.
    node.groups.add_pkp(alice, group, pkp.id)
    node.groups.remove_action(alice, group, hashed)
    node.groups.remove(alice, group)


# ------------------------------------------------------------------------------------------------------ what it opens


def judge_update(judge: Judge, trial: ScopeTrial, key: str, row: Permissions) -> None:
    """The key opens what its last update carries, and nothing else."""
    opened, carried = trial.opens(key), opened_by(row)
    kept, left = ([one for one in opened if (one in carried) == is_carried] for is_carried in (True, False))
    at = trial.shown_at(kept, carried), trial.shown_at(left, [])
    if opened != carried:
        trial.must_open_when_new([row])
    with judge.apart("KEYLIFE-020"):
        judge.same(kept, carried, "of what the update carries, what the key opens", at[0])
    with judge.apart("KEYLIFE-030"):
        judge.same(left, [], "of what it does not carry, what the key opens", at[1])


@case("update-replaces-permissions", requirements=["KEYLIFE-020", "KEYLIFE-030", "KEYLIFE-040"], needs=NEEDS)
def update_replaces_permissions(judge: Judge, node: Node) -> None:
    """After each update the key, under its old value, has the permissions that the update carries, and no others."""
    alice = node.accounts.new().key
    trial = ScopeTrial(node.session, alice)
    key = node.usage_keys.add(alice).key
    node.usage_keys.update(alice, key, ALL_PERMISSIONS)
    judge_update(judge, trial, key, ALL_PERMISSIONS)
    for half in node.session.some((FIRST, SECOND), 1):
        with judge("KEYLIFE-040"):
            # The value names the key for another update.
            node.usage_keys.update(alice, key, half)
        judge_update(judge, trial, key, half)


def update_without_permissions(node: Node, alice: str, key: str) -> bool:
    """Send an update that holds labels alone; whether it was accepted."""
    labels = {"name": node.label, "description": DESCRIPTION}
    request = node.session.request("update_usage_api_key", alice, usage_api_key=key, **labels)
    return was_accepted(node.session, node.session.send(request), or_refused=["malformed", "invalid"])


@case(
    "update-without-a-field",
    requirements=["KEYLIFE-030"],
    needs=NEEDS,
    # What it means is silent (KEYLIFE-140). A node whose profile says `kept` is not judged.
    uses=[{MISSING_FIELDS: ["refused", "empty"]}],
)
def update_without_a_field(judge: Judge, node: Node) -> None:
    """A permission field left out of an update is refused, or its permission ends."""
    alice = node.accounts.new().key
    trial = ScopeTrial(node.session, alice)
    key = node.usage_keys.add(alice, ALL_PERMISSIONS).key
    with judge():
        expected = [] if update_without_permissions(node, alice, key) else ALL_GATED
        opened, told = trial.opens(key), "the operations that the key may call after the update"
        judge.same(opened, expected, told, trial.shown_at(opened, expected))


@case(
    "update-touches-one-key",
    requirements=["KEYLIFE-050"],
    needs=NEEDS,
    uses=["wire.list_items.fields.usage_key.name"],
)
def update_touches_one_key(judge: Judge, node: Node) -> None:
    """Update and removal of a usage key leave two equal keys' permissions and list items alone."""
    alice = node.accounts.new().key
    trial = ScopeTrial(node.session, alice)
    key = node.usage_keys.add(alice, FIRST, "same").key
    node.usage_keys.add(alice, FIRST, "third")
    twin = node.usage_keys.add(alice, FIRST, "same").key
    judge.set_up(twin != key, "two usage keys of two equal requests")
    judge.set_up(trial.opens(key) == opened_by(FIRST), "a key that opens what it was given before its twin is updated")
    before = node.usage_keys.list(alice)
    node.usage_keys.update(alice, twin, SECOND, "same")
    with judge():
        listed = node.usage_keys.list(alice)
    with judge.apart():
        # Which of the equal ones is the twin no item tells.
        changed = [member(one, "name") for one in before if not any(same(one, other) for other in listed)]
        judge.that(
            len(changed) <= 1 and f"{node.label} third" not in changed, "the other keys' items as before", listed
        )
    with judge.apart():
        # A node that takes no name twice has the twin's with a number behind it.
        of_the_name = [one for one in listed if str(member(one, "name")).startswith(f"{node.label} same")]
        judge.same(len(of_the_name), 2, "the number of keys of the name")
    with judge.apart():
        trial.must_open(key, FIRST, "what the key opens after its twin was updated")
    before = node.usage_keys.list(alice)
    node.usage_keys.remove(alice, twin)
    with judge():
        ours = [one for one in node.usage_keys.list(alice) if node.label in str(member(one, "name"))]
        judge.same(len(ours), 2, "the number of keys after the removal")
    with judge.apart():
        kept = all(any(same(one, other) for other in before) for one in ours)
        judge.that(kept, "the other keys' items as before the removal", ours)
    with judge():
        trial.must_open(key, FIRST, "what the key opens after its twin was removed")


def renamed_with(node: Node, alice: str, key: str, permissions: Permissions) -> bool:
    """Send a metadata update with permissions, which it does not have; whether it was accepted."""
    labels: dict[str, object] = {"usage_api_key": key, "name": f"{node.label} renamed", "description": DESCRIPTION}
    request = node.session.request("update_usage_api_key_metadata", alice, **labels).changed(**permissions.members)
    return was_accepted(node.session, node.session.send(request), or_refused=["any"])


@case("metadata-update-keeps-permissions", requirements=["KEYLIFE-070"], needs=NEEDS)
def metadata_update_keeps_permissions(judge: Judge, node: Node) -> None:
    """A metadata update leaves the permissions as they are, whatever else it holds."""
    alice = node.accounts.new().key
    trial = ScopeTrial(node.session, alice)
    for half, other in ((FIRST, None), (SECOND, FIRST)):
        key = node.usage_keys.add(alice, half).key
        if other is None or not renamed_with(node, alice, key, other):
            node.usage_keys.rename(alice, key, "renamed")
        with judge.apart():
            # A new key shows what these permissions open where this one differs.
            trial.must_open(key, half, "the operations that the key may call after the update")


@case("next-key-inherits-nothing", requirements=["AUTH-080"], needs=NEEDS)
def next_key_inherits_nothing(judge: Judge, node: Node) -> None:
    """A key that is made after another one was removed has the permissions of its own creation alone."""
    on = two_groups(node)
    trial = ScopeTrial(node.session, on.alice)
    before = node.usage_keys.add(on.alice, SECOND).key
    runs = node.signing.must_sign(before, on.x, on.p).accepted
    judge.set_up(trial.opens(before) == opened_by(SECOND), "a key that opens what it was made with, before any removal")
    everything = node.usage_keys.add(on.alice, ALL_PERMISSIONS).key
    node.session.accept(node.groups.creation(everything))  # whoever remembers what a key may do does so now
    node.usage_keys.remove(on.alice, everything)
    after = node.usage_keys.add(on.alice, FIRST).key
    with judge():
        opened, expected = trial.opens(after), opened_by(FIRST)
        at = trial.shown_at(opened, expected)
        judge.same(opened, expected, "the operations that the next key may call", at)
        node.signing.must_be_refused(after, on.x, on.p, control=runs)


@case(
    "revoked-in-the-header-of-its-last-use",
    requirements=["KEYLIFE-030", "KEYLIFE-080"],
    needs=NEEDS,
    uses=[{"auth.usage_key_permission.lists": "any_key"}],
)
def revoked_in_the_header_of_its_last_use(judge: Judge, node: Node) -> None:
    """What is taken from a key, and then the key itself, is refused in either header, which it was used in before."""
    on = one_group(node)
    permissions = Permissions(can_create_groups=True, execute_in_groups=[on.g])
    key = node.usage_keys.add(on.alice, permissions).key
    gated = [node.groups.creation(key, "by the key"), node.signing.request(key, on.x, on.p)]
    requests = [*gated, node.session.request("list_groups", key, **one_item_page(node.session))]
    controls = [
        node.session.accept(replace(request, via=via))[1] for request in requests for via in ("x-api-key", "bearer")
    ]
    unchanged = [unchanged_list(node.session, "list_groups", on.alice)]
    node.usage_keys.update(on.alice, key, Permissions())
    with judge("KEYLIFE-030"), Refusals(node.session, control=controls, unchanged=unchanged) as refusals:
        for accepted in controls[: 2 * len(gated)]:
            refusals.send(accepted.changed(), ["forbidden"])
    node.usage_keys.remove(on.alice, key)
    with judge("KEYLIFE-080"), Refusals(node.session, control=controls, unchanged=unchanged) as refusals:
        for accepted in controls:
            refusals.send(accepted.changed(), ["unauthenticated"])


@case("other-account-cannot-touch-a-key", requirements=["KEYLIFE-180"], needs=NEEDS)
def other_account_cannot_touch_a_key(judge: Judge, node: Node) -> None:
    """A usage key is neither updated nor removed with another account's key."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    trial = ScopeTrial(node.session, alice)
    of_bob = node.usage_keys.add(bob).key
    unchanged = [unchanged_list(node.session, "list_api_keys", owner) for owner in (alice, bob)]
    key = node.usage_keys.add(alice, FIRST).key
    # Bob does the same with a key of his own first.
    does = [
        node.usage_keys.update(bob, of_bob, ALL_PERMISSIONS),
        node.usage_keys.rename(bob, of_bob, "renamed"),
        node.usage_keys.remove(bob, of_bob),
    ]
    with judge():
        with Refusals(node.session, control=does, unchanged=unchanged) as refusals:
            # Where a text without padding is the key, it is so in whose account it is, too.
            for accepted, text in product(does, dict.fromkeys((key, key.rstrip("=")))):
                refusals.send(accepted.changed(usage_api_key=text), ["not_found", "forbidden", "malformed", "invalid"])
        trial.must_open(key, FIRST, "what the key opens, as its own account gave it,")
        node.usage_keys.remove(alice, key)


@case("parallel-updates-do-not-mix", requirements=["KEYLIFE-200"], needs=NEEDS)
def parallel_updates_do_not_mix(judge: Judge, node: Node) -> None:
    """After parallel updates the key has the permissions of one of them, not a mixture."""
    alice = node.accounts.new().key
    trial = ScopeTrial(node.session, alice)
    key = node.usage_keys.add(alice).key
    labels = {"name": node.label, "description": DESCRIPTION}
    updates = [
        node.session.request("update_usage_api_key", alice, usage_api_key=key, **labels, **half.members)
        for half in (FIRST, SECOND, FIRST, SECOND)
    ]
    for _ in range(2):
        for answer in send_at_once(node.session, updates):
            was_accepted(node.session, answer, or_refused=["conflict"])
        with judge():
            trial.must_open_one_of(
                key,
                [FIRST, SECOND],
                "after parallel updates, what the key opens, which is what one of them gave, whole,",
            )
