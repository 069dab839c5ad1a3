"""How many items cases make in each list, at which places they look, and the numbers at which types end.

The specification bounds lists, arrays and numbers by their types alone ("Resources and their fields", "Endpoints").
Nodes err at the numbers where pages, buffers and integers end: cases take sizes, places and numbers from here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.profile.operations import PERMISSION_ARRAYS
from conformance.service.session import Session

BYTE = 256
ENDS = (10, 16, 32, 50, 64, 100, 128, 200, BYTE, 1_000)
"""Numbers of items at which pages, buffers and small integers end."""
LARGEST = ENDS[-1]


@dataclass(frozen=True)
class Size:
    """How many items cases make in a list or array: one more than the number that it passes."""

    passes: int
    """The number that a run without `--scale` passes."""
    at_most: int = LARGEST
    """The number that a run with `--scale` passes at most."""
    page: int = 0
    """Items on a page where the list is read in smaller pages, too: one of `ENDS`. 0: it is no list."""


WALLETS, ACTIONS, KEYS, GROUPS = 64, 100, 200, BYTE + 1
IN_A_WRITE = 100
"""Entries of a group's list in one write: a transaction with more fits into no block of some chains."""
GROUP_WRITES = ("add_group", "update_group")
KEY_WRITES = ("add_usage_api_key", "update_usage_api_key")
SIZES: Mapping[str, Size] = {
    "list_groups": Size(GROUPS, page=50),
    "list_api_keys": Size(KEYS, page=32),
    "list_wallets": Size(WALLETS, page=16),
    "list_actions": Size(WALLETS, page=10),
    "list_wallets_in_group": Size(WALLETS, page=32),
    "list_actions of a group": Size(ACTIONS, page=64),
    **{f"{write}.pkp_ids_permitted": Size(WALLETS, IN_A_WRITE - 1) for write in GROUP_WRITES},
    **{f"{write}.cid_hashes_permitted": Size(IN_A_WRITE - 1, IN_A_WRITE - 1) for write in GROUP_WRITES},
    **{f"{write}.{array}": Size(GROUPS) for write in KEY_WRITES for array in PERMISSION_ARRAYS},
    "groups of a wallet": Size(GROUPS),
    "groups of a deleted action": Size(GROUPS),
    "usage keys of a removed group": Size(KEYS),
    "usage keys of a converted account": Size(KEYS),
}
"""Each list of the interface, each array that it takes, and what one write changes in many objects."""

SINGLE, DOUBLE = 2**24, 2**53
"""Floating-point numbers of single and of double precision do not hold the integer behind it."""
I32, U32, I64, U64 = 2**31, 2**32, 2**63, 2**64
"""The first integers that signed and unsigned words of 32 and 64 bits do not hold."""

NUMBERS: Mapping[str, tuple[int, ...]] = {
    # read as negative, as the first or as the second page
    "page_number": (I32, U32, U32 + 1, I64, U64 - 1),
    # shown exactly, or refused
    "group ids that keys hold": (DOUBLE + 1, U64 - 1),
    # read as 0, the wildcard, by integers of 8, 16, 24 and 32 bits
    "group ids that are 0 in fewer bits": (SINGLE, U32),
    # added to the id of a group
    "group_id": (U32, U64),
    # credited as one cent less
    "amount_cents": (SINGLE + 1,),
    # taken whole, or refused
    "amount_cents past a word": (I32 + 600, U32 + 600, DOUBLE + 1),
    "amount_cents out of range": (I64, U64 + 500, 10**30),
    "expiration": (I64, 2**256 - 1),
    "balance": (U64 + 700,),
    "jsParams": (DOUBLE, -DOUBLE, 2**60, I64, -I64, U64, 3 * 2**80),
}
"""Numbers at the ends of types, for each member that takes a number."""


def of(session: Session, name: str) -> int:
    """How many items a case makes in this list or array of the table."""
    size, scale = SIZES[name], session.target.extent.scale
    return 1 + (size.passes if scale is None else min(scale, size.at_most))


def places(count: int) -> list[int]:
    """The first two and the last place of so many items, and those on both sides of each of `ENDS`, counted from 0."""
    sides = {side for end in ENDS for side in (end - 1, end)}
    return sorted(place for place in {0, 1, count - 1} | sides if place < count)


def places_behind(count: int) -> list[int]:
    """The first, the tenth and the last place, and those behind each of `ENDS`: where each takes many requests."""
    return sorted({0, 9, count - 1} | {end for end in ENDS if end < count})


def few_places(count: int) -> list[int]:
    """The first, the tenth, the eleventh and the last place: where each takes the most requests."""
    return sorted({0, 9, 10, count - 1})
