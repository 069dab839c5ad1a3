"""Usage API keys, where cases compute ("Resources and their fields / Usage API key")."""

from __future__ import annotations

from functools import partial

from conformance.cases import Judge, case
from conformance.service.at_once import at_once
from conformance.service.node import Node
from conformance.service.secrecy import mark_of, shared_prefix
from conformance.service.session import DESCRIPTION
from conformance.service.usage_keys import Permissions
from conformance.values.json_values import member, pluck

NEEDS = ("managed_accounts",)
MEMBERS = ("name", "description", *Permissions().members)
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


@case("key-values-are-random", requirements=["UKEY-420"], needs=NEEDS)
def key_values_are_random(judge: Judge, node: Node) -> None:
    """Usage keys made by equal requests have values with nothing in common."""
    add = partial(node.usage_keys.add, node.accounts.new().key)
    with judge():
        keys = [added.key for added in (add(), add(), add(), add(), *at_once([add] * 4))]
        judge.that(len(set(keys)) == 8, "eight values", keys)
        # How a value is written is silent (UKEY-410): 16 bytes take 22 characters of base64, and more of anything else.
        secrets = [key.removeprefix(mark_of(keys)) for key in keys]
        judge.that(all(len(secret) >= 22 for secret in secrets), "values of 16 bytes and more", keys)
        judge.that(shared_prefix(secrets) <= 3, "no value that begins like another", keys)
