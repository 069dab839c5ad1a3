"""Alters a freshly built node from the outside: wraps a method of a service, or intercepts requests."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar
from urllib.parse import parse_qsl, urlencode

from anyio import sleep_forever
from pydantic import JsonValue
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reference_node.node import Node

CORE = "/core/v1/"


T = TypeVar("T")
_lasting: dict[tuple[bytes, str], object] = {}


def lasting(node: Node, name: str, empty: T) -> T:
    """Return what an alteration remembers of a node under this name, over its restarts too; at first, `empty`."""
    kept: T = _lasting.setdefault((node.settings.root_secret, name), empty)  # type: ignore[assignment]  # one name has one type
    return kept


def wrap(service: object, method: str, around: Callable[..., object]) -> None:
    """Replace a method: `around` is called with the method as it was, then with the arguments."""
    setattr(service, method, partial(around, getattr(service, method)))


def silence(service: object, method: str) -> None:
    """Make a method do nothing and return None."""

    def nothing(*_: object) -> None:
        return None

    setattr(service, method, nothing)


@dataclass(frozen=True)
class Received:
    """A request as it came in."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    client: object = None
    """The client's end of the connection."""

    @property
    def operation(self) -> str:
        """The last part of its path: ``add_group``."""
        return self.path.removeprefix(CORE)

    @property
    def key(self) -> str | None:
        """The key in `X-Api-Key`."""
        return dict(self.headers).get(b"x-api-key", b"").decode() or None

    def having(self, value: JsonValue) -> Received:
        """Return the request with this JSON as its body."""
        return replace(self, body=json.dumps(value).encode())


@dataclass(frozen=True)
class Answered:
    """An answer before it goes out."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    @property
    def accepted(self) -> bool:
        """Whether it is a 2xx."""
        return 200 <= self.status < 300

    @property
    def told(self) -> dict[str, JsonValue]:
        """The members of its JSON object; none of other JSON."""
        return members(json.loads(self.body))

    def having(self, value: JsonValue) -> Answered:
        """Return the answer with this JSON as its body."""
        return replace(self, body=json.dumps(value).encode())

    def headed(self, name: bytes, value: bytes) -> Answered:
        """Return the answer with a further header."""
        return replace(self, headers=(*self.headers, (name, value)))


UNREADABLE = (AttributeError, KeyError, RecursionError, TypeError, ValueError)
"""What a handler raises for a request of another form than it expects: its fault is not about that request."""
Forward = Callable[[Received], Awaitable[Answered]]
Handler = Callable[[Received, Forward], Awaitable[Answered]]


def answer(status: int, value: JsonValue) -> Answered:
    """Make an answer in JSON."""
    return Answered(status, ((b"content-type", b"application/json"),), json.dumps(value).encode())


def refusal(status: int) -> Answered:
    """Make a refusal as the node writes them."""
    problem: JsonValue = {
        "type": "about:blank",
        "title": "refused",
        "status": status,
        "detail": "refused",
        "code": "refused",
        "instance": "refused",
    }
    return replace(answer(status, problem), headers=((b"content-type", b"application/problem+json"),))


def intercept(node: Node, operations: str | Iterable[str], handler: Handler) -> None:
    """Hand every request of these operations to the handler; its `forward` asks the node as it was."""
    names = frozenset([operations] if isinstance(operations, str) else operations)
    node.app.add_middleware(Interception, names=names, handler=handler)


def change_request(node: Node, operations: str | Iterable[str], change: Callable[[Received], Received]) -> None:
    """Rewrite requests."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return await forward(change(request))

    intercept(node, operations, handler)


def answer_instead(
    node: Node, operations: str | Iterable[str], given: Answered, when: Callable[[Received], object] = lambda _: True
) -> None:
    """Answer this to the requests that `when` names; the node never sees them."""

    async def handler(request: Received, forward: Forward) -> Answered:
        return given if when(request) else await forward(request)

    intercept(node, operations, handler)


def change_accepted(
    node: Node, operations: str | Iterable[str], change: Callable[[Received, Answered], Answered]
) -> None:
    """Rewrite answers to what was accepted; `change` also gets the request."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return change(request, given) if given.accepted else given

    intercept(node, operations, handler)


def note_accepted(node: Node, operations: str | Iterable[str], note: Callable[[Received, Answered], object]) -> None:
    """Tell `note` of each request that is accepted, and of its answer."""

    def noted(request: Received, given: Answered) -> Answered:
        note(request, given)
        return given

    change_accepted(node, operations, noted)


def change_refused(
    node: Node, operations: str | Iterable[str], change: Callable[[Received, Answered], Answered]
) -> None:
    """Rewrite refusals; `change` also gets the request."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return given if given.accepted else change(request, given)

    intercept(node, operations, handler)


