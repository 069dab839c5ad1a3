"""The driver `steps`: runs the set-up of a case, then the steps that judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from conformance.drivers.sections import broken_by_change, set_up
from conformance.drivers.steps.call_step import compile_call
from conformance.drivers.steps.calls import Action, compile_account, compile_list
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.making import compile_new_group, compile_new_key, compile_new_wallet
from conformance.language.models import (
    KINDS,
    AccountStep,
    CallStep,
    ListStep,
    MakingStep,
    NewGroupStep,
    NewKeyStep,
    NewWalletStep,
    Step,
    StepsCase,
)
from conformance.language.templates import CompileContext
from conformance.language.vocabulary import suggestion
from conformance.problems import (
    BadShape,
    Departure,
    DuplicateId,
    LoadProblem,
    NothingAsserted,
    StateChanged,
    StepProblem,
    UnknownName,
)
from conformance.service.acceptance import Accepted

Program = Callable[[CaseRun], None]
MAKING: Mapping[type[object], str] = {
    AccountStep: "new_account",
    NewWalletStep: "create_wallet",
    NewGroupStep: "add_group",
    NewKeyStep: "add_usage_api_key",
}
"""The operation that each step kind calls to make its object."""


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

    def run(self, run: CaseRun) -> None:
        """Run the step, and label its problems."""
        try:
            self.action(run)
        except StepProblem as problem:
            run.reliance.remember_at(problem)
            problem.step = problem.step or self.label
            if isinstance(problem, Departure) and not problem.judged and self.judges is not None:
                changed = isinstance(problem, StateChanged)
                problem.blame(broken_by_change(self.judges) if changed else self.judges)
            raise
        if self.id and self.call:
            run.accepted[self.id] = Accepted(self.call)


def compile_case(form: StepsCase, context: CompileContext) -> Program:
    """Compile a whole case. Raises LoadProblem with file and line."""
    faults = len(context.faults)
    setup = _compile_sequence(form.setup, context.at("setup"), "setup")
    _forbid_judges(form.setup, context.at("setup"))
    context.info.requirements = tuple(form.requirements)
    context.info.judged = set()
    around = () if _says_what_it_judges(form) else form.requirements
    steps = _compile_sequence(form.steps, context.at("steps"), "steps", around)
    if len(context.faults) == faults:
        _must_judge_all(form.steps, context)

    def program(run: CaseRun) -> None:
        with set_up():
            setup(run)
        steps(run)

    return program


def _says_what_it_judges(form: StepsCase) -> bool:
    """Whether steps name requirements or expectations. A case with one requirement may leave out both."""
    several = len(form.requirements) > 1
    return several or any(getattr(step, "judges", None) is not None or _expects(step) for step in form.steps)


def _must_judge_all(steps: Sequence[Step], context: CompileContext) -> None:
    """Report requirements that no step of the case judges."""
    left = [name for name in context.info.requirements if name not in context.info.judged]
    if not left:
        return
    if not any(map(_can_fail, steps)):
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

    `judges` is what a step judges that does not say so itself.
    """
    judged = _judged_by(step, context, judges)
    if step.id is not None:
        if step.id in context.info.step_ids:
            context.at("id").report(DuplicateId, f"another step of this case has the id {step.id!r}")
        context.info.step_ids.add(step.id)
    try:
        action = _compile_action(step, context)
    except LoadProblem as problem:
        context.faults.append(problem)
        _define(step, context)
        action = _nothing
    call = _accepted_call(step)
    if step.id is not None and call:
        context.info.controls[step.id] = call
    return Compiled(_label_of(step, where), step.id, call, action, judged)


def _judged_by(step: Step, context: CompileContext, around: Sequence[str]) -> tuple[str, ...] | None:
    """The requirements that a departure breaks: the step's own, those of all steps, or the case's only one."""
    possible = context.info.requirements
    if not possible or not isinstance(step, CallStep | ListStep):
        return None
    judged = around if step.judges is None else step.judges
    if step.judges is None and not judged and len(possible) == 1 and _expects(step):
        judged = possible
    for index, name in enumerate(judged):
        if name not in possible:
            message = f"the case does not say that it is about {name}{suggestion(name, possible)}"
            context.at("judges", index).report(UnknownName, message)
    if _can_fail(step):
        context.info.judged.update(judged)
    return tuple(judged)


def _define(step: Step, context: CompileContext) -> None:
    """Define the names of a step that cannot be compiled, so that the steps after it are not reported for them."""
    match step:
        case AccountStep(account=name):
            context.define(name)
            context.info.accounts.append(name)
        case NewWalletStep(new_wallet=name) | NewGroupStep(new_group=name) | NewKeyStep(new_key=name):
            context.define(name)
        case CallStep(save=names) | ListStep(save=names):
            for name in names:
                context.define(name)


def _nothing(_: CaseRun) -> None:
    """Take the place of a step that cannot be compiled. Its pack is refused."""


def _compile_action(step: Step, context: CompileContext) -> Action:
    match step:
        case CallStep():
            return compile_call(step, context)
        case ListStep():
            return compile_list(step, context)
        case _:
            return _always_setup(_compile_making(step, context))


def _compile_making(step: MakingStep, context: CompileContext) -> Action:
    match step:
        case AccountStep():
            return compile_account(step, context)
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


# ---------------------------------------------------------------------------------- what follows from a step's form


def _label_of(step: Step, where: str) -> str:
    """The label of a step in failures: `steps[3] call list_groups (lists-while-alive)`."""
    name = f" ({step.id})" if step.id else ""
    if isinstance(step, ListStep):
        return f"{where} list {step.list_}{name}"
    kind = next(kind for kind in KINDS if kind in type(step).model_fields)
    return f"{where} {kind} {getattr(step, kind)}{name}"


def _accepted_call(step: Step) -> str:
    """The call name of a step that can be the control of a refusal; empty where it can be none."""
    match step:
        case CallStep():
            return "" if step.refused is not None or step.may_be_refused is not None else step.call
        case ListStep():
            return step.list_
        case _:
            return MAKING[type(step)]


def _expects(step: Step) -> bool:
    """Whether a step states an expectation beyond the success of its call."""
    match step:
        case CallStep():
            return bool(step.expect) or step.refused is not None or step.may_be_refused is not None
        case ListStep():
            return bool(step.expect)
        case _:
            return False


def _can_fail(step: Step) -> bool:
    """Whether an answer of a node can fail the step."""
    match step:
        case CallStep():
            return bool(step.expect) or step.may_be_refused is None
        case _:
            return isinstance(step, ListStep)
