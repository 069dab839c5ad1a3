"""The Execution rule, one condition at a time ("Endpoints / Execution rule").

A permitted run signs the case's label, and the signature leads to the wallet. A refused run is held against a permitted
one that differs from it in the one condition. The pack's matrices ask every question that the rule can be asked; these
cases tell which condition it is that a node gets wrong. X and Y are actions of an account, P and Q its wallets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from conformance.cases import Judge, case
from conformance.drivers.sections import labelled
from conformance.service.acceptance import Accepted
from conformance.service.actions import ActionCode
from conformance.service.at_once import send_at_once
from conformance.service.bindings import bound, one_group, running, two_and_two, two_groups
from conformance.service.derivations import account_hash, key_with_flipped_bit, random_key, usage_key_hash
from conformance.service.groups import ALL_PKPS
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.refusal import Refusals, must_refuse
from conformance.service.usage_keys import Permissions
from conformance.values.ids import ApiKey, UsageKey

NEEDS = ("managed_accounts",)
FORMS = "wire.group.cid_wildcard_form"
NO_JAVASCRIPT = "async function main( {"


def all_sign(node: Node, keys: Sequence[str], action: ActionCode | str, pkp: Pkp) -> Accepted:
    """Run it with each of these keys; the control for refusals."""
    return [node.signing.must_sign(key, action, pkp).accepted for key in keys][-1]


def all_refused(
    node: Node, control: Accepted, keys: Sequence[str], action: ActionCode | str, pkp: Pkp, *classes: str
) -> None:
    """Run it with each of these keys, which must be refused; as forbidden, unless other classes are right."""
    for key in keys:
        node.signing.must_be_refused(key, action, pkp, control=control, classes=classes or ["forbidden"])


# ------------------------------------------------------------------------------------------------------ each condition


@case("usage-key", requirements=["EXEC-010"], needs=NEEDS)
def usage_key(judge: Judge, node: Node) -> None:
    """A usage key that may only execute in a group runs the action with the wallet that the group lists."""
    on = one_group(node)
    node.session.accept(node.pkps.creation(on.alice))  # a newer wallet, which must not sign in place of P
    with judge(why="the key's group lists the CID of this very code, and the wallet"):
        node.signing.must_sign(on.key, on.x, on.p)


@case("account-key", requirements=["EXEC-020"], needs=NEEDS)
def account_key(judge: Judge, node: Node) -> None:
    """The account key runs an action with a wallet where a group of the account lists both; no usage key is needed."""
    alice = node.accounts.new().key
    p, x = node.pkps.create_several(alice, 2)[0], node.actions.prepared()
    bound(node, alice, [p], [x])
    with judge(why="a group lists the CID of this very code, and the wallet"):
        node.signing.must_sign(alice, x, p)


WAITS = """const begun = Date.now();
for (let i = 0; i < 2e6 && Date.now() < begun + 300; i++);
"""
"""Keeps a run under way for a moment, so that runs which are sent at once overlap."""


@case("keys-that-run-at-once", requirements=["EXEC-010", "EXEC-050"], needs=NEEDS)
def keys_that_run_at_once(judge: Judge, node: Node) -> None:
    """Of two runs under way, each uses the wallets of its own key's groups, whichever began first."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    x = node.actions.of_code(WAITS + node.actions.source("sign_message", "x"))
    weak = node.usage_keys.executing_in(alice, bound(node, alice, [q], [x]))
    strong = node.usage_keys.executing_in(alice, bound(node, alice, [p], [x]))
    runs = node.signing.must_sign(strong, x, p).accepted
    node.signing.must_sign(weak, x, q)
    node.signing.must_be_refused(weak, x, p, control=runs)
    for first, second in ((weak, strong), (strong, weak)) * 2:
        answers = send_at_once(node.session, [node.signing.request(key, x, p) for key in (first, second)])
        for key, answer in zip((first, second), answers, strict=True):
            with judge.apart("EXEC-010" if key == strong else "EXEC-050"):
                expected, got = key == strong, node.signing.has_signed(answer, p)
                told = {True: "a run", False: "a refusal"}
                judge.that(got == expected, f"{told[expected]} beside a run with the other key", told[got])


@case("key-without-the-group", requirements=["EXEC-030"], needs=NEEDS)
def key_without_the_group(judge: Judge, node: Node) -> None:
    """A usage key that may execute in no group, or in another one, runs nothing of this one."""
    on = two_groups(node)
    in_none, in_h = node.usage_keys.executing_in(on.alice), node.usage_keys.executing_in(on.alice, on.h)
    runs = node.signing.must_sign(on.key, on.x, on.p).accepted
    node.signing.must_sign(in_h, on.y, on.q)
    with judge(why="no group in the key's execute_in_groups lists the action and the wallet"):
        all_refused(node, runs, [in_none, in_h], on.x, on.p)


