"""What the specification demands, statement by statement, and what the checks prove of it."""

from conformance.requirements.coverage import Coverage, Status, Uncovered, faults, statuses
from conformance.requirements.load import BadCatalogue, catalogue, load_catalogue, load_uncovered, uncovered
from conformance.requirements.model import Catalogue, Level, Matter, Requirement, Tension

__all__ = [
    "BadCatalogue",
    "Catalogue",
    "Coverage",
    "Level",
    "Matter",
    "Requirement",
    "Status",
    "Tension",
    "Uncovered",
    "catalogue",
    "faults",
    "load_catalogue",
    "load_uncovered",
    "statuses",
    "uncovered",
]
