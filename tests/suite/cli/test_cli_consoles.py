"""Consoles of any encoding, pipes that close and disks that are full: the exit code says what results.json says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

import pytest
import yaml
from tiny_node import TinyNode

from conformance.cli import main
from conformance.profile.publish import REFERENCE_FILE
from conformance.report.renderers import RENDERERS
from conformance.run.options import SPELLINGS

CASE = "account_keys::creation-returns-the-key"
EARLIER = str(Path(__file__).parents[1] / "report" / "results_format_1.json")
ASCII = {"PYTHONIOENCODING": "ascii"}
C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
NO_ROOM = b"service-conformance: [Errno 28] No space left on device\n"


def service_conformance(
    *arguments: str, stdout: IO[bytes] | int = subprocess.PIPE, environment: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "conformance", *arguments]
    return subprocess.run(  # noqa: S603 - our own text
        command, stdout=stdout, stderr=subprocess.PIPE, check=False, env={**os.environ, **environment}
    )


@pytest.fixture
def unread() -> Iterator[IO[bytes]]:
    """A pipe whose reader has left."""
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as unread:  # noqa: PTH123 - a descriptor
        yield unread


@pytest.fixture
def full() -> Iterator[IO[bytes]]:
    """A device that is always full."""
    with Path("/dev/full").open("wb") as full:
        yield full


def results(folder: Path) -> tuple[bool, int]:
    value = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return value["conforms"], value["exit_code"]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A profile with a title that no encoding but UTF-8 has, and a quote that is none."""
    (tmp_path / "node.yaml").write_text('brand: {title: "Élan ✓ 日本"}\n', encoding="utf-8")
    (tmp_path / "quote.hex").write_text("00", encoding="utf-8")
    (tmp_path / "collateral.json").write_text("{}", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["requirements"], 0),
        (["compare", EARLIER, EARLIER], 0),
        (["verify", "--quote", "{}/quote.hex", "--collateral", "{}/collateral.json", "--at", "0"], 1),
    ],
    ids=["requirements", "compare", "verify"],
)
def test_encoding_of_the_console_changes_no_exit_code(arguments: list[str], code: int, files: Path) -> None:
    done = service_conformance(*(one.format(files) for one in arguments), environment=ASCII)
    assert (done.returncode, done.stderr) == (code, b"")
    assert done.stdout


def run_of_a_case(node: TinyNode, folder: Path) -> list[str]:
    return ["run", "--node-url", node.url, "--case", CASE, "--output", str(folder)]


def test_run_on_a_console_without_signs_ends_as_its_results_say(node: TinyNode, tmp_path: Path) -> None:
    done = service_conformance(*run_of_a_case(node, tmp_path), environment=ASCII)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"conforms as far as these cases tell" in done.stdout
    assert results(tmp_path) == (True, 0)


@pytest.mark.parametrize(
    ("encoding", "shown"),
    [
        ("ascii", b"\\xc9lan ok \\u65e5\\u672c"),
        ("cp1252", b"\xc9lan ok \\u65e5\\u672c"),
        ("cp932", b"\\xc9lan ok \x93\xfa\x96{"),
    ],
)
def test_signs_are_spelt_out_where_the_console_lacks_them(encoding: str, shown: bytes, files: Path) -> None:
    done = service_conformance("profile", "check", str(files / "node.yaml"), environment={"PYTHONIOENCODING": encoding})
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"brand.title: " + shown + b"\n" in done.stdout


def test_documents_for_programs_are_utf_8_on_any_console() -> None:
    packs = service_conformance("packs", "--pack", "groups", "--json", environment=ASCII).stdout
    assert json.loads(packs.decode("utf-8"))
    words = ["known", "from", EARLIER, "--link", "https://x", "--reason", "Élan ✓"]
    known = service_conformance(*words, environment={"PYTHONIOENCODING": "cp1252"}).stdout
    assert {entry["reason"] for entry in yaml.safe_load(known.decode("utf-8"))["known"]} == {"Élan ✓"}


@pytest.mark.parametrize("arguments", [["profile", "check", "{}/node.yaml"], ["profile", "schema"]])
def test_files_are_utf_8_whatever_the_locale(arguments: Sequence[str], files: Path) -> None:
    done = service_conformance(*(one.format(files) for one in arguments), environment=C_LOCALE)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("arguments", [["profile", "schema"], ["profile", "check", str(REFERENCE_FILE)]])
def test_reader_that_leaves_early_sees_no_traceback(arguments: list[str], unread: IO[bytes]) -> None:
    done = service_conformance(*arguments, stdout=unread, environment={"PYTHONUNBUFFERED": ""})
    assert (done.returncode, done.stderr) == (5, b"")


def test_reader_that_leaves_early_changes_no_verdict(node: TinyNode, tmp_path: Path, unread: IO[bytes]) -> None:
    done = service_conformance(*run_of_a_case(node, tmp_path), stdout=unread)
    assert (done.returncode, done.stderr) == (0, b"")
    assert results(tmp_path) == (True, 0)


@pytest.mark.parametrize("arguments", [["requirements"], ["doctor", "--node-url", "http://127.0.0.1:9"]])
def test_full_disk_is_told_in_one_line(arguments: list[str], full: IO[bytes]) -> None:
    done = service_conformance(*arguments, stdout=full)
    assert (done.returncode, done.stderr) == (5, NO_ROOM)


def test_report_that_cannot_be_printed_takes_the_verdict_along(node: TinyNode, tmp_path: Path, full: IO[bytes]) -> None:
    done = service_conformance(*run_of_a_case(node, tmp_path), stdout=full)
    assert (done.returncode, done.stderr) == (5, NO_ROOM)
    assert results(tmp_path) == (False, 5)


@pytest.mark.parametrize("form", RENDERERS)
def test_report_into_a_full_device_is_one_line(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", EARLIER, SPELLINGS[form].flag, "/dev/full"]) == 2
    said = "service-conformance: /dev/full cannot be written: No space left on device\n"
    assert capsys.readouterr() == ("", said)
