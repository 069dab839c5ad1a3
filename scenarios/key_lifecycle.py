"""The life of a usage key, where what it opens is tried before and after ("States and transitions / Usage key").

`execute_in_groups` shows only when an action is run: the pack execution_changes is about that.
"""

from __future__ import annotations

from dataclasses import replace

from conformance.cases import Judge, case
from conformance.service.at_once import send_at_once
from conformance.service.bindings import one_group, two_groups
from conformance.service.lists import one_item_page, only, unchanged_list
from conformance.service.node import Node
from conformance.service.refusal import Refusals, must_refuse, was_accepted
from conformance.service.scope_trial import ALL_GATED, ScopeTrial, opened_by
from conformance.service.session import DESCRIPTION
from conformance.service.usage_keys import ALL_PERMISSIONS, Permissions
from conformance.values.json_values import member, same

NEEDS = ("managed_accounts",)
FIRST = Permissions(can_create_groups=True, manage_ipfs_ids_in_groups=[0], remove_pkp_from_groups=[0])
SECOND = Permissions(False, True, True, add_pkp_to_groups=[0], execute_in_groups=[0])
MISSING_FIELDS = "wire.update_usage_api_key.missing_fields.permissions"


def judge_update(judge: Judge, trial: ScopeTrial, key: str, row: Permissions) -> None:
    """The key opens what its last update carries, and nothing else."""
    opened, carried = trial.opens(key), opened_by(row)
    if opened != carried:
        trial.must_open_when_new([row])
    with judge.apart("KEYLIFE-020"):
        judge.same([one for one in carried if one in opened], carried, "of what the update carries, what the key opens")
    with judge.apart("KEYLIFE-030"):
        judge.same([one for one in opened if one not in carried], [], "of what it does not carry, what the key opens")


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
        updated = update_without_permissions(node, alice, key)
        judge.same(
            trial.opens(key), [] if updated else ALL_GATED, "the operations that the key may call after the update"
        )


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
    listed = node.usage_keys.list(alice)
    item, third = (only(listed, "name", f"{node.label} {name}") for name in ("same", "third"))
    twin = node.usage_keys.add(alice, FIRST, "same").key
    judge.set_up(trial.opens(key) == opened_by(FIRST), "a key that opens what it was given before its twin is updated")
    node.usage_keys.update(alice, twin, SECOND, "same")
    with judge():
        listed = node.usage_keys.list(alice)
    for other in (item, third):
        with judge.apart():
            judge.that(any(same(one, other) for one in listed), "the other keys' items as before the update", listed)
    with judge.apart():
        # A node that takes no name twice has the twin's with a number behind it.
        of_the_name = [one for one in listed if str(member(one, "name")).startswith(f"{node.label} same")]
        judge.same(len(of_the_name), 2, "the number of keys of the name")
    with judge.apart():
        trial.must_open(key, FIRST, "what the key opens after its twin was updated")
    node.usage_keys.remove(alice, twin)
    with judge():
        ours = [one for one in node.usage_keys.list(alice) if node.label in str(member(one, "name"))]
        judge.same(len(ours), 2, "the number of keys after the removal")
    for other in (item, third):
        with judge.apart():
            judge.that(any(same(one, other) for one in ours), "the other keys' items as before the removal", ours)
    with judge():
        trial.must_open(key, FIRST, "what the key opens after its twin was removed")


@case("metadata-update-keeps-permissions", requirements=["KEYLIFE-070"], needs=NEEDS)
def metadata_update_keeps_permissions(judge: Judge, node: Node) -> None:
    """A metadata update leaves the permissions as they are."""
    alice = node.accounts.new().key
    trial = ScopeTrial(node.session, alice)
    for half in (FIRST, SECOND):
        key = node.usage_keys.add(alice, half).key
        node.usage_keys.rename(alice, key, "renamed")
        with judge.apart():
            # A new key shows what these permissions open where this one differs.
            trial.must_open(key, half, "the operations that the key may call after the update")


@case("removed-key-opens-nothing", requirements=["KEYLIFE-080"], needs=NEEDS)
def removed_key_opens_nothing(judge: Judge, node: Node) -> None:
    """A removed usage key is refused at every management operation."""
    alice = node.accounts.new().key
    trial = ScopeTrial(node.session, alice)
    page: dict[str, object] = {"page_number": node.session.stated("wire.paging.first_page_number"), "page_size": 1}
    key = node.usage_keys.add(alice, ALL_PERMISSIONS).key
    judge.set_up(trial.opens(key) == ALL_GATED, "a key that opens everything before its removal")
    request = node.session.request("list_groups", key, **page)
    node.session.send(request)  # whoever remembers whose key it is does so now
    node.usage_keys.remove(alice, key)
    lists = node.session.accept(node.session.request("list_groups", alice, **page))[1]
    with judge():
        judge.same(trial.opens(key), [], "the operations that the key may call after its removal")
        # To a node that does not know the key, it is no credential at all.
        must_refuse(node.session, request, ["unauthenticated"], control=lists, unchanged=[])


@case("next-key-inherits-nothing", requirements=["AUTH-080"], needs=NEEDS)
def next_key_inherits_nothing(judge: Judge, node: Node) -> None:
    """A key that is made after another one was removed has the permissions of its own creation alone."""
    on = two_groups(node)
    trial = ScopeTrial(node.session, on.alice)
    before = node.usage_keys.add(on.alice, SECOND).key
    runs = node.signing.must_sign(before, on.x, on.p).accepted
    judge.set_up(trial.opens(before) == opened_by(SECOND), "a key that opens what it was made with, before any removal")
    everything = node.usage_keys.add(on.alice, ALL_PERMISSIONS).key
    judge.set_up(trial.opens(everything) == ALL_GATED, "a key that opens everything before its removal")
    node.usage_keys.remove(on.alice, everything)
    after = node.usage_keys.add(on.alice, FIRST).key
    with judge():
        judge.same(trial.opens(after), opened_by(FIRST), "the operations that the next key may call")
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
            for accepted in does:
                refusals.send(accepted.changed(usage_api_key=key), ["not_found", "forbidden"])
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
