"""The build script's answers, and what the committed artifacts say of themselves. Tox compiles them anew."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

CONTRACTS = Path(__file__).resolve().parents[2] / "contracts"
ARTIFACTS = CONTRACTS / "artifacts"


@pytest.fixture
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build_contracts", CONTRACTS / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(build: ModuleType, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["build.py", *arguments])
    code = build.main()
    assert isinstance(code, int)
    return code


def committed() -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in ARTIFACTS.glob("*.json")}


def test_check_names_the_outdated_file_and_the_remedy(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled = committed()
    compiled["AppAuthorisation.json"] += " "
    monkeypatch.setattr(build, "compile_artifacts", lambda: compiled)
    assert run(build, monkeypatch, "--check") == 1
    message = capsys.readouterr().err
    assert "AppAuthorisation.json" in message
    assert "python contracts/build.py" in message
    assert "AccountConfig.json" not in message


def test_check_misses_an_absent_file_until_it_is_built(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(build, "compile_artifacts", committed)
    monkeypatch.setattr(build, "ARTIFACTS", tmp_path / "artifacts")
    assert run(build, monkeypatch, "--check") == 1
    assert list(tmp_path.iterdir()) == []
    assert run(build, monkeypatch) == 0
    assert run(build, monkeypatch, "--check") == 0


def test_absent_compiler_is_explained(
    build: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(build, "COMPILER", tmp_path / "solc.js")
    assert run(build, monkeypatch, "--check") == 2
    assert "npm --prefix contracts ci" in capsys.readouterr().err


def test_code_over_the_limit_of_the_chain_is_refused(build: ModuleType) -> None:
    code = {kind: {"object": "00" * 24_577} for kind in ("bytecode", "deployedBytecode")}
    with pytest.raises(build.BuildError, match="24577 bytes"):
        build._artifact("AccountConfig", {"abi": [], "evm": code}, "0.0.0")


def test_every_source_asks_for_the_pinned_compiler_and_names_the_licence() -> None:
    pinned = json.loads((CONTRACTS / "package.json").read_text(encoding="utf-8"))["devDependencies"]["solc"]
    sources = sorted((CONTRACTS / "src").glob("*.sol"))
    assert sources
    for source in sources:
        head = rf"// SPDX-License-Identifier: Apache-2\.0\npragma solidity {re.escape(pinned)};\n"
        assert re.match(head, source.read_text(encoding="utf-8")), source.name
