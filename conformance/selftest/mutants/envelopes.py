"""Faults about signed envelopes: which are believed, and which are turned away though they are good."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from eth_utils.crypto import keccak

from conformance.selftest.alter import Answered, Forward, Received, answer, body_of, intercept, silence, wrap
from conformance.selftest.mutant import mutant
from reference_node.chain.interface import Address
from reference_node.keys import CURVE_ORDER
from reference_node.node import Node
from reference_node.problems import BadRequest
from reference_node.signatures import parse_signature, recover
from reference_node.typed_data import (
    DOMAIN_FIELDS,
    MESSAGE_FIELDS,
    SIZE_LIMIT,
    WINDOW_SECONDS,
    Flow,
    Members,
    domain_name,
)

Check = Callable[..., object]


def _refuse(code: str) -> BadRequest:
    return BadRequest(code, "the envelope is refused")


def _replace(node: Node, method: str, check: Check) -> None:
    """Another check in the place of the judge's own."""
    wrap(node.envelopes, method, lambda _, *given: check(*given))


def _window(node: Node, before: int, after: int, divisor: int = 1) -> None:
    """A window of other widths."""

    def check(issued_at: int, now: int) -> None:
        if not now - before <= issued_at // divisor <= now + after:
            raise _refuse("typed-data-expired")

    _replace(node, "check_window", check)


def _canonical(types: object, flow: Flow, seen: Callable[[object], object]) -> None:
    """The check of types, by what `seen` makes of each list of fields."""
    wanted = {"EIP712Domain": DOMAIN_FIELDS, flow.value: MESSAGE_FIELDS}
    if not isinstance(types, dict) or any(seen(types.get(name)) != seen(fields) for name, fields in wanted.items()):
        raise _refuse("typed-data-types")


def _types(node: Node, seen: Callable[[object], object]) -> None:
    _replace(node, "check_types", lambda types, flow: _canonical(types, flow, seen))


# ---------------------------------------------------------------------------------------------------------- window


@mutant("ENV-260", "ENV-280", "ENV-300")
def window_is_not_checked(node: Node) -> None:
    """An envelope is good for ever."""
    silence(node.envelopes, "check_window")


@mutant("ENV-260", "ENV-300")
def window_is_open_ahead(node: Node) -> None:
    """An envelope from the future is good, however far ahead."""
    _window(node, WINDOW_SECONDS, 2**256)


@mutant("ENV-260", "ENV-280")
def window_is_open_behind(node: Node) -> None:
    """An old envelope is good, however old."""
    _window(node, 2**256, WINDOW_SECONDS)


@mutant("ENV-250", "ENV-290")
def window_takes_nothing_from_ahead(node: Node) -> None:
    """A clock that is ahead of the node's is no excuse."""
    _window(node, WINDOW_SECONDS, 2)


@mutant("ENV-270")
def window_ends_a_second_early(node: Node) -> None:
    """300 s ago is too old."""
    _window(node, WINDOW_SECONDS - 1, WINDOW_SECONDS)


@mutant("ENV-280")
def window_ends_a_second_late(node: Node) -> None:
    """301 s ago is not yet too old."""
    _window(node, WINDOW_SECONDS + 1, WINDOW_SECONDS)


@mutant("ENV-290")
def window_begins_a_second_late(node: Node) -> None:
    """300 s ahead is too early."""
    _window(node, WINDOW_SECONDS, WINDOW_SECONDS - 1)


@mutant("ENV-300")
def window_begins_a_second_early(node: Node) -> None:
    """301 s ahead is not yet too early."""
    _window(node, WINDOW_SECONDS, WINDOW_SECONDS + 1)


@mutant("ENV-010", "ENV-230")
def time_is_in_milliseconds(node: Node) -> None:
    """`issuedAt` counts milliseconds."""
    _window(node, WINDOW_SECONDS, WINDOW_SECONDS, 1000)


