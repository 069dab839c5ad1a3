"""Maps the contract's errors and chain failures to HTTP problems (specification, "Errors")."""

from __future__ import annotations

from typing import NamedTuple

from reference_node.chain.contract_abi import ContractRefusal
from reference_node.chain.interface import ChainError, ChainUnavailable
from reference_node.problems import (
    Conflict,
    Forbidden,
    NotFound,
    Problem,
    Unauthenticated,
    Unavailable,
    Unprocessable,
)

SCOPE_FIELDS = {
    "execute": "execute_in_groups",
    "pkp:create": "can_create_pkps",
    "group:create": "can_create_groups",
    "group:delete": "can_delete_groups",
    "group:manageActions": "manage_ipfs_ids_in_groups",
    "group:addPkp": "add_pkp_to_groups",
    "group:removePkp": "remove_pkp_from_groups",
}
"""The permission field of a usage key that grants each scope (specification, "Scopes")."""

CHAIN_SECURED_DETAIL = (
    "a ChainSecured account takes no management writes over HTTP: send the transaction from its admin wallet"
)


class Answer(NamedTuple):
    """The answer to one contract error; `{…}` in the detail stands for an argument of that error."""

    kind: type[Problem]
    code: str
    detail: str


ANSWERS = {
    "SenderNotPermitted": Answer(Forbidden, "chain-secured-account", CHAIN_SECURED_DETAIL),
    "OwnerOnly": Answer(Forbidden, "owner-only", "only the account key may do this: use it instead of a usage key"),
    "KeyUnknown": Answer(Unauthenticated, "unknown-key", "nobody holds this key: create an account or a usage key"),
    "AccountUnknown": Answer(Unauthenticated, "unknown-key", "nobody holds this key: create an account first"),
    "KeyExpired": Answer(Unauthenticated, "key-expired", "this usage key expired at Unix time {expiration}"),
    "AccountExists": Answer(Conflict, "account-exists", "an account with this key exists already"),
    "AlreadyChainSecured": Answer(Conflict, "already-chain-secured", "the account is ChainSecured already, for good"),
    "KeyHashInUse": Answer(Conflict, "key-in-use", "another account holds this key: create a new one"),
    "GroupUnknown": Answer(NotFound, "unknown-group", "this account has no group {groupId}: see list_groups"),
    "WalletUnknown": Answer(NotFound, "unknown-wallet", "this account has no wallet 0x{pkpId}: see list_wallets"),
    "WalletExists": Answer(Conflict, "wallet-exists", "the wallet 0x{pkpId} is registered already"),
    "ActionUnknown": Answer(
        NotFound, "unknown-action", "this account has registered no action 0x{cidHash}: see list_actions"
    ),
    "ActionExists": Answer(
        Conflict, "action-exists", "this account has registered the action 0x{cidHash} already: update its metadata"
    ),
    "UsageKeyUnknown": Answer(NotFound, "unknown-usage-key", "this account has no such usage key"),
    "AlreadyInGroup": Answer(Conflict, "already-in-group", "group {groupId} lists 0x{item} already"),
    "NotInGroup": Answer(NotFound, "not-in-group", "group {groupId} does not list 0x{item}"),
    "ZeroAddress": Answer(Unprocessable, "zero-address", "the zero address can't own anything: name another"),
    "ZeroHash": Answer(Unprocessable, "zero-hash", "the zero hash is the wildcard and names nothing here"),
}


def problem_of(refusal: ContractRefusal) -> Problem | None:
    """The answer to a contract error that a client can cause, else `None`."""
    if refusal.error == "ScopeMissing":
        return _scope_missing(**refusal.arguments)
    answer = ANSWERS.get(refusal.error)
    if answer is None:
        return None
    arguments = {name: value.hex() if isinstance(value, bytes) else value for name, value in refusal.arguments.items()}
    return answer.kind(answer.code, answer.detail.format(**arguments))


def _scope_missing(*, scope: object, groupId: object, **_: object) -> Problem:  # noqa: N803 - the contract's name
    field = SCOPE_FIELDS.get(str(scope), str(scope))
    where = f" for group {groupId}" if groupId else ""
    return Forbidden(
        "scope-missing", f"this usage key lacks the scope {scope}{where}: have the account's owner grant {field}"
    )


def chain_problem(failure: ChainError) -> Problem:
    """The answer to a chain failure. Nothing was charged or partly written."""
    if isinstance(failure, ChainUnavailable):
        return Unavailable("chain-unavailable", "the settlement chain does not answer: try again later")
    return Unavailable(
        "chain-refused",
        "the settlement chain did not take the node's transaction, so nothing was changed or charged: it may be too "
        "much for one block, or the wallets of get_api_payers may be out of gas money",
    )