def change_body(node: Node, operations: str | Iterable[str], change: Callable[[JsonValue], JsonValue]) -> None:
    """Rewrite the JSON that requests carry, before the node reads it; what is no JSON goes on as it is."""

    async def handler(request: Received, forward: Forward) -> Answered:
        try:
            changed = json.dumps(change(json.loads(request.body))).encode()
        except (ValueError, RecursionError):
            changed = request.body
        return await forward(replace(request, body=changed))

    intercept(node, operations, handler)


def change_query(
    node: Node, operations: str | Iterable[str], change: Callable[[dict[str, str]], dict[str, str]]
) -> None:
    """Rewrite the query of requests."""

    async def handler(request: Received, forward: Forward) -> Answered:
        query = change(dict(parse_qsl(request.query, keep_blank_values=True)))
        return await forward(replace(request, query=urlencode(query)))

    intercept(node, operations, handler)


def change_answer(node: Node, operations: str | Iterable[str], change: Callable[[JsonValue], JsonValue]) -> None:
    """Rewrite the JSON of accepted answers."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return answer(given.status, change(json.loads(given.body))) if given.accepted else given

    intercept(node, operations, handler)


def change_items(node: Node, operations: str | Iterable[str], change: Callable[[list[JsonValue]], JsonValue]) -> None:
    """Rewrite the items of accepted lists."""
    change_answer(node, operations, lambda value: change(value) if isinstance(value, list) else value)


def members(value: JsonValue) -> dict[str, JsonValue]:
    """Return the members of a JSON object; none of anything else."""
    return value if isinstance(value, dict) else {}


def body_of(request: Received) -> dict[str, JsonValue]:
    """Return the members of a request's JSON object; none where it holds no object."""
    try:
        return members(json.loads(request.body))
    except (ValueError, RecursionError):
        return {}


def text_member(request: Received, name: str) -> str:
    """Return a member of a request as text; `None` where there is none, empty where the body is no JSON."""
    try:
        return str(members(json.loads(request.body)).get(name))
    except (ValueError, RecursionError):
        return ""


def each(change: Callable[[dict[str, JsonValue]], dict[str, JsonValue]]) -> Callable[[list[JsonValue]], JsonValue]:
    """Make a change of each item one of the list, for `change_items`."""
    return lambda items: [change(members(item)) for item in items]


class Interception:
    """ASGI layer that hands whole requests of some operations to a handler."""

    def __init__(self, app: ASGIApp, names: frozenset[str], handler: Handler) -> None:
        self._app = app
        self._names = names
        self._handler = handler

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http" or scope["path"].removeprefix(CORE) not in self._names:
            await self._app(scope, receive, send)
            return
        body = await _whole_body(receive)
        request = Received(
            scope["method"],
            scope["path"],
            scope["query_string"].decode(),
            tuple(scope["headers"]),
            body,
            scope["client"],
        )
        given = await self._handled(request, partial(self._forward, scope))
        headers = [(name, value) for name, value in given.headers if name.lower() != b"content-length"]
        headers.append((b"content-length", str(len(given.body)).encode()))
        await send({"type": "http.response.start", "status": given.status, "headers": headers})
        await send({"type": "http.response.body", "body": given.body})

    async def _handled(self, request: Received, ask: Forward) -> Answered:
        """The handler's answer; that of the node as it was to a request that the handler cannot read."""
        asked: list[Received] = []
        got: list[Answered] = []

        async def forward(changed: Received) -> Answered:
            asked.append(changed)
            got.append(await ask(changed))
            return got[-1]

        try:
            return await self._handler(request, forward)
        except UNREADABLE:
            if asked and not got:
                raise
            return got[-1] if got else await ask(request)

    async def _forward(self, scope: Scope, request: Received) -> Answered:
        headers = [(name, value) for name, value in request.headers if name.lower() != b"content-length"]
        if request.body:
            headers.append((b"content-length", str(len(request.body)).encode()))
        changed = {
            "method": request.method,
            "path": request.path,
            "raw_path": request.path.encode(),
            "query_string": request.query.encode(),
            "headers": headers,
        }
        sent: list[Message] = []

        bodies = [request.body]

        async def receive() -> Message:
            if not bodies:
                await sleep_forever()  # the caller does not go away
            return {"type": "http.request", "body": bodies.pop(), "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        await self._app({**scope, **changed}, receive, send)
        body = b"".join(message.get("body", b"") for message in sent)
        return Answered(sent[0]["status"], tuple(sent[0]["headers"]), body)


async def _whole_body(receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += bytes(message.get("body", b""))
        if not message.get("more_body"):
            return body
