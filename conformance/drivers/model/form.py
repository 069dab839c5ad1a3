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
    """Random sequences of operations, each answer and each list held against a model."""

    driver: Literal["model"]
    operations: Annotated[list[Operation], Field(min_length=1)]
    """What the sequences do, simple things first: a failing sequence is shrunk towards them."""
    usage_keys: bool = False
    """Whether usage keys act, too, or account keys alone."""
    accounts: Annotated[int, Field(ge=1, le=3)] = 2
    """How many accounts each sequence has; they are its own."""
    sequences: Annotated[int, Field(ge=1)] = 6
    """How many sequences are played, unless `--budget` says otherwise."""
    steps: Annotated[int, Field(ge=1, le=100)] = 30
    """How many acts a sequence has at most."""
