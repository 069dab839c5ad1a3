"""Who may run what with which wallet (specification, "Execution rule"), and that refused means refused."""

from __future__ import annotations

import base64

import pytest
from actions import ECHO, KEY, RUN, SIGN, address_of_wallet, failed, hashed_cid, permitted, ran, run, signer
from envelopes import conversion, new_wallet
from eth_account import Account
from nodes import ZERO_HASH, Running, refused

from reference_node.chain.account_config import UsageKey
from reference_node.permission.keys import address_of, key_hash, new_secret, pkp_id

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


def test_permitted_wallet_signs_messages_digests_and_shows_its_key(running: Running) -> None:
    digest = "async function main({ pkpId, digest }) { return Service.Actions.signDigest({ pkpId, digest }); }"
    mine = permitted(running, SIGN, KEY, digest)
    address = address_of_wallet(running, mine.account, mine.wallet)
    for key in (mine.account, mine.key):
        assert signer(ran(running, key, SIGN, pkpId=mine.wallet, message="grüße"), "grüße") == address
        assert Account.from_key(ran(running, key, KEY, pkpId=mine.wallet)).address == address
        signature = ran(running, key, digest, pkpId=mine.wallet, digest="0x" + "aB" * 32)
        assert Account._recover_hash(b"\xab" * 32, signature=signature) == address
        assert int(signature[-2:], 16) in {27, 28}


def test_action_is_its_exact_bytes(running: Running) -> None:
    mine = permitted(running, ECHO)
    ran(running, mine.key, ECHO)
    for other in (ECHO + "\n", " " + ECHO, ECHO.replace("params", "param5"), ""):
        refused(run(running, mine.key, other), 403, REFUSED)


def test_refused_run_names_the_cid_that_a_group_has_to_list(running: Running, account: str) -> None:
    cid = running.http.post("/core/v1/get_service_action_ipfs_id", json=ECHO).json()
    detail = refused(run(running, account, ECHO), 403, REFUSED)["detail"]
    assert str(cid) in detail
    assert hashed_cid(ECHO) in detail


