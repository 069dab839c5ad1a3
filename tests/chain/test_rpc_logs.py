"""Logs and filters of the JSON-RPC."""

from __future__ import annotations

import pytest
from eth_bloom import BloomFilter

from reference_node.chain import rpc_logs
from reference_node.chain.evm import EvmChain
from reference_node.chain.rpc_logs import FILTER_SECONDS, LogMethods
from reference_node.chain.rpc_requests import CHOICES
from reference_node.chain.rpc_values import InvalidParams, RpcError

from .bytecode import COUNTER, init_code, word
from .rpc_asking import Ask, hexed
from .wallets import ALICE


class Logging:
    """A chain with two counters that have logged: the first (1, 2), (1, 3) and (4, 2), the second (1, 2)."""

    def __init__(self, chain: EvmChain) -> None:
        self.chain = chain
        self.seconds = 0.0
        self.methods = LogMethods(chain, lambda: self.seconds).table()
        self.first, self.second = (ALICE.deploy(chain, init_code(COUNTER)) for _ in range(2))
        for contract, topics in (
            (self.first, (1, 2)),
            (self.first, (1, 3)),
            (self.second, (1, 2)),
            (self.first, (4, 2)),
        ):
            self.log(contract, *topics)

    def log(self, contract: bytes, *topics: int) -> None:
        assert ALICE.send(self.chain, contract, data=b"".join(map(word, topics))).succeeded

    def ask(self, method: str, *params: object) -> object:
        return self.methods[method](list(params))

    def blocks(self, **criteria: object) -> list[int]:
        """In which blocks the wanted logs are. They begin with block 3."""
        return self.numbers(self.ask("eth_getLogs", {"fromBlock": "earliest", **criteria}))

    @staticmethod
    def numbers(logs: object) -> list[int]:
        assert isinstance(logs, list)
        return [int(log["blockNumber"], 16) for log in logs]


@pytest.fixture
def logging(chain: EvmChain) -> Logging:
    return Logging(chain)


def topic(number: int) -> str:
    return hexed(word(number))


def test_logs_are_chosen_by_address(logging: Logging) -> None:
    assert logging.blocks() == [3, 4, 5, 6]
    assert logging.blocks(address=hexed(logging.second)) == [5]
    assert logging.blocks(address=hexed(logging.second).upper().replace("X", "x")) == [5]
    assert logging.blocks(address=[hexed(logging.first)]) == [3, 4, 6]
    assert logging.blocks(address=[hexed(logging.first), hexed(logging.second)]) == [3, 4, 5, 6]
    assert logging.blocks(address=[]) == [3, 4, 5, 6]
    assert logging.blocks(address=hexed(ALICE.address)) == []


@pytest.mark.parametrize(
    ("topics", "blocks"),
    [
        (None, [3, 4, 5, 6]),
        ([], [3, 4, 5, 6]),
        ([topic(1)], [3, 4, 5]),
        ([None, topic(2)], [3, 5, 6]),
        ([topic(1), topic(2)], [3, 5]),
        ([[topic(1), topic(4)], topic(2)], [3, 5, 6]),
        ([[topic(9), topic(4)]], [6]),
        ([[], topic(3)], [4]),
        ([[None, topic(9)], topic(3)], [4]),
        ([None, None], [3, 4, 5, 6]),
        ([None, None, None], []),
        ([topic(2)], []),
    ],
)
def test_logs_are_chosen_by_topics(logging: Logging, topics: object, blocks: list[int]) -> None:
    assert logging.blocks(topics=topics) == blocks


def test_logs_are_chosen_by_blocks(logging: Logging) -> None:
    assert logging.blocks(fromBlock="0x4", toBlock="0x5") == [4, 5]
    assert logging.blocks(fromBlock="0x4", toBlock="0x63") == [4, 5, 6]
    assert logging.blocks(fromBlock="0x6") == [6]
    assert logging.blocks(fromBlock="0x63") == []
    assert logging.blocks(fromBlock="latest", toBlock="latest") == [6]
    assert logging.blocks(toBlock="earliest") == []
    assert logging.numbers(logging.ask("eth_getLogs", {})) == [6]
    block = logging.chain.blocks.number(5)
    assert block is not None
    assert logging.numbers(logging.ask("eth_getLogs", {"blockHash": hexed(block.hash)})) == [5]


def test_logs_of_an_unknown_block_are_an_error(logging: Logging) -> None:
    with pytest.raises(RpcError, match="unknown block"):
        logging.ask("eth_getLogs", {"blockHash": topic(0)})


