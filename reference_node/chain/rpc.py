"""The JSON-RPC of the in-memory chain, for web3.py, ethers, viem and the like: JSON-RPC 2.0 with batches."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping
from typing import NoReturn

from reference_node.chain.evm import EvmChain
from reference_node.chain.evm_calls import OutOfTurn, left_of_turn, turn
from reference_node.chain.interface import TransactionRefused
from reference_node.chain.rpc_blocks import BlockMethods
from reference_node.chain.rpc_logs import LogMethods
from reference_node.chain.rpc_methods import ChainMethods, Method, StateMethods
from reference_node.chain.rpc_values import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    SERVER_ERROR,
    InvalidParams,
    Json,
    RpcError,
)
from reference_node.log_limit import limited_logger

logger = limited_logger(__name__)

BATCH_REQUESTS = 1000
"""The most requests in one batch."""

BATCH_SECONDS = 10.0
"""How long a batch may take: its requests that have not begun by then are refused. One that has may need as long."""

BATCH_BYTES = 25_000_000
"""Once the answers to a batch are that long, the rest of its requests are refused."""


class _Allowance:
    """What one body may take; a batch could keep a thread for hours, or fill the memory, with a few bytes a request."""

    def __init__(self) -> None:
        self._deadline = time.monotonic() + BATCH_SECONDS
        self.answered_bytes = 0

    def check(self) -> None:
        """Refuse a request that comes too late or after too long answers."""
        if time.monotonic() > self._deadline:
            raise RpcError(SERVER_ERROR, "the batch takes too long: send fewer requests in one")
        if self.answered_bytes > BATCH_BYTES:
            raise RpcError(SERVER_ERROR, "the answers to the batch are too long: send fewer requests in one")


class JsonRpc:
    """Answers request bodies, from any number of threads. Each request sees one moment of the chain."""

    def __init__(self, chain: EvmChain) -> None:
        self._lock = chain.lock
        self._methods: Mapping[str, Method] = {
            **ChainMethods(chain).table(),
            **StateMethods(chain).table(),
            **BlockMethods(chain).table(),
            **LogMethods(chain).table(),
        }

    def handle(self, body: bytes) -> bytes | None:
        """The response to a request or a batch of them; `None` where nothing but notifications came."""
        return Answering(self, body).go_on()

    def single(self, request: object, allowance: _Allowance) -> bytes | None:
        """The response to one request; `None` to a notification. Raises `OutOfTurn`."""
        identifier: Json = None
        notification = False
        try:
            identifier = _identifier(request)
            method, params, notification = _parts(request)
            allowance.check()
            result = self._answer(method, params)
        except RpcError as error:
            return None if notification else _encoded(_error(identifier, error))
        return None if notification else _encoded({"jsonrpc": "2.0", "id": identifier, "result": result})

    def _answer(self, name: str, params: object) -> Json:
        method = self._methods.get(name)
        if method is None:
            raise RpcError(METHOD_NOT_FOUND, f"the method {name[:80]} does not exist or is not available")
        if not isinstance(params, list):
            raise InvalidParams("params is an array")
        try:
            return method(params) if method.beside_writers else self._at_one_moment(method, params)
        except TransactionRefused as refused:
            raise RpcError(SERVER_ERROR, refused.reason) from refused
        except (RpcError, OutOfTurn):
            raise
        except Exception as error:
            logger.exception("%s failed", name)
            raise RpcError(INTERNAL_ERROR, "internal error") from error

    def _at_one_moment(self, method: Method, params: list[object]) -> Json:
        with self._lock:
            return method(params)


class Answering:
    """The answer to a body, in one turn or in several: what has been answered stays, what needs longer is repeated.

    A request that is repeated has done nothing: calls alone may run out of a turn.
    """

    def __init__(self, rpc: JsonRpc, body: bytes) -> None:
        self._rpc = rpc
        self._body = body
        self._done = 0
        """Requests of a batch that have been answered."""
        self._allowance = _Allowance()
        self._answers: list[bytes] = []

    def go_on(self, seconds: float | None = None, *, own_code: bool = True) -> bytes | None:
        """The response, as `JsonRpc.handle` gives it.

        Raises `OutOfTurn` where it takes more processor time, `BringsOwnCode` where this turn takes no such call.
        """
        with turn(seconds, own_code=own_code):
            return self._response()

    def _response(self) -> bytes | None:
        try:
            request = json.loads(self._body, parse_constant=_refuse_constant)
        except (ValueError, RecursionError):
            return _encoded(_error(None, RpcError(PARSE_ERROR, "parse error: the body is not JSON")))
        if not isinstance(request, list):
            return self._rpc.single(request, self._allowance)
        if not 0 < len(request) <= BATCH_REQUESTS:
            fault = f"a batch of {len(request)}: from 1 to {BATCH_REQUESTS} requests are taken"
            return _encoded(_error(None, RpcError(INVALID_REQUEST, f"invalid request: {fault}")))
        for one in request[self._done :]:
            if self._done:
                left_of_turn()
            answer = self._rpc.single(one, self._allowance)
            self._done += 1
            if answer is not None:
                self._answers.append(answer)
                self._allowance.answered_bytes += len(answer)
        return b"[" + b",".join(self._answers) + b"]" if self._answers else None


def _identifier(request: object) -> Json:
    """The request's id, or `None`, so that even a faulty request can be answered under its own."""
    identifier = request.get("id") if isinstance(request, dict) else None
    if isinstance(identifier, float):
        return identifier if math.isfinite(identifier) else None
    return identifier if isinstance(identifier, str | int) and not isinstance(identifier, bool) else None


def _parts(request: object) -> tuple[str, object, bool]:
    """Method, parameters, and whether it is a notification, which gets no answer."""
    if not isinstance(request, dict):
        raise RpcError(INVALID_REQUEST, "invalid request: not an object")
    if request.get("jsonrpc") != "2.0":
        raise RpcError(INVALID_REQUEST, 'invalid request: jsonrpc is not "2.0"')
    if not isinstance(request.get("method"), str):
        raise RpcError(INVALID_REQUEST, "invalid request: method is not a string")
    if "id" in request and request["id"] is not None and _identifier(request) is None:
        raise RpcError(INVALID_REQUEST, "invalid request: id is neither string nor number")
    params = request.get("params")
    return request["method"], [] if params is None else params, "id" not in request


def _error(identifier: Json, error: RpcError) -> Json:
    content: dict[str, Json] = {"code": error.code, "message": error.message}
    if error.data is not None:
        content["data"] = error.data
    return {"jsonrpc": "2.0", "id": identifier, "error": content}


def _encoded(answer: Json) -> bytes:
    return json.dumps(answer, separators=(",", ":")).encode()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
