"""The driver `steps`: runs the set-up of a case, then the steps that judge."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from conformance.drivers.sections import set_up
from conformance.drivers.steps.call_step import compile_call
from conformance.drivers.steps.calls import Action, compile_account, compile_list
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.flow import compile_check, compile_let, compile_repeat
from conformance.drivers.steps.making import compile_new_group, compile_new_key, compile_new_wallet
from conformance.drivers.steps.onchain import compile_chain
from conformance.drivers.steps.traits import accepted_call, can_fail, expects, label_of, names_defined, steps_in
from conformance.language.chain_steps import ChainStep
from conformance.language.form import Judging
from conformance.language.making_steps import AccountStep, NewGroupStep, NewKeyStep, NewWalletStep
from conformance.language.models import (
    CallStep,
    CheckStep,
    LetStep,
    ListStep,
    RepeatStep,
    Step,
    SteppedCase,
)
from conformance.language.templates import CompileContext
from conformance.language.vocabulary import suggestion
from conformance.problems import (
    BadShape,
    Departure,
    DuplicateId,
    LoadProblem,
    NothingAsserted,
    StepProblem,
    UnknownName,
)
from conformance.service.acceptance import Accepted

Program = Callable[[CaseRun], None]


@dataclass(frozen=True)
class Compiled:
    """A step that is ready to run."""

    label: str
    """`steps[3] call list_groups (lists-while-alive)`."""
    id: str | None
    call: str
    """The call name that it shares with refusals whose control it can be; empty where it can be none."""
    action: Action
    judges: tuple[str, ...] | None
    """The requirements that a departure breaks. Empty: the step is set-up. None: the caller decides."""
    sends_what_is_accepted: bool = True
    """False for a request that must be refused, and for a step that sends nothing itself."""
    why: str = ""
    """What the node has to do, in words that a failure tells first."""

    def run(self, run: CaseRun) -> object:
        """Run the step, and label its problems."""
        judges = run.judged_now(self.judges)
        try:
            if self.sends_what_is_accepted:
                run.unchanged.compare()
            run.label_of_step, run.judges_of_step = self.label, judges
            result = self.action(run)
        except StepProblem as problem:
            run.reliance.remember_at(problem)
            if self.why and not problem.step:
                problem.expected = f"{self.why}: {problem.expected}"
            problem.step = problem.step or self.label
            if isinstance(problem, Departure) and not problem.judged and judges is not None:
                problem.charge(judges)
            raise
        if self.id and self.call:
            run.accepted[self.id] = Accepted(self.call)
        return result


def compile_case(form: SteppedCase, context: CompileContext, *, judged_besides: bool = False) -> Program:
    """Compile a whole case. Raises LoadProblem with file and line.

    `judged_besides`: the driver judges all requirements of the case after the steps.
    """
    faults = len(context.faults)
    setup = _compile_sequence(form.setup, context.at("setup"), "setup")
    _forbid_judges(form.setup, context.at("setup"))
    context.info.requirements = tuple(form.requirements)
    context.info.judged = set(form.requirements) if judged_besides else set()
    around = () if judged_besides or _says_what_it_judges(form) else form.requirements
    steps = _compile_sequence(form.steps, context.at("steps"), "steps", around)
    if len(context.faults) == faults:
        _must_judge_all(form.steps, context)

    def program(run: CaseRun) -> None:
        with set_up():
            setup(run)
            run.unchanged.compare()
        steps(run)
        run.unchanged.compare()

    return program


def _says_what_it_judges(form: SteppedCase) -> bool:
    """Whether steps name requirements or expectations. A case with one requirement may leave out both."""
    several = len(form.requirements) > 1
    return several or any(getattr(step, "judges", None) is not None or expects(step) for step in steps_in(form.steps))


def _must_judge_all(steps: Sequence[Step], context: CompileContext) -> None:
    """Report requirements that no step of the case judges."""
    left = [name for name in context.info.requirements if name not in context.info.judged]
    if not left:
        return
    if not any(map(can_fail, steps)):
        message = "no step judges anything: no call must be accepted or refused, and nothing is expected"
    else:
        message = f"no step judges {', '.join(left)}: name it in the `judges` of the steps that are about it"
    context.at("steps").report(NothingAsserted, message)


def _forbid_judges(setup: Sequence[Step], context: CompileContext) -> None:
    for index, step in enumerate(setup):
        if getattr(step, "judges", None):
            context.at(index, "judges").report(BadShape, "set-up judges nothing: move the step into `steps`")


def _compile_sequence(
    steps: Sequence[Step], context: CompileContext, where: str, judges: Sequence[str] = ()
) -> Program:
    compiled = [compile_step(step, context.at(index), f"{where}[{index}]", judges) for index, step in enumerate(steps)]

    def program(run: CaseRun) -> None:
        for step in compiled:
            step.run(run)

    return program


def compile_step(step: Step, context: CompileContext, where: str, judges: Sequence[str] = ()) -> Compiled:
    """Compile a step of any kind. Its faults are reported, and its names are defined for the steps after it.

    `judges` is what the step around it judges.
    """
    label = label_of(step, where)
    judged = _judged_by(step, context, judges)
    if step.id is not None:
        if step.id in context.info.step_ids:
            context.at("id").report(DuplicateId, f"another step of this case has the id {step.id!r}")
        context.info.step_ids.add(step.id)
    try:
        action = _compile_action(step, context, label, judged or ())
    except LoadProblem as problem:
        context.faults.append(problem)
        _define(step, context)
        action = _nothing
    call = accepted_call(step)
    if step.id is not None and call:
        context.info.controls[step.id] = call
    refused = isinstance(step, CallStep) and step.refused is not None
    sends_what_is_accepted = not refused and not isinstance(step, LetStep | CheckStep | RepeatStep)
    why = step.why if isinstance(step, CallStep | ListStep) else ""
    return Compiled(label, step.id, call, action, judged, sends_what_is_accepted, why)


def _judged_by(step: Step, context: CompileContext, around: Sequence[str]) -> tuple[str, ...] | None:
    """The requirements that a departure breaks: the step's own, those of the step around it, or the case's only one."""
    possible = context.info.requirements
    if not possible or not isinstance(step, Judging):
        return None
    judged = around if step.judges is None else step.judges
    if step.judges is None and not judged and len(possible) == 1 and expects(step):
        judged = possible
    for index, name in enumerate(judged):
        if name not in possible:
            message = f"the case does not say that it is about {name}{suggestion(name, possible)}"
            context.at("judges", index).report(UnknownName, message)
    if can_fail(step) and not isinstance(step, RepeatStep):
        context.info.judged.update(judged)
    return tuple(judged)


def _define(step: Step, context: CompileContext) -> None:
    """Define the names of a step that cannot be compiled, so that the steps after it are not reported for them."""
    for name in names_defined(step):
        context.define(name)
        if isinstance(step, AccountStep) and name not in context.info.accounts:
            context.info.accounts.append(name)


def _nothing(_: CaseRun) -> None:
    """Take the place of a step that cannot be compiled. Its pack is refused."""


def _compile_action(step: Step, context: CompileContext, label: str, judges: Sequence[str]) -> Action:
    action: Action
    match step:
        case AccountStep():
            action = _always_setup(compile_account(step, context))
        case CallStep():
            action = compile_call(step, context)
        case ListStep():
            action = compile_list(step, context)
        case LetStep():
            action = compile_let(step, context)
        case CheckStep():
            action = compile_check(step, context)
        case RepeatStep():
            body = step.repeat.steps
            action = compile_repeat(step.repeat, context, lambda inside: _compile_sequence(body, inside, label, judges))
        case ChainStep():
            action = compile_chain(step, context)
        case NewWalletStep() | NewGroupStep() | NewKeyStep():
            action = _always_setup(_compile_making(step, context))
    return action


def _compile_making(step: NewWalletStep | NewGroupStep | NewKeyStep, context: CompileContext) -> Action:
    match step:
        case NewWalletStep():
            return compile_new_wallet(step, context)
        case NewGroupStep():
            return compile_new_group(step, context)
        case NewKeyStep():
            return compile_new_key(step, context)


def _always_setup(action: Action) -> Action:
    def act(run: CaseRun) -> object:
        with set_up():
            return action(run)

    return act
