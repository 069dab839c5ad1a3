"""The value rules: valid and wrong values of each member of a request, common ones before rare ones.

Specification, "Resources and their fields" and "Endpoints": the types of members. `${…}` names an object of the
case's account, as in packs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from pydantic import JsonValue

from conformance.profile.operations import PERMISSION_ARRAYS, PERMISSION_FLAGS
from conformance.profile.wire import ZERO_HASH
from conformance.service.derivations import hashed_cid, sample_cid
from conformance.service.sizes import U64

Values = list[JsonValue]

PLAIN_TEXTS: Values = ["a", "two words", "Name-1_x.y"]
SPECIAL_TEXTS: Values = [
    *("", " ", " before", "after ", "null", "true", "undefined", "NaN", "007", "1e5", "-0", "2026-11-22"),
    *('"', "'", "\\", "\\n", "\\u0000", "<b>&amp;</b>", "%00%s%n", "{}", "[]", "../../etc/passwd", "=1+1"),
    *("'; DROP TABLE x; --", "[object Object]", "__proto__", "constructor", "a\tb", "a\nb", "a\r\nb"),
    *("\x00", "a\x00b", "\x01", "\x1b[31m", "\x7f", "\x85", "\xa0", "\xad", "\u200b", "\u200d", "\u202etxet"),
    *("\u2028", "\u2029", "\ufeff", "\ufffd", "\uffff", "é", "e\u0301", "ß", "İ", "\ufb01", "Ω", "中文", "עברית"),
    *("😀", "👩\u200d👩\u200d👧", "🇺🇳", "\U0001d4b3", "\U0001d173", "\U000e0001", "\U0010ffff"),
]
LENGTHS = (31, 32, 33, 64, 65, 128, 129, 255, 256, 257, 512, 1000, 1024, 1025, 4096, 4097, 10_000)
"""Lengths of long texts, in bytes of UTF-8."""
EDGES = (8, 16, 31, 32, 52, 53, 62, 63)
"""Powers of two near which numbers lose their value."""
NUMBERS: Values = sorted({2**power + step for power in EDGES for step in (-1, 0, 1)} | {U64 - 1, U64 - 2, U64 - 2**10})
REGISTERED_CID = sample_cid("registered")
REGISTERED_HASH = hashed_cid(REGISTERED_CID)
"""The hashed CID of the action that the account has registered."""
ECHO = "async function main(p) { return p; }"
"""Code that returns its parameters."""
WRONG: Values = [None, True, 0, -1, 1.5, "", "x", [], {}, [None], {"a": 1}]
"""Values of all types; a member gets those that are not of its own type."""
WRONG_NUMBERS: Values = [-1, -(2**63), 0.5, U64, U64 + 1, U64 + 2**32, 2**128, 2**256, 1e300, "x", True, None, [], {}]
WRONG_HEX: Values = [
    "",
    "0x",
    f"0x{'0' * 63}",
    f"0x{'0' * 65}",
    f"0x{'g' * 64}",
    "1" * 64,
    f"0x{'11' * 20}",
    None,
    7,
    {},
]

JSON_VALUES: Values = [
    2**53 - 1, -(2**53 - 1), 2**31, -(2**31) - 1, 2**32, 0.1, -0.5, 1e21, 5e-324, 1.7976931348623157e308,
    None, True, [], {}, [[[[]]]], {"__proto__": 1}, {"": ""}, {"a b": {"\u2028": [None]}}, list(range(200)),
]  # fmt: skip
VALID: dict[str, Values] = {
    "email": ["a@example.org", "a+b@example.org", f"{'a' * 60}@example.org"],
    "amount_cents": [500, 501, 512, 999, 1000, 4096, 9999, 10_000, 65_535, 65_536, 99_999, 999_999],
}
WRONG_VALUES: dict[str, Values] = {
    "group_id": [value for value in WRONG_NUMBERS if value is not None],
    "page_number": [-1, -(2**63), 0.5, "x", "", U64, 2**256],
    "page_size": [-1, 0, 0.5, "x", "", *NUMBERS[-4:], U64, 2**256],
    "pkp_id": WRONG_HEX,
    "hashed_cid": WRONG_HEX,
    "pkp_ids_permitted": [*([value] for value in WRONG_HEX), "x", 0, {}],
    "cid_hashes_permitted": [*([value] for value in WRONG_HEX), [2**53], "x", 0, {}],
    "amount_cents": [499, 0, -500, 500.5, "500", U64, 2**256, 1e300, None, [], {}],
    "code": [None, 1, [], {}],
    "jsParams": ["x", 1, [], True],
}

LABELS = frozenset({"name", "description", "group_name", "group_description", "account_name", "account_description"})


class ValueRules:
    """Values of members, drawn from a source of randomness."""

    def __init__(
        self, random: Random, *, wildcard: JsonValue, pages: tuple[int, int], sample: Callable[[str], str]
    ) -> None:
        """`sample` makes a valid CID of a label, `wildcard` is the node's form of the one among actions.

        `pages` are the number of the first page and the size of the largest.
        """
        self._random = random
        self._wildcard = wildcard
        self._first_page, self._largest_page = pages
        self._sample = sample

    def plain(self, member: str) -> Values:
        """A few values that every node has to accept, for all combinations."""
        if member in LABELS:
            return [*PLAIN_TEXTS[:2], ""] if "description" in member else [PLAIN_TEXTS[0], PLAIN_TEXTS[1]]
        if member in PERMISSION_FLAGS:
            return [False, True]
        if member in PERMISSION_ARRAYS:
            return [[], [0], ["${group.id}"]]
        if member == "page_number":
            return [self._first_page]
        return self._references(member)

    def valid(self, member: str) -> Values:
        """Values of the member's type, rare ones among them."""
        if member in LABELS:
            return [*SPECIAL_TEXTS, *self._long_texts(), *(self._text() for _ in range(8))]
        if member in PERMISSION_ARRAYS:
            single: Values = [[number] for number in NUMBERS]
            return [*single, [0, "${group.id}"], NUMBERS[-3:], *(self._numbers() for _ in range(6))]
        texts = self.valid("name") if member in {"code", "jsParams"} else []
        further: dict[str, Values] = {
            "code": [f"{ECHO} /* {text} */" for text in texts if "\x00" not in str(text)],
            "jsParams": [{"value": value} for value in [*texts, *JSON_VALUES]],
            "page_number": [self._first_page, self._first_page + 1, *NUMBERS],
            "page_size": [1, 2, self._largest_page],
        }
        return further.get(member) or VALID.get(member) or self.plain(member)

    def wrong(self, member: str) -> Values:
        """Values that are not of the member's type."""
        if member in PERMISSION_ARRAYS:
            return [*([value] for value in WRONG_NUMBERS), "x", 0, None, {}]
        if member in PERMISSION_FLAGS:
            return [value for value in WRONG if not isinstance(value, bool)]
        return WRONG_VALUES.get(member) or [value for value in WRONG if not isinstance(value, str)]

    def _references(self, member: str) -> Values:
        fresh: JsonValue = f"0x{self._random.getrandbits(256):064x}"
        values: dict[str, Values] = {
            "group_id": ["${group.id}"],
            "usage_api_key": ["${key}"],
            "pkp_id": ["${wallet.id}"],
            "hashed_cid": [REGISTERED_HASH],
            "action_ipfs_cid": [self._sample(f"{self._random.getrandbits(64):x}")],
            "pkp_ids_permitted": [[], ["${wallet.id}"], [ZERO_HASH]],
            "cid_hashes_permitted": [[], [REGISTERED_HASH], [self._wildcard], [REGISTERED_HASH, fresh]],
        }
        return values.get(member) or self.valid(member)[:3]

    def _long_texts(self) -> Sequence[JsonValue]:
        odd = [length for index, length in enumerate(LENGTHS) if index % 2]
        return ["x" * length if length in odd else "ж" * (length // 2) + "x" * (length % 2) for length in LENGTHS]

    def _text(self) -> str:
        planes = ((0x20, 0x7E), (0xA0, 0x2FF), (0x370, 0x1FFF), (0x3000, 0xD7FF), (0x10000, 0x2FFFF))
        letters = (chr(self._random.randint(*self._random.choice(planes))) for _ in range(self._random.randint(1, 40)))
        return "".join(letters).replace("$", "S")

    def _numbers(self) -> JsonValue:
        return [self._random.getrandbits(self._random.randint(1, 64)) or 1 for _ in range(self._random.randint(1, 20))]