@case("unlisted-action", requirements=["EXEC-040"], needs=NEEDS)
def unlisted_action(judge: Judge, node: Node) -> None:
    """An action that the group does not list is refused, with the usage key and with the account key."""
    on = two_groups(node)
    keys = running(node, on.alice, on.key)
    runs = all_sign(node, keys, on.x, on.p)
    with judge(why="the group lists the wallet and not the action"):
        all_refused(node, runs, [on.key], on.y, on.p)
        all_refused(node, runs, keys, node.actions.source("sign_message", "z"), on.p)
    with judge(why="no group lists code that does not parse, either"):
        all_refused(node, runs, [on.key], NO_JAVASCRIPT, on.p, "forbidden", "malformed", "invalid")


@case("unlisted-wallet", requirements=["EXEC-050"], needs=NEEDS)
def unlisted_wallet(judge: Judge, node: Node) -> None:
    """A wallet that the group does not list cannot be used by its actions, until the group lists it."""
    on = one_group(node)
    keys, unlisted = running(node, on.alice, on.key), node.pkps.create(on.alice)
    runs = all_sign(node, keys, on.x, on.p)
    with judge(why="the group lists the action and not the wallet, which no group lists"):
        all_refused(node, runs, keys, on.x, unlisted)
    node.groups.add_pkp(on.alice, on.g, unlisted.id)
    node.signing.must_sign(on.key, on.x, unlisted)


@case("account-key-needs-a-group", requirements=["EXEC-120"], needs=NEEDS)
def account_key_needs_a_group(judge: Judge, node: Node) -> None:
    """The account key, too, runs only what some group lists with the wallet."""
    alice, p, q, x, y = two_and_two(node)
    bound(node, alice, [p], [x])
    runs = node.signing.must_sign(alice, x, p).accepted
    for action, pkp in ((y, p), (x, q), (y, q)):
        with judge.apart(why="no group lists both the action and the wallet, which rules the account key as well"):
            node.signing.must_be_refused(alice, action, pkp, control=runs)
    bound(node, alice, [q], [y])
    node.signing.must_sign(alice, y, q)


@case("account-key-without-groups", requirements=["EXEC-120"], needs=NEEDS)
def account_key_without_groups(judge: Judge, node: Node) -> None:
    """The account key runs nothing while the account has no group that lists anything."""
    alice = node.accounts.new().key
    p, x = node.pkps.create(alice), node.actions.prepared()
    g = bound(node, alice, [p], [x])
    runs = node.signing.must_sign(alice, x, p).accepted
    node.groups.remove(alice, g)
    with judge(why="the only group that listed the action and the wallet was removed"):
        node.signing.must_be_refused(alice, x, p, control=runs)


@case("unregistered-action", requirements=["EXEC-330", "ACT-070", "EXEC-040", "EXEC-120"], needs=NEEDS)
def unregistered_action(judge: Judge, node: Node) -> None:
    """An action that a group lists runs without being registered, and registering it alone permits nothing."""
    on = one_group(node)
    with judge("EXEC-330", why="a group lists the action, which needs no registration"):
        runs = node.signing.must_sign(on.key, on.x, on.p).accepted
    z = node.actions.prepared(mark="z")
    node.actions.add(on.alice, z.cid)
    keys = running(node, on.alice, on.key)
    with judge.apart("ACT-070", why="add_action registers the action and puts it into no group"):
        all_refused(node, runs, keys, z, on.p)
    # Nor without a wallet, of which no group is asked then.
    listed, registered = (node.actions.prepared("hello", mark) for mark in ("listed", "registered"))
    key = node.usage_keys.executing_in(on.alice, bound(node, on.alice, [on.p], [listed]))
    runs = [node.runs.run(runner, listed.code).accepted for runner in running(node, on.alice, key)][-1]

    def refused(runner: ApiKey | UsageKey) -> None:
        request = node.runs.request(runner, registered.code)
        must_refuse(node.session, request, ["forbidden"], control=runs, unchanged=[])

    for runner, rule in ((key, "EXEC-040"), (on.alice, "EXEC-120")):
        with judge.apart(rule, why="no group lists the action"):
            refused(runner)
    node.actions.add(on.alice, registered.cid)
    for runner in (key, on.alice):
        with judge.apart("ACT-070", why="add_action registers the action and puts it into no group"):
            refused(runner)


@case("both-modes", requirements=["EXEC-250"], needs=NEEDS)
def both_modes(judge: Judge, node: Node) -> None:
    """A usage key in X-Api-Key runs actions of a managed account, and of the same account once it is ChainSecured."""
    # An account that a wallet makes has no credits for runs; those of a managed one follow it when it is converted.
    on = one_group(node)
    with judge():
        node.signing.must_sign(on.key, on.x, on.p)
    node.accounts.convert(on.alice, node.wallets.new("carol"))
    with judge(why="the key's group lists the action and the wallet, and a conversion keeps both"):
        node.signing.must_sign(on.key, on.x, on.p)


