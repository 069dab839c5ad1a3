"""The step kind `call`: a request that must be accepted, or refused where its control was accepted."""

from __future__ import annotations

from collections.abc import Callable

from conformance.drivers.steps.calls import Action, Builder, compile_request, compile_who, must_be_list, name_operation
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.expectations import Expectations, compile_expectations
from conformance.endpoints.messages import Answer
from conformance.language.form import Refused
from conformance.language.models import CallStep
from conformance.language.shapes import ANYTHING
from conformance.language.templates import CompileContext
from conformance.language.vocabulary import writes
from conformance.problems import BadShape, RefusalUnproven
from conformance.profile import OPERATIONS
from conformance.service.acceptance import must_accept
from conformance.service.lists import unchanged_list
from conformance.service.reads import Read
from conformance.service.refusal import must_refuse, was_accepted
from conformance.service.runs import must_not_fail


def compile_call(step: CallStep, context: CompileContext) -> Action:
    """Compile one request and its expected outcome."""
    build = compile_request(step, step.call, context)
    if step.refused is not None and step.may_be_refused is not None:
        raise context.at("may_be_refused").problem(BadShape, "a step is `refused` or `may_be_refused`, not both")
    if step.refused is None:
        return _compile_accepted(step, build, context)
    control_id = _proven_control(step, context)
    makers = [_compile_read(name, context.at("unchanged", index)) for index, name in enumerate(step.unchanged or [])]
    expected = _classes(step.refused)
    expectations = compile_expectations(step.expect, step.save, context, step.call, ANYTHING)

    def refused(run: CaseRun) -> None:
        unchanged = [make(run) for make in makers]
        answer = must_refuse(run, build(run), expected, control=run.accepted[control_id], unchanged=unchanged)
        _as_expected(answer, expectations, run)

    return refused


# ------------------------------------------------------------------------------------------------------- acceptance


def _compile_accepted(step: CallStep, build: Builder, context: CompileContext) -> Action:
    """Compile a request that must be accepted, or may be refused."""
    for name in ("control", "unchanged"):
        if getattr(step, name) is not None:
            raise context.at(name).problem(BadShape, f"`{name}` stands beside `refused` only")
    allowed = None if step.may_be_refused is None else _classes(step.may_be_refused)
    expectations = compile_expectations(
        step.expect, step.save, context, step.call, context.vocabulary.answers[step.call]
    )

    def accepted(run: CaseRun) -> None:
        answer = run.send(build(run))
        if allowed is not None and not was_accepted(run, answer, or_refused=allowed):
            _as_expected(answer, expectations.around_the_body(), run)
            return
        must_accept(answer)
        must_not_fail(answer, run.profile)
        _as_expected(answer, expectations, run)

    return accepted


def _as_expected(answer: Answer, expectations: Expectations, run: CaseRun) -> None:
    expectations.check_at(answer.at, run, answer.exchange)


# ---------------------------------------------------------------------------------------------------------- refusal


def _classes(raw: Refused) -> tuple[str, ...]:
    return (raw,) if isinstance(raw, str) else tuple(raw)


def _proven_control(step: CallStep, context: CompileContext) -> str:
    """The id of a refusal's control. Raises a LoadProblem for a refusal without a control, or without reads."""
    if step.control is None:
        raise context.problem(RefusalUnproven, f"a refused {step.call} needs a `control`")
    operation = context.info.controls.get(step.control)
    if operation is None:
        earlier = ", ".join(name for name, called in context.info.controls.items() if called == step.call) or "none"
        raise context.at("control").problem(
            RefusalUnproven,
            f"{step.control!r} is no earlier step that must be accepted; of {step.call} there is {earlier}",
        )
    if operation != step.call:
        raise context.at("control").problem(
            RefusalUnproven, f"{step.control!r} calls {operation}, not {step.call}: it proves nothing about it"
        )
    if step.unchanged is None and writes(step.call):
        raise context.problem(RefusalUnproven, f"{step.call} writes: its refusal needs `unchanged`")
    if step.unchanged == [] and writes(step.call):
        raise context.at("unchanged").problem(RefusalUnproven, "`unchanged` names no read")
    return step.control


def _compile_read(name: str, context: CompileContext) -> Callable[[CaseRun], Read]:
    """Compile a read of the case's first account."""
    name_operation(name, context)
    paged = bool(OPERATIONS[name].items)
    if paged:
        must_be_list(name, context)
    if writes(name):
        raise context.problem(RefusalUnproven, f"{name} writes: it cannot show that nothing changed")
    who = compile_who(None, name, context)

    def read(run: CaseRun) -> Read:
        key = who(run)
        if paged:
            return unchanged_list(run, name, key)
        return Read(name, lambda: run.call(name, key).value, f"{name} {key}")

    return read
