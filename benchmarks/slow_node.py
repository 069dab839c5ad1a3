"""``python -m benchmarks.slow_node``: a run against the bundled node behind a proxy that is as slow as a public node.

The proxy answers reads, writes, runs and transactions later by so many seconds each. The table sets the time of the run
against that of its longest case: a case is a sequence of requests, so no run is faster, however many cases go at once.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from conformance.endpoints.bundled import BundledNode
from conformance.profile import OPERATIONS, Effect, NotStated, Profile, load_ready_file, resolve
from conformance.report.results import Results
from conformance.report.write import RESULTS_NAME

HEAD = """\
| cases | at once | s | longest case, s | ratio | requests | writes | runs | chain | transactions | MB | verdicts |
|---|---|---|---|---|---|---|---|---|---|---|---|"""
SUBMITTING = "eth_sendRawTransaction"
LEFT_OUT = frozenset({"connection", "content-length", "host", "keep-alive", "transfer-encoding"})
"""Headers of one connection, which the other side sets itself."""
LONGEST_ANSWER_SECONDS = 120.0

Events = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Events]]
Send = Callable[[Events], Awaitable[None]]


@dataclass
class Delays:
    """By how many seconds the node answers later."""

    read: float
    write: float
    run: float
    transaction: float


@dataclass
class SlowProxy:
    """An ASGI application that passes all on to a node, and its answers back when they are due."""

    node: str
    rpc: str
    delays: Delays
    effects: dict[str, Effect]
    """Of each path of an operation."""
    seen: Counter[str] = field(default_factory=Counter)
    http: httpx.AsyncClient | None = None

    async def __call__(self, scope: Events, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        if not scope["raw_path"].startswith(b"/"):  # a request line without a path; servers before a node refuse it
            await send({"type": "http.response.start", "status": 400, "headers": [(b"content-length", b"0")]})
            await send({"type": "http.response.body", "body": b""})
            return
        if self.http is None:
            limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
            self.http = httpx.AsyncClient(timeout=LONGEST_ANSWER_SECONDS, trust_env=False, limits=limits)
        body = await _body(receive)
        headers = [pair for pair in scope["headers"] if pair[0].decode("latin-1").lower() not in LEFT_OUT]
        query = scope["query_string"].decode()
        url = self.node + scope["raw_path"].decode() + (f"?{query}" if query else "")
        request = self.http.build_request(scope["method"], url, content=body, headers=headers)
        answer = await self.http.send(request, stream=True)
        content = b"".join([part async for part in answer.aiter_raw()])
        await answer.aclose()
        await asyncio.sleep(self._delay(scope["path"], body, accepted=answer.is_success))
        kept = [pair for pair in answer.headers.raw if pair[0].decode("latin-1").lower() not in LEFT_OUT]
        kept.append((b"content-length", str(len(content)).encode()))
        await send({"type": "http.response.start", "status": answer.status_code, "headers": kept})
        await send({"type": "http.response.body", "body": content})

    def _delay(self, path: str, body: bytes, *, accepted: bool) -> float:
        if path == self.rpc:
            kind, seconds = self._of_chain(body)
        else:
            effect = self.effects.get(path) if accepted else None
            kind, seconds = {
                None: ("reads", self.delays.read),
                Effect.READ: ("reads", self.delays.read),
                Effect.RUN: ("runs", self.delays.run),
            }.get(effect, ("writes", self.delays.write))
        self.seen[kind] += 1
        return seconds

    def _of_chain(self, body: bytes) -> tuple[str, float]:
        if SUBMITTING.encode() in body:
            return "transactions", self.delays.transaction
        return "chain", self.delays.read


async def _body(receive: Receive) -> bytes:
    parts: list[bytes] = []
    while True:
        event = await receive()
        parts.append(event.get("body", b""))
        if not event.get("more_body"):
            return b"".join(parts)


@contextmanager
def slow_node(delays: Delays) -> Iterator[tuple[SlowProxy, Path]]:
    """Start the bundled node and the proxy; its profile, by which a run reaches the proxy alone."""
    with BundledNode() as node, tempfile.TemporaryDirectory(prefix="slow-node-") as folder, socket.socket() as listener:
        node.wait_until_ready()
        profile = load_ready_file(node.ready_file)
        listener.bind(("127.0.0.1", 0))
        own = f"http://127.0.0.1:{listener.getsockname()[1]}"
        named = profile.model_dump(mode="json", exclude_unset=True)
        theirs = str(profile.base_url)
        file = Path(folder) / "profile.yaml"
        file.write_text(json.dumps(named).replace(theirs, own), encoding="utf-8")
        rpc = str(profile.chain.rpc_url).removeprefix(theirs)
        proxy = SlowProxy(theirs, rpc, delays, _effects(profile))
        server = uvicorn.Server(uvicorn.Config(proxy, log_level="error", lifespan="off", timeout_keep_alive=60))
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield proxy, file
        server.should_exit = True
        thread.join()


def _effects(profile: Profile) -> dict[str, Effect]:
    effects = {}
    for name in OPERATIONS:
        with suppress(NotStated):
            effects[resolve(profile, name).path] = OPERATIONS[name].effect
    return effects


def main() -> int:
    """0 when every run came to its end."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.slow_node", description=__doc__)
    parser.add_argument("--jobs", type=int, nargs="+", default=[16], help="cases at once, a run each; by default 16")
    parser.add_argument("--whole", action="store_true", help="run every case, and not those of --quick alone")
    parser.add_argument("--read", type=float, default=0.06, help="seconds that a read takes; by default 0.06")
    parser.add_argument("--write", type=float, default=2.0, help="seconds that a write takes; by default 2")
    parser.add_argument("--run", type=float, default=0.5, help="seconds that a run takes; by default 0.5")
    parser.add_argument("--transaction", type=float, default=2.0, help="seconds of a transaction; by default 2")
    asked = parser.parse_args()
    delays = Delays(asked.read, asked.write, asked.run, asked.transaction)
    print(HEAD, flush=True)
    return max(_measured(delays, jobs, ["--quick"] * (not asked.whole)) for jobs in asked.jobs)


def _measured(delays: Delays, jobs: int, cases: Sequence[str]) -> int:
    """Print the row of one run; 0 when it came to its end."""
    with slow_node(delays) as (proxy, profile), tempfile.TemporaryDirectory(prefix="slow-node-") as folder:
        command = [sys.executable, "-m", "conformance", "run", "--profile", str(profile), "--output", folder]
        began = time.monotonic()
        done = subprocess.run(  # noqa: S603 - our own module
            [*command, "--jobs", str(jobs), *cases], capture_output=True, text=True, check=False
        )
        seconds = time.monotonic() - began
        try:
            results = Results.model_validate_json((Path(folder) / RESULTS_NAME).read_text(encoding="utf-8"))
        except FileNotFoundError:
            sys.exit(done.stdout + done.stderr)
    verdicts = Counter(case.verdict for case in results.cases)
    longest = max(case.seconds for case in results.cases)
    cells = ["quick" if cases else "whole", jobs, f"{seconds:.0f}", f"{longest:.0f}", f"{seconds / longest:.1f}"]
    cells += [proxy.seen.total(), *(proxy.seen[kind] for kind in ("writes", "runs", "chain", "transactions"))]
    cells += [resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024]
    cells += [", ".join(f"{number} {verdict}" for verdict, number in verdicts.most_common())]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    return int(bool(results.interrupted))


if __name__ == "__main__":
    sys.exit(main())
