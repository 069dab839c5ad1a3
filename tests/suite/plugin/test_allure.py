"""Allure results of packs: verdicts, statements and exchanges; the report that npm's allure makes of them opens."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from browser import JS, absent, browsed
from plugin_project import run, run_apart
from tiny_node import TinyNode

from conformance.cli import main

pytest_plugins = ["pytester"]

ALLURE = JS / "node_modules" / ".bin" / "allure"
LINK = "https://tracker.example/7"
KNOWN = f"known: [{{case: 'trial::fails[y]', reason: two are missing, link: '{LINK}'}}]\n"
PATTERNS = [
    "--allure-link-pattern=requirement:https://spec.example/report.html#{}",
    "--allure-link-pattern=clause:https://spec.example/text#{}",
]


@pytest.fixture
def reported(project: pytest.Pytester, node: TinyNode) -> dict[str, Any]:
    """The Allure results of a run, by the names of the cases in their pack."""
    (project.path / "known.yaml").write_text(KNOWN, encoding="utf-8")
    run(project, "--node-url", node.url, "--known=known.yaml", "--alluredir=allure", *PATTERNS)
    return in_folder(project.path / "allure")


def in_folder(folder: Path) -> dict[str, Any]:
    found = [json.loads(path.read_text("utf-8")) for path in folder.glob("*-result.json")]
    by_name = {one["fullName"].partition("::")[2]: one for one in found}
    assert len(by_name) == len(found)
    return by_name


def labels(result: dict[str, Any], name: str) -> list[str]:
    return [label["value"] for label in result["labels"] if label["name"] == name]


def test_every_case_has_the_status_of_its_verdict_its_duration_and_a_history_of_its_own(
    reported: dict[str, Any],
) -> None:
    assert {name: result["status"] for name, result in reported.items()} == {
        "passes": "passed",
        "fails[x]": "failed",
        "fails[y]": "skipped",
        "teaches-nothing": "broken",
        "not-offered": "skipped",
    }
    assert all(result["stop"] >= result["start"] for result in reported.values())
    assert any(result["stop"] > result["start"] for result in reported.values())
    assert len({result["historyId"] for result in reported.values()}) == len(reported), "rows are no retries"


def test_known_failure_is_marked_and_leads_to_its_link(reported: dict[str, Any]) -> None:
    known = reported["fails[y]"]
    assert known["statusDetails"]["known"] is True
    assert {"type": "issue", "url": LINK, "name": LINK} in known["links"]
    assert "known" not in reported["fails[x]"]["statusDetails"]


def test_case_carries_its_statements_their_clauses_and_a_severity(reported: dict[str, Any]) -> None:
    failed = reported["fails[x]"]
    assert labels(failed, "requirement") == labels(failed, "tag") == ["GRP-010"]
    assert labels(failed, "clause") == ["Resources and their fields / Group"]
    assert labels(failed, "severity") == ["critical"]
    assert failed["description"].startswith("**GRP-010** (must; Resources and their fields / Group) ")
    assert [link["url"] for link in failed["links"]] == [
        "https://spec.example/report.html#GRP-010",
        "https://spec.example/text#group",
    ]


def test_failure_says_what_came_and_attaches_the_exchange_without_keys(
    reported: dict[str, Any], project: pytest.Pytester, node: TinyNode
) -> None:
    failed = reported["fails[x]"]
    assert failed["statusDetails"]["message"].startswith("fail: ")
    assert "again: service-conformance run" in failed["statusDetails"]["trace"]
    texts = {one["name"]: (project.path / "allure" / one["source"]).read_text() for one in failed["attachments"]}
    assert texts["request as curl"].startswith("curl -i -X GET")
    assert "$API_KEY_1" in texts["request as curl"]
    assert texts["answer"].startswith("HTTP 200\n")
    assert texts["all exchanges"].startswith("POST ")
    assert "\nGET " in texts["all exchanges"]
    assert node.groups
    written = "".join(path.read_text("utf-8") for path in (project.path / "allure").iterdir())
    assert not [key for key in node.groups if key in written]


def test_other_tests_of_the_session_stay_as_they_are(project: pytest.Pytester, node: TinyNode) -> None:
    own = project.makepyfile("def test_own(): assert False")
    pack = project.path / "packs" / "trial.yaml"
    run(project, "--node-url", node.url, "--alluredir=allure", str(own), str(pack))
    found = [json.loads(path.read_text("utf-8")) for path in (project.path / "allure").glob("*-result.json")]
    (mine,) = [one for one in found if one["fullName"].endswith("#test_own")]
    assert (mine["name"], mine["status"]) == ("test_own", "failed")
    assert labels(mine, "requirement") == []


def test_command_without_allure_pytest_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("conformance.run.front.find_spec", lambda _: None)
    assert main(["run", "--alluredir", "out"]) == 2
    assert capsys.readouterr().err.endswith("pip install 'service-conformance[allure]'\n")


@pytest.mark.parametrize("pattern", ["spec:https://x/{}", "clause:https://x/"])
def test_command_refuses_a_pattern_that_leads_nowhere(capsys: pytest.CaptureFixture[str], pattern: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["run", "--alluredir", "out", "--allure-link-pattern", pattern])
    assert "is like requirement:https" in capsys.readouterr().err


def test_without_the_option_nothing_imports_allure(project: pytest.Pytester, node: TinyNode) -> None:
    look = "import sys\ndef pytest_unconfigure(): print('allure' in sys.modules)"
    told = run_apart(project, "-pno:allure_pytest", "--node-url", node.url, plugin=look).stdout.str()
    assert told.endswith("False")


def test_report_of_npms_allure_opens_in_a_browser(reported: dict[str, Any], project: pytest.Pytester) -> None:
    if not ALLURE.exists():
        absent("npm's allure is missing: run `npm --prefix tests/js ci`")
    subprocess.run(  # noqa: S603 - our own tool on our own files
        [ALLURE, "awesome", "allure", "--single-file", "--group-by", "suite", "--output", "report"],
        cwd=project.path,
        env=os.environ | {"ALLURE_NO_ANALYTICS": "true"},
        capture_output=True,
        timeout=300,
        check=True,
    )
    page = project.path / "report" / "index.html"
    without_tag = re.sub(r"<script[^>]*googletagmanager[^>]*></script>", "", page.read_text("utf-8"))
    assert "googletagmanager" not in without_tag
    page.write_text(without_tag, "utf-8")
    shown = browsed(page, project.path)
    for result in reported.values():
        assert result["name"] in shown
