"""The Execution rule, one condition at a time ("Endpoints / Execution rule").

A permitted run signs the case's label, and the signature leads to the wallet. A refused run is held against a permitted
one that differs from it in the one condition. The pack's matrices ask every question that the rule can be asked; these
cases tell which condition it is that a node gets wrong. X and Y are actions of an account, P and Q its wallets.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from conformance.cases import Judge, case
from conformance.service.acceptance import Accepted
from conformance.service.actions import ActionCode
from conformance.service.at_once import at_once, send_at_once
from conformance.service.bindings import bound, one_group, two_and_two, two_groups
from conformance.service.derivations import account_hash, key_with_flipped_bit, random_hash, random_key, usage_key_hash
from conformance.service.groups import ALL_PKPS
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.refusal import Refusals, must_refuse
from conformance.service.runs import address_of_private_key, signer_of_message
from conformance.service.signing_runs import SIGNATURE
from conformance.service.usage_keys import Permissions
from conformance.values.json_values import member

NEEDS = ("managed_accounts",)
FORMS = "wire.group.cid_wildcard_form"
SLOW_RUN, QUICK_REFUSAL = 1.5, 1.0
"""Seconds. A refusal that comes so much sooner than the run's result has not waited for the code."""


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


@case("usage-key", requirements=["EXEC-010", "EXEC-240"], needs=NEEDS)
def usage_key(judge: Judge, node: Node) -> None:
    """A usage key that may do nothing but execute in a group runs the group's action with the group's wallet."""
    on = one_group(node)
    node.session.accept(node.pkps.creation(on.alice))  # a newer wallet, which must not sign in place of P
    with judge():
        node.signing.must_sign(on.key, on.x, on.p)


@case("account-key", requirements=["EXEC-020"], needs=NEEDS)
def account_key(judge: Judge, node: Node) -> None:
    """The account key runs a group's action with the group's wallet, where no usage key exists."""
    alice = node.accounts.new().key
    p, x = node.pkps.create_several(alice, 2)[0], node.actions.prepared()
    bound(node, alice, [p], [x])
    with judge():
        node.signing.must_sign(alice, x, p)


@case("key-without-the-group", requirements=["EXEC-030", "ERR-100"], needs=NEEDS)
def key_without_the_group(judge: Judge, node: Node) -> None:
    """A usage key that may execute in no group, or in another one, runs nothing of this one."""
    on = two_groups(node)
    in_none, in_h = node.usage_keys.executing_in(on.alice), node.usage_keys.executing_in(on.alice, on.h)
    runs = node.signing.must_sign(on.key, on.x, on.p).accepted
    node.signing.must_sign(in_h, on.y, on.q)
    with judge():
        all_refused(node, runs, [in_none, in_h], on.x, on.p)


@case("unlisted-action", requirements=["EXEC-040", "ERR-100"], needs=NEEDS)
def unlisted_action(judge: Judge, node: Node) -> None:
    """An action that the group does not list is refused, with the usage key and with the account key."""
    on = two_groups(node)
    runs = all_sign(node, [on.key, on.alice], on.x, on.p)
    with judge():
        all_refused(node, runs, [on.key], on.y, on.p)
        all_refused(node, runs, [on.key, on.alice], node.actions.source("sign_message", "z"), on.p)


@case("unlisted-wallet", requirements=["EXEC-050", "EXEC-200", "ERR-100"], needs=NEEDS)
def unlisted_wallet(judge: Judge, node: Node) -> None:
    """A wallet that the group does not list cannot be used by its actions, until the group lists it."""
    on = two_groups(node)
    runs = all_sign(node, [on.key, on.alice], on.x, on.p)
    with judge():
        all_refused(node, runs, [on.key, on.alice], on.x, on.q)
    node.groups.add_pkp(on.alice, on.g, on.q.id)
    node.signing.must_sign(on.key, on.x, on.q)


