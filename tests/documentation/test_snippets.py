"""The examples in the documentation that are programs or packs: each works as it stands there."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from eth_utils.crypto import keccak
from pages import ROOT, Block, blocks

import conformance.run.runner
from conformance.profile import Profile
from conformance.resources import fixtures, scenarios
from conformance.run.runner import Target, load, run_case
from conformance.verdict import Verdict
from conformance.verify import Policy, Sources, fetch, save_folder
from reference_node.problems import BadRequest, Unprocessable
from reference_node.resources import artifacts
from reference_node.seed_file import read_seeds
from reference_node.strict_json import parse
from reference_node.typed_data import Envelopes, Flow

SHOWN_NODE = "http://127.0.0.1:8000"
MODULES = ROOT / "tests" / "js" / "node_modules"
NO_KEY = int.from_bytes(keccak(b"the hash of no key"))
PRINTS_FALSE = re.compile(r"^await (.*);$", re.MULTILINE)


def of_language(page: str, language: str) -> list[Block]:
    return [block for block in blocks(page) if block.language == language]


def contract(node_url: str) -> tuple[str, list[object]]:
    """Address and ABI of the node's account contract."""
    told = httpx.get(f"{node_url}/core/v1/get_node_chain_config", timeout=60).raise_for_status().json()
    abi = json.loads((artifacts() / "AccountConfig.json").read_text(encoding="utf-8"))["abi"]
    return str(told["contract_address"]), abi


def test_web3_example_asks_the_contract(node_url: str) -> None:
    address, abi = contract(node_url)
    (block,) = of_language("docs/chain.md", "python")
    *lines, question = block.text.replace(SHOWN_NODE, node_url).splitlines()
    names: dict[str, object] = {"contract_address": address, "abi": abi, "api_key_hash": NO_KEY}
    exec("\n".join([*lines, f"answer = {question}"]), names)  # noqa: S102 - the project's own documentation
    assert names["answer"] is False


def test_verifier_example_judges_a_folder(
    ready: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    around = ready["profile"]["attestation"]
    root = around["root_certificate"].encode()
    evidence = fetch(around["base_url"], Policy(root=root), Sources(around["pccs_url"], None, around["resolver"]))
    save_folder(evidence, tmp_path / "evidence")
    (tmp_path / "root.pem").write_bytes(root)
    monkeypatch.chdir(tmp_path)
    (block,) = of_language("docs/verify.md", "python")
    exec(block.text, {})  # noqa: S102 - the project's own documentation


@pytest.mark.parametrize("block", of_language("docs/chain.md", "js"))
def test_javascript_example_asks_the_contract(block: Block, node_url: str, tmp_path: Path) -> None:
    node = shutil.which("node")
    if not (MODULES / "viem").is_dir() or node is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("ethers, viem: run `npm --prefix tests/js ci`")
    address, abi = contract(node_url)
    known = f"const address = '{address}', contractAddress = address, abi = {json.dumps(abi)}, apiKeyHash = {NO_KEY}n;"
    asked, answers = PRINTS_FALSE.subn(r"console.log(await \1);", block.text.replace(SHOWN_NODE, node_url))
    (tmp_path / "node_modules").symlink_to(MODULES)
    script = tmp_path / "example.mjs"
    script.write_text(asked.replace("\n\n", f"\n\n{known}\n", 1), encoding="utf-8")
    done = subprocess.run([node, script], capture_output=True, text=True, timeout=300, check=False)  # noqa: S603 - as above
    assert (done.stdout, answers) == ("false\n", 1), done.stderr


def test_whole_pack_passes_on_a_node(node_url: str, tmp_path: Path) -> None:
    (pack,) = [block.text for block in of_language("docs/packs.md", "yaml") if block.text.startswith("pack: ")]
    path = tmp_path / f"{pack.split()[1]}.yaml"
    path.write_text(pack, encoding="utf-8")
    with Target(node_url, Profile(), seed="1") as target:
        outcomes = [run_case(case, target) for case in load([tmp_path])]
    assert [(outcome.verdict, outcome.reason) for outcome in outcomes] == [(Verdict.PASS, "")] * 2


def test_mutant_examples_are_among_the_mutants() -> None:
    modules = [path.read_text(encoding="utf-8") for path in (ROOT / "conformance/selftest/mutants").glob("*.py")]
    for block in of_language("docs/selftest.md", "python"):
        assert any(block.text in module for module in modules)


def test_example_of_the_runner_runs_cases(node_url: str) -> None:
    example = str(conformance.run.runner.__doc__).partition("\n\n")[2]
    short = example.replace(SHOWN_NODE, node_url).replace("usage_*", "versioning")
    names: dict[str, object] = {**vars(conformance.run.runner), "scenarios": scenarios, "profile": Profile()}
    exec(f"{short}\nverdicts = {{outcome.verdict for outcome in outcomes}}", names)  # noqa: S102 - as above
    assert names["verdicts"] == {Verdict.PASS, Verdict.NOT_OFFERED}


def test_example_of_vectors_finds_what_a_verifier_gets_wrong() -> None:
    (block,) = of_language("docs/typed-data.md", "python")
    names: dict[str, Any] = {}
    exec(block.text, names)  # noqa: S102 - the project's own documentation
    folder = fixtures() / "typed_data"
    assert list(names["misjudged"](folder, judged_by_the_node)) == []
    reasons = {topic for _, _, topic, _ in names["misjudged"](folder, lambda *_, **__: True)}
    assert {"other-chain", "too-old-by-a-second", "signer-is-another", "other-flows"} <= reasons


def judged_by_the_node(typed_data: str, signature: str, *, primary_type: str, **where: Any) -> bool:
    try:
        sent = parse(f'{{"typed_data":{typed_data}}}'.encode(), "body")
        assert isinstance(sent, dict)
        Envelopes().verify(sent["typed_data"], signature, flow=Flow(primary_type), **where)
    except (BadRequest, Unprocessable):
        return False
    return True


def test_accounts_of_the_documentation_are_a_file_that_the_node_takes(tmp_path: Path) -> None:
    (text,) = [block.text for block in of_language("docs/client-tests.md", "yaml")]
    file = tmp_path / "accounts.yaml"
    file.write_text(text, encoding="utf-8")
    (account,) = read_seeds(file).accounts
    assert [key.name for key in account.usage_keys] == ["runner", "builder"]
