"""Functions of `let` that derive values from keys and wallets: key hashes, and PKP ids from lists.

Specification, "Resources and their fields": the account's `apiKeyHash`, and the PKP id.
"""

from __future__ import annotations

from contextlib import nullcontext

from conformance.language.functions import function, relies_on
from conformance.language.scope import Scope
from conformance.profile import read_aside
from conformance.service import derivations
from conformance.values.json_values import MISSING, member, printed


@function
@relies_on("crypto.api_key_hash_preimage")
def account_hash(scope: Scope, key: object) -> str:
    """The `apiKeyHash` of an account key, by the profile's `crypto.api_key_hash_preimage`, as 0x hex."""
    return _key_hash(scope, key, "crypto.api_key_hash_preimage")


@function
@relies_on("crypto.usage_key_hash_preimage")
def usage_key_hash(scope: Scope, key: object) -> str:
    """The hash that names a usage key in the contract, by the profile's `crypto.usage_key_hash_preimage`, as 0x hex."""
    return _key_hash(scope, key, "crypto.usage_key_hash_preimage")


def _key_hash(scope: Scope, key: object, rule: str) -> str:
    return derivations.hash_of_key(printed(key), scope.lookup("profile", rule.split(".")), rule)


@function
def pkp_id_in(scope: Scope, wallets: object, address: object) -> str:
    """The PKP id of the wallet with this address in a wallet list; by the profile's rule where items hold no id."""
    items = wallets if isinstance(wallets, list) else []
    with nullcontext() if any(member(item, "id") is MISSING for item in items) else read_aside():
        rule = scope.profile("wire.pkp.id_source.rule")
    return derivations.pkp_id_in(wallets, printed(address), rule)
