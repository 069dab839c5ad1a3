"""The contract as wallets and readers see it, where cases compute.

Specification: "What the service does" 4 and 5, "Resources and their fields / Account".
"""

from __future__ import annotations

from eth_utils.crypto import keccak

from conformance.cases import Judge, case
from conformance.service.accounts import Accounts
from conformance.service.contract import Contract
from conformance.service.derivations import account_hash
from conformance.service.session import Session
from conformance.service.wallets import Wallets
from conformance.values.json_values import member, printed

NEEDS = ("chain_rpc", "funded_wallet")


def lower(address: object) -> str:
    """An address without the capitals of its checksum."""
    return printed(address).lower()


def hashed(content: bytes) -> str:
    """keccak256 as 0x hex."""
    return f"0x{keccak(content).hex()}"


@case(
    "account-of-a-wallet",
    requirements=["ACC-030", "ACC-050", "ACC-060", "ACC-180"],
    needs=[*NEEDS, "managed_accounts"],
)
def account_of_a_wallet(
    judge: Judge, session: Session, wallets: Wallets, accounts: Accounts, contract: Contract
) -> None:
    """The account that a wallet makes is unmanaged, its own, and named by the hash of its 20 address bytes."""
    carol = wallets.new("carol")
    raw = bytes.fromhex(carol.address.removeprefix("0x"))
    own = hashed(raw)
    managed = account_hash(accounts.new().key, session.profile)
    judge.set_up(contract.view("account_exists", own) == {"exists": False}, "no account of a fresh wallet")
    contract.write(carol, "new_chain_secured_account", session.label, "first")
    with judge("ACC-060"):
        judge.same(contract.view("account_exists", own), {"exists": True}, "the account under keccak256 of 20 bytes")
        for spelling, wrong in {
            "padded to 32 bytes": raw.rjust(32, bytes(1)),
            "as text": carol.address.encode(),
            "as text in lower case": carol.address.lower().encode(),
        }.items():
            found = contract.view("account_exists", hashed(wrong))
            judge.same(found, {"exists": False}, f"an account under keccak256 of the address {spelling}")
    with judge("ACC-030", "ACC-050", "ACC-180"):
        account = contract.view("get_account", own)
        judge.same(member(account, "managed"), False, "`managed` of the account that a wallet made")
        judge.same(lower(member(account, "adminWalletAddress")), lower(carol.address), "its `adminWalletAddress`")
        judge.same(member(contract.view("get_account", managed), "managed"), True, "`managed` of an API-mode account")
