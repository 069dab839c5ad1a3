"""Writes a profile for the node at an address, by trying what the specification leaves open.

A key is written only where an answer of the node shows its value, with that answer; every other key becomes a question.
"""

from conformance.survey.asking import Asker
from conformance.survey.notes import Notes, Observation
from conformance.survey.reading import read
from conformance.survey.trying import ACCOUNT, MOST_WRITES, try_out
from conformance.survey.writing import written

__all__ = ["ACCOUNT", "MOST_WRITES", "Asker", "Notes", "Observation", "read", "try_out", "written"]
