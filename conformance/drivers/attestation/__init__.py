"""The driver `attestation`: judges one rule of the verifier for each case ("Endpoints / Attestation").

The verifier's libraries are an extra, so a case imports them when it runs.
"""

from __future__ import annotations

from collections.abc import Callable

from conformance.drivers.attestation.form import AttestationCase
from conformance.drivers.steps.caserun import CaseRun
from conformance.language.templates import CompileContext
from conformance.problems import UnknownName, require_verifier

__all__ = ["AttestationCase", "compile_attestation"]


def compile_attestation(form: AttestationCase, context: CompileContext) -> Callable[[CaseRun], None]:
    """Compile a case, which judges its rules in order."""
    context.info.needs.add("attestation")
    context.info.silence_is_not_offered = True
    for index, requirement in enumerate(form.because_of):
        if requirement not in context.vocabulary.requirements:
            context.at("because_of", index).report(UnknownName, f"no requirement is called {requirement!r}")
    charged = frozenset(form.because_of or form.requirements)

    def program(run: CaseRun) -> None:
        require_verifier()
        from conformance.drivers.attestation.driver import Judge  # noqa: PLC0415 - an extra
        from conformance.drivers.attestation.evidence import fetched  # noqa: PLC0415 - the same

        Judge(fetched(run.target, run.log), form.title, charged, form.requirements, run.log).judge(form.rules)

    return program
