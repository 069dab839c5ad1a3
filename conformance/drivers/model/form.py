"""The form of a case of the driver `model` in a pack."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, TypeAdapter, model_validator

from conformance.drivers.model.acts import WEIGHTS, Act
from conformance.drivers.model.world import NAMES
from conformance.language.models import CaseForm
from conformance.service.execution_rule import ANY

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
    "confirm_payment",
    "convert_to_chain_secured_account",
    "restart",
]


ACTS = TypeAdapter(list[Act])


class ModelCase(CaseForm):
    """Plays random sequences of operations, and compares each answer and each list with a model."""

    driver: Literal["model"]
    operations: list[Operation] = Field(default=[])
    """The operations of the sequences, simple ones first: shrinking prefers the first ones.

    `confirm_payment` is a whole purchase of credit. After `convert_to_chain_secured_account` the owner acts by
    transactions of its admin wallet, and mints what it attaches. `restart` stops the node in order, or kills it, and
    starts it again.
    """
    accounts: Annotated[int, Field(ge=1, le=3)] = 2
    """How many accounts each sequence creates."""
    by_wallet: Annotated[int, Field(ge=0, le=3)] = 0
    """How many of them a wallet makes on the chain: the last ones."""
    credit: bool = False
    """Whether the balance of each account is observed, too."""
    sequences: Annotated[int, Field(ge=1)] = 6
    """How many sequences are played, unless `--budget` says otherwise."""
    steps: Annotated[int, Field(ge=1, le=100)] = 30
    """The largest number of operations in a sequence."""
    acts: Annotated[list[Act], BeforeValidator(ACTS.validate_python)] = Field(default=[])
    """The acts of the only sequence, as a failure writes them; in place of `operations`."""

    @model_validator(mode="after")
    def _says_what_to_play(self) -> Self:
        if bool(self.operations) == bool(self.acts):
            raise ValueError("a case has either `operations` or `acts`")
        made = set(NAMES[: self.accounts])
        for number, act in enumerate(self.acts):
            named = {act.account, act.group, act.key, act.wallet, *act.wallets, act.by.removesuffix("_old")}
            named |= {group for _, groups in act.permissions.arrays for group in groups}
            if unknown := named - made - {"", ANY}:
                raise ValueError(f"acts[{number}] names {min(unknown)}, which no act before it makes")
            if act.operation not in WEIGHTS:
                raise ValueError(f"acts[{number}] has no operation of the model, but {act.operation}")
            made.add(act.makes)
        return self

    @property
    def played(self) -> tuple[str, ...]:
        """The operations of the sequences, or of the acts."""
        return tuple(self.operations) or tuple(dict.fromkeys(act.operation for act in self.acts))
