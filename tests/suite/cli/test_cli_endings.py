"""How commands end that meet what they do not foresee: never with an exit code that means a verdict."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.ending import CRASHED

CRASHING = """
import sys
import conformance.cli
from conformance.__main__ import main

def crash(_arguments):
    raise KeyError("sk_live_secret")

conformance.cli._main = crash
sys.exit(main())
"""
WITHOUT_ROOM = """
import resource, signal, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
sys.dont_write_bytecode = True  # Python would keep the half of it that fits
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
"""
LEAVING = CRASHING.replace('KeyError("sk_live_secret")', 'SystemExit("some library says no")')


def ended(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A process of Python, with a folder for temporary files and these variables."""
    return subprocess.run(  # noqa: S603 - our own text
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | variables | {"TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
    )


def traceback_told(line: str) -> str:
    """The file that the only line names, for its owner alone."""
    match = re.search(r"; its traceback is in (\S+)\n\Z", line)
    assert match, line
    assert line.count("\n") == 1
    file = Path(match[1])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    return file.read_text(encoding="utf-8")


def test_crash_is_told_in_one_line_and_ends_with_70(tmp_path: Path) -> None:
    done = ended(tmp_path, "-c", CRASHING)
    assert (done.returncode, done.stdout) == (CRASHED, "")
    assert done.stderr.startswith(
        "service-conformance: crashed with KeyError at <string>:7: this is a fault of the suite"
    )
    assert "sk_live_secret" not in done.stderr
    assert "KeyError: 'sk_live_secret'" in traceback_told(done.stderr)


def test_crash_without_room_for_its_traceback_ends_with_70(tmp_path: Path) -> None:
    done = ended(tmp_path, "-c", WITHOUT_ROOM + CRASHING)
    assert done.returncode == CRASHED
    assert "; its traceback cannot be written: " in done.stderr
    assert done.stderr.count("\n") == 1


def test_library_that_ends_the_process_gives_no_verdict(tmp_path: Path) -> None:
    assert ended(tmp_path, "-c", LEAVING).returncode == CRASHED


@pytest.mark.parametrize(
    ("broken", "arguments"),
    [
        ("yaml", ["conformance", "profile", "schema"]),
        ("gevent", ["conformance.load"]),
        ("uvicorn", ["reference_node", "serve", "--port", "0"]),
    ],
)
def test_module_that_cannot_be_loaded_ends_with_70(broken: str, arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / f"{broken}.py").write_text("raise RuntimeError('broken')\n", encoding="utf-8")
    done = ended(tmp_path, "-m", *arguments, PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (CRASHED, "")
    assert "RuntimeError: broken" in traceback_told(done.stderr)


@pytest.mark.parametrize("arguments", [["runn"], ["profile", "check", "absent.yaml"]])
def test_standard_error_that_is_full_changes_no_exit_code(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "conformance", *arguments]
        assert subprocess.run(command, stderr=full, check=False).returncode == 2  # noqa: S603 - our own text


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_closed_output_is_a_usage_error(closed: str) -> None:
    line = f"{sys.executable} -m conformance packs {closed}"
    done = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)  # noqa: S602 - our own text
    said = "service-conformance: standard output or error is closed: send it to a file or to /dev/null\n"
    assert (done.returncode, done.stdout + done.stderr) == (2, said)
