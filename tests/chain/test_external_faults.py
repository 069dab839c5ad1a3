"""`ExternalChain` against chains that misbehave: nothing is lost, nothing is doubled, every fault has its name."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from contextlib import closing

import pytest

from reference_node.chain.evm import EvmChain
from reference_node.chain.external import ExternalChain
from reference_node.chain.interface import ChainUnavailable, Reverted
from reference_node.chain.payers import PayerPool
from reference_node.chain.rpc import JsonRpc

from .bytecode import COUNTER, REVERTER, init_code, word
from .http import serve
from .wallets import ALICE, BOB, rich_chain

Answer = Callable[[str, list[object]], object]
"""Answers a method: with a result, or by raising `Failure`, or with `LOST`."""

LOST = object()


class Failure(Exception):  # noqa: N818 - what the chain answers
    """An error to be answered with."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message, "data": data}


def scripted(answer: Answer) -> Callable[[bytes], bytes]:
    """A chain that says whatever the test wants it to."""

    def handle(body: bytes) -> bytes:
        request = json.loads(body)
        response = {"jsonrpc": "2.0", "id": request["id"]}
        try:
            result = answer(request["method"], request["params"])
        except Failure as failure:
            return json.dumps({**response, "error": failure.error}).encode()
        return b"" if result is LOST else json.dumps({**response, "result": result}).encode()

    return handle


def _forwarded(chain: EvmChain, method: str, params: list[object]) -> object:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = json.loads(JsonRpc(chain).handle(json.dumps(body).encode()) or b"{}")
    if "error" in answer:
        raise Failure(**{"data": None, **answer["error"]})
    return answer["result"]


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
def test_shapes_of_a_revert_are_understood(code: int, message: str, content: object) -> None:
    def answer(method: str, _params: list[object]) -> object:
        if method == "eth_call":
            raise Failure(code, message, content)
        return "0x1"

    with serve(scripted(answer)) as url, closing(ExternalChain(url)) as chain, pytest.raises(Reverted) as reverted:
        chain.call(BOB.address, b"")
    assert reverted.value.data == bytes.fromhex("0badf00d")


def test_lost_answer_neither_loses_nor_doubles_a_write() -> None:
    behind, lost = rich_chain(), iter([True, True])

    def answer(method: str, params: list[object]) -> object:
        result = _forwarded(behind, method, params)
        return LOST if method == "eth_sendRawTransaction" and next(lost, False) else result

    contract = ALICE.deploy(behind, init_code(COUNTER))
    with serve(scripted(answer)) as url, closing(ExternalChain(url)) as chain:
        receipt = PayerPool(chain, [BOB.key]).submit(contract, word(1) + word(2))
    assert receipt.logs[0].data == word(1)
    assert behind.next_nonce(BOB.address) == 1
    assert behind.storage(contract, 0) == 1


def test_lost_answer_about_a_transaction_that_still_waits_is_no_refusal() -> None:
    behind, lost, waiting = rich_chain(), iter([True]), iter([True] * 3)
    raw = ALICE.sign(0, BOB.address)

    def answer(method: str, params: list[object]) -> object:
        if method == "eth_sendRawTransaction":
            if next(lost, False):
                return LOST
            raise Failure(-32000, "already known")
        if method == "eth_getTransactionReceipt" and not next(waiting, False) and behind.blocks.latest.number == 0:
            behind.send(raw)
        return _forwarded(behind, method, params)

    with serve(scripted(answer)) as url, closing(ExternalChain(url)) as chain:
        assert chain.send(raw).succeeded


def test_transaction_that_is_never_mined_is_given_up_in_time() -> None:
    behind = rich_chain()

    def answer(method: str, params: list[object]) -> object:
        return "0x" + "00" * 32 if method == "eth_sendRawTransaction" else _forwarded(behind, method, params)

    with (
        serve(scripted(answer)) as url,
        closing(ExternalChain(url, confirmation_seconds=0.2)) as chain,
        pytest.raises(ChainUnavailable, match="its outcome is unknown"),
    ):
        chain.send(ALICE.sign(0, BOB.address))


def test_receipts_that_fail_for_a_while_are_waited_for() -> None:
    behind, failing = rich_chain(), iter([True] * 3)

    def answer(method: str, params: list[object]) -> object:
        result = _forwarded(behind, method, params)
        return LOST if method == "eth_getTransactionReceipt" and next(failing, False) else result

    with serve(scripted(answer)) as url, closing(ExternalChain(url)) as chain:
        assert chain.send(ALICE.sign(0, BOB.address)).succeeded


@pytest.mark.parametrize("message", ["insufficient funds for gas * price + value", "limit exceeded"])
def test_outcome_of_a_failed_write_stands_when_its_reason_cannot_be_learnt(message: str) -> None:
    behind = rich_chain()
    contract = ALICE.deploy(behind, init_code(REVERTER))

    def answer(method: str, params: list[object]) -> object:
        if method == "eth_call":
            raise Failure(-32000, message)
        return _forwarded(behind, method, params)

    with serve(scripted(answer)) as url, closing(ExternalChain(url)) as chain:
        receipt = ALICE.send(chain, contract)
    assert (receipt.succeeded, receipt.revert_data) == (False, b"")


@pytest.mark.parametrize("code", [-32603, -32005])
def test_failure_of_the_chain_is_no_refusal_of_the_transaction(code: int) -> None:
    behind = rich_chain()

    def answer(method: str, params: list[object]) -> object:
        if method == "eth_sendRawTransaction":
            raise Failure(code, "try again later")
        return _forwarded(behind, method, params)

    with (
        serve(scripted(answer)) as url,
        closing(ExternalChain(url)) as chain,
        pytest.raises(ChainUnavailable, match="try again later"),
    ):
        chain.send(ALICE.sign(0, BOB.address))


def test_fees_without_an_opinion_of_the_chain_are_still_enough() -> None:
    behind = rich_chain()

    def answer(method: str, params: list[object]) -> object:
        if method == "eth_maxPriorityFeePerGas":
            raise Failure(-32601, "no such method")
        return _forwarded(behind, method, params)

    with serve(scripted(answer)) as url, closing(ExternalChain(url)) as chain:
        assert chain.fees() == behind.fees()
