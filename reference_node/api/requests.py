"""The shapes of requests (specification, "Endpoints"): exactly the named members, each of exactly its JSON type."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from reference_node.api.envelope_fields import WalletSignature, typed_data_of
from reference_node.billing.provider import MAXIMUM_CENTS, MINIMUM_CENTS
from reference_node.chain.account_config import Permissions
from reference_node.fields import (
    DEFAULT_PAGE_SIZE,
    LIST_LENGTH,
    U64,
    Address,
    ApiKey,
    Email,
    GroupIds,
    HashedCid,
    Label,
    PageSizeQuery,
    PermittedCid,
    PkpId,
    RawCid,
    U64Query,
    U64Text,
)
from reference_node.permission.cid import cid_of
from reference_node.permission.typed_data import Flow

INTENT_ID = "What stands before `_secret_` in the `client_secret` of `create_payment_intent`, once it is paid."
UNKNOWN_SHOWN = 3
"""How many unknown members one answer names."""
EXAMPLE_KEY = "bm90IGEga2V5LCBvbmx5IGFuIGV4YW1wbGUgb2YgMzI="
EXAMPLE_ACTION = "async function main({ name }) { return `Hello, ${name}`; }"
EXAMPLE_CID = cid_of(EXAMPLE_ACTION.encode())

UsageKeyValue = Annotated[ApiKey, Field(description="The key as `add_usage_api_key` answered it.")]


class Body(BaseModel):
    """A request body: the named members and no others, each of exactly its JSON type."""

    model_config = ConfigDict(strict=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def keep_few_unknown_members(cls, value: object) -> object:
        """Drop all but the first unknown members, since a body may hold a hundred thousand and each is reported."""
        if isinstance(value, dict):
            unknown = [name for name in value if name not in cls.model_fields]
            for name in unknown[UNKNOWN_SHOWN:]:
                del value[name]
        return value


def body_members(route: object) -> tuple[str, ...]:
    """The members of an endpoint's body; empty when it takes no object."""
    field = route.body_field if isinstance(route, APIRoute) else None
    kind = field.field_info.annotation if field else None
    return tuple(kind.model_fields) if isinstance(kind, type) and issubclass(kind, Body) else ()


class NewAccount(Body):
    """The body of `new_account`."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"account_name": "mine", "account_description": "first steps", "email": "ada@example.org"}
        }
    )

    account_name: Label
    account_description: Label
    email: Email | None = None
    """Forwarded to the payment provider."""


class NewUsageKey(Body):
    """The body of `add_usage_api_key`; a permission left out is not granted."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {"name": "runner", "description": "runs actions of group 1", "execute_in_groups": [1]}
        }
    )

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

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "usage_api_key": EXAMPLE_KEY,
                "name": "runner",
                "description": "runs actions of group 1",
                "execute_in_groups": [1],
            }
        }
    )

    usage_api_key: UsageKeyValue


class NamedUsageKey(Body):
    """The body of `remove_usage_api_key`."""

    usage_api_key: UsageKeyValue


class UsageKeyLabels(NamedUsageKey):
    """The body of `update_usage_api_key_metadata`."""

    name: Label
    description: Label


class PermittedLists(Body):
    """The two lists of a group: permitted wallets and actions."""

    pkp_ids_permitted: Annotated[list[PkpId], Field(max_length=LIST_LENGTH)] = []
    cid_hashes_permitted: Annotated[list[PermittedCid], Field(max_length=LIST_LENGTH)] = []


class NewGroup(PermittedLists):
    """The body of `add_group`."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "group_name": "signers",
                "group_description": "any action may run",
                "cid_hashes_permitted": [0],
            }
        }
    )

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

    model_config = ConfigDict(json_schema_extra={"example": {"group_id": 1, "action_ipfs_cid": EXAMPLE_CID}})

    group_id: U64
    action_ipfs_cid: RawCid


class ActionsOfGroupChange(Body):
    """The body of `/groups/{id}/actions`."""

    add: Annotated[list[RawCid], Field(max_length=LIST_LENGTH)] = []
    remove: Annotated[list[RawCid], Field(max_length=LIST_LENGTH)] = []


class NewWalletsOfGroup(Body):
    """The body of `/groups/{id}/pkps`."""

    add: Annotated[list[PkpId], Field(max_length=LIST_LENGTH)]


class WalletOfGroup(Body):
    """The body of `add_pkp_to_group` and `remove_pkp_from_group`."""

    group_id: U64
    pkp_id: PkpId


class NewAction(Body):
    """The body of `add_action`."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"action_ipfs_cid": EXAMPLE_CID, "name": "greet", "description": "says hello"}}
    )

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


class RunRequest(Body):
    """The body of `run_action`."""

    code: Annotated[
        str, Field(description="JavaScript that defines an async function `main`.", examples=[EXAMPLE_ACTION])
    ]
    jsParams: Annotated[  # noqa: N815 - the specification's name
        dict[str, object], Field(description="What `main` is called with.", examples=[{"name": "Ada"}])
    ] = {}


class CreateWalletRequest(Body):
    """The body of `create_wallet_with_signature`."""

    typed_data: Annotated[object, typed_data_of(Flow.CREATE_WALLET)]
    signature: WalletSignature


class AddUsageKeyRequest(Body):
    """The body of `add_usage_api_key_with_signature`."""

    typed_data: Annotated[object, typed_data_of(Flow.ADD_USAGE_API_KEY)]
    signature: WalletSignature


class ConvertRequest(Body):
    """The body of `convert_to_chain_secured_account`."""

    typed_data: Annotated[object, typed_data_of(Flow.CONVERT_ACCOUNT)]
    signature: WalletSignature
    new_admin_wallet_address: Address


class Page(BaseModel):
    """The query of a list."""

    page_number: U64Query = 0
    page_size: PageSizeQuery = DEFAULT_PAGE_SIZE


class PageOfGroup(Page):
    """The query of a list that belongs to one group."""

    group_id: U64Query


class PageOfActions(Page):
    """The query of `list_actions`."""

    group_id: U64Query | SkipJsonSchema[None] = None


PageQuery = Annotated[Page, Query()]
PageOfGroupQuery = Annotated[PageOfGroup, Query()]
PageOfActionsQuery = Annotated[PageOfActions, Query()]


class NewPaymentIntent(Body):
    """The body of `create_payment_intent`."""

    model_config = ConfigDict(json_schema_extra={"example": {"amount_cents": 500}})

    amount_cents: Annotated[
        int, Field(ge=MINIMUM_CENTS, le=MAXIMUM_CENTS, description="Cents to pay, which become as many of credit.")
    ]


class ConfirmedPayment(Body):
    """The body of `confirm_payment`."""

    payment_intent_id: Annotated[str, Field(min_length=1, max_length=255, description=INTENT_ID)]
