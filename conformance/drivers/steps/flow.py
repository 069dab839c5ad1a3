"""The step kinds that send nothing themselves: `let`, `check` and `repeat`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence

from pydantic import JsonValue

from conformance.drivers.steps.calls import Action
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.expectations import mismatch
from conformance.language.functions import FUNCTIONS, PREPARATIONS, Function
from conformance.language.matchers import compile_matcher
from conformance.language.models import CheckStep, LetStep, Repeat
from conformance.language.rows import compile_row, define_rows
from conformance.language.scope import Scope
from conformance.language.shapes import ANYTHING, SCALAR, Shape
from conformance.language.templates import REFERENCE, CompileContext, Template, compile_value, shape_of
from conformance.problems import BadShape, Departure, Mismatch, SetupFailed, StepProblem, UnknownName
from conformance.values.json_values import printed

JUDGES = "judges"
"""The member of a row that limits its round to some of the case's requirements."""
SCALARS = frozenset({"str", "int", "bool"})
"""Return annotations of functions whose value has no members."""


def compile_let(step: LetStep, context: CompileContext) -> Action:
    """Compile computed variables, in order."""
    values: list[tuple[str, Template]] = []
    for name, raw in step.let.items():
        values.append((name, _compile_computed(raw, context.at("let", name))))
        context.define(name, _shape_computed(raw, context))

    def act(run: CaseRun) -> None:
        for name, template in values:
            run.scope.variables[name] = template(run.scope)

    return act


def _compile_computed(raw: JsonValue, context: CompileContext) -> Template:
    if not isinstance(raw, dict) or len(raw) != 1:
        return compile_value(raw, context)
    ((name, argument),) = raw.items()
    function = FUNCTIONS.get(name)
    if function is None:
        raise context.at(name).problem(
            UnknownName,
            f"no function is called {name!r}; there are {', '.join(sorted(FUNCTIONS))}",
        )
    arguments = argument if isinstance(argument, list) else [] if argument is None else [argument]
    try:
        inspect.signature(function).bind(None, *arguments)
    except TypeError as problem:
        raise context.at(name).problem(BadShape, f"{name} cannot take {len(arguments)} arguments: {problem}") from None
    if name in PREPARATIONS:
        PREPARATIONS[name](arguments, context.at(name))
    templates = [_compile_argument(item, context.at(name, index)) for index, item in enumerate(arguments)]
    return lambda scope: _called(name, function, scope, [template(scope) for template in templates])


def _shape_computed(raw: JsonValue, context: CompileContext) -> Shape:
    if not isinstance(raw, dict) or len(raw) != 1:
        return shape_of(raw, context)
    function = FUNCTIONS.get(next(iter(raw)))
    returned = inspect.signature(function).return_annotation if function else None
    return SCALAR if returned in SCALARS else ANYTHING


def _called(name: str, function: Function, scope: Scope, arguments: list[object]) -> object:
    try:
        return function(scope, *arguments)
    except (TypeError, ValueError, OverflowError) as problem:
        raise Mismatch(f"values that {name} can take", f"{printed(arguments)[:200]}: {problem}") from problem


def _compile_argument(raw: JsonValue, context: CompileContext) -> Template:
    """Compile an argument, which may itself be computed: `{hashed_cid: {sample_cid: one}}`."""
    if isinstance(raw, dict) and len(raw) == 1 and raw.keys() <= FUNCTIONS.keys():
        return _compile_computed(raw, context)
    return compile_value(raw, context)


def compile_check(step: CheckStep, context: CompileContext) -> Action:
    """Compile a comparison of a value with matchers."""
    raw = dict(step.check)
    if "that" not in raw:
        raise context.at("check").problem(BadShape, "a check needs `that`")
    that = raw.pop("that")
    value, shape = compile_value(that, context.at("check", "that")), shape_of(that, context)
    why = raw.pop("why", "")
    named = f"`{that[2:-1]}`" if isinstance(that, str) and REFERENCE.fullmatch(that) else ""
    if not raw:
        raise context.at("check").problem(BadShape, "a check needs a matcher beside `that`")
    matcher = compile_matcher(raw, context.at("check").of(shape))

    def act(run: CaseRun) -> None:
        difference = matcher(value(run.scope), run.scope)
        if difference:
            raise mismatch(difference, run.last_exchange, printed(why), of=named)

    return act


def compile_repeat(
    form: Repeat, context: CompileContext, compile_steps: Callable[[CompileContext], Callable[[CaseRun], None]]
) -> Action:
    """Compile steps that run several times in sequence; `${index}` counts from 0.

    A failure in the round of a row ends only that round: the rows after it run, and every failure is reported.
    """
    inside = context.at("repeat")
    narrowed = [_judged_in_row(row, inside.at("each", index)) for index, row in enumerate(form.each or [])]
    rounds = _compile_rounds(form, inside)
    body = compile_steps(inside.at("steps"))

    def act(run: CaseRun) -> None:
        failures: list[Departure] = []
        blocked: StepProblem | None = None
        for index, row in enumerate(rounds(run.scope)):
            run.scope.variables["index"] = index
            for name, template in row.items():
                run.scope.variables[name] = template(run.scope)
            try:
                with run.judging(narrowed[index] if narrowed else None):
                    body(run)
            except StepProblem as problem:
                problem.step = f"{problem.step}, round {form.each[index]['id'] if form.each else index}"
                if isinstance(problem, Departure) and problem.judged:
                    failures.append(problem)
                else:
                    blocked = blocked or problem
                run.unchanged.forget()
                # Rows are independent of each other. Rounds of `times` may build on those before, and where the node
                # cannot be reached no other row gets further.
                if not form.each or not isinstance(problem, Departure | SetupFailed):
                    break
        # What a row shows of the node counts, whether or not another one could not be prepared.
        if failures:
            raise Departure.first_of(failures)
        if blocked:
            raise blocked

    return act


def _judged_in_row(row: Mapping[str, JsonValue], context: CompileContext) -> frozenset[str] | None:
    """The requirements to which a row limits its round; None: the row does not limit them."""
    named = row.get(JUDGES)
    if named is None:
        return None
    if not isinstance(named, list) or not named:
        raise context.at(JUDGES).problem(BadShape, "`judges` of a row is an array of requirements")
    for index, name in enumerate(named):
        if name not in context.info.requirements:
            message = f"the case does not say that it is about {name}"
            context.at(JUDGES, index).report(UnknownName, message)
    return frozenset(map(str, named))


def _compile_rounds(form: Repeat, context: CompileContext) -> Callable[[Scope], Sequence[dict[str, Template]]]:
    """Compile the variables of each round: only `index` for `times`, the row's members for `each`."""
    if (form.times is None) == (form.each is None):
        raise context.problem(BadShape, "a repeat has either `times` or `each`")
    if form.each is None:
        times = compile_value(form.times, context.at("times"))
        context.define("index", SCALAR)
        return lambda scope: [{}] * _count(times(scope))
    each = [{name: value for name, value in row.items() if name != JUDGES} for row in form.each]
    rows = [compile_row(row, context.at("each", index)) for index, row in enumerate(each)]
    define_rows(each, context.at("each"))
    context.define("index", SCALAR)
    return lambda _: rows


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 10_000:
        raise Mismatch("a whole number of times", printed(value))
    return value
