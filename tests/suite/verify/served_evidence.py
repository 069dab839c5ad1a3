"""A service that serves evidence on loopback, with what stands around it: PCCS, DNS, JSON-RPC."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from http_server import Answer, Request, serve
from made_evidence import HONEST, MADE

from conformance.verify import Evidence
from reference_node.tee.acme import Credentials
from reference_node.tee.collateral import make_collateral, pccs_answers

PATHS = {
    "/info": "info.json",
    "/attestation": "attestation.json",
    "/evidences/": "evidences/index.html",
}
PCCS = {
    path: (200, answer.headers, answer.body) for path, answer in pccs_answers(make_collateral(MADE.platform)).items()
}
"""The answers of a PCCS for the platform."""


@dataclass
class Service:
    """What the server serves; tests change it while it runs."""

    evidence: Evidence
    answers: dict[str, tuple[int, Mapping[str, str], bytes]] = field(default_factory=dict)
    """Answers that take the place of the evidence, by path without its query."""
    once: dict[str, bytes] = field(default_factory=dict)
    """Bodies that do so for one request."""
    requests: list[str] = field(default_factory=list)
    connections: set[object] = field(default_factory=set)
    url: str = ""

    def answer(self, path: str) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers, body."""
        if path in self.once:
            return 200, {}, self.once.pop(path)
        if path in self.answers:
            return self.answers[path]
        body = self.evidence.get(PATHS.get(path, path.removeprefix("/")))
        return (404, {}, b"{}") if body is None else (200, {}, body)


@contextmanager
def serving(service: Service, credentials: Credentials | None = None, folder: Path | None = None) -> Iterator[Service]:
    """The service, listening on a free port; over TLS with credentials, for which a folder takes their file."""
    context = _context(credentials, folder) if credentials and folder else None
    with serve(partial(_answered, service), context) as service.url:
        yield service


def _answered(service: Service, request: Request) -> Answer:
    posted = request.method == "POST"
    service.requests.append(request.body.decode() if posted else request.target)
    service.connections.add(request.connection)
    status, headers, body = service.answer(request.target if posted else request.target.partition("?")[0])
    return Answer(status, body, tuple(headers.items()))


def _context(credentials: Credentials, folder: Path) -> ssl.SSLContext:
    file = folder / "served.pem"
    file.write_bytes(credentials.chain + credentials.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


@contextmanager
def serving_chain(results: Iterable[object]) -> Iterator[Service]:
    """A JSON-RPC that gives each of the results once."""
    answers = ({"jsonrpc": "2.0", "id": 1, "result": result} for result in results)
    with serving(Service(HONEST)) as chain:
        chain.answer = lambda _: (200, {}, json.dumps(next(answers)).encode())  # type: ignore[method-assign]
        yield chain
