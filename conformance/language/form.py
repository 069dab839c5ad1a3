"""What every part of a pack is made of: the base models, and the types of their members."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from conformance.service.refusal import RefusalClass

Kebab = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
PackName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(_[a-z0-9]+)*$")]
Variable = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
Text = Annotated[str, StringConstraints(min_length=1)]
Members = dict[str, JsonValue]
Refused = RefusalClass | Annotated[list[RefusalClass], Field(min_length=1)]


class Form(BaseModel):
    """Any part of a pack: unknown members and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)
