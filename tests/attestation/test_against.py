"""What is said of a command that judges the vectors: too generous, too strict, or neither."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from conformance.attestation_vectors.against import Comparison, Verdict, compare, differences, markdown
from conformance.attestation_vectors.files import Vector, shipped
from conformance.cli import main
from conformance.problems import Problem
from conformance.verify.policy_file import SECTIONS

HEAD = f"""
import json, os, sys, time
def say(**told): print(json.dumps(told), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["command"] == "start":
        say(protocol=1, implementation="a test", kinds=["quote", "evidence"], policies={list(SECTIONS)})
        continue
"""

COMMANDS = {
    "accepts": 'say(id=asked["id"], result="accepted", detail="")',
    "refuses": 'say(id=asked["id"], result="refused", detail="on principle")',
    "leaves": 'say(id=asked["id"], result="unsupported")',
    "crashes": "os._exit(3)",
    "hangs": "time.sleep(600)",
    "mumbles": 'print("accepted", flush=True)',
    "confuses": 'say(id="another", result="refused")',
    "invents": 'say(id=asked["id"], result="perhaps")',
    "floods": 'sys.stdout.write("x" * 3_000_000); sys.stdout.flush()',
    "crashes-at-times": """if int(asked["id"].rpartition("/")[2]) % 3: say(id=asked["id"], result="refused")
    else: os._exit(3)""",
}


@pytest.fixture
def few() -> list[Vector]:
    """Accepted and refused ones of both kinds."""
    vectors = shipped()
    chosen = {(v.kind, v.result): v for v in vectors}
    return [*chosen.values(), *vectors[:4]]


def command(tmp_path: Path, name: str) -> str:
    script = tmp_path / f"{name}.py"
    script.write_text(f"{HEAD}    {COMMANDS[name]}\n", encoding="utf-8")
    return shlex.join([sys.executable, str(script)])


def verdicts(comparison: Comparison, result: str) -> set[Verdict]:
    return {judged.verdict for judged in comparison.judged if judged.vector.result == result}


@pytest.mark.parametrize(
    ("name", "of_accepted", "of_refused"),
    [
        ("accepts", Verdict.AGREES, Verdict.TOO_GENEROUS),
        ("refuses", Verdict.TOO_STRICT, Verdict.AGREES),
        ("leaves", Verdict.UNSUPPORTED, Verdict.UNSUPPORTED),
        ("crashes", Verdict.CRASHED, Verdict.CRASHED),
        ("mumbles", Verdict.CRASHED, Verdict.CRASHED),
        ("confuses", Verdict.CRASHED, Verdict.CRASHED),
        ("invents", Verdict.CRASHED, Verdict.CRASHED),
        ("floods", Verdict.CRASHED, Verdict.CRASHED),
    ],
)
def test_command_is_judged_by_its_answers(
    name: str, of_accepted: Verdict, of_refused: Verdict, few: list[Vector], tmp_path: Path
) -> None:
    comparison = compare(command(tmp_path, name), few, patience=60)
    assert comparison.implementation == "a test"
    assert [judged.vector for judged in comparison.judged] == few
    assert verdicts(comparison, "accepted") == {of_accepted}
    assert verdicts(comparison, "refused") == {of_refused}


def test_command_that_hangs_times_out(few: list[Vector], tmp_path: Path) -> None:
    comparison = compare(command(tmp_path, "hangs"), few[:2], patience=0.05)
    assert {judged.verdict for judged in comparison.judged} == {Verdict.TIMED_OUT}


def test_kinds_that_a_command_does_not_judge_are_not_asked(few: list[Vector], tmp_path: Path) -> None:
    script = tmp_path / "quotes.py"
    text = HEAD.replace('["quote", "evidence"]', '["quote"]') + f"    {COMMANDS['refuses']}\n"
    script.write_text(text, encoding="utf-8")
    comparison = compare(shlex.join([sys.executable, str(script)]), few)
    assert {judged.vector.kind for judged in comparison.judged} == {"quote"}
    assert comparison.others == sum(vector.kind == "evidence" for vector in few)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["/no/such/program"], "No such file or directory"),
        ([sys.executable, "-c", "pass"], "exit code 0"),
        ([sys.executable, "-c", "print('hello')"], "describes the protocol"),
        ([sys.executable, "-c", 'print(\'{"protocol": 2, "implementation": "x", "kinds": []}\')'], "protocol 2, not 1"),
        ([sys.executable, "-c", 'print(\'{"protocol": 1, "implementation": "x", "kinds": ["cpu"]}\')'], "kinds"),
    ],
)
def test_command_that_does_not_speak_the_protocol_is_told(words: list[str], told: str, few: list[Vector]) -> None:
    with pytest.raises(Problem, match=told):
        compare(shlex.join(words), few)


def test_differences_name_vector_flags_and_detail(few: list[Vector], tmp_path: Path) -> None:
    comparison = compare(command(tmp_path, "refuses"), few)
    *lines, summed = differences(comparison)
    assert len(lines) == len(comparison.having(Verdict.TOO_STRICT)) > 0
    strict = comparison.having(Verdict.TOO_STRICT)[0]
    assert all(part in lines[0] for part in ("too strict", strict.vector.id, strict.vector.comment, "on principle"))
    assert summed.startswith("a test: ")


def test_table_has_a_column_for_each_command(few: list[Vector], tmp_path: Path) -> None:
    comparisons = [compare(command(tmp_path, name), few) for name in ("accepts", "refuses")]
    head, _, *rows = markdown(comparisons).splitlines()
    assert head == "| to be refused | vectors | a test | a test |"
    generous = next(row for row in rows if "too generous" in row)
    assert generous.split("|")[3:5] == [f" {len(comparisons[0].having(Verdict.TOO_GENEROUS))} ", " 0 "]


@pytest.mark.parametrize(
    ("name", "code"), [("accepts", 1), ("refuses", 1), ("leaves", 4), ("crashes", 3), ("crashes-at-times", 1)]
)
def test_exit_code_tells_differences_from_crashes(name: str, code: int, tmp_path: Path) -> None:
    chosen = ["--only", "authorisation/*"]
    assert main(["vectors", "attestation", "--against", command(tmp_path, name), *chosen]) == code


def test_shipped_vectors_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "attestation"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert sum(int(word) for line in listed for word in line.split() if word.isdigit()) == len(shipped())


def test_glob_without_vectors_is_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "attestation", "--only", "no-such/*"]) == 2
    assert "no vector has an id as no-such/*" in capsys.readouterr().err


def test_vectors_of_a_seed_are_written_and_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("conformance.selftest.attestation.vector_files", lambda seed: {"caa.json": f"seed {seed}"})
    assert main(["vectors", "attestation", "--seed", "7", "--output", str(tmp_path)]) == 0
    assert (tmp_path / "caa.json").read_text(encoding="utf-8") == "seed 7"
    assert main(["vectors", "attestation", "--seed", "7", "--check"]) == 1
    assert "caa.json is not what the seed 7 gives" in capsys.readouterr().out
