"""Nodes that lose or double something when they are killed or cut off, for campaigns with `--chaos`.

``python -m conformance.selftest.under_load.lossy NAME serve …`` serves one of them as `reference-node serve` would.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from conformance.selftest.tools.alter import Answered, Forward, Received, answer, intercept, wrap
from reference_node import cli, server
from reference_node.billing.ledger import Intent, Ledger
from reference_node.node import Node
from reference_node.settings import Settings

Build = Callable[[Settings], Node]

UNAVAILABLE = 503


@dataclass(frozen=True)
class LossyNode:
    """A node that is sound while nothing happens to it."""

    name: str
    """Kebab case, from the function's name."""
    fault: str
    """What it does wrong, from the function's docstring."""
    alter: Callable[[], None]
    """Changes this process before the node is built in it."""


_registry: dict[str, LossyNode] = {}


def _lossy(alter: Callable[[], None]) -> Callable[[], None]:
    name = alter.__name__.replace("_", "-")
    _registry[name] = LossyNode(name, " ".join((alter.__doc__ or "").split()), alter)
    return alter


def lossy_nodes() -> tuple[LossyNode, ...]:
    """Return all of them, in the order of their definition."""
    return tuple(_registry.values())


@_lossy
def writes_are_acknowledged_without_the_chain() -> None:
    """Answer that a group is made although the chain could not be reached."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        return answer(200, {"success": True, "group_id": 1}) if given.status == UNAVAILABLE else given

    def altered(build: Build, settings: Settings) -> Node:
        node = build(settings)
        intercept(node, "add_group", handler)
        return node

    wrap(server, "build_node", altered)


@_lossy
def credits_end_with_the_process() -> None:
    """Keep credits in memory alone: the next process knows of no payment and of no charge."""

    def altered(build: Build, settings: Settings) -> Node:
        return build(replace(settings, ledger=None))

    wrap(server, "build_node", altered)


@_lossy
def payments_are_credited_by_every_process() -> None:
    """Credit a payment again when it is confirmed to another process than the one that credited it."""
    transfer, intent = Ledger._transfer, Ledger.intent
    own: set[str] = set()

    def by_process(self: Ledger, kind: str, reference: str, *rest: object) -> bool:
        if kind == "payment":
            own.add(reference)
            reference = f"{reference}/{os.getpid()}"
        return transfer(self, kind, reference, *rest)  # type: ignore[arg-type]  # as it came

    def forgetting(self: Ledger, intent_id: str) -> Intent | None:
        found = intent(self, intent_id)
        return found if found is None or intent_id in own else replace(found, state="open")

    Ledger._transfer = by_process  # type: ignore[method-assign,assignment]
    Ledger.intent = forgetting  # type: ignore[method-assign]


def program(name: str) -> tuple[str, ...]:
    """The command line that serves one of them, without `serve`."""
    return (sys.executable, "-m", "conformance.selftest.under_load.lossy", name)


def main(arguments: Sequence[str]) -> int:
    """Serve the node whose name stands before the command line."""
    name, *command = arguments
    _registry[name].alter()
    return cli.main(command)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
