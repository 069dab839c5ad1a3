"""Controls the payment provider behind the node's back, through the control that the profile names.

Each action is a JSON object sent to `{payments.control_url}/ACTION`; docs/profile.md lists them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, TypeAlias

from conformance.endpoints.control import control_headers
from conformance.endpoints.messages import Message
from conformance.problems import ProfileSilent, ProviderTrouble
from conformance.service.acceptance import Accepted
from conformance.service.payments import SHOWN, PaymentIntent, Payments
from conformance.service.session import Session
from conformance.values.ids import Cents
from conformance.values.json_values import member, printed

KEY = "payments.control_url"

Trouble: TypeAlias = Literal["down", "nonsense", "slow", "twice"]
"""What can be wrong with the provider: it answers 500, something that is no JSON, late, or has each request twice."""

SLOW_MILLISECONDS = 1_500


class ProviderControl:
    """Makes the provider change payments or fail. ProfileSilent: the profile names no control."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._payments = Payments(session)

    def act(self, action: str, **members: object) -> object:
        """Carry out an action and return the control's answer. No other case runs until this one has ended.

        ProviderTrouble: the control refused it.
        """
        base = self._session.profile.payments.control_url
        if base is None:
            raise ProfileSilent(f"a profile that says {KEY}", "a profile that leaves it out")
        self._payments.publishable_key()  # raises for one of live mode
        message = Message("POST", f"{base}/{action}", control_headers(self._session.profile), json.dumps(members))
        self._session.target.be_alone()
        answer = self._session.target.exchange(message, self._session.log)
        if not answer.accepted:
            raise ProviderTrouble(f"the control to {action}", answer.text[:SHOWN], answer.exchange)
        return answer.value

    def on_intent(self, action: str, intent: PaymentIntent, **members: object) -> None:
        """Carry out an action on an intent."""
        self.act(action, payment_intent=intent.id, **members)

    def strange_intent(self, cents: Cents) -> PaymentIntent:
        """An intent that another integration of the same provider's account made, to be paid as any other."""
        intent = self.act("payment_intent", amount=cents)
        secret = printed(member(intent, "client_secret"))
        return PaymentIntent(secret.partition("_secret_")[0], secret, cents, Accepted("payment_intent"))

    def email_of_customer(self, intent: PaymentIntent) -> str | None:
        """The e-mail address that the provider has of the customer of an intent."""
        email = member(self.act("customer", payment_intent=intent.id), "email")
        return email if isinstance(email, str) else None

    @contextmanager
    def trouble(self, kind: Trouble, path: str) -> Iterator[None]:
        """Have the provider fail all requests of the node to this path, in which `*` stands for anything."""
        match kind:
            case "slow":
                self.act("latency", latencies=[{"path": path, "before_ms": SLOW_MILLISECONDS}])
            case "twice":
                self.act("fault", fault={"path": path, "kind": "repeat", "times": None})
            case "down":
                self.act("fault", fault={"path": path, "kind": "status", "status": 500, "times": None})
            case "nonsense":
                self.act("fault", fault={"path": path, "kind": "garbage", "times": None})
        try:
            yield
        finally:
            self.act("clear")