# ------------------------------------------------------------------------------------- all conditions in the same group


@case("conditions-in-different-groups", requirements=["EXEC-060"], needs=NEEDS)
def conditions_in_different_groups(judge: Judge, node: Node) -> None:
    """A group that lists the action and another that lists the wallet permit nothing together."""
    alice, p, q, x, y = two_and_two(node)
    g, h = bound(node, alice, [q], [x]), bound(node, alice, [p], [y])
    keys = running(node, alice, *(node.usage_keys.executing_in(alice, *groups) for groups in ([g, h], [h, g], [0])))
    runs = all_sign(node, keys, x, q)
    with judge(why="one group lists the action and another the wallet, but none both"):
        all_refused(node, runs, keys, x, p)
    node.groups.add_pkp(alice, g, p.id)
    all_sign(node, keys[:2], x, p)


@case("fitting-group-of-others", requirements=["EXEC-070"], needs=NEEDS)
def fitting_group_of_others(judge: Judge, node: Node) -> None:
    """A group that lists both helps no key that may execute in another group that lists one of them."""
    alice, p, q, x, y = two_and_two(node)
    g, h, of_both = bound(node, alice, [q], [x]), bound(node, alice, [p], [y]), bound(node, alice, [p], [x])
    in_g, in_h, in_g_and_h = (node.usage_keys.executing_in(alice, *groups) for groups in ([g], [h], [g, h]))
    runs = node.signing.must_sign(in_g, x, q).accepted
    all_sign(node, [in_h, in_g_and_h], y, p)
    with judge(why="the group that lists both is not in the key's execute_in_groups"):
        all_refused(node, runs, [in_g, in_h, in_g_and_h], x, p)
    node.usage_keys.update(alice, in_g, Permissions(execute_in_groups=[of_both]))
    node.signing.must_sign(in_g, x, p)


@case("one-group-of-several", requirements=["EXEC-350"], needs=NEEDS)
def one_group_of_several(judge: Judge, node: Node) -> None:
    """One group of the key that lists both action and wallet is enough, in whatever order its groups stand."""
    alice, p, q, x, y = two_and_two(node)
    g, h, of_both = bound(node, alice, [q], [x]), bound(node, alice, [p], [y]), bound(node, alice, [p], [x])
    empty = bound(node, alice, [], [])
    orders = ([g, h, empty, of_both], [of_both, g, h], [h, of_both, g])
    keys = running(node, alice, *(node.usage_keys.executing_in(alice, *groups) for groups in orders))
    without_it = node.usage_keys.executing_in(alice, g, h, empty)
    with judge():
        runs = all_sign(node, keys, x, p)
    node.signing.must_be_refused(without_it, x, p, control=runs)


@case("two-accounts", requirements=["EXEC-130", "PKP-150"], needs=NEEDS)
def two_accounts(judge: Judge, node: Node) -> None:
    """Keys, groups and wallets of different accounts do not combine."""
    # Both accounts' groups have the same numbers where a node counts them for each account.
    alice, bob = node.accounts.new().key, node.accounts.new().key
    p, b = node.pkps.create(alice), node.pkps.create(bob)
    x, y = (node.actions.prepared(mark=mark) for mark in "xy")
    of_alice, of_bob = bound(node, alice, [p], [y]), bound(node, bob, [ALL_PKPS], [x])
    hers = running(node, alice, *(node.usage_keys.executing_in(alice, group) for group in (of_alice, 0)))
    his = running(node, bob, node.usage_keys.executing_in(bob, of_bob))
    all_sign(node, his, x, b)
    runs = all_sign(node, hers, y, p)
    with judge("EXEC-130", why="the key, the group and the wallet are of different accounts"):
        all_refused(node, runs, hers, x, p)
    # Whether a wallet of another account is forbidden or not there at all is the node's to say.
    for keys, action, pkp in ((his, x, p), (hers[:1], y, b)):
        with judge.apart("PKP-150"):
            all_refused(node, runs, keys, action, pkp, "forbidden", "not_found")
    with judge.apart("EXEC-130"):
        all_refused(node, runs, hers[:1], x, b, "forbidden", "not_found")


# ------------------------------------------------------------------------------------------------------------ wildcards


