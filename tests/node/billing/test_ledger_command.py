"""`reference-node ledger`, and nodes that keep their credits in a file."""

from __future__ import annotations

import csv
import io
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from nodes import serving

from reference_node.billing.audit import verify
from reference_node.billing.ledger import Ledger
from reference_node.cli import main
from reference_node.settings import Settings

ALICE = b"\x01" * 20


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A ledger with a grant and a charge."""
    file = tmp_path / "ledger.sqlite"
    with closing(Ledger(file, now=lambda: 1_700_000_000)) as ledger:
        ledger.grant(ALICE, 250)
        ledger.settle(ledger.hold(ALICE, 1), 1)
    return file


def test_verify_sums_up_and_says_that_the_ledger_adds_up(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ledger", "verify", str(file)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "3 accounts, 2 transfers: charge $0.01, grant $2.50; held for open calls: $0.00",
        "the ledger adds up",
    ]


def test_verify_names_each_fault_and_ends_with_1(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(file)) as other, other:
        other.execute("UPDATE account SET balance = balance + 5 WHERE name = ?", (ALICE.hex(),))
    assert main(["ledger", "verify", str(file)]) == 1
    assert f"WRONG account {ALICE.hex()} has 254 cents, but its transfers give 249" in capsys.readouterr().out


def test_export_is_csv_with_a_row_for_each_side_of_each_transfer(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ledger", "export", str(file)]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert [(row["kind"], row["cents"], row["balance"]) for row in rows if row["account"] == ALICE.hex()] == [
        ("grant", "250", "250"),
        ("charge", "-1", "249"),
    ]
    assert len(rows) == 4


@pytest.mark.parametrize("action", ["verify", "export"])
def test_file_that_is_no_ledger_is_one_line_and_1(
    tmp_path: Path, action: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ledger", action, str(tmp_path / "nothing")]) == 1
    assert capsys.readouterr().err == f"reference-node: there is no ledger {tmp_path / 'nothing'}\n"


def test_reset_leaves_no_thread_of_the_former_services_behind() -> None:
    of_others = {*threading.enumerate()}  # nodes that other tests share
    with serving(Settings(port=0)) as running:
        for _ in range(3):
            running.account(email="ada@example.org")
            running.node.reset()
        left = {*threading.enumerate()} - of_others
        assert "payments" not in {thread.name for thread in left}


def test_reset_keeps_the_ledger_and_forgets_the_accounts(tmp_path: Path) -> None:
    file = tmp_path / "ledger.sqlite"
    with serving(Settings(port=0, starter_credits=9, ledger=file)) as running:
        running.done("create_wallet", running.account())
        running.node.reset()
        running.done("create_wallet", running.account())
    assert verify(file).faults == ()
    assert verify(file).cents == {"charge": 2, "grant": 18}
