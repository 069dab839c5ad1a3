"""The subcommand `vectors`, and the count of rows from which vectors are made."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conformance.cli import main
from conformance.resources import fixtures
from conformance.run.envelope_vectors import FILES


def test_vectors_are_listed_with_their_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "typed-data"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [Path(line.split()[0]).name for line in lines] == sorted(FILES.values())
    for line in lines:
        path, valid, _, invalid, _ = line.split()
        told = json.loads(Path(path).read_text(encoding="utf-8"))
        assert told["number_of_tests"] == int(valid) + int(invalid)


def test_vectors_of_another_seed_are_not_the_shipped_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["vectors", "typed-data", "--check", "--seed", "1"]) == 1
    assert capsys.readouterr().out.count("is not what the seed 1 gives") == len(FILES)


def test_written_vectors_are_the_shipped_ones(tmp_path: Path) -> None:
    assert main(["vectors", "typed-data", "--output", str(tmp_path / "mine")]) == 0
    for name in FILES.values():
        assert (tmp_path / "mine" / name).read_bytes() == (fixtures() / "typed_data" / name).read_bytes()


def test_folder_that_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").touch()
    assert main(["vectors", "typed-data", "--output", str(tmp_path / "file" / "folder")]) == 2
    assert capsys.readouterr().err.startswith(f"service-conformance: {tmp_path / 'file' / 'folder'} cannot be written")


def test_rows_are_counted_by_family_and_flow(shelf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shelf / "signed.yaml").write_text(
        """pack: signed
title: Signed
needs: [http]
cases:
  - id: one
    title: One
    driver: typed_data
    requirements: [ENV-010, WSIG-010]
    flows: [create_wallet_with_signature, balance]
    rows:
      - {id: valid, accepted: true}
      - {id: other-wallet, signature: other_wallet, flows: [balance]}
""",
        encoding="utf-8",
    )
    assert main(["packs", "--rows"]) == 0
    assert [line.split() for line in capsys.readouterr().out.splitlines()] == [
        ["family", "flow", "accepted", "refused"],
        ["ENV", "balance", "1", "1"],
        ["ENV", "create_wallet_with_signature", "1", "0"],
        ["WSIG", "balance", "1", "1"],
        ["WSIG", "create_wallet_with_signature", "1", "0"],
        ["all", "balance", "1", "1"],
        ["all", "create_wallet_with_signature", "1", "0"],
        ["all", "all", "2", "1"],
    ]
