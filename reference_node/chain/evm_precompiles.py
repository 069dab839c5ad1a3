"""The precompiled contracts that py-evm computes in Python, kept within the time of the execution that calls them.

Nothing looks at the clock inside them, and a block's gas buys minutes of some. One that would outlast the time that is
left is not begun.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

from eth.abc import ComputationAPI
from eth.vm.forks.prague.computation import PRAGUE_PRECOMPILES
from eth_typing import Address

from reference_node.chain.evm_timed import TimedComputation

Precompile: TypeAlias = "Callable[[ComputationAPI], ComputationAPI]"

BLAKE2_BYTES = 213

SECONDS_A_GAS = 1.2e-5
"""What gas buys at most: where it does not suffice, a precompiled contract fails before it computes anything."""

Seconds: TypeAlias = "Callable[[bytes], float]"
"""About how long a precompiled contract takes for some input, on a slow processor."""


def _each(size: int, seconds: float) -> Seconds:
    """So many seconds for every item of this size."""
    return lambda data: len(data) // size * seconds


def _blake2(data: bytes) -> float:
    """The first four bytes are the number of rounds (EIP-152); input of another length is refused at once."""
    return int.from_bytes(data[:4]) * 7e-6 if len(data) == BLAKE2_BYTES else 0.0


SECONDS: dict[int, Seconds] = {
    0x08: _each(192, 0.4),  # pairing on BN254 (EIP-197)
    0x09: _blake2,
    0x0A: _each(192, 0.1),  # point evaluation (EIP-4844)
    0x0C: _each(160, 0.05),  # multiplication in G1 of BLS12-381 (EIP-2537)
    0x0E: _each(288, 0.1),  # in G2
    0x0F: _each(384, 0.8),  # pairing
    0x10: _each(64, 0.05),  # field to G1
    0x11: _each(128, 0.2),  # field to G2
}


def _watched(precompile: Precompile, seconds: Seconds) -> Precompile:
    def run(computation: ComputationAPI) -> ComputationAPI:
        watched = cast(TimedComputation, computation)
        bought = watched.get_gas_remaining() * SECONDS_A_GAS
        watched.state.require_time(min(seconds(watched.msg.data_as_bytes), bought))
        return precompile(computation)

    return run


WATCHED: dict[Address, Precompile] = {
    address: _watched(precompile, SECONDS[number]) if (number := int.from_bytes(address)) in SECONDS else precompile
    for address, precompile in PRAGUE_PRECOMPILES.items()
}
"""Prague's precompiled contracts by their addresses."""
