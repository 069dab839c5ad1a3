"""The pytest plugin's options. It is loaded into everybody's pytest: without its options it does nothing at all.

    pytest --node-url http://127.0.0.1:8000 --pack 'usage_*'

The work is done by `conformance.run.session`, which is imported only when it is asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conformance.report import Results

RESULTS: pytest.StashKey[Results] = pytest.StashKey()
"""The results of the run, in the stash of the config once the session has ended."""
ASKING = ("conformance", "node_url", "pack", "pack_dir")
"""Options of which one makes pytest run packs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, in a group of their own."""
    group = parser.getgroup("service-conformance", "conformance of a node of the service")
    add = group.addoption
    add("--conformance", action="store_true", help="run packs, even without one of the options below")
    add("--node-url", metavar="URL", help="the node to judge; without it the bundled node is started")
    add("--profile", metavar="FILE", type=Path, help="its vendor profile; without it the reference node's")
    add("--pack", metavar="GLOB", action="append", default=[], help="run only these packs (repeatable)")
    add("--pack-dir", metavar="DIR", action="append", default=[], type=Path, help="take packs from here, too")
    add(
        "--case", metavar="GLOB", action="append", default=[], help="run only these cases, pack::case[row] (repeatable)"
    )
    add("--budget", metavar="SEQUENCES", type=int, help="play so many random sequences in each case of them")
    add("--full", action="store_true", help="try every cell of a matrix, instead of those that are chosen")
    add(
        "--cell", metavar="GLOB", action="append", default=[],
        help="try only these cells of a matrix, and what they are held against (repeatable)",
    )  # fmt: skip
    add("--seed", help="repeat the random choices of an earlier run")
    add("--known", metavar="FILE", type=Path, help="known failures: a YAML list with reasons and links")
    add("--max-spend", metavar="CENTS", type=int, help="spend no more than this")
    add("--max-gas", metavar="GAS", type=int, help="use no more gas than this on the settlement chain")
    add("--rate", metavar="N", type=float, help="send at most so many requests a second")
    add("--results", metavar="DIR", type=Path, help="write results.json there")


def pytest_configure(config: pytest.Config) -> None:
    """Bring in the session plugin when the options ask for packs."""
    if any(config.getoption(name) for name in ASKING):
        from conformance.run.session import ConformanceSession  # noqa: PLC0415 - nobody else's pytest shall pay for it

        config.pluginmanager.register(ConformanceSession(config), "conformance-session")
