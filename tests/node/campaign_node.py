"""Nodes that die by SIGKILL, each at a step of a movement of money that it is told.

Run as a program, this forks a node for every line on its standard input and prints its process id and, in the end, how
it ended. The parent has imported everything already, so a node is there in a fraction of a second.
"""

from __future__ import annotations

import itertools
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

from reference_node import cli, server
from reference_node.billing.database import Database
from reference_node.billing.ledger import Ledger
from reference_node.billing.provider import PaymentProvider
from reference_node.chain.external import ExternalChain

MOVEMENTS = (
    "grant",
    "note_customer",
    "note_intent",
    "credit",
    "hold",
    "note_transaction",
    "settle",
    "move",
    "_resolved",
    "set_position",
)
"""The ledger's movements, each one transaction: a node dies before it, inside it before its commit, and after it."""

EXCHANGES: dict[str, tuple[type, str]] = {
    "transaction": (ExternalChain, "send"),
    "customer": (PaymentProvider, "create_customer"),
    "intent": (PaymentProvider, "create_intent"),
    "look-up": (PaymentProvider, "look_up"),
}
"""What is asked of chain and provider: a node dies before it asks, and when it has the answer."""

STEPS = tuple(
    f"{name.strip('_')} {step}"
    for names, steps in ((MOVEMENTS, ("due", "uncommitted", "done")), (EXCHANGES, ("due", "done")))
    for name, step in itertools.product(names, steps)
)

_movement: ContextVar[str] = ContextVar("movement", default="")


def arm(step: str, passes: int) -> None:
    """Have this process die by SIGKILL when it is at this step for the so-many-th time."""
    left = itertools.count(passes - 1, -1)

    def at(passed: str) -> None:
        if passed == step and next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    for name in MOVEMENTS:
        _have_steps(Ledger, name, name.strip("_"), at)
    for name, (owner, method) in EXCHANGES.items():
        _have_steps(owner, method, name, at)
    _have_last_step_before_commit(at)


def _have_steps(owner: type, method: str, name: str, at: Callable[[str], None]) -> None:
    original = getattr(owner, method)

    @wraps(original)
    def stepped(*values: Any, **named: Any) -> Any:
        at(f"{name} due")
        token = _movement.set(name)
        try:
            result = original(*values, **named)
        finally:
            _movement.reset(token)
        at(f"{name} done")
        return result

    setattr(owner, method, stepped)


def _have_last_step_before_commit(at: Callable[[str], None]) -> None:
    original = Database._transaction

    @contextmanager
    def transaction(self: Database, *, durable: bool = False) -> Iterator[None]:
        with original(self, durable=durable):
            yield
            at(f"{_movement.get()} uncommitted")

    Database._transaction = transaction  # type: ignore[method-assign]


def main() -> None:
    """Fork a node for each line: a JSON object of `options`, `step` and `passes`."""
    for line in sys.stdin:
        node = os.fork()
        if node == 0:
            _live(json.loads(line))
        print(node, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(node, 0)[1]), flush=True)


def _live(life: dict[str, Any]) -> None:
    """Be a node, to the end of the process."""
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(2, 1)
    if life["step"]:
        arm(life["step"], life["passes"])
    server._start_sandbox = lambda _: None  # no action runs here, and it is half of the start
    code = 1
    try:
        code = cli.main(["serve", *life["options"]])
    except SystemExit as leaving:
        code = int(leaving.code or 0)
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
