"""The ledger of credits: what it takes, what it refuses, and what a file of it says to those who check it."""

from __future__ import annotations

import contextlib
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from reference_node.billing import schema
from reference_node.billing.audit import history, verify
from reference_node.billing.database import LedgerUnavailable
from reference_node.billing.ledger import Ledger
from reference_node.billing.schema import LedgerError

ALICE, BOB, CAROL = b"\x01" * 20, b"\x02" * 20, b"\x03" * 20
ACCOUNT = 7


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ledger.sqlite"


def pay(ledger: Ledger, wallet: bytes, intent: str, cents: int) -> bool:
    """Record an intent and credit it."""
    ledger.note_intent(wallet, intent, "cus_1", cents, "usd")
    return ledger.credit(intent)


def test_payment_is_credited_once_however_often_and_in_parallel_it_is_confirmed() -> None:
    ledger = Ledger()
    ledger.note_intent(ALICE, "pi_1", "cus_1", 500, "usd")
    with ThreadPoolExecutor(16) as pool:
        credited = list(pool.map(ledger.credit, ["pi_1"] * 100))
    assert credited.count(True) == 1
    assert ledger.balance(ALICE) == 500
    assert [intent.id for intent in ledger.open_intents()] == []


def test_wallet_has_paid_once_a_payment_is_credited_to_it_or_to_a_former_admin() -> None:
    ledger = Ledger()
    ledger.grant(ALICE, 500)
    ledger.move(1, ALICE, BOB)
    assert not ledger.has_paid(ALICE)
    assert not ledger.has_paid(BOB)
    pay(ledger, BOB, "pi_1", 500)
    ledger.move(2, BOB, CAROL)
    assert [ledger.has_paid(wallet) for wallet in (ALICE, BOB, CAROL)] == [False, True, True]


def test_credit_for_an_intent_that_was_never_recorded_is_refused() -> None:
    ledger = Ledger()
    with pytest.raises(KeyError):
        ledger.credit("pi_1")
    assert ledger.open_intents() == []


def test_customer_that_was_remembered_first_counts() -> None:
    ledger = Ledger()
    assert ledger.customer(ALICE) is None
    assert ledger.note_customer(ALICE, "cus_1") == "cus_1"
    assert ledger.note_customer(ALICE, "cus_2") == "cus_1"
    assert ledger.customer(ALICE) == "cus_1"


def test_abandoned_intent_is_no_longer_open() -> None:
    ledger = Ledger()
    ledger.note_intent(ALICE, "pi_1", "cus_1", 500, "usd")
    ledger.abandon("pi_1")
    assert ledger.open_intents() == []
    assert ledger.intent("pi_1") is not None


# --------------------------------------------------------------------------------------------------------------- files


def test_file_keeps_credits_and_intents_over_a_restart(file: Path) -> None:
    with closing(Ledger(file)) as ledger:
        pay(ledger, ALICE, "pi_1", 500)
        ledger.note_intent(BOB, "pi_2", "cus_2", 700, "usd")
        ledger.set_position("blocks", 12)
    with closing(Ledger(file)) as ledger:
        assert ledger.balance(ALICE) == 500
        assert [(intent.id, intent.wallet, intent.cents) for intent in ledger.open_intents()] == [("pi_2", BOB, 700)]
        assert ledger.position("blocks") == 12


def test_holds_that_a_process_left_are_charged_only_where_their_transaction_landed(file: Path) -> None:
    with closing(Ledger(file)) as ledger:
        ledger.grant(ALICE, 10)
        ledger.hold(ALICE, 1)
        landed, lost, pending = ledger.hold(ALICE, 2), ledger.hold(ALICE, 3), ledger.hold(ALICE, 1)
        for hold, transaction in ((landed, b"\x01"), (lost, b"\x02"), (pending, b"\x03")):
            ledger.note_transaction(hold, transaction * 32)
    with closing(Ledger(file)) as ledger:
        known: dict[bytes, bool | None] = {b"\x01" * 32: True, b"\x02" * 32: False, b"\x03" * 32: None}
        assert ledger.resolve(ledger.left_holds(), known.__getitem__) == [pending.id]
        assert ledger.balance(ALICE) == 7
        assert ledger.resolve([pending.id], lambda _: True) == []
        assert ledger.balance(ALICE) == 7
    assert verify(file).faults == ()
    assert verify(file).cents == {"charge": 3, "grant": 10}


def test_second_node_on_one_ledger_is_refused_with_words_by_whatever_name(file: Path) -> None:
    link = file.with_name("link.sqlite")
    link.symlink_to(file)
    for name in (file, link):
        with closing(Ledger(file)), pytest.raises(LedgerError, match="another node uses this ledger"):
            Ledger(name)
    Ledger(file).close()


