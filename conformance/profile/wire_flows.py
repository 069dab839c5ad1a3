"""How chain information, billing and the wallet-signed flows are written on the wire."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from conformance.profile.section import Section, WireName


class TypedData(Section):
    """The member `typed_data`."""

    form: Annotated[tuple[Literal["object", "string"], ...], Field(min_length=1)] | None = ("object", "string")
    """The accepted forms, in bodies and in `X-Wallet-Auth`; the suite sends the first (ENV-340)."""


class ConvertResponse(Section):
    """Members of the answer."""

    success: WireName | None = "success"
    """True when the account was converted."""


class Convert(Section):
    """The operation `convert_to_chain_secured_account`."""

    response: ConvertResponse | None = ConvertResponse()
    """MODE-310."""


class DerivationPath(Section):
    """The member `derivation_path`."""

    form: Literal["hex_uint256", "decimal_string", "integer", "path_text"] | None = "hex_uint256"
    """MINT-270."""


class ChainInfo(Section):
    """The chain and payer endpoints."""

    chain_id: Literal["integer", "decimal_string"] = "integer"
    """The JSON form of `chain_id`."""
    further_members: tuple[WireName, ...] = ("chain_name", "is_evm", "testnet", "token")
    """Members of the configuration beside `chain_id` and `contract_address`."""
    api_payers_member: WireName | None = None
    """The member that holds the payer addresses. Null: the whole answer is the array."""
    admin_api_payer_member: WireName | None = None
    """The member that holds the admin payer's address. Null: the whole answer is the string."""


class WalletAuth(Section):
    """The header `X-Wallet-Auth`."""

    encoding: Literal["base64_json", "base64url_json", "json"] | None = "base64_json"
    """How the JSON `{"typed_data": …, "signature": "0x…"}` is written in it (BILL-250)."""


class BillingFields(Section):
    """Members of the billing answers."""

    publishable_key: WireName = "publishable_key"
    balance_cents: WireName = "balance_cents"
    balance_form: Literal["cents", "units_text"] = "cents"
    """`cents`: an integer; `units_text`: a text with the decimal number of the currency's units, such as `"12.34"`."""
    balance_display: WireName | None = "balance_display"
    positive_is_credit: bool = True
    """Whether a positive balance is credit left."""
    confirm_success: WireName | None = "success"
    """True in the answer of an accepted `confirm_payment`."""


class BillingWire(Section):
    """The billing answers."""

    fields: BillingFields | None = BillingFields()
    """BILL-310."""
