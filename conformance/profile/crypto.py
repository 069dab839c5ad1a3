"""Rules by which keys, hashes, wallets and CIDs follow from one another."""

from __future__ import annotations

from typing import Literal

from conformance.profile.section import Section

Preimage = Literal["decoded_bytes", "base64_text"]


class Crypto(Section):
    """Derivation rules."""

    account_wallet_derivation: Literal["secret_is_private_key", "keccak256_of_secret_is_private_key"] | None = (
        "secret_is_private_key"
    )
    """How `wallet_address` of `new_account` follows from the account secret (AKEY-090)."""
    api_key_hash_preimage: Preimage | None = "decoded_bytes"
    """What keccak256 runs over to give an account's `apiKeyHash` (AKEY-100)."""
    usage_key_hash_preimage: Preimage | None = "decoded_bytes"
    """What `usage_api_key_bytes` are (MINT-230)."""
    usage_key_wallet_derivation: Literal["secret_is_private_key"] | None = "secret_is_private_key"
    """How the wallet of a signature-minted usage key follows from its secret (MINT-280)."""
    cid_algorithm: Literal["ipfs_add_v0", "ipfs_add_v1"] | None = "ipfs_add_v0"
    """What `ipfs add` gives with default settings, as CIDv0 or with `--cid-version 1` (ACT-160)."""
