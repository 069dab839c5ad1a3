"""Types of request and answer fields, with their limits and conversions to the contract's types."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from reference_node.permission.cid import USUAL_CIDS, cid_hash, is_cid
from reference_node.permission.keys import KEY_PATTERN, pkp_id

U64_MAX = 2**64 - 1

HASH_PATTERN, ADDRESS_PATTERN = r"^0x[0-9a-fA-F]{64}$", r"^0x[0-9a-fA-F]{40}$"

LABEL_LENGTH = 1024
"""Characters of a name or description, so that one write fits into a block of every common chain."""

LIST_LENGTH = 100
"""Entries of a list in one request, for the same reason. Further entries need further requests."""

GROUP_IDS_LENGTH = 1_024
"""Group ids in one array of a usage key: the contract keeps 256 of them in one word."""

DEFAULT_PAGE_SIZE = 20

MAXIMUM_PAGE_SIZE = 100
"""Equal to the contract's limit."""


def decimal_pattern(maximum: int) -> str:
    """A regular expression for the whole numbers 0 to `maximum` in decimal, without leading zeros."""
    digits = str(maximum)
    same_length = [
        f"{digits[:at]}[{'1' if at == 0 else '0'}-{int(digit) - 1}][0-9]{{{len(digits) - at - 1}}}"
        for at, digit in enumerate(digits)
        if int(digit) > (at == 0)
    ]
    return f"^(0|[1-9][0-9]{{0,{len(digits) - 2}}}|{'|'.join(same_length)}|{digits})$"


def _from_query(text: str) -> int:
    """Parse a number in a query; only plain decimal digits are accepted."""
    if not re.fullmatch(r"0|[1-9][0-9]{0,30}", text):
        raise ValueError("write a whole number in decimal digits")
    return int(text)


def _cid(text: str) -> str:
    if re.fullmatch(HASH_PATTERN, text):
        raise ValueError("this is a hashed CID: write the raw CID that it is the hash of (Qm…, bafy…, bafk…)")
    if not is_cid(text):
        raise ValueError("write a CID: CIDv0 (Qm…) or CIDv1 (bafy…, bafk…)")
    return text


def _no_raw_cid(value: object) -> object:
    if isinstance(value, str) and is_cid(value):
        hashed = hash_text(cid_hash(value))
        raise ValueError(f"this is a raw CID: write its hash, the hashed_cid of list_actions, here {hashed}")
    return value


def _no_address(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(ADDRESS_PATTERN, value):
        wallet = hash_text(pkp_id(bytes.fromhex(value[2:])))
        raise ValueError(f"this is a wallet's address: write its PKP id, the id of list_wallets, here {wallet}")
    return value


U64 = Annotated[int, Field(ge=0, le=U64_MAX)]
U64Text = Annotated[str, Field(pattern=decimal_pattern(U64_MAX))]
U64Query = Annotated[U64, BeforeValidator(_from_query)]
PageSizeQuery = Annotated[int, Field(ge=1, le=MAXIMUM_PAGE_SIZE), BeforeValidator(_from_query)]
Label = Annotated[str, Field(max_length=LABEL_LENGTH, pattern=r"^[^\x00]*$", description="Any text without NUL.")]
Email = Annotated[str, Field(max_length=254, pattern=r"^[^@\x00-\x20]+@[^@\x00-\x20]+$")]
ApiKey = Annotated[str, Field(pattern=KEY_PATTERN, description="Base64 of 32 secret bytes.")]
GroupIds = Annotated[list[U64], Field(max_length=GROUP_IDS_LENGTH, description="Group ids; 0 stands for every group.")]
Hash = Annotated[str, Field(pattern=HASH_PATTERN)]
PkpId = Annotated[
    Hash, BeforeValidator(_no_address), Field(description="A PKP id; all zeros stand for every wallet of the account.")
]
DerivationPath = Annotated[Hash, Field(description="A uint256: pass it unchanged into registerWalletDerivation.")]
HashedCid = Annotated[
    Hash, BeforeValidator(_no_raw_cid), Field(description="keccak256 of the raw CID, from list_actions.")
]
ZeroNumber = Annotated[int, Field(ge=0, le=0)]
PermittedCid = Annotated[
    Annotated[str, Field(pattern=r"^(0|0x0|0x[0-9a-fA-F]{64})$")] | ZeroNumber,
    BeforeValidator(_no_raw_cid),
    Field(description="A hashed CID, or the wildcard: 0, as a number or in any of the string forms."),
]
RawCid = Annotated[
    str,
    AfterValidator(_cid),
    Field(
        json_schema_extra={"pattern": USUAL_CIDS},
        description="A raw CID: CIDv0, or CIDv1 in its usual spelling; other bases and hashes are taken as well.",
    ),
]
Address = Annotated[str, Field(pattern=ADDRESS_PATTERN)]


def hash_bytes(text: str) -> bytes:
    """The 32 bytes of a PKP id or hashed CID."""
    return bytes.fromhex(text.removeprefix("0x"))


def permitted_cid_bytes(entry: str | int) -> bytes:
    """The 32 bytes of an entry of `cid_hashes_permitted`."""
    return bytes(32) if entry in {0, "0", "0x0"} else hash_bytes(str(entry))


def hash_text(value: bytes) -> str:
    """32 bytes as 0x hex."""
    return "0x" + value.hex()
