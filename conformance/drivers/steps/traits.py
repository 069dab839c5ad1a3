"""What follows from a step's form alone: its label, its call, whether it expects something, the names it defines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from conformance.language.making_steps import AccountStep, NewGroupStep, NewKeyStep, NewWalletStep
from conformance.language.models import (
    KINDS,
    CallStep,
    CheckStep,
    LetStep,
    ListStep,
    RepeatStep,
    Step,
)

MAKING: Mapping[type[object], str] = {
    AccountStep: "new_account",
    NewWalletStep: "create_wallet",
    NewGroupStep: "add_group",
    NewKeyStep: "add_usage_api_key",
}
"""The operation that each step kind calls to make its object."""


def label_of(step: Step, where: str) -> str:
    """The label of a step in failures: `steps[3] call list_groups (lists-while-alive)`."""
    name = f" ({step.id})" if step.id else ""
    if isinstance(step, ListStep):
        return f"{where} list {step.list_}{name}"
    kind = next(kind for kind in KINDS if kind in type(step).model_fields)
    value = getattr(step, kind)
    return f"{where} {kind}{f' {value}' if isinstance(value, str) else ''}{name}"


def accepted_call(step: Step) -> str:
    """The call name of a step that can be the control of a refusal; empty where it can be none."""
    match step:
        case CallStep():
            return "" if step.refused is not None or step.may_be_refused is not None or step.fails else step.call
        case ListStep():
            return step.list_
        case _:
            return MAKING.get(type(step), "")


def expects(step: Step) -> bool:
    """Whether a step states an expectation beyond the success of its call."""
    match step:
        case CallStep():
            is_stated = step.expect or step.refused is not None or step.may_be_refused is not None
            return bool(is_stated) or step.fails is not False
        case CheckStep():
            return True
        case _:
            return bool(getattr(step, "expect", None))


def can_fail(step: Step) -> bool:
    """Whether an answer of a node can fail the step."""
    match step:
        case CallStep():
            return bool(step.expect) or (step.may_be_refused is None and step.fails != "either")
        case ListStep() | CheckStep():
            return True
        case RepeatStep():
            return any(map(can_fail, step.repeat.steps))
        case _:
            return bool(getattr(step, "expect", None))


def steps_in(steps: Sequence[Step]) -> Iterator[Step]:
    """The steps and the steps inside them."""
    for step in steps:
        yield step
        if isinstance(step, RepeatStep):
            yield from steps_in(step.repeat.steps)


def names_defined(step: Step) -> Iterator[str]:
    """The variables that the step itself defines for the steps after it."""
    match step:
        case AccountStep(account=name):
            yield name
        case NewGroupStep(new_group=name) | NewKeyStep(new_key=name):
            yield name
        case NewWalletStep(new_wallet=names):
            yield from [names] if isinstance(names, str) else names
        case LetStep():
            yield from step.let
        case _:
            yield from getattr(step, "save", {})
