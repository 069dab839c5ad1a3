"""Refusals in the shape of Stripe's API errors: `{"error": {"type", "code", "message", "param", …}}`."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from reference_node.strict_json import Json

if TYPE_CHECKING:
    from reference_node.stripe_simulator.payment_intents import PaymentIntent

Object: TypeAlias = dict[str, Json]

INVALID_REQUEST = "invalid_request_error"
IDEMPOTENCY = "idempotency_error"
CARD = "card_error"
API = "api_error"

MESSAGE_LIMIT, PARAM_LIMIT = 2000, 500
"""The most characters, so that hostile input cannot make an answer large."""

DOCUMENTATION = "https://stripe.com/docs/error-codes/"


class StripeError(Exception):
    """An API error. `members` are further members of the error object, `headers` those of the answer."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = INVALID_REQUEST,
        code: str | None = None,
        param: str | None = None,
        intent: PaymentIntent | None = None,
        members: Object | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.kind = kind
        self.code = code
        self.param = param
        self.intent = intent
        self.members = members or {}
        self.headers = headers or {}

    def view(self) -> Object:
        """The error object, without the payment intent."""
        error: Object = dict(self.members)
        if self.code is not None:
            error |= {"code": self.code, "doc_url": DOCUMENTATION + self.code.replace("_", "-")}
        error["message"] = self.message[:MESSAGE_LIMIT]
        if self.param is not None:
            error["param"] = self.param[:PARAM_LIMIT]
        return error | {"type": self.kind}


def missing_object(name: str, object_id: str, param: str, status: int = 404) -> StripeError:
    """The error for a missing object: 404 where the path names it, 400 where a parameter does."""
    return StripeError(status, f"No such {name}: '{object_id}'", code="resource_missing", param=param)
