"""ChainSecured accounts: created by their wallet, and how they come by what is minted for them.

Specification: "States and transitions / Minted wallet or usage key", "Authentication" 8.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from envelopes import fund, new_wallet, refused_with, send, signed
from eth_account.signers.local import LocalAccount
from eth_utils.crypto import keccak
from nodes import Running, refused, serving

from reference_node.permission.keys import address_of, key_hash, pkp_id
from reference_node.permission.typed_data import Flow
from reference_node.settings import Settings

ALL_PERMISSIONS = (True, True, True, (0,), (0,), (0,), (0,))


@dataclass(frozen=True)
class Owner:
    """The admin wallet of a ChainSecured account, and what it can do over JSON-RPC."""

    running: Running
    wallet: LocalAccount

    @property
    def account_hash(self) -> int:
        return int.from_bytes(keccak(bytes.fromhex(self.wallet.address[2:])))

    def minted(self, endpoint: str, flow: Flow) -> Any:
        return self.running.done(endpoint, **signed(flow, self.wallet))

    def send(self, function: str, *arguments: object) -> bool:
        return send(self.running, self.wallet, function, *arguments)

    def register(self, minted: Any, name: str = "n", description: str = "d") -> bool:
        path = int(minted["derivation_path"], 16)
        labels = (name, description)
        return self.send("registerWalletDerivation", self.account_hash, minted["wallet_address"], path, *labels)

    def set_key(self, minted: Any, expiration: int = 0, permissions: tuple[object, ...] = ALL_PERMISSIONS) -> bool:
        hashed = key_hash(base64.b64decode(minted["usage_api_key"]))
        return self.send("setUsageApiKey", self.account_hash, hashed, expiration, 7, "key", "its text", *permissions)

    def key(self) -> str:
        """A usage key that has been attached."""
        minted = self.minted("add_usage_api_key_with_signature", Flow.ADD_USAGE_API_KEY)
        assert self.register(minted)
        assert self.set_key(minted)
        return str(minted["usage_api_key"])


@pytest.fixture
def owner(running: Running) -> Owner:
    """A wallet with gas money that has created its account over JSON-RPC."""
    return created(running)


def created(running: Running) -> Owner:
    wallet = new_wallet()
    fund(running, wallet)
    made = Owner(running, wallet)
    assert made.send("newChainSecuredAccount", "name", "description")
    return made


def test_account_is_known_by_the_hash_of_its_wallet(owner: Owner) -> None:
    record = owner.running.node.accounts.account(owner.account_hash)
    assert record == (False, bytes.fromhex(owner.wallet.address[2:]), "name", "description")
    assert not owner.send("newChainSecuredAccount", "again", "")


def test_minted_wallet_is_listed_once_it_is_registered(running: Running, owner: Owner) -> None:
    key = owner.key()
    minted = owner.minted("create_wallet_with_signature", Flow.CREATE_WALLET)
    before = running.read("list_wallets", key)
    assert minted["wallet_address"] not in [wallet["wallet_address"] for wallet in before]
    assert owner.register(minted, "my wallet", "its description")
    after = running.read("list_wallets", key)
    assert after[:-1] == before
    assert after[-1] == {
        "id": f"0x{pkp_id(bytes.fromhex(minted['wallet_address'][2:])).hex()}",
        "name": "my wallet",
        "description": "its description",
        "wallet_address": minted["wallet_address"],
    }
    path = int(minted["derivation_path"], 16)
    assert running.node.accounts.derivation_owner(path) == owner.account_hash


@pytest.mark.parametrize("first", ["registerWalletDerivation", "setUsageApiKey"])
def test_minted_key_counts_once_both_calls_have_landed(running: Running, owner: Owner, first: str) -> None:
    minted = owner.minted("add_usage_api_key_with_signature", Flow.ADD_USAGE_API_KEY)
    calls = [owner.register, owner.set_key]
    if first == "setUsageApiKey":
        calls.reverse()
    refused(running.get("list_groups", minted["usage_api_key"]), 401, "unknown-key")
    assert calls[0](minted)
    refused(running.get("list_groups", minted["usage_api_key"]), 401)
    assert calls[1](minted)
    assert running.read("list_groups", minted["usage_api_key"]) == []
    listed = running.read("list_api_keys", minted["usage_api_key"])
    assert [(key["name"], key["description"], key["balance"]) for key in listed] == [("key", "its text", 7)]


def test_key_of_the_account_reads_and_its_writes_over_http_are_refused(running: Running, owner: Owner) -> None:
    key = owner.key()
    before = running.everything(key)
    for operation, body in (
        ("add_group", {"group_name": "n", "group_description": "d"}),
        ("create_wallet", {}),
        (
            "add_action",
            {"action_ipfs_cid": "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH", "name": "", "description": ""},
        ),
        ("remove_group", {"group_id": "1"}),
        ("remove_usage_api_key", {"usage_api_key": key}),
    ):
        problem = refused(running.post(operation, key, **body), 403, "chain-secured-account")
        assert "admin wallet" in problem["detail"]
    assert running.everything(key) == before


def test_key_is_removed_by_the_wallet(running: Running, owner: Owner) -> None:
    key = owner.key()
    assert owner.send("removeUsageApiKey", owner.account_hash, key_hash(base64.b64decode(key)))
    refused(running.get("list_groups", key), 401, "unknown-key")


WRITES: dict[str, tuple[object, ...]] = {
    "registerWalletDerivation": ("0x" + "11" * 20, 1, "n", "d"),
    "createWallet": ("0x" + "11" * 20, 1, "n", "d"),
    "setUsageApiKey": (5, 0, 0, "n", "d", *ALL_PERMISSIONS),
    "updateUsageApiKey": (5, "n", "d", *ALL_PERMISSIONS),
    "updateUsageApiKeyMetadata": (5, "n", "d"),
    "removeUsageApiKey": (5,),
    "addGroup": ("n", "d", [], []),
    "updateGroup": (1, "n", "d", [], []),
    "removeGroup": (1,),
    "addActionToGroup": (1, b"\x01" * 32),
    "removeActionFromGroup": (1, b"\x01" * 32),
    "addPkpToGroup": (1, b"\x01" * 32),
    "removePkpFromGroup": (1, b"\x01" * 32),
    "addAction": (b"\x01" * 32, "n", "d"),
    "updateActionMetadata": (b"\x01" * 32, "n", "d"),
    "deleteAction": (b"\x01" * 32,),
}


@pytest.mark.parametrize(("function", "arguments"), WRITES.items(), ids=WRITES.keys())
def test_every_other_sender_is_refused_by_the_contract(
    running: Running, owner: Owner, function: str, arguments: tuple[object, ...]
) -> None:
    key = base64.b64decode(owner.key())
    accounts = running.node.accounts
    stranger = bytes.fromhex(new_wallet().address[2:])
    for sender in (stranger, address_of(key), accounts.admin_api_payer(), *accounts.api_payers()):
        for acting in (owner.account_hash, key_hash(key)):
            assert refused_with(running, sender, function, acting, *arguments) == "SenderNotPermitted"


def test_a_stranger_attaches_nothing(running: Running, owner: Owner) -> None:
    """Neither to somebody's ChainSecured account, nor to an account in API mode."""
    thief = created(running)
    minted = thief.minted("add_usage_api_key_with_signature", Flow.ADD_USAGE_API_KEY)
    path, hashed = int(minted["derivation_path"], 16), key_hash(base64.b64decode(minted["usage_api_key"]))
    managed = key_hash(base64.b64decode(running.account()))
    for victim in (owner.account_hash, managed):
        assert not thief.send("registerWalletDerivation", victim, minted["wallet_address"], path, "n", "d")
        assert not thief.send("setUsageApiKey", victim, hashed, 0, 0, "n", "d", *ALL_PERMISSIONS)
    refused(running.get("list_groups", minted["usage_api_key"]), 401, "unknown-key")


