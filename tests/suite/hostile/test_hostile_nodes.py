"""Whatever a node answers, a run ends in time, takes little memory and tells the truth about it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from behaviours import KINDS, LISTS_GROUPS, STEPS
from spoiling_node import spoiling_node
from tiny_node import Asked

from conformance.verdict import ExitCode

WATCHDOG_SECONDS = 600
"""A guard against hanging."""
FIRST = 10
"""The number of the first behaviour: smaller pages are asked for otherwise."""
MOST_MEMORY_KIB = 500 * 1024
MOST_TERMINAL = 100_000
PACK = """\
pack: spoilt
title: Lists of groups
needs: [managed_accounts]
cases:
  - id: group-is-listed
    title: A group is listed
    requirements: [ACC-070]
    each: [{rows}]
    setup: [{{account: alice}}]
    steps:{steps}
"""
"""A case for each behaviour, which the size of its page or the name of what it makes tells."""
REPORTS = ("--html", "out/page.html", "--har", "out/log.har", "--junit", "out/junit.xml", "--replay", "out")
OPTIONS = ("--pack-dir", "packs", "--case", "spoilt::*", "--output", "out", *REPORTS)
VERDICTS = {"fail": ExitCode.FAILS, "inconclusive": ExitCode.INCONCLUSIVE, "pass": ExitCode.CONFORMS}
"""Of a case; and what a run ends with whose worst case has it, the worst first."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    text: str
    """What it wrote to the terminal."""
    memory_kib: int
    """The most that it held in memory at once."""


# A process begins with the memory of the one that forks it, so a small one starts the command and measures it.
MEASURED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[3:], timeout=float(sys.argv[2])).returncode
with open(sys.argv[1], "w") as file:
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(code)
"""


def ended(folder: Path, *command: str) -> Ended:
    """Run a command to its end."""
    words = [sys.executable, "-m", "conformance", *command]
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", MEASURED, "memory", str(WATCHDOG_SECONDS), *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "NO_COLOR": "1"},
        text=True,
        check=False,
    )
    assert (folder / "memory").exists(), done.stdout[-2000:]
    return Ended(done.returncode, done.stdout, int((folder / "memory").read_text(encoding="utf-8")))


def within_bounds(done: Ended) -> None:
    """Assert what holds of every command, whatever it met."""
    assert done.memory_kib <= MOST_MEMORY_KIB, done.text[-2000:]
    assert len(done.text) <= MOST_TERMINAL
    assert "Traceback" not in done.text
    assert done.code >= 0, f"it was killed after {WATCHDOG_SECONDS} s"
    assert done.code != ExitCode.CRASHED, done.text[-2000:]


def shows(text: str, key: str) -> bool:
    """Whether a text tells a half of a key, forwards or backwards, whatever the case and what stands between."""
    letters, hidden = (re.sub("[^a-z0-9]", "", one.lower()) for one in (text.replace("\\n", ""), key))
    half = len(hidden) // 2
    return any(part in letters for way in (hidden, hidden[::-1]) for part in (way[:half], way[half:]))


def behaviour_of(asked: Asked) -> str:
    """The name of the behaviour that a request asks for; empty where it asks for none."""
    if asked.path == "list_groups":
        return f"b{int(asked.query['page_size']):03}"
    return str(next((asked.body[name] for name in ("account_name", "group_name", "name") if name in asked.body), ""))


def run_against(kind: str, folder: Path) -> tuple[Ended, dict[str, dict[str, Any]]]:
    """A run with a case for each behaviour: how it ended, and its cases by the name of the behaviour."""
    table = KINDS[kind]
    ids = {number: f"b{number:03}" for number in range(FIRST, FIRST + len(table))}
    rows = ", ".join(f"{{id: {name}, size: {number}, behaviour: {name}}}" for number, name in ids.items())
    (folder / "packs").mkdir()
    pack = PACK.format(rows=rows, steps=STEPS.get(kind, LISTS_GROUPS))
    (folder / "packs" / "spoilt.yaml").write_text(pack, encoding="utf-8")
    by_id = dict(zip(ids.values(), table.values(), strict=True))

    with spoiling_node(lambda asked: by_id.get(behaviour_of(asked))) as node:
        done = ended(folder, "run", "--node-url", node.url, *OPTIONS)
    within_bounds(done)
    written = done.text + "".join(path.read_text("utf-8") for path in (folder / "out").iterdir())
    assert node.groups
    assert [key for key in node.groups if shows(written, key)] == []
    results = folder / "out" / "results.json"
    assert results.exists(), done.text
    return done, dict(zip(table, json.loads(results.read_text(encoding="utf-8"))["cases"], strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_run_gives_each_behaviour_the_verdict_that_it_deserves(kind: str, tmp_path: Path) -> None:
    table = KINDS[kind]
    done, cases = run_against(kind, tmp_path)
    wrong = {
        name: (case["verdict"], case["reason"])
        for name, case in cases.items()
        if case["verdict"] != table[name].verdict or table[name].said not in case["reason"]
    }
    assert not wrong, json.dumps(wrong, indent=1)
    verdicts = {hostility.verdict for hostility in table.values()}
    assert done.code == next(code for verdict, code in VERDICTS.items() if verdict in verdicts)
