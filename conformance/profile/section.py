"""What every section of the profile shares: no unknown keys, strict JSON types, no change after loading."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

RefusalClass = Literal[
    "malformed",
    "unauthenticated",
    "insufficient_credit",
    "forbidden",
    "not_found",
    "conflict",
    "too_large",
    "invalid",
    "method",
    "unavailable",
]
"""The kinds of refusal that packs speak of; ``errors.status_codes`` says which statuses each may have."""

AcceptedOrRefused = Literal["accepted", RefusalClass]
"""What the node does with a request that the specification neither demands nor forbids."""

Permission = Literal[
    "can_create_groups",
    "can_delete_groups",
    "can_create_pkps",
    "manage_ipfs_ids_in_groups",
    "add_pkp_to_groups",
    "remove_pkp_from_groups",
    "execute_in_groups",
]
"""The seven permission fields of a usage key ("Resources and their fields / Usage API key")."""

WireName = Annotated[str, Field(min_length=1)]
"""The name of a JSON member as the node writes it."""

Status = Annotated[int, Field(ge=200, le=599)]


class Section(BaseModel):
    """A part of the profile. A key set to null says that the vendor states nothing about it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)
