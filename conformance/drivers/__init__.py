"""The ways to run a case. Each driver has a form, which its cases in a pack follow, and compiles them once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from conformance.drivers.caserun import CaseRun
from conformance.drivers.steps import compile_case
from conformance.scenario.models import CaseForm, StepsCase
from conformance.scenario.templates import Site

F = TypeVar("F", bound=CaseForm)
Program = Callable[[CaseRun], None]


@dataclass(frozen=True)
class Driver(Generic[F]):
    """A way to run cases."""

    form: type[F]
    compile: Callable[[F, Site], Program]
    """Makes the program of a case; raises LoadProblem. What the case needs is noted in the site's facts."""

    def prepare(self, form: CaseForm, site: Site) -> Program:
        """The program of a case of this driver."""
        if not isinstance(form, self.form):
            raise TypeError(f"{type(form).__name__} is not {self.form.__name__}")
        return self.compile(form, site)


DRIVERS: dict[str, Driver[StepsCase]] = {"steps": Driver(StepsCase, compile_case)}
"""By the name that a case gives as `driver`; without one, `steps`."""
