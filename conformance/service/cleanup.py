"""Cleans up after a case: removes usage keys and groups, resets the clock, returns ether. Best effort."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial

from conformance.endpoints.funding import Funder
from conformance.problems import Departure, Inconclusive
from conformance.service.contract import Contract
from conformance.service.lists import read_list
from conformance.service.session import Session
from conformance.service.suite_wallet import SuiteWallet
from conformance.values.ids import AccountHash
from conformance.values.json_values import member, printed

SLOW_SECONDS = 0.5
"""From a removal that takes longer on, the others are sent together."""
AT_ONCE = 8
LEFTOVERS = (
    ("list_usage_api_keys", "keyHash", "remove_usage_api_key"),
    ("list_groups", "id", "remove_group"),
)
"""The view that lists them, the member that names one, and the write that removes it."""


def set_clock_right(session: Session) -> None:
    """Reset the clock if the case has moved it. A failure is ignored."""
    if session.clock.offset:
        _try(session.clock.reset)


def clean_up(session: Session) -> None:
    """Reset the clock, and remove the usage keys and groups that the case created and did not remove.

    Failures are ignored and change no verdict. A node that ends with the run is not cleaned up.
    """
    set_clock_right(session)
    if session.target.ends_with_run:
        return
    registry = session.cleanup
    session.settle()
    groups = [(account, group) for account in registry.accounts_to_search() for group in _groups_of(session, account)]
    _each(
        [
            *(partial(_remove, session, "remove_usage_api_key", *pair) for pair in registry.usage_keys()),
            *(partial(_remove, session, "remove_group", *pair) for pair in [*groups, *registry.groups()]),
        ]
    )
    _clean_up_chain(session)


def _each(removals: Sequence[Callable[[], None]]) -> None:
    """Call all, which do not depend on one another: one by one, or on a slow node some at the same time."""
    for place, remove in enumerate(removals):
        began = time.monotonic()
        remove()
        if time.monotonic() - began > SLOW_SECONDS:
            with ThreadPoolExecutor(AT_ONCE) as pool:
                for other in removals[place + 1 :]:
                    pool.submit(copy_context().run, other)
            return


def _remove(session: Session, operation: str, account: str, named: str) -> None:
    name = "usage_api_key" if operation == "remove_usage_api_key" else "group_id"
    _try(lambda: session.send(session.request(operation, account, **{name: named}), at_once=True))


def _groups_of(session: Session, account: str) -> list[str]:
    try:
        groups = read_list(session, "list_groups", account)
    except (Departure, Inconclusive):
        return []
    return [printed(member(group, "id")) for group in groups]


def _clean_up_chain(session: Session) -> None:
    """Remove usage keys and groups of ChainSecured accounts, then return the wallets' remaining ether."""
    funder = session.funder
    if funder is None:
        return
    for account_hash, address in session.cleanup.admins():
        wallet = next((wallet for wallet in session.wallets if wallet.address.lower() == address.lower()), None)
        if wallet is not None:
            _empty(session, wallet, account_hash)
    for wallet in session.wallets:
        if not wallet.contract:
            _give_back(session, funder, wallet)


def _give_back(session: Session, funder: Funder, wallet: SuiteWallet) -> None:
    _try(lambda: funder.take_back(session.purse, wallet.signer))


def _empty(session: Session, wallet: SuiteWallet, account_hash: AccountHash) -> None:
    contract = Contract(session)
    for view, name, removal in LEFTOVERS:
        try:
            session.settle()
            for item in contract.items(view, account_hash):
                contract.send(wallet, removal, [account_hash, member(item, name)])
        except (Departure, Inconclusive):
            continue


def _try(action: Callable[[], object]) -> None:
    try:
        action()
    except (Departure, Inconclusive):
        return
