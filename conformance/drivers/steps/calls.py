"""The step kinds that send requests of the service: `account`, `call` and `list`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from pydantic import JsonValue

from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.expectations import compile_expectations
from conformance.endpoints.requests import OutgoingRequest
from conformance.language.making_steps import AccountStep
from conformance.language.models import CallStep, ListStep, Request
from conformance.language.scope import Account
from conformance.language.shapes import Object
from conformance.language.templates import CompileContext, Template, compile_value, shape_of
from conformance.language.vocabulary import suggestion, takes_credential
from conformance.problems import BadShape, DuplicateId, Mismatch, UnknownName
from conformance.profile import OPERATIONS
from conformance.service.accounts import Accounts
from conformance.service.lists import list_as_read, unchanged_list
from conformance.service.pkps import wallet_labels
from conformance.values.json_text import written
from conformance.values.json_values import printed

Action: TypeAlias = Callable[[CaseRun], object]
"""Runs a step. Raises StepProblem."""
Builder: TypeAlias = Callable[[CaseRun], OutgoingRequest]
Who: TypeAlias = Callable[[CaseRun], str | None]
NOBODY = "nobody"


def compile_account(step: AccountStep, context: CompileContext) -> Action:
    """Compile the creation of an account. Its name becomes a variable."""
    if step.account in context.names or step.account == NOBODY:
        raise context.at("account").problem(DuplicateId, f"the name {step.account!r} is taken")
    name_operation("new_account", context)
    members = compile_members_of("new_account", step.with_, context.at("with"))
    context.define(step.account, context.vocabulary.answers["new_account"])
    context.info.accounts.append(step.account)

    def act(run: CaseRun) -> None:
        description = f"{step.account} of a conformance case"
        made = Accounts(run).new(description, as_members(members(run.scope)))
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
        request = build(run)
        if run.repeats_reads:
            items = run.recent_reads.ask(list_as_read(run, request))
        else:
            items = run.recent_reads.latest(unchanged_list(run, step.list_, request.credential, **request.members))
        expectations.check(items, run)

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
    extra = compile_value(dict(step.extra), context.at("extra"))
    body = _compile_body(step, context)
    method, path = (step.method, step.path) if isinstance(step, CallStep) else (None, None)
    path_template = compile_value(path, context.at("path"))

    def build(run: CaseRun) -> OutgoingRequest:
        scope = run.scope
        served = run.target.operation(operation)
        filled = as_members(members(scope))
        if operation == "create_wallet":
            filled = wallet_labels(served, run.label) | filled
        other_path = path_template(scope)
        return OutgoingRequest(
            operation=served,
            credential=who(run),
            members=filled | as_members(extra(scope)),
            body=body(run),
            method=method,
            path=None if other_path is None else printed(other_path),
        )

    return build


def compile_members_of(operation: str, raw: JsonValue, context: CompileContext) -> Template:
    """Compile the members of a request. Reports members that the operation does not have."""
    template, shape = compile_value(raw, context), shape_of(raw, context)
    if isinstance(shape, Object):
        _check_members(shape.members, operation, context)
    return template


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


def _compile_body(step: Request, context: CompileContext) -> Callable[[CaseRun], str | None]:
    if not isinstance(step, CallStep) or step.body is None:
        return lambda _: None
    if step.with_ or step.extra:
        raise context.at("body").problem(BadShape, "`body` stands instead of `with` and `extra`, not beside them")
    forms = step.body.model_fields_set
    if len(forms) != 1:
        raise context.at("body").problem(BadShape, "a body is either {raw: text} or {json: value}")
    if "raw" in forms:
        text = compile_value(step.body.raw, context.at("body", "raw"))
        return lambda run: printed(text(run.scope))
    value = compile_value(step.body.json_, context.at("body", "json"))
    return lambda run: written(value(run.scope))


def as_members(value: object) -> dict[str, object]:
    """The value of a compiled `with` as members. Raises Mismatch for any other value."""
    if not isinstance(value, dict):
        raise Mismatch("an object as `with`", printed(value))
    return value
