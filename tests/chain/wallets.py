"""Wallets with known keys, and transactions signed by them."""

from __future__ import annotations

from dataclasses import dataclass, field

from eth_account import Account
from eth_account.datastructures import SignedSetCodeAuthorization

from reference_node.chain.evm import EvmChain
from reference_node.chain.evm_store import ChainStore
from reference_node.chain.interface import Chain, Receipt

CHAIN_ID = 31337
RICH = 10**24


@dataclass
class Wallet:
    """A private key, with the transactions it can sign."""

    number: int
    key: bytes = field(init=False)
    address: bytes = field(init=False)

    def __post_init__(self) -> None:
        self.key = self.number.to_bytes(32, "big")
        self.address = bytes.fromhex(Account.from_key(self.key).address[2:])

    def sign(self, nonce: int, to: bytes | None = None, chain_id: int = CHAIN_ID, **fields: object) -> bytes:
        """A type 2 transaction unless the fields say otherwise."""
        transaction: dict[str, object] = {"chainId": chain_id, "nonce": nonce, "gas": 1_000_000, "value": 0, **fields}
        if to is not None:
            transaction["to"] = to
        if "gasPrice" not in fields:
            transaction.setdefault("maxFeePerGas", 10 * 10**9)
            transaction.setdefault("maxPriorityFeePerGas", 10**9)
        return bytes(Account.sign_transaction(transaction, self.key).raw_transaction)

    def authorize(self, code: bytes, chain_id: int = CHAIN_ID) -> SignedSetCodeAuthorization:
        """What lets this account, which has sent nothing yet, run the code at an address."""
        return Account.sign_authorization({"chainId": chain_id, "address": code, "nonce": 0}, self.key)

    def send(self, chain: Chain, to: bytes | None = None, **fields: object) -> Receipt:
        """Sign with the nonce that the chain expects, and send."""
        return chain.send(self.sign(chain.next_nonce(self.address), to, chain_id=chain.chain_id, **fields))

    def deploy(self, chain: Chain, init_code: bytes) -> bytes:
        """Create a contract and return its address."""
        receipt = self.send(chain, data=init_code, gas=10_000_000)
        assert receipt.succeeded, receipt
        assert receipt.contract_address is not None
        return receipt.contract_address


ALICE = Wallet(0xA11CE)
BOB = Wallet(0xB0B)


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, now: int = 1_700_000_000) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


def rich_chain(clock: Clock | None = None, chain_id: int = CHAIN_ID, store: ChainStore | None = None) -> EvmChain:
    """A chain on which Alice and Bob are rich."""
    return EvmChain(chain_id, clock or Clock(), {ALICE.address: RICH, BOB.address: RICH}, store)