@case("account-key-needs-a-group", requirements=["EXEC-120"], needs=NEEDS)
def account_key_needs_a_group(judge: Judge, node: Node) -> None:
    """The account key, too, runs only what some group lists with the wallet."""
    alice, p, q, x, y = two_and_two(node)
    bound(node, alice, [p], [x])
    runs = node.signing.must_sign(alice, x, p).accepted
    with judge():
        for action, pkp in ((y, p), (x, q), (y, q)):
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
    with judge():
        node.signing.must_be_refused(alice, x, p, control=runs)


@case("unregistered-action", requirements=["EXEC-330", "ACT-070"], needs=NEEDS)
def unregistered_action(judge: Judge, node: Node) -> None:
    """An action that a group lists runs though it was never registered, and registering it alone permits nothing."""
    on = one_group(node)
    with judge("EXEC-330"):
        runs = node.signing.must_sign(on.key, on.x, on.p).accepted
    z = node.actions.prepared(mark="z")
    node.actions.add(on.alice, z.cid)
    with judge("ACT-070"):
        all_refused(node, runs, [on.key, on.alice], z, on.p)


@case("both-modes", requirements=["EXEC-250"], needs=NEEDS)
def both_modes(judge: Judge, node: Node) -> None:
    """A usage key in X-Api-Key runs actions of a managed account, and of the same account once it is ChainSecured."""
    # An account that a wallet makes has no credits for runs; those of a managed one follow it when it is converted.
    on = one_group(node)
    with judge():
        node.signing.must_sign(on.key, on.x, on.p)
    node.accounts.convert(on.alice, node.wallets.new("carol"))
    with judge():
        node.signing.must_sign(on.key, on.x, on.p)


# ------------------------------------------------------------------------------------- all conditions in the same group


@case("conditions-in-different-groups", requirements=["EXEC-060", "ERR-100"], needs=NEEDS)
def conditions_in_different_groups(judge: Judge, node: Node) -> None:
    """A group that lists the action and another that lists the wallet permit nothing together."""
    alice, p, q, x, y = two_and_two(node)
    g, h = bound(node, alice, [q], [x]), bound(node, alice, [p], [y])
    keys = [alice, *(node.usage_keys.executing_in(alice, *groups) for groups in ([g, h], [h, g], [0]))]
    runs = all_sign(node, keys, x, q)
    with judge():
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
    with judge():
        all_refused(node, runs, [in_g, in_h, in_g_and_h], x, p)
    node.usage_keys.update(alice, in_g, Permissions(execute_in_groups=[of_both]))
    node.signing.must_sign(in_g, x, p)


@case("one-group-of-several", requirements=["EXEC-350"], needs=NEEDS)
def one_group_of_several(judge: Judge, node: Node) -> None:
    """One group that lists both is enough, whatever the key's other groups lack and in whatever order they stand."""
    alice, p, q, x, y = two_and_two(node)
    g, h, of_both = bound(node, alice, [q], [x]), bound(node, alice, [p], [y]), bound(node, alice, [p], [x])
    empty = bound(node, alice, [], [])
    orders = ([g, h, empty, of_both], [of_both, g, h], [h, of_both, g], [0])
    keys = [alice, *(node.usage_keys.executing_in(alice, *groups) for groups in orders)]
    without_it = node.usage_keys.executing_in(alice, g, h, empty)
    with judge():
        runs = all_sign(node, keys, x, p)
    node.signing.must_be_refused(without_it, x, p, control=runs)


@case("two-accounts", requirements=["EXEC-130"], needs=NEEDS)
def two_accounts(judge: Judge, node: Node) -> None:
    """Keys, groups and wallets of different accounts do not combine."""
    # Both accounts' groups have the same numbers where a node counts them for each account.
    alice, bob = node.accounts.new().key, node.accounts.new().key
    p, b = node.pkps.create(alice), node.pkps.create(bob)
    x, y = (node.actions.prepared(mark=mark) for mark in "xy")
    of_alice, of_bob = bound(node, alice, [p], [y]), bound(node, bob, [ALL_PKPS], [x])
    hers = [alice, *(node.usage_keys.executing_in(alice, group) for group in (of_alice, 0))]
    his = [bob, node.usage_keys.executing_in(bob, of_bob)]
    all_sign(node, his, x, b)
    runs = all_sign(node, hers, y, p)
    with judge():
        all_refused(node, runs, hers, x, p)
        # Whether a wallet of another account is forbidden or not there at all is the node's to say.
        for keys, action, pkp in ((his, x, p), ([alice], y, b), ([alice], x, b)):
            all_refused(node, runs, keys, action, pkp, "forbidden", "not_found")


