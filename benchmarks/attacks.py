"""What honest callers feel of attacks: the 99th percentile of their requests beside each, against the one alone."""

from __future__ import annotations

import http.client
import json
import socket
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import cycle
from urllib.parse import urlsplit

import httpx

from benchmarks.node_process import Account, Ready, node_process
from benchmarks.timing import Row, milliseconds

BOUND = 5.0
FIRST_BLOW_BOUND = 10.0
"""While an attack begins the node does what the attack costs once, such as taking a thousand connections."""
HONEST = 300
LOOPING_CALLS = 41
SILENT = 1030
UNFINISHED = 300
ENDLESS_ACCOUNTS = 20
ENDLESS = "async function main() { for (;;); }"
SETTLE_SECONDS = 2.0
SETTLING = 30
"""Honest requests that don't count: those that warm a node up, and those after an attack's first blow."""


Honest = Callable[[], object]
Attack = Callable[[Ready], Iterator[None]]


def rows() -> list[Row]:
    """Every attack, each on a node of its own, beside the same requests alone."""
    return [
        *_rows("add_group", f"{LOOPING_CALLS} endless eth_calls", _writes, _looping_calls),
        *_rows("eth_call", f"{LOOPING_CALLS} endless eth_calls", _calls, _looping_calls),
        *_rows("add_group", f"{SILENT} silent connections", _writes, _silent),
        *_rows("add_group", f"{UNFINISHED} unfinished bodies", _writes, _unfinished),
        *_rows("add_group", f"2 endless runs each of {ENDLESS_ACCOUNTS} accounts", _writes, _runs),
    ]


def _rows(request: str, attackers: str, client: Callable[[Ready], Honest], attack: Attack) -> list[Row]:
    """The first blow of an attack, in its first seconds, and what goes on then."""
    with node_process() as ready:
        honest = client(ready)
        for _ in range(SETTLING):
            honest()
        alone = _p99(honest)
        with ExitStack() as attacking:
            with _meanwhile(honest) as taken:
                attacking.enter_context(contextmanager(attack)(ready))
                time.sleep(SETTLE_SECONDS)
            first = statistics.quantiles(taken, n=100)[98]
            for _ in range(SETTLING):
                honest()
            beside = _p99(honest)
    against = "p99 of one alone"
    return [
        Row(f"{request} while {attackers} begin, p99", first, against, alone, FIRST_BLOW_BOUND),
        Row(f"{request} beside {attackers}, p99", beside, against, alone, BOUND),
    ]


@contextmanager
def _meanwhile(honest: Honest) -> Iterator[list[float]]:
    """Make honest requests during the block, one after another; the milliseconds that each took."""
    taken: list[float] = []
    over = threading.Event()

    def go_on() -> None:
        while not over.is_set() or len(taken) < SETTLING:
            taken.append(milliseconds(honest))

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield taken
    finally:
        over.set()
        thread.join()


def _writes(ready: Ready) -> Honest:
    account = Account(ready)
    return lambda: account.post("add_group", group_name="g", group_description="")


def _calls(ready: Ready) -> Honest:
    rpc = httpx.Client(base_url=ready["base_url"], trust_env=False, timeout=60)
    asked = {"jsonrpc": "2.0", "id": 1, "method": "eth_call", "params": [{"to": _contract(ready), "data": "0x"}]}
    return lambda: rpc.post("/rpc", json=asked).raise_for_status()


def _contract(ready: Ready) -> str:
    config = Account(ready).get("/get_node_chain_config")
    assert isinstance(config, dict)
    return str(config["contract_address"])


def _p99(action: Callable[[], object]) -> float:
    return statistics.quantiles([milliseconds(action) for _ in range(HONEST)], n=100)[98]


def _again_and_again(number: int, act: Honest) -> Iterator[None]:
    """So many threads that do something over and over, until the node ends."""

    def attack() -> None:
        with suppress(OSError, http.client.HTTPException):
            while True:
                act()

    for _ in range(number):
        threading.Thread(target=attack, daemon=True).start()
    yield


def _post(ready: Ready, path: str, body: object, headers: dict[str, str]) -> None:
    where = urlsplit(ready["base_url"])
    connection = http.client.HTTPConnection(str(where.hostname), where.port, timeout=300)
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json", **headers})
    connection.getresponse().read()
    connection.close()


def _looping_calls(ready: Ready) -> Iterator[None]:
    """Calls that go on until they are aborted."""
    address = _contract(ready)
    params = [{"to": address, "data": "0x"}, "latest", {address: {"code": "0x5b600056"}}]
    asked = {"jsonrpc": "2.0", "id": 1, "method": "eth_call", "params": params}
    yield from _again_and_again(LOOPING_CALLS, partial(_post, ready, "/rpc", asked, {}))


def _runs(ready: Ready) -> Iterator[None]:
    """Runs that go on until they are ended."""
    keys = []
    for _ in range(ENDLESS_ACCOUNTS):
        account = Account(ready)
        account.post("add_group", group_name="g", group_description="", cid_hashes_permitted=[0])
        keys += [account.http.headers["X-Api-Key"]] * 2
    turns = cycle(keys)
    yield from _again_and_again(
        len(keys), lambda: _post(ready, "/core/v1/service_action", {"code": ENDLESS}, {"X-Api-Key": next(turns)})
    )


def _silent(ready: Ready) -> Iterator[None]:
    """Connections that never say anything."""
    yield from _connected(ready, SILENT, b"")


def _unfinished(ready: Ready) -> Iterator[None]:
    """Requests whose bodies never end, with the key of an account."""
    key = Account(ready).http.headers["X-Api-Key"]
    lines = ("POST /core/v1/add_group HTTP/1.1", "Host: 127.0.0.1", f"X-Api-Key: {key}", "Content-Length: 1048576")
    head = "\r\n".join([*lines, "Content-Type: application/json", "", ""]).encode()
    yield from _connected(ready, UNFINISHED, head + b" " * 65536)


def _connected(ready: Ready, number: int, said: bytes) -> Iterator[None]:
    where = urlsplit(ready["base_url"])
    with ExitStack() as opened:
        made: Sequence[socket.socket] = [
            opened.enter_context(socket.create_connection((str(where.hostname), int(where.port or 80))))
            for _ in range(number)
        ]
        for connection in made:
            with suppress(OSError):  # the node may have closed it
                connection.sendall(said)
        yield
