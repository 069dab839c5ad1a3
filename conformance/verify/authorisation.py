"""What the application-authorisation contract says, over the chain's JSON-RPC ("Verification rules", 8)."""

from __future__ import annotations

import secrets
import time
from functools import partial
from pathlib import Path
from types import TracebackType

import httpx

from conformance.transport import client, trusted
from conformance.values import json_text
from conformance.values.addresses import read_address
from conformance.verify.transport import SECONDS, Answer, Asked, FetchError, Witness, reason

ALLOWED_COMPOSE_HASHES = "2f6622e5"
"""Selector of `allowedComposeHashes(bytes32)`."""


class AuthorisationChain:
    """The JSON-RPC of the chain of the contract at `app_id`. Use it in `with`. ValueError: its URL is none."""

    def __init__(self, rpc_url: str, witness: Witness | None = None, ca_file: Path | None = None) -> None:
        self._url = read_address(rpc_url)
        self._witness = witness or Witness()
        # unlike evidence, the chain's answer is signed by nobody: over HTTPS its certificate counts
        self._client = client(timeout=SECONDS, trust=partial(trusted, ca_file))

    def __enter__(self) -> AuthorisationChain:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()

    def has_contract(self, app_id: bytes) -> bool:
        """Whether there is code at `app_id`. FetchError: the JSON-RPC does not answer."""
        code = self._result("eth_getCode", f"0x{app_id.hex()}")
        if not isinstance(code, str):
            raise FetchError(f"the JSON-RPC {self._url} does not say what code there is at {app_id.hex()}")
        return bool(code.removeprefix("0x").strip("0"))

    def allows(self, app_id: bytes, compose_hash: bytes) -> bool:
        """What the contract says of a compose hash; False, too, where it allows a random one: then it tells nothing.

        FetchError: the JSON-RPC does not answer.
        """
        return self._allowed(app_id, compose_hash) and not self._allowed(app_id, secrets.token_bytes(32))

    def _allowed(self, app_id: bytes, compose_hash: bytes) -> bool:
        call = {"to": f"0x{app_id.hex()}", "data": f"0x{ALLOWED_COMPOSE_HASHES}{compose_hash.hex()}"}
        result = self._result("eth_call", call)
        return isinstance(result, str) and result.lower() == f"0x{1:064x}"

    def _result(self, method: str, about: object) -> object:
        """The result for the latest block; None: the answer is an error."""
        asked = json_text.written({"jsonrpc": "2.0", "id": 1, "method": method, "params": [about, "latest"]})
        try:
            answer = self._ask(asked).raise_for_status().json()
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as problem:
            raise FetchError(f"the JSON-RPC {self._url} does not answer: {reason(problem)}") from problem
        if not isinstance(answer, dict) or not ({"result", "error"} & answer.keys()):
            raise FetchError(f"the JSON-RPC {self._url} answers with neither a result nor an error")
        return answer.get("result")

    def _ask(self, body: str) -> httpx.Response:
        self._witness.before()
        began, answer = time.monotonic(), None
        try:
            response = self._client.post(self._url, content=body, headers={"Content-Type": "application/json"})
            answer = Answer(response.status_code, response.content, None, dict(response.headers))
        finally:
            self._witness.after(Asked("POST", self._url, body), answer, time.monotonic() - began)
        return response
