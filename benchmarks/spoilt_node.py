"""``python -m benchmarks.spoilt_node [NAME ...]``: quick runs against the bundled node whose answers a proxy spoils.

The table says for each way to spoil them what the run took, which has bounds whatever a node answers.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from benchmarks.proxy import Exchange, proxied_node
from conformance.report.results import Results
from conformance.report.write import RESULTS_NAME
from conformance.verdict import ExitCode

MOST_MEMORY_MIB = 500
MOST_TERMINAL = 250_000
"""Characters on the terminal: a line for each case that did not pass, and a screen of failures."""
MOST_DISK = 200_000_000
"""Bytes of all reports together."""
MOST_SECONDS = 3600.0
"""A guard against hanging: processor time is measured, and what another machine takes for it nobody knows."""
LARGEST = 32 * 1024 * 1024
KIB = 1024
HEAD = """\
| spoilt | processor s | MiB | terminal, kB | reports, kB | requests | ended with | verdicts |
|---|---|---|---|---|---|---|---|"""
# A process begins with the memory of the one that forks it, so a small one starts the command and measures it.
MEASURED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[2:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
with open(sys.argv[1], "w") as file:
    file.write(f"{used.ru_maxrss} {used.ru_utime + used.ru_stime}")
sys.exit(code)
"""


@dataclass
class Reply:
    """An answer of the bundled node, to be spoilt."""

    number: int
    """How many answers came before."""
    key: str
    """The credential of the request; empty where it had none."""
    status: int
    headers: list[tuple[str, str]]
    body: bytes
    random: random.Random = field(default_factory=lambda: random.Random(0))  # noqa: S311 - repeatable data

    def add(self, name: str, value: object) -> None:
        """Add a member to each object of the answer, as far as it is JSON."""
        with suppress(ValueError):
            found = json.loads(self.body)
            for one in found if isinstance(found, list) else [found]:
                if isinstance(one, dict):
                    one[name] = value
            self.body = json.dumps(found).encode()

    def hex(self, size: int) -> str:
        """So many bytes in hex, others each time."""
        return self.random.randbytes(size).hex()


CHOSEN = 5
"""The number of an answer that is spoilt, however few are."""
Spoil = Callable[[Reply], None]


def some(every: int, spoil: Spoil) -> Spoil:
    """Spoil one answer of so many."""

    def spoil_some(reply: Reply) -> None:
        if reply.number % every == CHOSEN % every:
            spoil(reply)

    return spoil_some


def instead(body: bytes | Callable[[Reply], bytes], *headers: tuple[str, str], status: int = 200) -> Spoil:
    """Answer this."""

    def spoil(reply: Reply) -> None:
        reply.status, reply.body = status, body if isinstance(body, bytes) else body(reply)
        reply.headers += headers

    return spoil


def packed(size: int) -> Spoil:
    """Answer a gzip that unpacks to so many bytes."""
    return instead(gzip.compress(b" " * size, 1), ("Content-Encoding", "gzip"))


def beside(name: str, value: Callable[[Reply], object]) -> Spoil:
    """Add a member to objects."""
    return lambda reply: reply.add(name, value(reply))


def with_headers(number: int, size: int) -> Spoil:
    """Add so many headers of this size."""

    def spoil(reply: Reply) -> None:
        reply.headers += [(f"X-{at}", "y" * size) for at in range(number)]

    return spoil


