"""Stripe's test payment methods by name, with the outcome of paying with each (docs.stripe.com/testing)."""

from __future__ import annotations

from dataclasses import dataclass

from reference_node.stripe_simulator.errors import CARD, INVALID_REQUEST, Object


@dataclass(frozen=True, slots=True)
class Decline:
    """The reason of a failed payment."""

    code: str
    message: str
    decline_code: str | None = None
    kind: str = CARD

    def view(self) -> Object:
        """The members for the error object."""
        error: Object = {"code": self.code, "message": self.message, "type": self.kind}
        return error if self.decline_code is None else error | {"decline_code": self.decline_code}


def _declined(reason: str, message: str = "Your card was declined.") -> Decline:
    return Decline("card_declined", message, reason)


def _refused(code: str, message: str) -> Decline:
    return Decline(code, message, kind=INVALID_REQUEST)


GENERIC = _declined("generic_decline")
INSUFFICIENT_FUNDS = _declined("insufficient_funds", "Your card has insufficient funds.")
EXPIRED = Decline("expired_card", "Your card has expired.", "expired_card")
INCORRECT_CVC = Decline("incorrect_cvc", "Your card's security code is incorrect.", "incorrect_cvc")
TROUBLE = "An error occurred while processing your card. Try again in a little bit."
PROCESSING_ERROR = Decline("processing_error", TROUBLE, "processing_error")
AUTHENTICATION_FAILED = _refused(
    "payment_intent_authentication_failure",
    "We are unable to authenticate your payment method. Please choose a different payment method and try again.",
)
ACCOUNT_CLOSED = _refused("account_closed", "The customer's bank account has been closed.")
NO_ACCOUNT = _refused("no_account", "The bank account could not be located.")
BANK_FUNDS = _refused("insufficient_funds", "The customer's account has insufficient funds.")
NOT_AUTHORIZED = _refused(
    "debit_not_authorized", "The customer has notified their bank that this payment was unauthorized."
)


@dataclass(frozen=True, slots=True)
class TestMethod:
    """A test payment method and the outcome of payments with it."""

    brand: str
    last4: str
    funding: str = "credit"
    bank: bool = False
    """A US bank account: the payment is `processing` first."""
    stays: bool = False
    """It stays `processing` until the control interface settles it."""
    authentication: bool = False
    """3D Secure comes first."""
    decline: Decline | None = None
    disputed: bool = False

    @property
    def type(self) -> str:
        """The type of the payment method."""
        return "us_bank_account" if self.bank else "card"


def _visa(
    last4: str, decline: Decline | None = None, *, authentication: bool = False, disputed: bool = False
) -> TestMethod:
    return TestMethod("visa", last4, decline=decline, authentication=authentication, disputed=disputed)


def _bank(last4: str, decline: Decline | None = None, *, stays: bool = False, disputed: bool = False) -> TestMethod:
    return TestMethod("", last4, bank=True, decline=decline, stays=stays, disputed=disputed)


TEST_METHODS = {
    "pm_card_visa": _visa("4242"),
    "pm_card_visa_debit": TestMethod("visa", "5556", "debit"),
    "pm_card_mastercard": TestMethod("mastercard", "4444"),
    "pm_card_amex": TestMethod("amex", "8431"),
    "pm_card_discover": TestMethod("discover", "9424"),
    "pm_card_chargeDeclined": _visa("0002", GENERIC),
    "pm_card_visa_chargeDeclined": _visa("0002", GENERIC),
    "pm_card_chargeDeclinedInsufficientFunds": _visa("9995", INSUFFICIENT_FUNDS),
    "pm_card_visa_chargeDeclinedInsufficientFunds": _visa("9995", INSUFFICIENT_FUNDS),
    "pm_card_visa_chargeDeclinedLostCard": _visa("9987", _declined("lost_card")),
    "pm_card_visa_chargeDeclinedStolenCard": _visa("9979", _declined("stolen_card")),
    "pm_card_chargeDeclinedFraudulent": _visa("0019", _declined("fraudulent")),
    "pm_card_chargeDeclinedExpiredCard": _visa("0069", EXPIRED),
    "pm_card_chargeDeclinedIncorrectCvc": _visa("0127", INCORRECT_CVC),
    "pm_card_chargeDeclinedProcessingError": _visa("0119", PROCESSING_ERROR),
    "pm_card_chargeCustomerFail": _visa("0341", GENERIC),
    "pm_card_authenticationRequired": _visa("3184", authentication=True),
    "pm_card_threeDSecure2Required": _visa("3220", authentication=True),
    "pm_card_threeDSecureRequired": _visa("3063", authentication=True),
    "pm_card_threeDSecureRequiredChargeDeclined": _visa("1629", GENERIC, authentication=True),
    "pm_card_authenticationRequiredChargeDeclinedInsufficientFunds": _visa(
        "3178", INSUFFICIENT_FUNDS, authentication=True
    ),
    "pm_card_createDispute": _visa("0259", disputed=True),
    "pm_usBankAccount_success": _bank("6789"),
    "pm_usBankAccount_processing": _bank("6006", stays=True),
    "pm_usBankAccount_accountClosed": _bank("1113", ACCOUNT_CLOSED),
    "pm_usBankAccount_noAccount": _bank("1116", NO_ACCOUNT),
    "pm_usBankAccount_insufficientFunds": _bank("2227", BANK_FUNDS),
    "pm_usBankAccount_debitNotAuthorized": _bank("3335", NOT_AUTHORIZED),
    "pm_usBankAccount_dispute": _bank("4444", disputed=True),
}
"""Test payment methods by name. The name is accepted in place of an id."""
