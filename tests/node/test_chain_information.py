"""Chain and payer information (specification, "Endpoints")."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from nodes import Running, refused
from waiting import Held

from reference_node.api import json_rpc
from reference_node.chain.contract_abi import call_data
from reference_node.chain.rpc import Answering, JsonRpc
from reference_node.cli import main
from reference_node.resources import artifacts

CHAIN_ID = {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []}


def test_interface_of_the_contract_is_told_by_the_node_and_by_a_command(
    running: Running, capsys: pytest.CaptureFixture[str]
) -> None:
    artifact = json.loads((artifacts() / "AccountConfig.json").read_text())
    answered = running.http.get("/abi/AccountConfig.json")
    assert main(["abi"]) == 0
    assert answered.json() == json.loads(capsys.readouterr().out) == artifact["abi"]


def test_json_rpc_answers_beside_the_api(running: Running) -> None:
    assert running.http.post("/rpc", json=CHAIN_ID).json() == {"jsonrpc": "2.0", "id": 1, "result": "0x7a69"}
    notification = running.http.post("/rpc", json={"jsonrpc": "2.0", "method": "eth_chainId", "params": []})
    assert (notification.status_code, notification.content) == (204, b"")
    too_long = running.http.post("/rpc", content=b" " * (2**20 + 1), headers={"Content-Type": "application/json"})
    refused(too_long, 413, "body-too-large")


@pytest.mark.parametrize("media_type", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
def test_json_rpc_takes_nothing_that_any_web_page_may_send(running: Running, media_type: str | None) -> None:
    headers = {} if media_type is None else {"Content-Type": media_type}
    refused(running.http.post("/rpc", content=json.dumps(CHAIN_ID), headers=headers), 415, "not-json")


def test_json_rpc_under_load_says_that_it_is_busy(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_rpc, "WAITING", 0)
    answer = running.http.post("/rpc", json=CHAIN_ID)
    refused(answer, 503, "rpc-busy")
    assert answer.headers["Retry-After"] == "1"


def test_api_answers_while_every_thread_of_the_json_rpc_is_taken(
    running: Running, account: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held(monkeypatch, Answering, "go_on")
    with ThreadPoolExecutor(50) as callers:
        asked = [callers.submit(running.http.post, "/rpc", json=CHAIN_ID, timeout=60) for _ in range(50)]
        held.begun(json_rpc.THREADS)
        running.group(account)
        held.let_go()
        assert {call.result().json()["result"] for call in asked} == {"0x7a69"}


def looping(running: Running) -> dict[str, object]:
    """A call that loops until its gas is spent, which takes far longer than a short turn."""
    to = str(running.read("get_node_chain_config")["contract_address"])
    params = [{"to": to, "data": "0x", "gas": hex(1_000_000)}, "latest", {to: {"code": "0x5b600056"}}]
    return {"jsonrpc": "2.0", "id": 1, "method": "eth_call", "params": params}


OF_OWN_CODE, LONG = (json_rpc.SHORT_TURN_SECONDS, True), (None, True)
"""The seconds of a turn, and whether it runs code that the call brings."""


@pytest.mark.parametrize(
    ("method", "turn"),
    [("eth_chainId", LONG), ("eth_chainId", OF_OWN_CODE), ("eth_call", OF_OWN_CODE)],
    ids=["beside-long-turns", "beside-own-code", "call-beside-own-code"],
)
def test_short_request_does_not_wait_for_long_ones(
    running: Running, monkeypatch: pytest.MonkeyPatch, method: str, turn: tuple[float | None, bool]
) -> None:
    def is_held(_: Answering, seconds: float | None = None, *, own_code: bool = True) -> bool:
        return (seconds, own_code) == turn

    contract = running.read("get_node_chain_config")["contract_address"]
    params = [{"to": contract, "data": f"0x{call_data('apiPayers').hex()}"}] if method == "eth_call" else []
    short = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    loops = json_rpc.THREADS + 2  # more than are processed at once
    held = Held(monkeypatch, Answering, "go_on", is_held)
    with ThreadPoolExecutor(loops) as callers:
        asked = [callers.submit(running.http.post, "/rpc", json=looping(running), timeout=60) for _ in range(loops)]
        held.begun()
        assert "result" in running.http.post("/rpc", json=short).json()
        held.let_go()
        assert all("error" in call.result().json() for call in asked)


def test_batch_goes_on_where_its_first_turn_ended(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    single = JsonRpc.single

    def noted(rpc: JsonRpc, request: dict[str, object], allowance: object) -> bytes | None:
        asked.append(request["id"])
        return single(rpc, request, allowance)  # type: ignore[arg-type]  # passed through

    monkeypatch.setattr(JsonRpc, "single", noted)
    answers = running.http.post(
        "/rpc", json=[{**CHAIN_ID, "id": 0}, looping(running), {**CHAIN_ID, "id": 2}], timeout=60
    ).json()
    assert [answer["id"] for answer in answers] == [0, 1, 2]
    assert ("error" in answers[1], asked) == (True, [0, 1, 1, 1, 2])
