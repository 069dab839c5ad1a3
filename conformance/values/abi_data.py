"""ABI data as Python values, where whoever encoded it may mean harm.

Arrays hold offsets, and all of them may lead to the same text: 200 kB say three gigabytes then.
"""

from __future__ import annotations

from collections.abc import Sequence

from eth_abi.codec import ABIDecoder
from eth_abi.decoding import ContextFramesBytesIO
from eth_abi.exceptions import DecodingError
from eth_abi.registry import registry

MOST_READINGS = 4
"""How often a byte is read on the average, at most; the decoder itself looks at offsets twice."""


class _ReadOnce(ContextFramesBytesIO):
    """The bytes of encoded values, of which none is read again and again."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)  # type: ignore[no-untyped-call]  # eth-abi's
        self._left = MOST_READINGS * len(data)

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes. DecodingError: more were read than an encoding of that length holds."""
        part = super().read(size)
        self._left -= len(part)
        if self._left < 0:
            raise DecodingError("its offsets lead to the same data again and again")
        return part


class _Decoder(ABIDecoder):
    stream_class = _ReadOnce


_DECODER = _Decoder(registry)


def decode(types: Sequence[str], data: bytes) -> tuple[object, ...]:
    """The values of these types. Raises DecodingError."""
    return _DECODER.decode(types, data)
