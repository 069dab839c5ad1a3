"""Buying credits: what is counted, where it ends, and in which forms nodes show a balance."""

from __future__ import annotations

import dataclasses

import pytest
from tiny_node import TinyNode, always

from conformance.endpoints.client import Target
from conformance.endpoints.pace import Budget, PurchaseBudget
from conformance.problems import (
    BudgetSpent,
    LivePayments,
    Malformed,
    ProviderLacksIntent,
    ProviderRefusesKey,
    ProviderTrouble,
    PurchasesSpent,
    SetupFailed,
)
from conformance.profile import Profile
from conformance.service import Accounts, Session
from conformance.service.payments import Payments

DECLINED = "pm_card_chargeDeclined"


def test_only_payments_that_take_money_are_counted(on_chain: Session) -> None:
    payments = Payments(on_chain)
    alice = Accounts(on_chain).new(spends=False)

    payments.buy(alice.key, 700)
    assert payments.pay(payments.intend(alice.key, 500), DECLINED) == "requires_payment_method"

    assert on_chain.log.spending.bought == 700


def test_charges_are_counted_where_they_are_accepted(on_chain: Session) -> None:
    alice = Accounts(on_chain).new()

    on_chain.call("create_wallet", alice.key)
    on_chain.send(on_chain.request("create_wallet"))

    assert on_chain.log.spending.charged == 1


def bought_on(target: Target, cents: int) -> None:
    session = Session(target, "trial::limits")
    Payments(session).buy(Accounts(session).new(spends=False).key, cents)


def test_max_spend_holds_for_bought_credit(chain_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_target, "budget", Budget(1_200))

    bought_on(chain_target, 700)
    with pytest.raises(BudgetSpent, match="700 of 1200"):
        bought_on(chain_target, 700)

    assert chain_target.budget.spent == 700


def test_profile_limits_what_is_bought(chain_target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain_target, "budget", Budget(None))
    monkeypatch.setattr(chain_target, "purchases", PurchaseBudget(600))

    bought_on(chain_target, 500)
    with pytest.raises(PurchasesSpent, match="500 of 600"):
        bought_on(chain_target, 500)

    assert chain_target.budget.spent == 500


@pytest.mark.parametrize("profile", [Profile.model_validate({"accounts": {"credits": "bought"}})])
def test_what_is_paid_out_of_purchases_is_not_counted_again(session: Session) -> None:
    session.target.budget = Budget(0)
    key = Accounts(session).new(spends=False).key
    session.call("add_group", key, group_name="g")

    assert session.log.spending.charged == 1


def test_live_key_stops_before_an_intent_is_made(session: Session, node: TinyNode) -> None:
    node.faults["billing/stripe_config"] = always(200, {"publishable_key": "pk_live_1"})

    with pytest.raises(LivePayments, match="live mode"):
        Payments(session).buy("key", 500)

    assert node.paths() == ["billing/stripe_config"]
    assert session.log.spending.bought == 0


def with_balance(form: str, *, positive_is_credit: bool = True) -> Profile:
    fields = {"balance_form": form, "positive_is_credit": positive_is_credit}
    return Profile.model_validate({"wire": {"billing": {"fields": fields}}})


CENTS, UNITS = with_balance("cents"), with_balance("units_text")


@pytest.mark.parametrize(
    ("profile", "shown", "cents"),
    [
        (CENTS, 1234, 1234),
        (with_balance("cents", positive_is_credit=False), -1234, 1234),
        (UNITS, "12.34", 1234),
        (with_balance("units_text", positive_is_credit=False), "-12.3", 1230),
        (UNITS, "12", 1200),
    ],
)
def test_balance_is_read_in_the_form_of_the_profile(
    session: Session, node: TinyNode, shown: object, cents: int
) -> None:
    node.faults["billing/balance"] = always(200, {"balance_cents": shown})
    assert Payments(session).balance("key") == cents


@pytest.mark.parametrize(
    ("profile", "shown"),
    [(CENTS, "1234"), (CENTS, 12.5), (CENTS, True), (UNITS, 12.34), (UNITS, "12.345"), (UNITS, "$1")],
)
def test_balance_in_another_form_is_malformed(session: Session, node: TinyNode, shown: object) -> None:
    node.faults["billing/balance"] = always(200, {"balance_cents": shown})
    with pytest.raises(Malformed):
        Payments(session).balance("key")


def test_intent_shows_amount_and_currency_at_the_provider(on_chain: Session) -> None:
    payments = Payments(on_chain)
    intent = payments.intend(Accounts(on_chain).new(spends=False).key, 777)

    assert payments.at_provider(intent) == {"status": "requires_payment_method", "amount": "777", "currency": "usd"}


def test_payment_that_waits_is_no_payment(on_chain: Session) -> None:
    payments = Payments(on_chain)
    intent = payments.intend(Accounts(on_chain).new(spends=False).key)
    payments.pay(intent)

    with pytest.raises(ProviderTrouble):
        payments.must_pay(dataclasses.replace(intent, client_secret=f"{intent.id}_secret_wrong"))


def test_node_that_gives_no_publishable_key_blocks_payments_and_blames_no_provider(
    session: Session, node: TinyNode
) -> None:
    node.faults["billing/stripe_config"] = always(401, {"title": "unknown key"})
    with pytest.raises(SetupFailed, match="stripe_config; got status 401") as told:
        Payments(session).publishable_key()
    assert session.log.operation(told.value.exchange) == "stripe_config"


@pytest.mark.parametrize(
    ("status", "trouble"), [(401, ProviderRefusesKey), (404, ProviderLacksIntent), (500, ProviderTrouble)]
)
def test_trouble_with_the_provider_is_told_by_its_answer(
    node: TinyNode, status: int, trouble: type[ProviderTrouble]
) -> None:
    node.faults["billing/stripe_config"] = always(200, {"publishable_key": "pk_test_1"})
    node.faults["billing/create_payment_intent"] = always(200, {"client_secret": "pi_1_secret_2"})
    node.faults["/v1/payment_intents/pi_1"] = always(status, {"error": {}})
    profile = Profile.model_validate({"payments": {"provider_url": node.url}})
    with Target(node.url, profile) as target:
        payments = Payments(Session(target, "trial::one"))
        intent = payments.intend("key")
        with pytest.raises(ProviderTrouble, match=f"status {status} of the provider") as told:
            payments.at_provider(intent)
    assert type(told.value) is trouble