# ------------------------------------------------------------------------------------------------------------ wildcards


@case("wildcards-in-different-groups", requirements=["EXEC-080"], needs=NEEDS, uses=[FORMS])
def wildcards_in_different_groups(judge: Judge, node: Node) -> None:
    """A group with all actions and another with all wallets permit nothing together that neither permits alone."""
    alice, p, q, x, y = two_and_two(node)
    not_p, not_x = bound(node, alice, [q], [node.groups.all_actions]), bound(node, alice, [ALL_PKPS], [y])
    h = bound(node, alice, [p], [y])
    keys = [alice, *(node.usage_keys.executing_in(alice, *groups) for groups in ([not_p, h], [not_x, h, not_p], [0]))]
    runs = all_sign(node, keys, x, q)
    with judge():
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
    elsewhere = node.usage_keys.executing_in(alice, bound(node, alice, [p], []))
    with judge():
        runs = all_sign(node, [there, alice], x, p)
        node.signing.must_sign(there, y, p)
        node.signing.must_be_refused(elsewhere, x, p, control=runs)
        node.signing.must_be_refused(there, x, q, control=runs)


@case("all-wallets", requirements=["EXEC-110"], needs=NEEDS)
def all_wallets(judge: Judge, node: Node) -> None:
    """The wildcard among a group's wallets permits any wallet of the account there, and only there."""
    alice, p, q, x, y = two_and_two(node)
    there = node.usage_keys.executing_in(alice, bound(node, alice, [ALL_PKPS], [x]))
    elsewhere = node.usage_keys.executing_in(alice, bound(node, alice, [], [x, y]))
    with judge():
        runs = node.signing.must_sign(there, x, p).accepted
        all_sign(node, [there, alice], x, q)
        node.signing.must_be_refused(elsewhere, x, p, control=runs)
        node.signing.must_be_refused(there, y, p, control=runs)


# ------------------------------------------------------------------------------------------------- wallets within a run


@case("second-wallet", requirements=["EXEC-200", "PKP-170"], needs=NEEDS)
def second_wallet(judge: Judge, node: Node) -> None:
    """An action that may use one wallet gets no signature of another, though it swallows the refusal."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    both, swallowing = (node.actions.prepared(name) for name in ("sign_both", "sign_swallowing"))
    g = bound(node, alice, [p], [both, swallowing])
    key = node.usage_keys.executing_in(alice, g)
    with_both = node.signing.request(key, both, p, other=q.id)
    runs = node.runs.must_succeed(node.signing.request(key, swallowing, p)).accepted
    with judge("EXEC-200"):
        must_refuse(node.session, with_both, ["forbidden"], control=runs, unchanged=[])
        node.signing.must_be_refused(key, swallowing, q, control=runs)
    node.groups.add_pkp(alice, g, q.id)
    signed = node.runs.must_succeed(with_both).result
    with judge("PKP-170"):
        for name, text, pkp in (("own", "", p), ("again", " again", p), ("other", "", q)):
            signer = signer_of_message(node.label + text, member(signed, name))
            judge.same_hex(signer, pkp.address, f"the signer of {name!r}")


@case("key-of-a-second-wallet", requirements=["EXEC-200", "PKP-170"], needs=NEEDS)
def key_of_a_second_wallet(judge: Judge, node: Node) -> None:
    """An action that has used its wallet gets no private key of another."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    taking, signing = (node.actions.prepared(name) for name in ("sign_then_take", "sign_message"))
    g = bound(node, alice, [p], [taking, signing])
    key = node.usage_keys.executing_in(alice, g)
    mask = random_hash(node.session.random)  # the answer holds the keys under it
    with_both = node.signing.request(key, taking, p, other=q.id, mask=mask)
    runs = node.runs.must_succeed(node.signing.request(key, signing, p)).accepted
    with judge("EXEC-200"):
        must_refuse(node.session, with_both, ["forbidden"], control=runs, unchanged=[])
    node.groups.add_pkp(alice, g, q.id)
    taken = node.runs.must_succeed(with_both).result
    with judge("PKP-170"):
        for name, pkp in (("mine", p), ("other", q)):
            holder = address_of_private_key(member(taken, name), mask)
            judge.same_hex(holder, pkp.address, f"the address of the private key {name!r}")


