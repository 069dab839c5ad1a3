"""Values of the Ethereum JSON-RPC, such as quantities, data and addresses, and the errors of the protocol.

Every decoder takes whatever JSON held and raises `InvalidParams` for anything that is not exactly what it should be.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from reprlib import Repr
from typing import TypeAlias, TypeVar

from reference_node.chain.interface import Address, Hash

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
T = TypeVar("T")
Decoder: TypeAlias = Callable[[object], T]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
SERVER_ERROR = -32000
LIMIT_EXCEEDED = -32005
EXECUTION_REVERTED = 3
"""Not of JSON-RPC but of geth; clients know a custom error by it."""

_QUANTITY = re.compile(r"0x[0-9a-fA-F]{1,64}")
_DATA = re.compile(r"0x(?:[0-9a-fA-F]{2})*")

_BRIEF = Repr()
"""Shows but the beginning of what was sent, which may nest as deep as Python can recurse."""
_BRIEF.maxlevel = 2
_BRIEF.maxstring = _BRIEF.maxlong = 80


class RpcError(Exception):
    """An error to be answered with."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class InvalidParams(RpcError):  # noqa: N818 - the protocol's own name
    """A parameter is not what the method takes."""

    def __init__(self, message: str) -> None:
        super().__init__(INVALID_PARAMS, f"invalid params: {message}")


def _shown(value: object) -> str:
    text = _BRIEF.repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def quantity(value: object) -> int:
    """A number of at most 256 bits as a hex string."""
    if not isinstance(value, str) or not _QUANTITY.fullmatch(value):
        raise InvalidParams(f"a quantity is a hex string such as 0x1f, of at most 64 digits, not {_shown(value)}")
    return int(value, 16)


def data(value: object) -> bytes:
    """Bytes as a hex string."""
    if not isinstance(value, str) or not _DATA.fullmatch(value):
        raise InvalidParams(f"data is a hex string of whole bytes such as 0x00ff, not {_shown(value)}")
    return bytes.fromhex(value[2:])


def address(value: object) -> Address:
    """20 bytes as a hex string, in any case."""
    raw = data(value)
    if len(raw) != 20:
        raise InvalidParams(f"an address has 20 bytes, not {len(raw)}")
    return raw


def hash32(value: object) -> Hash:
    """32 bytes as a hex string."""
    raw = data(value)
    if len(raw) != 32:
        raise InvalidParams(f"a hash has 32 bytes, not {len(raw)}")
    return raw


def boolean(value: object) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise InvalidParams(f"true or false is wanted, not {_shown(value)}")
    return value


def mapping(value: object) -> dict[str, object]:
    """A JSON object."""
    if not isinstance(value, dict):
        raise InvalidParams(f"an object is wanted, not {_shown(value)}")
    return value


def list_of(decoder: Decoder[T]) -> Decoder[list[T]]:
    """A decoder of a JSON array whose every item `decoder` takes."""

    def decode(value: object) -> list[T]:
        if not isinstance(value, list):
            raise InvalidParams(f"an array is wanted, not {_shown(value)}")
        return [decoder(item) for item in value]

    return decode


def member(container: dict[str, object], name: str, decoder: Decoder[T]) -> T | None:
    """A member of an object, or `None` where it is left out or null."""
    value = container.get(name)
    return None if value is None else decoder(value)


def hex_data(raw: bytes) -> str:
    """Bytes as JSON-RPC writes them."""
    return f"0x{raw.hex()}"


def hex_word(number: int) -> str:
    """A number as 32 bytes."""
    return hex_data(number.to_bytes(32, "big"))
