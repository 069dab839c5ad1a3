"""The form of a case of the driver `histories` in a pack."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from conformance.drivers.model.form import Operation
from conformance.language.models import CaseForm

Operations = Annotated[list[Operation], Field(min_length=1)]


class HistoriesCase(CaseForm):
    """Sends random operations at the same time, and looks for an order of them that explains all answers."""

    driver: Literal["histories"]
    before: Operations
    """The operations that prepare the account, one after the other."""
    rounds: Annotated[list[Operations], Field(min_length=1)]
    """The operations that are sent at the same time, for each round. Their objects are drawn."""
