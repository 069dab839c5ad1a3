"""The driver `steps`: set-up, then the matter itself, step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from conformance.drivers.steps.call_step import compile_call
from conformance.drivers.steps.calls import Action, compile_account, compile_list
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.clock import compile_clock
from conformance.drivers.steps.dryrun import compile_dry_run
from conformance.drivers.steps.flow import compile_check, compile_crowd, compile_let, compile_parallel, compile_repeat
from conformance.drivers.steps.making import compile_new_group, compile_new_key, compile_new_wallet
from conformance.drivers.steps.onchain import compile_chain, compile_rpc
from conformance.drivers.steps.sending import compile_send
from conformance.drivers.steps.traits import accepted_call, judges, label_of, names_defined
from conformance.drivers.steps.transactions import compile_transactions
from conformance.drivers.steps.wallets import compile_chain_account, compile_contract_wallet, compile_wallet
from conformance.language.models import (
    AccountStep,
    CallStep,
    ChainStep,
    CheckStep,
    ClockStep,
    ContractWalletStep,
    DryRunStep,
    LetStep,
    ListStep,
    NewGroupStep,
    NewKeyStep,
    NewWalletStep,
    ParallelStep,
    RepeatStep,
    RpcStep,
    SendStep,
    Step,
    SteppedCase,
    TransactionsStep,
    WalletStep,
)
from conformance.language.templates import CompileContext
from conformance.problems import Departure, DuplicateId, LoadProblem, NothingAsserted, SetupFailed, StepProblem
from conformance.service.acceptance import Accepted

Program = Callable[[CaseRun], None]


@dataclass(frozen=True)
class Compiled:
    """A step that is ready to run."""

    label: str
    """`steps[3] call list_groups (lists-while-alive)`."""
    id: str | None
    call: str
    """By which its refusals name it as their control; empty where it can be none."""
    action: Action

    def run(self, run: CaseRun) -> object:
        """Do it. A problem learns which step it came from."""
        try:
            result = self.action(run)
        except StepProblem as problem:
            problem.step = problem.step or self.label
            raise
        if self.id and self.call:
            run.accepted[self.id] = Accepted(self.call)
        return result


def compile_case(form: SteppedCase, site: CompileContext) -> Program:
    """The whole case. Raises LoadProblem with file and line for whatever cannot work."""
    faults = len(site.faults)
    setup = _compile_sequence(form.setup, site.at("setup"), "setup")
    steps = _compile_sequence(form.steps, site.at("steps"), "steps")
    if len(site.faults) == faults and not any(map(judges, form.steps)):
        site.at("steps").report(
            NothingAsserted, "no step judges anything: no call must be accepted or refused, and nothing is expected"
        )

    def program(run: CaseRun) -> None:
        try:
            setup(run)
        except Departure as problem:
            raise SetupFailed.of(problem) from problem
        steps(run)

    return program


def _compile_sequence(steps: Sequence[Step], site: CompileContext, where: str) -> Program:
    compiled = [compile_step(step, site.at(index), f"{where}[{index}]") for index, step in enumerate(steps)]

    def program(run: CaseRun) -> None:
        for step in compiled:
            step.run(run)

    return program


def compile_step(step: Step, site: CompileContext, where: str) -> Compiled:
    """One step of any kind. What is wrong with it is reported; its names count as defined for the steps after it."""
    label = label_of(step, where)
    if step.id is not None:
        if step.id in site.facts.step_ids:
            site.at("id").report(DuplicateId, f"another step of this case has the id {step.id!r}")
        site.facts.step_ids.add(step.id)
    try:
        action = _compile_action(step, site, label)
    except LoadProblem as problem:
        site.faults.append(problem)
        _define(step, site)
        action = _nothing
    call = accepted_call(step)
    if step.id is not None and call:
        site.facts.controls[step.id] = call
    return Compiled(label, step.id, call, action)


def _define(step: Step, site: CompileContext) -> None:
    """Let the steps after a step that cannot be compiled use its names."""
    for name in names_defined(step):
        site.define(name)
        if isinstance(step, AccountStep) and name not in site.facts.accounts:
            site.facts.accounts.append(name)
        if isinstance(step, WalletStep | ContractWalletStep):
            site.facts.wallets.append(name)


def _nothing(_: CaseRun) -> None:
    """Stands for a step that cannot be compiled; its pack is refused."""


def _compile_action(step: Step, site: CompileContext, label: str) -> Action:
    action: Action
    match step:
        case AccountStep():
            account = compile_account if step.chain_secured is None else compile_chain_account
            action = _always_setup(account(step, site))
        case CallStep():
            action = compile_call(step, site)
        case ListStep():
            action = compile_list(step, site)
        case LetStep():
            action = compile_let(step, site)
        case CheckStep():
            action = compile_check(step, site)
        case RepeatStep():
            body = step.repeat.steps
            action = compile_repeat(step.repeat, site, lambda inside: _compile_sequence(body, inside, label))
        case ParallelStep():
            action = _compile_parallel(step, site, label)
        case NewWalletStep() | NewGroupStep() | NewKeyStep():
            action = _always_setup(_compile_making(step, site))
        case _:
            action = _compile_on_chain(step, site)
    return action


def _compile_making(step: NewWalletStep | NewGroupStep | NewKeyStep, site: CompileContext) -> Action:
    match step:
        case NewWalletStep():
            return compile_new_wallet(step, site)
        case NewGroupStep():
            return compile_new_group(step, site)
        case NewKeyStep():
            return compile_new_key(step, site)


def _compile_on_chain(
    step: ChainStep | RpcStep | DryRunStep | TransactionsStep | WalletStep | ContractWalletStep | SendStep | ClockStep,
    site: CompileContext,
) -> Action:
    match step:
        case WalletStep() | ContractWalletStep() | SendStep() | ClockStep():
            return _compile_own(step, site)
        case ChainStep():
            return compile_chain(step, site)
        case RpcStep():
            return compile_rpc(step, site)
        case DryRunStep():
            return compile_dry_run(step, site)
        case TransactionsStep():
            return compile_transactions(step, site)


def _compile_own(step: WalletStep | ContractWalletStep | SendStep | ClockStep, site: CompileContext) -> Action:
    """What the suite does with wallets of its own, and with time."""
    match step:
        case WalletStep():
            return _always_setup(compile_wallet(step, site))
        case ContractWalletStep():
            return _always_setup(compile_contract_wallet(step, site))
        case SendStep():
            return compile_send(step, site)
        case ClockStep():
            return compile_clock(step, site)


def _compile_parallel(step: ParallelStep, site: CompileContext, label: str) -> Action:
    if isinstance(step.parallel, list):
        return compile_parallel(_compile_branches(step.parallel, site.at("parallel"), label))
    call = step.parallel.step
    return compile_crowd(step.parallel, site, lambda inside: compile_call(call, inside))


def _compile_branches(steps: Sequence[Step], site: CompileContext, label: str) -> list[Action]:
    """Steps at the same time see neither each other's variables nor each other as controls."""
    controls = dict(site.facts.controls)
    branches = [site.at(index).apart() for index in range(len(steps))]
    actions: list[Action] = []
    later: dict[str, str] = {}
    for index, step in enumerate(steps):
        actions.append(compile_step(step, branches[index], f"{label}[{index}]").run)
        site.names.update(branches[index].names)
        site.shapes.update(branches[index].shapes)
        later |= site.facts.controls
        site.facts.controls.clear()
        site.facts.controls.update(controls)
    site.facts.controls.update(later)
    return actions


def _always_setup(action: Action) -> Action:
    def act(run: CaseRun) -> object:
        try:
            return action(run)
        except Departure as problem:
            raise SetupFailed.of(problem) from problem

    return act
