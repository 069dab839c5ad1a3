"""The ways to run a case. Each driver has a form, which its cases in a pack follow, and compiles them once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Generic, Protocol, TypeVar

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
    """Makes the program of a case; raises LoadProblem. What the case needs is noted in the context's info."""

    def prepare(self, form: CaseForm, context: CompileContext) -> Program:
        """The program of a case of this driver."""
        if not isinstance(form, self.form):
            raise TypeError(f"{type(form).__name__} is not {self.form.__name__}")
        return self.compile(form, context)


class AnyDriver(Protocol):
    """A driver, whatever the form of its cases."""

    @property
    def form(self) -> type[CaseForm]:
        """What its cases look like in a pack."""

    def prepare(self, form: CaseForm, context: CompileContext) -> Program:
        """The program of a case of this driver."""


# Importing a driver on demand keeps its libraries out of runs that do not use it.
# ruff: noqa: PLC0415


def _steps() -> AnyDriver:
    return Driver[StepsCase](StepsCase, compile_case)


def _openapi_document() -> AnyDriver:
    from conformance.drivers.openapi.document import OpenApiDocumentCase, compile_document

    return Driver[OpenApiDocumentCase](OpenApiDocumentCase, compile_document)


def _openapi_viewer() -> AnyDriver:
    from conformance.drivers.openapi.document import OpenApiViewerCase, compile_viewer

    return Driver[OpenApiViewerCase](OpenApiViewerCase, compile_viewer)


def _execution_matrix() -> AnyDriver:
    from conformance.drivers.matrix.driver import ExecutionMatrixCase, compile_matrix

    return Driver[ExecutionMatrixCase](ExecutionMatrixCase, compile_matrix)


def _hostile() -> AnyDriver:
    from conformance.drivers.hostile.driver import HostileCase, compile_hostile

    return Driver[HostileCase](HostileCase, compile_hostile)


def _typed_data() -> AnyDriver:
    from conformance.drivers.envelopes.driver import compile_typed_data
    from conformance.drivers.envelopes.forms import TypedDataCase

    return Driver[TypedDataCase](TypedDataCase, compile_typed_data)


def _attestation() -> AnyDriver:
    from conformance.drivers.attestation import AttestationCase, compile_attestation

    return Driver[AttestationCase](AttestationCase, compile_attestation)


def _model() -> AnyDriver:
    from conformance.drivers.model import ModelCase, compile_model

    return Driver[ModelCase](ModelCase, compile_model)


def _histories() -> AnyDriver:
    from conformance.drivers.histories import HistoriesCase, compile_histories

    return Driver[HistoriesCase](HistoriesCase, compile_histories)


def _fuzz() -> AnyDriver:
    from conformance.drivers.fuzz import FuzzCase, compile_fuzz

    return Driver[FuzzCase](FuzzCase, compile_fuzz)


class Drivers(Mapping[str, AnyDriver]):
    """Drivers by the name that a case gives as `driver`. One is imported when it is first asked for."""

    def __init__(self, makers: Mapping[str, Callable[[], AnyDriver]]) -> None:
        self._makers = {name: cache(make) for name, make in makers.items()}

    def __getitem__(self, name: str) -> AnyDriver:
        return self._makers[name]()

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


DRIVERS = Drivers(
    {
        "steps": _steps,
        "openapi_document": _openapi_document,
        "openapi_viewer": _openapi_viewer,
        "execution_matrix": _execution_matrix,
        "hostile": _hostile,
        "typed_data": _typed_data,
        "attestation": _attestation,
        "model": _model,
        "histories": _histories,
        "fuzz": _fuzz,
    }
)
"""A case without `driver` has `steps`."""
