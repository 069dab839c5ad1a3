"""Functions of `let` for what follows from keys and wallets: key hashes, PKP ids from lists, wallets of leaked secrets.

Specification, "Resources and their fields": the account's `apiKeyHash`, the PKP id, and that a PKP's key material is
never exported.
"""

from __future__ import annotations

from conformance.language.functions import function, relies_on
from conformance.language.scope import Scope
from conformance.service import derivations, secrets_search
from conformance.values.json_values import printed


@function
@relies_on("crypto.api_key_hash_preimage")
def account_hash(scope: Scope, key: object) -> str:
    """The `apiKeyHash` of an account key, by the profile's `crypto.api_key_hash_preimage`, as 0x hex."""
    return _key_hash(scope, key, "crypto.api_key_hash_preimage")


@function
@relies_on("crypto.usage_key_hash_preimage")
def usage_key_hash(scope: Scope, key: object) -> str:
    """The contract's name for a usage key, by the profile's `crypto.usage_key_hash_preimage`, as 0x hex."""
    return _key_hash(scope, key, "crypto.usage_key_hash_preimage")


def _key_hash(scope: Scope, key: object, rule: str) -> str:
    return derivations.hash_of_key(printed(key), scope.lookup("profile", rule.split(".")), rule)


@function
@relies_on("crypto.account_wallet_derivation")
def account_wallet(scope: Scope, key: object) -> str:
    """The wallet address of an account key, by the profile's `crypto.account_wallet_derivation`."""
    rule = scope.lookup("profile", ["crypto", "account_wallet_derivation"])
    return derivations.account_private_key(printed(key), rule).public_key.to_checksum_address()


@function
def pkp_id_in(scope: Scope, wallets: object, address: object) -> str:
    """The PKP id of the wallet with this address in a wallet list; by the profile's rule where items hold no id."""
    return derivations.pkp_id_in(wallets, printed(address), scope.profile("wire.pkp.id_source.rule"))


@function
def wallets_of_secrets_in(_: Scope, *values: object) -> list[str]:
    """The address of every 32-byte value anywhere in these values, taken as a private key; lower case, sorted."""
    return secrets_search.wallets_of_secrets_in(*values)
