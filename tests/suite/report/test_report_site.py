"""The site: its pages lead to each other and to every verdict, and nothing of anybody's results runs in them."""

from __future__ import annotations

import hashlib
import html
import json
import re
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote

import pytest
from browser import DARK, browsed, outside, violations
from made_runs import EXCHANGE, FAILED, PASSED, UNSURE, outcome, record
from made_runs import results as results_of

from conformance.cli import main
from conformance.report import ExitCode, Results, write_results
from conformance.report.site import collect, write_site
from conformance.verdict import Failure, Outcome, Verdict

BOTH = (PASSED, outcome("p::b", Verdict.PASS, "A-010", "A-020"))
HOSTILE = "</td></title><script>document.title = 'taken'</script><img src=http://evil/ onerror=alert(1)>\"'"


def results(*outcomes: Outcome, day: int = 0, text: str = "") -> Results:
    found = results_of(*outcomes, started=record().started + timedelta(days=day))
    if not text:
        return found
    written = found.model_dump_json()
    for word in ("A-010", "A-020", "A-030", "The node counts.", found.suite.version, found.seed, found.sentence):
        written = written.replace(json.dumps(word), json.dumps(word + text))
    return Results.model_validate_json(written)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two versions of one node, and one run each of two others, one of which is hostile in all that it says."""
    folder = tmp_path_factory.mktemp("runs")
    exchange = replace(EXCHANGE, response_body=HOSTILE)
    evil = replace(FAILED, reason=HOSTILE, failure=Failure(HOSTILE, HOSTILE, HOSTILE, exchange))
    write_results(results(*BOTH), folder / "acme" / "1.0")
    write_results(results(PASSED, FAILED, day=1), folder / "acme" / "1.1")
    write_results(results(PASSED, UNSURE, day=2), folder / "beta")
    write_results(results(PASSED, evil, text=HOSTILE), folder / "<script>alert(1)<" / "\"><img src=x> 'v'")
    return folder


@pytest.fixture(scope="module")
def site(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of these runs, in which no test writes."""
    folder = tmp_path_factory.mktemp("site")
    assert main(["site", str(runs), "-o", str(folder)]) == 0
    return folder


def pages(site: Path) -> dict[Path, str]:
    return {path: path.read_text("utf-8") for path in site.rglob("*.html")}


def row(page: str, statement: str) -> list[str]:
    """The verdicts on a statement."""
    found = re.search(rf'<tr id="{statement}".*?</tr>', page, re.DOTALL)
    assert found is not None
    return re.findall(r"<td[^>]*>(?:<a [^>]*>)?([^<]*)", found[0])


def test_matrix_has_a_verdict_for_each_statement_and_node(site: Path) -> None:
    index = (site / "index.html").read_text("utf-8")
    heads = re.findall(r'<th scope="col"><a href="[^"]*">([^<]*)</a></th>', index)
    assert [html.unescape(head) for head in heads[:3]] == ["<script>alert(1)<", "acme", "beta"]
    assert row(index, "A-010") == ["unknown", "fail", "inconclusive"]
    assert row(index, "B-010") == ["not yet covered", "not yet covered", "not yet covered"]


def test_board_shows_a_whole_run_before_a_newer_one_of_a_part(tmp_path: Path) -> None:
    part = results(PASSED, FAILED, day=1).model_copy(update={"selected": ("--family=A",)})
    write_results(results(*BOTH), tmp_path / "acme" / "1.0")
    write_results(part, tmp_path / "acme" / "1.1")
    write_results(part, tmp_path / "beta" / "1.1")

    board = collect([tmp_path])

    assert [(run.node, run.version, run.part) for run in board.latest] == [
        ("acme", "1.0", ""),
        ("beta", "1.1", " (part of the cases)"),
    ]
    assert " (part of the cases)" in write_site(board, tmp_path / "site").read_text(encoding="utf-8")


def test_verdict_leads_to_the_statement_in_the_run_that_it_is_of(site: Path) -> None:
    index = (site / "index.html").read_text("utf-8")
    assert '<td class="fail"><a href="acme/1.1.html#A-010">fail</a></td>' in index


def test_every_link_leads_to_a_page_and_a_place_that_are_there(site: Path) -> None:
    texts = pages(site)
    assert len(texts) == 1 + 3 + 4
    for path, text in texts.items():
        for link in re.findall(r'href="([^"]*)"', text):
            page, _, place = html.unescape(link).partition("#")
            target = path.parent / page if page else path
            assert target.is_file(), (path, link)
            places = {html.unescape(name) for name in re.findall(r'id="([^"]*)"', target.read_text("utf-8"))}
            assert not place or unquote(place) in places, (path, link)


def test_history_tells_what_changed_between_versions(site: Path) -> None:
    history = (site / "acme" / "index.html").read_text("utf-8")
    assert re.findall(r'<th scope="row"><a href="([^"]*)">', history) == ["1.1.html", "1.0.html"]
    assert row(history, "A-010") == ["fail", "pass"]
    assert 'id="B-010"' not in history, "its verdict did not change"
    newest = re.search(r'<a href="1.1.html">1.1</a></th>(.*?)</tr>', history)
    assert newest is not None
    assert re.findall(r"<td>([^<]*)</td>", newest[1])[3] == "3", "broken"
    assert "There is one version only." in (site / "beta" / "index.html").read_text("utf-8")


