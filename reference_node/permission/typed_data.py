"""Verifies signed envelopes (specification, "Typed-data envelope" and "Authentication" 6).

`docs/typed-data.md` lists the faults and their codes. Cheap checks come first; the digest is computed and
the signer recovered only after all others pass. Every refusal is a `BadRequest`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from enum import StrEnum

from eth_account.messages import encode_typed_data
from eth_utils.crypto import keccak

from reference_node.chain.interface import Address, Hash
from reference_node.permission.signatures import parse_signature, recover
from reference_node.problems import BadRequest, Unprocessable, quoted
from reference_node.strict_json import parse

SIZE_LIMIT = 4096
"""Bytes of serialised typed data (Limits)."""

WINDOW_SECONDS = 300
"""How far `issuedAt` may be from the node's time, either way and inclusive (Limits)."""

DOMAIN_VERSION = "1"
"""Versioning 4."""

Field = dict[str, str]
"""A field of a struct: its name and type."""

Members = dict[str, object]
"""The members of a JSON object."""

DOMAIN_FIELDS: list[Field] = [
    {"name": "name", "type": "string"},
    {"name": "version", "type": "string"},
    {"name": "chainId", "type": "uint256"},
]
"""`types.EIP712Domain`, in this order."""

MESSAGE_FIELDS: list[Field] = [{"name": "address", "type": "address"}, {"name": "issuedAt", "type": "uint256"}]
"""`types.<primaryType>`, in this order."""

UINT256_MAX = 2**256 - 1

_DECIMAL = re.compile(r"0|[1-9][0-9]{0,77}")
_HEX = re.compile(r"0x(0|[1-9a-fA-F][0-9a-fA-F]{0,63})")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")


class Flow(StrEnum):
    """The purposes of signatures: the `primaryType` of the envelope."""

    CREATE_WALLET = "CreateWallet"
    CONVERT_ACCOUNT = "ConvertAccount"
    ADD_USAGE_API_KEY = "AddUsageApiKey"
    BILLING_AUTH = "BillingAuth"


def domain_name(title: str) -> str:
    """The name of the domain, with this brand word."""
    return f"{title} ChainSecured"


