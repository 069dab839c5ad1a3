"""A node on a chain of its own kind outside: what it wrote there is all there is, so killing it loses nothing."""

from __future__ import annotations

import contextlib
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from actions import KEY, credit, ran
from anvils import Anvil
from nodes import Running, refused, serving
from processes import client, failing, node_process

from reference_node.assembly import build_node
from reference_node.deployment import DeploymentError, Payers
from reference_node.permission.keys import KeyDerivation
from reference_node.settings import Settings

SECRET = "42" * 24 + "0123456789abcdef"


@contextlib.contextmanager
def node_on(anvil: Anvil, tmp_path: Path, *options: str) -> Iterator[tuple[Running, subprocess.Popen[str]]]:
    arguments = ("--rpc-url", anvil.url, "--starter-credits", "1000", *options)
    with (
        node_process(tmp_path / "ready.json", *arguments, REFERENCE_NODE_ROOT_SECRET=SECRET) as (process, ready),
        client(ready) as http,
    ):
        assert (ready["rpc_url"], ready["chain_id"]) == (anvil.url, 31339)
        yield Running(None, http), process


def addresses(count: int, secret: str = SECRET) -> list[str]:
    """The wallets of a root secret that need gas money, the admin payer first."""
    payers = Payers.derived(KeyDerivation(bytes.fromhex(secret)), count)
    return ["0x" + address.hex() for address in payers.addresses]


def test_node_says_which_payers_to_fund(anvil: Anvil) -> None:
    funded, *penniless = addresses(2)
    anvil.fund(funded)
    code, error = failing("--rpc-url", anvil.url, "--payers", "2", REFERENCE_NODE_ROOT_SECRET=SECRET)
    assert code == 1
    assert "fund with gas money" in error
    assert funded not in error.lower()
    for address in penniless:
        assert address in error.lower()


def test_node_killed_and_started_again_has_lost_nothing(anvil: Anvil, tmp_path: Path) -> None:
    anvil.fund(*addresses(6))
    with node_on(anvil, tmp_path) as (running, process):
        account = running.account()
        wallet = running.wallet(account)
        group = running.group(account, pkp_ids_permitted=[wallet], cid_hashes_permitted=[0])
        key = running.usage_key(account, execute_in_groups=[group], manage_ipfs_ids_in_groups=[group])
        before = running.everything(account)
        private_key = ran(running, key, KEY, pkpId=wallet)
        config = running.read("get_node_chain_config")
        refused(running.post("create_wallet", key), 403, "scope-missing")
        refused(running.http.post("/rpc", json={}), 404, "no-json-rpc")
        process.send_signal(signal.SIGKILL)
        process.wait()
    with node_on(anvil, tmp_path, "--payers", "5") as (running, _):
        assert running.read("get_node_chain_config") == config
        assert running.everything(account) == before
        assert running.everything(key) == before
        assert ran(running, key, KEY, pkpId=wallet) == private_key
        assert [payer.lower() for payer in running.read("get_api_payers")] == addresses(5)[1:-1]
        assert running.group(running.account()) == 1
        fresh = running.account()
        assert running.wallet(fresh) != wallet
    with node_on(anvil, tmp_path, "--contract", config["contract_address"]) as (running, _):
        assert running.everything(account) == before


def settings_for(anvil: Anvil, contract: bytes | None = None, secret: str = SECRET) -> Settings:
    anvil.fund(*addresses(1, secret))
    return Settings(
        port=0, rpc_url=anvil.url, root_secret=bytes.fromhex(secret), payers=1, contract=contract, starter_credits=9
    )


def test_contract_that_is_not_the_nodes_is_said_to_be_none(anvil: Anvil) -> None:
    with pytest.raises(DeploymentError, match="there is no contract at 0x1111"):
        build_node(settings_for(anvil, contract=b"\x11" * 20))
    anvil.ask("anvil_setCode", "0x" + "22" * 20, "0x00")
    with pytest.raises(DeploymentError, match="is no AccountConfig"):
        build_node(settings_for(anvil, contract=b"\x22" * 20))
    with closing(build_node(settings_for(anvil))) as node:
        theirs = node.accounts.address
    with pytest.raises(DeploymentError, match="start with the root secret that deployed it"):
        build_node(settings_for(anvil, contract=theirs, secret="43" * 32))


def test_control_moves_no_chain_outside(anvil: Anvil) -> None:
    with serving(replace(settings_for(anvil), control=True)) as running:
        account = running.account()
        for operation, body in (("fund", {"address": "0x" + "11" * 20}), ("reset", {})):
            refused(running.http.post(f"/control/{operation}", json=body), 409, "external-chain")
        assert running.everything(account)["groups"] == []


def test_admin_payer_with_a_past_is_refused(anvil: Anvil) -> None:
    settings = settings_for(anvil)
    anvil.ask("anvil_setNonce", addresses(1)[0], "0x1")
    with pytest.raises(DeploymentError, match="use a fresh root secret"):
        build_node(settings)


def test_chain_that_goes_away_is_unavailable_and_costs_nothing(anvil: Anvil) -> None:
    with serving(settings_for(anvil)) as running:
        account = running.account()
        anvil.process.kill()
        anvil.process.wait()
        refused(running.get("list_groups", account), 503, "chain-unavailable")
        refused(running.post("create_wallet", account), 503, "chain-unavailable")
        refused(running.get("get_api_payers"), 503, "chain-unavailable")
        assert credit(running, account) == 9
