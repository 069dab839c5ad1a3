"""Checks in a few seconds, before hundreds of cases run, what a run needs of a node and its profile.

`everything` imports much more than the quick part, with which each run begins: import it from its module.
"""

from conformance.doctor.finding import Finding, State
from conformance.doctor.first import first_look

__all__ = ["Finding", "State", "first_look"]
