"""Every code that a finding can have, from `faults.yaml`: its rule, requirement and weight, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pydantic import TypeAdapter

from conformance.values.marked_yaml import Document
from conformance.verify.results import Rule, Severity

FILE = Path(__file__).with_suffix(".yaml")


@dataclass(frozen=True)
class Kind:
    """What a code stands for."""

    rule: Rule
    requirement: str | None
    severity: Severity
    meaning: str


_BY_RULE = TypeAdapter(dict[Rule, dict[str, tuple[str | None, Severity, str]]])

FAULTS: Mapping[str, Kind] = MappingProxyType(
    {
        code: Kind(rule, *row)
        for rule, rows in _BY_RULE.validate_python(Document(FILE).value).items()
        for code, row in rows.items()
    }
)
"""Code to what it stands for."""


class Fault(Exception):  # noqa: N818 - caught within the library and turned into a finding
    """A fault of the evidence, on its way to becoming a finding."""

    def __init__(self, code: str, compared: str, where: str) -> None:
        self.code = code
        self.compared = compared
        self.where = where
        super().__init__(f"{code}: {where}: {compared}")
