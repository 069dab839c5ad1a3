"""Which wallets an action may use within a run, and what the profile says of runs without one.

Specification: "Endpoints / Execution rule", "Resources and their fields / PKP". P and Q are wallets of an account.
"""

from __future__ import annotations

from threading import Event

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.service.at_once import at_once, send_at_once
from conformance.service.bindings import bound, running
from conformance.service.derivations import ID_RULE, pkp_id, random_hash
from conformance.service.groups import ALL_PKPS
from conformance.service.node import Node
from conformance.service.refusal import Refusals, must_refuse
from conformance.service.runs import address_of_private_key, signer_of_message
from conformance.service.signing_runs import SIGNATURE, signers_in
from conformance.values.json_values import member

NEEDS = ("managed_accounts",)
MOST_BESIDE = 30
PAUSE_SECONDS = 0.05
"""At most so many refused runs are sent beside another run, so long after one another."""


@case("second-wallet", requirements=["EXEC-200", "PKP-170"], needs=NEEDS)
def second_wallet(judge: Judge, node: Node) -> None:
    """An action that may use one wallet gets no signature by another, even if it swallows refusals or plays tricks."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    names = ("sign_both", "sign_swallowing", "sign_by_tricks", "sign_message")
    both, swallowing, tricks, plain = map(node.actions.prepared, names)
    g = bound(node, alice, [p], [both, swallowing, tricks])
    # The key may use the other wallet, too, with another action.
    key = node.usage_keys.executing_in(alice, g, bound(node, alice, [q], [plain]))
    with_both, by_tricks = (node.signing.request(key, action, p, other=q.id) for action in (both, tricks))
    runs = node.runs.must_succeed(node.signing.request(key, swallowing, p)).accepted
    with judge("EXEC-200"):
        node.signing.must_not_use(with_both, q, control=runs)
        node.signing.must_not_use(node.signing.request(key, swallowing, q), q, control=runs)
        # How such code ends is the node's affair.
        answer = node.runs.any_end(by_tricks).text
        signers = signers_in(answer, node.label)
        judge.that(q.address.lower() not in signers, f"no signature of {q.address}, whatever code tries", answer)
    node.groups.add_pkp(alice, g, q.id)
    signed = node.runs.must_succeed(with_both).result
    for name, text, pkp in (("own", "", p), ("again", " again", p), ("other", "", q)):
        with judge.apart("PKP-170"):
            signer = signer_of_message(node.label + text, member(signed, name))
            judge.same_hex(signer, pkp.address, f"the signer of {name!r}, by EIP-191,")


@case("wallets-of-different-groups", requirements=["EXEC-010"], needs=NEEDS)
def wallets_of_different_groups(judge: Judge, node: Node) -> None:
    """One run uses two wallets, each permitted by another group that the key may use."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    both, one = (node.actions.prepared(name) for name in ("sign_both", "sign_message"))
    key = node.usage_keys.executing_in(alice, *(bound(node, alice, [pkp], [both, one]) for pkp in (p, q)))
    for pkp in (p, q):
        node.signing.must_sign(key, one, pkp)
    for first, second in ((p, q), (q, p)):
        with judge.apart():
            signed = node.runs.must_succeed(node.signing.request(key, both, first, other=second.id)).result
            signer = signer_of_message(node.label, member(signed, "other"))
            judge.same_hex(signer, second.address, "the signer of 'other', by EIP-191,")


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
        answer = node.signing.must_not_use(with_both, q, control=runs)
        if answer.accepted:
            other = str(member(node.runs.succeeded(answer).result, "other"))
            judge.that(other.startswith("swallowed"), "no private key of the second wallet", other)
    node.groups.add_pkp(alice, g, q.id)
    taken = node.runs.must_succeed(with_both).result
    for name, pkp in (("mine", p), ("other", q)):
        with judge.apart("PKP-170"):
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
    others = [p.address, p.address.lower(), ALL_PKPS, 0, 1, [p.id], {"id": p.id}]
    text = {"message": node.label}

    def signs_nothing(request: OutgoingRequest) -> None:
        answer = node.runs.any_end(request).text
        judge.that(not SIGNATURE.search(answer), "no signature: no group lists the action and a wallet", answer)

    with judge.apart("EXEC-200"):
        signs_nothing(node.runs.request(key, x.code, params=text))
        for nothing in ("", None):
            signs_nothing(node.runs.request(key, x.code, pkp_id=nothing, params=text))
    with judge.apart("EXEC-050"):
        for named in (*spellings, *others):
            for by in (key, alice):
                signs_nothing(node.runs.request(by, x.code, pkp_id=named, params=text))