def test_file_that_is_no_ledger_is_refused_and_left_alone(file: Path) -> None:
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE theirs (a)")
    before = file.read_bytes()
    with pytest.raises(LedgerError, match="is a database, but no ledger"):
        Ledger(file)
    assert file.read_bytes() == before
    file.write_bytes(b"no database at all" * 100)
    with pytest.raises(LedgerError, match="can't be used"):
        Ledger(file)


def test_folder_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match="No such file"):
        Ledger(tmp_path / "nowhere" / "ledger.sqlite")


@pytest.mark.parametrize("change", ["UPDATE transfer SET cents = 1", "DELETE FROM transfer"])
def test_transfers_are_never_changed_or_deleted(file: Path, change: str) -> None:
    with closing(Ledger(file)) as ledger:
        pay(ledger, ALICE, "pi_1", 500)
    with closing(sqlite3.connect(file)) as other, pytest.raises(sqlite3.IntegrityError, match="append-only"):
        other.execute(change)


# --------------------------------------------------------------------------------------------------------------- audit


def used(file: Path) -> None:
    """A ledger with every kind of movement."""
    with closing(Ledger(file, now=lambda: 1_700_000_000)) as ledger:
        ledger.grant(ALICE, 10)
        pay(ledger, ALICE, "pi_1", 500)
        ledger.settle(ledger.hold(ALICE, 4), 4)
        ledger.move(ACCOUNT, ALICE, BOB)
        ledger.hold(BOB, 2)


def test_audit_counts_each_kind_and_finds_nothing_wrong(file: Path) -> None:
    used(file)
    audit = verify(file)
    assert audit.faults == ()
    assert audit.cents == {"charge": 4, "conversion": 506, "grant": 10, "payment": 500}
    assert (audit.transfers, audit.held) == (4, 2)


def test_history_gives_each_accounts_movements_with_the_balance_after_each(file: Path) -> None:
    used(file)
    of_alice = [(one.kind, one.cents, one.balance) for one in history(file) if one.account == ALICE.hex()]
    assert of_alice == [("grant", 10, 10), ("payment", 500, 510), ("charge", -4, 506), ("conversion", -506, 0)]
    assert {one.at for one in history(file)} == {1_700_000_000}


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("UPDATE account SET balance = balance + 1 WHERE held", "its transfers give"),
        ("UPDATE account SET balance = balance + 1 WHERE held", "sum to 1 cents instead of 0"),
        ("UPDATE account SET held = 1 WHERE held", "its holds give 2"),
        ("DROP TRIGGER transfer_is_not_deleted; DELETE FROM transfer WHERE id = 2", "transfers 2 to 2 are missing"),
        ("DROP TRIGGER transfer_is_not_deleted; DELETE FROM transfer WHERE id = 4", "transfers 4 to 4 are missing"),
        ("UPDATE intent SET state = 'open'", "intent pi_1 of 500 cents is open, and 500 was credited"),
        ("UPDATE intent SET cents = 5000", "intent pi_1 of 5000 cents is credited, and 500 was credited"),
        ("PRAGMA ignore_check_constraints = 1; UPDATE account SET balance = -1 WHERE NOT source", "has -1"),
    ],
)
def test_audit_tells_what_does_not_add_up(file: Path, damage: str, said: str) -> None:
    used(file)
    with closing(sqlite3.connect(file)) as other:
        other.executescript(damage)
    assert any(said in fault for fault in verify(file).faults), verify(file).faults


def test_audit_reads_a_ledger_that_a_node_has_open(file: Path) -> None:
    with closing(Ledger(file)) as ledger:
        pay(ledger, ALICE, "pi_1", 500)
        assert verify(file).cents == {"payment": 500}


