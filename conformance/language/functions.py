"""The functions of `let`: test data, hashes, and derivations by the variant that the profile states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TypeAlias, TypeVar

from pydantic import JsonValue

from conformance.language.scope import Scope
from conformance.language.templates import CompileContext
from conformance.problems import Mismatch
from conformance.profile import read_aside
from conformance.service import derivations
from conformance.values.json_values import MISSING, member, printed

Function: TypeAlias = Callable[..., object]
FunctionType = TypeVar("FunctionType", bound=Function)
FUNCTIONS: dict[str, Function] = {}
"""Functions by name. Each takes the scope, then its arguments."""

Preparation: TypeAlias = Callable[[Sequence[JsonValue], CompileContext], None]
PREPARATIONS: dict[str, Preparation] = {}
"""What some functions do when a pack is loaded: note what the case needs, by the arguments that the pack writes."""


def function(body: FunctionType) -> FunctionType:
    """Register a function under its own name."""
    FUNCTIONS[body.__name__] = body
    return body


def prepares(name: str) -> Callable[[Preparation], Preparation]:
    """Register what the function of this name does when a pack is loaded."""

    def register(preparation: Preparation) -> Preparation:
        PREPARATIONS[name] = preparation
        return preparation

    return register


def relies_on(*keys: str) -> Callable[[FunctionType], FunctionType]:
    """Declare the profile keys that a function reads: a case that calls it is for nodes whose profile states them."""

    def register(body: FunctionType) -> FunctionType:
        PREPARATIONS[body.__name__] = lambda _, context: context.info.uses.update(keys)
        return body

    return register


# ------------------------------------------------------------------------------------------------------- test data


@function
def random_key(scope: Scope) -> str:
    """Base64 of 32 random bytes."""
    return derivations.random_key(scope.random)


@function
def sample_cid(scope: Scope, label: object = "") -> str:
    """A valid CIDv0: base58 of the multihash code of SHA2-256, its length, and 32 bytes from the seed and the label."""
    return derivations.sample_cid(f"{scope.seed.partition('//')[0]}|{printed(label)}")


# ---------------------------------------------------------------------------------------------- hashes and derivations


@function
def hashed_cid(_: Scope, cid: object) -> str:
    """keccak256 of the raw CID ("Resources and their fields / Action")."""
    return derivations.hashed_cid(printed(cid))


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


# ------------------------------------------------------------------------------------------------------------ texts


@function
def to_integer(_: Scope, text: object) -> int:
    """The integer that a decimal text stands for."""
    try:
        return int(printed(text))
    except ValueError:
        raise Mismatch("a decimal integer", printed(text)) from None


@function
def to_text(_: Scope, value: object) -> str:
    """The value as text."""
    return printed(value)
