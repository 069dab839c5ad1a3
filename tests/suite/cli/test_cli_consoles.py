"""Consoles of any encoding, pipes that close and disks that are full: the exit code says what results.json says."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path

import pytest
import yaml

from conformance.report.renderers import RENDERERS
from conformance.run.options import SPELLINGS

CASE = "account_keys::creation-returns-the-key"
EARLIER = str(Path(__file__).parents[1] / "report" / "results_format_1.json")
ENCODINGS = ("ascii", "cp1252", "latin-1", "cp932")
C_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def service_conformance(
    *arguments: str, limit: Callable[[], None] | None = None, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603 - our own text
        [sys.executable, "-m", "conformance", *arguments],
        capture_output=True,
        check=False,
        env={**os.environ, **variables},
        preexec_fn=limit,
    )


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


COMMANDS = {
    "profile check": (["profile", "check", "{}/node.yaml"], 0),
    "requirements": (["requirements"], 0),
    "compare": (["compare", EARLIER, EARLIER], 0),
    "verify": (["verify", "--quote", "{}/quote.hex", "--collateral", "{}/collateral.json", "--at", "0"], 1),
    "selftest": (["selftest", "--list"], 0),
}


CONSOLES = [*product(COMMANDS, ENCODINGS[:1]), *product(["profile check"], ENCODINGS[1:])]
"""Every command on one console, and one command on each of the others."""


@pytest.mark.parametrize(("command", "encoding"), CONSOLES)
def test_encoding_of_the_console_changes_no_exit_code(command: str, encoding: str, files: Path) -> None:
    arguments, code = COMMANDS[command]
    done = service_conformance(*(one.format(files) for one in arguments), PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (code, b"")
    assert done.stdout


def test_run_on_a_console_without_signs_ends_as_its_results_say(tmp_path: Path) -> None:
    done = service_conformance("run", "--case", CASE, "--output", str(tmp_path), PYTHONIOENCODING=ENCODINGS[0])
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"conforms as far as these cases tell" in done.stdout
    assert results(tmp_path) == (True, 0)


def test_signs_are_spelt_out_where_the_console_lacks_them(files: Path) -> None:
    done = service_conformance("profile", "check", str(files / "node.yaml"), PYTHONIOENCODING="ascii")
    assert b"brand.title: \\xc9lan ok \\u65e5\\u672c\n" in done.stdout


def test_documents_for_programs_are_utf_8_on_any_console() -> None:
    packs = service_conformance("packs", "--json", PYTHONIOENCODING="ascii").stdout
    assert json.loads(packs.decode("utf-8"))
    known = service_conformance(
        "known", "from", EARLIER, "--link", "https://x", "--reason", "Élan ✓", PYTHONIOENCODING="cp1252"
    )
    assert {entry["reason"] for entry in yaml.safe_load(known.stdout.decode("utf-8"))["known"]} == {"Élan ✓"}


@pytest.mark.parametrize("arguments", [["profile", "check", "{}/node.yaml"], ["profile", "schema"]])
def test_files_are_utf_8_whatever_the_locale(arguments: Sequence[str], files: Path) -> None:
    done = service_conformance(*(one.format(files) for one in arguments), **C_LOCALE)
    assert (done.returncode, done.stderr) == (0, b"")


def test_reader_that_leaves_early_changes_no_verdict(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conformance", "run", "--case", CASE, "--output", str(tmp_path)]
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as unread:  # noqa: PTH123 - a descriptor
        done = subprocess.run(command, stdout=unread, stderr=subprocess.PIPE, check=False)  # noqa: S603 - our own text
    assert (done.returncode, done.stderr) == (0, b"")
    assert results(tmp_path) == (True, 0)


def test_report_that_cannot_be_printed_takes_the_verdict_along(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "conformance", "run", "--case", CASE, "--output", str(tmp_path)]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)  # noqa: S603 - our own text
    assert (done.returncode, done.stderr) == (5, b"service-conformance: [Errno 28] No space left on device\n")
    assert results(tmp_path) == (False, 5)


def no_long_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def test_report_that_finds_no_room_leaves_nothing_half_written(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text('{"conforms": true}', encoding="utf-8")
    page = str(tmp_path / "page.html")
    whole = {"PYTHONDONTWRITEBYTECODE": "1"}  # Python would keep the half of a module's code that fits
    done = service_conformance("report", EARLIER, "--html", page, limit=no_long_files, **whole)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.endswith(b"page.html cannot be written: File too large\n")
    assert [file.name for file in tmp_path.iterdir()] == ["results.json"]


@pytest.mark.parametrize("form", RENDERERS)
def test_report_into_a_full_device_is_one_line(form: str) -> None:
    done = service_conformance("report", EARLIER, SPELLINGS[form].flag, "/dev/full")
    said = b"service-conformance: /dev/full cannot be written: No space left on device\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, b"", said)


def test_vectors_into_an_unwritable_folder_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = service_conformance("vectors", "typed-data", "--output", str(tmp_path / "file"))
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1
