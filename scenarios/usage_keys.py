"""Usage API keys, where cases compute ("Resources and their fields / Usage API key")."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from conformance.cases import Judge, case
from conformance.service.at_once import at_once
from conformance.service.bindings import one_group, two_and_two
from conformance.service.lists import IN_GROUP, unchanged_list
from conformance.service.node import Node
from conformance.service.reach import beyond_its_group
from conformance.service.refusal import must_refuse, was_accepted
from conformance.service.secrecy import mark_of, shared_prefix
from conformance.service.session import DESCRIPTION
from conformance.service.usage_keys import ALL_PERMISSIONS, NO_PERMISSIONS, Permissions
from conformance.values.ids import GroupId, UsageKey
from conformance.values.json_values import member, pluck, printed

NEEDS = ("managed_accounts",)
MEMBERS = ("name", "description", *Permissions().members)
UNKNOWN_GROUP = "semantics.usage_key_unknown_group_id"
FAR_FROM_GROUPS = 10**9
"""So far from the id of a group no other one is."""
WAYS = {"one-way": 0, "other-way": 1, "third-way": 2}
"""How far flags and groups are moved on: no two fields of one type have the same value in all three ways."""


@case(
    "fields-are-listed-as-given",
    requirements=["UKEY-010", "UKEY-020", "UKEY-030"],
    needs=NEEDS,
    uses=[f"wire.list_items.fields.usage_key.{name}" for name in MEMBERS],
    each=WAYS,
)
def fields_are_listed_as_given(judge: Judge, node: Node, row: int) -> None:
    """The list shows each permission of a usage key as it was given."""
    alice = node.accounts.new().key
    groups = [node.groups.add(alice, str(number)).id for number in range(4)]
    arrays = [[group] for group in (*groups[-row:], *groups[:-row])]
    permissions = Permissions(row == 0, row == 1, row == 2, *arrays)
    with judge("UKEY-010"):
        node.usage_keys.add(alice, permissions)
    listed = node.usage_keys.list(alice)
    with judge.apart("UKEY-020"):
        judge.that(node.label in pluck(listed, "name"), f"a key of the name {node.label}", listed)
    with judge.apart("UKEY-030"):
        judge.that(DESCRIPTION in pluck(listed, "description"), f"a key described as {DESCRIPTION!r}", listed)
    with judge("UKEY-010"):
        added = [item for item in listed if node.label in (member(item, "name"), member(item, "description"))]
        judge.items(added, [permissions.members], "the permissions of the key")


ARRAYS = tuple(name for name, value in Permissions().members.items() if isinstance(value, list))
MANY = 20


@case(
    "last-of-many-groups-is-kept",
    requirements=["UKEY-010"],
    needs=NEEDS,
    uses=[f"wire.list_items.fields.usage_key.{name}" for name in ("name", *ARRAYS)],
)
def last_of_many_groups_is_kept(judge: Judge, node: Node) -> None:
    """A key whose arrays name many groups is refused, or its arrays hold the last of them."""
    alice = node.accounts.new().key
    many = [node.groups.add(alice).id for _ in range(MANY)]
    labels: dict[str, object] = {"name": node.label, "description": DESCRIPTION}
    permissions = Permissions(False, False, False, many, many, many, many).members
    with judge("UKEY-010"):
        answer = node.session.send(node.session.request("add_usage_api_key", alice, **labels, **permissions))
        # How many groups an array may name is silent.
        if not was_accepted(node.session, answer, or_refused=["any"]):
            return
        listed = node.usage_keys.list(alice)
        added = [item for item in listed if member(item, "name") == node.label]
        judge.that(len(added) == 1, "list_api_keys to show the new key", listed)
    for name in ARRAYS:
        with judge.apart("UKEY-010"):
            held = member(added[0], name)
            kept = isinstance(held, list) and str(many[-1]) in map(str, held)
            judge.that(kept, f"the group {many[-1]}, the last of {MANY} that were named, in {name}", held)


FAR = (2**24, 2**32)
"""What integers of 8, 16, 24 and 32 bits read as 0, which is the wildcard."""


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
        groups = [*FAR, on.g + FAR[-1]]
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
    # All else of the request is new, so that a part of it that is carried out shows.
    others: dict[str, object] = {**ALL_PERMISSIONS.members, "name": "others", "description": "none of it"}
    for control in (added.accepted, node.usage_keys.update(alice, added.key, known)):
        for array in ARRAYS:
            request = control.changed(**{**others, array: [group, group + FAR_FROM_GROUPS]})
            with judge.apart():
                if stated == "accepted":
                    node.session.accept(request)
                else:
                    keys = [unchanged_list(node.session, "list_api_keys", alice)]
                    must_refuse(node.session, request, [stated], control=control, unchanged=keys)
