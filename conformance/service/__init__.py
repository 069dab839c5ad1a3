"""Verbs of the service over its endpoints, in plain Python: what drivers and Python cases call.

    alice = Accounts(session).new()
    group = Groups(session).add(alice.key, "readers")
    reader = UsageKeys(session).add(alice.key, Permissions())
    must_refuse(
        session,
        session.request("remove_group", reader.key, group_id=group.id),
        ["forbidden"],
        control=Groups(session).remove(alice.key, another.id),
        unchanged=[unchanged_list(session, "list_groups", alice.key)],
    )

A `Session` is one case's conversation with a node. What must be accepted raises a Departure when it is not; what must
be refused goes through `must_refuse` or `Refusals`, which insist on a control and on an unchanged state.
"""

from conformance.service.acceptance import Accepted, must_accept
from conformance.service.accounts import Account, Accounts, ChainSecuredAccount
from conformance.service.actions import Actions
from conformance.service.contract import Contract, chain_id, contract_address
from conformance.service.envelopes import SignedEnvelope, billing_auth, sign_envelope
from conformance.service.groups import ALL_PKPS, Group, Groups
from conformance.service.lists import read_list, unchanged_list
from conformance.service.pkps import Pkp, Pkps
from conformance.service.reads import Read
from conformance.service.refusal import RefusalClass, Refusals, must_refuse
from conformance.service.runs import Run, Runs
from conformance.service.session import Session
from conformance.service.suite_wallet import SuiteWallet
from conformance.service.usage_keys import AddedUsageKey, Permissions, UsageKeys
from conformance.service.wallets import Wallets

__all__ = [
    "ALL_PKPS",
    "Accepted",
    "Account",
    "Accounts",
    "Actions",
    "AddedUsageKey",
    "ChainSecuredAccount",
    "Contract",
    "Group",
    "Groups",
    "Permissions",
    "Pkp",
    "Pkps",
    "Read",
    "RefusalClass",
    "Refusals",
    "Run",
    "Runs",
    "Session",
    "SignedEnvelope",
    "SuiteWallet",
    "UsageKeys",
    "Wallets",
    "billing_auth",
    "chain_id",
    "contract_address",
    "must_accept",
    "must_refuse",
    "read_list",
    "sign_envelope",
    "unchanged_list",
]
