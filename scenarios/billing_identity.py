"""Whose credits a call is about: by key, by proof of a wallet, before and after conversion.

Specification: "Billing", "Authentication" 6 and 7, "States and transitions / Account mode". What proofs show of a
balance is in the pack `wallet_auth`; here they pay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from email.utils import formatdate

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.service import Accepted, Refusals, SuiteWallet, billing_auth, chain_id
from conformance.service.acceptance import must_accept
from conformance.service.accounts import CONVERSION
from conformance.service.bindings import one_group
from conformance.service.derivations import account_hash
from conformance.service.node import Node
from conformance.service.payments import NO_SUCH_INTENT, NOT_PAID
from conformance.service.refusal import NO_KEY, was_accepted
from conformance.values.ids import Cents

BUYS = ("managed_accounts", "billing", "payment_sandbox")
MOVED = {"billing.credits_after_conversion": "moved"}
NO_PROOF = ("forbidden", *NO_KEY)


def owner(node: Node, name: str) -> SuiteWallet:
    """The admin wallet of a converted account, which has no key any more."""
    wallet, account = node.wallets.new(name), node.accounts.new()
    node.payments.usual_credit(account.key)
    node.accounts.convert(account.key, wallet)
    return wallet


def balance_of(node: Node, wallet: SuiteWallet) -> int:
    """What the record of a wallet holds."""
    return node.payments.balance_by(node.payments.by_wallet("balance", wallet))


@case("wallet-pays", requirements=["BILL-230", "BILL-100"], needs=BUYS)
def wallet_pays(judge: Judge, node: Node) -> None:
    """In ChainSecured mode the admin wallet's X-Wallet-Auth sees the balance and buys credit, with no key at all."""
    carol, payments = owner(node, "carol"), node.payments
    with judge("BILL-230"):
        before = balance_of(node, carol)
        intent = payments.intend_by_wallet(carol)
    payments.must_pay(intent)
    with judge("BILL-230"):
        payments.confirm_by_wallet(carol, intent)
        credited = balance_of(node, carol)
        judge.that(credited > before, f"a balance of the wallet above {before}", credited)
    with judge("BILL-100"):
        again = payments.by_wallet("confirm_payment", carol, payment_intent_id=intent.id)
        was_accepted(node.session, node.session.send(again), or_refused=["any", "insufficient_credit"])
        payments.wait_for_credit()
        judge.same(balance_of(node, carol), credited, "the balance after the payment was confirmed again")


@case("one-record-in-any-spelling", requirements=["BILL-230"], needs=BUYS)
def one_record_in_any_spelling(judge: Judge, node: Node) -> None:
    """A proof that writes the wallet's address in lower case is about the same record."""
    carol = owner(node, "carol")
    request = node.payments.by_wallet("balance", carol)
    proof = billing_auth(node.session, carol, address=carol.address.lower())
    answer = node.session.send(replace(request, headers=proof))
    must_accept(answer)  # the pack `wallet_auth` judges that
    with judge("BILL-230"):
        shown = node.payments.balance_by(replace(request, headers=proof))
        judge.same(shown, balance_of(node, carol), "the balance by a proof with the address in lower case")


def paid_and_credited(node: Node, carol: SuiteWallet) -> tuple[dict[str, Accepted], dict[str, OutgoingRequest]]:
    """Accepted calls of both endpoints by the proof of a wallet, and requests of both, one for a paid intent."""
    made, credited = node.payments.intend_by_wallet(carol), node.payments.intend_by_wallet(carol)
    for intent in (made, credited):
        node.payments.must_pay(intent)
    confirmed = node.payments.confirm_by_wallet(carol, credited)
    controls = {"create_payment_intent": made.accepted, "confirm_payment": confirmed}
    requests = {
        "create_payment_intent": node.payments.by_wallet("create_payment_intent", carol, amount_cents=600),
        "confirm_payment": node.payments.by_wallet("confirm_payment", carol, payment_intent_id=made.id),
    }
    return controls, requests