def test_log_is_told_with_its_place(logging: Logging) -> None:
    block = logging.chain.blocks.latest
    assert block.transaction is not None
    assert logging.ask("eth_getLogs", {}) == [
        {
            "address": hexed(logging.first),
            "topics": [topic(4), topic(2)],
            "data": topic(3),
            "blockNumber": "0x6",
            "blockHash": hexed(block.hash),
            "blockTimestamp": hex(block.timestamp),
            "transactionHash": hexed(block.transaction.receipt.transaction_hash),
            "transactionIndex": "0x0",
            "logIndex": "0x0",
            "removed": False,
        }
    ]


def test_bloom_holds_address_and_topics(logging: Logging, ask: Ask) -> None:
    told = ask("eth_getBlockByNumber", "latest")["logsBloom"]
    bloom = BloomFilter(int(told, 16))
    assert len(told) == 2 + 512
    assert all(item in bloom for item in (logging.first, word(4), word(2)))
    assert logging.second not in bloom


def test_filter_tells_each_new_log_once(logging: Logging) -> None:
    name = logging.ask("eth_newFilter", {"address": hexed(logging.first), "fromBlock": "earliest"})
    assert logging.ask("eth_getFilterChanges", name) == []
    logging.log(logging.first, 7, 8)
    logging.log(logging.second, 7, 8)
    assert logging.numbers(logging.ask("eth_getFilterChanges", name)) == [7]
    assert logging.ask("eth_getFilterChanges", name) == []
    assert logging.numbers(logging.ask("eth_getFilterLogs", name)) == [3, 4, 6, 7]


def test_filters_of_blocks_and_transactions_tell_their_hashes(logging: Logging) -> None:
    blocks, transactions = logging.ask("eth_newBlockFilter"), logging.ask("eth_newPendingTransactionFilter")
    assert blocks != transactions
    logging.log(logging.first, 7, 8)
    latest = logging.chain.blocks.latest
    assert latest.transaction is not None
    assert logging.ask("eth_getFilterChanges", blocks) == [hexed(latest.hash)]
    assert logging.ask("eth_getFilterChanges", transactions) == [hexed(latest.transaction.receipt.transaction_hash)]
    with pytest.raises(RpcError, match="filter not found"):
        logging.ask("eth_getFilterLogs", blocks)


def test_removed_filter_is_gone(logging: Logging) -> None:
    name = logging.ask("eth_newBlockFilter")
    assert logging.ask("eth_uninstallFilter", name) is True
    assert logging.ask("eth_uninstallFilter", name) is False
    for method in ("eth_getFilterChanges", "eth_getFilterLogs"):
        with pytest.raises(RpcError, match="filter not found"):
            logging.ask(method, name)


def test_filter_lives_as_long_as_it_is_polled(logging: Logging) -> None:
    polled, forgotten = logging.ask("eth_newBlockFilter"), logging.ask("eth_newBlockFilter")
    for _ in range(3):
        logging.seconds += FILTER_SECONDS / 2
        assert logging.ask("eth_getFilterChanges", polled) == []
    with pytest.raises(RpcError, match="filter not found"):
        logging.ask("eth_getFilterChanges", forgotten)


@pytest.mark.parametrize(("many", "none"), [("address", bytes(20)), ("topics", bytes(32))])
def test_filter_takes_so_many_choices_and_no_more(logging: Logging, many: str, none: bytes) -> None:
    def criteria(count: int) -> dict[str, object]:
        choices = [hexed(none)] * count
        return {many: [choices] if many == "topics" else choices}

    assert logging.methods["eth_getLogs"]([criteria(CHOICES)]) == []
    for method in ("eth_getLogs", "eth_newFilter"):
        with pytest.raises(InvalidParams, match=f"at most {CHOICES} choices"):
            logging.methods[method]([criteria(CHOICES + 1)])


def test_full_room_for_filters_refuses_more_and_forgets_none(logging: Logging, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_logs, "FILTERS", 3)
    names = [logging.ask("eth_newBlockFilter") for _ in range(3)]
    with pytest.raises(RpcError, match="there are 3 filters"):
        logging.ask("eth_newBlockFilter")
    for name in names:
        assert logging.ask("eth_getFilterChanges", name) == []
    logging.ask("eth_uninstallFilter", names[0])
    assert logging.ask("eth_newBlockFilter")


def test_answer_with_too_many_logs_is_refused(logging: Logging, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = {"fromBlock": "earliest"}
    count = len(logging.numbers(logging.ask("eth_getLogs", everything)))
    monkeypatch.setattr(rpc_logs, "LOGS", count)
    assert len(logging.numbers(logging.ask("eth_getLogs", everything))) == count
    monkeypatch.setattr(rpc_logs, "LOGS", count - 1)
    with pytest.raises(RpcError, match="ask for fewer blocks"):
        logging.ask("eth_getLogs", everything)
