"""The payment provider, whose test mode the suite pays in ("Billing")."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from conformance.profile.chain import Url
from conformance.profile.section import AcceptedOrRefused, Section

Method = Annotated[str, Field(pattern=r"^pm_[A-Za-z0-9_]+$")]


class TestMethods(Section):
    """Names of the provider's test payment methods."""

    __test__ = False  # no class of tests, whatever pytest makes of its name

    succeeds: Method = "pm_card_visa"
    """Pays at once."""
    declined: Method = "pm_card_chargeDeclined"
    """Is declined; the intent can then be paid otherwise."""
    authentication: Method | None = "pm_card_authenticationRequired"
    """Waits for somebody to authenticate, and never succeeds by itself. Null: there is none."""
    processing: Method | None = "pm_usBankAccount_processing"
    """Is accepted and stays in processing. Null: there is none, or intents do not take it."""


class Payments(Section):
    """How the suite pays, as a browser would: with the publishable key and the client secret alone."""

    provider_url: Url | None = None
    """The base address of the provider's API, before `/v1/payment_intents`: `https://api.stripe.com` for Stripe in its
    test mode. Needed by the capability `payment_sandbox`. A publishable key of live mode is never used."""
    methods: TestMethods = TestMethods()
    currency: Annotated[str, Field(pattern=r"^[a-z]{3}$")] = "usd"
    """What intents are in, as the provider writes it."""
    intents_have_customer: bool = True
    """Whether intents are made for a customer record of the account's, which has its e-mail address."""
    most_cents: Annotated[int, Field(ge=0)] | None = None
    """The most that a run may buy in all. Null: `--max-spend` alone limits it."""
    control_url: Url | None = None
    """Where the provider is told what to do behind the node's back: see docs/profile.md. Null: nowhere."""
    credited_within_seconds: Annotated[float, Field(ge=0, le=60)] = 0
    """How long after an accepted `confirm_payment` the credit may take to show."""
    confirmed_again: AcceptedOrRefused = "accepted"
    """What becomes of `confirm_payment` for an intent that has been credited: `accepted`, or a class of refusal."""
