"""The payment provider, through the official Stripe SDK: at Stripe itself, or at whatever speaks its protocol.

Specification: "Billing", "Limits" (amounts). Each call raises `ProviderUnavailable` where no usable answer came.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import stripe

from reference_node.billing import Cents
from reference_node.settings import StripeKeys

CURRENCY = "usd"
"""What credits are bought in: a cent of credit for a cent paid."""

MINIMUM_CENTS = Cents(500)
"""The smallest payment (specification, "Limits")."""

MAXIMUM_CENTS = Cents(99_999_999)
"""The largest amount that the provider takes."""

STRIPE_URL = "https://api.stripe.com"
"""Where Stripe itself answers."""

TIMEOUT_SECONDS = 15.0
"""How long one request to the provider may take."""

RETRIES = 2
"""How often the SDK tries again, each time with the same idempotency key."""


class ProviderUnavailable(Exception):  # noqa: N818 - a state of the provider
    """The provider is slow, down, refuses to serve, or answers nonsense. Nothing is known to have happened there."""


class Refused(Exception):  # noqa: N818 - an answer of the provider
    """The provider understood the request and refused it."""


class Missing(Refused):
    """The provider has no such object, or has it no longer."""


@dataclass(frozen=True, slots=True)
class Charge:
    """The charge that paid an intent."""

    paid: bool
    captured: bool
    refunded: bool
    disputed: bool
    amount: Cents
    amount_captured: Cents
    amount_refunded: Cents


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment intent as the provider has it now."""

    id: str
    status: str
    amount: Cents
    amount_received: Cents
    currency: str
    live: bool
    customer: str | None
    wallet: str | None
    """The wallet that the node wrote into the intent's metadata."""
    charge: Charge | None


class PaymentProvider:
    """What the node asks of the provider. Safe to call from many threads."""

    def __init__(
        self, keys: StripeKeys, api_base: str = STRIPE_URL, http_client: stripe.HTTPClient | None = None
    ) -> None:
        """`api_base` is the address of its API; `http_client` stands in for the SDK's own."""
        self.publishable_key = keys.publishable
        self._client = stripe.StripeClient(
            keys.secret,
            base_addresses={"api": api_base},
            max_network_retries=RETRIES,
            http_client=http_client or stripe.RequestsClient(timeout=TIMEOUT_SECONDS),
        ).v1

    def create_customer(self, wallet: str) -> str:
        """The id of a new customer for this wallet.

        The idempotency key is new each time: under a fixed one Stripe would repeat a failure of its own for a day.
        """
        with self._answers():
            return _text(self._client.customers.create({"metadata": {"wallet": wallet}}).to_dict(), "id")

    def set_email(self, customer: str, email: str) -> None:
        """Tell the provider where a customer can be reached. Raises `Missing`, and `Refused` for what is no address."""
        with self._answers():
            self._client.customers.update(customer, {"email": email})

    def create_intent(self, customer: str, wallet: str, cents: Cents) -> tuple[str, str]:
        """A new intent: its id, and the secret with which a browser pays it. Raises `Missing` for the customer."""
        with self._answers():
            made = self._client.payment_intents.create(
                {
                    "amount": cents,
                    "currency": CURRENCY,
                    "customer": customer,
                    "automatic_payment_methods": {"enabled": True, "allow_redirects": "never"},
                    "metadata": {"wallet": wallet},
                }
            ).to_dict()
            if _cents(made, "amount") != cents:
                raise ProviderUnavailable("the provider made an intent over another amount than was asked for")
            return _text(made, "id"), _text(made, "client_secret")

    def look_up(self, intent: str) -> Payment | None:
        """An intent as it is now; `None` where the provider knows none of this id."""
        try:
            with self._answers():
                found = self._client.payment_intents.retrieve(intent, {"expand": ["latest_charge"]}).to_dict()
                return _payment(found)
        except Missing:
            return None
        except Refused as fault:
            raise ProviderUnavailable(f"it refused to show an intent: {fault}") from fault

    @contextmanager
    def _answers(self) -> Iterator[None]:
        try:
            yield
        except stripe.InvalidRequestError as fault:
            raise (Missing if fault.code == "resource_missing" else Refused)(fault.code or "refused") from fault
        except stripe.StripeError as fault:
            raise ProviderUnavailable(f"{type(fault).__name__}: {fault.code or fault.http_status}") from fault
        except (KeyError, TypeError, ValueError, AttributeError) as fault:
            raise ProviderUnavailable(f"an answer that is no Stripe object: {type(fault).__name__}") from fault


def _payment(found: Mapping[str, object]) -> Payment:
    metadata, charge = found.get("metadata"), found.get("latest_charge")
    wallet = metadata.get("wallet") if isinstance(metadata, dict) else None
    customer = found.get("customer")
    return Payment(
        id=_text(found, "id"),
        status=_text(found, "status"),
        amount=_cents(found, "amount"),
        amount_received=_cents(found, "amount_received"),
        currency=_text(found, "currency"),
        live=_flag(found, "livemode"),
        customer=customer if isinstance(customer, str) else None,
        wallet=wallet if isinstance(wallet, str) else None,
        charge=_charge(charge) if isinstance(charge, dict) else None,
    )


def _charge(found: Mapping[str, object]) -> Charge:
    return Charge(
        paid=_flag(found, "paid"),
        captured=_flag(found, "captured"),
        refunded=_flag(found, "refunded"),
        disputed=_flag(found, "disputed"),
        amount=_cents(found, "amount"),
        amount_captured=_cents(found, "amount_captured"),
        amount_refunded=_cents(found, "amount_refunded"),
    )


def _text(members: Mapping[str, object], name: str) -> str:
    value = members[name]
    if not isinstance(value, str) or not value:
        raise TypeError(name)
    return value


def _cents(members: Mapping[str, object], name: str) -> Cents:
    value = members[name]
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError(name)
    return Cents(value)


def _flag(members: Mapping[str, object], name: str) -> bool:
    value = members[name]
    if not isinstance(value, bool):
        raise TypeError(name)
    return value