@case("wildcards-in-different-groups", requirements=["EXEC-080"], needs=NEEDS, uses=[FORMS])
def wildcards_in_different_groups(judge: Judge, node: Node) -> None:
    """A group with all actions and another with all wallets permit nothing together that neither permits alone."""
    alice, p, q, x, y = two_and_two(node)
    not_p, not_x = bound(node, alice, [q], [node.groups.all_actions]), bound(node, alice, [ALL_PKPS], [y])
    h = bound(node, alice, [p], [y])
    scopes = ([not_p, h], [not_x, h, not_p], [0])
    keys = running(node, alice, *(node.usage_keys.executing_in(alice, *groups) for groups in scopes))
    runs = all_sign(node, keys, x, q)
    with judge(why="one group permits all actions and another all wallets, but neither lists the other thing"):
        all_refused(node, runs, keys, x, p)
    node.groups.add_pkp(alice, not_p, p.id)
    all_sign(node, keys[:2], x, p)


@case("all-actions", requirements=["EXEC-100"], needs=NEEDS, uses=[FORMS])
def all_actions(judge: Judge, node: Node) -> None:
    """The wildcard among a group's actions permits any action there, and only there."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    x, y = (node.actions.source("sign_message", mark) for mark in "xy")
    there = node.usage_keys.executing_in(alice, bound(node, alice, [p], [node.groups.all_actions]))
    elsewhere = node.usage_keys.executing_in(alice, bound(node, alice, [q], [node.actions.hashed_cid(y)]))
    keys = running(node, alice, there)
    with judge(
        why="a group with the all-actions wildcard runs any action with its wallet, in whichever group that stands"
    ):
        runs = all_sign(node, keys, x, p)
        all_sign(node, keys, y, p)
    with judge(
        why="the all-actions wildcard of one group permits nothing to a key of another, which lists no such action"
    ):
        for pkp in (p, q):
            node.signing.must_be_refused(elsewhere, x, pkp, control=runs)
    with judge(why="the all-actions wildcard permits no wallet that its group does not list"):
        node.signing.must_be_refused(there, x, q, control=runs)


@case("all-wallets", requirements=["EXEC-110"], needs=NEEDS)
def all_wallets(judge: Judge, node: Node) -> None:
    """The wildcard among a group's wallets permits any wallet of the account there, and only there."""
    alice, p, q, x, y = two_and_two(node)
    there = node.usage_keys.executing_in(alice, bound(node, alice, [ALL_PKPS], [x]))
    elsewhere = node.usage_keys.executing_in(alice, bound(node, alice, [q], [y]))
    keys = running(node, alice, there)
    with judge(why="a group with the all-wallets wildcard runs its action with any wallet of the account"):
        runs = node.signing.must_sign(there, x, p).accepted
        all_sign(node, keys, x, q)
    with judge(
        why="the all-wallets wildcard of one group permits nothing to a key of another, which lists no such wallet"
    ):
        for action in (x, y):
            node.signing.must_be_refused(elsewhere, action, p, control=runs)
    with judge(why="the all-wallets wildcard permits no action that its group does not list"):
        node.signing.must_be_refused(there, y, p, control=runs)


# ------------------------------------------------------------------------------------------------ what counts as no key


@case("keys-that-do-not-count", requirements=["EXEC-260"], needs=NEEDS)
def keys_that_do_not_count(judge: Judge, node: Node) -> None:
    """A run without a key, with a key that nobody holds, or with a removed key is refused."""
    on = one_group(node)
    run = node.signing.request(on.key, on.x, on.p)
    runs = node.signing.must_sign(on.key, on.x, on.p).accepted
    others = {
        "no key": None,
        "a random key": random_key(node.session.random),
        "the key with one bit flipped": key_with_flipped_bit(on.key),
    }
    for what, key in others.items():
        with judge.apart(), labelled(what):
            must_refuse(node.session, replace(run, credential=key), ["unauthenticated"], control=runs, unchanged=[])
    node.usage_keys.remove(on.alice, on.key)
    with judge(), Refusals(node.session, control=runs, unchanged=[]) as refusals:
        for header in ("x-api-key", "bearer"):
            refusals.send(replace(run, via=header), ["unauthenticated"])


@case("what-only-looks-like-a-key", requirements=["EXEC-260"], needs=NEEDS)
def what_only_looks_like_a_key(judge: Judge, node: Node) -> None:
    """Neither what the contract knows a key by, nor an address, nor a part of a key runs anything."""
    on = one_group(node)
    runs = node.signing.must_sign(on.key, on.x, on.p).accepted
    hashed = usage_key_hash(on.key, node.session.profile)
    names = [hashed, hashed.removeprefix("0x"), account_hash(on.alice, node.session.profile)]
    names += [on.account.wallet_address, on.p.address]
    half = len(on.key) // 2
    parts = [on.key[:half], on.key[:half] + on.alice[half:], on.alice.lower()]
    with judge():
        all_refused(node, runs, [*names, *parts], on.x, on.p, "unauthenticated", "malformed", "invalid")
