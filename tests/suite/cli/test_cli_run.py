"""``service-conformance run`` as a user calls it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from argparse import ArgumentParser
from pathlib import Path

import certifi
import pytest
from tiny_node import TinyNode

from conformance.cli import main, parser
from conformance.profile import Profile
from conformance.report import ExitCode
from conformance.report.profile_used import profile_digest
from conformance.run.front import jobs_that_pay
from conformance.run.options import SPELLINGS, Options, add_option

PACK = """\
pack: trial
title: Trial
cases:
  - id: chain-id-is-a-number
    title: The chain id is a number
    requirements: [CHAIN-010]
    steps: [{call: get_node_chain_config, as: nobody, expect: {chain_id: {type: integer}}}]
  - id: chain-id-is-a-text
    title: The chain id is a text, which it is not
    requirements: [CHAIN-030]
    steps: [{call: get_node_chain_config, as: nobody, expect: {chain_id: {type: string}}}]
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a pack, and with a pytest configuration and tests that are none of the suite's business."""
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs" / "trial.yaml").write_text(PACK, encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n", encoding="utf-8")
    (tmp_path / "conftest.py").write_text("raise SystemExit('not mine')\n", encoding="utf-8")
    (tmp_path / "test_other.py").write_text("def test_other(): assert False\n", encoding="utf-8")
    return tmp_path


def run(place: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "conformance", "run", "--pack-dir", "packs", "--pack", "trial", *options]
    return subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)  # noqa: S603 - our own text


def results_in(place: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((place / "out" / "results.json").read_text(encoding="utf-8"))
    return found


def test_run_with_evidence_can_be_stated(place: Path) -> None:
    ended = run(place, "--case", "trial::chain-id-is-a-number", "--output", "out", "--evidence", "evidence")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    evidence = results_in(place)["evidence"]
    assert isinstance(evidence, dict)
    assert evidence["before"]["verified"]
    assert evidence["after"]["verified"]
    key, root = place / "key.pem", place / "evidence" / "before" / "root.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True)  # noqa: S603, S607
    arguments = [place / "out", "--evidence", place / "evidence", "--key", key, "--root", root, "-o", place / "s.json"]
    assert main(["statement", *map(str, arguments)]) == 0
    again = run(place, "--case", "trial::chain-id-is-a-number", "--evidence", "evidence")
    assert again.returncode == ExitCode.USAGE
    assert "--evidence evidence: has a before already; name a new folder" in again.stderr


def test_run_with_evidence_does_not_begin_where_there_is_none(place: Path, node: TinyNode) -> None:
    ended = run(place, "--node-url", node.url, "--output", "out", "--evidence", "evidence")
    assert ended.returncode == ExitCode.USAGE
    assert f"the evidence of {node.url} is refused: " in ended.stderr
    assert not (place / "out").exists()


def test_run_with_evidence_is_of_one_node(place: Path) -> None:
    ended = run(place, "--jobs", "2", "--evidence", "evidence")
    assert ended.returncode == ExitCode.USAGE
    assert "--evidence is that of one node and one process: leave out --jobs" in ended.stderr


def test_run_starts_the_bundled_node_and_passes(place: Path) -> None:
    ended = run(place, "--case", "trial::chain-id-is-a-number", "--output", "out", "--seed", "s1")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "The node conforms as far as these cases tell: 1 of 1 passed" in ended.stdout
    assert "warning" not in ended.stdout
    results = results_in(place)
    assert (results["exit_code"], results["conforms"], results["seed"]) == (0, True, "s1")
    verdicts = {one["id"]: one["verdict"] for one in results["requirements"]}  # type: ignore[attr-defined]  # JSON
    assert verdicts["CHAIN-030"] == "not run" or verdicts["CHAIN-030"] == "pass in part"
    assert ET.parse(place / "out" / "junit.xml").getroot().find(".//testcase") is not None  # noqa: S314 - our own file


def test_run_in_several_processes_fails_alike(place: Path) -> None:
    ended = run(place, "--output", "out", "--jobs", "2")
    assert ended.returncode == 1, ended.stdout + ended.stderr
    results = results_in(place)
    cases = {one["case"]: one for one in results["cases"]}  # type: ignore[attr-defined]  # JSON
    assert {name: one["verdict"] for name, one in cases.items()} == {
        "trial::chain-id-is-a-number": "pass",
        "trial::chain-id-is-a-text": "fail",
    }
    again = cases["trial::chain-id-is-a-text"]["rerun"]
    assert again == (
        f"service-conformance run --pack-dir packs --seed {results['seed']} --case trial::chain-id-is-a-text"
    )
    assert "CHAIN-030 (must; " in ended.stdout


def test_run_that_selects_nothing_ends_with_4(place: Path, node: TinyNode) -> None:
    ended = run(place, "--level", "may", "--node-url", node.url)
    assert ended.returncode == 4
    assert "No case was selected." in ended.stdout


def test_run_against_nobody_ends_in_one_line(place: Path) -> None:
    ended = run(place, "--node-url", "http://127.0.0.1:9", "--output", "out")
    assert (ended.returncode, ended.stderr.strip().count("\n")) == (2, 0)
    assert "http://127.0.0.1:9: the node cannot be reached" in ended.stderr
    assert not (place / "out" / "results.json").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--pack", "nonesuch"), "no pack is called 'nonesuch'"),
        (("--case", "trial::chain-id-is-a-nubmer"), "did you mean 'trial::chain-id-is-a-number' or "),
        (("--requirement", "CHAIN-01"), "no requirement is called 'CHAIN-01'; did you mean 'CHAIN-010'?"),
        (("--family", "chian"), "no family is called 'chian'; did you mean 'CHAIN'?"),
        (("--level", "musst"), "no level is called 'musst'; did you mean 'must'?"),
        (("--family", "EXEC", "--requirement", "GRP-010"), "no requirement fits"),
        (("--known", "absent.yaml"), "absent.yaml: cannot be read"),
        (("--pack-dir", "absent"), "absent: is no folder"),
        (("--rate", "nan"), "argument --rate: has to be a number above 0, unlike nan"),
        (("--node-url", "http://[::1"), "argument --node-url: http://[::1: Invalid IPv6 URL"),
        (("--node-url", "http://127.0.0.1:99999"), "has to name a port from 1 to 65535"),
        (("--node-url", "http://node..example"), "'node..example' is no name of a host"),
        (("--output", "pack.yaml/out"), "cannot be written into: Not a directory"),
        (("--output", "blocked"), "blocked cannot be written into: Is a directory"),
        (("--alluredir", "pack.yaml/allure"), "pack.yaml/allure cannot be written into: Not a directory"),
        (("--html", "blocked"), "blocked cannot be written into: Is a directory"),
    ],
)
def test_run_that_cannot_begin_says_so_and_ends_with_2(options: tuple[str, ...], said: str, place: Path) -> None:
    (place / "pack.yaml").write_text("a file")
    (place / "blocked" / "results.json").mkdir(parents=True)
    ended = run(place, "--node-url", "http://127.0.0.1:9", "--output", "out", *options)
    assert ended.returncode == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.stdout + ended.stderr
    assert not (place / "out" / "results.json").exists()


