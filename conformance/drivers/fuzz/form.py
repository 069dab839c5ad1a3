"""The form of a case of the driver `fuzz` in a pack."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from conformance.language.models import CaseForm

Operation = Literal[
    "new_account",
    "add_usage_api_key",
    "update_usage_api_key",
    "update_usage_api_key_metadata",
    "add_group",
    "update_group",
    "add_action_to_group",
    "remove_group",
    "remove_usage_api_key",
    "add_pkp_to_group",
    "add_action",
    "update_action_metadata",
    "list_groups",
    "list_wallets",
    "list_wallets_in_group",
    "list_actions",
    "list_api_keys",
    "get_action_ipfs_id",
    "run_action",
    "create_payment_intent",
]


class FuzzCase(CaseForm):
    """Requests with rare values, rare combinations and wrong types; each answer and its effect are judged."""

    driver: Literal["fuzz"]
    operations: Annotated[list[Operation], Field(min_length=1)]
    """The operations to call, in random order, so that each call meets the state that others left."""
    follow_links: bool = False
    """Send sequences along the links of the OpenAPI description, instead of requests that have nothing to do with each
    other: what one makes is changed and removed by the next ones."""
    generated: Annotated[int, Field(ge=0)] = 20
    """How many valid and how many invalid requests of each operation come from the OpenAPI description."""
