"""`ExternalChain` against chains that misbehave: nothing is lost, nothing is doubled, every fault has its name."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest

from reference_node.chain.evm import EvmChain
from reference_node.chain.external import ExternalChain
from reference_node.chain.interface import ChainUnavailable, Reverted
from reference_node.chain.payers import PayerPool
from reference_node.chain.rpc import JsonRpc

from .bytecode import COUNTER, REVERTER, init_code, word
from .http import serve
from .wallets import ALICE, BOB, rich_chain

Answer = dict[str, object]

LOST: Answer = {}

Fault = Callable[[Callable[[], Answer]], Answer]
"""How a chain answers a method; it is given what carries the request out as it should be."""


def error(code: int, message: str, data: object = None) -> Answer:
    return {"error": {"code": code, "message": message, "data": data}}


def failing(code: int, message: str, data: object = None) -> Fault:
    """Answers with this error and does nothing."""
    return lambda _: error(code, message, data)


def losing(times: int) -> Fault:
    """Does what it should, but loses so many answers."""
    left = iter(range(times))

    def fault(carry_out: Callable[[], Answer]) -> Answer:
        answer = carry_out()
        return answer if next(left, None) is None else LOST

    return fault


@contextmanager
def external(behind: EvmChain, confirmation_seconds: float = 60.0, **faults: Fault) -> Iterator[ExternalChain]:
    """A client of this chain over HTTP, with a fault in each of these methods."""
    rpc = JsonRpc(behind)

    def handle(body: bytes) -> bytes:
        request = json.loads(body)
        fault = faults.get(request["method"], lambda carry_out: carry_out())
        answer = fault(lambda: json.loads(rpc.handle(body) or b""))
        return b"" if answer is LOST else json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}).encode()

    with serve(handle) as url, closing(ExternalChain(url, confirmation_seconds=confirmation_seconds)) as chain:
        yield chain


def test_no_chain_at_the_address_is_unavailable() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(ChainUnavailable, match="no connection"):
            ExternalChain(f"http://127.0.0.1:{unused.getsockname()[1]}")


@pytest.mark.parametrize("url", ["", "nonsense", "ftp://127.0.0.1", "http://[", "http://nowhere.invalid"])
def test_address_that_is_none_is_unavailable(url: str) -> None:
    with pytest.raises(ChainUnavailable):
        ExternalChain(url)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>bad gateway</html>",
        b"[]",
        b"{}",
        b'{"jsonrpc":"2.0","id":1}',
        b'{"jsonrpc":"2.0","id":[],"result":"0x1"}',
        b'{"jsonrpc":"2.0","id":2,"result":"0x1"}',
        b'{"jsonrpc":"2.0","id":null,"result":"0x1"}',
        b'{"jsonrpc":"2.0","id":1,"result":"one"}',
        b'{"jsonrpc":"2.0","id":1,"result":null}',
        b'{"jsonrpc":"2.0","id":1,"error":"no"}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"limit exceeded"}}',
        b"[" * 100_000,
    ],
)
@pytest.mark.parametrize("status", [200, 502])
def test_answer_that_is_none_is_unavailable(body: bytes, status: int) -> None:
    with serve(lambda _: body, status) as url, pytest.raises(ChainUnavailable):
        ExternalChain(url)


def test_chain_that_goes_away_is_unavailable() -> None:
    with serve(JsonRpc(rich_chain()).handle) as url:
        chain = ExternalChain(url)
    with closing(chain):
        for ask in (
            chain.fees,
            chain.timestamp,
            lambda: chain.call(BOB.address, b""),
            lambda: chain.balance(BOB.address),
        ):
            with pytest.raises(ChainUnavailable):
                ask()
        with pytest.raises(ChainUnavailable, match="no connection"):
            chain.send(ALICE.sign(0, BOB.address))


@pytest.mark.parametrize(
    ("code", "message", "content"),
    [
        (3, "execution reverted", "0x0badf00d"),
        (3, "execution reverted: custom error 0x0badf00d", "0x0badf00d"),
        (-32000, "execution reverted", "0x0badf00d"),
        (-32603, "VM Exception while processing transaction: revert", {"message": "…", "data": "0x0badf00d"}),
    ],
)
def test_shapes_of_a_revert_are_understood(chain: EvmChain, code: int, message: str, content: object) -> None:
    with external(chain, eth_call=failing(code, message, content)) as outside, pytest.raises(Reverted) as reverted:
        outside.call(BOB.address, b"")
    assert reverted.value.data == bytes.fromhex("0badf00d")


def test_lost_answer_neither_loses_nor_doubles_a_write(chain: EvmChain) -> None:
    contract = ALICE.deploy(chain, init_code(COUNTER))
    with external(chain, eth_sendRawTransaction=losing(2)) as outside:
        receipt = PayerPool(outside, [BOB.key]).submit(contract, word(1) + word(2))
    assert receipt.logs[0].data == word(1)
    assert chain.next_nonce(BOB.address) == 1
    assert chain.storage(contract, 0) == 1


def test_lost_answer_about_a_transaction_that_still_waits_is_no_refusal(chain: EvmChain) -> None:
    lost, waiting = iter([LOST]), iter(range(3))
    raw = ALICE.sign(0, BOB.address)

    def mined_later(carry_out: Callable[[], Answer]) -> Answer:
        if next(waiting, None) is None and chain.blocks.latest.number == 0:
            chain.send(raw)
        return carry_out()

    faults = {
        "eth_sendRawTransaction": lambda _: next(lost, error(-32000, "already known")),
        "eth_getTransactionReceipt": mined_later,
    }
    with external(chain, **faults) as outside:
        assert outside.send(raw).succeeded


def test_transaction_that_is_never_mined_is_given_up_in_time(chain: EvmChain) -> None:
    with (
        external(chain, 0.2, eth_sendRawTransaction=lambda _: {"result": "0x" + "00" * 32}) as outside,
        pytest.raises(ChainUnavailable, match="its outcome is unknown"),
    ):
        outside.send(ALICE.sign(0, BOB.address))


def test_receipts_that_fail_for_a_while_are_waited_for(chain: EvmChain) -> None:
    with external(chain, eth_getTransactionReceipt=losing(3)) as outside:
        assert outside.send(ALICE.sign(0, BOB.address)).succeeded


@pytest.mark.parametrize("message", ["insufficient funds for gas * price + value", "limit exceeded"])
def test_outcome_of_a_failed_write_stands_when_its_reason_cannot_be_learnt(chain: EvmChain, message: str) -> None:
    contract = ALICE.deploy(chain, init_code(REVERTER))
    with external(chain, eth_call=failing(-32000, message)) as outside:
        receipt = ALICE.send(outside, contract)
    assert (receipt.succeeded, receipt.revert_data) == (False, b"")


@pytest.mark.parametrize("code", [-32603, -32005])
def test_failure_of_the_chain_is_no_refusal_of_the_transaction(chain: EvmChain, code: int) -> None:
    with (
        external(chain, eth_sendRawTransaction=failing(code, "try again later")) as outside,
        pytest.raises(ChainUnavailable, match="try again later"),
    ):
        outside.send(ALICE.sign(0, BOB.address))


def test_fees_without_an_opinion_of_the_chain_are_still_enough(chain: EvmChain) -> None:
    with external(chain, eth_maxPriorityFeePerGas=failing(-32601, "no such method")) as outside:
        assert outside.fees() == chain.fees()
