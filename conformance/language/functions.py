"""The functions of `let`: test data, hashes, and derivations by the variant that the profile states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TypeAlias, TypeVar

from eth_utils.crypto import keccak
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
def random_hash(scope: Scope) -> str:
    """32 random bytes as 0x hex."""
    return derivations.random_hash(scope.random)


@function
def unknown_pkp_id(scope: Scope) -> str:
    """A PKP id of no wallet; where the profile says that ids are addresses after zeros, it is one as well."""
    padded = scope.profile("wire.pkp.id_source.rule") == "left_padded_address"
    hashed = derivations.random_hash(scope.random)
    return f"0x{hashed[-40:]:0>64}" if padded else hashed


@function
def sample_cid(scope: Scope, label: object = "") -> str:
    """A valid CIDv0: base58 of the multihash code of SHA2-256, its length, and 32 bytes from the seed and the label."""
    return derivations.sample_cid(f"{scope.seed.partition('//')[0]}|{printed(label)}")


@function
def flip_key_bit(_: Scope, key: object, index: int = -1) -> str:
    """The key with one bit flipped: the lowest of the byte at this index, by default of the last byte."""
    return derivations.key_with_flipped_bit(printed(key), index)


@function
def repeat_text(_: Scope, text: object, times: int) -> str:
    """The text, repeated so many times."""
    return printed(text) * times


# ---------------------------------------------------------------------------------------------- hashes and derivations


@function
def hashed_cid(_: Scope, cid: object) -> str:
    """keccak256 of the raw CID ("Resources and their fields / Action")."""
    return derivations.hashed_cid(printed(cid))


@function
def keccak_hex(_: Scope, text: object) -> str:
    """keccak256 of the bytes that the hex text stands for."""
    return f"0x{keccak(derivations.bytes_of_hex(printed(text))).hex()}"


@function
@relies_on("wire.pkp.id_source.rule")
def pkp_id_of(scope: Scope, address: object) -> str:
    """The PKP id of a wallet, by the profile's `wire.pkp.id_source.rule`."""
    return derivations.pkp_id(printed(address), scope.lookup("profile", ["wire", "pkp", "id_source", "rule"]))


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
def upper_hex(_: Scope, text: object) -> str:
    """The hex digits in upper case; a leading 0x stays as it is."""
    digits = printed(text)
    return f"0x{digits[2:].upper()}" if digits.startswith("0x") else digits.upper()


@function
def lower(_: Scope, text: object) -> str:
    """The text in lower case."""
    return printed(text).lower()


@function
def to_integer(_: Scope, text: object) -> int:
    """The integer that a decimal text stands for."""
    try:
        return int(printed(text))
    except ValueError:
        raise Mismatch("a decimal integer", printed(text)) from None


@function
def hex_to_integer(_: Scope, text: object) -> int:
    """The integer that a hex text stands for."""
    return int.from_bytes(derivations.bytes_of_hex(_even(printed(text))))


def _even(text: str) -> str:
    digits = text.removeprefix("0x")
    return digits if len(digits) % 2 == 0 else f"0{digits}"


@function
def to_text(_: Scope, value: object) -> str:
    """The value as text."""
    return printed(value)


# ------------------------------------------------------------------------------------------------------ parts of values


@function
def length(_: Scope, value: object) -> int:
    """The number of characters, items or members."""
    if not isinstance(value, str | list | dict):
        raise Mismatch("something with a length", printed(value))
    return len(value)


@function
def sum(_: Scope, *numbers: object) -> int:  # noqa: A001 - the name that packs use
    """The sum of integers."""
    total = 0
    for number in numbers:
        if not isinstance(number, int) or isinstance(number, bool):
            raise Mismatch("an integer", printed(number))
        total += number
    return total
