"""What a usage key that names one group must not do in another one ("Authentication" 2 and 3, "Scopes")."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from conformance.service.acceptance import Accepted
from conformance.service.bindings import TwoAndTwo
from conformance.service.lists import IN_GROUP, unchanged_list
from conformance.service.node import Node
from conformance.service.reads import Read
from conformance.service.refusal import must_refuse
from conformance.service.usage_keys import Permissions
from conformance.values.ids import GroupId


def beyond_its_group(node: Node, on: TwoAndTwo, named: GroupId, other: GroupId) -> Mapping[str, Callable[[], object]]:
    """By requirement, what raises a Departure if a key that names one group in each array acts in the other one, too.

    Both groups are updated: this one lists P and X, the other one P and Y.
    """
    node.groups.update(on.alice, named, "named", pkp_ids=[on.p.id], cid_hashes=[on.x.hash])
    node.groups.update(on.alice, other, "other", pkp_ids=[on.p.id], cid_hashes=[on.y.hash])
    key = node.usage_keys.add(on.alice, Permissions(False, False, False, [named], [named], [named], [named])).key
    spare = node.actions.prepared(mark="spare")
    wallets, actions = (unchanged_list(node.session, name, on.alice, group_id=other) for name in IN_GROUP)
    writes: dict[str, tuple[Accepted, dict[str, object], Read]] = {
        "UKEY-110": (node.groups.add_action(key, named, spare.cid), {}, actions),
        "UKEY-150": (node.groups.remove_action(key, named, spare.hash), {"hashed_cid": on.y.hash}, actions),
        "UKEY-190": (node.groups.add_pkp(key, named, on.q.id), {}, wallets),
        "UKEY-230": (node.groups.remove_pkp(key, named, on.q.id), {"pkp_id": on.p.id}, wallets),
    }
    runs = node.signing.must_sign(key, on.x, on.p).accepted
    trials: dict[str, Callable[[], object]] = {}
    for requirement, (control, changed, read) in writes.items():
        request = control.changed(group_id=other, **changed)
        trials[requirement] = partial(
            must_refuse, node.session, request, ["forbidden"], control=control, unchanged=[read]
        )
    trials["UKEY-270"] = partial(node.signing.must_be_refused, key, on.y, on.p, control=runs)
    return trials
