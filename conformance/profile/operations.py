"""Every operation of the specification ("Endpoints", "Versioning"), before a profile fills the gaps."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import get_args

from conformance.profile.section import Permission
from conformance.values.addresses import CORE

PERMISSIONS: tuple[str, ...] = get_args(Permission)
PERMISSION_FLAGS = PERMISSIONS[:3]
"""The permission fields that are booleans."""
PERMISSION_ARRAYS = PERMISSIONS[3:]
"""The permission fields that are arrays of group ids."""
KEY_FIELDS = ("name", "description", *PERMISSIONS)
GROUP_LISTS = ("pkp_ids_permitted", "cid_hashes_permitted")
PAGE = ("page_number", "page_size")


class Auth(StrEnum):
    """Who may call an operation ("Authentication")."""

    NONE = "none"
    ACCOUNT = "account"
    """The account key."""
    KEY = "key"
    """The account key, or a usage key that holds the needed permission."""


class Place(StrEnum):
    """Where the members of a request go."""

    NOWHERE = "nowhere"
    """The request has neither members nor body."""
    QUERY = "query"
    BODY = "body"
    """A JSON object."""
    STRING = "string"
    """The one member, ``code``, is the whole body: a JSON string."""


class Effect(StrEnum):
    """What an accepted call does to the account."""

    READ = "read"
    WRITE = "write"
    """A management write: submitted on-chain."""
    RUN = "run"
    PAY = "pay"
    MINT = "mint"
    """Makes a wallet or secret attached to no account."""


@dataclass(frozen=True)
class OperationSpec:
    """One row of the specification's tables."""

    endpoint: str = ""
    """Method and path under the base URL, as the specification shows it; empty when it shows none."""
    auth: Auth = Auth.KEY
    effect: Effect = Effect.WRITE
    request: tuple[str, ...] = ()
    """The request members the specification names."""
    response: tuple[str, ...] = ()
    """The answer members the specification names."""
    items: str = ""
    """What the items of its list are: group, wallet, action or usage_key; empty when it is no list."""
    billed: bool = False
    """Whether an accepted call is charged against credits ("Limits")."""

    @property
    def writes(self) -> bool:
        """Whether an accepted call changes what an account's lists show, so that its refusal must show no change."""
        return self.effect in {Effect.WRITE, Effect.PAY} and self.auth is not Auth.NONE


def _core(method_and_path: str) -> str:
    method, _, path = method_and_path.partition(" ")
    return f"{method} {CORE}{path}"


def _write(method_and_path: str, *request: str, auth: Auth = Auth.KEY, response: tuple[str, ...] = ()) -> OperationSpec:
    endpoint = _core(method_and_path) if method_and_path else ""
    return OperationSpec(endpoint, auth, Effect.WRITE, request, response, billed=True)


def _list(method_and_path: str, items: str, *request: str) -> OperationSpec:
    return OperationSpec(_core(method_and_path), Auth.KEY, Effect.READ, (*request, *PAGE), items=items)


def _open(endpoint: str, *response: str, request: tuple[str, ...] = (), effect: Effect = Effect.READ) -> OperationSpec:
    return OperationSpec(endpoint, Auth.NONE, effect, request, response)