def test_run_that_may_not_begin_runs_nothing(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = permitted(running, ECHO)
    stranger = permitted(running, ECHO)
    begun: list[str] = []
    monkeypatch.setattr(running.node.sandbox, "run", lambda code, *_: begun.append(code))
    refused(run(running, running.usage_key(mine.account), ECHO), 403, REFUSED)
    refused(run(running, mine.account, SIGN), 403, REFUSED)
    refused(run(running, running.account(), ECHO), 403, REFUSED)
    elsewhere = running.usage_key(mine.account, execute_in_groups=[running.group(mine.account)])
    refused(run(running, elsewhere, ECHO), 403, REFUSED)
    foreign = running.usage_key(stranger.account, execute_in_groups=[mine.group])
    refused(run(running, foreign, SIGN), 403, REFUSED)
    assert begun == []


def test_all_three_conditions_hold_in_one_group(running: Running, account: str) -> None:
    wallet = running.wallet(account)
    action_only = running.group(account, cid_hashes_permitted=[hashed_cid(SIGN)])
    wallet_only = running.group(account, pkp_ids_permitted=[wallet])
    wild_actions = running.group(account, cid_hashes_permitted=[0])
    both = running.usage_key(account, execute_in_groups=[action_only, wallet_only, wild_actions])
    for key in (both, account, running.usage_key(account, execute_in_groups=[0])):
        refused(run(running, key, SIGN, pkpId=wallet, message="m"), 403, REFUSED)
    running.done("add_pkp_to_group", account, group_id=wild_actions, pkp_id=ZERO_HASH)
    for key in (both, account, running.usage_key(account, execute_in_groups=[0])):
        ran(running, key, SIGN, pkpId=wallet, message="m")


@pytest.mark.parametrize("code", [SWALLOW, f"{SWALLOW}\nmain = main;"])
def test_refusal_stands_although_the_script_catches_it(running: Running, code: str) -> None:
    mine = permitted(running, code)
    other = running.wallet(mine.account)
    theirs = permitted(running, code).wallet
    assert ran(running, mine.key, code, pkpId=mine.wallet)
    for wallet in (other, theirs, ZERO_HASH, "0x" + "12" * 32):
        answered = run(running, mine.key, code, pkpId=wallet)
        assert set(refused(answered, 403, REFUSED)) == {"type", "title", "status", "detail", "code", "instance"}


def test_refusal_stands_although_nothing_waits_for_it(running: Running) -> None:
    code = """async function main({ pkpId }) {
      Service.Actions.getPrivateKey({ pkpId }).then(() => {}, () => {});
      await new Promise((done) => setTimeout(done, 20));
      return "fine";
    }"""
    mine = permitted(running, code)
    assert ran(running, mine.key, code, pkpId=mine.wallet) == "fine"
    refused(run(running, mine.key, code, pkpId=running.wallet(mine.account)), 403, REFUSED)


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


def test_no_key_and_keys_nobody_holds_are_401(running: Running) -> None:
    mine = permitted(running, ECHO)
    refused(running.post(RUN, code=ECHO), 401, "key-missing")
    refused(running.post(RUN, base64.b64encode(new_secret()).decode(), code=ECHO), 401, "unknown-key")
    running.done("remove_usage_api_key", mine.account, usage_api_key=mine.key)
    refused(run(running, mine.key, ECHO), 401, "unknown-key")


def test_usage_keys_of_a_converted_account_still_run_and_its_own_key_does_not(running: Running) -> None:
    mine = permitted(running, SIGN)
    address = address_of_wallet(running, mine.account, mine.wallet)
    running.done("convert_to_chain_secured_account", mine.account, **conversion(new_wallet()))
    refused(run(running, mine.account, SIGN, pkpId=mine.wallet, message="m"), 401, "unknown-key")
    assert signer(ran(running, mine.key, SIGN, pkpId=mine.wallet, message="m"), "m") == address


def test_derivation_path_of_another_account_yields_no_key(running: Running) -> None:
    """Who reads somebody's path from the chain and registers it as a wallet of theirs gets nothing by it."""
    victim, thief = permitted(running, KEY), permitted(running, KEY)
    accounts = running.node.accounts
    victim_hash, thief_hash = (key_hash(base64.b64decode(one.account)) for one in (victim, thief))
    stolen = accounts.wallet(victim_hash, bytes.fromhex(victim.wallet[2:]))
    for address in (stolen.address, b"\x77" * 20):
        accounts.create_wallet(thief_hash, address, stolen.derivation_path, "", "")
        wallet = "0x" + pkp_id(address).hex()
        running.done("add_pkp_to_group", thief.account, group_id=thief.group, pkp_id=wallet)
        refused(run(running, thief.key, KEY, pkpId=wallet), 403, REFUSED)
    ran(running, victim.key, KEY, pkpId=victim.wallet)


def test_wallet_registered_with_a_path_that_is_not_its_own_yields_no_key(running: Running) -> None:
    mine = permitted(running, KEY)
    running.node.accounts.create_wallet(key_hash(base64.b64decode(mine.account)), b"\x78" * 20, 12345, "", "")
    wallet = "0x" + pkp_id(b"\x78" * 20).hex()
    running.done("add_pkp_to_group", mine.account, group_id=mine.group, pkp_id=wallet)
    refused(run(running, mine.key, KEY, pkpId=wallet), 403, REFUSED)


def test_accounts_never_share_a_key(running: Running) -> None:
    keys = {ran(running, one.key, KEY, pkpId=one.wallet) for one in (permitted(running, KEY) for _ in range(3))}
    assert len(keys) == 3


def test_usage_key_expires_by_the_clock_of_the_chain(running: Running) -> None:
    mine = permitted(running, ECHO)
    account_hash, secret = key_hash(base64.b64decode(mine.account)), new_secret()
    permissions = running.node.accounts.usage_key(account_hash, key_hash(base64.b64decode(mine.key))).permissions
    key = base64.b64encode(secret).decode()
    for expiration, status in ((running.node.chain.timestamp() + 3600, 200), (running.node.chain.timestamp(), 401)):
        running.node.accounts.set_usage_key(
            account_hash, UsageKey(key_hash(secret), expiration, 0, "k", "d", permissions)
        )
        assert run(running, key, ECHO).status_code == status
    assert address_of(secret)
