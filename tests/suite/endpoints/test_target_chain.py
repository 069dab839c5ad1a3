"""The settlement chain over JSON-RPC: what is its trouble, and what is the contract's refusal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace

import httpx
import pytest

from conformance.drivers.steps.caserun import CaseRun
from conformance.endpoints import chain
from conformance.endpoints.chain import ChainClient
from conformance.endpoints.client import Answer, Message, Target
from conformance.problems import ChainReverted, ChainTrouble, Malformed, Throttled
from conformance.profile import Profile

CONTRACT = f"0x{'11' * 20}"
EXISTS = "accountExists(uint256 accountHash) returns (bool exists)"
HTML = "<html>"
LIMITED = '{"id": 1, "error": {"code": -32005, "message": "too many requests"}}'
REVERTED = '{"id": 1, "error": {"code": 3, "message": "execution reverted"}}'
YES = f'{{"id": 1, "result": "0x{"01":0>64}"}}'
Told = tuple[int, str]
OF_THE_CHAIN: list[Told] = [(502, HTML), (200, HTML), (200, LIMITED), (200, "{}"), (429, "{}")]


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "time", SimpleNamespace(sleep=lambda _: None))


def chain_that_tells(*told: Told) -> ChainClient:
    """These answers, one after the other, and the last of them again and again."""
    target = Target("http://node.invalid", Profile.model_validate({"chain": {"rpc_url": "http://chain.invalid"}}))
    waiting = list(told)

    def exchange(_: Message, __: object) -> Answer:
        status, text = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return Answer(status, httpx.Headers(), text, 0)

    target.exchange = exchange  # type: ignore[method-assign,assignment]  # nothing is sent
    return ChainClient(target, CaseRun(target, "chain::only").log)


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


def test_revert_of_the_contract_is_told_at_once() -> None:
    with pytest.raises(ChainReverted):
        exists(chain_that_tells((200, REVERTED), (200, YES)))


def test_view_of_no_contract_is_the_nodes_fault() -> None:
    with pytest.raises(Malformed):
        exists(chain_that_tells((200, '{"id": 1, "result": "0x"}')))
