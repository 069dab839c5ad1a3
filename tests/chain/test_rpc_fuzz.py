"""Whatever is sent to the JSON-RPC, the answer is well-formed, the fault the client's, and the chain stands."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from reference_node.chain.evm import EvmChain
from reference_node.chain.rpc import JsonRpc

from . import UNHURRIED
from .bytecode import COUNTER, init_code, word
from .wallets import ALICE, BOB, rich_chain

CLIENTS_FAULTS = {-32700, -32600, -32601, -32602, -32000, 3}


def busy_chain() -> tuple[EvmChain, bytes]:
    chain = rich_chain()
    contract = ALICE.deploy(chain, init_code(COUNTER))
    ALICE.send(chain, contract, data=word(1) + word(2))
    return chain, contract


CHAIN, CONTRACT = busy_chain()
RPC = JsonRpc(CHAIN)
BEFORE = (CHAIN.blocks.latest, CHAIN.balance(ALICE.address), CHAIN.storage(CONTRACT, 0))

METHODS = sorted(RPC._methods)  # the names are nowhere public
MEMBERS = [
    "from", "to", "data", "input", "value", "gas", "gasPrice", "maxFeePerGas", "maxPriorityFeePerGas", "nonce", "type",
    "chainId", "accessList", "address", "storageKeys", "authorizationList", "balance", "code", "state", "stateDiff",
    "blockHash", "blockNumber", "requireCanonical", "fromBlock", "toBlock", "topics",
]  # fmt: skip

hexes = st.one_of(
    st.sampled_from(["0x", "0x0", "0x1", "0x00", "0xff", "0x5208", "0x" + "00" * 32, "0x" + "ff" * 32]),
    st.sampled_from(["0x" + ALICE.address.hex(), "0x" + BOB.address.hex(), "0x" + CONTRACT.hex()]),
    st.sampled_from(["0x" + CHAIN.blocks.latest.hash.hex(), "0x" + init_code(COUNTER).hex()]),
    st.integers(0, 2**260).map(hex),
    st.binary(max_size=64).map(lambda raw: "0x" + raw.hex()),
)
tags = st.sampled_from(["latest", "pending", "safe", "finalized", "earliest"])
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=5)
)
values = st.recursive(
    st.one_of(hexes, tags, scalars),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.one_of(st.sampled_from(MEMBERS), hexes), inner, max_size=4)
    ),
    max_leaves=8,
)
authorizations = st.lists(
    st.fixed_dictionaries(dict.fromkeys(["chainId", "address", "nonce", "yParity", "r", "s"], hexes)), max_size=2
)
calls = st.fixed_dictionaries(
    {"to": hexes},
    optional={
        **dict.fromkeys(["from", "data", "value", "gas", "nonce"], hexes),
        "accessList": values,
        "authorizationList": authorizations,
    },
)
params = st.lists(st.one_of(values, calls, hexes, tags), max_size=4)
requests = st.one_of(
    st.fixed_dictionaries(
        {"jsonrpc": st.just("2.0"), "id": st.integers(), "method": st.sampled_from(METHODS), "params": params}
    ),
    st.fixed_dictionaries(
        {}, optional={"jsonrpc": scalars, "id": values, "method": values | st.sampled_from(METHODS), "params": values}
    ),
)


def check(answer: object) -> None:
    assert isinstance(answer, dict)
    assert answer["jsonrpc"] == "2.0"
    assert ("result" in answer) != ("error" in answer)
    if "error" in answer:
        assert answer["error"]["code"] in CLIENTS_FAULTS, answer
        assert isinstance(answer["error"]["message"], str)


@settings(UNHURRIED, max_examples=400)
@given(request=requests)
def test_any_request_has_a_well_formed_answer(request: dict[str, object]) -> None:
    body = RPC.handle(json.dumps(request).encode())
    if body is None:
        assert "id" not in request
    else:
        check(json.loads(body))
    assert (CHAIN.blocks.latest, CHAIN.balance(ALICE.address), CHAIN.storage(CONTRACT, 0)) == BEFORE


@settings(UNHURRIED, max_examples=100)
@given(requests=st.lists(st.one_of(requests, values), min_size=1, max_size=4))
def test_any_batch_has_well_formed_answers(requests: list[object]) -> None:
    body = RPC.handle(json.dumps(requests).encode())
    for answer in json.loads(body or b"[]"):
        check(answer)


@settings(UNHURRIED, max_examples=200)
@given(body=st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)))
def test_any_bytes_have_a_well_formed_answer(body: bytes) -> None:
    answer = RPC.handle(body)
    assert answer is not None
    decoded = json.loads(answer)
    for each in decoded if isinstance(decoded, list) else [decoded]:
        check(each)