@case("wallet-named-in-another-way", requirements=["EXEC-050", "EXEC-200"], needs=NEEDS)
def wallet_named_in_another_way(judge: Judge, node: Node) -> None:
    """No way of naming a wallet, nor naming none, gets an action a signature where its group lists no wallet."""
    alice = node.accounts.new().key
    p = node.pkps.create(alice)
    x, y = (node.actions.prepared("sign_silently", mark) for mark in "xy")
    key = node.usage_keys.executing_in(alice, bound(node, alice, [], [x]), bound(node, alice, [p], [y]))
    node.signing.must_sign(key, y, p)
    digits = p.id.removeprefix("0x")
    spellings = [p.id, f"0x{digits.upper()}", digits, f"0X{digits}", f" {p.id}", f"{p.id} "]
    others = [p.address, p.address.lower(), ALL_PKPS, "", None, 0, 1, [p.id], {"id": p.id}]
    text = {"message": node.label}
    requests = [node.runs.request(key, x.code, params=text)]
    for named in (*spellings, *others):
        requests += [node.runs.request(by, x.code, pkp_id=named, params=text) for by in (key, alice)]
    with judge():
        for request in requests:
            answer = node.runs.any_end(request).text
            judge.that(not SIGNATURE.search(answer), "no signature: no group lists the action and a wallet", answer)


