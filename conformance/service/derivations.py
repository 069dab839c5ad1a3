"""How keys, wallets and actions determine hashes, ids and addresses, by the profile's rules.

Specification, "Resources and their fields": the account's `apiKeyHash`, the PKP id, the hashed CID, and that a PKP's
key material is never exported. Functions raise Mismatch for values that are none, and ProfileSilent where the profile
leaves the rule out.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from random import Random

from eth_keys.datatypes import PrivateKey
from eth_utils.address import is_hex_address
from eth_utils.crypto import keccak

from conformance.problems import Mismatch, NotBase64, ProfileSilent
from conformance.profile import Profile
from conformance.values.ids import AccountHash, Address, Cid, HashedCid, PkpId, UsageKeyHash
from conformance.values.json_values import MISSING, member, printed
from conformance.values.key_text import key_bytes, key_like
from conformance.values.secret_text import SECRET_BYTES
from conformance.values.typed_data import CURVE_ORDER

BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
SHA2_256_OF_32_BYTES = b"\x12\x20"
"""The beginning of a multihash: the code of the function, and the length of the digest."""
RAW_CID_V1 = b"\x01\x55"
"""The beginning of a CIDv1 whose content is the bytes themselves."""
BYTES_OF_A_BLOCK = 256 * 1024
"""Longer files are more than one block, and their CID is that of a tree."""
LEAVES_OF_A_NODE = 174
"""The most links of a node of that tree."""


def account_hash(key: str, profile: Profile) -> AccountHash:
    """The `apiKeyHash` of an account key, by `crypto.api_key_hash_preimage`."""
    return AccountHash(_hash_of_key(key, profile.crypto.api_key_hash_preimage, "crypto.api_key_hash_preimage"))


def usage_key_hash(key: str, profile: Profile) -> UsageKeyHash:
    """The contract's name for a usage key, by `crypto.usage_key_hash_preimage`."""
    return UsageKeyHash(_hash_of_key(key, profile.crypto.usage_key_hash_preimage, "crypto.usage_key_hash_preimage"))


def _hash_of_key(key: str, preimage: object, rule: str) -> str:
    """keccak256, as 0x hex, of what `preimage` says that a key is; `rule` names the profile key."""
    match preimage:
        case "base64_text":
            return f"0x{keccak(text=key).hex()}"
        case "decoded_bytes":
            return f"0x{keccak(bytes_of_key(key)).hex()}"
        case _:
            raise ProfileSilent(f"a {rule} that the suite knows", printed(preimage))


def wallet_hash(address: str) -> AccountHash:
    """The `apiKeyHash` of a ChainSecured account that a wallet made: keccak256 of the packed address."""
    return AccountHash(f"0x{keccak(bytes_of_address(address)).hex()}")


def account_private_key(key: str, rule: object) -> PrivateKey:
    """The private key of an account key's wallet, by the value of `crypto.account_wallet_derivation`."""
    secret = bytes_of_base64(key)
    if rule == "keccak256_of_secret_is_private_key":
        secret = keccak(secret)
    elif rule != "secret_is_private_key":
        raise ProfileSilent("a rule for account wallets that the suite knows", printed(rule))
    if len(secret) != SECRET_BYTES or not 0 < int.from_bytes(secret) < CURVE_ORDER:
        raise Mismatch("a private key of secp256k1 (32 bytes)", f"{len(secret)} bytes that are none")
    return PrivateKey(secret)


ID_RULE = "wire.pkp.id_source.rule"


def pkp_id(address: str, rule: object) -> PkpId:
    """The PKP id of a wallet, by the value of `wire.pkp.id_source.rule`."""
    raw = bytes_of_address(address)
    if rule == "keccak256_of_address":
        return PkpId(f"0x{keccak(raw).hex()}")
    if rule == "left_padded_address":
        return PkpId(f"0x{raw.rjust(32, bytes(1)).hex()}")
    raise ProfileSilent("a rule for PKP ids that the suite knows", printed(rule))


def pkp_id_in(wallets: object, address: str, rule: object) -> PkpId:
    """The PKP id of the wallet with this address in a wallet list; by the rule where items hold no id."""
    items = wallets if isinstance(wallets, list) else []
    if items and all(MISSING in (member(item, "id"), member(item, "wallet_address")) for item in items):
        return pkp_id(address, rule)
    ids = [member(item, "id") for item in items if _has_address(item, address)]
    if len(ids) != 1 or not isinstance(ids[0], str):
        raise Mismatch(f"one wallet with the address {address.lower()} and its id", printed(wallets))
    return PkpId(ids[0])


def _has_address(item: object, address: str) -> bool:
    return printed(member(item, "wallet_address")).lower() == address.lower()


def hashed_cid(cid: str) -> HashedCid:
    """keccak256 of the raw CID ("Resources and their fields / Action")."""
    return HashedCid(f"0x{keccak(text=cid).hex()}")


