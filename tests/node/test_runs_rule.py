"""Who may run what with which wallet (specification, "Execution rule"), and that refused means refused."""

from __future__ import annotations

import pytest
from actions import ECHO, KEY, account_hash, failed, hashed_cid, permitted, ran, run
from nodes import ZERO_HASH, Running, refused

from reference_node.permission.keys import pkp_id

REFUSED = "execution-not-permitted"

SWALLOW = """async function main({ pkpId }) {
  const caught = [];
  for (const ask of [Service.Actions.getPrivateKey, Service.Actions.signMessage, Service.Actions.signDigest]) {
    try {
      return await ask({ pkpId, message: "m", digest: "0x" + "11".repeat(32) });
    } catch (error) {
      caught.push(String(error), error.stack);
    }
  }
  return caught;
}"""


def test_refused_run_names_the_cid_that_a_group_has_to_list(running: Running, account: str) -> None:
    cid = running.http.post("/core/v1/get_service_action_ipfs_id", json=ECHO).json()
    detail = refused(run(running, account, ECHO), 403, REFUSED)["detail"]
    assert str(cid) in detail
    assert hashed_cid(ECHO) in detail


@pytest.mark.parametrize("code", [SWALLOW, f"{SWALLOW}\nmain = main;"])
def test_refusal_stands_although_the_script_catches_it(running: Running, code: str) -> None:
    mine = permitted(running, code)
    other = running.wallet(mine.account)
    theirs = permitted(running, code).wallet
    assert ran(running, mine.key, code, pkpId=mine.wallet)
    for wallet in (other, theirs, ZERO_HASH, "0x" + "12" * 32):
        answered = run(running, mine.key, code, pkpId=wallet)
        assert set(refused(answered, 403, REFUSED)) == {"type", "title", "status", "detail", "code", "instance"}


@pytest.mark.parametrize(
    ("call", "named"),
    [
        ("signMessage({ message: 'm' })", "pkpId"),
        ("signMessage({ pkpId: 5, message: 'm' })", "pkpId"),
        ("signMessage({ pkpId: pkpId.slice(2), message: 'm' })", "pkpId"),
        ("signMessage({ pkpId: pkpId + '0', message: 'm' })", "pkpId"),
        ("getPrivateKey({ pkpId: '0x' + 'zz'.repeat(32) })", "pkpId"),
        ("signMessage({ pkpId })", "message"),
        ("signMessage({ pkpId, message: 5 })", "message"),
        ("signMessage({ pkpId, message: '\\ud800' })", "message"),
        ("signDigest({ pkpId })", "digest"),
        ("signDigest({ pkpId, digest: '0x' + '11'.repeat(31) })", "digest"),
        ("signDigest({ pkpId, digest: '11'.repeat(32) })", "digest"),
        ("signDigest({ pkpId, digest: 'x'.repeat(66) })", "digest"),
    ],
)
def test_wrong_argument_is_an_error_that_the_script_can_catch(running: Running, call: str, named: str) -> None:
    code = f"async function main({{ pkpId }}) {{ return await Service.Actions.{call}; }}"
    catching = (
        f"async function main({{ pkpId }}) {{ try {{ await Service.Actions.{call}; }} "
        "catch (error) { return [error instanceof Error, error.message]; } }"
    )
    mine = permitted(running, code, catching)
    assert named in failed(running, mine.key, code, pkpId=mine.wallet)
    is_error, message = ran(running, mine.key, catching, pkpId=mine.wallet)
    assert is_error is True
    assert named in message


def test_wallet_registered_with_a_path_that_is_not_its_own_yields_no_key(running: Running) -> None:
    mine = permitted(running, KEY)
    running.node.accounts.create_wallet(account_hash(mine.account), b"\x78" * 20, 12345, "", "")
    wallet = "0x" + pkp_id(b"\x78" * 20).hex()
    running.done("add_pkp_to_group", mine.account, group_id=mine.group, pkp_id=wallet)
    refused(run(running, mine.key, KEY, pkpId=wallet), 403, REFUSED)
