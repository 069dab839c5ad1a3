"""The design-level paths and how they relate to the operations ("Endpoints / Design-level flow paths")."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from conformance.profile.section import Section


class FlowRelationship(Section):
    """How the design-level paths relate to the operations under `/core/v1`."""

    prefix: Annotated[str, Field(pattern=r"^(/[^/\s]+)*$")] = "/core/v1"
    """What stands before `/groups/{id}/actions` and its like, after the base URL."""
    cids: Literal["raw", "hashed"] = "raw"
    """The form of the CIDs in `add` and `remove`."""
    all_or_nothing: bool = True
    """Whether one refused entry refuses the whole request."""


class Flows(Section):
    """Choices about the design-level paths; they count only with the capability `design_flows`."""

    relationship: FlowRelationship | None = FlowRelationship()
    """FLOW-080."""
