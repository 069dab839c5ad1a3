"""What a node writes to its log, however much goes wrong."""

from __future__ import annotations

import logging
from pathlib import Path

from connecting import connect_to
from processes import node_process, stopped

import reference_node
from reference_node.log_limit import RECORDS, WINDOW_SECONDS, LogLimit


def record(text: str) -> logging.LogRecord:
    return logging.LogRecord("reference_node", logging.ERROR, __file__, 1, "%s", (text,), None)


def test_log_takes_so_many_records_and_tells_of_the_others_later() -> None:
    now = 0.0
    limit = LogLimit(lambda: now)
    assert [limit.filter(record("early")) for _ in range(RECORDS + 7)] == [True] * RECORDS + [False] * 7
    now = WINDOW_SECONDS
    later = [record("later"), record("last")]
    assert [limit.filter(entry) for entry in later] == [True, True]
    assert [entry.getMessage() for entry in later] == ["later (before this, 7 records were left out)", "last"]


def test_every_logger_of_the_node_shares_one_limit() -> None:
    names = ("reference_node", "reference_node.billing", "reference_node.chain.rpc")
    limits = [entry for name in names for entry in logging.getLogger(name).filters if isinstance(entry, LogLimit)]
    assert len(limits) == len(names)
    assert len(set(limits)) == 1
    sources = {file: file.read_text(encoding="utf-8") for file in Path(reference_node.__file__).parent.rglob("*.py")}
    assert [file.name for file, text in sources.items() if "logging.getLogger(" in text] == ["log_limit.py"]


def test_clients_that_speak_no_http_leave_no_line(tmp_path: Path) -> None:
    with node_process(tmp_path / "ready.json") as (process, ready):
        for _ in range(5):
            with connect_to(ready["base_url"]) as connection:
                connection.sendall(b"nonsense\r\n\r\n")
                assert connection.recv(20).startswith(b"HTTP/1.1 400")
        assert "Invalid" not in stopped(process)
