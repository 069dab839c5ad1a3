"""Nodes that the action and the templates judge, each with the profile that its vendor would write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.endpoints.bundled import BundledNode
from conformance.selftest.tools.alter import Answered, Forward, Received, intercept
from conformance.selftest.tools.mutant import all_mutants
from conformance.selftest.tools.serving import served_node
from reference_node.node import Node

CAPABILITIES = ["managed_accounts", "openapi"]
COMMANDS = "::add-mask::pwned\n##[error]pwned\n::set-output name=conforms::pwned\nconforms=pwned"
"""Lines that GitHub's runner takes for commands wherever they stand in a log, and for outputs."""
MUTANT = "path-is-not-served:description"


def write_profile(path: Path, base_url: object) -> Path:
    """Write the profile of a node, which states whatever the tests let a node break."""
    stated = {"base_url": base_url, "capabilities": CAPABILITIES, "auth": {"openapi_public": True}}
    path.write_text(json.dumps(stated), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The profile of the bundled node, which conforms."""
    with BundledNode() as node:
        node.wait_until_ready()
        ready = json.loads(node.ready_file.read_text(encoding="utf-8"))
        yield write_profile(tmp_path_factory.mktemp("sound") / "node.yaml", ready["base_url"])


def break_and_command(node: Node) -> None:
    """Break statements, and answer with what reads as commands in a log."""
    (mutant,) = [mutant for mutant in all_mutants() if mutant.name == MUTANT]
    mutant.alter(node)

    async def handler(_: Received, __: Forward) -> Answered:
        return Answered(404, ((b"content-type", b"text/plain"),), COMMANDS.encode())

    intercept(node, "openapi.json", handler)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The profile of a node that breaks statements, and whose answers read as commands to GitHub's runner."""
    with served_node(break_and_command) as ready:
        yield write_profile(tmp_path_factory.mktemp("hostile") / "node.yaml", ready["base_url"])
