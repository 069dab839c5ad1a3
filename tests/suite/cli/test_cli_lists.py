"""The subcommands that only tell: packs, requirements, profile."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.profile.publish import SCHEMA_FILE

pytestmark = pytest.mark.usefixtures("shelf")


def test_packs_lists_every_case_with_its_requirements(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["packs"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "shelf (3 cases)",
        "  shelf::group-is-listed  A group is listed (ACC-070, PKP-090)",
        "  shelf::page-is-short[one]  A page is short (LIST-040)",
        "  shelf::page-is-short[two]  A page is short (LIST-040)",
    ]


def test_help_of_packs_names_every_member_of_its_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["packs", "--json"]) == 0
    members = json.loads(capsys.readouterr().out)[0]
    with pytest.raises(SystemExit):
        main(["packs", "--help"])
    described = capsys.readouterr().out.partition("Prints each pack")[2].partition("options:")[0]
    assert set(members) <= set(re.findall(r"\w+", described))


def test_packs_of_the_users_own_are_listed_too(shelf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "own"
    own.mkdir()
    text = (shelf / "shelf.yaml").read_text("utf-8").replace("pack: shelf", "pack: mine")
    (own / "mine.yaml").write_text(text, encoding="utf-8")
    assert main(["packs", "--pack-dir", str(own)]) == 0
    assert "mine (3 cases)" in capsys.readouterr().out


def test_packs_are_narrowed_as_a_run_is(shelf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["packs", "--family", "ACC", "--level", "must", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {
            "case": "shelf::group-is-listed",
            "pack": "shelf",
            "title": "A group is listed",
            "requirements": ["ACC-070", "PKP-090"],
            "needs": ["managed_accounts"],
            "file": str(shelf / "shelf.yaml"),
            "line": 5,
        }
    ]
    assert main(["packs", "--case", "shelf::page-is-shrot[one]"]) == 2
    assert "did you mean 'shelf::page-is-short[one]'" in capsys.readouterr().err


def test_broken_pack_is_told_with_its_line(shelf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shelf / "shelf.yaml").write_text("pack: shelf\ntitle: t\ncases: [{id: A}]\n", encoding="utf-8")
    assert main(["packs"]) == 2
    assert capsys.readouterr().err.startswith(f"{shelf / 'shelf.yaml'}:3: ")


def test_requirement_is_told_with_its_checks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["requirements", "--family", "ACC", "--family", "LIST", "--family", "FLOW"]) == 0
    text = capsys.readouterr().out
    assert (
        "ACC-070  must  Resources and their fields / Account\n"
        "    An account has groups as children.\n"
        "    checks: shelf::group-is-listed\n"
    ) in text
    assert "checks: shelf::page-is-short[one], shelf::page-is-short[two]\n" in text
    assert "FLOW-010  " in text
    assert "    not yet covered: nobody has said why\n" in text
    assert "    profile: limits.page_size_default; the reference node: 20;" in text
    assert "    several readings; decided: " in text
    assert "\nGRP-" not in text
    assert "  LIST      10: 1 covered, 9 not yet covered\n" in text


def test_requirement_covered_in_part_tells_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["requirements", "--family", "PKP", "--uncovered"]) == 0
    text = capsys.readouterr().out
    assert "    covered in part; missing: that nothing is persisted" in text
    assert main(["requirements", "--family", "ACC", "--uncovered"]) == 0
    assert "ACC-070" not in capsys.readouterr().out


def test_requirements_as_json_are_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["requirements", "--json"]) == 0
    found = {entry["id"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert len(found) == 568
    assert found["ACC-070"]["checks"] == ["shelf::group-is-listed"]
    assert found["ACC-070"]["coverage"] == "covered"
    assert found["PKP-090"]["coverage"] == "partly covered"
    assert found["ACC-190"]["coverage"] == "not judged"


def test_profile_check_tells_the_differences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "node.yaml"
    path.write_text(
        "limits: {rate: 3}\nerrors: {status_codes: null}\nbrand: {slug: service}\ncapabilities: [openapi]\n"
        "semantics: {account_wallet_listed: true}\n",
        encoding="utf-8",
    )
    assert main(["profile", "check", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{path}: a valid profile; it differs from the reference node's in 4 of its keys",
        '  capabilities: ["openapi"]',
        "  errors.status_codes: states nothing",
        "  limits.rate: 3.0",
        "  semantics.account_wallet_listed: true",
    ]


def test_profile_check_tells_what_silence_and_lacking_functions_cost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "node.yaml"
    path.write_text(
        "chain:\n  abi:\n    account: {get_account: 'getAccount(uint256) returns (bool managed)'}\n"
        "    writes: {add_group: 'addGroup(uint256 keyHash, string name, string description)'}\n"
        "wire: {operations: {method_and_path: {run_action: null}}}\n",
        encoding="utf-8",
    )
    assert main(["profile", "check", str(path)]) == 0
    told = capsys.readouterr().out
    assert re.search(
        r"\n  wire\.operations\.method_and_path\.run_action: states nothing: at least \d+ cases are not offered\n", told
    )
    assert "\n  chain.abi.account.get_account: returns no adminWalletAddress, name, description; what needs it " in told
    assert "\n  chain.abi.writes.add_group: takes no pkpIds, cidHashes; what needs it is not offered\n" in told


def test_profile_schema_is_the_published_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "schema"]) == 0
    assert capsys.readouterr().out == SCHEMA_FILE.read_text(encoding="utf-8")
