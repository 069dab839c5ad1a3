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
from conformance.drivers.steps.onchain import compile_chain, compile_rpc
from conformance.drivers.steps.sending import compile_send
from conformance.drivers.steps.transactions import compile_transactions
from conformance.drivers.steps.wallets import compile_chain_account, compile_contract_wallet, compile_wallet
from conformance.language.models import (
    KINDS,
    AccountStep,
    CallStep,
    ChainStep,
    CheckStep,
    ClockStep,
    ContractWalletStep,
    Crowd,
    DryRunStep,
    LetStep,
    ListStep,
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
from conformance.service.contract import dry_run_call, send_call

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
    if len(site.faults) == faults and not any(map(_judges, form.steps)):
        site.at("steps").report(
            NothingAsserted, "no step judges anything: no call must be accepted or refused, and nothing is expected"
        )

    def program(run: CaseRun) -> None:
        try:
            setup(run)
        except Departure as problem:
            raise as_setup_failure(problem) from problem
        steps(run)

    return program


def _judges(step: Step) -> bool:
    """Whether a node can fail the step."""
    match step:
        case CallStep():
            return bool(step.expect) or (step.may_be_refused is None and step.fails != "either")
        case ListStep() | CheckStep() | DryRunStep() | SendStep():
            return True
        case RepeatStep():
            return any(map(_judges, step.repeat.steps))
        case ParallelStep():
            return isinstance(step.parallel, Crowd) or any(map(_judges, step.parallel))
        case _:
            return bool(getattr(step, "expect", None))


def as_setup_failure(problem: Departure) -> SetupFailed:
    """A departure where nothing is judged yet."""
    failure = SetupFailed(problem.expected, f"{problem.got} ({problem.cause})", problem.exchange)
    failure.step = problem.step
    return failure


def _compile_sequence(steps: Sequence[Step], site: CompileContext, where: str) -> Program:
    compiled = [compile_step(step, site.at(index), f"{where}[{index}]") for index, step in enumerate(steps)]

    def program(run: CaseRun) -> None:
        for step in compiled:
            step.run(run)

    return program


def compile_step(step: Step, site: CompileContext, where: str) -> Compiled:
    """One step of any kind. What is wrong with it is reported; its names count as defined for the steps after it."""
    label = _label(step, where)
    if step.id is not None:
        if step.id in site.facts.step_ids:
            site.at("id").report(DuplicateId, f"another step of this case has the id {step.id!r}")
        site.facts.step_ids.add(step.id)
    try:
        action = _compile_action(step, site, label)
    except LoadProblem as problem:
        site.faults.append(problem)
        _define_names(step, site)
        action = _nothing
    call = _operation(step) if _is_control(step) else ""
    if step.id is not None and call:
        site.facts.controls[step.id] = call
    return Compiled(label, step.id, call, action)


def _nothing(_: CaseRun) -> None:
    """Stands for a step that cannot be compiled; its pack is refused."""


def _define_names(step: Step, site: CompileContext) -> None:
    if isinstance(step, AccountStep) and step.account not in site.facts.accounts:
        site.facts.accounts.append(step.account)
    if isinstance(step, WalletStep | ContractWalletStep):
        site.facts.wallets.append(step.wallet if isinstance(step, WalletStep) else step.contract_wallet)
    made = [getattr(step, kind, None) for kind in ("account", "wallet", "contract_wallet")]
    computed = step.let if isinstance(step, LetStep) else {}
    collected = step.repeat.collect if isinstance(step, RepeatStep) else {}
    crowd = step.parallel.save if isinstance(step, ParallelStep) and isinstance(step.parallel, Crowd) else {}
    saved: dict[str, str] = getattr(step, "save", {})
    for name in [*filter(None, made), *computed, *collected, *crowd, *saved]:
        site.define(name)


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
        case _:
            action = _compile_on_chain(step, site)
    return action


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
            raise as_setup_failure(problem) from problem

    return act


def _is_control(step: Step) -> bool:
    if isinstance(step, CallStep):
        return step.refused is None and step.may_be_refused is None and not step.fails
    if isinstance(step, DryRunStep | SendStep):
        return not step.reverts
    return isinstance(step, AccountStep | ListStep)


def _operation(step: Step) -> str:
    match step:
        case CallStep():
            return step.call
        case ListStep():
            return step.list_
        case DryRunStep():
            return dry_run_call(step.dry_run)
        case SendStep():
            return send_call(step.send)
        case _:
            return "new_account"


def _label(step: Step, where: str) -> str:
    name = f" ({step.id})" if step.id else ""
    match step:
        case AccountStep():
            return f"{where} account {step.account}{name}"
        case CallStep() | ListStep():
            kind = "call" if isinstance(step, CallStep) else "list"
            return f"{where} {kind} {_operation(step)}{name}"
        case ChainStep():
            return f"{where} chain {step.chain}{name}"
        case RpcStep():
            return f"{where} rpc {step.rpc}{name}"
        case DryRunStep() | SendStep():
            return f"{where} {_operation(step)}{name}"
        case _:
            kind = next(kind for kind in KINDS if kind in type(step).model_fields)
            return f"{where} {kind}{name}"