def test_first_look_that_stumbles_does_not_end_the_run(
    tmp_path: Path, node: TinyNode, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("conformance.run.front.first_look", lambda *_, **__: int("no number"))
    case = ["--case", "chain_information::chain-config"]
    main(["run", "--node-url", node.url, "--output", str(tmp_path / "out"), *case])
    assert "stumble (ValueError); the cases run all the same" in capsys.readouterr().err
    assert len(results_in(tmp_path)["cases"]) == 1


def test_node_that_hangs_at_the_first_look_does_not_hold_up_a_run_whose_time_is_over(
    place: Path, node: TinyNode
) -> None:
    for path in ("get_node_chain_config", "get_api_payers", "list_groups", "openapi.json"):
        node.faults[path] = node.hang

    ended = run(place, "--node-url", node.url, "--max-minutes", "0.03", "--output", "out")

    assert ended.returncode == ExitCode.INTERRUPTED, ended.stdout + ended.stderr
    assert "its 0.03 minutes are over (--max-minutes)" in str(results_in(place)["interrupted"])


def test_run_uses_the_profile_and_names_its_digest(place: Path, node: TinyNode) -> None:
    (place / "node.yaml").write_text(f"base_url: {node.url}\nlimits: {{rate: 50}}\n", encoding="utf-8")
    assert run(place, "--profile", "node.yaml", "--output", "out").returncode == 1
    stated = Profile.model_validate({"base_url": node.url, "limits": {"rate": 50.0}})
    results = results_in(place)
    profile = results["profile"]
    assert (profile["source"], profile["sha256"]) == ("node.yaml", profile_digest(stated))
    assert profile["content"]["limits"]["rate"] == 50.0
    assert "brand.slug" in profile["assumed"]
    assert results["target"] == {"base_url": node.url, "bundled": False}


def test_options_reach_pytest_as_they_were_given() -> None:
    text = (
        "run --node-url http://n --profile p --pack a --pack b --pack-dir d --case c --requirement r --family f"
        " --level l --quick --full --cell x --seed s"
        " --known k --budget 1 --scale 20 --max-spend 0 --max-gas 7 --rate 2.5 --jobs 3 --timeout 9 --max-timeouts 2"
        " --output o --max-minutes 90.5"
        " --html o/h --summary o/s --badge o/b --junit o/j --dotenv o/d --annotations o/a --har o/x --replay o/r"
        f" --restart --ca-file {certifi.where()} --evidence e --resume o --from e --only fail,pass"
    )
    options = Options.of(parser().parse_args(text.split()))
    assert len(vars(options)) == len(
        [name for name in vars(options) if getattr(options, name) != getattr(Options, name)]
    )

    of_pytest = ArgumentParser()
    for name in SPELLINGS:
        add_option(of_pytest.add_argument, name, pytest=True)
    assert Options.of(of_pytest.parse_args(options.arguments()), "conformance_") == options


@pytest.mark.parametrize(
    ("options", "bundled", "jobs"),
    [
        (Options(), True, 3),
        (Options(), False, 1),
        (Options(packs=("groups",)), True, 1),
        (Options(cases=("*::*",)), True, 1),
    ],
)
def test_bundled_run_of_everything_uses_every_core(
    options: Options, bundled: bool, jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)

    assert jobs_that_pay(options, bundled=bundled) == jobs


def test_run_that_ends_before_its_first_case_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(pytest, "main", lambda *_, **__: pytest.ExitCode.INTERRUPTED)
    assert main(["run", "--pack", "accounts"]) == ExitCode.INTERRUPTED
    assert capsys.readouterr().err == (
        "service-conformance: the run ended before its first case: there are no results\n"
    )
