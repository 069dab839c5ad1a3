"""Nodes that the action and the templates judge, each with the profile that its vendor would write."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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


@contextmanager
def sound_node(path: Path) -> Iterator[Path]:
    """The bundled node, and its profile in this file."""
    with BundledNode() as node:
        node.wait_until_ready()
        yield write_profile(path, json.loads(node.ready_file.read_text(encoding="utf-8"))["base_url"])


def hostile(node: Node) -> None:
    """Break statements, and answer with what reads as commands in a log."""
    (mutant,) = [mutant for mutant in all_mutants() if mutant.name == MUTANT]
    mutant.alter(node)

    async def handler(_: Received, __: Forward) -> Answered:
        return Answered(404, ((b"content-type", b"text/plain"),), COMMANDS.encode())

    intercept(node, "openapi.json", handler)


@contextmanager
def hostile_node(path: Path) -> Iterator[Path]:
    """A node with a mutant's fault and hostile answers, and its profile in this file."""
    with served_node(hostile) as ready:
        yield write_profile(path, ready["base_url"])