@case("same-run-by-two-keys-at-once", requirements=["EXEC-030", "EXEC-190", "PKP-170"], needs=NEEDS)
def same_run_by_two_keys_at_once(judge: Judge, node: Node) -> None:
    """A run is refused beside the same run of a key that may do it; runs at once sign each with its own wallet."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    late = node.actions.prepared("sign_late")
    key = node.usage_keys.executing_in(alice, bound(node, alice, [p, q], [late]))
    in_none = node.usage_keys.executing_in(alice)
    by_key, by_none = (node.signing.request(by, late, p, milliseconds=400) for by in (key, in_none))
    runs = node.runs.must_succeed(by_key).accepted

    # One after the other, so that some of them come while the run of the other key is under way.
    def ten_by_none() -> None:
        with judge("EXEC-030"), Refusals(node.session, control=runs, unchanged=[]) as refusals:
            for _ in range(10):
                refusals.send(by_none, ["forbidden"])

    beside_each_other: list[Callable[[], object]] = [partial(node.session.send, by_key), ten_by_none]
    at_once(beside_each_other)
    pairs = [(by, pkp) for by in (key, alice) for pkp in (p, q)]
    requests = [node.signing.request(by, late, pkp, milliseconds=400) for by, pkp in pairs]
    answers = send_at_once(node.session, requests)
    with judge("EXEC-190"):
        for answer in answers:
            node.runs.succeeded(answer)
    with judge("EXEC-190", "PKP-170"):
        for answer, (_, pkp) in zip(answers, pairs, strict=True):
            node.signing.signed(answer, pkp)


# ------------------------------------------------------------------------------ code that is another action


@case("one-byte-off", requirements=["EXEC-220"], needs=NEEDS)
def one_byte_off(judge: Judge, node: Node) -> None:
    """Code that differs from the listed action in one byte is another action."""
    on = one_group(node)
    runs = node.signing.must_sign(on.key, on.x, on.p).accepted
    code = on.x.code
    with judge():
        for other in (f"{code} ", f" {code}", f"{code}\n", f"\t{code}", f"{code}//X", f"{code}\u00a0", f";{code}"):
            all_refused(node, runs, [on.key], other, on.p)
        # A node may take neither a byte order mark nor a control character in a code at all.
        for other in (f"\ufeff{code}", f"{code}\0", f"{code}\0 // more", f"{code}\x1a"):
            all_refused(node, runs, [on.key], other, on.p, "forbidden", "malformed", "invalid")


ONE_LETTER_OFF = [
    ("Caf\u00e9", "caf\u00e9"),
    ("Caf\u00e9", "Caf\u00c9"),
    ("Caf\u00e9", "Cafe\u0301"),
    ("Caf\u00e9", "Cafe"),
    ("// Caf\u00e9 A\r\n", ""),
    (" A\r\n", " B\r\n"),
    (" A\r\n", " \uff21\r\n"),  # of full width
    (" A\r\n", " A\n"),
    (" A\r\n", " A\r\n\n"),
    ("in the middle", "In the middle"),
    ("1\tz", "1 z"),
    ("1\tz", "1\t\u200bz"),  # a blank of no width
    ("z;\n", "z\n"),
    ("z;\n", "z;"),
    ("z;\n", "z"),
    ("//;;", "//;y"),
    ("//;;", "//;"),
]


@case("one-letter-off", requirements=["EXEC-220"], needs=NEEDS)
def one_letter_off(judge: Judge, node: Node) -> None:
    """Code that differs in a letter, its case or composition, a blank, a line or a semicolon is another action."""
    half = "// a comment of 32 bytes and more\n" * 75
    plain = node.actions.source("sign_message", "x")
    code = f"{plain}// Caf\u00e9 A\r\n{half}// in the middle\n{half}// 1\tz;\n//;;"
    on = one_group(node, node.actions.of_code(code))
    runs = node.signing.must_sign(on.key, code, on.p).accepted
    with judge():
        for part, other in ONE_LETTER_OFF:
            node.signing.must_be_refused(on.key, code.replace(part, other), on.p, control=runs)


@case("two-codes-in-one-request", requirements=["EXEC-040", "EXEC-220"], needs=NEEDS)
def two_codes_in_one_request(judge: Judge, node: Node) -> None:
    """A request with two codes never runs the one that no group lists."""
    # The word that a run answers stands in neither code.
    listed, unlisted = (f"async function main() {{ return '{part}' + 'ed'; }}" for part in ("list", "unlist"))
    on = one_group(node, node.actions.of_code(listed))
    judge.set_up(node.runs.run(on.alice, listed).result == "listed", "the result of the listed code")
    request = node.runs.request(on.alice, listed)
    x, y = json.dumps(listed), json.dumps(unlisted)
    with judge():
        for name, code, other, other_code in (
            ("code", x, "code", y),
            ("code", y, "code", x),
            ("code", x, "Code", y),
            ("code", x, "c\\u006fde", y),
        ):
            body = f'{{"{name}": {code}, "{other}": {other_code}}}'
            answer = node.runs.any_end(replace(request, body=body)).text
            judge.that("unlisted" not in answer, "that only what a group lists is run", answer)


# Code that was run before its refusal shows in what the refusal holds, or in the time that it takes. A slow moment of
# the network must not look like that: one quick refusal of three is enough. The code takes two seconds where the
# sandbox has a clock that goes; where it takes less, time tells nothing.
SLOW_CODE = """async function main(params) {
  console.log(params.mark);
  const begun = Date.now();
  const goesOn = () => Date.now() > begun && Date.now() < begun + 2000;
  for (let i = 0; i < 1e6 || goesOn(); i++);
  return params.mark;
}
"""


@case("refused-code-does-not-run", requirements=["EXEC-210"], needs=NEEDS)
def refused_code_does_not_run(judge: Judge, node: Node) -> None:
    """Code that the key may not run, or that no group lists, is refused without being run."""
    mark = random_hash(node.session.random)
    on = one_group(node, node.actions.of_code(SLOW_CODE))
    in_none = node.usage_keys.executing_in(on.alice)
    run = node.runs.run(on.key, SLOW_CODE, pkp_id=on.p.id, params={"mark": mark})
    judge.set_up(run.result == mark and mark in str(run.logs), "the mark in the result and the logs of the run")
    for key, code in ((in_none, SLOW_CODE), (on.key, f"{SLOW_CODE} ")):
        request = node.runs.request(key, code, pkp_id=on.p.id, params={"mark": mark})
        with judge(), Refusals(node.session, control=run.accepted, unchanged=[]) as refusals:
            answers = [refusals.send(request, ["forbidden"]) for _ in range(3)]
            for answer in answers:
                judge.that(mark not in answer.text, "a refusal that holds nothing of what the code wrote", answer.text)
            quick = min(answer.seconds for answer in answers) <= QUICK_REFUSAL
            expected = f"a refusal before the {run.answer.seconds:.1f} s that the code takes"
            judge.that(run.answer.seconds <= SLOW_RUN or quick, expected, [answer.seconds for answer in answers])


# ------------------------------------------------------------------------------------------------ what counts as no key


@case("keys-that-do-not-count", requirements=["EXEC-260"], needs=NEEDS)
def keys_that_do_not_count(judge: Judge, node: Node) -> None:
    """A run without a key, with a key that nobody holds, or with a removed key is refused."""
    on = one_group(node)
    run = node.signing.request(on.key, on.x, on.p)
    runs = node.signing.must_sign(on.key, on.x, on.p).accepted
    others = [None, random_key(node.session.random), key_with_flipped_bit(on.key)]
    with judge(), Refusals(node.session, control=runs, unchanged=[]) as refusals:
        for key in others:
            refusals.send(replace(run, credential=key), ["unauthenticated"])
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
    parts = [on.key[:32], on.key[:32] + on.alice[32:], on.alice.lower()]
    with judge():
        all_refused(node, runs, [*names, *parts], on.x, on.p, "unauthenticated", "malformed", "invalid")


# ------------------------------------------------------------------------------ what the specification leaves open


@case("wallet-decided-at-use", requirements=["EXEC-290"], needs=NEEDS, uses=[{"exec.pkp_selection.decided": "at_use"}])
def wallet_decided_at_use(judge: Judge, node: Node) -> None:
    """A run that names a wallet which the group does not list, and uses none, is permitted."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    hello = node.actions.prepared("hello")
    bound(node, alice, [p], [hello])
    node.runs.run(alice, hello.code, pkp_id=p.id)
    with judge():
        node.runs.run(alice, hello.code, pkp_id=q.id)


