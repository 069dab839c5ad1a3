"""The gateway to the contract, and what its refusals become over HTTP."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest
from eth_utils.crypto import keccak
from nodes import Running, refused

from reference_node.chain.contract_abi import ContractRefusal, call_data, entries, refusal
from reference_node.chain.interface import Reverted
from reference_node.chain.payers import PayerPool
from reference_node.permission.keys import address_of, key_hash, key_text, new_secret
from reference_node.problems import Problem
from reference_node.refusals import problem_of

SAMPLES: dict[str, object] = {
    "uint256": 5,
    "uint64": 7,
    "bytes32": b"\xab" * 32,
    "address": "0x" + "cd" * 20,
    "string": "x",
}

NEVER_A_CLIENTS_FAULT = {"AdminPayerOnly", "PageSizeOutOfRange"}
"""What requests are checked for beforehand, or no request can ask for."""


def arguments(error: dict[str, Any]) -> dict[str, object]:
    return {parameter["name"]: SAMPLES[parameter["type"]] for parameter in error["inputs"]}


@pytest.mark.parametrize("error", entries("error"), ids=lambda error: error["name"])
def test_every_refusal_of_the_contract_has_its_answer(error: dict[str, Any]) -> None:
    problem = problem_of(ContractRefusal(error["name"], arguments(error)))
    if error["name"] in NEVER_A_CLIENTS_FAULT:
        assert problem is None
    else:
        assert isinstance(problem, Problem)
        assert problem.status in {401, 403, 404, 409, 422}
        assert "{" not in problem.detail


def test_refusal_is_read_with_its_arguments(running: Running) -> None:
    with pytest.raises(ContractRefusal) as caught:
        running.node.accounts.remove_group(5, 7)
    assert (caught.value.error, caught.value.arguments) == ("KeyUnknown", {"keyHash": 5})


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x08\xc3\x79\xa0" + bytes(64), b"\xff" * 36])
def test_revert_that_is_no_custom_error_stays_one(data: bytes) -> None:
    reverted = Reverted(data)
    assert refusal(reverted) is reverted


def test_revert_without_a_reason_is_the_chains_failure(running: Running, account: str) -> None:
    with mock.patch.object(running.node.accounts, "groups", side_effect=Reverted(b"")):
        refused(running.get("list_groups", account), 503, "chain-refused")


def test_labels_that_are_no_text_do_not_stop_a_list(running: Running) -> None:
    """Whoever signs transactions can write any bytes into a Solidity string."""
    wallet, secret = new_secret(), new_secret()
    running.node.chain.fund(address_of(wallet), 10**20)
    account_hash = int.from_bytes(keccak(address_of(wallet)))
    key = (account_hash, key_hash(secret), 0, 0, "n", "d", False, False, False, (), (), (), ())
    for data in (
        call_data("newChainSecuredAccount", "n", "d"),
        call_data("registerWalletDerivation", account_hash, address_of(secret), 1, "n", "d"),
        call_data("setUsageApiKey", *key),
        call_data("addGroup", account_hash, "text", "d", [], []).replace(b"text", b"\xff\xfext"),
    ):
        PayerPool(running.node.chain, [wallet]).submit(running.node.accounts.address, data)
    assert running.read("list_groups", key_text(secret)) == [{"id": 1, "name": "\ufffd\ufffdxt", "description": "d"}]
