"""The judge of envelopes: what it accepts, and the code of each fault (specification, "Typed-data envelope")."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from envelopes import Envelope, envelope, sign
from judging import ADDRESS, CHAIN_ID, FLOW, NOW, SIGNATURE, WALLET, code, valid, verify

from reference_node.permission.typed_data import SIZE_LIMIT, UINT256_MAX, Envelopes, Flow

ROOT = Path(__file__).resolve().parents[2]

Change = Callable[[Envelope], object]


@pytest.mark.parametrize("flow", Flow)
def test_canonical_envelope_is_accepted_for_its_own_flow_alone(flow: Flow) -> None:
    signature = sign(WALLET, valid(flow))
    assert verify(valid(flow), signature, flow) == ADDRESS
    for other in set(Flow) - {flow}:
        assert code(valid(flow), signature, flow=other) == "typed-data-primary-type"
        rewritten = valid(flow) | {"primaryType": other.value}
        assert code(rewritten, signature, flow=other) == "typed-data-types"
        assert code(valid(other), signature, flow=other) == "signature-mismatch"


def test_order_of_members_and_case_of_the_address_mean_nothing() -> None:
    def reversed_members(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: reversed_members(value[name]) for name in reversed(value)}
        return [reversed_members(entry) for entry in value] if isinstance(value, list) else value

    assert verify(reversed_members(valid()), SIGNATURE) == ADDRESS
    for spelt in (
        WALLET.address.lower(),
        "0x" + WALLET.address[2:].upper(),
        WALLET.address.swapcase().replace("X", "x"),
    ):
        changed = valid()
        changed["message"]["address"] = spelt
        assert verify(changed, SIGNATURE) == ADDRESS


def test_string_that_holds_the_envelope_is_accepted() -> None:
    assert verify(json.dumps(valid()), SIGNATURE) == ADDRESS
    assert verify(json.dumps(valid(), indent=4), SIGNATURE) == ADDRESS
    assert verify(json.dumps(valid()).replace("CreateWallet", "\\u0043reateWallet"), SIGNATURE) == ADDRESS


# Size


def padded(size: int, filler: str = " ") -> str:
    text = json.dumps(valid(), separators=(",", ":"))
    return text + filler * (size - len(text))


@pytest.mark.parametrize("filler", [" ", "\n", "\t"])
def test_string_of_exactly_4096_bytes_is_accepted_and_of_one_more_refused(filler: str) -> None:
    for size in (SIZE_LIMIT - 1, SIZE_LIMIT):
        assert verify(padded(size, filler), SIGNATURE) == ADDRESS
    assert code(padded(SIZE_LIMIT + 1, filler), SIGNATURE) == "typed-data-too-large"


def test_object_counts_the_bytes_of_its_compact_serialisation() -> None:
    for filler, width in (("x", 1), ("ß", 2), ("語", 3), ("🔥", 4), ('"', 2)):
        document = valid() | {"note": ""}
        free = SIZE_LIMIT - len(json.dumps(document, separators=(",", ":")))
        document["note"] = filler * (free // width) + "x" * (free % width)
        assert code(document, SIGNATURE) == "typed-data-member-unknown"
        document["note"] += "x"
        assert code(document, SIGNATURE) == "typed-data-too-large"


def test_string_counts_bytes_and_not_characters_and_as_it_came() -> None:
    text = padded(SIZE_LIMIT + 1)
    assert code(text.replace("  ", "語", 1), SIGNATURE) == "typed-data-too-large"
    assert code(json.dumps(valid(), indent=150), SIGNATURE) == "typed-data-too-large"


def test_size_is_looked_at_before_anything_else() -> None:
    assert code("x" * (SIZE_LIMIT + 1), None) == "typed-data-too-large"
    assert code(["x" * SIZE_LIMIT], None) == "typed-data-too-large"


# Shape


@pytest.mark.parametrize("document", [None, True, 5, 1.5, [], [{}], "5", "null", '"x"', "[]"])
def test_what_is_no_object_is_refused(document: object) -> None:
    assert code(document, SIGNATURE) == "typed-data-not-an-object"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "typed-data-not-json"),
        ("{", "typed-data-not-json"),
        ("{} {}", "typed-data-not-json"),
        ('{"types": NaN}', "typed-data-not-json"),
        ("[" * 100 + "]" * 100, "typed-data-too-deep"),
        ('{"types": 1, "types": 1}', "duplicate-member"),
        ('{"domain": {"name": "a", "\\u006eame": "a"}}', "duplicate-member"),
        ('{"types": "\\ud800"}', "lone-surrogate"),
        ("\ud800", "typed-data-not-utf8"),
        ('{"types": 1e999}', "number-out-of-range"),
    ],
)
def test_string_that_is_no_strict_json_is_refused(text: str, expected: str) -> None:
    assert code(text, SIGNATURE) == expected


PLACES: list[tuple[str, ...]] = [(), ("domain",), ("message",)]


def at(document: Envelope, place: tuple[str, ...]) -> Envelope:
    for name in place:
        document = document[name]
    return document


@pytest.mark.parametrize("place", PLACES, ids=".".join)
def test_every_member_is_needed_and_no_other_is_taken(place: tuple[str, ...]) -> None:
    for name in at(valid(), place):
        lacking = valid()
        del at(lacking, place)[name]
        assert code(lacking, SIGNATURE) == "typed-data-member-missing"
    for extra in ("salt", "", "Types", "__proto__", "verifyingContract"):
        more = valid()
        at(more, place)[extra] = None
        assert code(more, SIGNATURE) == "typed-data-member-unknown"


@pytest.mark.parametrize("part", ["domain", "message"])
@pytest.mark.parametrize("value", [None, [], "{}", 1])
def test_domain_and_message_are_objects(part: str, value: object) -> None:
    assert code(valid() | {part: value}, SIGNATURE) == "typed-data-not-an-object"


def set_field(struct: str, index: int, **members: object) -> Change:
    return lambda document: document["types"][struct][index].update(members)


TYPES: dict[str, Change] = {
    "no domain struct": lambda d: d["types"].pop("EIP712Domain"),
    "no struct of the flow": lambda d: d["types"].pop(FLOW.value),
    "another flow's struct beside it": lambda d: d["types"].update({"BillingAuth": d["types"][FLOW.value]}),
    "an empty struct more": lambda d: d["types"].update({"Other": []}),
    "null": lambda d: d.update(types=None),
    "a list": lambda d: d.update(types=[]),
    "a struct that is null": lambda d: d["types"].update({FLOW.value: None}),
    "a struct as an object": lambda d: d["types"].update({FLOW.value: {"address": "address", "issuedAt": "uint256"}}),
    "domain fields reversed": lambda d: d["types"]["EIP712Domain"].reverse(),
    "message fields reversed": lambda d: d["types"][FLOW.value].reverse(),
    "a domain field twice": lambda d: d["types"]["EIP712Domain"].append(d["types"]["EIP712Domain"][0]),
    "a domain field more": lambda d: d["types"]["EIP712Domain"].append({"name": "salt", "type": "bytes32"}),
    "a domain field less": lambda d: d["types"]["EIP712Domain"].pop(),
    "a message field more": lambda d: d["types"][FLOW.value].append({"name": "nonce", "type": "uint256"}),
    "a message field less": lambda d: d["types"][FLOW.value].pop(),
    "a field with a member more": set_field(FLOW.value, 0, internalType="address"),
    "a field without a type": lambda d: d["types"][FLOW.value][0].pop("type"),
    "a field that is null": lambda d: d["types"][FLOW.value].insert(0, None),
    "a field renamed": set_field(FLOW.value, 0, name="Address"),
    "chainId as uint": set_field("EIP712Domain", 2, type="uint"),
    "chainId as uint64": set_field("EIP712Domain", 2, type="uint64"),
    "chainId as 'uint256 '": set_field("EIP712Domain", 2, type="uint256 "),
    "issuedAt as string": set_field(FLOW.value, 1, type="string"),
    "address as bytes20": set_field(FLOW.value, 0, type="bytes20"),
    "address as Address": set_field(FLOW.value, 0, type="Address"),
    "a type that is null": set_field(FLOW.value, 0, type=None),
}


@pytest.mark.parametrize("change", TYPES.values(), ids=TYPES.keys())
def test_types_that_differ_in_anything_are_refused(change: Change) -> None:
    document = valid()
    change(document)
    assert code(document, SIGNATURE) == "typed-data-types"


@pytest.mark.parametrize("primary", [None, 1, [], "", "createWallet", "CreateWallet ", "EIP712Domain", "Mint"])
def test_other_primary_type_is_refused(primary: object) -> None:
    assert code(valid() | {"primaryType": primary}, SIGNATURE) == "typed-data-primary-type"


# Values


@pytest.mark.parametrize("name", [None, 1, "", "Service ChainSecured ", "service chainsecured", "ServiceChainSecured"])
def test_other_domain_name_is_refused(name: object) -> None:
    document = valid()
    document["domain"]["name"] = name
    assert code(document, SIGNATURE) == "typed-data-domain-name"


def test_domain_name_has_the_brand_word_of_the_node() -> None:
    document = valid()
    document["domain"]["name"] = "Brand ChainSecured"
    signature = sign(WALLET, document)
    verdict = Envelopes().verify(document, signature, flow=FLOW, chain_id=CHAIN_ID, now=NOW, title="Brand")
    assert verdict == ADDRESS
    assert code(document, signature) == "typed-data-domain-name"


@pytest.mark.parametrize("version", [None, 1, "", "2", "1.0", "01", " 1"])
def test_other_domain_version_is_refused(version: object) -> None:
    document = valid()
    document["domain"]["version"] = version
    assert code(document, SIGNATURE) == "typed-data-domain-version"


NO_NUMBERS: list[object] = [
    None, True, 1.5, [], {}, "", " 31337", "31337 ", "+31337", "-31337", "031337", "31_337", "31337.0", "3.1337e4",
    "1e3", "٣١٣٣٧", "0x", "0X7a69", "0x07a69", "0xg", "7a69", -1, UINT256_MAX + 1, str(UINT256_MAX + 1),
    str(2**256 + CHAIN_ID), hex(2**256 + CHAIN_ID), 2**256 + CHAIN_ID, "9" * 4000,
]  # fmt: skip


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: repr(value)[:24])
@pytest.mark.parametrize(("part", "name"), [("domain", "chainId"), ("message", "issuedAt")])
def test_what_is_no_uint256_in_plain_digits_is_refused(part: str, name: str, value: object) -> None:
    document = valid()
    document[part][name] = value
    assert code(document, SIGNATURE) in {"typed-data-number", "typed-data-too-large"}


@pytest.mark.parametrize("digits", ["31337.0", "3.1337e4", "313370e-1"])
def test_number_with_fraction_or_exponent_is_refused_though_it_is_whole(digits: str) -> None:
    text = json.dumps(valid()).replace('"31337"', digits)
    assert code(text, SIGNATURE) == "typed-data-number"


@pytest.mark.parametrize("form", [str, int, hex, lambda number: hex(number).upper().replace("X", "x")])
def test_numbers_may_be_decimal_strings_integers_or_hex_strings(form: Callable[[int], object]) -> None:
    document = valid()
    document["domain"]["chainId"] = form(CHAIN_ID)
    document["message"]["issuedAt"] = form(NOW)
    assert verify(document, SIGNATURE) == ADDRESS
    assert verify(json.dumps(document), SIGNATURE) == ADDRESS


@pytest.mark.parametrize("chain_id", [0, 1, CHAIN_ID - 1, CHAIN_ID + 1, CHAIN_ID + 2**64, UINT256_MAX])
def test_other_chain_is_refused(chain_id: int) -> None:
    document = envelope(FLOW, WALLET, NOW, chain_id)
    signature = sign(WALLET, document)
    assert code(document, signature) == "typed-data-chain-id"
    assert verify(document, signature, chain_id=chain_id) == ADDRESS


NO_ADDRESSES: list[object] = [
    None, 0, "", "0x", WALLET.address[:-1], WALLET.address + "0", WALLET.address[2:], "0X" + WALLET.address[2:],
    "vitalik.eth", " " + WALLET.address, "0x" + "g" * 40,
]  # fmt: skip


@pytest.mark.parametrize("address", NO_ADDRESSES)
def test_what_is_no_address_is_refused(address: object) -> None:
    document = valid()
    document["message"]["address"] = address
    assert code(document, SIGNATURE) == "typed-data-address"


@pytest.mark.parametrize("offset", [-300, -299, -1, 0, 1, 299, 300])
def test_window_is_300_seconds_either_way_inclusive(offset: int) -> None:
    document = envelope(FLOW, WALLET, NOW + offset)
    assert verify(document, sign(WALLET, document)) == ADDRESS


@pytest.mark.parametrize(
    ("issued_at", "expected"),
    [
        (NOW - 301, "typed-data-expired"),
        (0, "typed-data-expired"),
        (NOW + 301, "typed-data-not-yet-valid"),
        (NOW * 1000, "typed-data-not-yet-valid"),
        (2**63, "typed-data-not-yet-valid"),
        (2**64 + NOW, "typed-data-not-yet-valid"),
        (UINT256_MAX, "typed-data-not-yet-valid"),
    ],
)
def test_outside_the_window_is_refused(issued_at: int, expected: str) -> None:
    document = envelope(FLOW, WALLET, issued_at)
    assert code(document, sign(WALLET, document)) == expected


def test_every_code_is_documented() -> None:
    documented = set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", (ROOT / "docs" / "typed-data.md").read_text()))
    package = ROOT / "reference_node"
    sources = [
        package / name
        for name in (
            "permission/typed_data.py",
            "permission/signatures.py",
            "api/wallet_auth.py",
            "api/signed_flows.py",
        )
    ]
    raised = {code for source in sources for code in re.findall(r'BadRequest\(\s*"([a-z0-9-]+)"', source.read_text())}
    assert len(raised) > 15
    assert raised <= documented