@mutant("ENV-260")
def milliseconds_are_good_too(node: Node) -> None:
    """An `issuedAt` in milliseconds is taken as one in seconds."""

    def check(original: Check, issued_at: int, now: int) -> None:
        original(issued_at // 1000 if issued_at > 10**11 else issued_at, now)

    wrap(node.envelopes, "check_window", check)


@mutant("ENV-280")
def window_counts_in_minutes(node: Node) -> None:
    """Seconds are rounded to minutes before they are compared."""

    def check(issued_at: int, now: int) -> None:
        if abs((now - issued_at) // 60) > WINDOW_SECONDS // 60:
            raise _refuse("typed-data-expired")

    _replace(node, "check_window", check)


# ----------------------------------------------------------------------------------------------------------- types


@mutant("ENV-040", "ENV-050", "ENV-060", "ENV-070", "ENV-080", "ENV-090", "ENV-100", "ENV-110", "ENV-120")
def types_are_not_checked(node: Node) -> None:
    """The digest is that of the canonical types, whatever the envelope says about itself."""
    silence(node.envelopes, "check_types")


def _names(fields: object) -> object:
    if not isinstance(fields, list):
        return None
    return [field.get("name") if isinstance(field, dict) else None for field in fields]


@mutant("ENV-040", "ENV-050")
def order_of_fields_does_not_count(node: Node) -> None:
    """Fields may stand in any order."""
    _types(node, lambda fields: sorted(map(str, fields)) if isinstance(fields, list) else fields)


@mutant("ENV-100")
def types_of_fields_do_not_count(node: Node) -> None:
    """Only the names of the fields are compared."""
    _types(node, _names)


@mutant("ENV-060", "ENV-080")
def more_fields_do_no_harm(node: Node) -> None:
    """Fields after the canonical ones are not looked at."""

    def check(types: object, flow: Flow) -> None:
        wanted = {"EIP712Domain": DOMAIN_FIELDS, flow.value: MESSAGE_FIELDS}
        for name, fields in wanted.items():
            stated = types.get(name) if isinstance(types, dict) else None
            if not isinstance(stated, list) or stated[: len(fields)] != fields:
                raise _refuse("typed-data-types")

    _replace(node, "check_types", check)


@mutant("ENV-110", "ENV-120")
def more_structs_do_no_harm(node: Node) -> None:
    """Structs beside the two canonical ones are not looked at."""
    _types(node, lambda fields: fields)


@mutant("ENV-100")
def aliases_of_types_are_good(node: Node) -> None:
    """`uint` is `uint256`, and blanks around a type do not count."""

    def plain(fields: object) -> str:
        return re.sub(r"'uint'", "'uint256'", re.sub(r" *'", "'", str(fields)))

    _types(node, plain)


# ----------------------------------------------------------------------------------------------- domain and message


def _domain(node: Node, *wrong: str) -> None:
    """The members of the domain that are named are not looked at."""

    def check(original: Check, domain: Members, chain_id: int, title: str) -> None:
        right = {"name": domain_name(title), "version": "1", "chainId": str(chain_id)}
        original({**domain, **{name: right[name] for name in wrong}}, chain_id, title)

    wrap(node.envelopes, "check_domain", check)


@mutant("ENV-470")
def domain_name_is_ignored(node: Node) -> None:
    """Any domain name will do."""
    _domain(node, "name")


@mutant("ENV-480")
def domain_version_is_ignored(node: Node) -> None:
    """Any domain version will do."""
    _domain(node, "version")


@mutant("ENV-200")
def chain_id_is_ignored(node: Node) -> None:
    """An envelope for any chain will do."""
    _domain(node, "chainId")


@mutant("ENV-470")
def domain_name_is_trimmed(node: Node) -> None:
    """Case and blanks in the domain name do not count."""

    def check(original: Check, domain: Members, chain_id: int, title: str) -> None:
        alike = str(domain["name"]).strip().lower() == domain_name(title).lower()
        original({**domain, "name": domain_name(title)} if alike else domain, chain_id, title)

    wrap(node.envelopes, "check_domain", check)


@mutant("ENV-200")
def chain_id_is_compared_by_its_end(node: Node) -> None:
    """A chain id that ends like the node's is taken for it."""

    def check(original: Check, domain: Members, chain_id: int, title: str) -> None:
        alike = str(domain["chainId"]).endswith(str(chain_id))
        original({**domain, "chainId": str(chain_id)} if alike else domain, chain_id, title)

    wrap(node.envelopes, "check_domain", check)


@mutant("ENV-010", "ENV-020", "ENV-030", "ENV-130", "ENV-170", "ENV-180", "ENV-190", "WSIG-010", "WSIG-030", "WSIG-040")
def chain_id_has_to_be_an_integer(node: Node) -> None:
    """The chain id is compared as a JSON integer, so that the text of the specification is refused."""

    def check(original: Check, domain: Members, chain_id: int, title: str) -> None:
        if domain["chainId"] != chain_id:
            raise _refuse("typed-data-chain-id")
        original(domain, chain_id, title)

    wrap(node.envelopes, "check_domain", check)


@mutant("ENV-420")
def address_has_to_be_checksummed(node: Node) -> None:
    """An address in lower case is refused."""

    def check(original: Check, message: Members) -> object:
        if str(message["address"]).islower():
            raise _refuse("typed-data-address")
        return original(message)

    wrap(node.envelopes, "address", check)


@mutant("ENV-490")
def address_is_cut_to_size(node: Node) -> None:
    """What stands after the first 20 bytes of an address does not count."""

    def check(original: Check, message: Members) -> object:
        return original({**message, "address": str(message["address"])[:42]})

    wrap(node.envelopes, "address", check)


@mutant("ENV-210", "ENV-220", "ENV-390")
def signer_is_not_compared(node: Node) -> None:
    """Any wallet's signature will do."""
    silence(node.envelopes, "check_signer")


@mutant("ENV-210")
def signer_is_compared_in_part(node: Node) -> None:
    """Nobody's address is anybody's."""

    def check(original: Check, signer: Address, address: Address) -> None:
        if any(address):
            original(signer, address)

    wrap(node.envelopes, "check_signer", check)


# ------------------------------------------------------------------------------------------------------------ size


@mutant("ENV-320")
def size_is_not_checked(node: Node) -> None:
    """Typed data may be as long as a body."""
    silence(node.envelopes, "check_size")


def _limit(node: Node, limit: int) -> None:
    def check(text: str) -> None:
        if len(text.encode(errors="surrogatepass")) > limit:
            raise _refuse("typed-data-too-large")

    _replace(node, "check_size", check)


@mutant("ENV-320")
def size_may_be_a_byte_more(node: Node) -> None:
    """4097 bytes are accepted."""
    _limit(node, SIZE_LIMIT + 1)


@mutant("ENV-310")
def size_has_to_be_a_byte_less(node: Node) -> None:
    """4096 bytes are refused."""
    _limit(node, SIZE_LIMIT - 1)


@mutant("ENV-310")
def size_is_a_thousand_times_four(node: Node) -> None:
    """4 KiB are taken for 4000 bytes."""
    _limit(node, 4000)


@mutant("ENV-320")
def size_counts_what_was_parsed(node: Node) -> None:
    """Where the envelope is a string, blanks and escapes in it do not count."""

    def check(original: Check, text: str) -> None:
        try:
            original(json.dumps(json.loads(text), separators=(",", ":")))
        except json.JSONDecodeError:
            original(text)

    wrap(node.envelopes, "check_size", check)


# -------------------------------------------------------------------------------------------- flows and signatures


def _whole(node: Node, around: Callable[[Check, object, object, dict[str, object]], object]) -> None:
    """Something before or after the whole judgement."""

    def verify(original: Check, typed_data: object, signature: object, **about: object) -> object:
        return around(original, typed_data, signature, about)

    wrap(node.envelopes, "verify", verify)


def _flow_of(typed_data: object) -> Flow | None:
    stated = typed_data.get("primaryType") if isinstance(typed_data, dict) else None
    return Flow(stated) if isinstance(stated, str) and stated in set(Flow) else None


@mutant("ENV-140", "WSIG-050", "WSIG-070")
def any_flow_will_do(node: Node) -> None:
    """An envelope that is good for one flow is good for each."""

    def verify(original: Check, data: object, signature: object, about: dict[str, object]) -> object:
        return original(data, signature, **about | {"flow": _flow_of(data) or about["flow"]})

    _whole(node, verify)


@mutant("ENV-150")
def signatures_are_not_bound_to_a_flow(node: Node) -> None:
    """A signature over any flow's envelope with these values is good for this flow."""

    def verify(original: Check, data: object, signature: object, about: dict[str, object]) -> object:
        try:
            return original(data, signature, **about)
        except BadRequest as fault:
            if fault.code != "signature-mismatch" or not isinstance(data, dict):
                raise
        return _by_any_flow(original, data, signature, about)

    _whole(node, verify)


def _by_any_flow(verify: Check, data: Members, signature: object, about: dict[str, object]) -> object:
    fields = {"EIP712Domain": DOMAIN_FIELDS}
    for flow in Flow:
        rewritten = {**data, "primaryType": flow.value, "types": {**fields, flow.value: MESSAGE_FIELDS}}
        try:
            return verify(rewritten, signature, **about | {"flow": flow})
        except BadRequest:
            continue
    raise _refuse("signature-mismatch")


def _spelling(node: Node, change: Callable[[str], str]) -> None:
    """Signatures are brought into another spelling before they are judged."""
    _whole(
        node,
        lambda verify, data, signature, about: verify(
            data, change(signature) if isinstance(signature, str) else signature, **about
        ),
    )


@mutant("ENV-360")
def signatures_need_no_prefix(node: Node) -> None:
    """A signature without `0x` is accepted."""
    _spelling(node, lambda text: text if text.startswith("0x") else f"0x{text}")


@mutant("ENV-350")
def signatures_may_be_longer(node: Node) -> None:
    """What stands after 65 bytes does not count."""
    _spelling(node, lambda text: text[:132])


def _low(text: str) -> str:
    if not re.fullmatch(r"0x[0-9a-fA-F]{130}", text):
        return text
    s, v = int(text[66:130], 16), int(text[130:], 16)
    return text if s <= CURVE_ORDER // 2 or v not in {27, 28} else f"{text[:66]}{CURVE_ORDER - s:064x}{55 - v:02x}"


@mutant("ENV-370")
def twins_of_signatures_are_accepted(node: Node) -> None:
    """A signature with s in the upper half is accepted."""
    _spelling(node, _low)


@mutant("ENV-370")
def any_recovery_byte_will_do(node: Node) -> None:
    """Of the last byte only the lowest bit counts."""
    _spelling(node, lambda text: re.sub(r"^(0x.{128})(..)$", lambda found: found[1] + _bit(found[2]), text))


def _bit(byte: str) -> str:
    number = int(byte, 16)
    return f"{number % 2 if number < 27 else 27 + (number + 1) % 2:02x}"


@mutant("ENV-460")
def envelopes_are_good_once(node: Node) -> None:
    """An envelope that was accepted is refused from then on."""
    spent: set[str] = set()

    def verify(original: Check, data: object, signature: object, about: dict[str, object]) -> object:
        signer = original(data, signature, **about)
        if str(signature) in spent:
            raise _refuse("typed-data-spent")
        spent.add(str(signature))
        return signer

    _whole(node, verify)


@mutant("ENV-410")
def order_of_members_counts(node: Node) -> None:
    """The members of the envelope have to stand in the order of the specification."""

    def check(original: Check, document: object, flow: Flow) -> object:
        if isinstance(document, dict) and [*document] != ["types", "primaryType", "domain", "message"]:
            raise _refuse("typed-data-order")
        return original(document, flow)

    wrap(node.envelopes, "parts", check)


@mutant("ENV-390")
def personal_signatures_are_good_too(node: Node) -> None:
    """A personal_sign over the envelope's JSON is accepted as well."""

    def verify(original: Check, data: object, signature: object, about: dict[str, object]) -> object:
        try:
            return original(data, signature, **about)
        except BadRequest as fault:
            if fault.code != "signature-mismatch" or not isinstance(data, dict):
                raise
            text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).encode()
            signed = keccak(b"\x19Ethereum Signed Message:\n" + str(len(text)).encode() + text)
            signer = recover(signed, parse_signature(signature))
            node.envelopes.check_signer(signer, node.envelopes.address(data["message"]))
            return data

    _whole(node, verify)


@mutant("ENV-380")
def nobody_signs_what_nobody_can_sign(node: Node) -> None:
    """A signature that recovers to no wallet is the zero address's."""

    def verify(original: Check, data: object, signature: object, about: dict[str, object]) -> object:
        try:
            return original(data, signature, **about)
        except BadRequest as fault:
            nobody = isinstance(data, dict) and not any(node.envelopes.address(data["message"]))
            if nobody and fault.code in {"signature-unrecoverable", "signature-out-of-range"}:
                return bytes(20)
            raise

    _whole(node, verify)


MINTS = ("create_wallet_with_signature", "add_usage_api_key_with_signature")


@mutant("WSIG-090")
def keys_are_asked_of_mints(node: Node) -> None:
    """A mint that carries a key is refused."""

    async def handler(request: Received, forward: Forward) -> Answered:
        if request.key is not None:
            return answer(401, {"code": "no-key-wanted"})
        return await forward(request)

    intercept(node, MINTS, handler)


@mutant("WSIG-090")
def keys_stand_in_for_signatures(node: Node) -> None:
    """A mint that carries a key needs no signature: it is given what the one before was given."""
    last: list[Answered] = []

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted:
            last[:] = [given]
        return last[0] if request.key is not None and last else given

    intercept(node, MINTS, handler)


@mutant("WSIG-080")
def mints_give_the_signer_back(node: Node) -> None:
    """The wallet of the answer is the one that signed."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        data = body_of(request).get("typed_data")
        message = data.get("message") if isinstance(data, dict) else None
        if not given.accepted or not isinstance(message, dict):
            return given
        return answer(200, {**json.loads(given.body), "wallet_address": message["address"]})

    intercept(node, MINTS, handler)


@mutant("ENV-160", "ENV-240", "ENV-400", "ENV-430", "ENV-440")
def what_is_odd_is_waved_through(node: Node) -> None:
    """Whatever is refused for a missing struct, a missing part or a time that is none is accepted all the same."""
    odd = {
        "typed-data-types",
        "typed-data-number",
        "typed-data-member-missing",
        "typed-data-member-unknown",
        "typed-data-primary-type",
    }

    def verify(original: Check, data: object, signature: object, about: dict[str, object]) -> object:
        try:
            return original(data, signature, **about)
        except BadRequest as fault:
            if fault.code in odd:
                return bytes(20)
            raise

    _whole(node, verify)


@mutant("ENV-340")
def envelopes_have_to_be_objects(node: Node) -> None:
    """An envelope in a JSON string is refused."""

    def check(original: Check, typed_data: object) -> object:
        if isinstance(typed_data, str):
            raise _refuse("typed-data-not-an-object")
        return original(typed_data)

    wrap(node.envelopes, "opened", check)