BESIDE_THE_PROOF = {"too old": ["LIM-020"], "too early": ["LIM-020"], "signed by another": ["BILL-260"]}
"""What an accepted proof contradicts beside BILL-240, by what is wrong with it."""


def wrong_proofs(node: Node, carol: SuiteWallet) -> Mapping[str, dict[str, str | None]]:
    """Values of X-Wallet-Auth that prove nothing, by what is wrong with them."""
    session = node.session

    def of_then(seconds: int) -> dict[str, str | None]:  # the node's own clock counts, and nobody's word for the time
        date = formatdate(session.clock.now() + seconds, usegmt=True)
        return {**billing_auth(session, carol, issued=seconds), "Date": date}

    return {
        "for another flow": billing_auth(session, carol, primary="AddUsageApiKey"),
        "for another chain": billing_auth(session, carol, on_chain=chain_id(session) + 1),
        "too old": of_then(-330),
        "too early": of_then(330),
    }


@case("nothing-is-bought-without-proof", requirements=["BILL-240", "BILL-260", "LIM-020"], needs=BUYS)
def nothing_is_bought_without_proof(judge: Judge, node: Node) -> None:
    """Neither paying endpoint accepts a proof for another flow or chain, outside the window, or by another signer."""
    carol, mallory = owner(node, "carol"), node.wallets.new("mallory")
    controls, requests = paid_and_credited(node, carol)
    reads = [node.payments.unchanged_balance_by(carol)]
    for name, request in requests.items():
        forged = {"signed by another": billing_auth(node.session, carol, signed_by=mallory)}
        for reason, proof in {**wrong_proofs(node, carol), **forged}.items():
            with (
                judge.apart("BILL-240", *BESIDE_THE_PROOF.get(reason, ()), why=f"the proof is {reason}"),
                Refusals(node.session, control=controls[name], unchanged=reads) as refusals,
            ):
                refusals.send(replace(request, headers=proof), NO_PROOF)


@case("proof-pays-again", requirements=["BILL-300"], needs=BUYS)
def proof_pays_again(judge: Judge, node: Node) -> None:
    """One proof can create several intents and confirm several payments inside its window."""
    carol, payments = owner(node, "carol"), node.payments
    proof = billing_auth(node.session, carol)
    payments.buy_by_wallet(carol)
    before = balance_of(node, carol)
    request = replace(payments.by_wallet("create_payment_intent", carol, amount_cents=600), headers=proof)
    with judge("BILL-300"):
        intents = [payments.intend_by(request, Cents(600)) for _ in range(2)]
    for intent in intents:
        payments.must_pay(intent)
    with judge("BILL-300"):
        for intent in intents:
            confirm = payments.by_wallet("confirm_payment", carol, payment_intent_id=intent.id)
            payments.confirm_by(replace(confirm, headers=proof))
        payments.wait_for_credit()
        judge.that(balance_of(node, carol) > before, "a higher balance", before)


@case("each-wallet-fills-its-own", requirements=["BILL-120", "BILL-260"], needs=BUYS)
def each_wallet_fills_its_own(judge: Judge, node: Node) -> None:
    """An admin wallet's payment is credited to its account only, and it confirms no intent of another wallet."""
    carol, dave, payments = owner(node, "carol"), owner(node, "dave"), node.payments
    payments.buy_by_wallet(carol)
    for payer, other in ((carol, dave), (dave, carol)):
        own, others = balance_of(node, payer), balance_of(node, other)
        intent = payments.intend_by_wallet(payer)
        payments.must_pay(intent)
        with judge("BILL-260"):
            control = payments.confirm_by_wallet(payer, intent)
            judge.that(balance_of(node, payer) > own, f"a balance of the payer above {own}", own)
            judge.same(balance_of(node, other), others, "the balance of the other wallet")
    intent = payments.intend_by_wallet(carol)
    payments.must_pay(intent)
    stolen = payments.by_wallet("confirm_payment", dave, payment_intent_id=intent.id)
    reads = [payments.unchanged_balance_by(dave), payments.unchanged_balance_by(carol)]
    with judge("BILL-120"), Refusals(node.session, control=control, unchanged=reads) as refusals:
        refusals.send_without_effect(stolen, NO_SUCH_INTENT)
        payments.wait_for_credit()