def echoed(reply: Reply) -> str:
    """The key of the request, as often as fits into two megabytes."""
    return f"{reply.key} " * (1_900_000 // (len(reply.key) + 1)) if reply.key else ""


def in_base64(reply: Reply) -> str:
    """Texts in base64 each of which might be a private key at many places."""
    return " ".join(base64.b64encode(reply.random.randbytes(126)).decode() for _ in range(12))


@cache
def _numbers() -> bytes:
    return f"[{','.join(map(str, range(10_000_000, 13_600_000)))}]".encode()


def numbers(_: Reply) -> bytes:
    """Almost four million different numbers, each of which might be a private key."""
    return _numbers()


def longer(value: object, by: Callable[[], str]) -> object:
    """A value of JSON with longer texts in it."""
    match value:
        case dict():
            return {name: longer(inner, by) for name, inner in value.items()}
        case list():
            return [longer(inner, by) for inner in value]
        case str():
            return value + by()
        case _:
            return value


def in_every_text(reply: Reply) -> None:
    """Make each text of the answer longer by two thousand characters that no other answer has."""
    with suppress(ValueError):
        reply.body = json.dumps(longer(json.loads(reply.body), lambda: reply.hex(1000))).encode()


CONTROLS = "\x1b[2J\x1b]0;x\x07\u202e\u200b<script src=//127.0.0.1:9/></script>]]>\n::error::x\n##vso[task.x]=1+1"
SPOILT: dict[str, Spoil] = {
    "one in ten a gzip that unpacks to 32 MiB": some(10, packed(LARGEST)),
    "one in ten a gzip that unpacks to 300 MB": some(10, packed(300_000_000)),
    "one in three a JSON text that backtracks": some(3, instead(b"[" * 201 + b'"' + b'\\"' * 100_000)),
    "one in ten a list of 11 million objects": some(10, instead(b"[" + b"{}," * (LARGEST // 3 - 2) + b"{}]")),
    "one in ten a list of 4 million numbers": some(10, instead(numbers)),
    "a hundred thousand members in each object": beside("more", lambda _: dict.fromkeys(map(str, range(100_000)), 0)),
    "250 headers of 380 bytes": with_headers(250, 380),
    "2,000 headers": with_headers(2_000, 40),
    "the key, 40,000 times": beside("echo", echoed),
    "one in three a page with the key": some(3, instead(lambda r: f"<html><title>{r.key * 100}".encode())),
    "one in three redirects": some(3, instead(b"", ("Location", f"http://127.0.0.1:9/{'x' * 8000}"), status=302)),
    "40,000 addresses of wallets in each object": beside("more", lambda r: [f"0x{r.hex(20)}" for _ in range(40_000)]),
    "900 kB of escapes in each object": beside("more", lambda _: "\\\\" * 225_000),
    "what might be keys, in each object": beside("more", in_base64),
    "two thousand characters more in each text": some(2, in_every_text),
    "one in three refused at length": some(3, instead(lambda r: f'"{r.hex(900_000)}"'.encode(), status=400)),
    "one in ten a fault at length": some(10, instead(lambda r: f'"{r.hex(3_000)}"'.encode(), status=500)),
    "what controls terminals, pages and jobs": some(2, lambda r: r.add("name", CONTROLS)),
}  # fmt: skip
"""Ways to spoil the answers of a node, for a whole run."""
SOUND = 20
"""Answers that are left alone at first: a run does not begin without them."""


def _in_turn(reply: Reply) -> None:
    """Spoil one answer of three in one way after the other."""
    if reply.number > SOUND and reply.number % 3 == 0:
        ways = list(SPOILT.values())
        number, reply.number = reply.number // 3, CHOSEN
        ways[number % (len(ways) - 1)](reply)


IN_TURN = "one in three in each of these ways in turn"
SPOILT[IN_TURN] = _in_turn


class Spoiling:
    """Spoils the answers of a node.

    Its control, which is the suite's own, is left alone, and so is collateral, whose very text is signed.
    """

    def __init__(self, spoil: Spoil) -> None:
        self._spoil = spoil
        self._random = random.Random(0)  # noqa: S311 - repeatable data
        self._lock = threading.Lock()
        self.answers = 0

    def __call__(self, exchange: Exchange) -> None:
        """Spoil an answer."""
        key = exchange.asked.get("x-api-key") or exchange.asked.get("authorization", "").removeprefix("Bearer ")
        with self._lock:
            reply = Reply(self.answers, key, exchange.status, exchange.headers, exchange.body, self._random)
            self.answers += 1
            if not any(part in exchange.path for part in LEFT_ALONE):
                self._spoil(reply)
        exchange.status, exchange.headers, exchange.body = reply.status, reply.headers, reply.body


REPORTS = {
    "html": "page.html",
    "har": "log.har",
    "junit": "junit.xml",
    "summary": "summary.md",
    "annotations": "annotations",
    "replay": "replay",
    "alluredir": "allure",
}
"""Every form of the report, by its option."""
LEFT_ALONE = ("/control", "/pccs/")


@dataclass(frozen=True)
class Taken:
    """What a run took, and how it ended."""

    code: int
    text: str
    """What it wrote to the terminal."""
    memory_mib: int
    processor_seconds: float
    report_bytes: int
    requests: int
    verdicts: Counter[str]

    @property
    def beyond(self) -> list[str]:
        """The bounds that it went over, and what else is wrong with it."""
        bounds = {
            f"more than {MOST_MEMORY_MIB} MiB": self.memory_mib > MOST_MEMORY_MIB,
            f"more than {MOST_TERMINAL} characters on the terminal": len(self.text) > MOST_TERMINAL,
            f"more than {MOST_DISK} bytes of reports": self.report_bytes > MOST_DISK,
            "a crash": self.code == ExitCode.CRASHED or self.code < 0 or "Traceback" in self.text,
            "an error of the suite": bool(self.verdicts["suite error"]),
            "nothing that was spoilt was seen": not self.verdicts["inconclusive"] + self.verdicts["fail"],
        }
        return [bound for bound, over in bounds.items() if over]


def taken(name: str, folder: Path, *options: str) -> Taken:
    """A run of these cases against a node whose answers are spoilt so, with every report in the folder."""
    out = folder / "out"
    files = [word for name, file in REPORTS.items() for word in (f"--{name}", str(out / file))]
    with proxied_node(lambda _: Spoiling(SPOILT[name])) as (spoiling, profile):
        command = [sys.executable, "-m", "conformance", "run", "--profile", str(profile), "--output", str(out), *files]
        done = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-c", MEASURED, str(folder / "measured"), *command, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "NO_COLOR": "1"},
            text=True,
            timeout=MOST_SECONDS,
            check=False,
        )
    memory, seconds = (folder / "measured").read_text(encoding="utf-8").split()
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) if out.exists() else 0
    verdicts: Counter[str] = Counter()
    if (out / RESULTS_NAME).exists():
        results = Results.model_validate_json((out / RESULTS_NAME).read_text(encoding="utf-8"))
        verdicts = Counter(str(case.verdict) for case in results.cases)
    taken_memory = int(memory) // KIB
    return Taken(done.returncode, done.stdout, taken_memory, float(seconds), size, spoiling.answers, verdicts)


def main(arguments: Sequence[str] | None = None) -> int:
    """0 when every run kept the bounds."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spoilt_node", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="ways to spoil that begin so; by default all")
    parser.add_argument("--pack", action="append", help="run the cases of these packs alone")
    asked = parser.parse_args(arguments)
    options = ["--quick", *(word for pack in asked.pack or () for word in ("--pack", pack))]
    print(HEAD, flush=True)
    names = [name for name in SPOILT if not asked.names or name.startswith(tuple(asked.names))]
    return max((int(bool(_row(name, options))) for name in names), default=1)


def _row(name: str, options: Sequence[str]) -> list[str]:
    """Print the row of a run. Returns the bounds that it went over."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="spoilt-run-") as folder:
        one = taken(name, Path(folder), *options)
    cells = [name, f"{one.processor_seconds:.0f}", one.memory_mib, len(one.text) // 1000, one.report_bytes // 1000]
    verdicts = ", ".join(f"{number} {verdict}" for verdict, number in one.verdicts.most_common())
    cells += [one.requests, one.code, verdicts]
    over = "".join(f" **{bound}**" for bound in one.beyond)
    print("| " + " | ".join(map(str, cells)) + f" |{over}", flush=True)
    print(f"  {time.monotonic() - began:.0f} s", file=sys.stderr)
    return one.beyond


if __name__ == "__main__":
    sys.exit(main())
