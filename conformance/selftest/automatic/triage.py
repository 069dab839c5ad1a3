"""The committed triage table: the explanations of automatic faults that no check catches."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from conformance.selftest.automatic.faults import Fault
from conformance.values.marked_yaml import Document

TRIAGE = Path(__file__).with_name("triage.yaml")


class Finding(BaseModel):
    """The explanation of one surviving fault."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    is_: Annotated[Literal["equivalent", "silent", "hole"], Field(alias="is")]
    """No answer differs; the specification leaves the difference open; or it does not, and a check is missing."""
    before: str
    after: str
    because: Annotated[str, Field(min_length=1)]
    """The reason; for `silent`, the clause that leaves it open."""


@cache
def triage() -> Mapping[str, Finding]:
    """The findings by the fault's name."""
    return TypeAdapter(dict[str, Finding]).validate_python(Document(TRIAGE).value)


def finding_of(fault: Fault) -> Finding | None:
    """The finding for this fault; None if its code has changed since."""
    finding = triage().get(fault.name)
    return finding if finding and (finding.before, finding.after) == (fault.before, fault.after) else None