@case("credit-follows-the-account", requirements=["MODE-100", "BILL-160"], needs=BUYS, uses=[MOVED])
def credit_follows_the_account(judge: Judge, node: Node) -> None:
    """After a conversion the admin wallet has the credit that account and wallet had bought before, and no more."""
    alice, carol = node.accounts.new(spends=False), node.wallets.new("carol")
    node.payments.buy(alice.key, Cents(700))
    request = node.payments.by_wallet("create_payment_intent", carol, amount_cents=900)
    answer = node.session.send(request)
    if was_accepted(node.session, answer, or_refused=["any"]):  # a wallet without an account may buy, or may not
        intent = node.payments.intent_in(answer, request, Cents(900))
        node.payments.must_pay(intent)
        node.payments.confirm_by_wallet(carol, intent)
    account = node.payments.balance(alice.key)
    wallet = balance_of(node, carol) if answer.accepted else 0
    node.accounts.convert(alice.key, carol)
    after = balance_of(node, carol)
    with judge.apart("MODE-100"):
        most = max(account, wallet) if wallet else 0
        judge.that(after > most, f"a balance above {most}: the credit of account and wallet", after)
    with judge.apart("BILL-160"):
        expected = f"no more than {account + wallet} cents: before, the account had {account} and the wallet {wallet}"
        judge.that(after <= account + wallet, expected, after)


@case(
    "owner-converts-on-the-chain",
    requirements=["MODE-100"],
    needs=[*BUYS, "chain_rpc", "funded_wallet"],
    uses=[MOVED, "crypto.account_wallet_derivation", "crypto.api_key_hash_preimage"],
)
def owner_converts_on_the_chain(judge: Judge, node: Node) -> None:
    """Runs of an account that its owner converts by a transaction are paid from the new admin wallet's record."""
    on, carol = one_group(node), node.wallets.new("carol")
    run, start = node.signing.request(on.key, on.x, on.p), node.payments.balance(on.alice)
    node.runs.must_succeed(run)
    judge.set_up(node.payments.balance(on.alice) < start, "a run that costs something before the conversion")
    conversion = [account_hash(on.alice, node.session.profile), carol.address]
    node.contract.write(node.wallets.of_account_key(on.alice), CONVERSION, *conversion)
    before = balance_of(node, carol)
    judge.set_up(before > 0, "credit in the new admin wallet's record")
    answer = node.session.send(run)
    with judge():
        judge.that(
            answer.status != NOT_PAID, f"a run that the {before} cents of the new admin wallet pay", answer.status
        )
    node.runs.succeeded(answer)
    with judge():
        judge.that(balance_of(node, carol) < before, f"a balance of the new admin wallet below {before}", before)


@case("payments-outlive-the-mode", requirements=["BILL-070", "BILL-100"], needs=BUYS, uses=[MOVED])
def payments_outlive_the_mode(judge: Judge, node: Node) -> None:
    """A payment made before a conversion is credited after it, unless it was credited before."""
    alice, carol, payments = node.accounts.new(), node.wallets.new("carol"), node.payments
    payments.usual_credit(alice.key)
    credited = payments.buy(alice.key)
    paid = payments.paid_intent(alice.key)
    node.accounts.convert(alice.key, carol)
    payments.buy_by_wallet(carol)
    before = balance_of(node, carol)
    with judge("BILL-100"):
        again = payments.by_wallet("confirm_payment", carol, payment_intent_id=credited.id)
        was_accepted(node.session, node.session.send(again), or_refused=["any", "insufficient_credit"])
        payments.wait_for_credit()
        judge.same(balance_of(node, carol), before, "the balance after a payment that was credited before")
    with judge("BILL-070"):
        payments.confirm_by_wallet(carol, paid)
        after = balance_of(node, carol)
        judge.that(after > before, f"a balance above {before} once the payment is confirmed", after)
