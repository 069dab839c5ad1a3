"""The suite: what a check costs beside the requests that it sends."""

from __future__ import annotations

import json
import tempfile
import textwrap
import time
from collections.abc import Generator
from functools import partial
from pathlib import Path

import httpx
import pytest

from benchmarks.node_process import Ready, node_process
from benchmarks.timing import Row, medians, milliseconds
from conformance.run.front import pytest_arguments
from conformance.run.options import Options

CHECKS = 500
ROUNDS = 5
EXPECTED = ("contract_address", "chain_id")


def rows() -> list[Row]:
    """Every measurement of the suite."""
    with node_process() as ready, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_pack(folder)
        (folder / "profile.yml").write_text(json.dumps({"base_url": ready["base_url"]}))
        checks, loop = medians([partial(_checks, folder), partial(milliseconds, partial(_plain_loop, ready))], ROUNDS)
    against = "a plain httpx loop that does the same"
    return [Row("a check: one request, two expectations", checks / CHECKS, against, loop / CHECKS, 2.5)]


def _write_pack(folder: Path) -> None:
    head = "pack: measured\ntitle: One request each\ncases:\n"
    case = """
      - id: check-{number}
        title: The chain configuration
        requirements: [CHAIN-010]
        steps:
          - call: get_node_chain_config
            expect: {{contract_address: {{matches: "^0x"}}, chain_id: {{type: integer}}}}
    """
    cases = "".join(textwrap.indent(textwrap.dedent(case.format(number=i)), "  ") for i in range(CHECKS))
    (folder / "measured.yaml").write_text(head + cases)


class LoopTimer:
    """A plugin of pytest that times the running of the cases, from the first to the last: no start, no report."""

    def __init__(self) -> None:
        self.milliseconds = 0.0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, object, object]:
        """Run them."""
        began = time.perf_counter()
        result = yield
        self.milliseconds = (time.perf_counter() - began) * 1000
        return result


def _checks(folder: Path) -> float:
    """What the command does, in milliseconds for all cases."""
    options = Options(profile=folder / "profile.yml", pack_dirs=(folder,), packs=("measured",))
    timer = LoopTimer()
    status = pytest.main(pytest_arguments(options), plugins=[timer])
    assert status == pytest.ExitCode.OK
    return timer.milliseconds


def _plain_loop(ready: Ready) -> None:
    with httpx.Client(base_url=ready["base_url"], trust_env=False) as http:
        for _ in range(CHECKS):
            answer = http.get("/core/v1/get_node_chain_config")
            assert answer.status_code == 200
            assert all(member in answer.json() for member in EXPECTED)
