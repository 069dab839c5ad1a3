"""The judge of envelopes: the code of each fault, and that no input makes anything but a refusal.

What it accepts and refuses is proved by the shipped vectors (`tests/chain/test_envelope_vectors.py`).
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from envelopes import Envelope, envelope, new_wallet, sign
from eth_account import Account
from eth_account.signers.local import LocalAccount
from hypothesis import given
from hypothesis import strategies as st

from reference_node.permission.keys import CURVE_ORDER
from reference_node.permission.typed_data import SIZE_LIMIT, UINT256_MAX, Envelopes, Flow
from reference_node.problems import BadRequest

ROOT = Path(__file__).resolve().parents[2]
NOW = 1_750_000_000
CHAIN_ID = 31337
WALLET: LocalAccount = Account.from_key("0x" + "11" * 32)
ADDRESS = bytes.fromhex(WALLET.address[2:])
FLOW = Flow.CREATE_WALLET


def verify(typed_data: object, signature: object) -> bytes:
    """The wallet that signed, as the judge has it."""
    return Envelopes().verify(typed_data, signature, flow=FLOW, chain_id=CHAIN_ID, now=NOW, title="Service")


def code(typed_data: object, signature: object) -> str:
    """The code of the refusal."""
    with pytest.raises(BadRequest) as refusal:
        verify(typed_data, signature)
    assert refusal.value.detail
    return refusal.value.code


def valid() -> Envelope:
    """A fresh copy of the valid envelope."""
    return envelope(FLOW, WALLET, NOW, CHAIN_ID)


SIGNATURE = sign(WALLET, valid())


# Codes


def put(part: str, name: str, value: object) -> Callable[[Envelope], object]:
    return lambda document: document[part].update({name: value})


FAULTS: dict[str, tuple[Callable[[Envelope], object], str]] = {
    "another flow": (lambda d: d.update(primaryType="BillingAuth"), "typed-data-primary-type"),
    "types in another order": (lambda d: d["types"][FLOW.value].reverse(), "typed-data-types"),
    "a field with a member more": (
        lambda d: d["types"][FLOW.value][0].update(internalType="address"),
        "typed-data-types",
    ),
    "a member less": (lambda d: d["message"].pop("issuedAt"), "typed-data-member-missing"),
    "a member more": (put("domain", "salt", None), "typed-data-member-unknown"),
    "a message that is a text": (lambda d: d.update(message="{}"), "typed-data-not-an-object"),
    "another name": (put("domain", "name", "ServiceChainSecured"), "typed-data-domain-name"),
    "another version": (put("domain", "version", 1), "typed-data-domain-version"),
    "another chain": (put("domain", "chainId", str(CHAIN_ID + 2**64)), "typed-data-chain-id"),
    "no address": (put("message", "address", WALLET.address[2:]), "typed-data-address"),
    "too old by a second": (put("message", "issuedAt", str(NOW - 301)), "typed-data-expired"),
    "too early by a second": (put("message", "issuedAt", str(NOW + 301)), "typed-data-not-yet-valid"),
    "an end of the range": (put("message", "issuedAt", str(UINT256_MAX)), "typed-data-not-yet-valid"),
    "the other end": (put("message", "issuedAt", 0), "typed-data-expired"),
    "a number beyond the range": (put("message", "issuedAt", str(UINT256_MAX + 1)), "typed-data-number"),
    "a changed value": (put("message", "issuedAt", str(NOW + 1)), "signature-mismatch"),
}


@pytest.mark.parametrize(("change", "expected"), FAULTS.values(), ids=FAULTS.keys())
def test_fault_of_an_envelope_has_its_code(change: Callable[[Envelope], object], expected: str) -> None:
    document = valid()
    change(document)
    assert code(document, SIGNATURE) == expected


R, S, V = int(SIGNATURE[2:66], 16), int(SIGNATURE[66:130], 16), int(SIGNATURE[130:], 16)


def written(r: int, s: int, v: int) -> str:
    return f"0x{r:064x}{s:064x}{v:02x}"


@pytest.mark.parametrize(
    ("signature", "expected"),
    [
        (None, "signature-malformed"),
        (SIGNATURE[2:], "signature-malformed"),
        (SIGNATURE + "\n", "signature-malformed"),
        ("0x" + "\u0660" * 130, "signature-malformed"),
        (written(R, S, 2), "signature-recovery-byte"),
        (written(0, S, V), "signature-out-of-range"),
        (written(R, 0, V), "signature-out-of-range"),
        (written(CURVE_ORDER, S, V), "signature-out-of-range"),
        (written(R, CURVE_ORDER, V), "signature-out-of-range"),
        (written(R, CURVE_ORDER - S, 55 - V), "signature-high-s"),
        (written(5, S, V), "signature-unrecoverable"),
        (sign(new_wallet(), valid()), "signature-mismatch"),
    ],
)
def test_fault_of_a_signature_has_its_code(signature: object, expected: str) -> None:
    assert code(valid(), signature) == expected


def test_cheap_faults_are_told_before_those_of_the_signature() -> None:
    late = envelope(FLOW, WALLET, NOW - 301)
    assert code(late, "0x") == "typed-data-expired"


def test_every_code_is_documented() -> None:
    documented = set(re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", (ROOT / "docs" / "typed-data.md").read_text()))
    package = ROOT / "reference_node"
    names = ("permission/typed_data.py", "permission/signatures.py", "api/wallet_auth.py", "api/signed_flows.py")
    sources = [(package / name).read_text() for name in names]
    raised = {code for source in sources for code in re.findall(r'BadRequest\(\s*"([a-z0-9-]+)"', source)}
    assert len(raised) > 15
    assert raised <= documented


# Size and form


def test_object_counts_the_bytes_of_its_compact_serialisation() -> None:
    for filler, width in (("x", 1), ("ß", 2), ("語", 3), ("🔥", 4), ('"', 2)):
        document = valid() | {"note": ""}
        free = SIZE_LIMIT - len(json.dumps(document, separators=(",", ":")))
        document["note"] = filler * (free // width) + "x" * (free % width)
        assert code(document, SIGNATURE) == "typed-data-member-unknown"
        document["note"] += "x"
        assert code(document, SIGNATURE) == "typed-data-too-large"


def test_string_counts_bytes_and_not_characters_and_as_it_came() -> None:
    text = json.dumps(valid(), separators=(",", ":"))
    assert verify(text.ljust(SIZE_LIMIT), SIGNATURE) == ADDRESS
    assert code(text.ljust(SIZE_LIMIT - 1) + "語", SIGNATURE) == "typed-data-too-large"


@pytest.mark.parametrize("text", ["x" * (SIZE_LIMIT + 1), ["x" * SIZE_LIMIT]], ids=["a text", "an array"])
def test_size_is_looked_at_before_anything_else(text: object) -> None:
    assert code(text, None) == "typed-data-too-large"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "typed-data-not-json"),
        ("{} {}", "typed-data-not-json"),
        ('{"types": NaN}', "typed-data-not-json"),
        ("[]", "typed-data-not-an-object"),
        ("[" * 100 + "]" * 100, "typed-data-too-deep"),
        ('{"domain": {"name": "a", "\\u006eame": "a"}}', "duplicate-member"),
        ('{"types": "\\ud800"}', "lone-surrogate"),
        ("\ud800", "typed-data-not-utf8"),
        ('{"types": 1e999}', "number-out-of-range"),
        (json.dumps(valid()).replace('"31337"', "3.1337e4"), "typed-data-number"),
    ],
)
def test_string_that_is_no_strict_json_is_refused(text: str, expected: str) -> None:
    assert code(text, SIGNATURE) == expected


# Whatever comes in


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from(["0x", "1", SIGNATURE]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


def places(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path into a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for name, part in inner for found in places(part, (*path, name)))]


@st.composite
def spoilt(draw: st.DrawFn) -> object:
    """A valid envelope with something else in one place, or the place gone, as an object or serialised."""
    document: Any = copy.deepcopy(valid())
    path = draw(st.sampled_from(places(document)[1:]))
    holder = document
    for name in path[:-1]:
        holder = holder[name]
    if draw(st.booleans()):
        holder[path[-1]] = draw(JSON)
    else:
        del holder[path[-1]]
    return json.dumps(document) if draw(st.booleans()) else document


@given(document=JSON | spoilt() | st.text(), signature=JSON | st.just(SIGNATURE))
def test_whatever_comes_in_is_accepted_or_refused_and_nothing_else(document: object, signature: object) -> None:
    try:
        signer = verify(document, signature)
    except BadRequest:
        return
    assert signer == ADDRESS
