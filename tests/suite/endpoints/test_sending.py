"""Transactions over a difficult chain: what is sent again, what counts as gas, and what is no fault of the node."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from conformance.endpoints.funding import KeyFunder
from conformance.endpoints.pace import GasBudget
from conformance.endpoints.patience import MiningPatience
from conformance.endpoints.sending import GAS_OF_A_REVERT, Sender
from conformance.endpoints.signing import Fees, Transaction
from conformance.problems import ChainReverted, ChainTrouble, GasSpent, ServerFault
from conformance.values.typed_data import Wallet


def _of(transaction_hash: object, receipt: object) -> object:
    """A receipt with this hash, unless it has one of its own."""
    return {"transactionHash": transaction_hash, **receipt} if isinstance(receipt, dict) else receipt


class DifficultChain:
    """A chain whose answers to `eth_sendRawTransaction` and for receipts are given; the last is repeated."""

    def __init__(self, answers: list[Exception | None], receipt: object = None, at_once: object = None) -> None:
        self.answers = answers
        self.receipt = receipt
        self.at_once = at_once
        """The receipt that comes with the hash."""
        self.sent: list[object] = []
        self.known_gas = 0

    def chain_id(self) -> int:
        return 1

    def next_nonce(self, _: str) -> int:
        return len(self.sent)

    def note_nonce(self, address: str, nonce: int | None) -> None:
        """The chain tells the nonce each time."""

    def note_sent(self, address: str, nonce: int) -> None:
        """The chain tells the nonce each time."""

    def fees(self) -> Fees:
        return Fees(2, 1)

    def balance(self, _: str) -> int:
        return 10**18

    def estimate(self, _: object) -> int:
        return 21_000

    def count_gas(self, used: int) -> None:
        """No case counts it."""

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def remembered(self, _: str, ask: Callable[[], int]) -> int:
        return self.known_gas or ask()

    def read(self, method: str, params: list[object]) -> object:
        assert method == "eth_getTransactionReceipt"
        return _of(params[0], self.receipt)

    def batch(self, calls: list[tuple[str, list[object]]]) -> list[object]:
        (method, params), (then, asked) = calls
        assert (method, then) == ("eth_sendRawTransaction", "eth_getTransactionReceipt")
        self.sent.append(params[0])
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is not None and not isinstance(answer, ChainReverted):
            raise answer
        return [answer or "0x", _of(asked[0], self.at_once)]


MINED = {"status": "0x1", "blockNumber": "0x5", "gasUsed": "0x5208", "logs": []}


def error(message: str) -> ChainReverted:
    return ChainReverted("a result", message, by_contract="revert" in message)


def sent_over(
    chain: DifficultChain,
    budget: GasBudget | None = None,
    *,
    to_be_reverted: bool = False,
    patience: MiningPatience | None = None,
) -> SimpleNamespace:
    patience = patience or MiningPatience(0.05)
    sender = Sender(chain, budget or GasBudget(None), patience)  # type: ignore[arg-type]  # what is asked of it
    transaction = Transaction("0x" + "11" * 20)
    receipt = sender.send(Wallet("w"), transaction, lambda *_: None, to_be_reverted=to_be_reverted)
    return SimpleNamespace(succeeded=receipt.succeeded, block=receipt.block, times=len(chain.sent))


@pytest.mark.parametrize(
    ("answers", "times"),
    [
        ([None], 1),
        ([error("nonce too low"), None], 2),
        ([error("replacement transaction underpriced"), error("nonce too low"), None], 3),
        ([error("already known")], 1),
        ([ServerFault("an answer", "none"), error("already known")], 2),
    ],
)
def test_transaction_gets_through(answers: list[Exception | None], times: int) -> None:
    assert sent_over(DifficultChain(answers, MINED)) == SimpleNamespace(succeeded=True, block=5, times=times)


@pytest.mark.parametrize(
    ("answers", "receipt"),
    [
        ([None], None),
        ([error("insufficient funds for gas")], MINED),
        ([error("nonce too low")], MINED),
        ([ServerFault("an answer", "none")], MINED),
        ([None], {**MINED, "status": None}),
        ([None], {**MINED, "gasUsed": "0x" + "f" * 6_000}),
        ([None], {**MINED, "blockNumber": "0x" + "f" * 6_000}),
    ],
    ids=["never-mined", "poor", "never-its-turn", "silent", "no-receipt", "much gas", "far block"],
)
def test_what_the_chain_does_not_do_is_no_fault_of_the_node(answers: list[Exception | None], receipt: object) -> None:
    with pytest.raises(ChainTrouble):
        sent_over(DifficultChain(answers, receipt))


def test_all_cases_wait_less_for_a_chain_that_mines_nothing_until_it_does() -> None:
    patience = MiningPatience(0.05, 0.0)
    with pytest.raises(ChainTrouble):
        sent_over(DifficultChain([None], None), patience=patience)
    assert patience.seconds == 0.0

    sent_over(DifficultChain([None], MINED), patience=patience)
    assert patience.seconds == 0.05


@pytest.mark.parametrize(
    ("at_once", "later"), [(MINED, None), (error("too many requests"), MINED)], ids=["with the hash", "later"]
)
def test_receipt_is_taken_with_the_hash_or_waited_for(at_once: object, later: object) -> None:
    assert sent_over(DifficultChain([None], later, at_once)) == SimpleNamespace(succeeded=True, block=5, times=1)


def test_revert_that_the_chain_foresees_counts_as_one() -> None:
    chain, budget = DifficultChain([error("execution reverted")], MINED), GasBudget(None)
    assert sent_over(chain, budget, to_be_reverted=True) == SimpleNamespace(succeeded=False, block=None, times=1)
    assert budget.spent == GAS_OF_A_REVERT


class DemandingChain(DifficultChain):
    """A chain whose first transaction runs out of gas."""

    def read(self, method: str, params: list[object]) -> object:
        receipt = super().read(method, params)
        assert isinstance(receipt, dict)
        if len(self.sent) > 1:
            return receipt
        return {**receipt, "status": "0x0", "gasUsed": hex(self.limit)}

    limit = 21_000


def test_transaction_that_needs_more_gas_than_the_last_of_its_kind_is_sent_again() -> None:
    chain = DemandingChain([None], MINED)
    chain.known_gas = chain.limit
    assert sent_over(chain) == SimpleNamespace(succeeded=True, block=5, times=2)


def test_revert_that_may_be_a_lack_of_gas_is_tried_with_more() -> None:
    chain = DemandingChain([None], MINED)
    chain.limit = GAS_OF_A_REVERT
    assert sent_over(chain, to_be_reverted=True) == SimpleNamespace(succeeded=True, block=5, times=2)


def test_gas_is_counted_by_what_was_used() -> None:
    budget = GasBudget(50_000)
    sent_over(DifficultChain([None], MINED), budget)
    assert budget.spent == 21_000
    sent_over(DifficultChain([None], MINED), budget)
    with pytest.raises(GasSpent):
        sent_over(DifficultChain([None], MINED), budget)


@pytest.mark.parametrize(
    ("lie", "why"),
    [
        ({"transactionHash": "0x" + "aa" * 32}, "that of 0xaaaa"),
        ({"gasUsed": "-0xffffff"}, '"gasUsed":"-0xffffff"'),
        ({"gasUsed": "0x0"}, "0 units"),
        ({"gasUsed": hex(2**255)}, f"{2**255} units"),
    ],
    ids=["another transaction", "negative gas", "no gas", "gas beyond the limit"],
)
def test_receipt_that_lies_is_trouble_of_the_chain_and_counts_with_the_whole_limit(
    lie: dict[str, object], why: str
) -> None:
    budget = GasBudget(50_000)
    with pytest.raises(ChainTrouble, match=why):
        sent_over(DifficultChain([None], MINED | lie), budget)
    assert budget.spent == 26_250


def test_transactions_with_other_nonces_each_count_in_the_budget() -> None:
    budget, chain = GasBudget(60_000), DifficultChain([error("nonce too low")], MINED)
    with pytest.raises(GasSpent):
        sent_over(chain, budget)
    assert len(chain.sent) == 2
    assert budget.spent == 52_500


def test_ether_goes_back_by_no_more_transactions_than_the_budget_has() -> None:
    """The first nonce counts since the ether was given; the chain reverts it and tells another one next."""
    budget, chain = GasBudget(21_000), DifficultChain([error("execution reverted")])
    purse = SimpleNamespace(chain=chain, sender=Sender(chain, budget))  # type: ignore[arg-type]  # what is asked of it
    with pytest.raises(GasSpent):
        KeyFunder(b"\1" * 32).take_back(purse, Wallet("w"))  # type: ignore[arg-type]  # what is asked of it
    assert len(chain.sent) == 2
    assert budget.spent == 21_000
