"""The examples in the documentation that are programs or packs: each works as it stands there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pages import ROOT, Block, blocks
from programs import absent

import conformance.run.runner
from conformance.profile import Profile
from conformance.resources import fixtures, scenarios
from conformance.run.runner import Target, load, run_case
from conformance.verdict import Verdict
from conformance.verify import Policy, Sources, fetch, save_folder
from reference_node.keeping.seed_file import read_seeds
from reference_node.permission.typed_data import Envelopes, Flow
from reference_node.problems import BadRequest, Unprocessable
from reference_node.strict_json import parse

SHOWN_NODE = "http://127.0.0.1:8000"
MODULES = ROOT / "tests" / "js" / "node_modules"
STRIPE_MODULES = ROOT / "tests" / "node" / "stripe_simulator" / "js" / "node_modules"


def of_language(page: str, language: str) -> list[Block]:
    return [block for block in blocks(page) if block.language == language]


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


def run_example(block: Block, ready: dict[str, Any], folder: Path, modules: Path = MODULES) -> str:
    """What an example prints as a program of its own, at the running node instead of the one that it shows."""
    text = block.text.replace(SHOWN_NODE, ready["base_url"])
    text = text.replace("12111", ready["stripe_url"].rpartition(":")[2])
    program, name = (sys.executable, "example.py") if block.language == "python" else (_node_js(modules), "example.mjs")
    (folder / name).write_text(text, encoding="utf-8")
    (folder / "node_modules").symlink_to(modules)
    command = [program, str(folder / name)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)  # noqa: S603 - our own
    assert done.returncode == 0, done.stderr
    return done.stdout


def _node_js(modules: Path) -> str:
    node = shutil.which("node")
    if not modules.is_dir() or node is None:
        absent(f"npm packages: run `npm --prefix {modules.parent.relative_to(ROOT)} ci`")
    return node


@pytest.mark.parametrize("block", [*of_language("docs/chain.md", "python"), *of_language("docs/chain.md", "js")])
def test_example_finds_a_new_account_in_the_contract(block: Block, ready: dict[str, Any], tmp_path: Path) -> None:
    assert run_example(block, ready, tmp_path).lower() == "true\n"


def test_example_of_stripes_sdk_buys_credits(ready: dict[str, Any], tmp_path: Path) -> None:
    (block,) = of_language("docs/stripe-simulator.md", "js")
    assert run_example(block, ready, tmp_path, STRIPE_MODULES) == "succeeded true\n"


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
    assert names["verdicts"] == {Verdict.PASS}


def test_example_of_vectors_finds_what_a_verifier_gets_wrong() -> None:
    (block,) = of_language("docs/typed-data.md", "python")
    names: dict[str, Any] = {}
    exec(block.text, names)  # noqa: S102 - the project's own documentation
    folder = fixtures() / "typed_data"
    assert list(names["misjudged"](folder, judged_by_the_node)) == []
    reasons = {topic for _, _, topic, _ in names["misjudged"](folder, lambda *_, **__: True)}
    assert {"other-domains", "too-old-by-a-second", "signer-is-another", "other-flows"} <= reasons


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