@pytest.mark.parametrize("content", [b"", b"no database" * 100])
def test_audit_of_what_is_no_ledger_is_one_clear_line(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    with pytest.raises(LedgerError, match=r"ledger\.sqlite"):
        verify(file)


# --------------------------------------------------------------------------------------------------------------- faults


def fill(ledger: Ledger) -> None:
    """Let the file grow no more, and use what room it has: from then on its disk is full."""
    (pages,) = ledger._database.execute("PRAGMA page_count").fetchone()
    ledger._database.execute(f"PRAGMA max_page_count = {pages}")
    with contextlib.suppress(LedgerUnavailable):
        for number in range(10_000):
            ledger.note_email(number.to_bytes(20), "a" * 900)
    with pytest.raises(LedgerUnavailable, match="full"):
        ledger.note_email(CAROL, "a" * 900)


def make_room(ledger: Ledger) -> None:
    ledger._database.execute("PRAGMA max_page_count = 1000000")


def test_full_disk_undoes_the_movement_and_the_next_one_is_whole_again(file: Path) -> None:
    with closing(Ledger(file)) as ledger:
        ledger.grant(ALICE, 10)
        hold = ledger.hold(ALICE, 4)
        fill(ledger)
        assert ledger.balance(ALICE) == 6
        ledger.settle(hold, 4)
        assert ledger.balance(ALICE) == 6
        make_room(ledger)
        ledger.grant(BOB, 5)
    assert verify(file).faults == ()
    assert verify(file).cents == {"charge": 4, "grant": 15}


@pytest.mark.parametrize("statement", ["COMMIT", "ROLLBACK"])
def test_movement_whose_end_fails_does_not_stay_open(
    file: Path, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    with closing(Ledger(file)) as ledger:
        ledger.grant(ALICE, 10)
        database = ledger._database

        class Failing:
            """A connection on which nothing can be ended."""

            def execute(self, query: str, *values: object) -> object:
                if query in {"COMMIT", statement}:
                    raise sqlite3.OperationalError("disk I/O error")
                return database.execute(query, *values)

            def __getattr__(self, name: str) -> object:
                return getattr(database, name)

        with monkeypatch.context() as failing:
            failing.setattr(ledger, "_database", Failing())
            with pytest.raises(LedgerUnavailable):
                ledger.hold(ALICE, 4)
        assert ledger.balance(ALICE) in {6, 10}  # 6: not undone yet, and not done either
        ledger.settle(ledger.hold(ALICE, 1), 1)
        assert ledger.balance(ALICE) == 9
        assert not database.in_transaction
    assert verify(file).cents == {"charge": 1, "grant": 10}


def test_damaged_file_is_told_and_moves_nothing(file: Path) -> None:
    with closing(Ledger(file)) as ledger:
        ledger.grant(ALICE, 5)
        ledger.grant(BOB, 5)
    with closing(sqlite3.connect(file)) as other:
        (page,) = other.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'account'").fetchone()
    content = bytearray(file.read_bytes())
    content[4096 * (page - 1) : 4096 * page] = b"\xaa" * 4096
    file.write_bytes(content)
    with closing(Ledger(file)) as ledger:
        for act in (lambda: ledger.balance(ALICE), lambda: ledger.grant(CAROL, 5), lambda: ledger.hold(BOB, 1)):
            with pytest.raises(LedgerUnavailable, match="malformed"):
                act()
    with pytest.raises(LedgerError, match="can't be read"):
        verify(file)


def test_forgotten_email_is_in_no_file_of_the_ledger(file: Path) -> None:
    with closing(Ledger(file)) as ledger:
        ledger.note_email(ALICE, "ada@example.org")
        assert any(b"ada@example.org" in kept.read_bytes() for kept in file.parent.iterdir())
        ledger.forget_email(ALICE, "ada@example.org")
        ledger.empty_log()
        assert not any(b"ada@example.org" in kept.read_bytes() for kept in file.parent.iterdir())


def test_file_of_an_older_version_is_brought_up_to_date_in_one_piece(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(Ledger(file)) as ledger:
        pay(ledger, ALICE, "pi_1", 500)
    newer = [*schema.MIGRATIONS, "ALTER TABLE customer ADD COLUMN note TEXT;"]
    with monkeypatch.context() as changed:
        changed.setattr(schema, "MIGRATIONS", [*newer, "ALTER TABLE customer ADD COLUMN note TEXT;"])
        with pytest.raises(LedgerError, match="duplicate column"):
            Ledger(file)
        with closing(sqlite3.connect(file)) as untouched:
            assert untouched.execute("PRAGMA user_version").fetchone() == (len(newer) - 1,)
        changed.setattr(schema, "MIGRATIONS", newer)
        with closing(Ledger(file)) as ledger:
            assert ledger.balance(ALICE) == 500
            ledger.note_customer(ALICE, "cus_1")
    with pytest.raises(LedgerError, match="use a newer node"):
        Ledger(file)


def test_file_that_can_only_be_read_is_told_at_once(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Ledger(file)) as ledger:
        ledger.grant(ALICE, 5)
    connect = sqlite3.connect

    def read_only(name: str, *values: object, **named: object) -> object:
        return connect(f"file:{name}?mode=ro", *values, uri=True, **named)  # type: ignore[arg-type]

    with monkeypatch.context() as locked:
        locked.setattr(sqlite3, "connect", read_only)
        with pytest.raises(LedgerError, match="readonly"):
            Ledger(file)
    with closing(Ledger(file)) as ledger:
        assert ledger.balance(ALICE) == 5
