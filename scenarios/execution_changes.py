"""Execution follows changes: what a write changed counts for the next run.

Specification: "Endpoints / Execution rule", "States and transitions / Usage key" and "States and transitions / Group".
A permitted run proves itself: it signs with the wallet that it names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.service.acceptance import Accepted, must_accept
from conformance.service.at_once import send_at_once
from conformance.service.bindings import bound, running, two_groups
from conformance.service.groups import ALL_PKPS
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.refusal import NO_KEY, REFUSAL_CLASSES, Refusals, must_refuse, was_accepted
from conformance.service.session import DESCRIPTION
from conformance.service.usage_keys import Permissions
from conformance.values.ids import ApiKey, GroupId, HashedCid
from conformance.values.json_values import printed, same

NEEDS = ("managed_accounts",)
REMOVE_ABSENT = "semantics.group_membership_idempotence.remove_absent"
Removal = Callable[[ApiKey, GroupId, HashedCid], object]


# ---------------------------------------------------------------------------------------------------- changes of keys


UPDATES: Sequence[tuple[str, Sequence[str], str]] = (
    ("h", ["H"], ""),
    ("", [], "UKEY-300"),
    ("g", ["G"], ""),
    ("gh", ["G", "H"], "UKEY-290"),
    ("0", ["G", "H"], "UKEY-280"),
    ("g", ["G"], ""),
    ("h0", ["G", "H"], "UKEY-310"),
    ("", [], "UKEY-300"),
)
"""The groups of an update, where the key then runs, and the requirement about an array of this form.

