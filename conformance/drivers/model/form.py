"""The form of a case of the driver `model` in a pack."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from conformance.language.models import CaseForm

Operation = Literal[
    "create_wallet",
    "add_group",
    "update_group",
    "remove_group",
    "add_pkp_to_group",
    "remove_pkp_from_group",
    "add_action_to_group",
    "remove_action_from_group",
    "add_action",
    "update_action_metadata",
    "delete_action",
    "add_usage_api_key",
    "update_usage_api_key",
    "update_usage_api_key_metadata",
    "remove_usage_api_key",
    "run_action",
]


class ModelCase(CaseForm):
    """Plays random sequences of operations, and compares each answer and each list with a model."""

    driver: Literal["model"]
    operations: Annotated[list[Operation], Field(min_length=1)]
    """The operations of the sequences, simple ones first: shrinking prefers the first ones."""
    usage_keys: bool = False
    """Whether usage keys act, too, and not only account keys."""
    accounts: Annotated[int, Field(ge=1, le=3)] = 2
    """How many accounts each sequence creates."""
    sequences: Annotated[int, Field(ge=1)] = 6
    """How many sequences are played, unless `--budget` says otherwise."""
    steps: Annotated[int, Field(ge=1, le=100)] = 30
    """The largest number of operations in a sequence."""