DECIDED_BEFORE_RUN = {"exec.pkp_selection.decided": "before_run"}


@case("wallet-decided-before-run", requirements=["EXEC-290"], needs=NEEDS, uses=[DECIDED_BEFORE_RUN])
def wallet_decided_before_run(judge: Judge, node: Node) -> None:
    """A run that names a wallet which the group does not list is refused, though it uses none."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    hello = node.actions.prepared("hello")
    bound(node, alice, [p], [hello])
    runs = node.runs.run(alice, hello.code, pkp_id=p.id).accepted
    with judge():
        node.signing.must_be_refused(alice, hello, q, control=runs)


@case("no-wallet-needed", requirements=["EXEC-300"], needs=NEEDS, uses=[{"exec.run_without_pkp": "action_only"}])
def no_wallet_needed(judge: Judge, node: Node) -> None:
    """A run that uses no wallet needs a group that lists the action, and no more."""
    alice = node.accounts.new().key
    hello = node.actions.prepared("hello")
    bound(node, alice, [], [hello])
    unlisted = node.runs.request(alice, f"{hello.code} ")
    with judge():
        runs = node.runs.run(alice, hello.code).accepted
        must_refuse(node.session, unlisted, ["forbidden"], control=runs, unchanged=[])


@case(
    "some-wallet-needed", requirements=["EXEC-300"], needs=NEEDS, uses=[{"exec.run_without_pkp": "group_needs_a_pkp"}]
)
def some_wallet_needed(judge: Judge, node: Node) -> None:
    """A run that uses no wallet needs a group that lists the action and some wallet."""
    alice = node.accounts.new().key
    p = node.pkps.create(alice)
    with_p, without = (node.actions.prepared("hello", mark) for mark in ("with", "without"))
    bound(node, alice, [p], [with_p])
    bound(node, alice, [], [without])
    with judge():
        runs = node.runs.run(alice, with_p.code).accepted
        must_refuse(node.session, node.runs.request(alice, without.code), ["forbidden"], control=runs, unchanged=[])
