"""The settlement chain and its AccountConfig contract: where it answers and what its functions are called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator

from conformance.profile.abi import Signature
from conformance.profile.abi_names import translation
from conformance.profile.section import Section
from conformance.values.addresses import node_address


def reachable(url: str) -> str:
    """The URL itself. ValueError: it names no host and port to which anybody could connect."""
    parts = urlsplit(url)
    if not parts.hostname:
        raise ValueError("has to name a host")
    if parts.port == 0:
        raise ValueError("nobody listens at port 0")
    try:
        parts.hostname.encode("idna")
    except UnicodeError:
        raise ValueError(f"{parts.hostname!r} is no name of a host") from None
    return url


NodeUrl = Annotated[str, Field(pattern=r"^[Hh][Tt][Tt][Pp][Ss]?://[^\s]+$"), AfterValidator(node_address)]
"""The address of a node, read as on the command line."""

Url = Annotated[str, Field(pattern=r"^https?://[^\s]+$"), AfterValidator(reachable)]


def _no_key(value: object) -> object:
    """Refuse what may be a private key in place of a name, without repeating it."""
    if not isinstance(value, str) or re.fullmatch(r"0[xX].*|[0-9a-fA-F]{64}", value):
        raise ValueError(
            "has to be the name of an environment variable, such as SUITE_FUNDER_KEY, never the key itself"
        )
    return value


VariableName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$"), BeforeValidator(_no_key)]

_PAGE = "uint256 pageNumber, uint256 pageSize"
_GROUP = "(uint64 id, string name, string description)"
_WALLET = "(bytes32 id, address walletAddress, uint256 derivationPath, string name, string description)"
_ACTION = "(bytes32 cidHash, string name, string description)"
_FLAGS = "bool canCreateGroups, bool canDeleteGroups, bool canCreatePkps"
_ARRAYS = (
    "uint64[] manageIpfsIdsInGroups, uint64[] addPkpToGroups, uint64[] removePkpFromGroups, uint64[] executeInGroups"
)
_USAGE_KEY = (
    f"(uint256 keyHash, uint256 expiration, uint256 balance, string name, string description, {_FLAGS}, {_ARRAYS})"
)


class Functions(Section):
    """Functions of the contract whose arguments and results are matched with the suite's by their names."""

    @field_validator("*")
    @classmethod
    def _serves_the_packs(cls, signature: str | None, info: ValidationInfo) -> str | None:
        if signature is not None and info.field_name is not None:
            translation(cls.model_fields[info.field_name].default, signature)
        return signature


class AccountAbi(Functions):
    """The creation of a ChainSecured account, and the views that read an account's record. Pages count from 0.

    An account is named by its `apiKeyHash`, a usage key by the hash of its value. Null: the contract has no such
    function.
    """

    new_chain_secured_account: Signature | None = "newChainSecuredAccount(string name, string description)"
    """Sent by the wallet that becomes the admin."""
    account_exists: Signature | None = "accountExists(uint256 accountHash) returns (bool exists)"
    get_account: Signature | None = (
        "getAccount(uint256 accountHash)"
        " returns (bool managed, address adminWalletAddress, string name, string description)"
    )
    key_info: Signature | None = (
        "keyInfo(uint256 keyHash) returns (uint256 accountHash, bool isAccountKey, bool managed, uint256 expiration)"
    )
    get_usage_api_key: Signature | None = (
        f"getUsageApiKey(uint256 accountHash, uint256 keyHash) returns ({_USAGE_KEY} usageKey)"
    )
    list_usage_api_keys: Signature | None = (
        f"listUsageApiKeys(uint256 accountHash, {_PAGE}) returns ({_USAGE_KEY}[] usageKeys)"
    )
    list_groups: Signature | None = f"listGroups(uint256 accountHash, {_PAGE}) returns ({_GROUP}[] groups)"
    list_wallets: Signature | None = f"listWallets(uint256 accountHash, {_PAGE}) returns ({_WALLET}[] wallets)"
    list_actions: Signature | None = f"listActions(uint256 accountHash, {_PAGE}) returns ({_ACTION}[] actions)"
    list_wallets_in_group: Signature | None = (
        f"listWalletsInGroup(uint256 accountHash, uint64 groupId, {_PAGE}) returns ({_WALLET}[] wallets)"
    )
    list_actions_in_group: Signature | None = (
        f"listActionsInGroup(uint256 accountHash, uint64 groupId, {_PAGE}) returns ({_ACTION}[] actions)"
    )
    get_wallet: Signature | None = f"getWallet(uint256 accountHash, bytes32 pkpId) returns ({_WALLET} wallet)"
    can_execute: Signature | None = (
        "canExecute(uint256 keyHash, bytes32 cidHash, bytes32 pkpId) returns (bool permitted)"
    )


