"""What readers found out about automatic faults that no check catches: the committed table of survivors."""

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
    """What one surviving fault is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    is_: Annotated[Literal["equivalent", "silent", "hole"], Field(alias="is")]
    """No answer differs; the text does not say what differs; or the text says it and no check looks yet."""
    before: str
    after: str
    because: Annotated[str, Field(min_length=1)]
    """Why; of what is silent, the clause that leaves it open."""


@cache
def triage() -> Mapping[str, Finding]:
    """What is known of the survivors, by the fault's name."""
    return TypeAdapter(dict[str, Finding]).validate_python(Document(TRIAGE).value)


def finding_of(fault: Fault) -> Finding | None:
    """What is known of this fault; nothing where the code has changed since."""
    finding = triage().get(fault.name)
    return finding if finding and (finding.before, finding.after) == (fault.before, fault.after) else None
