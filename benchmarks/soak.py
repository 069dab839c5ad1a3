"""``python -m benchmarks.soak --minutes 10``: how much memory a node takes for each thousand requests, by kind.

Each kind has a node of its own and an equal share of the time. The first fifth warms the node up and does not count.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx

from benchmarks.node_process import Account, Ready, node_process

SLACK_MB = 2.0
"""What the allocator may take at any time: it hides the growth of few requests."""

Request = Callable[[], object]

EXPECTED_MB: Mapping[str, float] = {"reads": 0.05, "JSON-RPC": 0.05, "runs": 0.5, "writes": 15.0}
"""The most, for a thousand. A write stays as a block with transaction, receipt and logs, for which anybody may ask."""


def _reads(ready: Ready) -> Request:
    account = Account(ready)
    return lambda: account.get("/list_groups?page_number=0&page_size=10")


def _rpc(ready: Ready) -> Request:
    http = httpx.Client(base_url=ready["base_url"], trust_env=False, timeout=60)
    body = {"jsonrpc": "2.0", "id": 1, "method": "eth_getBlockByNumber", "params": ["latest", True]}
    return lambda: http.post("/rpc", json=body).raise_for_status()


def _runs(ready: Ready) -> Request:
    account = Account(ready)
    account.post("add_group", group_name="g", group_description="", cid_hashes_permitted=[0])
    return lambda: account.post("service_action", code="async function main() { return 'hello'; }")


def _writes(ready: Ready) -> Request:
    account = Account(ready)
    return lambda: account.post("add_group", group_name="g", group_description="")


KINDS: Mapping[str, Callable[[Ready], Request]] = {
    "reads": _reads,
    "JSON-RPC": _rpc,
    "runs": _runs,
    "writes": _writes,
}


def main() -> int:
    """0 when no kind of request takes more than is explained."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak")
    parser.add_argument("--minutes", type=float, default=10.0, help="for all kinds together; by default 10")
    seconds = parser.parse_args().minutes * 60 / len(KINDS)
    kept = [_soak(kind, seconds) for kind in KINDS]
    return 0 if all(kept) else 1


def _soak(kind: str, seconds: float) -> bool:
    with node_process() as ready:
        request = KINDS[kind](ready)
        warm, _ = _requests(request, seconds / 5)
        before = _resident(ready["pid"])
        sent, took = _requests(request, seconds * 4 / 5)
        grown = (_resident(ready["pid"]) - before) / 1e6
    for_a_thousand = grown / sent * 1000
    kept = grown <= SLACK_MB + EXPECTED_MB[kind] * sent / 1000
    print(
        f"{kind}: {sent} requests in {took:.0f} s after {warm} to warm up; {grown:.1f} MB more, {for_a_thousand:.2f}"
        f" for a thousand (at most {EXPECTED_MB[kind]}){'' if kept else ', OVER'}",
        flush=True,
    )
    return kept


def _requests(request: Request, seconds: float) -> tuple[int, float]:
    began, sent = time.monotonic(), 0
    while time.monotonic() < began + seconds:
        request()
        sent += 1
    return sent, time.monotonic() - began


def _resident(pid: int) -> int:
    """Bytes of memory that a process has, on Linux."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024


if __name__ == "__main__":
    sys.exit(main())