class AttachAbi(Functions):
    """The two calls that attach what the signature flows mint."""

    register_wallet_derivation: Signature | None = (
        "registerWalletDerivation(uint256 adminHash, address walletAddress, uint256 derivationPath,"
        " string name, string description)"
    )
    set_usage_api_key: Signature | None = (
        "setUsageApiKey(uint256 adminHash, uint256 usageApiKeyHash, uint256 expiration, uint256 balance,"
        f" string name, string description, {_FLAGS}, {_ARRAYS})"
    )


class WriteAbi(Functions):
    """The other administrative writes; the first argument is the hash of the key that acts."""

    create_wallet: Signature | None = (
        "createWallet(uint256 keyHash, address walletAddress, uint256 derivationPath, string name, string description)"
    )
    update_usage_api_key: Signature | None = (
        "updateUsageApiKey(uint256 adminHash, uint256 usageApiKeyHash, string name, string description,"
        f" {_FLAGS}, {_ARRAYS})"
    )
    update_usage_api_key_metadata: Signature | None = (
        "updateUsageApiKeyMetadata(uint256 adminHash, uint256 usageApiKeyHash, string name, string description)"
    )
    remove_usage_api_key: Signature | None = "removeUsageApiKey(uint256 adminHash, uint256 usageApiKeyHash)"
    add_group: Signature | None = (
        "addGroup(uint256 keyHash, string name, string description, bytes32[] pkpIds, bytes32[] cidHashes)"
        " returns (uint64 groupId)"
    )
    update_group: Signature | None = (
        "updateGroup(uint256 adminHash, uint64 groupId, string name, string description,"
        " bytes32[] pkpIds, bytes32[] cidHashes)"
    )
    remove_group: Signature | None = "removeGroup(uint256 keyHash, uint64 groupId)"
    add_action_to_group: Signature | None = "addActionToGroup(uint256 keyHash, uint64 groupId, bytes32 cidHash)"
    remove_action_from_group: Signature | None = (
        "removeActionFromGroup(uint256 keyHash, uint64 groupId, bytes32 cidHash)"
    )
    add_pkp_to_group: Signature | None = "addPkpToGroup(uint256 keyHash, uint64 groupId, bytes32 pkpId)"
    remove_pkp_from_group: Signature | None = "removePkpFromGroup(uint256 keyHash, uint64 groupId, bytes32 pkpId)"
    add_action: Signature | None = "addAction(uint256 adminHash, bytes32 cidHash, string name, string description)"
    update_action_metadata: Signature | None = (
        "updateActionMetadata(uint256 adminHash, bytes32 cidHash, string name, string description)"
    )
    delete_action: Signature | None = "deleteAction(uint256 adminHash, bytes32 cidHash)"


FIXED_WRITES: Mapping[str, str] = {
    "convert_to_chain_secured_account": (
        "convertToChainSecuredAccount(uint256 apiKeyHash, address newAdminWalletAddress)"
    ),
}
"""Writes whose signature the specification gives in full ("Wallet-signed endpoints"): no profile says otherwise."""


CREATION = "new_chain_secured_account"
"""The one write among the functions of `chain.abi.account`."""
FUNCTION_KEYS: Mapping[str, str] = {
    name: f"chain.abi.{section}.{name}"
    for section, model in (("account", AccountAbi), ("attach", AttachAbi), ("writes", WriteAbi))
    for name in model.model_fields
}
"""Canonical name of each contract function to the profile key of its signature."""
SUITE_SIGNATURES: Mapping[str, str] = {
    **FIXED_WRITES,
    **{
        name: field.default for model in (AccountAbi, AttachAbi, WriteAbi) for name, field in model.model_fields.items()
    },
}
"""Canonical name of each contract function to the signature by which packs give arguments and read results."""


class Abi(Section):
    """Functions of the AccountConfig contract by canonical name."""

    account: AccountAbi | None = AccountAbi()
    """ACC-190."""
    attach: AttachAbi | None = AttachAbi()
    """MINT-220."""
    writes: WriteAbi | None = WriteAbi()


ChainId = Annotated[int, Field(ge=1)]
"""A chain id by EIP-155."""


class Chain(Section):
    """The settlement chain."""

    rpc_url: Url | None = None
    """Its JSON-RPC; needed by the capability `chain_rpc`."""
    id: ChainId | None = None
    """Its chain id. The suite signs transactions for no other. Null: for the one that the JSON-RPC answers
    when the run begins."""
    funder_key_variable: VariableName | None = None
    """The environment variable that holds, in hex, the private key of a wallet whose ether the suite may use. Null: the
    test control gives ether. Where there is none, the capability `funded_wallet` needs this."""
    managed_admin_wallet: Literal["account_wallet", "payer", "other"] | None = "account_wallet"
    """What `adminWalletAddress` of an API-mode account holds (ACC-210)."""
    abi: Abi = Abi()
    admin_hash_meaning: Literal["api_key_hash", "admin_address_hash"] | None = "api_key_hash"
    """What `adminHash` is for a converted account (MINT-240)."""
    attach_order: Literal["any", "registration_first"] | None = "any"
    """In which order the two attach calls may land (MINT-290)."""
