"""ContractWallet: an ERC-1271 signer that may also act as the owner of an account."""

from __future__ import annotations

import pytest
from deployed import Deployed, Wallet
from world import OWNER, STRANGER, World, hash_of

DIGEST, OTHER_DIGEST = hash_of("signed"), hash_of("not signed")
VALID, INVALID = bytes.fromhex("1626ba7e"), bytes.fromhex("ffffffff")


@pytest.fixture
def wallet(world: World) -> Deployed:
    return Deployed(world.config.chain, "ContractWallet", (OWNER.address,), STRANGER)


def signature(signer: Wallet, digest: bytes = DIGEST) -> bytes:
    compact = signer.key.sign_msg_hash(digest).to_bytes()
    return compact[:64] + bytes([compact[64] + 27])


def test_owners_signature_is_valid(wallet: Deployed) -> None:
    assert wallet.call("isValidSignature", DIGEST, signature(OWNER)) == VALID


@pytest.mark.parametrize(
    "wrong",
    [
        signature(STRANGER),
        signature(OWNER, OTHER_DIGEST),
        signature(OWNER)[:64],
        signature(OWNER) + b"\0",
        signature(OWNER)[:64] + b"\x00",
        bytes(65),
        b"",
    ],
    ids=["stranger", "other digest", "too short", "too long", "wrong v", "zeros", "empty"],
)
def test_any_other_signature_is_not(wallet: Deployed, wrong: bytes) -> None:
    assert wallet.call("isValidSignature", DIGEST, wrong) == INVALID


def test_zero_owner_has_no_valid_signature(world: World) -> None:
    ownerless = Deployed(world.config.chain, "ContractWallet", ("0x" + bytes(20).hex(),), STRANGER)
    assert ownerless.call("isValidSignature", DIGEST, bytes(65)) == INVALID


def test_refusal_of_the_target_comes_back(world: World, wallet: Deployed) -> None:
    call = world.config.interface.call_data("setApiPayers", ([],))
    receipt = wallet.receipt("execute", world.config.address, call, sender=OWNER)
    assert world.config.interface.refusal(receipt.revert_data) == ("AdminPayerOnly", wallet.address)


def test_nobody_else_acts_through_it(world: World, wallet: Deployed) -> None:
    call = world.config.interface.call_data("newChainSecuredAccount", ("", ""))
    refusal = wallet.refusal("execute", world.config.address, call, sender=STRANGER)
    assert refusal == ("NotOwner", STRANGER.address)
