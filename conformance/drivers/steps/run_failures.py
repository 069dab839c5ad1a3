"""How a run of an action ended: with what `main` returned, or with an error as `exec.failure_and_limits` has it.

Specification, "Endpoints / Wallets and actions" (run action). The answer to code that throws, does not parse or exceeds
a limit is not shown: a node may answer it with success and a mark, or with a status of its own.
"""

from __future__ import annotations

from conformance.drivers.steps.refusals import raise_for_trouble
from conformance.endpoints.client import Answer
from conformance.language.models import CallStep
from conformance.language.templates import CompileContext
from conformance.problems import BadShape, RunEndedOtherwise
from conformance.profile import Profile
from conformance.profile.exec import FailureAndLimits
from conformance.values.json_values import member

RUN = "run_action"
FORMS = "exec.failure_and_limits"
SHOWN = 300


def check_fails(step: CallStep, site: CompileContext) -> None:
    """A load error for `fails` where it says nothing; otherwise the profile has to say how a failure is answered."""
    if step.fails is False:
        return
    if step.call != RUN:
        raise site.at("fails").problem(BadShape, f"only a run ends with an error; {step.call} is refused")
    if step.refused is not None or (step.may_be_refused is not None and step.fails is True):
        raise site.at("fails").problem(BadShape, "a run that fails was permitted: it is not `refused` beside")
    site.facts.uses.add(FORMS)


def must_not_fail(answer: Answer, profile: Profile) -> None:
    """Raise for a run that was permitted and ended with an error. Other operations have no such end."""
    forms = profile.exec.failure_and_limits
    if answer.operation is not None and answer.operation.name == RUN and forms is not None and _marked(answer, forms):
        raise RunEndedOtherwise(
            "a run that ends with what `main` returns", f"one with an error: {answer.text[:SHOWN]}", answer.exchange
        )


def failed(answer: Answer, profile: Profile) -> bool:
    """Whether the answer says, as the profile has it, that the code failed."""
    forms = profile.exec.failure_and_limits
    if forms is None or answer.status != forms.status:
        return False
    return forms.error_member is None or _marked(answer, forms)


def must_fail(answer: Answer, profile: Profile) -> None:
    """Raise unless the answer says, as the profile has it, that the code failed."""
    forms = profile.exec.failure_and_limits
    if failed(answer, profile) or forms is None:
        return
    raise_for_trouble(answer, frozenset({forms.status}))
    mark = f" with {forms.error_member} true" if forms.error_member else ""
    raise RunEndedOtherwise(
        f"a run that ends with an error: status {forms.status}{mark}",
        f"status {answer.status}: {answer.text[:SHOWN]}",
        answer.exchange,
    )


def _marked(answer: Answer, forms: FailureAndLimits) -> bool:
    return forms.error_member is not None and member(answer.value, forms.error_member) is True
