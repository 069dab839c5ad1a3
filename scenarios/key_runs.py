"""Who may run actions: which keys a run is answered for, by either header.

Specification: "Resources and their fields / Usage API key", "Resources and their fields / Scopes", "Authentication".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.profile.wire import ZERO_HASH
from conformance.service.acceptance import Accepted
from conformance.service.actions import ActionCode
from conformance.service.bindings import bound
from conformance.service.derivations import random_key
from conformance.service.lists import IN_GROUP, one_item_page, unchanged_list
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.refusal import Refusals, must_refuse, was_accepted
from conformance.service.secrecy import must_hide, tells
from conformance.service.usage_keys import ALL_PERMISSIONS, NO_PERMISSIONS, Permissions
from conformance.values.ids import GroupId, UsageKey

NEEDS = ("managed_accounts",)
LOOKS = """async function main(params) {
  const found = [];
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    try { found.push(name + '=' + JSON.stringify(globalThis[name])); } catch {}
  }
  console.log(found.join('; '));
  return {params, found, own: String(main), arguments: arguments.length};
}"""
"""Code that tells all that it finds."""


@dataclass(frozen=True)
class Runner:
    """An account in which group G permits the action X with the wallet P, and group H the action Y with P."""

    judge: Judge
    node: Node
    alice: str
    p: Pkp
    x: ActionCode
    y: ActionCode
    g: GroupId
    h: GroupId

    def key(self, *groups: int) -> UsageKey:
        """A usage key that executes in these groups and does nothing else."""
        return self.node.usage_keys.executing_in(self.alice, *groups)

    def runs(self, key: str, action: ActionCode, *about: str) -> Accepted:
        """The key runs the action."""
        with self.judge(*about):
            return self.node.signing.must_sign(key, action, self.p).accepted

    def refused(self, key: str, action: ActionCode, control: Accepted, *about: str) -> None:
        """The key is refused the action."""
        with self.judge(*about):
            self.node.signing.must_be_refused(key, action, self.p, control=control)

    def may(self, *requests: OutgoingRequest) -> None:
        """Send requests that may be refused."""
        for request in requests:
            was_accepted(self.node.session, self.node.session.send(request), or_refused=["any"])


def runner(judge: Judge, node: Node) -> Runner:
    """A new account with one wallet and two actions, a group for each of these."""
    alice = node.accounts.new().key
    p, x, y = node.pkps.create(alice), node.actions.prepared(mark="x"), node.actions.prepared(mark="y")
    return Runner(judge, node, alice, p, x, y, bound(node, alice, [p], [x]), bound(node, alice, [p], [y]))


@case(
    "execute-scope-by-group",
    requirements=[
        *("UKEY-260", "UKEY-270", "UKEY-280", "UKEY-290", "UKEY-300", "UKEY-310"),
        *("SCOPE-010", "SCOPE-020", "SCOPE-090", "AUTH-080"),
    ],
    needs=NEEDS,
)
def execute_scope_by_group(judge: Judge, node: Node) -> None:
    """A key with `execute_in_groups` alone runs in these groups, in no other, and does nothing else."""
    on = runner(judge, node)
    by_group = ("UKEY-260", "UKEY-270", "SCOPE-020", "AUTH-080")
    both = [on.g, on.h]
    for groups, expected, about in (
        ([on.g], [on.g], by_group),
        ([on.h], [on.h], by_group),
        ([on.h, on.g], both, ["UKEY-290"]),
        ([0], both, ["UKEY-280"]),
        ([on.h, 0], both, ["UKEY-310"]),
        ([], [], ["UKEY-300"]),
    ):
        key = on.key(*groups)
        with judge.apart(*about):
            runs = [group for group, action in ((on.g, on.x), (on.h, on.y)) if node.signing.signs(key, action, on.p)]
            judge.same(runs, expected, f"the groups in which a key with execute_in_groups {groups} runs")
    key = on.key(0)
    on.runs(key, on.x, "UKEY-260", "SCOPE-010", "SCOPE-020")
    in_group = [unchanged_list(node.session, name, on.alice, group_id=on.g) for name in IN_GROUP]
    lists = [unchanged_list(node.session, name, on.alice) for name in ("list_groups", "list_wallets")]
    adds_group, makes_wallet = node.groups.add(on.alice, "made").accepted, node.pkps.create(on.alice).accepted
    adds_action = node.groups.add_action(on.alice, on.h, on.x.cid)
    removes_action = node.groups.remove_action(on.alice, on.h, on.x.hash)
    removes_wallet = node.groups.remove_pkp(on.alice, on.h, on.p.id)
    removes_group = node.groups.remove(on.alice, on.h)
    controls = [adds_group, makes_wallet, removes_group]
    with judge("SCOPE-090", "AUTH-080"), Refusals(node.session, control=controls, unchanged=lists) as refusals:
        for request in (adds_group.changed(), makes_wallet.changed(), removes_group.changed(group_id=on.g)):
            refusals.send(replace(request, credential=key), ["forbidden"])
    controls = [adds_action, removes_action, removes_wallet]
    with (
        judge("SCOPE-090", "AUTH-080", "UKEY-300"),
        Refusals(node.session, control=controls, unchanged=in_group) as refusals,
    ):
        for request in (
            adds_action.changed(group_id=on.g, action_ipfs_cid=on.y.cid),
            removes_action.changed(group_id=on.g),
            removes_wallet.changed(group_id=on.g),
        ):
            refusals.send(replace(request, credential=key), ["forbidden"])


@case("wildcard-covers-all-groups", requirements=["UKEY-280", "UKEY-320", "UKEY-330", "LIM-040"], needs=NEEDS)
def wildcard_covers_all_groups(judge: Judge, node: Node) -> None:
    """`[0]` runs in every group of the account, later ones too, and in none of another account."""
    on = runner(judge, node)
    key, none = on.key(0), on.key()
    z = node.actions.prepared(mark="z")
    bound(node, on.alice, [on.p], [z])
    control = on.runs(key, on.x, "UKEY-280", "LIM-040")
    on.runs(key, on.y, "UKEY-280", "LIM-040")
    on.runs(key, z, "UKEY-320")
    bob = node.accounts.new().key
    of_bob = node.usage_keys.executing_in(bob, 0)
    for stranger in (of_bob, bob):
        on.refused(stranger, on.x, control, "UKEY-330")
    # Bob's key is none that is refused everything: it runs in a group of Bob.
    r = node.pkps.create(bob)
    bound(node, bob, [r], [on.x, on.y])
    with judge("UKEY-280"):
        node.signing.must_sign(of_bob, on.y, r)
    on.refused(of_bob, on.x, control, "UKEY-330")
    with judge("UKEY-330"):
        node.signing.must_be_refused(key, on.x, r, control=control)
    # It is the wildcard that lets the key run: without it, the same key runs nothing.
    for action in (on.x, on.y, z):
        on.refused(none, action, control, "UKEY-280")


@case(
    "omitted-permission-runs-nothing",
    requirements=["UKEY-440"],
    needs=NEEDS,
    # Whether it may be left out is silent (UKEY-430); a node that refuses it has nothing to show here.
    uses=[{"wire.add_usage_api_key.missing_fields.permissions": "empty"}],
)
def omitted_permission_runs_nothing(judge: Judge, node: Node) -> None:
    """A key whose creation leaves out `execute_in_groups` runs nothing, also after an update that leaves it out."""
    on = runner(judge, node)
    made = node.session.call("add_usage_api_key", on.alice, name=f"{node.label} without", description="d")
    without = node.usage_keys.value_in(made)
    control = on.runs(on.key(0), on.x)
    on.refused(without, on.x, control)
    # Whether an update without it is refused, empties the array or keeps it (KEYLIFE-140): there was nothing in it.
    both = [on.g, on.h]
    arrays = Permissions(manage_ipfs_ids_in_groups=both, add_pkp_to_groups=both, remove_pkp_from_groups=both)
    others = {name: value for name, value in arrays.members.items() if name != "execute_in_groups"}
    labels: dict[str, object] = {"name": f"{node.label} without", "description": "d", "usage_api_key": without}
    on.may(node.session.request("update_usage_api_key", on.alice, **labels, **others))
    # Whether the key is still there is KEYLIFE-040's question.
    with judge():
        node.signing.must_be_refused(without, on.y, on.p, control=control, classes=["forbidden", "unauthenticated"])


@case(
    "other-scopes-run-nothing",
    requirements=["SCOPE-090", "SCOPE-110", "SCOPE-120", "AUTH-080"],
    needs=NEEDS,
    uses=["wire.group.cid_wildcard_form"],
)
def other_scopes_run_nothing(judge: Judge, node: Node) -> None:
    """A key with every permission but `execute_in_groups` builds a group and runs nothing in it, until it may."""
    on = runner(judge, node)
    control = node.signing.must_sign(on.key(on.g), on.x, on.p).accepted
    permissions = ALL_PERMISSIONS.but({"execute_in_groups": []})
    key = node.usage_keys.add(on.alice, permissions).key
    on.refused(key, on.x, control, "AUTH-080", "SCOPE-090", "SCOPE-110")
    own = node.groups.add(key, "own", listed_to=on.alice).id
    node.groups.add_action(key, own, on.x.cid)
    node.groups.add_pkp(key, own, on.p.id)
    on.refused(key, on.x, control, "SCOPE-110", "SCOPE-120")
    # Whether a usage key may fill a group at its creation is for the profile (SCOPE-130); to run there it may not.
    on.may(node.groups.creation(key, "open", pkp_ids=[ZERO_HASH], cid_hashes=[node.groups.all_actions]))
    for action in (on.x, on.y):
        on.refused(key, action, control, "SCOPE-110")
    node.usage_keys.update(on.alice, key, permissions.but({"execute_in_groups": [own]}))
    on.runs(key, on.x, "AUTH-080")
    on.refused(key, on.y, control, "AUTH-080")


@case("a-key-cannot-widen-its-own-runs", requirements=["AUTH-210"], needs=NEEDS)
def a_key_cannot_widen_its_own_runs(judge: Judge, node: Node) -> None:
    """Nothing that a usage key may do lets it run where it might not."""
    on = runner(judge, node)
    key = node.usage_keys.add(on.alice, ALL_PERMISSIONS.but({"execute_in_groups": [on.h]})).key
    control = on.runs(key, on.y)
    labels: dict[str, object] = {"name": node.label, "description": "d"}
    wide: dict[str, object] = {"usage_api_key": key, **labels, "execute_in_groups": [0]}
    everywhere = Permissions(execute_in_groups=[0])
    update = node.session.request("update_usage_api_key", key, usage_api_key=key, **labels, **ALL_PERMISSIONS.members)
    addition = node.session.request("add_usage_api_key", key, **labels, **everywhere.members)
    rename = node.session.request("update_usage_api_key_metadata", key, **wide)

    def refill() -> None:
        # What a group holds is in its reach; in G it still may not run.
        node.groups.remove_action(key, on.g, on.x.hash)
        node.groups.add_action(key, on.g, on.x.cid)

    def remake() -> None:
        node.groups.remove(key, on.g)
        on.may(node.groups.creation(key, "g", pkp_ids=[on.p.id], cid_hashes=[on.x.hash]))

    node.signing.must_be_refused(key, on.x, on.p, control=control)
    tries: list[Callable[[], None]] = [lambda: on.may(update), lambda: on.may(addition, rename)]
    for attempt in (*tries, refill, remake):
        attempt()
        on.refused(key, on.x, control)
    on.runs(key, on.y)


@case(
    "either-header",
    requirements=["AUTH-010", "AUTH-020", "AUTH-030", "AUTH-040", "AUTH-050", "EXEC-250"],
    needs=NEEDS,
)
def either_header(judge: Judge, node: Node) -> None:
    """Runs take the key in either header with the same verdict, whatever kind of key it is."""
    on = runner(judge, node)
    fitting, elsewhere, removed = on.key(on.g), on.key(on.h), on.key(on.g)
    node.usage_keys.remove(on.alice, removed)
    run = node.signing.request(on.alice, on.x, on.p)
    lists = node.session.request("list_groups", on.alice, **one_item_page(node.session))
    nobodys = (removed, random_key(node.session.random), "not a key")
    for via, about in (("x-api-key", "AUTH-010"), ("bearer", "AUTH-020")):
        requests = {key: replace(run, credential=key, via=via) for key in (on.alice, fitting, elsewhere, *nobodys)}
        with judge(about, "AUTH-030"):
            by_owner = node.runs.must_succeed(requests[on.alice])
        with judge(about, "AUTH-030", *["EXEC-250"] * (via == "x-api-key")):
            by_key = node.runs.must_succeed(requests[fitting])
        for answered in (by_owner, by_key):
            node.signing.signed(answered.answer, on.p)
        # A removed key reads nothing either.
        listed = node.session.accept(replace(lists, via=via))[1]
        controls = [by_owner.accepted, listed]
        with judge.apart("AUTH-030"):
            must_refuse(node.session, requests[elsewhere], ["forbidden"], control=controls, unchanged=[])
        with (
            judge.apart("AUTH-050", "AUTH-030"),
            Refusals(node.session, control=controls, unchanged=[]) as refusals,
        ):
            for key in nobodys:
                refusals.send(requests[key], ["unauthenticated"])
            refusals.send(replace(lists, credential=removed, via=via), ["unauthenticated"])
    without = replace(run, credential=None)
    headers: list[dict[str, str | None]] = [{}, {"X-Api-Key": ""}, {"Authorization": f"Basic {fitting}"}]
    with judge("AUTH-040"), Refusals(node.session, control=by_owner.accepted, unchanged=[]) as refusals:
        for given in headers:
            refusals.send(replace(without, headers=given), ["unauthenticated"])


@case("answers-hold-no-key", requirements=["AKEY-050", "UKEY-360", "ERR-160"], needs=NEEDS)
def answers_hold_no_key(judge: Judge, node: Node) -> None:
    """No answer to a run holds the key that it was called with, nor the account's."""
    on = runner(judge, node)
    labels = {"name": node.label, "description": "d"}
    everywhere = NO_PERMISSIONS.but({"execute_in_groups": [0]})
    creation = node.session.call("add_usage_api_key", on.alice, **labels, **everywhere.members)
    key = node.usage_keys.value_in(creation)
    judge.set_up(tells(creation, key), "a search that finds the key where it is")
    node.groups.add_action(on.alice, on.g, node.actions.asked_cid(LOOKS))
    answer, control = node.session.accept(node.runs.request(key, LOOKS, pkp_id=on.p.id, params={"message": node.label}))
    to_owner = node.session.send(node.runs.request(on.alice, LOOKS))
    was_accepted(node.session, to_owner, or_refused=["forbidden"])
    said = [answer, to_owner, node.session.accept(node.signing.request(key, on.x, on.p))[0]]
    with judge("ERR-160"):
        unlisted = node.runs.request(key, node.label)  # it is no JavaScript either
        refusal = must_refuse(
            node.session, unlisted, ["forbidden", "malformed", "invalid"], control=control, unchanged=[]
        )
    for secret, about in ((key, "UKEY-360"), (on.alice, "AKEY-050")):
        for one in said:
            with judge.apart(about, why="no answer holds the key that it was asked with"):
                must_hide(one, secret, "the key")
        with judge.apart("ERR-160", why="no refusal holds the key that it was asked with"):
            must_hide(refusal, secret, "the key")
