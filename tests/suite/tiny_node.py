"""A node of a few lines, for tests of the suite: accounts, usage keys and groups in memory, and any fault on demand."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from urllib.parse import parse_qsl, urlsplit

from http_server import Answer, Request, serve

CORE = "/core/v1/"
DROP = -1
"""As a status: close the connection without an answer."""


@dataclass
class Asked:
    """A request that the node got."""

    method: str
    path: str
    """Without `/core/v1/`."""
    query: dict[str, str]
    headers: dict[str, str]
    text: str

    @property
    def body(self) -> dict[str, object]:
        value = json.loads(self.text) if self.text else {}
        return value if isinstance(value, dict) else {}

    @property
    def key(self) -> str:
        return self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")


@dataclass
class Told:
    """What it answers."""

    status: int = 200
    body: object = None
    """JSON, or the text itself."""
    headers: dict[str, str] = field(default_factory=dict)


Fault = Callable[[Asked], Told]


@dataclass
class TinyNode:
    """The state, the faults, and what was asked."""

    url: str = ""
    groups: dict[str, list[dict[str, object]]] = field(default_factory=dict)
    """Account key to its groups."""
    owners: dict[str, str] = field(default_factory=dict)
    """Usage key to its account key."""
    faults: dict[str, Fault] = field(default_factory=dict)
    """By path: answers instead of the node."""
    asked: list[Asked] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)
    over: threading.Event = field(default_factory=threading.Event)
    """Set when the node is taken down."""

    def answer(self, asked: Asked) -> Told:
        with self.lock:
            self.asked.append(asked)
        if asked.path in self.faults:
            return self.faults[asked.path](asked)
        return self.honest(asked)

    def honest(self, asked: Asked) -> Told:
        with self.lock:
            if asked.path == "new_account":
                return self._new_account()
            if asked.path == "get_node_chain_config":
                return Told(body={"chain_id": 31337, "contract_address": "0x" + "11" * 20})
            account = self.owners.get(asked.key, asked.key)
            if account not in self.groups:
                return Told(401, {"title": "unknown key"})
            handler = getattr(self, f"_{asked.path}", None)
            return handler(asked, account) if handler else Told(404, {"title": "no such path"})

    def hang(self, _: Asked) -> Told:
        """A fault: no answer as long as the node is there."""
        self.over.wait()
        return Told(DROP)

    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]

    def _new_account(self) -> Told:
        key = base64.b64encode(sha256(len(self.groups).to_bytes(32)).digest()).decode()
        self.groups[key] = []
        return Told(body={"api_key": key, "wallet_address": "0x" + "ab" * 20})

    def _add_usage_api_key(self, asked: Asked, account: str) -> Told:
        if asked.key != account:
            return Told(403, {"title": "owner only"})
        key = base64.b64encode(b"usage key" + len(self.owners).to_bytes(23)).decode()
        self.owners[key] = account
        return Told(body={"success": True, "usage_api_key": key})

    def _remove_usage_api_key(self, asked: Asked, account: str) -> Told:
        if self.owners.pop(str(asked.body["usage_api_key"]), None) != account:
            return Told(404, {"title": "no such key"})
        return Told(body={"success": True})

    def _list_api_keys(self, asked: Asked, account: str) -> Told:
        return self._page([{"name": key[:4]} for key, owner in self.owners.items() if owner == account], asked)

    def _add_group(self, asked: Asked, account: str) -> Told:
        if not isinstance(asked.body.get("group_name"), str):
            return Told(422, {"title": "no name"})
        groups = self.groups[account]
        made = max((int(str(group["id"])) for group in groups), default=0) + 1
        groups.append({"id": made, "name": asked.body["group_name"], "description": ""})
        return Told(body={"success": True, "group_id": made})

    def _remove_group(self, asked: Asked, account: str) -> Told:
        groups = self.groups[account]
        left = [group for group in groups if str(group["id"]) != str(asked.body["group_id"])]
        if len(left) == len(groups):
            return Told(404, {"title": "no such group"})
        groups[:] = left
        return Told(body={"success": True})

    def _list_groups(self, asked: Asked, account: str) -> Told:
        return self._page(self.groups[account], asked)

    def _page(self, items: list[dict[str, object]], asked: Asked) -> Told:
        number, size = (int(asked.query.get(name, usual)) for name, usual in (("page_number", 0), ("page_size", 10)))
        return Told(body=items[number * size : (number + 1) * size])


def always(status: int, body: object = None, **headers: str) -> Fault:
    """A fault that answers the same each time."""
    return lambda _: Told(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


@contextmanager
def tiny_node() -> Iterator[TinyNode]:
    """A node that runs as long as the block."""
    node = TinyNode()
    with serve(lambda request: sent_as(node.answer(asked_by(request)))) as node.url:
        try:
            yield node
        finally:
            node.over.set()


def asked_by(request: Request) -> Asked:
    """A request as the node reads it."""
    parts = urlsplit(request.target)
    text = request.body.decode("utf-8", "surrogatepass")
    path = parts.path.removeprefix(CORE)
    return Asked(request.method, path, dict(parse_qsl(parts.query)), dict(request.headers), text)


def sent_as(told: Told) -> Answer | None:
    """What the node answers as it is sent."""
    if told.status == DROP:
        return None
    body = told.body if isinstance(told.body, str) else "" if told.body is None else json.dumps(told.body)
    headers = {"Content-Type": "application/json", **told.headers}
    return Answer(told.status, body.encode("utf-8", "surrogatepass"), tuple(headers.items()))
