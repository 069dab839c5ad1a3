"""The suite's own EIP-712, and the requests that rows of the driver `typed_data` stand for."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_keys.datatypes import Signature

from conformance.drivers.envelopes.changes import Change, applied
from conformance.drivers.envelopes.forms import EnvelopeRow, Padding
from conformance.drivers.envelopes.requests import PADDINGS, Changes, Proof, Signers, proofs
from conformance.drivers.envelopes.signatures import SIGNATURES, Kind, Signing
from conformance.values.typed_data import CURVE_ORDER, Wallet, digest, envelope

SIGNERS = Signers("Service ChainSecured", 31337, Wallet("one"), Wallet("two"))


def valid() -> dict[str, object]:
    return SIGNERS.valid("CreateWallet", 1_700_000_000)


def changed(*changes: dict[str, object]) -> dict[str, object]:
    return {**applied(valid(), [Change.model_validate(change) for change in changes])}  # type: ignore[arg-type]  # JSON


def made(row: EnvelopeRow, *changes: Change, signed: list[Change] | None = None, form: str = "object") -> list[Proof]:
    return list(proofs(row, Changes(list(changes), signed), valid(), SIGNERS, form))


@pytest.mark.parametrize(
    "changes",
    [
        [],
        [{"reverse": "types.CreateWallet"}],
        [
            {"insert": "types.CreateWallet", "to": {"name": "nonce", "type": "uint256"}},
            {"set": "message.nonce", "to": "7"},
        ],
        [{"set": "types.CreateWallet.1.type", "to": "string"}],
        [{"set": "domain.name", "to": "Sérvice"}],
        [{"delete": "types.EIP712Domain.1"}, {"delete": "domain.version"}],
    ],
    ids=str,
)
def test_digest_is_the_one_of_eth_account(changes: list[dict[str, object]]) -> None:
    document = changed(*changes)
    wallet = SIGNERS.wallet
    signature = wallet.sign(digest(document)).text

    signer = Account.recover_message(encode_typed_data(full_message=document), signature=signature)

    assert signer == wallet.address


def test_order_of_domain_fields_is_in_the_digest() -> None:
    assert digest(changed({"reverse": "types.EIP712Domain"})) != digest(valid())


def test_wallets_are_decided_by_their_seed() -> None:
    assert Wallet("one").address == SIGNERS.wallet.address != SIGNERS.other.address


def test_twin_of_a_signature_recovers_to_the_same_wallet() -> None:
    hashed = digest(valid())
    r, s, v = SIGNERS.wallet.sign(hashed).twin

    assert s > CURVE_ORDER // 2
    key = Signature(vrs=(v - 27, r, s)).recover_public_key_from_msg_hash(hashed)
    assert key.to_checksum_address() == SIGNERS.wallet.address


def test_malformed_envelope_has_a_digest() -> None:
    assert len(digest({"types": 7, "primaryType": None, "domain": [], "message": {"issuedAt": float("inf")}})) == 32


@pytest.mark.parametrize("way", get_args(Padding))
@pytest.mark.parametrize("size", [4095, 4096, 4097])
def test_padding_gives_exactly_the_size_and_the_same_values(way: Padding, size: int) -> None:
    text = json.dumps(valid(), separators=(",", ":"))

    padded = PADDINGS[way](text, size)

    assert len(padded.encode()) == size
    values = json.loads(padded)
    values.pop("padding", None)
    assert values == valid()


def test_every_kind_of_signature_can_be_made_and_only_two_spell_the_right_one() -> None:
    signing = Signing(SIGNERS.wallet, SIGNERS.other, digest(valid()), "{}")

    texts = {kind: SIGNATURES[kind](signing) for kind in get_args(Kind)}

    right = signing.right.text
    same = [kind for kind, text in texts.items() if str(text)[:2] == "0x" and str(text).lower() == right]
    assert same == ["plain", "upper_digits"]


def test_refused_row_is_signed_as_it_stands_and_as_it_was() -> None:
    sent = made(EnvelopeRow(id="row"), Change(reverse="types.CreateWallet"))

    turned = changed({"reverse": "types.CreateWallet"})
    assert [proof.digest for proof in sent] == [digest(turned), digest(valid())]
    assert [proof.signature for proof in sent] == [SIGNERS.wallet.sign(proof.digest).text for proof in sent]
    assert [proof.as_sent for proof in sent] == [True, False]
    assert [json.loads(proof.typed_data) for proof in sent] == [turned, turned]


def test_row_can_sign_another_envelope_than_it_sends() -> None:
    (proof,) = made(EnvelopeRow(id="row"), signed=[Change(set="domain.chainId", to="1")])

    assert json.loads(proof.typed_data) == valid()
    assert proof.digest == digest(changed({"set": "domain.chainId", "to": "1"}))
    assert not proof.as_sent


def test_member_can_stand_twice() -> None:
    (proof,) = made(EnvelopeRow(id="row"), Change(twice="domain.name", to="again"))

    assert proof.typed_data.count('"name":"Service ChainSecured"') == 1
    assert proof.typed_data.count('"name":"again"') == 1


def test_string_form_holds_the_envelope() -> None:
    (proof,) = made(EnvelopeRow(id="row", accepted=True), form="string")

    assert json.loads(json.loads(proof.typed_data)) == valid()


def test_request_holds_what_the_row_says() -> None:
    row = EnvelopeRow(id="row", accepted=True, without="signature", signature_first=True)
    (proof,) = made(row)

    assert [*json.loads(proof.text(row, {"new_admin_wallet_address": "0xA"}))] == [
        "new_admin_wallet_address",
        "typed_data",
    ]


def test_envelope_is_the_one_of_the_specification() -> None:
    assert envelope("BillingAuth", name="N", chain_id=1, address="0xA", issued_at=2) == {
        "types": {
            "EIP712Domain": [
                {"name": "name", "type": "string"},
                {"name": "version", "type": "string"},
                {"name": "chainId", "type": "uint256"},
            ],
            "BillingAuth": [{"name": "address", "type": "address"}, {"name": "issuedAt", "type": "uint256"}],
        },
        "primaryType": "BillingAuth",
        "domain": {"name": "N", "version": "1", "chainId": "1"},
        "message": {"address": "0xA", "issuedAt": "2"},
    }
