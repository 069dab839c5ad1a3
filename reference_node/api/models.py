"""The shapes of requests and answers (specification, "Endpoints"); unknown members are refused."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema

from reference_node.api.fields import (
    DEFAULT_PAGE_SIZE,
    LIST_LENGTH,
    U64,
    Address,
    ApiKey,
    Email,
    GroupIds,
    Hash,
    HashedCid,
    Label,
    PageSizeQuery,
    PermittedCid,
    PkpId,
    RawCid,
    U64Query,
    U64Text,
)
from reference_node.chain.account_config import Permissions


class Body(BaseModel):
    """A request body: the named members and no others, each of exactly its JSON type."""

    model_config = ConfigDict(strict=True, extra="forbid")


class NewAccount(Body):
    """The body of `new_account`."""

    account_name: Label
    account_description: Label
    email: Email | None = None
    """Forwarded to the payment provider."""


class NewUsageKey(Body):
    """The body of `add_usage_api_key`; a permission left out is not granted."""

    name: Label
    description: Label
    can_create_groups: bool = False
    can_delete_groups: bool = False
    can_create_pkps: bool = False
    manage_ipfs_ids_in_groups: GroupIds = []
    add_pkp_to_groups: GroupIds = []
    remove_pkp_from_groups: GroupIds = []
    execute_in_groups: GroupIds = []

    def permissions(self) -> Permissions:
        """The seven permission fields."""
        return Permissions(
            self.can_create_groups,
            self.can_delete_groups,
            self.can_create_pkps,
            self.manage_ipfs_ids_in_groups,
            self.add_pkp_to_groups,
            self.remove_pkp_from_groups,
            self.execute_in_groups,
        )


class UsageKeyUpdate(NewUsageKey):
    """The body of `update_usage_api_key`."""

    usage_api_key: ApiKey


class NamedUsageKey(Body):
    """The body of `remove_usage_api_key`."""

    usage_api_key: ApiKey


class UsageKeyLabels(NamedUsageKey):
    """The body of `update_usage_api_key_metadata`."""

    name: Label
    description: Label


class PermittedLists(Body):
    """What a group permits."""

    pkp_ids_permitted: Annotated[list[PkpId], Field(max_length=LIST_LENGTH)] = []
    cid_hashes_permitted: Annotated[list[PermittedCid], Field(max_length=LIST_LENGTH)] = []


class NewGroup(PermittedLists):
    """The body of `add_group`."""

    group_name: Label
    group_description: Label


class GroupUpdate(PermittedLists):
    """The body of `update_group`."""

    group_id: U64
    name: Label
    description: Label


class NamedGroup(Body):
    """The body of `remove_group`; the specification's example quotes the id."""

    group_id: U64Text | U64


class ActionOfGroup(Body):
    """The body of `remove_action_from_group`."""

    group_id: U64
    hashed_cid: HashedCid


class NewActionOfGroup(Body):
    """The body of `add_action_to_group`."""

    group_id: U64
    action_ipfs_cid: RawCid


class WalletOfGroup(Body):
    """The body of `add_pkp_to_group` and `remove_pkp_from_group`."""

    group_id: U64
    pkp_id: PkpId


class NewAction(Body):
    """The body of `add_action`."""

    action_ipfs_cid: RawCid
    name: Label
    description: Label


class NamedAction(Body):
    """The body of `delete_action`."""

    hashed_cid: HashedCid


class ActionLabels(NamedAction):
    """The body of `update_action_metadata`."""

    name: Label
    description: Label


class Page(BaseModel):
    """The query of a list."""

    page_number: U64Query = 0
    page_size: PageSizeQuery = DEFAULT_PAGE_SIZE


class PageOfGroup(Page):
    """The query of a list of what one group holds."""

    group_id: U64Query


class PageOfActions(Page):
    """The query of `list_actions`."""

    group_id: U64Query | SkipJsonSchema[None] = None


PageQuery = Annotated[Page, Query()]
PageOfGroupQuery = Annotated[PageOfGroup, Query()]
PageOfActionsQuery = Annotated[PageOfActions, Query()]


class Answer(BaseModel):
    """An answer: the named members and no others."""

    model_config = ConfigDict(extra="forbid")


class Success(Answer):
    """The answer of a write that has nothing else to say."""

    success: Literal[True]


class CreatedAccount(Answer):
    """The answer of `new_account`: the only time the key is shown."""

    api_key: ApiKey
    wallet_address: Address


class CreatedUsageKey(Success):
    """The answer of `add_usage_api_key`: the only time the key is shown."""

    usage_api_key: ApiKey


class CreatedGroup(Success):
    """The answer of `add_group`."""

    group_id: Annotated[U64, Field(ge=1)]


class CreatedWallet(Answer):
    """The answer of `create_wallet`."""

    wallet_address: Address


class GroupItem(Answer):
    """An item of `list_groups`."""

    id: Annotated[U64, Field(ge=1)]
    name: str
    description: str


class WalletItem(Answer):
    """An item of `list_wallets` and `list_wallets_in_group`; all zeros for a group's wildcard."""

    id: Hash
    name: str
    description: str
    wallet_address: Address


class ActionItem(Answer):
    """An item of `list_actions`; all zeros for a group's wildcard."""

    hashed_cid: Hash
    name: str
    description: str


class UsageKeyItem(Answer):
    """An item of `list_api_keys`: metadata, never the key."""

    api_key_hash: Hash
    name: str
    description: str
    expiration: Annotated[int, Field(ge=0, description="Unix seconds; 0 is never.")]
    balance: Annotated[int, Field(ge=0)]
    can_create_groups: bool
    can_delete_groups: bool
    can_create_pkps: bool
    manage_ipfs_ids_in_groups: list[U64]
    add_pkp_to_groups: list[U64]
    remove_pkp_from_groups: list[U64]
    execute_in_groups: list[U64]


class ChainConfig(Answer):
    """The answer of `get_node_chain_config`."""

    chain_name: str
    chain_id: Annotated[int, Field(ge=1)]
    is_evm: bool
    testnet: bool
    token: str
    contract_address: Address


class ProblemDocument(BaseModel):
    """Every refusal and failure (RFC 9457, `application/problem+json`)."""

    type: str
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: Annotated[str, Field(description="What was wrong, where, and how to mend it.")]
    code: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", description="What went wrong, for programs.")]
    instance: Annotated[str, Field(description="The request's id, also in the header X-Request-Id.")]
