"""The parameters of the operations on payment intents."""

from __future__ import annotations

from reference_node.stripe_simulator.customers import SHIPPING
from reference_node.stripe_simulator.parameters import Boolean, Choice, Integer, Kind, Metadata, Nested, Text
from reference_node.stripe_simulator.payment_methods import FROM_TOKEN

CAPTURE_METHODS = Choice(("automatic", "automatic_async", "manual"))
ID = Text(unsets=False)

DESCRIBED: dict[str, Kind] = {
    "customer": Text(),
    "description": Text(1000),
    "metadata": Metadata(),
    "payment_method": Text(),
    "receipt_email": Text(),
    "setup_future_usage": Choice(("off_session", "on_session"), unsets=True),
    "shipping": Nested(SHIPPING, required=("address", "name"), unsets=True),
    "statement_descriptor": Text(22),
    "statement_descriptor_suffix": Text(22),
}
"""Parameters that describe an intent, on creation and on update."""

CONFIRMATION: dict[str, Kind] = {
    "error_on_requires_action": Boolean(),
    "mandate_data": Nested(
        {
            "customer_acceptance": Nested(
                {
                    "accepted_at": Integer(),
                    "offline": Nested({}),
                    "online": Nested(
                        {"infer_from_client": Boolean(), "ip_address": Text(), "user_agent": Text()},
                    ),
                    "type": Choice(("offline", "online")),
                },
                required=("type",),
            )
        },
        required=("customer_acceptance",),
        unsets=True,
    ),
    "off_session": Choice(("true", "false", "one_off", "recurring")),
    "payment_method_data": Nested(FROM_TOKEN, required=("type",)),
    "return_url": Text(),
    "use_stripe_sdk": Boolean(),
}
"""Parameters of a confirmation."""
