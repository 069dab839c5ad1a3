"""The step kinds `new_wallet`, `new_group` and `new_key`, with which most cases begin.

Each stands for the calls that a client makes for it, with labels of the suite's own, and is set-up wherever it stands:
cases about these calls make them with `call`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from conformance.drivers.steps.calls import (
    Action,
    Filled,
    Who,
    compile_members,
    compile_who,
    must_be_list,
    name_operation,
)
from conformance.drivers.steps.caserun import CaseRun
from conformance.language.form import Members
from conformance.language.models import NewGroupStep, NewKeyStep, NewWalletStep
from conformance.language.shapes import SCALAR, Made, Shape
from conformance.language.templates import CompileContext
from conformance.language.vocabulary import suggestion
from conformance.problems import DuplicateId, Mismatch, UnknownName
from conformance.profile import OPERATIONS
from conformance.profile.operations import GROUP_LISTS
from conformance.service.groups import Groups
from conformance.service.pkps import Pkps
from conformance.service.usage_keys import Permissions, UsageKeys
from conformance.values.json_values import printed

PERMISSIONS = tuple(field.name for field in fields(Permissions))


def compile_new_wallet(step: NewWalletStep, context: CompileContext) -> Action:
    """Compile the creation of a wallet, `{id, address}`."""
    who = _compile_maker(("create_wallet", "list_wallets"), context)
    _define(step.new_wallet, context.at("new_wallet"), Made({"id": SCALAR, "address": SCALAR}))

    def act(run: CaseRun) -> None:
        wallet = Pkps(run).create(_key(who, run))
        run.scope.variables[step.new_wallet] = {"id": wallet.id, "address": wallet.address}

    return act


def compile_new_group(step: NewGroupStep, context: CompileContext) -> Action:
    """Compile the creation of a group, `{id}`, that permits what `with` lists."""
    who = _compile_maker(("add_group", "list_groups"), context)
    members = _compile_some(step.with_, GROUP_LISTS, context.at("with"))
    _define(step.new_group, context.at("new_group"), Made({"id": SCALAR}))

    def act(run: CaseRun) -> None:
        wallets, actions = (_array(members(run), name) for name in GROUP_LISTS)
        group = Groups(run).add(_key(who, run), step.new_group, pkp_ids=wallets, cid_hashes=actions)
        run.scope.variables[step.new_group] = {"id": group.listed_id}

    return act


def compile_new_key(step: NewKeyStep, context: CompileContext) -> Action:
    """Compile the creation of a usage key that has only the permissions in `with`."""
    who = _compile_maker(("add_usage_api_key",), context)
    members = _compile_some(step.with_, PERMISSIONS, context.at("with"))
    _define(step.new_key, context.at("new_key"), SCALAR)

    def act(run: CaseRun) -> None:
        permissions = Permissions(**members(run))  # type: ignore[arg-type]  # the node judges what the pack gives
        run.scope.variables[step.new_key] = UsageKeys(run).add(_key(who, run), permissions, step.new_key).key

    return act


def _compile_maker(operations: Sequence[str], context: CompileContext) -> Who:
    """Compile whose key makes the object: the first account's. Notes the operations that this takes."""
    for operation in operations:
        name_operation(operation, context)
        if OPERATIONS[operation].items:
            must_be_list(operation, context)
    return compile_who(None, operations[0], context)


def _key(who: Who, run: CaseRun) -> str:
    key = who(run)
    if key is None:
        raise Mismatch("an account of the case before this step", "none")
    return key


def _define(name: str, context: CompileContext, shape: Shape) -> None:
    if name in context.names:
        raise context.problem(DuplicateId, f"the name {name!r} is taken")
    context.define(name, shape)


def _compile_some(raw: Members, known: Sequence[str], context: CompileContext) -> Filled:
    """Compile the members of `with`. Reports unknown ones: a case that needs others uses a `call`."""
    for name in raw:
        if name not in known:
            near = suggestion(name, known)
            context.at(name).report(
                UnknownName, f"there is no member {name!r} here{near}; there are {', '.join(known)}"
            )
    return compile_members(raw, context)


def _array(members: dict[str, object], name: str) -> list[object]:
    value = members.get(name, [])
    if not isinstance(value, list):
        raise Mismatch(f"an array as {name}", printed(value))
    return value
