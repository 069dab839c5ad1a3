"""Usage errors: one clear line, exit code 2, never a traceback."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from command_line import exit_code

from conformance.report import ExitCode


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["runn"], "invalid choice: 'runn'"),
        (
            ["run", "--pak", "x"],
            "run: unrecognized arguments: --pak x; did you mean --pack? (see service-conformance run --help)",
        ),
        (["run", "--node", "x"], "unrecognized arguments: --node x"),
        (["run", "--rate", "fast"], "argument --rate: has to be a number above 0, unlike fast"),
        (["run", "--rate", "nan"], "argument --rate: has to be a number above 0, unlike nan"),
        (["run", "--rate", "0"], "argument --rate: has to be a number above 0, unlike 0"),
        (["run", "--max-spend", "-1"], "argument --max-spend: has to be at least 0, not -1"),
        (["run", "--jobs", "0"], "argument --jobs: has to be at least 1, not 0"),
        (["run", "--output", "README.md"], "argument --output: is a folder to write into, and README.md is none"),
        (["run", "--profile", "absent.yaml"], "absent.yaml: cannot be read: No such file or directory"),
        (["profile"], "the following arguments are required: COMMAND"),
        (["profile", "check"], "the following arguments are required: file"),
        (["profile", "check", "absent.yaml"], "absent.yaml: cannot be read"),
        (["requirements", "--family", "XX"], "argument --family: invalid choice: 'XX'"),
        (["packs", "--pack-dir", "absent"], "absent: is no folder"),
    ],
)
def test_usage_error_is_one_line_and_ends_with_2(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    assert exit_code(argv) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""


def test_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(["--version"]) == 0
    assert capsys.readouterr().out == f"service-conformance {version('service-conformance')}\n"


@pytest.mark.parametrize("command", [["profile", "check"], ["packs", "--pack-dir"]])
def test_file_that_is_nested_too_deeply_is_told(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deep.yaml").write_text("a: " + "[" * 3000 + "]" * 3000, encoding="utf-8")
    assert exit_code([*command, str(tmp_path if "packs" in command else tmp_path / "deep.yaml")]) == 2
    assert capsys.readouterr().err.endswith("is nested too deeply\n")


def test_link_to_nowhere_among_the_packs_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    assert exit_code(["packs", "--pack-dir", str(tmp_path)]) == 2
    assert "loop.yaml: is no file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--jobs", "0"], "--jobs has to be at least 1, not 0"), (["--output", "{}/out"], "cannot be written into")],
)
def test_selftest_that_cannot_begin_says_so_and_ends_with_2(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    arguments = [argument.format(tmp_path / "file") for argument in arguments]
    assert exit_code(["selftest", "--mutant", "refusals-redirect", *arguments]) == 2
    assert said in " ".join(capsys.readouterr().out.split())


# Sends a signal to itself in the midst of a command.
INTERRUPTED = """
import signal, sys
from conformance.__main__ import main
from conformance.commands import compare
signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background of a shell ignores it
number = signal.Signals[sys.argv[1]]
compare.load_results = lambda _: signal.raise_signal(number)
sys.argv[1:] = ["compare", "a.json", "b.json"]
sys.exit(main())
"""


@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
def test_command_that_is_interrupted_says_so_in_one_line(number: str) -> None:
    done = subprocess.run(  # noqa: S603 - our own text
        [sys.executable, "-c", INTERRUPTED, number], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (ExitCode.INTERRUPTED, "service-conformance: interrupted\n")
