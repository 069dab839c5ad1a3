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
Reference = Annotated[str, StringConstraints(pattern=r"^\$\{.+\}$")]
"""A text that consists of one `${variable}`."""
Refused = RefusalClass | Annotated[list[RefusalClass], Field(min_length=1)]

Rows = Annotated[list[dict[Variable, JsonValue]], Field(min_length=1)]
Rounds = Annotated[int, Field(ge=2)] | Reference


class Form(BaseModel):
    """Any part of a pack: unknown members and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class Judging(Form):
    """A step that may judge requirements. Steps that only make objects for the case never do."""

    id: Kebab | None = None
    judges: list[str] | None = None
    """The requirements of the case that a departure in this step breaks; `[]` makes the step set-up.

    Default: the case's requirement, where it has only one and the step states an expectation; else none.
    """


class UnchangedRead(Form):
    """A read that must return the same before and after the refused request."""

    list_: str | None = Field(default=None, alias="list")
    """A list operation, of which every page is read."""
    call: str | None = None
    """An operation that reads and is not a list."""
    as_: str | None = Field(default=None, alias="as")
    """Who reads. Default: the case's first account."""
    with_: Members | Reference = Field(default={}, alias="with")
    """Members of the request."""
