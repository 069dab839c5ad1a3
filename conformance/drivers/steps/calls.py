"""The step kinds that send requests of the service: `account`, `call` and `list`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.expectations import compile_expectations
from conformance.endpoints.requests import OutgoingRequest
from conformance.language.form import Members
from conformance.language.models import AccountStep, ListStep, Request
from conformance.language.scope import Account
from conformance.language.templates import CompileContext, compile_value
from conformance.language.vocabulary import suggestion, takes_credential
from conformance.problems import BadShape, DuplicateId, UnknownName
from conformance.profile import OPERATIONS
from conformance.service.accounts import Accounts
from conformance.service.lists import list_as_read
from conformance.service.pkps import wallet_labels
from conformance.values.json_values import printed

Action: TypeAlias = Callable[[CaseRun], object]
"""Runs a step. Raises StepProblem."""
Builder: TypeAlias = Callable[[CaseRun], OutgoingRequest]
Who: TypeAlias = Callable[[CaseRun], str | None]
Filled: TypeAlias = Callable[[CaseRun], dict[str, object]]
"""Fills the variables of a request's members."""
NOBODY = "nobody"


def compile_account(step: AccountStep, context: CompileContext) -> Action:
    """Compile the creation of an account. Its name becomes a variable."""
    if step.account in context.names or step.account == NOBODY:
        raise context.at("account").problem(DuplicateId, f"the name {step.account!r} is taken")
    name_operation("new_account", context)
    context.define(step.account, context.vocabulary.answers["new_account"])
    context.info.accounts.append(step.account)

    def act(run: CaseRun) -> None:
        made = Accounts(run).new(f"{step.account} of a conformance case")
        run.scope.variables[step.account] = Account(made.answer)

    return act


def compile_list(step: ListStep, context: CompileContext) -> Action:
    """Compile a request for every page of a list."""
    build = compile_request(step, step.list_, context)
    must_be_list(step.list_, context.at("list"))
    expectations = compile_expectations(
        step.expect, step.save, context, step.list_, context.vocabulary.answers[step.list_]
    )

    def act(run: CaseRun) -> None:
        expectations.check(run.recent_reads.ask(list_as_read(run, build(run))), run)

    return act


def must_be_list(operation: str, context: CompileContext) -> None:
    """Raise BadShape unless the operation is a list; note that the profile has to state its paging."""
    if not OPERATIONS[operation].items:
        raise context.problem(BadShape, f"{operation} is no list")
    context.info.uses.add("wire.paging.first_page_number")


def name_operation(operation: str, context: CompileContext) -> None:
    """Note that the case uses an operation. Raises UnknownName."""
    if operation not in context.vocabulary.operations:
        raise context.problem(
            UnknownName,
            f"no operation is called {operation!r}; there are {', '.join(sorted(context.vocabulary.operations))}",
        )
    context.info.operations.add(operation)


def compile_request(step: Request, operation: str, context: CompileContext) -> Builder:
    """A function that builds the step's request each time the step runs."""
    name_operation(operation, context.at("list" if isinstance(step, ListStep) else "call"))
    who = compile_who(step.as_, operation, context.at("as"))
    members = compile_members_of(operation, step.with_, context.at("with"))
    extra = compile_members(step.extra, context.at("extra"))

    def build(run: CaseRun) -> OutgoingRequest:
        served = run.target.operation(operation)
        labels = wallet_labels(served, run.label) if operation == "create_wallet" else {}
        return OutgoingRequest(served, who(run), members=labels | members(run) | extra(run))

    return build


def compile_members_of(operation: str, raw: Members, context: CompileContext) -> Filled:
    """Compile the members of a request. Reports members that the operation does not have."""
    _check_members(raw, operation, context)
    return compile_members(raw, context)


def compile_members(raw: Members, context: CompileContext) -> Filled:
    """Compile members of any name."""
    templates = {name: compile_value(value, context.at(name)) for name, value in raw.items()}
    return lambda run: {name: template(run.scope) for name, template in templates.items()}


def _check_members(names: Iterable[str], operation: str, context: CompileContext) -> None:
    known = context.vocabulary.requests[operation]
    for name in names:
        if name not in known:
            names_known = ", ".join(sorted(known)) or "none"
            near = suggestion(name, known)
            context.at(name).report(
                UnknownName,
                f"{operation} has no member {name!r}{near}; it has {names_known} (to send others use `extra`)",
            )


def compile_who(raw: str | None, operation: str, context: CompileContext) -> Who:
    """Compile whose credential a request carries."""
    if raw is None:
        accounts = context.info.accounts
        raw = accounts[0] if accounts and takes_credential(operation) else NOBODY
    if raw == NOBODY:
        return lambda _: None
    if raw in context.info.accounts:
        return lambda run: run.account_key(raw)
    if "${" not in raw:
        known = ", ".join([*context.info.accounts, NOBODY])
        raise context.problem(
            UnknownName, f"no account is called {raw!r}; there are {known}, and keys in ${{variables}}"
        )
    template = compile_value(raw, context)
    return lambda run: printed(template(run.scope))
