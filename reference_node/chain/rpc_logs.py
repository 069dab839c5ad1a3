"""Methods of the JSON-RPC about logs, and the filters that clients poll."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice

from reference_node.chain import rpc_encode
from reference_node.chain.evm import EvmChain
from reference_node.chain.evm_blocks import Block
from reference_node.chain.rpc_blocks import find
from reference_node.chain.rpc_methods import Method
from reference_node.chain.rpc_requests import BlockId, LogCriteria, log_criteria
from reference_node.chain.rpc_values import (
    LIMIT_EXCEEDED,
    SERVER_ERROR,
    Decoder,
    InvalidParams,
    Json,
    RpcError,
    hex_data,
    quantity,
)

FILTERS = 1024
"""How many filters there are at once; one more is refused until one is removed, or forgotten."""

FILTER_SECONDS = 300
"""How long a filter lives without being polled."""

LOGS = 10_000
"""The most logs in one answer."""


@dataclass(slots=True)
class Filter:
    """A filter: what it tells of new blocks, where it got to, when it was last polled."""

    describe: Callable[[Block], Iterator[Json]]
    criteria: LogCriteria | None
    next_block: int
    polled_at: float


class LogMethods:
    """Logs and filters. `now` gives seconds that only ever grow, whatever is done to the chain's clock.

    What was mined never changes, so nothing here holds the chain's lock; the filters have one of their own.
    """

    def __init__(self, chain: EvmChain, now: Callable[[], float] = time.monotonic) -> None:
        self._chain = chain
        self._now = now
        self._filters: OrderedDict[int, Filter] = OrderedDict()
        self._lock = threading.Lock()

    def table(self) -> Mapping[str, Method]:
        """The methods by name."""
        answers: dict[str, tuple[Callable[..., Json], Decoder[object] | None]] = {
            "eth_getLogs": (self._logs, log_criteria),
            "eth_newFilter": (self._new_log_filter, log_criteria),
            "eth_newBlockFilter": (lambda: self._new_filter(_block_hash, None), None),
            "eth_newPendingTransactionFilter": (lambda: self._new_filter(_transaction_hash, None), None),
            "eth_getFilterChanges": (self._changes, quantity),
            "eth_getFilterLogs": (self._filter_logs, quantity),
            "eth_uninstallFilter": (self._uninstall, quantity),
        }
        return {
            name: Method(answer, (decoder,) if decoder else (), beside_writers=True)
            for name, (answer, decoder) in answers.items()
        }

    def _logs(self, criteria: LogCriteria) -> Json:
        first, last = self._range(criteria)
        blocks = self._chain.blocks.between(first, last)
        logs = list(islice((entry for block in blocks for entry in _matching(block, criteria)), LOGS + 1))
        if len(logs) > LOGS:
            raise RpcError(LIMIT_EXCEEDED, f"more than {LOGS} logs: ask for fewer blocks")
        return logs

    def _range(self, criteria: LogCriteria) -> tuple[int, int]:
        if criteria.block_hash is not None:
            found = find(self._chain, criteria.block_hash)
            if found is None:
                raise RpcError(SERVER_ERROR, "unknown block")
            return found.number, found.number
        first, last = self._number(criteria.first), self._number(criteria.last)
        if first > last and criteria.last is not None:
            raise InvalidParams("fromBlock is after toBlock")
        return first, last

    def _number(self, block: BlockId | None) -> int:
        return block if isinstance(block, int) else self._chain.blocks.latest.number

    def _new_log_filter(self, criteria: LogCriteria) -> Json:
        if criteria.block_hash is not None:
            raise InvalidParams("a filter looks at blocks to come: blockHash makes no sense in it")
        self._range(criteria)
        return self._new_filter(lambda block: _matching(block, criteria), criteria)

    def _new_filter(self, describe: Callable[[Block], Iterator[Json]], criteria: LogCriteria | None) -> Json:
        name = secrets.randbits(128)
        with self._lock:
            self._forget_stale()
            if len(self._filters) >= FILTERS:
                raise RpcError(LIMIT_EXCEEDED, f"there are {FILTERS} filters: uninstall one, or poll with eth_getLogs")
            self._filters[name] = Filter(describe, criteria, self._chain.blocks.latest.number + 1, self._now())
        return hex(name)

    def _forget_stale(self) -> None:
        """The filters stand in the order in which they were last polled."""
        oldest = self._now() - FILTER_SECONDS
        while self._filters and next(iter(self._filters.values())).polled_at < oldest:
            self._filters.popitem(last=False)

    def _polled(self, name: int) -> Filter:
        self._forget_stale()
        if name not in self._filters:
            raise RpcError(SERVER_ERROR, "filter not found")
        self._filters.move_to_end(name)
        self._filters[name].polled_at = self._now()
        return self._filters[name]

    def _changes(self, name: int) -> Json:
        with self._lock:
            polled = self._polled(name)
            latest = self._chain.blocks.latest.number
            new = self._chain.blocks.between(polled.next_block, latest)
            polled.next_block = latest + 1
        return [entry for block in new for entry in polled.describe(block)]

    def _filter_logs(self, name: int) -> Json:
        with self._lock:
            criteria = self._polled(name).criteria
        if criteria is None:
            raise RpcError(SERVER_ERROR, "filter not found: it is not one of logs")
        return self._logs(criteria)

    def _uninstall(self, name: int) -> Json:
        with self._lock:
            return self._filters.pop(name, None) is not None


def _matching(block: Block, criteria: LogCriteria) -> Iterator[Json]:
    mined = block.transaction
    for index, entry in enumerate(mined.receipt.logs if mined else ()):
        if mined and criteria.match(entry):
            yield rpc_encode.log(block, mined, index)


def _block_hash(block: Block) -> Iterator[Json]:
    yield hex_data(block.hash)


def _transaction_hash(block: Block) -> Iterator[Json]:
    if block.transaction:
        yield hex_data(block.transaction.receipt.transaction_hash)
