"""A reverse proxy on loopback that serves another server below a prefix of paths, as nginx, Caddy and Traefik do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from urllib.parse import urlsplit

from http_server import Answer, Request, serve

HOP_BY_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "te", "upgrade"})
"""The headers that concern one connection alone (RFC 9110, section 7.6.1)."""


@dataclass(frozen=True)
class Behaviour:
    """What a proxy does."""

    upstream: str
    """The address of the server behind it."""
    prefix: str
    """Where it serves that server. Everything else is 404."""
    strips: bool
    """Whether it takes the prefix off the path before it passes the request on."""
    passes_host: bool = False
    """Whether the server gets the client's `Host`, as with Caddy and Traefik, or its own, as with nginx."""
    sends: Mapping[str, str] = field(default_factory=dict)
    """Headers that every request gets, in place of what the client sent."""


@contextmanager
def behind_proxy(behaviour: Behaviour) -> Iterator[str]:
    """The address, prefix included, at which the proxy answers while the block runs."""
    with serve(partial(_passed_on, behaviour)) as url:
        yield url + behaviour.prefix


def _passed_on(behaviour: Behaviour, request: Request) -> Answer:
    path, question, query = request.target.partition("?")
    if path != behaviour.prefix and not path.startswith(f"{behaviour.prefix}/"):
        return Answer(404)
    if behaviour.strips:
        path = path.removeprefix(behaviour.prefix) or "/"
    host = urlsplit(behaviour.upstream).netloc
    headers = {name: value for name, value in request.headers.items() if name not in HOP_BY_HOP}
    headers |= {} if behaviour.passes_host else {"host": host}
    headers |= {name.lower(): value for name, value in behaviour.sends.items()}
    with closing(HTTPConnection(host, timeout=60)) as connection:
        connection.request(request.method, path + question + query, request.body or None, headers)
        answer = connection.getresponse()
        kept = [pair for pair in answer.getheaders() if pair[0].lower() not in HOP_BY_HOP]
        return Answer(answer.status, answer.read(), kept)
