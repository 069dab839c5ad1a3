"""The transactions that the suite reads from a chain."""

from __future__ import annotations

import pytest

from conformance.endpoints.client import Target
from conformance.problems import ChainTrouble, Malformed
from conformance.profile import Profile
from conformance.service.contract import Contract
from conformance.service.session import Session


class RecordedChain:
    """A chain of which the answers are given."""

    def __init__(self, newest: int, blocks: dict[str, object], logs: object) -> None:
        self.newest, self.blocks, self.told = newest, blocks, logs

    def block_number(self) -> int:
        return self.newest

    def logs(self, criteria: dict[str, object]) -> object:
        self.asked = criteria
        return self.told

    def read(self, method: str, params: list[object]) -> object:
        assert method == "eth_getBlockByNumber"
        return self.blocks[str(params[0])]


def contract_on(chain: RecordedChain) -> Contract:
    session = Session(Target("http://node.invalid", Profile()), "chain::only")
    session.chain = chain  # type: ignore[assignment]  # only what is asked for here
    return Contract(session)


SENT = {"hash": "0xAA", "from": "0xFF", "to": "0xEE", "input": "0xC0FFEE", "gas": "0x1"}
OTHER = {"hash": "0xBB", "from": "0xFF", "to": None, "input": "0x", "gas": "0x1"}
LOG = {"transactionHash": "0xaa", "address": "0xEE", "topics": ["0xA1"], "data": "0xDD"}


def test_transactions_are_those_after_the_block_with_their_own_logs() -> None:
    chain = RecordedChain(7, {"0x6": {"transactions": [SENT]}, "0x7": {"transactions": [OTHER]}}, [LOG])
    found = contract_on(chain).transactions_after(5)
    logs = [{"address": "0xee", "topics": ["0xa1"], "data": "0xdd"}]
    assert found == [
        {"hash": "0xaa", "from": "0xff", "to": "0xee", "input": "0xc0ffee", "block": 6, "logs": logs},
        {"hash": "0xbb", "from": "0xff", "to": None, "input": "0x", "block": 7, "logs": []},
    ]
    assert chain.asked == {"fromBlock": "0x6", "toBlock": "0x7"}


def test_transactions_are_none_when_the_chain_did_not_grow() -> None:
    assert contract_on(RecordedChain(5, {}, [])).transactions_after(5) == []


def test_transactions_over_too_many_blocks_teach_nothing() -> None:
    with pytest.raises(ChainTrouble):
        contract_on(RecordedChain(1000, {}, [])).transactions_after(5)


def test_transactions_of_a_block_without_them_are_malformed() -> None:
    with pytest.raises(Malformed):
        contract_on(RecordedChain(6, {"0x6": None}, [])).transactions_after(5)
