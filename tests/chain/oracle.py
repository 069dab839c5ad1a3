"""The same transactions on eth-tester and on the in-memory chain, and all that they must agree on."""

from __future__ import annotations

from dataclasses import dataclass

from eth_tester import PyEVMBackend

from .wallets import ALICE, BOB, RICH, Clock, Wallet, rich_chain

TESTER_CHAIN_ID = 131277322940537
"""eth-tester's own: it can't be set."""

GENESIS_TIME = 1_700_000_000

Logs = tuple[tuple[bytes, tuple[int, ...], bytes], ...]


@dataclass(frozen=True)
class Outcome:
    """What a transaction came to."""

    succeeded: bool
    gas_used: int
    logs: Logs
    output: bytes
    """What a failed one returned."""


@dataclass(frozen=True)
class AccountState:
    """An account afterwards, but for its balance where it paid for gas: base fees differ."""

    nonce: int
    code: bytes
    storage: tuple[int, ...]


class Tester:
    """eth-tester's chain, with Alice and Bob rich."""

    def __init__(self) -> None:
        rich = {"balance": RICH, "nonce": 0, "code": b"", "storage": {}}
        parameters = PyEVMBackend.generate_genesis_params({"timestamp": GENESIS_TIME})
        state = {ALICE.address: rich, BOB.address: rich}
        self._backend = PyEVMBackend(genesis_parameters=parameters, genesis_state=state)

    def send(self, raw: bytes) -> Outcome:
        """Apply and mine."""
        chain = self._backend.chain
        transaction = chain.get_vm().get_transaction_builder().decode(raw)
        _, receipt, computation = chain.apply_transaction(transaction)
        self._backend.mine_blocks(1)
        logs = tuple((log.address, tuple(log.topics), log.data) for log in receipt.logs)
        return Outcome(receipt.state_root == b"\x01", receipt.gas_used, logs, _failure(computation))

    def state(self, address: bytes, slots: int) -> AccountState:
        """The account at the end."""
        state = self._backend.chain.get_vm().state
        storage = tuple(state.get_storage(address, slot) for slot in range(slots))
        return AccountState(state.get_nonce(address), state.get_code(address), storage)

    def balance(self, address: bytes) -> int:
        """The balance in wei."""
        return int(self._backend.chain.get_vm().state.get_balance(address))


def _failure(computation: object) -> bytes:
    return computation.output if computation.is_error else b""  # type: ignore[attr-defined]


class Pair:
    """Both chains side by side. Each transaction is asserted to do the same on both."""

    def __init__(self) -> None:
        self.tester = Tester()
        self.chain = rich_chain(Clock(GENESIS_TIME), TESTER_CHAIN_ID)
        self._touched: list[bytes] = []

    def send(self, to: bytes | None = None, sender: Wallet = ALICE, **fields: object) -> Outcome:
        """Sign once, send to both, compare."""
        nonce = self.chain.next_nonce(sender.address)
        raw = sender.sign(nonce, to, chain_id=TESTER_CHAIN_ID, **fields)
        expected = self.tester.send(raw)
        receipt = self.chain.send(raw)
        logs = tuple(
            (log.address, tuple(int.from_bytes(t, "big") for t in log.topics), log.data) for log in receipt.logs
        )
        actual = Outcome(receipt.succeeded, receipt.gas_used, logs, receipt.revert_data)
        assert actual == expected
        self._touched += [each for each in (to, receipt.contract_address) if each]
        return actual

    def deploy(self, init_code: bytes) -> bytes:
        """Create a contract on both and return its address."""
        assert self.send(data=init_code).succeeded
        return self._touched[-1]

    def compare(self, *addresses: bytes, slots: int = 8) -> None:
        """Assert that the accounts are the same on both, besides those that were called or created."""
        for address in {*self._touched, *addresses, ALICE.address, BOB.address}:
            storage = tuple(self.chain.storage(address, slot) for slot in range(slots))
            actual = AccountState(self.chain.next_nonce(address), self.chain.code(address), storage)
            assert actual == self.tester.state(address, slots), address.hex()
            if address not in {ALICE.address, BOB.address}:
                assert self.chain.balance(address) == self.tester.balance(address), address.hex()
