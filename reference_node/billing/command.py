"""`reference-node ledger verify|export FILE`: check or export a ledger file, for operators and auditors."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from reference_node.billing import Cents
from reference_node.billing.audit import Movement, history, verify

OK, FAULTS = 0, 1


def verify_file(file: Path) -> int:
    """Print whether the ledger adds up, and return the exit code. Raises `LedgerError`."""
    audit = verify(file)
    sums = ", ".join(f"{kind} {_dollars(cents)}" for kind, cents in audit.cents.items()) or "none"
    print(
        f"{audit.accounts} accounts, {audit.transfers} transfers: {sums}; held for open calls: {_dollars(audit.held)}"
    )
    for fault in audit.faults:
        print(f"WRONG {fault}")
    print("the ledger adds up" if not audit.faults else f"{len(audit.faults)} faults")
    return FAULTS if audit.faults else OK


def export(file: Path) -> int:
    """Print every account's history as CSV, and return the exit code. Raises `LedgerError`."""
    rows = csv.writer(sys.stdout)
    rows.writerow(Movement._fields)
    rows.writerows(history(file))
    return OK


def _dollars(cents: Cents) -> str:
    return f"${cents // 100}.{cents % 100:02}"
