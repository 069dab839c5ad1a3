"""Speaks JSON-RPC to an external chain, one request at a time; every failure is a refusal or an unavailability."""

from __future__ import annotations

import itertools
from typing import Final

import httpx

from conformance.transport import client
from reference_node.chain.interface import ChainUnavailable, Reverted
from reference_node.chain.rpc_values import EXECUTION_REVERTED, INVALID_PARAMS, SERVER_ERROR, InvalidParams, Json, data

REQUEST_SECONDS: Final = 15.0
"""How long one request may take."""

TRANSACTION_REJECTED: Final = -32003
"""EIP-1474's code for a transaction that is not taken; anvil uses it, geth says `SERVER_ERROR`."""

_HALTS = ("out of gas", "invalid opcode", "invalid jump", "stack underflow", "gas required exceeds", "evm error")


class NotReached(ChainUnavailable):
    """No connection: nothing of the request can have arrived."""


class RpcFailure(Exception):  # noqa: N818 - an answer, of the kind that JSON-RPC calls an error
    """The chain answered with an error."""

    def __init__(self, code: int, message: str, content: object) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.content = content
        """The error's `data`, whatever it is."""

    @property
    def refuses_transaction(self) -> bool:
        """Whether it says that a transaction is at fault, rather than the chain or the way to it."""
        return self.code in {SERVER_ERROR, TRANSACTION_REJECTED, INVALID_PARAMS, EXECUTION_REVERTED}

    def revert(self) -> Reverted | None:
        """The contract's refusal, if that is what it tells of."""
        text = self.message.lower()
        if self.code == EXECUTION_REVERTED or "revert" in text:
            return Reverted(_revert_data(self.content))
        return Reverted(b"") if any(halt in text for halt in _HALTS) else None

    def unavailable(self) -> ChainUnavailable:
        """The failure as the chain's, when it is nothing else."""
        return ChainUnavailable(f"the chain answered with error {self.code}: {self.message}")


def _revert_data(content: object) -> bytes:
    """geth, anvil and this node put the data there as it is; others wrap it in an object."""
    if isinstance(content, dict):
        content = content.get("data")
    try:
        return data(content)
    except InvalidParams:
        return b""


class RpcClient:
    """Requests to one JSON-RPC address, from any number of threads."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._http = client(timeout=REQUEST_SECONDS)
        self._identifiers = itertools.count(1)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def request(self, method: str, *params: Json) -> object:
        """The result; raises `RpcFailure` for an error answer and `ChainUnavailable` for none, or none that is one."""
        identifier = next(self._identifiers)
        body = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": list(params)}
        try:
            response = self._http.post(self._url, json=body)
        except (
            httpx.ConnectError,
            httpx.ConnectTimeout,
            httpx.ProxyError,
            httpx.UnsupportedProtocol,
            httpx.InvalidURL,
        ) as error:
            raise NotReached(f"no connection to the chain: {error}") from error
        except httpx.HTTPError as error:
            raise ChainUnavailable(f"the chain did not answer {method}: {type(error).__name__} {error}") from error
        return self._result(method, identifier, response)

    def _result(self, method: str, identifier: int, response: httpx.Response) -> object:
        try:
            answer = response.json()
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict) or answer.get("id") not in (identifier, None):
            raise ChainUnavailable(f"the chain answered {method} with no JSON-RPC, status {response.status_code}")
        error = answer.get("error")
        if isinstance(error, dict):
            code, message = error.get("code"), error.get("message")
            raise RpcFailure(code if isinstance(code, int) else 0, str(message), error.get("data"))
        if "result" not in answer or answer["id"] != identifier:
            raise ChainUnavailable(f"the chain answered {method} with neither result nor error")
        result: object = answer["result"]
        return result