class Envelopes:
    """Checks of envelopes. Each method is one check and raises `BadRequest` with its own codes."""

    def verify(
        self, typed_data: object, signature: object, *, flow: Flow, chain_id: int, now: int, title: str
    ) -> Address:
        """The wallet that signed this envelope for this flow: `message.address`, proven by the signature.

        `typed_data` is a JSON object or a string that holds one, `now` the node's Unix time in seconds. There is no
        nonce: the same envelope is good again until its window has passed.
        """
        document = self.opened(typed_data)
        domain, message = self.parts(document, flow)
        self.check_domain(domain, chain_id, title)
        address = self.address(message)
        issued_at = _uint256(message["issuedAt"], "message.issuedAt")
        self.check_window(issued_at, now)
        parsed = parse_signature(signature)
        self.check_signer(recover(digest(flow, title, chain_id, address, issued_at), parsed), address)
        return address

    def opened(self, typed_data: object) -> object:
        """The envelope, parsed if it came as a string. Its size counts in the form in which it came."""
        if not isinstance(typed_data, str):
            self.check_size(json.dumps(typed_data, ensure_ascii=False, separators=(",", ":")))
            return typed_data
        self.check_size(typed_data)
        try:
            return parse(typed_data.encode(errors="surrogatepass"), "typed data")
        except Unprocessable as fault:
            raise BadRequest(fault.code, fault.detail) from None

    def check_size(self, text: str) -> None:
        """Check that it is at most 4 KiB of UTF-8."""
        size = len(text.encode(errors="surrogatepass"))
        if size > SIZE_LIMIT:
            raise BadRequest("typed-data-too-large", f"the typed data is {size} bytes: {SIZE_LIMIT} are the most")

    def parts(self, document: object, flow: Flow) -> tuple[Members, Members]:
        """The domain and the message of an envelope of this flow with exactly the canonical shape."""
        envelope = _members(document, "typed_data", ("types", "primaryType", "domain", "message"))
        if envelope["primaryType"] != flow:
            raise BadRequest("typed-data-primary-type", f"this call takes the primaryType {flow} and no other")
        self.check_types(envelope["types"], flow)
        return (
            _members(envelope["domain"], "domain", _names(DOMAIN_FIELDS)),
            _members(envelope["message"], "message", _names(MESSAGE_FIELDS)),
        )

    def check_types(self, types: object, flow: Flow) -> None:
        """Check that `types` has exactly the two canonical structs, which the signed hash includes."""
        if types != {"EIP712Domain": DOMAIN_FIELDS, flow.value: MESSAGE_FIELDS}:
            structs = "; ".join(
                f"{name}: {', '.join(' '.join(reversed(field.values())) for field in fields)}"
                for name, fields in (("EIP712Domain", DOMAIN_FIELDS), (flow.value, MESSAGE_FIELDS))
            )
            raise BadRequest("typed-data-types", f"types has to be exactly, in this order of fields: {structs}")

    def check_domain(self, domain: Members, chain_id: int, title: str) -> None:
        """Check the name, version and chain of the domain."""
        if domain["name"] != domain_name(title):
            raise BadRequest("typed-data-domain-name", f"domain.name has to be {domain_name(title)!r}")
        if domain["version"] != DOMAIN_VERSION:
            raise BadRequest("typed-data-domain-version", f'domain.version has to be the string "{DOMAIN_VERSION}"')
        if _uint256(domain["chainId"], "domain.chainId") != chain_id:
            raise BadRequest("typed-data-chain-id", f"domain.chainId has to be {chain_id}, this node's chain")

    def address(self, message: Members) -> Address:
        """The 20 bytes of `message.address`, in any case."""
        address = message["address"]
        if not isinstance(address, str) or not _ADDRESS.fullmatch(address):
            raise BadRequest("typed-data-address", "message.address has to be 0x and 40 hex characters")
        return bytes.fromhex(address[2:])

    def check_window(self, issued_at: int, now: int) -> None:
        """Check that `issuedAt` is at most 300 s before or after the node's time."""
        if issued_at < now - WINDOW_SECONDS:
            raise BadRequest(
                "typed-data-expired",
                f"message.issuedAt is more than {WINDOW_SECONDS} s before the node's time {now}: sign anew",
            )
        if issued_at > now + WINDOW_SECONDS:
            raise BadRequest(
                "typed-data-not-yet-valid",
                f"message.issuedAt is more than {WINDOW_SECONDS} s after the node's time {now}: it counts seconds",
            )

    def check_signer(self, signer: Address, address: Address) -> None:
        """Check by plain ECDSA that the named wallet signed. No contract is asked (ERC-1271)."""
        if signer != address:
            raise BadRequest("signature-mismatch", "the signature is not by message.address, or not over this envelope")


def digest(flow: Flow, title: str, chain_id: int, address: Address, issued_at: int) -> Hash:
    """The EIP-712 digest of the canonical envelope with these values, which a wallet signs."""
    encoded = encode_typed_data(
        {"name": domain_name(title), "version": DOMAIN_VERSION, "chainId": chain_id},
        {flow.value: MESSAGE_FIELDS},
        {"address": address, "issuedAt": issued_at},
    )
    return keccak(b"\x19" + encoded.version + encoded.header + encoded.body)


def _names(fields: Sequence[Field]) -> tuple[str, ...]:
    return tuple(field["name"] for field in fields)


def _members(value: object, where: str, names: Sequence[str]) -> Members:
    """The members of an object. Raises `BadRequest` unless it has exactly these."""
    if not isinstance(value, dict):
        raise BadRequest("typed-data-not-an-object", f"{where} has to be a JSON object")
    for name in names:
        if name not in value:
            raise BadRequest("typed-data-member-missing", f"{where} lacks the member {name!r}")
    for name in value:
        if name not in names:
            raise BadRequest("typed-data-member-unknown", f"{quoted(name)!r} is no member of {where}: leave it out")
    return value


def _uint256(value: object, where: str) -> int:
    """A uint256 as a decimal string, a JSON integer or a `0x` hex string, in plain digits without leading zeros."""
    number = None
    if type(value) is int:
        number = value
    elif isinstance(value, str):
        if _DECIMAL.fullmatch(value):
            number = int(value)
        elif _HEX.fullmatch(value):
            number = int(value, 16)
    if number is None or not 0 <= number <= UINT256_MAX:
        raise BadRequest("typed-data-number", f'{where} has to be a uint256 in decimal digits, such as "1700000000"')
    return number