def test_run_is_kept_byte_by_byte_however_it_is_written_and_its_page_tells_the_digest(tmp_path: Path) -> None:
    content = json.dumps(json.loads(results(*BOTH).content), indent=None).encode()
    (tmp_path / "runs" / "acme").mkdir(parents=True)
    (tmp_path / "runs" / "acme" / "results.json").write_bytes(content)
    page = write_site(collect([tmp_path / "runs"]), tmp_path / "site").parent / "acme" / "2026-01-02.html"
    assert page.with_suffix(".json").read_bytes() == content
    assert hashlib.sha256(content).hexdigest() in page.read_text("utf-8")


def test_runs_by_different_versions_of_the_suite_are_said_not_to_compare(site: Path, tmp_path: Path) -> None:
    said = "do not compare throughout"
    assert said in (site / "index.html").read_text("utf-8")
    write_results(results(*BOTH), tmp_path / "same" / "acme")
    write_results(results(PASSED, FAILED), tmp_path / "same" / "beta")
    index = write_site(collect([tmp_path / "same"]), tmp_path / "other")
    assert said not in index.read_text("utf-8")


def test_pages_load_nothing_from_elsewhere_and_allow_their_own_script_alone(site: Path) -> None:
    for path, text in pages(site).items():
        assert not re.findall(r'(?:src|href)="[a-z]*:?//', text), path
        assert text.count("<script>") == 1, path
        assert "default-src &#39;none&#39;" in text, path


def test_names_from_results_are_no_markup_and_no_path(site: Path) -> None:
    for path, text in pages(site).items():
        assert "<img" not in text, path
        assert re.fullmatch(r"[A-Za-z0-9.-]+", path.name), path
    assert all(path.resolve().is_relative_to(site) for path in site.rglob("*"))


def test_filter_of_the_board_works_in_a_browser_beside_hostile_names(site: Path, tmp_path: Path) -> None:
    shown = browsed(site / "index.html", tmp_path)
    assert "<title>Conformance board</title>" in shown
    count = re.search(r"<output[^>]*>(\d+) of (\d+) statements shown</output>", shown)
    assert count is not None
    assert int(count[1]) < int(count[2]), "may and silent statements are hidden at first"


@pytest.mark.parametrize(
    ("page", "flags"),
    [("index.html", ()), ("index.html", (DARK,)), ("acme/index.html", ())],
    ids=["board", "dark", "history"],
)
def test_axe_finds_nothing_on_the_pages(site: Path, tmp_path: Path, page: str, flags: tuple[str, ...]) -> None:
    copy = shutil.copytree(site, tmp_path / "site")
    assert violations(copy / page, tmp_path, *flags) == []


@pytest.mark.parametrize(
    ("page", "printed"),
    [("index.html", False), ("index.html", True), ("acme/index.html", False)],
    ids=["board", "board on paper", "history"],
)
def test_statements_do_not_cover_the_verdicts(tmp_path: Path, page: str, *, printed: bool) -> None:
    words = " " + "in many words of the specification " * 12
    write_results(results(PASSED, FAILED, text=words), tmp_path / "runs" / "acme" / "2")
    write_results(results(*BOTH, day=1, text=words), tmp_path / "runs" / "acme" / "3")
    site = write_site(collect([tmp_path / "runs"]), tmp_path / "site").parent
    assert outside(site / page, tmp_path, printed=printed) == []


def test_board_of_nodes_shows_all_columns(tmp_path: Path) -> None:
    part_of_all = results(PASSED, FAILED).model_copy(update={"selected": ("--pack=fuzz", "--case=fuzz::links-*")})
    write_results(part_of_all, tmp_path / "runs" / "acme")
    site = write_site(collect([tmp_path / "runs"]), tmp_path / "site").parent
    frame = '<iframe id="at" src="index.html" width="1100" height="900"></iframe>'
    part = 'at.contentDocument.querySelector(".scroll")'
    tell = f"at.onload = () => {{ const part = {part}; document.title = part.scrollWidth - part.clientWidth; }}"
    (site / "frame.html").write_text(f"<!doctype html>{frame}<script>{tell}</script>", encoding="utf-8")
    assert "<title>0</title>" in browsed(site / "frame.html", tmp_path, "--allow-file-access-from-files")


def test_folders_without_results_are_told_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["site", str(tmp_path), "-o", str(tmp_path / "site")]) == ExitCode.USAGE
    told = capsys.readouterr().err
    assert "holds no results.json, neither itself nor in a folder below" in told
    assert len(told.splitlines()) == 1


def test_second_run_of_a_version_is_told(runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["site", str(runs), str(runs), "-o", str(tmp_path / "site")]) == ExitCode.USAGE
    assert "is a second run of" in capsys.readouterr().err


def test_file_that_refers_to_a_case_that_it_lacks_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_results(results(PASSED, FAILED).model_copy(update={"cases": ()}), tmp_path / "runs" / "acme")
    assert main(["site", str(tmp_path / "runs"), "-o", str(tmp_path / "site")]) == ExitCode.USAGE
    assert "it names the case 'p::b' and does not hold it" in capsys.readouterr().err
