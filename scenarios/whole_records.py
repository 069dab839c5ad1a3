"""What an update or a removal leaves alone: every other record of the account, ids of two digits included.

Specification: "States and transitions" (what a write replaces).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from conformance.cases import Judge, case
from conformance.profile.operations import PERMISSION_ARRAYS
from conformance.service.derivations import hashed_cid
from conformance.service.node import Node
from conformance.service.usage_keys import Permissions
from conformance.values.ids import GroupId
from conformance.values.json_values import printed

NEEDS = ("managed_accounts",)
Records = dict[str, list[object]]


def records(node: Node, key: str, groups: Sequence[GroupId]) -> Records:
    """All that an account's lists hold, by operation and group."""
    held: Records = {
        "groups": node.groups.list(key),
        "wallets": node.pkps.list(key),
        "actions": node.actions.list(key),
        "usage keys": node.usage_keys.list(key),
    }
    for group in groups:
        held[f"wallets of {group}"] = node.pkps.list(key, group)
        held[f"actions of {group}"] = node.actions.list(key, group)
    return held


def without(items: Sequence[object], gone: str) -> list[object]:
    """Usage keys as they are when their arrays lose a group's id."""

    def lost(name: str, value: object) -> object:
        if name not in PERMISSION_ARRAYS or not isinstance(value, list):
            return value
        return [one for one in value if printed(one) != gone]

    return [
        {name: lost(name, value) for name, value in item.items()} if isinstance(item, dict) else item for item in items
    ]


@case(
    "beside-each-write",
    requirements=["GRPLIFE-090", "GRPLIFE-130", "GRPLIFE-140", "KEYLIFE-050", "EP-220"],
    needs=NEEDS,
)
def beside_each_write(judge: Judge, node: Node) -> None:
    """Updates and removals change no other record, not even one whose id begins alike."""
    alice = node.accounts.new().key
    pkp, other = node.pkps.create_several(alice, 2)
    hashed = hashed_cid(node.actions.sample_cid("one"))
    node.actions.add(alice, node.actions.sample_cid("one"))
    ids = [node.groups.add(alice, str(n), pkp_ids=[pkp.id, other.id], cid_hashes=[hashed]).id for n in range(11)]
    first, last = ids[0], ids[9]
    named: list[list[int]] = [[first], [last], [first, last], [0, first], [last, ids[10]]]
    # A group has another place in each array of a key, in whatever order a node keeps them, or none.
    others = [ids[1], ids[10]]
    held = [Permissions(True, False, True, groups[::-1], others, [ids[1], *groups], groups) for groups in named]
    keys = [node.usage_keys.add(alice, permissions, str(number)).key for number, permissions in enumerate(held)]
    watched = [first, ids[1], last, ids[10]]
    before = records(node, alice, watched)

    def compare(*changed: str) -> None:
        nonlocal before
        earlier, before = before, records(node, alice, watched)
        for name in before:
            if name not in changed:
                judge.same(before[name], earlier[name], f"the {name}, as before the write,")

    node.groups.update(alice, first, "0", pkp_ids=[], cid_hashes=[])
    with judge.apart("GRPLIFE-090"):
        compare("groups", f"wallets of {first}", f"actions of {first}")
    node.groups.remove_pkp(alice, last, pkp.id)
    with judge.apart("EP-220"):
        compare(f"wallets of {last}")
    node.usage_keys.update(alice, keys[0], Permissions(), "0")
    kept = before["usage keys"]
    with judge.apart("KEYLIFE-050"):
        compare("usage keys")
        differing = Counter(map(printed, before["usage keys"])) - Counter(map(printed, kept))
        judge.that(differing.total() <= 1, "one usage key at most that is another", list(differing))
    kept, watched = before["usage keys"], watched[1:]
    node.groups.remove(alice, first)
    earlier = before
    with judge.apart("GRPLIFE-130"):
        compare("groups", "usage keys", "wallets", "actions", f"wallets of {first}", f"actions of {first}")
    with judge.apart("GRPLIFE-140"):
        for name in ("wallets", "actions"):
            judge.same(before[name], earlier[name], f"the {name} of the account, as before the write,")
    with judge.apart("GRPLIFE-130"):
        gone = printed(first)
        judge.same(without(before["usage keys"], gone), without(kept, gone), "the usage keys, but for the group's id,")
