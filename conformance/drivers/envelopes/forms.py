"""The form of a case of the driver `typed_data` in a pack. docs/drivers.md explains each member."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from conformance.drivers.envelopes.changes import Change
from conformance.drivers.envelopes.signatures import Kind
from conformance.language.form import Form, Kebab, Text
from conformance.language.models import CaseForm

Flow = Literal[
    "create_wallet_with_signature",
    "add_usage_api_key_with_signature",
    "convert_to_chain_secured_account",
    "balance",
]
Padding = Literal["spaces_after", "spaces_before", "spaces_inside", "line_breaks", "escapes", "member", "wide_member"]
TypedDataForm = Literal["object", "string"]

CONVERSION: Flow = "convert_to_chain_secured_account"
BILLING: Flow = "balance"
"""The read with which `X-Wallet-Auth` is tried."""
PRIMARY_TYPES: dict[Flow, str] = {
    "create_wallet_with_signature": "CreateWallet",
    "add_usage_api_key_with_signature": "AddUsageApiKey",
    CONVERSION: "ConvertAccount",
    BILLING: "BillingAuth",
}
"""The primary type that each operation takes."""


class EnvelopeRow(Form):
    """One request with an envelope, and whether it must be accepted."""

    id: Kebab
    accepted: bool = False
    """Whether the node must accept it; else it must refuse it."""
    flows: Annotated[list[Flow], Field(min_length=1)] | None = None
    """The operations to which the row goes. Default: all of the case."""
    changes: list[Change] = Field(default=[])
    """Changes to the valid envelope, in order."""
    over: Literal["changed", "original", "both"] | None = None
    """Which envelope the wallet signs; `both` sends one request for each. Default: `both`; `changed` if accepted."""
    signs: Annotated[list[Change], Field(min_length=1)] | None = None
    """Changes to the envelope that the wallet signs, where it differs from the one that is sent. Replaces `over`."""
    primary: Text | None = None
    """The primary type of the valid envelope that is changed. Default: the flow's."""
    issued: int = 0
    """`issuedAt`, in seconds from the node's time."""
    signature: Kind = "plain"
    """The kind of signature that is sent."""
    form: TypedDataForm | None = None
    """Whether the envelope is sent as an object or as a string of JSON. Default: the profile's first form."""
    pad_to: Annotated[int, Field(ge=1)] | None = None
    """The number of UTF-8 bytes to which the envelope's text is padded."""
    pad_with: Padding = "spaces_after"
    without: Literal["typed_data", "signature", "new_admin_wallet_address"] | None = None
    """A member that the request lacks."""
    typed_data: Text | None = None
    """This JSON text as `typed_data` instead of the envelope."""
    raw: str | None = None
    """This text as the whole body, or as the whole value of `X-Wallet-Auth`."""
    signature_first: bool = False
    """Whether the signature comes before the envelope."""
    key: Literal["account", "unknown", "malformed", "none"] | None = None
    """What stands in `X-Api-Key`: the key of an account, one that nobody owns, no key at all, or no such header.
    Default: the key of the account for the conversion, else none."""
    new_admin: Text | None = None
    """`new_admin_wallet_address` of a conversion. Default: the envelope's `message.address`."""
    method: Annotated[str, StringConstraints(pattern=r"^[A-Z]+$")] | None = None
    """An HTTP method other than the operation's."""
    times: Annotated[int, Field(ge=1)] = 1
    """How often the request is sent. A mint must give another wallet each time."""
    refused_after: Annotated[int, Field(ge=1)] | None = None
    """Seconds after which the same request, accepted before, must be refused; needs `clock_control`."""
    instead: bool = False
    """Whether it is sent only where the valid envelope was refused. If the node takes it, the refusal breaks what this
    row `judges`, too: that is what the node has in place of the specified."""
    judges: list[str] | None = None
    """The requirements of the case that a departure of the row breaks: with none of them the row only prepares.
    Default: all of them, where no row of the case says what it judges."""


class TypedDataCase(CaseForm):
    """Envelopes, each compared with the valid one."""

    driver: Literal["typed_data"]
    flows: list[Flow] = Field(default=list(PRIMARY_TYPES), min_length=1)
    """The operations to which every row goes, where the node offers them."""
    exact_time: bool = False
    """Whether `issued` counts from the exact second at which the node judges the envelope; needs `clock_control`."""
    rows: Annotated[list[EnvelopeRow], Field(min_length=1)]
    """The envelopes, each the valid one with its changes: see [drivers.md](drivers.md)."""
