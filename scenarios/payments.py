"""Credits are bought through the payment provider, spent exactly, never lost and never doubled.

Specification: "Billing", "Limits", "Authentication" 4 and 7, "Errors" 11. The suite pays as a browser does, in the
provider's test mode.
"""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.profile.operations import OPERATIONS
from conformance.service import (
    Account,
    Accounts,
    Actions,
    Groups,
    Permissions,
    Pkps,
    Read,
    Refusals,
    Runs,
    Session,
    UsageKeys,
    Wallets,
    billing_auth,
    must_refuse,
    unchanged_list,
)
from conformance.service.node import Node
from conformance.service.payments import Payments
from conformance.service.refusal import ExpectedRefusal, check_refusal
from conformance.values.json_values import member, printed

BUYS = ("managed_accounts", "billing", "payment_sandbox")
WRONG = ("invalid", "malformed")
UNPAID = ("insufficient_credit", "conflict", "invalid", "malformed", "not_found")
UNKNOWN = ("not_found", "forbidden", "invalid", "malformed", "insufficient_credit")
AT_ONCE = 20
STARTING = "billing.insufficient_credit_behaviour"


def unchanged_balance(payments: Payments, key: str) -> Read:
    """The balance, which a refused call leaves as it is."""
    return Read("the balance", lambda: payments.balance(key))


@case("publishable-key", requirements=["BILL-010"], needs=["payment_sandbox"])
def publishable_key(judge: Judge, session: Session) -> None:
    """stripe_config answers a publishable key without any credential, and no secret one."""
    with judge("BILL-010"):
        answer = session.call("stripe_config")
        key = answer.at(("publishable_key",))
        judge.that(isinstance(key, str) and key.startswith("pk_"), "a publishable key (pk_…)", key)
        judge.that("sk_" not in answer.text and "rk_" not in answer.text, "no secret key of the provider", answer.text)


