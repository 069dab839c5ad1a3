"""A client of the payment provider, built on the Stripe SDK. It works with Stripe and with Stripe-compatible servers.

Specification: "Billing", "Limits" (amounts). Each call raises `ProviderUnavailable` when there is no usable answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import stripe

from conformance.transport import client
from reference_node.billing import Cents
from reference_node.settings import StripeKeys

CURRENCY = "usd"
"""The currency of payments: each cent paid buys one cent of credit."""

MINIMUM_CENTS = Cents(500)
"""The smallest payment (specification, "Limits")."""

MAXIMUM_CENTS = Cents(99_999_999)
"""The largest amount that the provider accepts."""

STRIPE_URL = "https://api.stripe.com"
"""The address of Stripe's own API."""

TIMEOUT_SECONDS = 15.0
"""How long one request to the provider may take."""

RETRIES = 2
"""How often the SDK retries a request, with the same idempotency key."""


class ProviderUnavailable(Exception):  # noqa: N818 - a state of the provider
    """The provider is slow, down, refuses to serve, or gives an invalid answer. Its effect is unknown."""


class RoutedClient(stripe.HTTPClient):
    """An `http_client` for the SDK that reaches the network as all of this project does (docs/network.md).

    The SDK's own would let a `.netrc` replace the secret key.
    """

    name = "httpx"

    def __init__(self, timeout: float) -> None:
        """`timeout` in seconds, for each wait."""
        super().__init__()
        self._http = client(timeout=timeout)

    def request(  # type: ignore[override]
        self, method: str, url: str, headers: Mapping[str, str] | None, post_data: str | None = None
    ) -> tuple[str, int, Mapping[str, str]]:
        """Send a request. Raises the SDK's `APIConnectionError` where no answer comes."""
        try:
            answer = self._http.request(method, url, headers=headers, content=post_data)
        except (httpx.HTTPError, RuntimeError) as problem:  # the second one where it was closed meanwhile
            message = f"{type(problem).__name__}: {problem}"
            raise stripe.APIConnectionError(message, should_retry=True) from problem  # type: ignore[no-untyped-call]
        return answer.text, answer.status_code, answer.headers

    def close(self) -> None:
        """Close the connections."""
        self._http.close()


class Refused(Exception):  # noqa: N818 - an answer of the provider
    """The provider understood the request and refused it."""


class Missing(Refused):
    """The provider does not have this object, or has deleted it."""


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
    """The current state of a payment intent at the provider."""

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
    """The provider's operations that the node uses. Thread-safe."""

    def __init__(
        self, keys: StripeKeys, api_base: str = STRIPE_URL, http_client: stripe.HTTPClient | None = None
    ) -> None:
        """`api_base` is the address of the provider's API; `http_client` replaces the SDK's own."""
        self.publishable_key = keys.publishable
        self._http = http_client or RoutedClient(TIMEOUT_SECONDS)
        self._client = stripe.StripeClient(
            keys.secret,
            base_addresses={"api": api_base},
            max_network_retries=RETRIES,
            http_client=self._http,
        ).v1

    def close(self) -> None:
        """Close the connections."""
        self._http.close()  # type: ignore[no-untyped-call]

    def create_customer(self, wallet: str) -> str:
        """Create a customer for this wallet and return its id.

        Each call uses a new idempotency key. With a fixed one, Stripe would repeat an internal error for a day.
        """
        with self._answers():
            return _text(self._client.customers.create({"metadata": {"wallet": wallet}}).to_dict(), "id")

    def set_email(self, customer: str, email: str) -> None:
        """Set a customer's e-mail address. Raises `Missing` for the customer and `Refused` for the address."""
        with self._answers():
            self._client.customers.update(customer, {"email": email})

    def create_intent(self, customer: str, wallet: str, cents: Cents) -> tuple[str, str]:
        """Create an intent; return its id and its client secret. Raises `Missing` for the customer."""
        with self._answers():
            intent = self._client.payment_intents.create(
                {
                    "amount": cents,
                    "currency": CURRENCY,
                    "customer": customer,
                    "automatic_payment_methods": {"enabled": True, "allow_redirects": "never"},
                    "metadata": {"wallet": wallet},
                }
            ).to_dict()
            if _cents(intent, "amount") != cents:
                raise ProviderUnavailable("the provider made an intent over another amount than was asked for")
            return _text(intent, "id"), _text(intent, "client_secret")

    def look_up(self, intent: str) -> Payment | None:
        """The current state of an intent; `None` when the provider has no intent with this id."""
        try:
            with self._answers():
                return _payment(self._client.payment_intents.retrieve(intent, {"expand": ["latest_charge"]}).to_dict())
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
        except stripe.APIConnectionError as fault:
            raise ProviderUnavailable(str(fault)) from fault
        except stripe.StripeError as fault:
            raise ProviderUnavailable(f"{type(fault).__name__}: {fault.code or fault.http_status}") from fault
        except (KeyError, TypeError, ValueError, AttributeError) as fault:
            raise ProviderUnavailable(f"an answer that is no Stripe object: {type(fault).__name__}") from fault


def _payment(intent: Mapping[str, object]) -> Payment:
    metadata, charge = intent.get("metadata"), intent.get("latest_charge")
    wallet = metadata.get("wallet") if isinstance(metadata, dict) else None
    customer = intent.get("customer")
    return Payment(
        id=_text(intent, "id"),
        status=_text(intent, "status"),
        amount=_cents(intent, "amount"),
        amount_received=_cents(intent, "amount_received"),
        currency=_text(intent, "currency"),
        live=_flag(intent, "livemode"),
        customer=customer if isinstance(customer, str) else None,
        wallet=wallet if isinstance(wallet, str) else None,
        charge=_charge(charge) if isinstance(charge, dict) else None,
    )


def _charge(charge: Mapping[str, object]) -> Charge:
    return Charge(
        paid=_flag(charge, "paid"),
        captured=_flag(charge, "captured"),
        refunded=_flag(charge, "refunded"),
        disputed=_flag(charge, "disputed"),
        amount=_cents(charge, "amount"),
        amount_captured=_cents(charge, "amount_captured"),
        amount_refunded=_cents(charge, "amount_refunded"),
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
