"""Who calls: the secret key may do everything, the publishable key only what a customer's browser does."""

from __future__ import annotations

import base64
import binascii
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from reference_node.stripe_simulator.errors import StripeError
from reference_node.stripe_simulator.store import new_id

VERSION = "2026-10-28.endive"
"""The API version whose shapes the simulator has; requests may name another, which changes nothing."""

_VERSION_FORM = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}(\.[a-z]+)?(;.*)?")


@dataclass(frozen=True)
class ApiKeys:
    """The keys of the simulated account."""

    secret: str = field(default_factory=lambda: new_id("sk_test_"), repr=False)
    publishable: str = field(default_factory=lambda: new_id("pk_test_"))

    def __post_init__(self) -> None:
        for key, prefix in ((self.secret, "sk_test_"), (self.publishable, "pk_test_")):
            if not re.fullmatch(rf"{prefix}[A-Za-z0-9_]{{1,200}}", key):
                raise ValueError(f"the key has to be {prefix} with letters, digits and _ after it")

    def publishable_only(self, key: str) -> bool:
        """Whether this is the publishable key; false for the secret one. Raises `StripeError`."""
        if secrets.compare_digest(key.encode(), self.secret.encode()):
            return False
        if secrets.compare_digest(key.encode(), self.publishable.encode()):
            return True
        shown = f"{key[:8]}{'*' * (len(key) - 12)}{key[-4:]}" if len(key) > 12 else "*" * len(key)
        raise StripeError(401, f"Invalid API Key provided: {shown}")


def require_secret() -> StripeError:
    """A publishable key is not enough."""
    message = (
        "This API call cannot be made with a publishable API key. Please use a secret API key. You can find a list "
        "of your API keys at https://dashboard.stripe.com/account/apikeys."
    )
    return StripeError(403, message, code="secret_key_required")


def api_key(headers: Mapping[str, str]) -> str | None:
    """The key in the Authorization header, as a bearer token or as the user name of basic authentication."""
    scheme, _, credentials = headers.get("authorization", "").partition(" ")
    match scheme.lower():
        case "bearer":
            return credentials.strip() or None
        case "basic":
            try:
                decoded = base64.b64decode(credentials, validate=True).decode()
            except (binascii.Error, UnicodeDecodeError):
                return None
            return decoded.partition(":")[0] or None
    return None


def no_key() -> StripeError:
    """There is no key at all."""
    message = (
        "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer "
        "auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY')."
    )
    return StripeError(401, message, headers={"www-authenticate": 'Basic realm="Stripe"'})


def version(headers: Mapping[str, str]) -> str:
    """The API version that the request names. Raises `StripeError`."""
    named = headers.get("stripe-version", VERSION)
    if not _VERSION_FORM.fullmatch(named):
        raise StripeError(400, f"Invalid Stripe API version: {named}")
    return named


def refuse_other_accounts(headers: Mapping[str, str]) -> None:
    """Refuse to act for a connected account: there are none. Raises `StripeError`."""
    account = headers.get("stripe-account")
    if account:
        message = f"The provided key does not have access to account '{account}' (or that account does not exist)."
        raise StripeError(403, message, code="account_invalid")
