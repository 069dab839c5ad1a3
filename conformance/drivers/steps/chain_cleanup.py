"""Takes away what a case left in accounts that a wallet owns, and sends the wallets' ether back. Best effort."""

from __future__ import annotations

from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.onchain import contract_address
from conformance.drivers.steps.wallets import write_to_contract
from conformance.language.wallets import CaseWallet
from conformance.problems import Departure, Inconclusive
from conformance.values.json_values import member, printed

PAGE = 100
LEFTOVERS = (
    ("list_usage_api_keys", "keyHash", "remove_usage_api_key"),
    ("list_groups", "id", "remove_group"),
)
"""The view that lists them, the member that names one, and the write that removes it."""


def clean_up_chain(run: CaseRun) -> None:
    """Remove the usage keys and groups of accounts that wallets own; then what is left in the wallets goes back."""
    for account_hash, address in run.belongings.admins():
        wallet = next((one for one in run.wallets if printed(one.value).lower() == address.lower()), None)
        if wallet is not None and run.target.funder is not None:
            _empty(run, wallet, account_hash)
    for wallet in run.wallets:
        if not wallet.contract:
            _give_back(run, wallet)


def _empty(run: CaseRun, wallet: CaseWallet, account_hash: str) -> None:
    for view, name, removal in LEFTOVERS:
        shows = run.target.profile_value(f"chain.abi.account.{view}")
        removes = run.target.profile_value(f"chain.abi.writes.{removal}")
        if shows is None or removes is None:
            continue
        try:
            for item in _items(run, printed(shows), account_hash):
                write_to_contract(run, wallet, printed(removes), [account_hash, member(item, name)])
        except (Departure, Inconclusive):
            continue


def _items(run: CaseRun, signature: str, account_hash: str) -> list[object]:
    run.settle()
    found = run.chain.view(contract_address(run), signature, [account_hash, 0, PAGE])
    page = next(iter(found.values()), None) if isinstance(found, dict) else found
    return page if isinstance(page, list) else []


def _give_back(run: CaseRun, wallet: CaseWallet) -> None:
    if run.target.funder is None:
        return
    try:
        run.target.funder.take_back(run.purse, wallet.signer)
    except (Departure, Inconclusive):
        return
