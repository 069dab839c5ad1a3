"""The behaviour that most cases build on: accepted writes are listed, permitted runs sign, refusals look like refusals.

Where one of these does not hold, the failure of a case about something else says nothing about that case's own
requirements.
"""

from __future__ import annotations

from conformance.run.foundations.access import ACCESS
from conformance.run.foundations.consequences import CONSEQUENCES
from conformance.run.foundations.foundation import Foundation
from conformance.run.foundations.objects import OBJECTS
from conformance.run.foundations.runs import RUNS

__all__ = ["FOUNDATIONS", "Foundation"]

FOUNDATIONS = (*OBJECTS, *RUNS, *ACCESS, *CONSEQUENCES)
"""In the order in which they are tried: the first that does not hold explains the failure of a case."""
