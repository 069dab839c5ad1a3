"""ABI data of a chain that means harm takes memory in proportion to its length."""

from __future__ import annotations

import pytest
from eth_abi.abi import encode
from eth_abi.exceptions import DecodingError

from conformance.values.abi_data import decode

TEXTS = ["", "a", "b" * 32, "c" * 4_000, "δύο"]


def word(number: int) -> bytes:
    return number.to_bytes(32)


def one_text_many_times(times: int, size: int) -> bytes:
    """An array of texts of which each is the same bytes."""
    offsets = word(32 * times) * times
    return word(32) + word(times) + offsets + word(size) + b"a" * size


@pytest.mark.parametrize(
    ("types", "values"),
    [
        (["string[]"], (tuple(TEXTS),)),
        (["string[]"], (("",) * 500,)),
        (["(uint64,string,(string,uint64[])[])[]", "bytes"], (((1, "n", (("s", (1, 2)),) * 9),) * 40, b"\0" * 33)),
        (["bool"], (True,)),
        (["uint64[]", "uint64[]"], ((), ())),
    ],
)
def test_encoded_values_are_read(types: list[str], values: tuple[object, ...]) -> None:
    assert decode(types, encode(types, values)) == values


@pytest.mark.parametrize(("times", "size"), [(10, 3_200), (3_000, 96_000)])
def test_offsets_that_lead_to_the_same_text_again_and_again_are_refused(times: int, size: int) -> None:
    with pytest.raises(DecodingError, match="again and again"):
        decode(["string[]"], one_text_many_times(times, size))


def test_arrays_in_arrays_that_are_all_the_same_are_refused() -> None:
    inner = one_text_many_times(30, 32)[32:]
    outer = word(32) + word(30) + word(32 * 30) * 30 + inner
    with pytest.raises(DecodingError, match="again and again"):
        decode(["string[][]"], outer)
