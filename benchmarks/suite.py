"""The suite: what a check costs beside the requests that it sends."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import textwrap
from functools import partial
from pathlib import Path

import httpx

from benchmarks.node_process import Ready, node_process
from benchmarks.timing import Row, in_turn

CHECKS = 1_000
ROUNDS = 5
EXPECTED = ("contract_address", "chain_id")


def rows() -> list[Row]:
    """Every measurement of the suite."""
    with node_process() as ready, tempfile.TemporaryDirectory() as folder:
        few, many = Path(folder) / "few", Path(folder) / "many"
        _write_pack(few, CHECKS // 10)
        _write_pack(many, CHECKS)
        more = CHECKS - CHECKS // 10
        long, short, loop = in_turn(
            [partial(_run, ready, many), partial(_run, ready, few), partial(_plain_loop, ready, more)], ROUNDS
        )
    measured, base = (long - short) / more, loop / more
    return [Row("a check: one request, two expectations", measured, "a plain httpx loop that does the same", base, 2.5)]


def _write_pack(folder: Path, checks: int) -> None:
    folder.mkdir()
    head = "pack: measured\ntitle: One request each\ncases:\n"
    case = """
      - id: check-{number}
        title: The chain configuration
        requirements: [CHAIN-010]
        steps:
          - call: get_node_chain_config
            expect: {{contract_address: {{matches: "^0x"}}, chain_id: {{type: integer}}}}
    """
    cases = "".join(textwrap.indent(textwrap.dedent(case.format(number=i)), "  ") for i in range(checks))
    (folder / "measured.yaml").write_text(head + cases)


def _run(ready: Ready, folder: Path) -> None:
    """The whole command: loading, pytest and report are in it. The difference of two runs has no start-up."""
    profile = folder / "profile.yml"
    profile.write_text(json.dumps({"base_url": ready["base_url"]}))
    command = [sys.executable, "-m", "conformance", "run", "--profile", str(profile), "--pack-dir", str(folder)]
    options = ["--pack", "measured", "--output", str(folder / "report")]
    subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own command


def _plain_loop(ready: Ready, checks: int) -> None:
    with httpx.Client(base_url=ready["base_url"], trust_env=False) as http:
        for _ in range(checks):
            answer = http.get("/core/v1/get_node_chain_config")
            assert answer.status_code == 200
            assert all(member in answer.json() for member in EXPECTED)
