"""The settlement chain over JSON-RPC: what is its trouble, and what is the contract's refusal."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import httpx
import pytest

from conformance.endpoints import chain
from conformance.endpoints.chain import ChainClient
from conformance.endpoints.client import Target
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.messages import Answer, Message
from conformance.endpoints.redaction import Secrets
from conformance.problems import ChainReverted, ChainTrouble, Malformed, Throttled
from conformance.profile import Function, Profile

CONTRACT = f"0x{'11' * 20}"
EXISTS = Function.parse("accountExists(uint256 accountHash) returns (bool exists)")
HTML = "<html>"
LIMITED = '{"id": 1, "error": {"code": -32005, "message": "too many requests"}}'
BEHIND = '{"id": 1, "error": {"code": -32000, "message": "header not found"}}'
PRUNED = '{"id": 1, "error": {"code": -32602, "message": "block height is 9 but requested was 8"}}'
REVERTED = '{"id": 1, "error": {"code": 3, "message": "execution reverted"}}'
REVERTED_OTHERWISE = '{"id": 1, "error": {"code": -32015, "message": "VM execution error."}}'
BAD_ADDRESS = '{"id": 1, "error": {"code": -32602, "message": "invalid address"}}'
YES = f'{{"id": 1, "result": "0x{"01":0>64}"}}'
Told = tuple[int, str]
OF_THE_CHAIN: list[Told] = [(502, HTML), (200, HTML), (200, LIMITED), (200, "{}"), (429, "{}")]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain.ChainClient, "pause", lambda *_: None)


def client_of(answer: Callable[[str], Told]) -> ChainClient:
    """A client whose request bodies are answered so; nothing is sent."""
    target = Target("http://node.invalid", Profile.model_validate({"chain": {"rpc_url": "http://chain.invalid"}}))

    def exchange(message: Message, _: object) -> Answer:
        status, text = answer(message.body or "")
        return Answer(status, httpx.Headers(), text, 0)

    target.exchange = exchange  # type: ignore[method-assign,assignment]
    return ChainClient(target, ExchangeLog(Secrets()))


def chain_that_tells(*told: Told) -> ChainClient:
    """These answers, one after the other, and the last of them again and again."""
    waiting = list(told)
    return client_of(lambda _: waiting.pop(0) if len(waiting) > 1 else waiting[0])


class BatchedChain:
    """A chain that reverts each call and answers any other method with its name; last asked, first answered."""

    def __init__(self, *, takes_batches: bool) -> None:
        self.client = client_of(self.tell)
        self.takes_batches = takes_batches
        self.requests = 0

    def tell(self, body: str) -> Told:
        self.requests += 1
        asked = json.loads(body)
        if isinstance(asked, list) and not self.takes_batches:
            return 200, '{"id": null, "error": {"code": -32600, "message": "no batches"}}'
        told = [self.answer(one) for one in reversed(asked)] if isinstance(asked, list) else self.answer(asked)
        return 200, json.dumps(told)

    def answer(self, request: dict[str, object]) -> dict[str, object]:
        if request["method"] == "eth_call":
            return {"id": request["id"], "error": {"code": 3, "message": "execution reverted"}}
        return {"id": request["id"], "result": request["method"]}


@pytest.mark.parametrize(("takes_batches", "requests"), [(True, 2), (False, 4)])
def test_batch_gives_results_and_reverts_in_the_order_of_its_calls(*, takes_batches: bool, requests: int) -> None:
    chain = BatchedChain(takes_batches=takes_batches)

    first, reverted, last = chain.client.batch([("eth_chainId", []), ("eth_call", [{}]), ("eth_blockNumber", [])])

    assert (first, last) == ("eth_chainId", "eth_blockNumber")
    assert isinstance(reverted, ChainReverted)
    assert reverted.by_contract
    assert chain.requests == requests


@pytest.mark.parametrize("number", [0, None, [1], {"id": 1}])
def test_batch_that_is_answered_in_part_is_malformed(number: object) -> None:
    chain = BatchedChain(takes_batches=True)
    chain.client.batch([("eth_chainId", [])])
    chain.answer = lambda request: {"id": number, "result": request["method"]}  # type: ignore[method-assign]

    with pytest.raises(Malformed, match="each request of a batch"):
        chain.client.batch([("eth_chainId", []), ("eth_blockNumber", [])])


def exists(client: ChainClient) -> object:
    return client.view(CONTRACT, EXISTS, [1])


def newest(client: ChainClient) -> object:
    return client.read("eth_blockNumber")


ASKED: Sequence[Callable[[ChainClient], object]] = (exists, newest)


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("trouble", OF_THE_CHAIN)
def test_trouble_of_the_chain_that_ends_is_waited_for(ask: Callable[[ChainClient], object], trouble: Told) -> None:
    assert ask(chain_that_tells(trouble, (200, YES)))


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("trouble", OF_THE_CHAIN)
def test_trouble_of_the_chain_that_stays_teaches_nothing(ask: Callable[[ChainClient], object], trouble: Told) -> None:
    with pytest.raises((ChainTrouble, Throttled)):
        ask(chain_that_tells(trouble))


@pytest.mark.parametrize("trouble", [BEHIND, PRUNED])
def test_chain_that_lacks_the_block_of_a_view_is_asked_again(trouble: str) -> None:
    assert exists(chain_that_tells((200, trouble), (200, trouble), (200, YES))) == (True,)
    with pytest.raises(ChainTrouble):
        exists(chain_that_tells((200, trouble)))


@pytest.mark.parametrize("reverted", [REVERTED, REVERTED_OTHERWISE])
def test_revert_of_the_contract_is_told_at_once(reverted: str) -> None:
    with pytest.raises(ChainReverted):
        exists(chain_that_tells((200, reverted), (200, YES)))


def test_address_of_the_node_that_the_chain_does_not_read_is_the_nodes_fault() -> None:
    with pytest.raises(ChainReverted):
        chain_that_tells((200, BAD_ADDRESS)).view("no address at all", EXISTS, [1])


def test_view_of_no_contract_is_the_nodes_fault() -> None:
    with pytest.raises(Malformed):
        exists(chain_that_tells((200, '{"id": 1, "result": "0x"}')))


def test_chain_whose_id_changes_is_signed_for_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "SECONDS_OF_FEES", 0.0)
    asked = chain_that_tells(*((200, f'{{"id": 1, "result": "{number}"}}') for number in ("0x7a69", "0x7a69", "0x1")))

    assert asked.chain_id() == 31337
    with pytest.raises(ChainTrouble, match="the chain 31337, as before; got the chain 1"):
        asked.chain_id()


@pytest.mark.parametrize("price", [hex(2**255), hex(20_000 * 10**9)])
def test_price_of_gas_beyond_all_measure_is_not_paid(price: str) -> None:
    block = f'{{"id": 1, "result": {{"baseFeePerGas": "{price}"}}}}'
    asked = chain_that_tells((200, block), (200, '{"id": 1, "result": "0x1"}'))

    with pytest.raises(ChainTrouble, match="a price of at most"):
        asked.fees()


@pytest.mark.parametrize("quantity", ["-0x5", "0x", "0x1_0", "", "0x" + "f" * 65, "9" * 100_000])
def test_number_of_the_chain_that_is_no_quantity_is_malformed(quantity: str) -> None:
    with pytest.raises(Malformed, match="a hex quantity"):
        chain_that_tells((200, f'{{"id": 1, "result": "{quantity}"}}')).block_number()
