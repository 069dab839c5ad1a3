"""The suite's wallets on an external chain: paid for by one funded key, within a limit, and what is left goes back."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from anvils import Anvil, anvil_in
from envelopes import new_wallet
from processes import completed, node_process
from test_external_chain import SECRET, addresses

from conformance.endpoints.funding import funder_of
from conformance.problems import NoFunderKey
from conformance.profile import Profile

PACK = """
from conformance.cases import Judge, case
from conformance.service.node import Node
from conformance.service.refusal import Refusals

NEEDS = ["chain_rpc", "funded_wallet"]


@case("wallet-writes", requirements=["ACC-150"], needs=NEEDS, each={"one": "a", "two": "b", "three": "c"})
def wallet_writes(judge: Judge, node: Node, row: str) -> None:
    \"\"\"A wallet makes an account and a group, and another wallet none in it.\"\"\"
    carol, mallory = node.wallets.new("carol"), node.wallets.new("mallory")
    with judge():
        dana = node.accounts.by_wallet(carol)
        arguments = [dana.hash, row, "d", [], []]
        _, adds = node.contract.write(carol, "add_group", *arguments)
        groups = node.contract.unchanged_items("list_groups", dana.hash)
        with Refusals(node.session, control=adds, unchanged=[groups]) as refusals:
            node.contract.must_revert(refusals, mallory, "add_group", arguments)


@case("wallet-fails", requirements=["ACC-150"], needs=NEEDS)
def wallet_fails(judge: Judge, node: Node) -> None:
    \"\"\"A case that fails gives its ether back as well.\"\"\"
    dana = node.accounts.by_wallet(node.wallets.new("carol"))
    with judge():
        judge.members(node.contract.view("get_account", dana.hash), {"managed": True}, "the account of a wallet")
"""


@dataclass(frozen=True)
class Setting:
    """A node on an external chain, a pack, and a profile whose funder has ether."""

    anvil: Anvil
    folder: Path
    funder: str
    key: str

    def run(self, *options: str, key: str | None = None) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
        """The suite's own process, and the verdict of each case; the same seed each time."""
        command = [sys.executable, "-m", "conformance", "run", "--profile", str(self.folder / "profile.yaml")]
        command += ["--pack-dir", str(self.folder / "packs"), "--pack", "purse", "--seed", "5"]
        command += ["--output", str(self.folder / "out"), *options]
        variables = {"SUITE_FUNDER": self.key if key is None else key}
        done = completed(*command, seconds=900, **variables)
        results = self.folder / "out" / "results.json"
        cases = json.loads(results.read_text())["cases"] if results.exists() else []
        return done, {case["case"]: case["verdict"] for case in cases}

    def balance(self) -> int:
        """Of the funder, once what was handed over is mined."""
        self.anvil.ask("anvil_mine", "0x1")
        return int(str(self.anvil.ask("eth_getBalance", self.funder, "latest")), 16)

    def written(self) -> str:
        """All that the run wrote."""
        return "".join(path.read_text() for path in (self.folder / "out").iterdir())


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Anvil, str]]:
    """An external chain, and the address of a node on it."""
    folder = tmp_path_factory.mktemp("chain")
    with anvil_in(folder / "anvil", "--prune-history") as anvil:
        anvil.fund(*addresses(6))
        options = ("--rpc-url", anvil.url, "--starter-credits", "1000")
        with node_process(folder / "ready.json", *options, REFERENCE_NODE_ROOT_SECRET=SECRET) as (_, ready):
            yield anvil, str(ready["base_url"])


@pytest.fixture
def setting(chain: tuple[Anvil, str], tmp_path: Path) -> Setting:
    anvil, base_url = chain
    funder = new_wallet()
    anvil.fund(funder.address)
    (tmp_path / "packs").mkdir()
    (tmp_path / "packs" / "purse.py").write_text(PACK)
    profile = {
        "extends": "reference",
        "base_url": base_url,
        "capabilities": ["managed_accounts", "chain_rpc", "funded_wallet"],
        "chain": {"rpc_url": anvil.url, "funder_key_variable": "SUITE_FUNDER"},
    }
    (tmp_path / "profile.yaml").write_text(json.dumps(profile))
    return Setting(anvil, tmp_path, funder.address, funder.key.hex().removeprefix("0x"))


WRITTEN = ["purse::wallet-writes[one]", "purse::wallet-writes[two]", "purse::wallet-writes[three]"]


def test_wallets_pay_and_give_back_what_is_left_also_after_a_failure(setting: Setting) -> None:
    before = setting.balance()
    done, verdicts = setting.run()
    assert verdicts == dict.fromkeys(WRITTEN, "pass") | {"purse::wallet-fails": "fail"}, done.stdout
    lost = before - setting.balance()
    fee = int(str(setting.anvil.ask("eth_gasPrice")), 16)
    assert 0 < lost < 4_000_000 * fee
    assert setting.key not in done.stdout + done.stderr + setting.written()


def test_same_seed_again_and_workers_that_share_a_funder_meet_no_used_wallet_and_no_used_nonce(
    setting: Setting,
) -> None:
    for options in ((), ("--jobs", "3")):
        done, verdicts = setting.run(*options)
        assert verdicts == dict.fromkeys(WRITTEN, "pass") | {"purse::wallet-fails": "fail"}, done.stdout


def test_run_stops_at_its_limit_of_gas(setting: Setting) -> None:
    before = setting.balance()
    _, verdicts = setting.run("--max-gas", "300000")
    assert "inconclusive" in verdicts.values()
    assert "pass" not in list(verdicts.values())[1:]
    assert "raise --max-gas" in setting.written()
    fee = int(str(setting.anvil.ask("eth_gasPrice")), 16)
    assert before - setting.balance() < 2 * 300_000 * fee


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("", "it is not set"),
        ("no key at all", "it holds no private key"),
        ("00" * 32, "it holds no private key"),
    ],
    ids=["empty", "a text", "zero"],
)
def test_text_that_is_no_private_key_is_told(key: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUITE_FUNDER", key)
    chain = {"rpc_url": "http://127.0.0.1:1", "funder_key_variable": "SUITE_FUNDER"}
    with pytest.raises(NoFunderKey, match=said):
        funder_of(Profile.model_validate({"capabilities": ("funded_wallet",), "chain": chain}))


@pytest.mark.parametrize(
    ("key", "chain_id", "said"),
    [
        ("", None, "a private key in the variable SUITE_FUNDER"),
        ("11" * 32, None, "in the funding wallet"),
        (None, 5, "the chain 5, as chain.id of the profile says"),
    ],
    ids=["no key", "no ether", "another chain than the profile states"],
)
def test_cases_that_cannot_have_gas_are_inconclusive_and_spend_nothing(
    setting: Setting, key: str | None, chain_id: int | None, said: str
) -> None:
    profile = json.loads((setting.folder / "profile.yaml").read_text())
    profile["chain"]["id"] = chain_id
    (setting.folder / "profile.yaml").write_text(json.dumps(profile))
    before = setting.balance()
    done, verdicts = setting.run(key=key)
    assert (done.returncode, set(verdicts.values())) == (3, {"inconclusive"}), done.stdout
    assert said in setting.written()
    assert setting.balance() == before
