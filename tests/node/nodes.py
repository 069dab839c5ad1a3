"""Nodes for the tests to speak to: real ones, on a real socket, inside this process."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
from waiting import until

from reference_node.assembly import build_node
from reference_node.node import Node
from reference_node.server import Announcing, describe
from reference_node.serving.connections import Connections
from reference_node.serving.protocol import TimeLimits
from reference_node.settings import Settings
from reference_node.sockets import bind

ZERO_HASH = "0x" + "00" * 32

LABELS = {"name": "n", "description": "d"}
NEW_GROUP = {"group_name": "n", "group_description": "d"}
"""The texts that requests need."""

PROBLEM_MEMBERS = {"type", "title", "status", "detail", "code", "instance"}


@dataclass
class Running:
    """A node that serves, and a client for it."""

    node: Node
    http: httpx.Client
    ready: dict[str, Any] = field(default_factory=dict)
    """What its ready file would say."""

    def post(self, operation: str, key: str | None = None, **body: Any) -> httpx.Response:
        """A write with these members as its body."""
        return self.http.post(f"/core/v1/{operation}", json=body, headers=_headers(key))

    def get(self, operation: str, key: str | None = None, **query: Any) -> httpx.Response:
        """A read with this query."""
        return self.http.get(f"/core/v1/{operation}", params=query, headers=_headers(key))

    def send(self, operation: str, key: str | None, body: bytes | Iterator[bytes], **headers: str) -> httpx.Response:
        """A write with exactly these bytes as its body, which is called JSON where no header says another type."""
        sent = {"Content-Type": "application/json"} | _headers(key) | headers
        return self.http.post(f"/core/v1/{operation}", content=body, headers=sent)

    def done(self, operation: str, key: str | None = None, **body: Any) -> Any:
        """The answer to a write that has to succeed."""
        return _succeeded(self.post(operation, key, **body))

    def read(self, operation: str, key: str | None = None, **query: Any) -> Any:
        """The answer to a read that has to succeed."""
        return _succeeded(self.get(operation, key, **query))

    def account(self, **more: Any) -> str:
        """The key of a fresh account."""
        created = self.done("new_account", account_name="a name", account_description="a description", **more)
        return str(created["api_key"])

    def usage_key(self, account: str, **permissions: Any) -> str:
        """A fresh usage key with these permissions and no others."""
        created = self.done("add_usage_api_key", account, name="k", description="d", **permissions)
        return str(created["usage_api_key"])

    def group(self, account: str, **lists: Any) -> int:
        """The id of a fresh group."""
        return int(self.done("add_group", account, group_name="g", group_description="d", **lists)["group_id"])

    def wallet(self, account: str) -> str:
        """The PKP id of a fresh wallet."""
        address = self.done("create_wallet", account)["wallet_address"]
        wallets = self.read("list_wallets", account, page_size=100)
        return next(str(wallet["id"]) for wallet in wallets if wallet["wallet_address"] == address)

    def balance(self, account: str) -> int:
        """What an account has left, in cents."""
        return int(self.read("billing/balance", account)["balance_cents"])

    def everything(self, account: str) -> Any:
        """All that the account's lists show, the groups' too."""
        groups = self.read("list_groups", account, page_size=100)
        return {
            "keys": self.read("list_api_keys", account, page_size=100),
            "groups": groups,
            "wallets": self.read("list_wallets", account, page_size=100),
            "actions": self.read("list_actions", account, page_size=100),
            "in groups": [
                [
                    self.read(listing, account, group_id=group["id"])
                    for listing in ("list_wallets_in_group", "list_actions")
                ]
                for group in groups
            ],
        }


def refused(response: httpx.Response, status: int, code: str | None = None) -> dict[str, Any]:
    """The problem document of a refusal with this status, and this code where one is named."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    problem: dict[str, Any] = response.json()
    error = problem.pop("error", None)
    assert set(problem) == PROBLEM_MEMBERS
    kind = "invalid_request_error" if status < 500 else "api_error"
    expected = {"type": kind, "message": problem["detail"]}
    assert error == (expected if response.url.path.startswith(("/stripe/", "/v1/")) else None)
    assert problem["status"] == status
    assert problem["instance"] == response.headers["x-request-id"]
    assert problem["detail"]
    if code is not None:
        assert problem["code"] == code, problem
    return problem


@contextlib.contextmanager
def serving(
    settings: Settings, limits: TimeLimits | None = None, connections: Connections | None = None
) -> Iterator[Running]:
    """A node with these settings and limits of its connections, served from a thread."""
    with bind(settings) as listening:
        node = build_node(settings)
        server = Announcing(node, listening, limits or TimeLimits(), connections)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        until(lambda: server.started or not thread.is_alive())
        assert server.started, "the server ended before it began"
        base_url = f"http://127.0.0.1:{listening.http.getsockname()[1]}"
        try:
            with httpx.Client(base_url=base_url, timeout=60) as client:
                yield Running(node, client, describe(node, listening))
        finally:
            server.should_exit = True
            thread.join(20)
            node.close()


def _headers(key: str | None) -> dict[str, str]:
    return {} if key is None else {"X-Api-Key": key}


def _succeeded(response: httpx.Response) -> Any:
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    return response.json()
