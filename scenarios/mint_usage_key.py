"""Usage keys minted by signature, where cases compute ("States and transitions / Minted wallet or usage key")."""

from __future__ import annotations

from conformance.cases import Judge, case
from conformance.service.derivations import base64_of, bytes_of_base64
from conformance.service.node import Node
from conformance.service.refusal import was_accepted
from conformance.service.runs import address_of_private_key
from conformance.service.secrecy import distinct_bytes, shared_prefix
from conformance.values.ids import is_address
from conformance.values.json_values import MISSING, member, pluck, printed, same_hex

MINT = "add_usage_api_key_with_signature"
IDENTITY = ("wallet_address", "derivation_path")


@case("mints", requirements=["MINT-080", "MINT-090", "MINT-210"])
def mints(judge: Judge, node: Node) -> None:
    """Any wallet's signature mints a secret of 32 bytes, a wallet and its path."""
    carol = node.wallets.new("carol")
    request = node.minting.request(MINT, carol)
    with judge("MINT-080", "MINT-210"):
        minted = node.session.accept(request)[0].value
    key, address, path = (member(minted, name) for name in ("usage_api_key", "wallet_address", "derivation_path"))
    with judge("MINT-080"):
        judge.that(is_address(address), "a wallet_address (0x, 40 hex digits, EIP-55)", address)
        judge.that(not same_hex(address, carol.address), "another wallet than the signer's", address)
        judge.that(path not in (None, MISSING), "a derivation_path", path)
        judge.that(isinstance(key, str), "a usage_api_key", key)
    with judge("MINT-090"):
        secret = bytes_of_base64(printed(key))
        judge.same(len(secret), 32, "the number of secret bytes")
        judge.same(base64_of(secret), key, "standard base64 with its padding")


@case(
    "wallet-of-the-secret",
    requirements=["MINT-080"],
    uses=[{"crypto.usage_key_wallet_derivation": "secret_is_private_key"}],
)
def wallet_of_the_secret(judge: Judge, node: Node) -> None:
    """The minted wallet is the one that follows from the secret, where the profile says that it does."""
    request = node.minting.request(MINT, node.wallets.new("carol"))
    with judge():
        minted = node.session.accept(request)[0].value
    secret = bytes_of_base64(printed(member(minted, "usage_api_key"))).hex()
    with judge():
        judge.same_hex(member(minted, "wallet_address"), address_of_private_key(secret), "the minted wallet")


@case("beside-a-wallet-mint", requirements=["MINT-100"])
def beside_a_wallet_mint(judge: Judge, node: Node) -> None:
    """A wallet and a usage key that one signer mints in the same second have nothing in common."""
    carol = node.wallets.new("carol")
    for _ in range(4):
        requests = [node.minting.request(operation, carol) for operation in ("create_wallet_with_signature", MINT)]
        wallet, key = (node.session.accept(request)[0].value for request in requests)
        of_wallet, of_key = ([printed(member(one, name)) for name in IDENTITY] for one in (wallet, key))
        secret = bytes_of_base64(printed(member(key, "usage_api_key"))).hex()
        for name, one, other in zip(IDENTITY, of_wallet, of_key, strict=True):
            with judge.apart():
                judge.that(one.lower() != other.lower(), f"another {name} than that of the minted wallet", other)
        with judge():
            opened = address_of_private_key(secret)
            judge.that(
                not same_hex(opened, member(wallet, "wallet_address")),
                "a secret that is not the private key of the minted wallet",
                opened,
            )


@case("again", requirements=["MINT-100", "MINT-190"])
def again(judge: Judge, node: Node) -> None:
    """Every call gives another secret, another wallet and another path, also for the same request."""
    request = node.minting.request(MINT, node.wallets.new("carol"))
    minted = []
    for _ in range(4):
        with judge("MINT-190"):
            minted.append(node.session.accept(request)[0].value)
            lists = node.session.send(node.session.request("list_groups", printed(member(minted[-1], "usage_api_key"))))
            accepted = was_accepted(node.session, lists, or_refused=["any"])
            judge.that(not accepted, "a minted key that nobody attached to open nothing", lists.text)
    for name in ("usage_api_key", "wallet_address", "derivation_path"):
        with judge.apart("MINT-100", "MINT-190"):
            judge.distinct(pluck(minted, name), f"values of {name} in the answers to one envelope")
    keys = [*map(printed, pluck(minted, "usage_api_key"))]
    secrets = [bytes_of_base64(key) for key in keys]
    with judge("MINT-100"):
        # Four random secrets begin with the same byte once in sixteen million runs.
        judge.that(shared_prefix(secrets) <= 1, "random secrets, no two of which begin alike", keys)
        # Four random secrets of 32 bytes hold 101 different bytes on the average.
        judge.that(distinct_bytes(secrets) >= 64, "bytes of all values", keys)
