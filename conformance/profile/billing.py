"""Charges and credits ("Endpoints / Billing", "Limits")."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from conformance.profile.section import AcceptedOrRefused, Section

Cents = Annotated[int, Field(ge=0)]


class ChargePerCall(Section):
    """What calls cost; the spend budget of a run is reckoned with these."""

    management_write_cents: Cents = 1
    """One accepted management write."""
    run_second_cents: Cents = 1
    """One started second of an action's run."""


class InsufficientCredit(Section):
    """An account whose credits do not cover a call."""

    write: AcceptedOrRefused = "insufficient_credit"
    """What becomes of its management write."""
    may_go_negative: bool = False
    """Whether its balance can fall below zero."""
    starting_cents: Cents = 0
    """The credits of a fresh account."""


class Billing(Section):
    """Choices about credits."""

    charge_per_call: ChargePerCall | None = ChargePerCall()
    """BILL-170."""
    insufficient_credit_behaviour: InsufficientCredit | None = InsufficientCredit()
    """BILL-200."""
    credits_after_conversion: Literal["moved", "left"] | None = "moved"
    """Whether an account's credits follow it to the new admin wallet's record (MODE-300). Where they are left, the
    suite buys some for that wallet, with the capability `payment_sandbox`."""