@pytest.fixture(scope="module")
def timed() -> Iterator[Running]:
    """A node whose clock these tests move."""
    with serving(Settings(port=0, control=True)) as running:
        yield running


def move_clock(running: Running, seconds: int) -> None:
    assert running.http.post("/control/clock", json={"offset_seconds": seconds}).status_code == 200


def test_attached_key_expires_by_the_clock_of_the_chain(timed: Running) -> None:
    owner = created(timed)
    minted = owner.minted("add_usage_api_key_with_signature", Flow.ADD_USAGE_API_KEY)
    key = minted["usage_api_key"]
    expiration = timed.node.chain.timestamp() + 1000
    assert owner.register(minted)
    assert owner.set_key(minted, expiration)
    timed.read("list_groups", key)
    move_clock(timed, 900)
    timed.read("list_groups", key)
    move_clock(timed, 1001)
    refused(timed.get("list_groups", key), 401, "key-expired")
    assert owner.set_key(minted, 0)
    timed.read("list_groups", key)
    move_clock(timed, 0)


def test_clock_control_moves_the_window_and_the_chain_together(timed: Running) -> None:
    move_clock(timed, 0)
    body = signed(Flow.CREATE_WALLET, new_wallet())
    timed.done("create_wallet_with_signature", **body)
    move_clock(timed, 5000)
    refused(timed.post("create_wallet_with_signature", **body), 400, "typed-data-expired")
    late = signed(Flow.CREATE_WALLET, new_wallet(), timed.node.clock.now())
    timed.done("create_wallet_with_signature", **late)
    before, shown, after = timed.node.clock.now(), timed.node.chain.timestamp(), timed.node.clock.now()
    assert before <= shown <= after
    move_clock(timed, 0)
    refused(timed.post("create_wallet_with_signature", **late), 400, "typed-data-not-yet-valid")
