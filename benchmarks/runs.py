"""Runs of actions: over HTTP against the bare sandbox, in a row and many at once, and beside hostile ones."""

from __future__ import annotations

import http.client
import json
import statistics
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from itertools import count
from urllib.parse import urlsplit

from benchmarks.node_process import Account, Ready, node_process
from benchmarks.timing import Row, in_turn, milliseconds
from reference_node.sandbox import Sandbox
from reference_node.strict_json import Json

HELLO = "async function main() { return 'hello'; }"
COMPUTES = (
    "async function main() { let x = 1; for (let i = 0; i < 1e6; i++) x = (x * 31 + i) % 65537; return 'hello'; }"
)
"""Some tens of milliseconds of work: runs at once then compete for processors, as real ones do."""
ENDLESS = "async function main() { for (;;); }"

IN_A_ROW = 20
"""A single run would have its process forked beforehand, between two measurements."""
AT_ONCE = 100
HOSTILE = 8
HONEST = 500


def rows() -> list[Row]:
    """Every measurement of runs."""
    with node_process() as ready, closing(Sandbox()) as sandbox:
        honest, hostile = _runner(ready), _runner(ready)
        bare = Bare(sandbox)
        with closing(Connection(ready, honest)) as connection:
            hello, base = in_turn([partial(_in_a_row, connection.run), partial(_in_a_row, bare.run)], 30)
        with ThreadPoolExecutor(AT_ONCE) as pool, _connections(ready, honest) as connections:
            over_http = [connection.run for connection in connections]
            many, many_bare = in_turn(
                [partial(_at_once, pool, over_http), partial(_at_once, pool, [bare.run] * AT_ONCE)], 3
            )
        alone, beside = _beside_hostile(ready, honest, hostile)
    return [
        Row("hello run over HTTP, one after another", hello, "the bare run in the sandbox", base, 3.0),
        Row(f"{AT_ONCE} runs at once that compute, over HTTP", many, "as many in the bare sandbox", many_bare, 1.25),
        Row(f"hello run beside {HOSTILE} endless loops, p99", beside, "p99 of one alone", alone, 10.0),
    ]


class Bare:
    """The sandbox without a node; every run is another account's, so that none waits for its turn."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._accounts = count()

    def run(self, code: str) -> None:
        """A run that returns hello."""
        result = self._sandbox.run(code, "{}", _no_host, next(self._accounts), None)
        assert result.response == '"hello"', result


class Connection:
    """A lean client: one that costs as much as the node would be measured instead of it."""

    def __init__(self, ready: Ready, key: str) -> None:
        where = urlsplit(ready["base_url"])
        self._http = http.client.HTTPConnection(str(where.hostname), where.port, timeout=60)
        self._headers = {"X-Api-Key": key, "Content-Type": "application/json"}

    def post(self, code: str) -> bytes:
        """The answer to a run of this code."""
        self._http.request("POST", "/core/v1/service_action", json.dumps({"code": code}), self._headers)
        return self._http.getresponse().read()

    def run(self, code: str) -> None:
        """A run that returns hello."""
        answer = self.post(code)
        assert answer.startswith(b'{"response":"hello"'), answer

    def close(self) -> None:
        """Close the connection."""
        self._http.close()


def _no_host(_name: str, _arguments: Mapping[str, Json]) -> Json:
    raise AssertionError("these runs ask for nothing")


def _runner(ready: Ready) -> str:
    """The key of an account that may run anything."""
    account = Account(ready)
    account.post("add_group", group_name="g", group_description="d", cid_hashes_permitted=[0])
    return account.http.headers["X-Api-Key"]


def _in_a_row(run: Callable[[str], None]) -> None:
    for _ in range(IN_A_ROW):
        run(HELLO)


def _at_once(pool: ThreadPoolExecutor, runs: Sequence[Callable[[str], None]]) -> None:
    list(pool.map(lambda run: run(COMPUTES), runs))


@contextmanager
def _connections(ready: Ready, key: str) -> Iterator[list[Connection]]:
    made = [Connection(ready, key) for _ in range(AT_ONCE)]
    try:
        yield made
    finally:
        for connection in made:
            connection.close()


def _beside_hostile(ready: Ready, honest: str, hostile: str) -> tuple[float, float]:
    """The 99th percentile of honest runs alone, and while another account's endless loops run all the time."""
    enough = threading.Event()

    def loop() -> None:
        with closing(Connection(ready, hostile)) as endless:
            while not enough.is_set():
                endless.post(ENDLESS)

    with closing(Connection(ready, honest)) as connection:
        alone = _p99(partial(connection.run, HELLO))
        for _ in range(HOSTILE):
            threading.Thread(target=loop, daemon=True).start()
        beside = _p99(partial(connection.run, HELLO))
    enough.set()
    return alone, beside


def _p99(action: Callable[[], object]) -> float:
    return statistics.quantiles([milliseconds(action) for _ in range(HONEST)], n=100)[98]
