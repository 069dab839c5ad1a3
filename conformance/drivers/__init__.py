"""The ways to run a case. Each driver has a form, which its cases in a pack follow, and compiles them once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from conformance.drivers.attestation.driver import compile_attestation
from conformance.drivers.attestation.form import AttestationCase
from conformance.drivers.envelopes.driver import compile_typed_data
from conformance.drivers.envelopes.forms import TypedDataCase
from conformance.drivers.hostile.driver import HostileCase, compile_hostile
from conformance.drivers.matrix.driver import ExecutionMatrixCase, compile_matrix
from conformance.drivers.model import ModelCase, compile_model
from conformance.drivers.openapi.answers import OpenApiAnswersCase, compile_answers
from conformance.drivers.openapi.document import (
    OpenApiDocumentCase,
    OpenApiViewerCase,
    compile_document,
    compile_viewer,
)
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.driver import compile_case
from conformance.language.models import CaseForm, StepsCase
from conformance.language.templates import CompileContext

F = TypeVar("F", bound=CaseForm)
Program = Callable[[CaseRun], None]


@dataclass(frozen=True)
class Driver(Generic[F]):
    """A way to run cases."""

    form: type[F]
    compile: Callable[[F, CompileContext], Program]
    """Makes the program of a case; raises LoadProblem. What the case needs is noted in the site's facts."""

    def prepare(self, form: CaseForm, site: CompileContext) -> Program:
        """The program of a case of this driver."""
        if not isinstance(form, self.form):
            raise TypeError(f"{type(form).__name__} is not {self.form.__name__}")
        return self.compile(form, site)


class AnyDriver(Protocol):
    """A driver, whatever the form of its cases."""

    @property
    def form(self) -> type[CaseForm]:
        """What its cases look like in a pack."""

    def prepare(self, form: CaseForm, site: CompileContext) -> Program:
        """The program of a case of this driver."""


DRIVERS: Mapping[str, AnyDriver] = {
    "steps": Driver[StepsCase](StepsCase, compile_case),
    "openapi_document": Driver[OpenApiDocumentCase](OpenApiDocumentCase, compile_document),
    "openapi_viewer": Driver[OpenApiViewerCase](OpenApiViewerCase, compile_viewer),
    "openapi_answers": Driver[OpenApiAnswersCase](OpenApiAnswersCase, compile_answers),
    "execution_matrix": Driver[ExecutionMatrixCase](ExecutionMatrixCase, compile_matrix),
    "hostile": Driver[HostileCase](HostileCase, compile_hostile),
    "typed_data": Driver[TypedDataCase](TypedDataCase, compile_typed_data),
    "attestation": Driver[AttestationCase](AttestationCase, compile_attestation),
    "model": Driver[ModelCase](ModelCase, compile_model),
}
"""By the name that a case gives as `driver`; without one, `steps`."""
