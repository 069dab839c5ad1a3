"""``service-conformance known``: lists made from results."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from command_line import exit_code
from made_runs import outcome, results

from conformance.cli import main
from conformance.report import write_results
from conformance.run.known import load_known
from conformance.verdict import Outcome, Verdict

LINK = "https://tracker.example/1"


def written(folder: Path, *outcomes: Outcome) -> str:
    write_results(results(*outcomes), folder)
    return str(folder)


def test_list_made_from_results_lists_what_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failed = outcome("p::b[x: y]", Verdict.FAIL, "A-010")
    folder = written(tmp_path, outcome("p::a", Verdict.PASS, "A-010"), failed, outcome("p::c", Verdict.INCONCLUSIVE))

    assert main(["known", "from", folder, "--link", LINK, "--expires", "2127-01-31"]) == 0

    path = tmp_path / "known.yaml"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    listed = load_known(path, date(2027, 1, 1))
    (entry,) = listed.entries
    assert (entry.case, entry.reason, entry.expires) == ("p::b[x: y]", "reason of p::b[x: y]", date(2127, 1, 31))
    assert listed.apply(failed).verdict is Verdict.KNOWN


def test_long_reason_is_cut_and_a_given_one_is_taken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(tmp_path, outcome("p::" + "b" * 300, Verdict.FAIL, "A-010"))

    assert main(["known", "from", folder, "--link", LINK]) == 0
    path = tmp_path / "known.yaml"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    assert len(load_known(path).entries[0].reason) == 200
    assert main(["known", "from", folder, "--link", LINK, "--reason", "caches: 30 s"]) == 0
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    assert load_known(path).entries[0].reason == "caches: 30 s"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--link", LINK], "no case failed in"),
        ([], "the following arguments are required: --link"),
        (["--link", "tracker"], "argument --link: begins with http:// or https://"),
        (
            ["--link", LINK, "--expires", "2020-01-31"],
            "argument --expires: 2020-01-31 is in the past: the list would not count",
        ),
        (["--link", LINK, "--expires", "soon"], "argument --expires: must be a day such as 2027-01-31, unlike soon"),
    ],
)
def test_list_that_cannot_be_made_is_told_in_one_line(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(tmp_path, outcome("p::a", Verdict.PASS, "A-010"))
    assert exit_code(["known", "from", folder, *options]) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert (printed.err.count("\n"), printed.out) == (1, "")
