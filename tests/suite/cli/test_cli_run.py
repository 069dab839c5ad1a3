"""``service-conformance run`` as a user calls it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import certifi
import pytest
from command_line import exit_code
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


def folder_with_a_pack(folder: Path) -> Path:
    """Put a pack there, and a pytest configuration and tests that are none of the suite's business."""
    (folder / "packs").mkdir()
    (folder / "packs" / "trial.yaml").write_text(PACK, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n", encoding="utf-8")
    (folder / "conftest.py").write_text("raise SystemExit('not mine')\n", encoding="utf-8")
    (folder / "test_other.py").write_text("def test_other(): assert False\n", encoding="utf-8")
    return folder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a pack."""
    monkeypatch.chdir(tmp_path)
    return folder_with_a_pack(tmp_path)


TRIAL = ["run", "--pack-dir", "packs", "--pack", "trial"]


def run_apart(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own."""
    command = [sys.executable, "-m", "conformance", *TRIAL, *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - our own text


def results_in(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / "out" / "results.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a run of the bundled node with evidence, and what it printed."""
    folder = folder_with_a_pack(tmp_path_factory.mktemp("bundled"))
    options = ("--case", "trial::chain-id-is-a-number", "--output", "out", "--seed", "s1", "--evidence", "evidence")
    ended = run_apart(folder, *options)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return folder, ended.stdout


def test_run_starts_the_bundled_node_and_passes(bundled: tuple[Path, str]) -> None:
    folder, told = bundled
    assert "The node conforms as far as these cases tell: 1 of 1 passed" in told
    assert "warning" not in told
    results = results_in(folder)
    assert (results["exit_code"], results["conforms"], results["seed"]) == (0, True, "s1")
    verdicts = {one["id"]: one["verdict"] for one in results["requirements"]}
    assert verdicts["CHAIN-030"] in {"not run", "pass in part"}
    assert ET.parse(folder / "out" / "junit.xml").getroot().find(".//testcase") is not None  # noqa: S314 - our own file


def test_run_with_evidence_can_be_stated(bundled: tuple[Path, str], tmp_path: Path) -> None:
    folder, _ = bundled
    evidence = results_in(folder)["evidence"]
    assert evidence["before"]["verified"]
    assert evidence["after"]["verified"]
    key, root = tmp_path / "key.pem", folder / "evidence" / "before" / "root.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True)  # noqa: S603, S607
    files = ["--evidence", folder / "evidence", "--key", key, "--root", root, "-o", tmp_path / "statement.json"]
    assert main(["statement", str(folder / "out"), *map(str, files)]) == 0


def test_run_that_fails_names_what_is_broken_and_how_to_see_it_again(
    place: Path, node: TinyNode, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code([*TRIAL, "--node-url", node.url, "--output", "out", "--seed", "s1"]) == 1
    cases = {one["case"]: one for one in results_in(place)["cases"]}
    assert {name: one["verdict"] for name, one in cases.items()} == {
        "trial::chain-id-is-a-number": "pass",
        "trial::chain-id-is-a-text": "fail",
    }
    assert cases["trial::chain-id-is-a-text"]["rerun"] == (
        f"service-conformance run --node-url {node.url} --pack-dir packs --seed s1 --case trial::chain-id-is-a-text"
    )
    assert "CHAIN-030 (must; " in capsys.readouterr().out


@pytest.mark.usefixtures("place")
def test_run_that_selects_nothing_ends_with_4(node: TinyNode, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code([*TRIAL, "--level", "may", "--node-url", node.url]) == 4
    assert "No case was selected." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--pack", "nonesuch"), "no pack is called 'nonesuch'"),
        (("--family", "chian"), "no family is called 'chian'; did you mean 'CHAIN'?"),
        (("--level", "musst"), "no level is called 'musst'; did you mean 'must'?"),
        (("--family", "EXEC", "--requirement", "GRP-010"), "no requirement fits"),
        (("--known", "absent.yaml"), "absent.yaml: cannot be read"),
        (("--pack-dir", "absent"), "absent: is no folder"),
        (("--output", "pack.yaml/out"), "cannot be written into: Not a directory"),
        (("--output", "blocked"), "blocked cannot be written into: Is a directory"),
        (("--alluredir", "pack.yaml/allure"), "pack.yaml/allure cannot be written into: Not a directory"),
        (("--html", "blocked"), "blocked cannot be written into: Is a directory"),
        (("--node-url", "http://127.0.0.1:9"), "http://127.0.0.1:9: the node cannot be reached"),
        (("--evidence", "evidence"), "{url} is refused: "),
        (("--evidence", "judged"), "--evidence judged: has a before already; name a new folder"),
        (("--evidence", "evidence", "--jobs", "2"), "is that of one node and one process: leave out --jobs"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_run_that_cannot_begin_says_so_and_ends_with_2(
    options: tuple[str, ...],
    said: str,
    place: Path,
    node: TinyNode,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (place / "pack.yaml").write_text("a file")
    (place / "blocked" / "results.json").mkdir(parents=True)
    (place / "judged" / "before").mkdir(parents=True)
    assert exit_code([*TRIAL, "--node-url", node.url, "--output", "out", *options]) == 2
    out, err = capsys.readouterr()
    assert said.format(url=node.url) in err
    assert err.strip().count("\n") == 0
    assert "Traceback" not in out
    assert not (place / "out").exists()


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

    ended = run_apart(place, "--node-url", node.url, "--max-minutes", "0.03", "--output", "out")

    assert ended.returncode == ExitCode.INTERRUPTED, ended.stdout + ended.stderr
    assert "its 0.03 minutes are over (--max-minutes)" in str(results_in(place)["interrupted"])


def test_run_uses_the_profile_and_names_its_digest(place: Path, node: TinyNode) -> None:
    (place / "node.yaml").write_text(f"base_url: {node.url}\nlimits: {{rate: 50}}\n", encoding="utf-8")
    assert exit_code([*TRIAL, "--profile", "node.yaml", "--output", "out"]) == 1
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