@case("same-run-by-two-keys-at-once", requirements=["EXEC-030", "EXEC-190", "PKP-170"], needs=NEEDS)
def same_run_by_two_keys_at_once(judge: Judge, node: Node) -> None:
    """A forbidden run is refused beside the same run by a permitted key; runs at once sign with their own wallets."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    late = node.actions.prepared("sign_late")
    key = node.usage_keys.executing_in(alice, bound(node, alice, [p, q], [late]))
    # The second may run the action, with another wallet.
    others = node.usage_keys.executing_in(alice), node.usage_keys.executing_in(alice, bound(node, alice, [q], [late]))
    by_key, *forbidden = (node.signing.request(by, late, p, milliseconds=400) for by in (key, *others))
    runs = node.runs.must_succeed(by_key).accepted

    answered = Event()

    def once_by_key() -> None:
        try:
            node.session.send(by_key)
        finally:
            answered.set()

    # One after the other, from after its beginning until its answer: so they come while that run is under way.
    def again_by_others() -> None:
        with judge("EXEC-030"), Refusals(node.session, control=runs, unchanged=[]) as refusals:
            for number in range(MOST_BESIDE):
                if answered.wait(PAUSE_SECONDS):
                    break
                refusals.send(forbidden[number % 2], ["forbidden"])

    at_once([once_by_key, again_by_others])
    pairs = [(by, pkp) for by in running(node, alice, key) for pkp in (p, q)]
    requests = [node.signing.request(by, late, pkp, milliseconds=400) for by, pkp in pairs]
    answers = send_at_once(node.session, requests)
    with judge("EXEC-190"):
        for answer in answers:
            node.runs.succeeded(answer)
    for answer, (_, pkp) in zip(answers, pairs, strict=True):
        with judge.apart("EXEC-190", "PKP-170"):
            node.signing.signed(answer, pkp)


# ------------------------------------------------------------------------------ what the specification leaves open


@case("wallet-decided-at-use", requirements=["EXEC-290"], needs=NEEDS, uses=[{"exec.pkp_selection.decided": "at_use"}])
def wallet_decided_at_use(judge: Judge, node: Node) -> None:
    """A run that names a wallet which the group does not list, and uses none, is permitted."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    hello = node.actions.prepared("hello")
    key = node.usage_keys.executing_in(alice, bound(node, alice, [p], [hello]))
    node.runs.run(key, hello.code, pkp_id=p.id)
    with judge():
        node.runs.run(key, hello.code, pkp_id=q.id)


DECIDED_BEFORE_RUN = {"exec.pkp_selection.decided": "before_run"}


@case("wallet-decided-before-run", requirements=["EXEC-290"], needs=NEEDS, uses=[DECIDED_BEFORE_RUN])
def wallet_decided_before_run(judge: Judge, node: Node) -> None:
    """A run that names a wallet which the group does not list is refused, even if it uses none."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    hello = node.actions.prepared("hello")
    key = node.usage_keys.executing_in(alice, bound(node, alice, [p], [hello]))
    runs = node.runs.run(key, hello.code, pkp_id=p.id).accepted
    with judge():
        node.signing.must_be_refused(key, hello, q, control=runs)


@case("no-wallet-needed", requirements=["EXEC-300"], needs=NEEDS, uses=[{"exec.run_without_pkp": "action_only"}])
def no_wallet_needed(judge: Judge, node: Node) -> None:
    """A run that uses no wallet needs a group that lists the action, and no more."""
    alice = node.accounts.new().key
    hello = node.actions.prepared("hello")
    key = node.usage_keys.executing_in(alice, bound(node, alice, [], [hello]))
    unlisted = node.runs.request(key, f"{hello.code} ")
    with judge():
        runs = node.runs.run(key, hello.code).accepted
        must_refuse(node.session, unlisted, ["forbidden"], control=runs, unchanged=[])


@case(
    "some-wallet-needed", requirements=["EXEC-300"], needs=NEEDS, uses=[{"exec.run_without_pkp": "group_needs_a_pkp"}]
)
def some_wallet_needed(judge: Judge, node: Node) -> None:
    """A run that uses no wallet needs a group that lists the action and some wallet."""
    alice = node.accounts.new().key
    p = node.pkps.create(alice)
    with_p, without = (node.actions.prepared("hello", mark) for mark in ("with", "without"))
    groups = bound(node, alice, [p], [with_p]), bound(node, alice, [], [without])
    key = node.usage_keys.executing_in(alice, *groups)
    with judge():
        runs = node.runs.run(key, with_p.code).accepted
        must_refuse(node.session, node.runs.request(key, without.code), ["forbidden"], control=runs, unchanged=[])


@case(
    "wildcard-covers-no-strange-wallet",
    requirements=["PKP-080", "PKP-150", "EXEC-200"],
    needs=[*NEEDS, "wallet_signed"],
    uses=["wire.pkp.id_source.rule"],
)
def wildcard_covers_no_strange_wallet(judge: Judge, node: Node) -> None:
    """The all-wallets wildcard permits the account's own: none minted alone, of another account, or of its own id."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    p, q = node.pkps.create(alice), node.pkps.create(bob)
    minted = node.minting.wallet(node.wallets.new("carol"))
    minted_id = pkp_id(minted.address, node.session.stated(ID_RULE))
    x = node.actions.prepared()
    key = node.usage_keys.executing_in(alice, bound(node, alice, [ALL_PKPS], [x]))
    node.signing.must_sign(key, x, p)
    with judge.apart("PKP-080"):
        node.signing.must_not_sign_as(key, x, minted_id, minted.address)
    with judge.apart("PKP-150"):
        node.signing.must_not_sign_as(key, x, q.id, q.address)
    # The wildcard is no wallet's id. A node may take a wallet of the account for it.
    with judge.apart("EXEC-200"):
        text = {"message": node.label}
        answer = node.runs.any_end(node.runs.request(key, x.code, pkp_id=ALL_PKPS, params=text)).text
        others = signers_in(answer, node.label) - {p.address.lower()}
        judge.that(not others, "no signature but by a wallet of the account", answer)
