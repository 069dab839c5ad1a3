"""Billing by X-Wallet-Auth: whose balance a proof shows, and that it opens nothing else ("Endpoints / Billing")."""

from __future__ import annotations

from dataclasses import replace

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.service.bindings import one_group
from conformance.service.derivations import random_key
from conformance.service.envelopes import WALLET_AUTH, billing_auth
from conformance.service.lists import unchanged_list
from conformance.service.node import Node
from conformance.service.refusal import Refusals, must_refuse, was_accepted
from conformance.service.sample_calls import sample_objects, sample_reads, sample_writes
from conformance.values.json_values import member

NEEDS = ("billing", "managed_accounts")
ENCODING = "wire.x_wallet_auth.encoding"
CENTS = {"wire.billing.fields.balance_form": "cents"}
MOVED = {"billing.credits_after_conversion": "moved"}
LISTS = ("list_groups", "list_wallets", "list_actions", "list_api_keys")


def shows_at_most(judge: Judge, node: Node, request: OutgoingRequest, cents: int) -> None:
    """The balance is refused, or it is this one."""
    answer = node.session.send(request)
    if was_accepted(node.session, answer, or_refused=["any"]):
        judge.same(member(answer.value, "balance_cents"), cents, "the balance")


@case("no-credentials", requirements=["BILL-270"], needs=NEEDS, uses=[ENCODING])
def no_credentials(judge: Judge, node: Node) -> None:
    """Without key or proof, with a key that nobody owns, or with the admin's bare address, no balance is shown."""
    admin = node.wallets.new("admin")
    node.accounts.convert(node.accounts.new().key, admin)
    control = node.session.accept(node.payments.by_wallet("balance", admin))[1]
    bare = node.session.request("balance")
    of_nobody = replace(bare, credential=random_key(node.session.random))
    unproven = replace(bare, headers={WALLET_AUTH: admin.address})
    for request, refusal in ((bare, "unauthenticated"), (of_nobody, "unauthenticated"), (unproven, "any")):
        with judge.apart():
            must_refuse(node.session, request, [refusal], control=control, unchanged=[])


@case("each-sees-its-own", requirements=["BILL-260"], needs=NEEDS, uses=[MOVED, CENTS, ENCODING])
def each_sees_its_own(judge: Judge, node: Node) -> None:
    """Each of two admin wallets sees the balance of its own account."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    for _ in range(2):
        node.session.accept(node.groups.creation(bob))
    of_alice, of_bob = node.payments.balance(alice), node.payments.balance(bob)
    wallets = [node.wallets.new(name) for name in ("first", "second")]
    for key, wallet in zip((alice, bob), wallets, strict=True):
        node.accounts.convert(key, wallet)
    asked = [node.payments.by_wallet("balance", wallet) for wallet in wallets]
    first, second = map(node.payments.balance_by, asked)
    judge.set_up(first != 0 and second != 0, "conversions that moved the credit")
    with judge():
        # Both conversions cost the same, so that the balances differ by what they differed before.
        judge.same(first - second, of_alice - of_bob, "by how much the balance of the first wallet is higher")
        judge.same(node.payments.balance_by(asked[0]), first, "the balance of the first wallet, asked again,")


@case("wallet-without-an-account", requirements=["BILL-260"], needs=NEEDS, uses=[CENTS, ENCODING])
def wallet_without_an_account(judge: Judge, node: Node) -> None:
    """A wallet that is no account's admin sees no credit of anybody's."""
    admin, strange = node.wallets.new("admin"), node.wallets.new("strange")
    node.accounts.convert(node.accounts.new().key, admin)
    node.session.accept(node.payments.by_wallet("balance", admin))
    with judge():
        shows_at_most(judge, node, node.payments.by_wallet("balance", strange), 0)


@case(
    "former-wallet",
    requirements=["BILL-260"],
    needs=NEEDS,
    uses=[
        MOVED,
        {"auth.billing_credentials.wallet_of_managed_account": True},
        CENTS,
        "crypto.account_wallet_derivation",
    ],
)
def former_wallet(judge: Judge, node: Node) -> None:
    """Once an account has a new admin wallet, its former wallet sees no credit any more."""
    alice, admin = node.accounts.new().key, node.wallets.new("admin")
    by_former = node.payments.by_wallet("balance", node.wallets.of_account_key(alice))
    before = node.payments.balance(alice)
    judge.set_up(node.payments.balance_by(by_former) == before, "a former wallet that sees the balance")
    node.accounts.convert(alice, admin)
    own = node.payments.balance_by(node.payments.by_wallet("balance", admin))
    judge.set_up(own != 0, "a balance of the new admin wallet other than 0")
    with judge():
        shows_at_most(judge, node, by_former, 0)


@case("beside-a-key", requirements=["BILL-240", "BILL-260"], needs=NEEDS, uses=[MOVED, CENTS, ENCODING])
def beside_a_key(judge: Judge, node: Node) -> None:
    """A proof that another wallet signed shows nothing more beside a key that counts."""
    admin, mallory = node.wallets.new("admin"), node.wallets.new("mallory")
    alice, bob = node.accounts.new().key, node.accounts.new().key
    for _ in range(2):
        node.session.accept(node.groups.creation(bob))
    of_bob = node.payments.balance(bob)
    node.accounts.convert(alice, admin)
    node.session.accept(node.payments.by_wallet("balance", admin))
    forged = billing_auth(node.session, admin, signed_by=mallory)
    with judge():
        # The node may refuse the two together, or answer the key and overlook the proof.
        shows_at_most(judge, node, replace(node.session.request("balance", bob), headers=forged), of_bob)


@case("nothing-but-billing", requirements=["BILL-290"], needs=NEEDS, uses=[ENCODING])
def nothing_but_billing(judge: Judge, node: Node) -> None:
    """A proof that opens the balance opens neither lists nor writes."""
    own, admin = node.accounts.new(), node.wallets.new("admin")
    objects, others = (sample_objects(node, account) for account in (own, node.accounts.new()))
    calls = sample_writes(node, objects)
    calls |= {name: one for name, one in sample_reads(node, objects).items() if name.startswith("list_")}
    alice = others.alice.key
    reads = [unchanged_list(node.session, name, alice) for name in LISTS]
    controls = sample_writes(node, others) | sample_reads(node, others)
    accepted = [node.session.accept(controls[name])[1] for name in calls]
    node.accounts.convert(own.key, admin)
    proof = node.payments.by_wallet("balance", admin)
    node.session.accept(proof)
    with judge(), Refusals(node.session, control=accepted, unchanged=reads) as refusals:
        for request in calls.values():
            refusals.send(replace(request, credential=None, headers=proof.headers), ["any"])


@case("runs-nothing", requirements=["BILL-290"], needs=NEEDS, uses=[ENCODING])
def runs_nothing(judge: Judge, node: Node) -> None:
    """A proof runs no action, which a usage key of the account runs."""
    on, admin = one_group(node), node.wallets.new("admin")
    node.accounts.convert(on.alice, admin)
    proof = node.payments.by_wallet("balance", admin)
    node.session.accept(proof)
    control = node.signing.must_sign(on.key, on.x, on.p).accepted
    with judge():
        run = replace(node.signing.request(None, on.x, on.p), headers=proof.headers)
        must_refuse(node.session, run, ["any"], control=control, unchanged=[])
