"""The application-authorisation contract at the address that `app_id` names (rule 8), in memory and on anvil."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
from anvils import Anvil

from reference_node.assembly import build_node
from reference_node.deployment import DeploymentError, Payers
from reference_node.permission.keys import KeyDerivation
from reference_node.settings import Settings

SECRET = bytes.fromhex("43" * 24 + "0123456789abcdef")
SELECTOR = "2f6622e5"
"""Of allowedComposeHashes(bytes32)."""
TRUE, FALSE = "0x" + "1".rjust(64, "0"), "0x" + "0" * 64
OTHER_COMPOSE = "services:\n  a:\n    image: app@sha256:" + "ab" * 32 + "\n"


def allowed(anvil: Anvil, app_id: str, compose_hash: str) -> object:
    """What the contract says, asked as any verifier asks."""
    return anvil.ask("eth_call", {"to": f"0x{app_id}", "data": f"0x{SELECTOR}{compose_hash}"}, "latest")


@pytest.fixture
def payers(anvil: Anvil) -> list[str]:
    """Who pays for the node's writes; each has gas money."""
    addresses = ["0x" + address.hex() for address in Payers.derived(KeyDerivation(SECRET), 4).addresses]
    anvil.fund(*addresses)
    return addresses


@pytest.mark.usefixtures("payers")
def test_external_chain_keeps_the_register(anvil: Anvil, tmp_path: Path) -> None:
    compose = tmp_path / "compose.yaml"
    compose.write_text(OTHER_COMPOSE)
    seen, blocks = [], []
    for file in (None, None, compose):
        with closing(build_node(Settings(rpc_url=anvil.url, root_secret=SECRET, compose=file))) as node:
            info = json.loads(node.attestation.info.body)
        seen.append((info["app_id"], info["compose_hash"]))
        blocks.append(int(str(anvil.ask("eth_blockNumber")), 16))
        assert allowed(anvil, *seen[-1]) == TRUE
        assert allowed(anvil, info["app_id"], "ab" * 32) == FALSE
    first, again, other = seen
    assert (again, blocks[1]) == (first, blocks[0])
    assert (other[0], blocks[2]) == (first[0], blocks[1] + 1)
    assert other[1] != first[1]
    assert allowed(anvil, *first) == TRUE


def test_owner_that_sent_something_else_first_is_told(anvil: Anvil, payers: list[str]) -> None:
    anvil.ask("anvil_setNonce", payers[-1], "0x1")
    with pytest.raises(DeploymentError, match=r"the application's owner .* use a fresh root secret"):
        build_node(Settings(rpc_url=anvil.url, root_secret=SECRET))
