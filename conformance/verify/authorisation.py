"""What the application-authorisation contract says, over the chain's JSON-RPC ("Verification rules", 8)."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from types import TracebackType

from conformance.transport import trusted
from conformance.values import json_text
from conformance.verify.strict import json_object
from conformance.verify.transport import Budget, FetchError, Transport, Witness

ALLOWED_COMPOSE_HASHES = "2f6622e5"
"""Selector of `allowedComposeHashes(bytes32)`."""
ID = 1
NOTHING = "0x"
HEX = re.compile(r"0x(?:[0-9a-fA-F]{2})*")
REVERTED = 3
"""The code of a revert, by the execution APIs of Ethereum; clients say it in words, too, under codes of their own."""
REVERTS = ("revert", "invalid opcode", "out of gas", "vm execution error")


class AuthorisationChain:
    """The JSON-RPC of the chain of the contract at `app_id`. Use it in `with`. ValueError: its URL is none."""

    def __init__(
        self,
        rpc_url: str,
        witness: Witness | None = None,
        ca_file: Path | None = None,
        budget: Budget | None = None,
    ) -> None:
        # unlike evidence, the chain's answer is signed by nobody: over HTTPS its certificate counts
        self._transport = Transport(rpc_url, budget, witness, partial(trusted, ca_file))
        self._url = self._transport.base_url

    def __enter__(self) -> AuthorisationChain:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._transport.__exit__(kind, value, trace)

    def has_contract(self, app_id: bytes) -> bool:
        """Whether there is code at `app_id`. FetchError: the JSON-RPC does not answer."""
        code = self._result("eth_getCode", f"0x{app_id.hex()}")
        if not isinstance(code, str):
            raise FetchError(f"the JSON-RPC {self._url} does not say what code there is at {app_id.hex()}")
        return bool(code.removeprefix("0x").strip("0"))

    def allows(self, app_id: bytes, compose_hash: bytes) -> bool:
        """What the contract says of a compose hash; False, too, where it allows others that nobody registered.

        Each of these differs in one byte, the first or the last: a contract that allows it compares less than the hash.

        FetchError: the JSON-RPC does not answer, or what it answers says nothing of the contract.
        """
        first, last = (bytes([compose_hash[0] ^ 1]), bytes([compose_hash[-1] ^ 1]))
        others = (first + compose_hash[1:], compose_hash[:-1] + last)
        return self._allowed(app_id, compose_hash) and not any(self._allowed(app_id, other) for other in others)

    def _allowed(self, app_id: bytes, compose_hash: bytes) -> bool:
        call = {"to": f"0x{app_id.hex()}", "data": f"0x{ALLOWED_COMPOSE_HASHES}{compose_hash.hex()}"}
        result = self._result("eth_call", call)
        if not isinstance(result, str) or not HEX.fullmatch(result):
            raise FetchError(f"the JSON-RPC {self._url} answers eth_call with something else than data in hex")
        return result.lower() == f"0x{1:064x}"

    def _result(self, method: str, about: object) -> object:
        """The result for the latest block; `NOTHING`: the contract reverts. FetchError: any other error."""
        asked = json_text.written({"jsonrpc": "2.0", "id": ID, "method": method, "params": [about, "latest"]})
        body = self._transport.post(asked).body
        try:
            answer = json_object(body)
        except ValueError as problem:
            raise FetchError(f"the JSON-RPC {self._url} answers {method} with no JSON object: {problem}") from problem
        error, answered = answer.get("error"), answer.get("id")
        if error is not None:
            if _reverts(error):
                return NOTHING
            raise FetchError(f"the JSON-RPC {self._url} answers {method} with the error {json_text.written(error)}")
        if "result" not in answer:
            raise FetchError(f"the JSON-RPC {self._url} answers {method} with neither a result nor an error")
        if type(answered) is not int or answered != ID:
            raise FetchError(f"the JSON-RPC {self._url} answers another request than {method}: its id is not {ID}")
        return answer["result"]


def _reverts(error: object) -> bool:
    """Whether an error tells how a contract ran, and not that it was not run."""
    if not isinstance(error, dict):
        return False
    message = str(error.get("message")).lower()
    return error.get("code") == REVERTED or any(words in message for words in REVERTS)
