"""Actions for the tests to run, and accounts that may run them."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import httpx
from eth_account import Account
from eth_account.messages import encode_defunct
from nodes import Running

from reference_node.permission.cid import cid_hash, cid_of
from reference_node.permission.keys import address_of, key_hash

RUN = "service_action"

ECHO = "async function main(params) { return params; }"

SIGN = """async function main({ pkpId, message }) {
  return await Service.Actions.signMessage({ pkpId, message });
}"""

KEY = "async function main({ pkpId }) { return await Service.Actions.getPrivateKey({ pkpId }); }"

TWICE = """async function main({ pkpId }) {
  const first = await Service.Actions.signMessage({ pkpId, message: "first" });
  try {
    return [first, await Service.Actions.signMessage({ pkpId, message: "second" })];
  } catch (error) {
    return [first, String(error)];
  }
}"""


def hashed_cid(code: str) -> str:
    """What a group lists the action of this code as."""
    return "0x" + cid_hash(cid_of(code.encode())).hex()


def run(running: Running, key: str, code: str, **params: Any) -> httpx.Response:
    """Run this code with these parameters."""
    return running.post(RUN, key, code=code, jsParams=params)


def ran(running: Running, key: str, code: str, **params: Any) -> Any:
    """The response of a run that has to succeed."""
    outcome = running.done(RUN, key, code=code, jsParams=params)
    assert outcome["has_error"] is False, outcome
    return outcome["response"]


def failed(running: Running, key: str, code: str, **params: Any) -> str:
    """The logs of a run whose script has to fail."""
    outcome = running.done(RUN, key, code=code, jsParams=params)
    assert (outcome["response"], outcome["has_error"]) == (None, True), outcome
    return str(outcome["logs"])


def signer(signature: str, message: str) -> str:
    """The address of the wallet that signed this message (EIP-191)."""
    return str(Account.recover_message(encode_defunct(text=message), signature=signature))


def account_hash(account: str) -> int:
    """What the contract knows a managed account by."""
    return key_hash(base64.b64decode(account))


def wallet_of(account: str) -> bytes:
    """The wallet of a managed account, whose credits are its own."""
    return address_of(base64.b64decode(account))


def credit(running: Running, account: str) -> int:
    """What a managed account has left, in cents."""
    return running.node.billing.balance(wallet_of(account))


@dataclass
class Permitted:
    """An account with a wallet, and a group that permits it in some actions."""

    account: str
    wallet: str
    group: int
    key: str
    """A usage key that may run in that group and nothing else."""


def permitted(running: Running, *codes: str) -> Permitted:
    """A fresh account that may run these actions with its wallet."""
    account = running.account()
    wallet = running.wallet(account)
    group = running.group(account, pkp_ids_permitted=[wallet], cid_hashes_permitted=[*map(hashed_cid, codes)])
    return Permitted(account, wallet, group, running.usage_key(account, execute_in_groups=[group]))
