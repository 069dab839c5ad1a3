"""The step kind `call`: a request that must be accepted, or refused where its control was accepted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from conformance.drivers.steps.calls import (
    Builder,
    as_members,
    compile_members_of,
    compile_request,
    compile_who,
    must_be_list,
    name_operation,
)
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.expectations import Expectations, compile_expectations
from conformance.endpoints.messages import Answer
from conformance.language.form import Refused, UnchangedRead
from conformance.language.models import CallStep
from conformance.language.shapes import ANYTHING
from conformance.language.templates import CompileContext
from conformance.language.vocabulary import writes
from conformance.problems import BadShape, RefusalUnproven
from conformance.profile import OPERATIONS
from conformance.service.acceptance import must_accept
from conformance.service.lists import unchanged_list
from conformance.service.reads import Read
from conformance.service.refusal import ExpectedRefusal, Refusals, check_refusal
from conformance.service.runs import RUN, failed, must_fail, must_not_fail

AnswerStep = Callable[[CaseRun], Answer]
"""Sends a step's request and checks the answer."""
Reads: TypeAlias = Callable[[CaseRun], Sequence[Read]]
FAILURE_FORMS = "exec.failure_and_limits"


def compile_call(step: CallStep, context: CompileContext) -> AnswerStep:
    """Compile one request and its expected outcome."""
    build = compile_request(step, step.call, context)
    if step.refused is not None and step.may_be_refused is not None:
        raise context.at("may_be_refused").problem(BadShape, "a step is `refused` or `may_be_refused`, not both")
    _check_fails(step, context)
    if step.refused is None:
        return _compile_accepted(step, build, context)
    _check_proof(step, context)
    reads = compile_reads(step.unchanged or [], context)
    expected = _classes(step.refused)
    expectations = compile_expectations(step.expect, step.save, context, step.call, ANYTHING)

    def refused(run: CaseRun) -> Answer:
        control, request, unchanged = run.control(step.control, accepted="was accepted"), build(run), reads(run)
        run.unchanged.end_if_old()
        run.unchanged.end_if_undone_by(request)
        run.unchanged.read(unchanged)
        answer = Refusals(run, control=control, unchanged=unchanged).send(request, expected)
        run.unchanged.note(run.label_of_step, request, answer.exchange, run.judges_of_step)
        return _as_expected(answer, expectations, run)

    return refused


def _check_fails(step: CallStep, context: CompileContext) -> None:
    """Raise BadShape for a meaningless `fails`; else note that the profile has to say how failures are answered."""
    if step.fails is False:
        return
    if step.call != RUN:
        raise context.at("fails").problem(BadShape, f"only a run ends with an error; {step.call} is refused")
    if step.refused is not None or (step.may_be_refused is not None and step.fails is True):
        raise context.at("fails").problem(BadShape, "a run that fails was permitted: it is not `refused` beside")
    context.info.uses.add(FAILURE_FORMS)


# ------------------------------------------------------------------------------------------------------- acceptance


def _compile_accepted(step: CallStep, build: Builder, context: CompileContext) -> AnswerStep:
    """Compile a request that must be accepted, may be refused, or whose run may or must fail."""
    for name in ("control", "unchanged"):
        if getattr(step, name) is not None:
            raise context.at(name).problem(BadShape, f"`{name}` stands beside `refused` only")
    allowed = None if step.may_be_refused is None else _classes(step.may_be_refused)
    expectations = compile_expectations(
        step.expect, step.save, context, step.call, context.vocabulary.answers[step.call]
    )
    of_refusal = expectations.around_the_body()
    fails = step.fails

    def accepted(run: CaseRun) -> Answer:
        answer = run.send(build(run))
        if fails is True or (fails and failed(answer, run.profile)):
            must_fail(answer, run.profile)
            return _as_expected(answer, expectations, run)
        if allowed is None or answer.accepted:
            return _accepted(answer, expectations, run)
        check_refusal(answer, ExpectedRefusal.of(allowed, run.profile), run.secrets)
        return _as_expected(answer, of_refusal, run)

    return accepted


def _accepted(answer: Answer, expectations: Expectations, run: CaseRun) -> Answer:
    must_accept(answer)
    must_not_fail(answer, run.profile)
    return _as_expected(answer, expectations, run)


def _as_expected(answer: Answer, expectations: Expectations, run: CaseRun) -> Answer:
    expectations.check_at(answer.at, run, answer.exchange)
    return answer


# ---------------------------------------------------------------------------------------------------------- refusal


def _classes(raw: Refused) -> tuple[str, ...]:
    return (raw,) if isinstance(raw, str) else tuple(raw)


def _check_proof(step: CallStep, context: CompileContext) -> None:
    """Raise a LoadProblem for a refusal that proves nothing: it lacks a control of the same operation, or reads."""
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


def compile_reads(entries: Sequence[str | UnchangedRead], context: CompileContext) -> Reads:
    """The reads that `unchanged` names."""
    makers = [_compile_read(entry, context.at("unchanged", index)) for index, entry in enumerate(entries)]
    return lambda run: [make(run) for make in makers]


def _compile_read(entry: str | UnchangedRead, context: CompileContext) -> Callable[[CaseRun], Read]:
    if isinstance(entry, str):
        name, who_raw, with_raw = entry, None, UnchangedRead().with_
    else:
        name, who_raw, with_raw = _read_name(entry, context), entry.as_, entry.with_
    name_operation(name, context)
    paged = bool(OPERATIONS[name].items)
    if paged or (isinstance(entry, UnchangedRead) and entry.list_):
        must_be_list(name, context)
    if writes(name):
        raise context.problem(RefusalUnproven, f"{name} writes: it cannot show that nothing changed")
    who, members = compile_who(who_raw, name, context), compile_members_of(name, with_raw, context.at("with"))

    def read(run: CaseRun) -> Read:
        key, filled = who(run), as_members(members(run.scope))
        if paged:
            return unchanged_list(run, name, key, **filled)
        return Read(name, lambda: run.call(name, key, **filled).value, f"{name} {key} {filled!r}")

    return read


def _read_name(entry: UnchangedRead, context: CompileContext) -> str:
    names = [name for name in (entry.list_, entry.call) if name]
    if len(names) != 1:
        raise context.problem(BadShape, "an entry of `unchanged` has either `list` or `call`")
    return names[0]
