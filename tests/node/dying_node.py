"""``python tests/node/dying_node.py STEP FILE PASSES serve OPTION…``: a node that kills itself as it keeps its state.

STEP is `uncommitted` or `committed`, FILE the name of the file that is written, PASSES how many such steps to survive.
"""

from __future__ import annotations

import itertools
import os
import signal
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from reference_node import cli
from reference_node.billing.database import Database
from reference_node.kept_file import KeptFile


def arm(step: str, file: str, passes: int) -> None:
    """Have this process die by SIGKILL at the step after so many of them."""
    left = itertools.count(passes, -1)
    kept, ledger = KeptFile.transaction, Database._transaction

    def at(passed: str, name: object) -> None:
        if (passed, str(name).rpartition("/")[2]) == (step, file) and next(left) == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    @contextmanager
    def transaction(self: KeptFile) -> Iterator[sqlite3.Connection]:
        with kept(self) as database:
            yield database
            at("uncommitted", self._path)
        at("committed", self._path)

    @contextmanager
    def movement(self: Database, *, durable: bool = False) -> Iterator[None]:
        with ledger(self, durable=durable):
            yield
            at("uncommitted", self._name)
        at("committed", self._name)

    KeptFile.transaction = transaction  # type: ignore[method-assign]
    Database._transaction = movement  # type: ignore[method-assign]


if __name__ == "__main__":
    arm(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    sys.exit(cli.main(sys.argv[4:]))
