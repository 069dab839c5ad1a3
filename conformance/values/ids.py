"""Types for keys, ids, hashes and amounts that would otherwise be bare texts and integers, and what an address is."""

from __future__ import annotations

import re
from typing import NewType

from eth_utils.address import is_checksum_address

ApiKey = NewType("ApiKey", str)
"""The key of an account, as `new_account` gives it."""
UsageKey = NewType("UsageKey", str)
"""The value of a usage API key, as its creation gives it."""
AccountHash = NewType("AccountHash", str)
"""`apiKeyHash`, the contract's name for an account: 0x and 64 hex digits."""
UsageKeyHash = NewType("UsageKeyHash", str)
"""The contract's name for a usage key: 0x and 64 hex digits."""
PkpId = NewType("PkpId", str)
"""0x and 64 hex digits."""
Cid = NewType("Cid", str)
"""The raw CID of an action."""
HashedCid = NewType("HashedCid", str)
"""keccak256 of a raw CID: 0x and 64 hex digits."""
GroupId = NewType("GroupId", int)
"""A u64. Lists may show it as a decimal text; requests and the contract take the integer."""
Address = NewType("Address", str)
"""0x and 40 hex digits."""
Cents = NewType("Cents", int)


def is_address(value: object) -> bool:
    """Whether it is 0x and 40 hex digits."""
    return isinstance(value, str) and re.fullmatch("0x[0-9a-fA-F]{40}", value) is not None


def is_checked_address(value: object) -> bool:
    """Whether it is an address that has, where its digits are of both cases, the form of EIP-55."""
    if not isinstance(value, str) or not is_address(value):
        return False
    digits = value[2:]
    return digits in {digits.lower(), digits.upper()} or is_checksum_address(value)