def code_cid(code: str, algorithm: object) -> Cid | None:
    """The CID of code by the value of `crypto.cid_algorithm`; None for other values, and for code of several blocks.

    `ipfs add` gives a file of one block the hash of a UnixFS file in dag-pb, `--cid-version 1` that of its bytes.
    """
    content = code.encode("utf-8", "surrogatepass")
    if len(content) > BYTES_OF_A_BLOCK:
        return None
    if algorithm == "ipfs_add_v1":
        raw = RAW_CID_V1 + SHA2_256_OF_32_BYTES + hashlib.sha256(content).digest()
        return Cid("b" + base64.b32encode(raw).decode().lower().rstrip("="))
    return _base58_cid(_unixfs_file(content)) if algorithm == "ipfs_add_v0" else None


def long_code_cid(code: str, algorithm: object) -> Cid | None:
    """The CIDv0 of code of 2 to 174 blocks, a tree of one node above its leaves; None for other algorithms.

    The node is dag-pb: links (field 2) to each leaf, with hash, empty name and size, then a UnixFS message (field 1)
    with the type file, the number of bytes, and that of each leaf.
    """
    content = code.encode("utf-8", "surrogatepass")
    blocks = [content[at : at + BYTES_OF_A_BLOCK] for at in range(0, len(content), BYTES_OF_A_BLOCK)]
    if algorithm != "ipfs_add_v0" or not 1 < len(blocks) <= LEAVES_OF_A_NODE:
        return None
    links, sizes = b"", b""
    for block in blocks:
        leaf = _unixfs_file(block)
        hashed = SHA2_256_OF_32_BYTES + hashlib.sha256(leaf).digest()
        link = b"\x0a" + _varint(len(hashed)) + hashed + b"\x12\x00\x18" + _varint(len(leaf))
        links += b"\x12" + _varint(len(link)) + link
        sizes += b"\x20" + _varint(len(block))
    file = b"\x08\x02\x18" + _varint(len(content)) + sizes
    return _base58_cid(links + b"\x0a" + _varint(len(file)) + file)


def _unixfs_file(content: bytes) -> bytes:
    """The dag-pb node of a file of one block: field 1 holds a UnixFS message (type file, the bytes, their number)."""
    size = _varint(len(content))
    data = b"\x08\x02" + (b"\x12" + size + content if content else b"") + b"\x18" + size
    return b"\x0a" + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    return bytes([value]) if value < 0x80 else bytes([value & 0x7F | 0x80]) + _varint(value >> 7)


# -------------------------------------------------------------------------------------------------------- test data


def sample_cid(seed: str) -> Cid:
    """A valid CIDv0 of content that nobody has: base58 of a multihash of SHA2-256, decided by the seed."""
    return _base58_cid(seed.encode())


def _base58_cid(content: bytes) -> Cid:
    number = int.from_bytes(SHA2_256_OF_32_BYTES + hashlib.sha256(content).digest())
    text = ""
    while number:
        number, digit = divmod(number, len(BASE58))
        text = BASE58[digit] + text
    return Cid(text)


def random_key(random: Random) -> str:
    """Base64 of 32 random bytes."""
    return base64_of(random.randbytes(SECRET_BYTES))


def random_hash(random: Random) -> str:
    """32 random bytes as 0x hex."""
    return f"0x{random.randbytes(SECRET_BYTES).hex()}"


def random_address(random: Random) -> Address:
    """20 random bytes as 0x hex."""
    return Address(f"0x{random.randbytes(20).hex()}")


def key_with_flipped_bit(key: str, index: int = -1) -> str:
    """A key in the same form with the lowest bit of the byte at this index turned over."""
    raw = bytearray(bytes_of_key(key))
    if not -len(raw) <= index < len(raw):
        raise Mismatch(f"a key with a byte {index}", key)
    raw[index] ^= 1
    return key_like(key, bytes(raw))


# --------------------------------------------------------------------------------------------------- bytes of texts


def bytes_of_hex(text: str) -> bytes:
    """The bytes of hex digits with or without 0x."""
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError:
        raise Mismatch("hex digits", text) from None


def bytes_of_base64(text: str) -> bytes:
    """The bytes of a base64 text."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise NotBase64("base64", text) from None


def base64_of(raw: bytes) -> str:
    """Bytes in standard base64 with padding."""
    return base64.b64encode(raw).decode()


def bytes_of_key(key: str) -> bytes:
    """The bytes of a key in base64 or hex."""
    try:
        return key_bytes(key)
    except ValueError:
        raise Mismatch("a key in base64 or hex", key) from None


def bytes_of_address(address: str) -> bytes:
    """The 20 bytes of an address."""
    if not is_hex_address(address):
        raise Mismatch("an address of 20 bytes in hex", address)
    return bytes_of_hex(address)
