"""The typed-data envelope of the wallet-signed flows, where its rules leave a choice."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from conformance.profile.section import Section


class SizeMeasure(Section):
    """What the 4 KiB count, by the form in which `typed_data` comes."""

    object: Literal["compact_utf8", "as_sent"] = "compact_utf8"
    """UTF-8 bytes of the compact re-serialisation, or the bytes in the request."""
    string: Literal["compact_utf8", "as_sent"] = "as_sent"
    """The same for a JSON string that holds the envelope: as sent, white space pads it."""


class SignatureForms(Section):
    """Signatures beside the plain 65 bytes with v 27 or 28."""

    recovery_bytes: Annotated[tuple[Literal[0, 1, 27, 28], ...], Field(min_length=1)] = (27, 28, 0, 1)
    """The accepted last bytes."""
    high_s: Literal["accepted", "refused"] = "refused"
    """The twin signature with n - s."""


class Envelope(Section):
    """Choices about the envelope."""

    size_measure: SizeMeasure | None = SizeMeasure()
    """ENV-330."""
    signature_forms: SignatureForms | None = SignatureForms()
    """ENV-370."""
    numeric_forms: (
        Annotated[tuple[Literal["decimal_string", "integer", "hex_string", "leading_zeros"], ...], Field(min_length=1)]
        | None
    ) = ("decimal_string", "integer", "hex_string")
    """The accepted forms of `chainId` and `issuedAt` (ENV-430)."""
    undeclared_keys: Literal["refused", "ignored"] | None = "refused"
    """Members that `types` does not declare (ENV-440)."""
    erc1271_outside_convert: Literal["refused", "accepted"] | None = "refused"
    """Contract-account signatures on the mints and in `X-Wallet-Auth` (MINT-260)."""
