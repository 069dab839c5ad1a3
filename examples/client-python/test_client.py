"""A client's own tests in Python: the plugin of service-conformance starts a node and makes accounts."""

from __future__ import annotations

import httpx
import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from conformance.run.client_fixtures import ReferenceNode, ServiceAccount

SIGN = """async function main({ pkpId, message }) {
  return await Service.Actions.signMessage({ pkpId, message });
}"""


def run(node: ReferenceNode, key: str, code: str, **parameters: object) -> httpx.Response:
    """What the client under test does."""
    body = {"code": code, "jsParams": parameters}
    return httpx.post(f"{node.api_url}/service_action", json=body, headers={"X-Api-Key": key}, timeout=60)


def test_action_signs_with_the_wallet(conformance_node: ReferenceNode, conformance_account: ServiceAccount) -> None:
    answer = run(
        conformance_node, conformance_account.usage_key, SIGN, pkpId=conformance_account.pkp_id, message="hello"
    )
    signer = Account.recover_message(encode_defunct(text="hello"), signature=answer.json()["response"])
    assert signer == conformance_account.pkp_address


@pytest.mark.parametrize("key", ["", "bm9ib2R5IGhhcyB0aGlzIGtleSBhdCBhbGwgYW55d2U="])
def test_run_without_a_known_key_is_refused(
    conformance_node: ReferenceNode, conformance_account: ServiceAccount, key: str
) -> None:
    answer = run(conformance_node, key, SIGN, pkpId=conformance_account.pkp_id, message="hello")
    assert answer.status_code == 401
