"""From an address to a profile: asks a node what the specification leaves open, and says what was seen and how.

Nothing is guessed: a key is written only where an answer of the node shows its value; every other key is a question.
"""

from conformance.survey.asking import Asker
from conformance.survey.notes import Notes, Observation
from conformance.survey.reading import read
from conformance.survey.trying import MOST_WRITES, try_out
from conformance.survey.writing import written

__all__ = ["MOST_WRITES", "Asker", "Notes", "Observation", "read", "try_out", "written"]
