"""Small contracts in EVM assembly: mnemonics as they are, a number for a PUSH of it, `@end` and `end:` for jumps."""

from __future__ import annotations

from eth.vm import opcode_values
from eth_abi import encode
from eth_utils import keccak

NAMES = {name: value for name, value in vars(opcode_values).items() if name.isupper()}


def assemble(source: str) -> bytes:
    """`"CALLVALUE 0 SSTORE"` as bytecode; `0x…` pushes as many bytes as it has digits for."""
    code, labels, jumps = bytearray(), dict[str, int](), dict[int, str]()
    for item in source.split():
        if item in NAMES:
            code.append(NAMES[item])
        elif item.endswith(":"):
            labels[item[:-1]] = len(code)
            code.append(NAMES["JUMPDEST"])
        elif item.startswith("@"):
            jumps[len(code) + 1] = item[1:]
            code += bytes([NAMES["PUSH2"], 0, 0])
        else:
            operand = bytes.fromhex(item[2:]) if item.startswith("0x") else _minimal(int(item))
            code += bytes([NAMES["PUSH1"] + len(operand) - 1]) + operand
    for place, label in jumps.items():
        code[place : place + 2] = labels[label].to_bytes(2, "big")
    return bytes(code)


def _minimal(number: int) -> bytes:
    return number.to_bytes(max(1, (number.bit_length() + 7) // 8), "big")


def word(number: int) -> bytes:
    """A number as 32 bytes."""
    return number.to_bytes(32, "big")


def init_code(runtime: bytes) -> bytes:
    """Init code that deploys this runtime code."""
    return returning(runtime)


def returning(data: bytes, ending: str = "RETURN") -> bytes:
    """Code that returns, or with `REVERT` reverts with, up to 65,535 fixed bytes."""
    prefix_length = 12
    prefix = assemble(f"0x{len(data):04x} DUP1 {prefix_length} 0 CODECOPY 0 {ending}")
    assert len(prefix) == prefix_length
    return prefix + data


CUSTOM_ERROR = keccak(b"Refused(uint256,address)")[:4] + encode(["uint256", "address"], [7, "0x" + "ab" * 20])
"""`Refused(7, 0xabab…)`, as a contract reverts with it."""

ERROR_TEXT = keccak(b"Error(string)")[:4] + encode(["string"], ["not today"])
"""Solidity's `revert("not today")`."""

STORE = assemble("0 CALLDATALOAD 32 CALLDATALOAD SSTORE")
"""Stores the first word of the call data in the slot that the second names."""

LOGGER = assemble("0 CALLDATALOAD 0 MSTORE 0 CALLDATALOAD 1 32 0 LOG2")
"""Logs the first word as data and second topic, under topic 1."""

COUNTER = assemble("0 SLOAD 1 ADD DUP1 0 SSTORE DUP1 0 MSTORE 32 CALLDATALOAD 0 CALLDATALOAD 32 0 LOG2")
"""Adds one to slot 0 and logs the new count under the first two words of the call data."""

CLOCK = assemble("TIMESTAMP 0 MSTORE 32 0 RETURN")
"""Returns the time it sees."""

REVERTER = returning(CUSTOM_ERROR, "REVERT")
"""Always reverts with `CUSTOM_ERROR`."""