@case("amounts", requirements=["BILL-030", "BILL-040", "BILL-050", "BILL-060", "ERR-110", "LIM-030"], needs=BUYS)
def amounts(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """An intent takes whole cents from 500 up, and nothing else."""
    alice = accounts.new(spends=False)
    with judge("BILL-030", "BILL-040"):
        least = payments.intend(alice.key, 500)
        more = payments.intend(alice.key, 1_000)
        judge.that(least.id != more.id, "an intent of its own for each request", more.id)
    reads = [unchanged_balance(payments, alice.key)]
    with judge("BILL-050", "ERR-110", "LIM-030"), Refusals(session, control=least.accepted, unchanged=reads) as few:
        for cents in (499, 1, 0, -500):
            few.send(payments.intent_request(alice.key, cents), WRONG)
    with judge("BILL-060"), Refusals(session, control=least.accepted, unchanged=reads) as other:
        for amount in (500.5, 999.99, "500", "", None, True, [500], {"cents": 500}, 10**30):
            other.send(payments.intent_request(alice.key, amount), WRONG)
        without = replace(payments.intent_request(alice.key, 500), members={})
        other.send(without, WRONG)


@case("payment-becomes-credit", requirements=["BILL-020", "BILL-070", "BILL-130", "BILL-160"], needs=BUYS)
def payment_becomes_credit(judge: Judge, accounts: Accounts, payments: Payments) -> None:
    """A paid and confirmed intent adds its amount to the balance: equal amounts equally, double amounts doubly."""
    alice = accounts.new(spends=False)
    with judge("BILL-020"):
        start = payments.balance(alice.key)
    steps: list[int] = []
    for cents in (500, 500, 1_000):
        intent = payments.intend(alice.key, cents)
        with judge("BILL-160", "BILL-070"):
            judge.same(payments.balance(alice.key), start + sum(steps), "the balance before the intent is paid")
        judge.set_up(payments.pay(intent) == "succeeded", "a payment that succeeds")
        with judge("BILL-070", "BILL-020"):
            payments.confirm(alice.key, intent)
            after = payments.balance(alice.key)
            judge.that(after > start + sum(steps), "a higher balance once the payment is confirmed", after)
        steps.append(after - start - sum(steps))
    with judge("BILL-130"):
        judge.same(steps[1], steps[0], "the credit of the second payment of 500 cents")
        judge.same(steps[2], 2 * steps[0], "the credit of a payment of 1,000 cents")


@case("unpaid-intents-credit-nothing", requirements=["BILL-080"], needs=BUYS)
def unpaid_intents_credit_nothing(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """An intent that was not paid, or whose payment was declined or waits, credits nothing, and can still be paid."""
    alice = accounts.new(spends=False)
    methods = session.profile.payments.methods
    paid = payments.intend(alice.key)
    judge.set_up(payments.pay(paid) == "succeeded", "a payment that succeeds")
    control = payments.confirm(alice.key, paid)
    unpaid, declined, waiting = (payments.intend(alice.key) for _ in range(3))
    judge.set_up(payments.pay(declined, methods.declined) != "succeeded", "a payment that is declined")
    if methods.authentication:
        judge.set_up(payments.pay(waiting, methods.authentication) != "succeeded", "a payment that waits")
    reads = [unchanged_balance(payments, alice.key)]
    with judge("BILL-080"), Refusals(session, control=control, unchanged=reads) as refusals:
        for intent in (unpaid, declined, waiting):
            refusals.send(payments.confirm_request(alice.key, intent.id), UNPAID)
    judge.set_up(payments.pay(declined) == "succeeded", "a second payment of the same intent")
    with judge("BILL-080"):
        before = payments.balance(alice.key)
        payments.confirm(alice.key, declined)
        judge.that(payments.balance(alice.key) > before, "credit for the intent once it is paid after all", before)


@case("unknown-intents-credit-nothing", requirements=["BILL-090"], needs=BUYS)
def unknown_intents_credit_nothing(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """Ids that name no intent, and values that are no id, are refused without any credit."""
    alice = accounts.new(spends=False)
    paid = payments.intend(alice.key)
    judge.set_up(payments.pay(paid) == "succeeded", "a payment that succeeds")
    control = payments.confirm(alice.key, paid)
    invented = f"pi_{session.random.getrandbits(96):024x}"
    wrong: list[object] = [invented, "", "pi_", "x" * 300, "../customers", None, 7, [paid.id], {"id": paid.id}]
    reads = [unchanged_balance(payments, alice.key)]
    with judge("BILL-090"), Refusals(session, control=control, unchanged=reads) as refusals:
        for intent_id in wrong:
            refusals.send(payments.confirm_request(alice.key, intent_id), UNKNOWN)


@case("credited-once", requirements=["BILL-100", "BILL-110"], needs=BUYS)
def credited_once(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """However often and at once a payment is confirmed, it is credited once."""
    alice = accounts.new(spends=False)
    again = session.profile.payments.confirmed_again
    once = payments.buy(alice.key, 500)
    before = payments.balance(alice.key)
    with judge("BILL-100"):
        for _ in range(2):
            answer = session.send(payments.confirm_request(alice.key, once.id))
            if not (again == "accepted" and answer.accepted):
                check_refusal(answer, ExpectedRefusal.of([*UNPAID, "any"], session.profile), session.secrets)
        judge.same(payments.balance(alice.key), before, "the balance after the payment was confirmed again")
    raced = payments.intend(alice.key, 500)
    judge.set_up(payments.pay(raced) == "succeeded", "a payment that succeeds")
    branches = [session.branch(f"confirmation {number}") for number in range(AT_ONCE)]
    with judge("BILL-110"):
        with ThreadPoolExecutor(AT_ONCE) as pool:
            answers = list(pool.map(lambda one: one.send(payments.confirm_request(alice.key, raced.id)), branches))
        judge.that(any(answer.accepted for answer in answers), "one of the confirmations at once to be accepted", None)
        judge.same(payments.balance(alice.key), before + 500, f"the balance after {AT_ONCE} confirmations at once")


@case("intents-belong-to-their-account", requirements=["BILL-120"], needs=BUYS)
def intents_belong_to_their_account(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """An intent that one account made is credited to no other, which leaves its owner able to confirm it."""
    alice, mallory = accounts.new(spends=False), accounts.new(spends=False)
    own = payments.intend(mallory.key)
    judge.set_up(payments.pay(own) == "succeeded", "a payment that succeeds")
    control = payments.confirm(mallory.key, own)
    intent = payments.intend(alice.key)
    judge.set_up(payments.pay(intent) == "succeeded", "a payment that succeeds")
    reads = [unchanged_balance(payments, mallory.key), unchanged_balance(payments, alice.key)]
    with judge("BILL-120"):
        must_refuse(
            session, payments.confirm_request(mallory.key, intent.id), UNKNOWN, control=control, unchanged=reads
        )
        before = payments.balance(alice.key)
        payments.confirm(alice.key, intent)
        judge.that(payments.balance(alice.key) > before, "credit for the owner, who confirms afterwards", before)


@case("two-accounts-of-one-email", requirements=["EP-080", "BILL-120"], needs=BUYS)
def two_accounts_of_one_email(judge: Judge, accounts: Accounts, payments: Payments) -> None:
    """new_account takes an email; accounts of one email still have credits of their own."""
    with judge("EP-080"):
        twins = [accounts.new(members={"email": "twin@example.org"}, spends=False) for _ in range(2)]
    before = payments.balance(twins[1].key)
    with judge("BILL-120"):
        payments.buy(twins[0].key, 500)
        judge.same(payments.balance(twins[1].key), before, "the balance of the other account of this email")


@case("payments-need-a-credential", requirements=["BILL-270"], needs=BUYS)
def payments_need_a_credential(judge: Judge, accounts: Accounts, payments: Payments, session: Session) -> None:
    """The three endpoints of billing that are about an account refuse whoever presents nothing, or an invented key."""
    alice = accounts.new(spends=False)
    intent = payments.intend(alice.key)
    judge.set_up(payments.pay(intent) == "succeeded", "a payment that succeeds")
    _, asked = session.accept(session.request("balance", alice.key))
    confirmed = payments.confirm(alice.key, intent)
    invented = base64.b64encode(session.random.randbytes(32)).decode()
    reads = [unchanged_balance(payments, alice.key)]
    with judge("BILL-270"):
        for control, request in (
            (asked, session.request("balance")),
            (intent.accepted, payments.intent_request(None, 500)),
            (confirmed, payments.confirm_request(None, intent.id)),
        ):
            for key in (None, invented):
                with Refusals(session, control=control, unchanged=reads) as refusals:
                    refusals.send(replace(request, credential=key), ["unauthenticated"])


@case("wallet-of-a-converted-account-pays", requirements=["BILL-230"], needs=[*BUYS, "chain_rpc"])
def wallet_of_a_converted_account_pays(
    judge: Judge, accounts: Accounts, payments: Payments, wallets: Wallets, session: Session
) -> None:
    """In ChainSecured mode the admin wallet's X-Wallet-Auth buys credit, with no key at all."""
    alice, carol = accounts.new(), wallets.new("carol")
    accounts.convert(alice.key, carol)

    def by_wallet(operation: str, **members: object) -> OutgoingRequest:
        request = session.request(operation, **members)
        return replace(request, headers=billing_auth(session, carol))

    with judge("BILL-230"):
        before = payments.balance_by(by_wallet("balance"))
        intent = payments.intend_by(by_wallet("create_payment_intent", amount_cents=500), 500)
    judge.set_up(payments.pay(intent) == "succeeded", "a payment that succeeds")
    with judge("BILL-230"):
        payments.confirm_by(by_wallet("confirm_payment", payment_intent_id=intent.id))
        judge.same(payments.balance_by(by_wallet("balance")), before + 500, "the balance of the wallet")


@case("no-credit-no-write", requirements=["BILL-190"], needs=BUYS, uses=[{"accounts.credits": "bought"}])
def no_credit_no_write(judge: Judge, accounts: Accounts, payments: Payments, groups: Groups, session: Session) -> None:
    """An account without credit writes nothing; once it has bought some, the same write is accepted."""
    alice = accounts.new(spends=False)
    judge.set_up(payments.balance(alice.key) == 0, "a fresh account without credit")
    request = session.request(
        "add_group", alice.key, group_name="g", group_description="d", pkp_ids_permitted=[], cid_hashes_permitted=[]
    )

    def after_buying() -> None:
        payments.buy(alice.key, 500)
        groups.add(alice.key)

    reads = [unchanged_list(session, "list_groups", alice.key), unchanged_balance(payments, alice.key)]
    with judge("BILL-190"), Refusals(session, control=after_buying, unchanged=reads) as refusals:
        refusals.send(request, ["insufficient_credit"])


@case("no-credit-no-run", requirements=["BILL-190"], needs=[*BUYS, "chain_rpc", "funded_wallet"])
def no_credit_no_run(judge: Judge, node: Node, payments: Payments, session: Session) -> None:
    """A ChainSecured account that has bought nothing runs nothing; once its wallet has bought credit, it does."""
    dana, code = node.accounts.by_wallet(node.wallets.new("carol")), node.actions.source("hello")
    node.contract.write(dana.admin, "add_group", dana.hash, session.label, "d", [], [node.actions.hashed_cid(code)])
    (group,) = node.contract.items("list_groups", dana.hash)
    runner = node.minting.attached_key(dana, Permissions(execute_in_groups=[int(printed(member(group, "id")))]))

    def by_wallet(operation: str, **members: object) -> OutgoingRequest:
        return replace(session.request(operation, **members), headers=billing_auth(session, dana.admin))

    def after_buying() -> None:
        intent = payments.intend_by(by_wallet("create_payment_intent", amount_cents=500), 500)
        judge.set_up(payments.pay(intent) == "succeeded", "a payment that succeeds")
        payments.confirm_by(by_wallet("confirm_payment", payment_intent_id=intent.id))
        node.runs.run(runner.key, code)

    judge.set_up(payments.balance_by(by_wallet("balance")) == 0, "a wallet that has bought nothing")
    reads = [Read("the balance of the wallet", lambda: payments.balance_by(by_wallet("balance")))]
    with judge("BILL-190"), Refusals(session, control=after_buying, unchanged=reads) as refusals:
        refusals.send(node.runs.request(runner.key, code), ["insufficient_credit"])


@case("writes-are-billed-and-reads-are-not", requirements=["BILL-140", "BILL-150", "LIM-050"], needs=BUYS)
def writes_are_billed_and_reads_are_not(
    judge: Judge, accounts: Accounts, payments: Payments, groups: Groups, keys: UsageKeys, pkps: Pkps, session: Session
) -> None:
    """Each management write lowers the balance; lists and other reads leave it as it is."""
    alice = accounts.new()
    payments.buy(alice.key, 500)
    group = groups.add(alice.key)

    balances = [payments.balance(alice.key)]

    def spent(write: str) -> None:
        balances.append(payments.balance(alice.key))
        judge.that(balances[-1] < balances[-2], f"a lower balance after {write}", balances[-1])

    with judge("BILL-140", "LIM-050"):
        made = keys.add(alice.key)
        spent("add_usage_api_key")
        pkp = pkps.create(alice.key)
        spent("create_wallet")
        groups.add_pkp(alice.key, group.id, pkp.id)
        spent("add_pkp_to_group")
        groups.remove_pkp(alice.key, group.id, pkp.id)
        spent("remove_pkp_from_group")
        keys.remove(alice.key, made.key)
        spent("remove_usage_api_key")
        groups.remove(alice.key, group.id)
        spent("remove_group")
    with judge("BILL-150", "LIM-050"):
        for operation, spec in OPERATIONS.items():
            if spec.items and operation != "list_wallets_in_group":
                session.call(operation, alice.key)
                judge.same(payments.balance(alice.key), balances[-1], f"the balance after {operation}")
        session.call("account_exists", alice.key)
        judge.same(payments.balance(alice.key), balances[-1], "the balance after account_exists")


@case("refused-writes-are-free", requirements=["BILL-210"], needs=BUYS)
def refused_writes_are_free(
    judge: Judge, accounts: Accounts, payments: Payments, groups: Groups, keys: UsageKeys, session: Session
) -> None:
    """A management write that is refused costs nothing."""
    alice = accounts.new()
    payments.buy(alice.key, 500)
    group, powerless = groups.add(alice.key), keys.add(alice.key)
    reads = [unchanged_balance(payments, alice.key), unchanged_list(session, "list_groups", alice.key)]
    accepted = group.accepted.request
    judge.set_up(accepted is not None, "a request of add_group")
    with judge("BILL-210"), Refusals(session, control=group.accepted, unchanged=reads) as refusals:
        if accepted is not None:
            refusals.send(replace(accepted, credential=powerless.key), ["forbidden"])
            refusals.send(replace(accepted, members={**accepted.members, "group_name": 7}), WRONG)


@case("parallel-writes-are-billed-one-by-one", requirements=["BILL-220"], needs=BUYS)
def parallel_writes_are_billed_one_by_one(
    judge: Judge, accounts: Accounts, payments: Payments, groups: Groups, session: Session
) -> None:
    """Writes at the same time cost together what they cost one after the other."""
    alice = accounts.new()
    payments.buy(alice.key, 500)
    start = payments.balance(alice.key)
    request = groups.add(alice.key).accepted.request
    price = start - payments.balance(alice.key)
    judge.set_up(price > 0 and request is not None, "a write that costs something")
    before = payments.balance(alice.key)
    branches = [session.branch(f"write {number}") for number in range(8)]
    with judge("BILL-220"):
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda one: one.send(request), branches))
        accepted = sum(answer.accepted for answer in answers)
        judge.that(accepted > 0, "a write at the same time as others to be accepted", None)
        left = before - price * accepted
        judge.same(payments.balance(alice.key), left, f"the balance after {accepted} writes at once")


def runner_of(alice: Account, code: str, actions: Actions, groups: Groups, keys: UsageKeys) -> str:
    """A usage key of the account that may run this code and do nothing else."""
    group = groups.add(alice.key, cid_hashes=[actions.hashed_cid(code)])
    return keys.add(alice.key, Permissions(execute_in_groups=[group.id])).key


@case("runs-of-a-managed-account-are-paid", requirements=["BILL-180"], needs=BUYS)
def runs_of_a_managed_account_are_paid(
    judge: Judge, accounts: Accounts, payments: Payments, actions: Actions, groups: Groups, keys: UsageKeys, runs: Runs
) -> None:
    """A run by a usage key lowers the balance of its account."""
    alice, code = accounts.new(), actions.source("hello")
    payments.buy(alice.key, 500)
    runner = runner_of(alice, code, actions, groups, keys)
    before = payments.balance(alice.key)
    judge.set_up(payments.balance(alice.key) == before, "a balance that stays while nothing is run")
    with judge("BILL-180"):
        runs.run(runner, code)
        after = payments.balance(alice.key)
        judge.that(after < before, f"a balance below {before} after a run", after)


@case("runs-of-a-converted-account-are-paid", requirements=["BILL-320"], needs=[*BUYS, "chain_rpc"])
def runs_of_a_converted_account_are_paid(
    judge: Judge,
    accounts: Accounts,
    payments: Payments,
    actions: Actions,
    groups: Groups,
    keys: UsageKeys,
    runs: Runs,
    wallets: Wallets,
    session: Session,
) -> None:
    """A run by a usage key of a ChainSecured account lowers the balance of its admin wallet."""
    alice, carol, code = accounts.new(), wallets.new("carol"), actions.source("hello")
    payments.buy(alice.key, 500)
    runner = runner_of(alice, code, actions, groups, keys)
    accounts.convert(alice.key, carol)
    asked = replace(session.request("balance"), headers=billing_auth(session, carol))
    before = payments.balance_by(asked)
    with judge("BILL-320"):
        runs.run(runner, code)
        after = payments.balance_by(asked)
        judge.that(after < before, f"a balance of the wallet below {before} after a run", after)
