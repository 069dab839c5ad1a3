"""Checks in a few seconds, before hundreds of cases run, what a run needs of a node and its profile."""

from conformance.doctor.everything import examine
from conformance.doctor.finding import Finding, State
from conformance.doctor.first import first_look

__all__ = ["Finding", "State", "examine", "first_look"]
