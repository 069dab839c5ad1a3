"""Page sizes and request rate ("Limits")."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from conformance.profile.section import Section

Count = Annotated[int, Field(ge=1)]


class Limits(Section):
    """Numbers that the specification does not show."""

    page_size_default: Count | None = 20
    """The size of a page when `page_size` is left out (LIST-080). Null: paging fields may not be left out."""
    page_size_max: Count | None = 100
    """The largest `page_size` served in full (LIST-090)."""
    page_size_above_max: Literal["refused", "capped"] | None = "refused"
    """What a larger `page_size` does: refusal class `invalid`, or a page of the largest size (LIST-090)."""
    entries_per_write: Annotated[int, Field(ge=6)] | None = None
    """The most entries that one write may name in a group's two lists; cases need six. Null: any number."""
    rate: Literal["unlimited"] | Annotated[float, Field(gt=0)] | None = "unlimited"
    """How many requests a second the node admits (LIM-060)."""