After G and H together come shorter ones without H: what an update leaves of a longer array shows.
"""


@case(
    "update-of-a-key",
    requirements=[
        *("EXEC-230", "KEYLIFE-020", "KEYLIFE-030"),
        *("UKEY-260", "UKEY-270", "UKEY-280", "UKEY-290", "UKEY-300", "UKEY-310"),
    ],
    needs=NEEDS,
)
def update_of_a_key(judge: Judge, node: Node) -> None:
    """After each update of `execute_in_groups` a key runs in these groups and no other, wildcard included."""
    on = two_groups(node)
    ids = {"g": on.g, "h": on.h, "0": 0}
    runs_in = {"G": (on.x, on.p), "H": (on.y, on.q)}
    before: Sequence[str] = ["G"]
    stale: set[str] = set()
    for group, requirement in (("G", "UKEY-260"), ("H", "UKEY-270")):
        with judge.apart(requirement):
            judge.same(node.signing.signs(on.key, *runs_in[group]), group in before, f"whether the key runs in {group}")
    for groups, after, form in UPDATES:
        node.usage_keys.update(on.alice, on.key, Permissions(execute_in_groups=[ids[group] for group in groups]))
        for group, run in runs_in.items():
            about = [form or ("UKEY-260" if group in after else "UKEY-270")]
            if (group in before) != (group in after):
                about = ["EXEC-230", "KEYLIFE-020" if group in after else "KEYLIFE-030"]
                stale.add(group)
            elif group in stale:
                continue  # the verdict before was wrong, and does not tell how this array is read
            with judge.apart(*about):
                signed = node.signing.signs(on.key, *run)
                judge.that(
                    signed == (group in after),
                    f"a run in {group} to be {'permitted' if group in after else 'refused'} right after"
                    f" update_usage_api_key with execute_in_groups [{', '.join(groups).upper()}]; before it held"
                    f" [{', '.join(before).upper()}]",
                    "it was permitted" if signed else "it was refused",
                )
                stale.discard(group)
        before = after


@case("one-key-of-two", requirements=["KEYLIFE-050", "KEYLIFE-070", "KEYLIFE-080", "EXEC-230"], needs=NEEDS)
def one_key_of_two(judge: Judge, node: Node) -> None:
    """Renaming a usage key, or updating or removing another, keeps its permission to run."""
    on = two_groups(node)
    signing = node.signing
    twin, poor = node.usage_keys.executing_in(on.alice, on.g), node.usage_keys.executing_in(on.alice)
    runs = signing.must_sign(on.key, on.x, on.p).accepted
    twin_runs = signing.must_sign(twin, on.x, on.p).accepted
    signing.must_be_refused(poor, on.x, on.p, control=runs)
    for renamed in (on.key, poor):
        node.usage_keys.rename(on.alice, renamed, "renamed")
    with judge("KEYLIFE-070"):
        signing.must_sign(on.key, on.x, on.p)
        signing.must_be_refused(poor, on.x, on.p, control=runs)
    node.usage_keys.update(on.alice, on.key, Permissions())
    with judge.apart("EXEC-230"):
        signing.must_be_refused(on.key, on.x, on.p, control=runs)
    with judge.apart("KEYLIFE-050"):
        signing.must_sign(twin, on.x, on.p)
    node.usage_keys.remove(on.alice, twin)
    with judge.apart("KEYLIFE-080"):
        signing.must_be_refused(twin, on.x, on.p, control=twin_runs, classes=["unauthenticated"])
        if (unpadded := twin.rstrip("=")) != twin:  # a lenient reader of base64 takes it for the same bytes
            signing.must_be_refused(unpadded, on.x, on.p, control=twin_runs, classes=NO_KEY)
    with judge("KEYLIFE-050"):
        node.usage_keys.update(on.alice, on.key, Permissions(execute_in_groups=[on.g]))
    with judge("EXEC-230"):
        signing.must_sign(on.key, on.x, on.p)
    node.usage_keys.executing_in(on.alice, on.g)
    with judge("KEYLIFE-080"):
        signing.must_be_refused(twin, on.x, on.p, control=twin_runs, classes=["unauthenticated"])


# -------------------------------------------------------------------------------------------------- changes of groups


@case("members-of-a-group", requirements=["EXEC-230", "EP-210", "EP-220", "EP-360", "EP-370"], needs=NEEDS)
def members_of_a_group(judge: Judge, node: Node) -> None:
    """Runs follow when an action or a wallet is taken out of the group, also after others, and added again."""
    on = two_groups(node)
    groups, signing = node.groups, node.signing
    runs = signing.must_sign(on.key, on.x, on.p).accepted
    groups.add_pkp(on.alice, on.g, on.q.id)
    with judge.apart("EP-370"):
        signing.must_sign(on.key, on.x, on.q)
    removals: Sequence[Removal] = (groups.remove_action, partial(remove_action_in_capitals, node))
    for turn, remove_action in enumerate(removals):
        with judge.apart("EP-210", "EXEC-230"):
            remove_action(on.alice, on.g, on.x.hash)
            signing.must_be_refused(on.key, on.x, on.p, control=runs)
        with judge.apart("EP-360", "EXEC-230"):
            groups.add_action(on.alice, on.g, on.x.cid)
            signing.must_sign(on.key, on.x, on.p)
        with judge.apart("EP-220", "EXEC-230"):
            groups.remove_pkp(on.alice, on.g, on.p.id)
            signing.must_be_refused(on.key, on.x, on.p, control=runs)
        with judge.apart("EP-370", "EXEC-230"):
            groups.add_pkp(on.alice, on.g, on.p.id)
            signing.must_sign(on.key, on.x, on.p)
        if turn == 0:  # Q stood behind P when P left; without Q the group is empty when P leaves again
            with judge.apart("EP-220", "EXEC-230"):
                groups.remove_pkp(on.alice, on.g, on.q.id)
                signing.must_be_refused(on.key, on.x, on.q, control=runs)
    # What joins is permitted: Y, which was not.
    signing.must_be_refused(on.key, on.y, on.p, control=runs)
    groups.add_action(on.alice, on.g, on.y.cid)
    with judge.apart("EP-360"):
        signing.must_sign(on.key, on.y, on.p)


def remove_action_in_capitals(node: Node, owner: ApiKey, group: GroupId, hashed: HashedCid) -> None:
    """Remove an action from a group by its hash in capitals, or as it is listed.

    Capitals where it shows whether the node takes them for the hash: it refuses to remove what a group does not list.
    """
    capitals = HashedCid(f"0x{hashed[2:].upper()}")
    request = node.session.request("remove_action_from_group", owner, group_id=group, hashed_cid=capitals)
    shows = node.session.target.profile_value(REMOVE_ABSENT) in REFUSAL_CLASSES
    if not shows or not was_accepted(node.session, node.session.send(request), or_refused=["any"]):
        node.groups.remove_action(owner, group, hashed)


@case("changes-by-a-usage-key", requirements=["EXEC-230"], needs=NEEDS)
def changes_by_a_usage_key(judge: Judge, node: Node) -> None:
    """Runs of the account key and of a usage key follow what another usage key takes out of a group and puts back."""
    on = two_groups(node)
    keeper = node.usage_keys.add(on.alice, Permissions(False, False, False, [on.g], [on.g], [on.g])).key
    keys = running(node, on.alice, on.key)
    key_runs = [node.signing.must_sign(key, on.x, on.p).accepted for key in keys][-1]
    by_both = [node.signing.request(key, on.x, on.p) for key in keys]
    node.groups.remove_pkp(keeper, on.g, on.p.id)
    with judge(why="no run uses a wallet that was taken out of its group"):
        all_refused(node, by_both, "forbidden", key_runs)
    node.groups.add_pkp(keeper, on.g, on.p.id)
    with judge():
        node.signing.must_sign(on.key, on.x, on.p)
    node.groups.remove_action(keeper, on.g, on.x.hash)
    with judge(why="no action runs that was taken out of its group"):
        all_refused(node, by_both, "forbidden", key_runs)


@case(
    "update-of-a-group",
    requirements=["GRPLIFE-040", "GRPLIFE-050", "GRPLIFE-060", "GRPLIFE-070", "GRPLIFE-080"],
    needs=NEEDS,
)
def update_of_a_group(judge: Judge, node: Node) -> None:
    """After update_group the new lists alone permit runs: what was added before is replaced, wildcards too.

    A group that is made with the lists tells whether it is the update that is wrong. Of the pairs that run, an update
    of wallets is judged by the wallets alone, one of actions by the actions.
    """
    on = two_groups(node)
    p, q, x, y = on.p.id, on.q.id, on.x.hash, on.y.hash
    every = node.groups.all_actions
    pairs = {(action.hash, pkp.id): (action, pkp) for action in (on.x, on.y) for pkp in (on.p, on.q)}
    wallets, actions, emptied, wildcards, added = (f"GRPLIFE-0{number}0" for number in range(4, 9))
    parts = {
        actions: (slice(1), "the actions that the key runs"),
        wallets: (slice(1, 2), "the wallets that the key uses"),
    }

    def runs(key: str) -> dict[Sequence[object], tuple[bool, int]]:
        """Whether each action runs with each wallet, and the exchange that shows it."""
        answers = {pair: node.session.send(node.signing.request(key, *both)) for pair, both in pairs.items()}
        return {pair: (node.signing.has_signed(got, pairs[pair][1]), got.exchange) for pair, got in answers.items()}

    def permits(about: str, pkp_ids: Sequence[object], hashes: Sequence[object], *permitted: Sequence[object]) -> None:
        node.groups.update(on.alice, on.g, "g", pkp_ids=pkp_ids, cid_hashes=hashes)
        part, what = parts.get(about, (slice(2), "what the key runs"))
        lists = f"wallets {_listed(pkp_ids, ALL_PKPS)} and actions {_listed(hashes, every)}"
        with judge.apart(about):
            asked = runs(on.key)
            wrong = [at for pair, (ran, at) in asked.items() if ran is not (pair in permitted)]
            if wrong:
                alike = node.groups.add(on.alice, pkp_ids=pkp_ids, cid_hashes=hashes).id
                made = runs(node.usage_keys.executing_in(on.alice, alike))
                as_made = all(made[pair][0] is ran for pair, (ran, _) in asked.items())
                judge.set_up(not as_made, f"a group that is made with {lists} to permit what they say")
            ran = [pair for pair, (has_run, _) in asked.items() if has_run]
            told, expected = (
                sorted({" with ".join(map(printed, pair[part])) for pair in found}) for found in (ran, permitted)
            )
            judge.same(told, expected, f"{what} after an update of its group to {lists}", at=next(iter(wrong), None))

    node.signing.must_sign(on.key, on.x, on.p)
    permits(wallets, [q], [x], (x, q))
    permits(actions, [q], [y], (y, q))
    permits(wallets, [p], [y], (y, p))
    permits(emptied, [], [])
    for about in (wallets, actions):
        permits(about, [p], [x], (x, p))
    permits(wildcards, [ALL_PKPS], [x], (x, p), (x, q))
    permits(wildcards, [p], [every], (x, p), (y, p))
    permits(wildcards, [ALL_PKPS], [every], *pairs)
    permits(wildcards, [p], [x], (x, p))
    # What other calls added is replaced, too.
    node.groups.add_pkp(on.alice, on.g, q)
    node.groups.add_action(on.alice, on.g, on.y.cid)
    node.signing.must_sign(on.key, on.y, on.q)
    permits(added, [p], [x], (x, p))


def _listed(values: Sequence[object], every: object) -> str:
    """The entries of a list as a failure tells them."""
    return ", ".join("all" if value == every else printed(value) for value in values) or "none"


@case(
    "removal-of-a-group",
    requirements=["GRPLIFE-100", "GRPLIFE-110", "GRPLIFE-120", "GRPLIFE-130", "GRPLIFE-160", "EXEC-230"],
    needs=NEEDS,
)
def removal_of_a_group(judge: Judge, node: Node) -> None:
    """When a group is removed, keys can no longer run in it nor in a later group, and keep their other groups."""
    on = two_groups(node)
    signing = node.signing
    plain = node.actions.without_a_wallet()
    node.groups.add_action(on.alice, on.g, plain.cid)
    both, every = node.usage_keys.executing_in(on.alice, on.g, on.h), node.usage_keys.executing_in(on.alice, 0)
    # The account key needs a group as well (EXEC-120).
    keys = running(node, on.alice, on.key, both, every)
    runs = {key: signing.must_sign(key, on.x, on.p).accepted for key in keys}
    *_, in_h = (signing.must_sign(of_both, on.y, on.q).accepted for of_both in (both, every))
    uses_none = node.runs.request(on.key, plain.code)
    succeeds = node.runs.must_succeed(uses_none).accepted
    with judge("GRPLIFE-100", why="a group that usage keys name is removed like any other"):
        node.groups.remove(on.alice, on.g)
    loses = ["GRPLIFE-110", "GRPLIFE-160", "EXEC-230"]
    about = {every: loses[1:], on.alice: loses[2:]}
    lost = []
    # Whether the keys themselves are still there is GRPLIFE-140's question.
    classes = ["forbidden", "unauthenticated"]
    for key in keys:
        with judge.apart(*about.get(key, loses)):
            signing.must_be_refused(key, on.x, on.p, control=runs[key], classes=classes)
            lost.append(key)
    with judge.apart(*loses):
        must_refuse(node.session, uses_none, classes, control=succeeds, unchanged=[])
    with judge.apart("GRPLIFE-110", why="a key that has lost its only group runs in no other one"):
        signing.must_be_refused(on.key, on.y, on.q, control=in_h, classes=classes)
    with judge.apart("GRPLIFE-130"):
        for key in (both, every):
            signing.must_sign(key, on.y, on.q)
    for _ in range(2):
        bound(node, on.alice, [on.p], [on.x])
    with judge.apart("GRPLIFE-130"):
        signing.must_sign(every, on.x, on.p)
    for key in [one for one in (on.key, both) if one in lost]:
        with judge.apart("GRPLIFE-120"):
            signing.must_be_refused(key, on.x, on.p, control=runs[key], classes=classes)


@case(
    "runs-without-a-wallet",
    requirements=["EXEC-230", "EP-210", "EP-360", "GRPLIFE-050", "GRPLIFE-070", "KEYLIFE-020", "KEYLIFE-030"],
    needs=NEEDS,
)
def runs_without_a_wallet(judge: Judge, node: Node) -> None:
    """Runs that use no wallet follow each change of their group and their key with the next request."""
    on = two_groups(node)
    groups, hashes = node.groups, [on.x.hash, on.y.hash]
    plain = node.actions.without_a_wallet()
    g = bound(node, on.alice, [on.p], [plain])
    key = node.usage_keys.executing_in(on.alice, g)
    run = node.runs.request(key, plain.code)

    def follows(
        takes: Sequence[str], write: Callable[[], object], gives: Sequence[str], back: Callable[[], object]
    ) -> None:
        control = node.runs.must_succeed(run).accepted
        write()
        with judge.apart(*takes, "EXEC-230"):
            must_refuse(node.session, run, ["forbidden"], control=control, unchanged=[])
        back()
        with judge.apart(*gives, "EXEC-230"):
            node.runs.must_succeed(run)

    def in_others() -> list[object]:
        return [node.actions.list(on.alice, group) for group in (on.g, on.h)]

    def named(*listed: object) -> Callable[[], object]:
        return lambda: groups.update(on.alice, g, "g", pkp_ids=[on.p.id], cid_hashes=listed)

    def executing(*named: int) -> Callable[[], object]:
        return lambda: node.usage_keys.update(on.alice, key, Permissions(execute_in_groups=[*named]))

    before = in_others()
    follows(["GRPLIFE-050"], named(*hashes), ["GRPLIFE-050"], named(*hashes, plain.hash))
    follows(
        *(["EP-210"], lambda: groups.remove_action(on.alice, g, plain.hash)),
        *(["EP-360"], lambda: groups.add_action(on.alice, g, plain.cid)),
    )
    judge.set_up(same(in_others(), before), "the other groups' actions as before their neighbour's updates")
    follows(["KEYLIFE-030"], executing(on.g, on.h), ["KEYLIFE-020"], executing(0))
    follows(["KEYLIFE-030"], executing(on.h), ["KEYLIFE-020"], executing(on.g, g))
    follows(["KEYLIFE-030"], executing(), ["KEYLIFE-020"], executing(0))
    every = named(groups.all_actions)
    every()
    follows(["GRPLIFE-070"], named(*hashes), ["GRPLIFE-070"], every)


@case("one-group-of-two", requirements=["GRPLIFE-170", "PKP-060", "PKP-070", "UKEY-290"], needs=NEEDS)
def one_group_of_two(judge: Judge, node: Node) -> None:
    """A run that two groups permit stays permitted when one of them loses what it needs, or is removed."""
    on = two_groups(node)
    signing = node.signing
    for group in (on.g, on.h):
        node.groups.update(on.alice, group, "both", pkp_ids=[on.p.id, on.q.id], cid_hashes=[on.x.hash])
    in_h, both = node.usage_keys.executing_in(on.alice, on.h), node.usage_keys.executing_in(on.alice, on.g, on.h)
    with judge.apart("PKP-060"):
        for key in (on.key, in_h):
            signing.must_sign(key, on.x, on.p)
    node.groups.remove_pkp(on.alice, on.g, on.q.id)
    with judge.apart("PKP-070"):
        signing.must_sign(in_h, on.x, on.q)
    through_h = [in_h]
    with judge.apart("UKEY-290"):
        signing.must_sign(both, on.x, on.p)
        through_h.append(both)
    node.groups.remove(on.alice, on.g)
    with judge.apart("GRPLIFE-170"):
        for key in through_h:
            signing.must_sign(key, on.x, on.p)


@case(
    "deleted-action",
    requirements=["ACT-200", "EP-360", "EXEC-100"],
    needs=NEEDS,
    uses=["wire.group.cid_wildcard_form"],
)
def deleted_action(judge: Judge, node: Node) -> None:
    """After delete_action its runs are refused where the profile says that it leaves the groups, else permitted.

    It joins its former group again, and a group that permits all actions permits it still.
    """
    on, ran = two_groups(node), False
    stated = node.session.stated("semantics.delete_action_group_membership")
    node.actions.add(on.alice, on.x.cid)
    node.signing.must_sign(on.key, on.x, on.p)
    node.actions.delete(on.alice, on.x.hash)
    with judge.apart("ACT-200"):
        ran = node.signing.signs(on.key, on.x, on.p)
        judge.same("kept" if ran else "removed", stated, "what becomes of the action in its groups")
    if ran:
        node.groups.remove_action(on.alice, on.g, on.x.hash)
    with judge.apart("EP-360", why="an action that was deleted joins its former group again"):
        node.groups.add_action(on.alice, on.g, on.x.cid)
        node.signing.must_sign(on.key, on.x, on.p)
    node.groups.update(on.alice, on.g, pkp_ids=[on.p.id], cid_hashes=[node.groups.all_actions])
    with judge("EXEC-100"):
        node.signing.must_sign(on.key, on.x, on.p)


# ------------------------------------------------------------------------------------------------ changes under way


def all_refused(node: Node, requests: Sequence[OutgoingRequest], refusal: str, control: Accepted) -> None:
    """Send runs at once, which must all be refused."""
    with Refusals(node.session, control=control, unchanged=[]) as refusals:
        for answer in send_at_once(node.session, requests):
            refusals.check(answer, [refusal])


def change_under_way(
    node: Node, write: OutgoingRequest, runs: Sequence[OutgoingRequest], pkp: Pkp, refusals: Sequence[str]
) -> None:
    """Send a write, which must be accepted, among runs at the same time: either answer to these is right."""
    written, *ran = send_at_once(node.session, [write, *runs])
    must_accept(written)
    for answer in ran:
        node.signing.has_signed(answer, pkp, or_refused=refusals)


@case("key-removed-under-way", requirements=["KEYLIFE-150"], needs=NEEDS)
def key_removed_under_way(judge: Judge, node: Node) -> None:
    """Once the removal of a key is answered, no run with it begins, even if runs were under way."""
    on = two_groups(node)
    late = node.actions.prepared("sign_late")
    node.groups.add_action(on.alice, on.g, late.cid)
    # A run that began before asks for its wallet before or after the removal.
    soon, later = (node.signing.request(on.key, late, on.p, milliseconds=milliseconds) for milliseconds in (100, 600))
    runs = node.runs.must_succeed(soon).accepted
    removal = node.session.request("remove_usage_api_key", on.alice, usage_api_key=on.key)
    change_under_way(node, removal, [soon, later, soon], on.p, ["forbidden", "unauthenticated"])
    with judge():
        all_refused(node, [soon] * 4, "unauthenticated", runs)


@case("narrowed-under-way", requirements=["KEYLIFE-150", "EXEC-230"], needs=NEEDS)
def narrowed_under_way(judge: Judge, node: Node) -> None:
    """Once a key is narrowed, a wallet taken out or a group removed, no run begins as before, also under load."""
    on = two_groups(node)
    in_g, in_h = node.signing.request(on.key, on.x, on.p), node.signing.request(on.key, on.y, on.q)
    only_h = {"name": node.label, "description": DESCRIPTION, **Permissions(execute_in_groups=[on.h]).members}
    update = node.session.request("update_usage_api_key", on.alice, usage_api_key=on.key, **only_h)
    taking_out = node.session.request("remove_pkp_from_group", on.alice, group_id=on.h, pkp_id=on.q.id)
    removal = node.session.request("remove_group", on.alice, group_id=on.h)
    runs = node.signing.must_sign(on.key, on.x, on.p).accepted
    change_under_way(node, update, [in_g] * 2, on.p, ["forbidden"])
    with judge.apart("KEYLIFE-150"):
        all_refused(node, [in_g] * 3, "forbidden", runs)
    for write in (taking_out, removal):
        runs_in_h = node.signing.must_sign(on.key, on.y, on.q).accepted
        change_under_way(node, write, [in_h] * 2, on.q, ["forbidden"])
        with judge.apart("EXEC-230"):
            all_refused(node, [in_h] * 3, "forbidden", runs_in_h)
        if write is taking_out:
            node.groups.add_pkp(on.alice, on.h, on.q.id)


@case("parallel-updates-do-not-mix", requirements=["KEYLIFE-200"], needs=NEEDS)
def parallel_updates_do_not_mix(judge: Judge, node: Node) -> None:
    """After parallel updates a key runs where one of them says, and does what that one says."""
    on = two_groups(node)
    halves = [
        Permissions(can_create_groups=True, execute_in_groups=[on.g]),
        Permissions(can_create_pkps=True, execute_in_groups=[on.h]),
    ]
    labels = {"name": node.label, "description": DESCRIPTION}
    updates = [
        node.session.request("update_usage_api_key", on.alice, usage_api_key=on.key, **labels, **half.members)
        for half in halves * 2
    ]
    for _ in node.session.some(range(3), 1):
        for answer in send_at_once(node.session, updates):
            was_accepted(node.session, answer, or_refused=["conflict"])
        with judge():
            in_g, in_h = node.signing.signs(on.key, on.x, on.p), node.signing.signs(on.key, on.y, on.q)
            creation = node.session.send(node.pkps.creation(on.key))
            creates = was_accepted(node.session, creation, or_refused=["forbidden"])
            found = (in_g, in_h, creates)
            judge.that(
                found in ((True, False, False), (False, True, True)),
                "runs in G and no new wallets, or runs in H and new wallets",
                {"runs in G": in_g, "runs in H": in_h, "creates wallets": creates},
            )