MANAGEMENT = {
    "new_account": OperationSpec(
        _core("POST /new_account"), Auth.NONE, Effect.WRITE, (), ("api_key", "wallet_address")
    ),
    "account_exists": OperationSpec("", Auth.ACCOUNT, Effect.READ),
    "add_usage_api_key": _write("POST /add_usage_api_key", *KEY_FIELDS, auth=Auth.ACCOUNT, response=("usage_api_key",)),
    "remove_usage_api_key": _write("POST /remove_usage_api_key", "usage_api_key"),
    "update_usage_api_key": _write("POST /update_usage_api_key", "usage_api_key", *KEY_FIELDS),
    "update_usage_api_key_metadata": _write(
        "POST /update_usage_api_key_metadata", "usage_api_key", "name", "description"
    ),
    "list_api_keys": _list("GET /list_api_keys", "usage_key"),
}
GROUPS = {
    "add_group": _write("POST /add_group", *GROUP_LISTS),
    "update_group": _write("POST /update_group", "group_id", "name", "description", *GROUP_LISTS),
    "remove_group": _write("POST /remove_group", "group_id"),
    "list_groups": _list("GET /list_groups", "group"),
    "remove_action_from_group": _write("POST /remove_action_from_group", "group_id", "hashed_cid"),
    "remove_pkp_from_group": _write("POST /remove_pkp_from_group", "group_id", "pkp_id"),
    "add_action_to_group": _write("", "group_id", "action_ipfs_cid"),
    "add_pkp_to_group": _write("", "group_id", "pkp_id"),
}
WALLETS_AND_ACTIONS = {
    "create_wallet": _write("", response=("wallet_address",)),
    "list_wallets": _list("GET /list_wallets", "wallet"),
    "list_wallets_in_group": _list("GET /list_wallets_in_group", "wallet", "group_id"),
    "list_actions": _list("GET /list_actions", "action", "group_id"),
    "add_action": _write("POST /add_action", "action_ipfs_cid", "name", "description"),
    "delete_action": _write("POST /delete_action", "hashed_cid"),
    "update_action_metadata": _write("POST /update_action_metadata", "hashed_cid", "name", "description"),
    "get_action_ipfs_id": _open(_core("POST /get_{slug}_action_ipfs_id"), request=("code",)),
    "run_action": OperationSpec("", Auth.KEY, Effect.RUN, ("code", "jsParams"), ("response", "logs"), billed=True),
}
INFORMATION = {
    "get_node_chain_config": _open(_core("GET /get_node_chain_config"), "contract_address", "chain_id"),
    "get_api_payers": _open(_core("GET /get_api_payers")),
    "get_admin_api_payer": _open(_core("GET /get_admin_api_payer")),
    "openapi": _open(_core("GET /openapi.json"), "openapi", "paths"),
    "swagger_ui": _open(_core("GET /swagger-ui")),
}
BILLING = {
    "stripe_config": _open(_core("GET /billing/stripe_config")),
    "balance": OperationSpec(_core("GET /billing/balance"), Auth.ACCOUNT, Effect.READ),
    "create_payment_intent": OperationSpec(
        _core("POST /billing/create_payment_intent"), Auth.ACCOUNT, Effect.PAY, ("amount_cents",), ("client_secret",)
    ),
    "confirm_payment": OperationSpec(
        _core("POST /billing/confirm_payment"), Auth.ACCOUNT, Effect.PAY, ("payment_intent_id",)
    ),
}
SIGNED = ("typed_data", "signature")
WALLET_SIGNED = {
    "create_wallet_with_signature": _open(
        _core("POST /create_wallet_with_signature"),
        "wallet_address",
        "derivation_path",
        request=SIGNED,
        effect=Effect.MINT,
    ),
    "convert_to_chain_secured_account": OperationSpec(
        _core("POST /convert_to_chain_secured_account"),
        Auth.ACCOUNT,
        Effect.WRITE,
        (*SIGNED, "new_admin_wallet_address"),
    ),
    "add_usage_api_key_with_signature": _open(
        _core("POST /add_usage_api_key_with_signature"),
        "usage_api_key",
        "wallet_address",
        "derivation_path",
        request=SIGNED,
        effect=Effect.MINT,
    ),
}
ATTESTATION = {
    "info": _open("GET /info", "app_id", "compose_hash", "tcb_info"),
    "attestation": _open("GET /attestation", "quote", "event_log", "vm_config"),
    "evidences": _open("GET /evidences/"),
    "evidence_checksums": _open("GET /evidences/sha256sum.txt"),
    "evidence_quote": _open("GET /evidences/quote.json", "report_data"),
    "evidence_acme_account": _open("GET /evidences/acme-account.json"),
}
DESIGN_FLOWS = {
    "flow_group_actions": _write("", "add", "remove"),
    "flow_create_pkp": _write(""),
    "flow_group_pkps": _write("", "add"),
}
FLOW_PATHS = {
    "flow_group_actions": "/groups/{group_id}/actions",
    "flow_create_pkp": "/pkps/create",
    "flow_group_pkps": "/groups/{group_id}/pkps",
}
"""The design-level paths; what stands before them is the profile's."""

OPERATIONS: dict[str, OperationSpec] = {
    **MANAGEMENT,
    **GROUPS,
    **WALLETS_AND_ACTIONS,
    **INFORMATION,
    **BILLING,
    **WALLET_SIGNED,
    **ATTESTATION,
    **DESIGN_FLOWS,
}
"""Every operation by its canonical name."""
