"""The step kind `call` with what must come of it: acceptance, or a refusal held against its control."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from conformance.drivers.steps.calls import (
    Builder,
    as_members,
    compile_request,
    compile_who,
    must_be_list,
    name_operation,
)
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.expectations import Expectations, compile_expectations
from conformance.drivers.steps.lists import read_pages
from conformance.drivers.steps.onchain import compile_view
from conformance.drivers.steps.refusals import CLASSES, Refusal, must_accept, must_refuse, refusal
from conformance.drivers.steps.run_failures import check_fails, failed, must_fail, must_not_fail
from conformance.endpoints.client import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.language.models import CallStep, Refused, UnchangedRead
from conformance.language.templates import CompileContext, compile_value
from conformance.language.vocabulary import writes
from conformance.problems import BadShape, ControlNotAccepted, RefusalUnproven, StateChanged
from conformance.profile import OPERATIONS
from conformance.values.json_values import printed_json, same

Judge = Callable[[CaseRun], Answer]
Awaited = Callable[[CaseRun], Refusal | None]
Read = Callable[[CaseRun], object]
Reads: TypeAlias = tuple[tuple[str, Read], ...]
SHOWN = 400


@dataclass(frozen=True)
class Proof:
    """What makes a refusal worth something."""

    control: str
    reads: Reads


def compile_call(step: CallStep, site: CompileContext) -> Judge:
    """One request, and what must come of it."""
    build = compile_request(step, step.call, site)
    if step.refused is not None and step.may_be_refused is not None:
        raise site.at("may_be_refused").problem(BadShape, "a step is `refused` or `may_be_refused`, not both")
    check_fails(step, site)
    if step.refused is None:
        return _lenient(step, build, site)
    proof = _compile_proof(step, site)
    awaited = _compile_refused(step.refused, site.at("refused"))
    expectations = compile_expectations(step.expect, step.save, site)

    def judge(run: CaseRun) -> Answer:
        wanted = awaited(run)
        if wanted is None:
            return _accepted(run.send(build(run)), expectations, run)
        if proof.control not in run.accepted:
            raise ControlNotAccepted(f"that {proof.control} was accepted", "it was not, or did not run")
        return _refused(build(run), wanted, proof, expectations, run)

    return judge


def _lenient(step: CallStep, build: Builder, site: CompileContext) -> Judge:
    for name in ("control", "unchanged"):
        if getattr(step, name) is not None:
            raise site.at(name).problem(BadShape, f"`{name}` stands beside `refused` only")
    awaited: Awaited = lambda _: None  # noqa: E731 - the default of a function-valued name
    if step.may_be_refused is not None:
        awaited = _compile_refused(step.may_be_refused, site.at("may_be_refused"))
    expectations = compile_expectations(step.expect, step.save, site)
    of_refusal = expectations.around_the_body()
    fails = step.fails

    def judge(run: CaseRun) -> Answer:
        answer = run.send(build(run))
        if fails is True or (fails and failed(answer, run.target.profile)):
            must_fail(answer, run.target.profile)
            return _as_expected(answer, expectations, run)
        wanted = awaited(run)
        if wanted is None or answer.accepted:
            return _accepted(answer, expectations, run)
        must_refuse(answer, wanted, run)
        return _as_expected(answer, of_refusal, run)

    return judge


def _accepted(answer: Answer, expectations: Expectations, run: CaseRun) -> Answer:
    must_accept(answer)
    must_not_fail(answer, run.target.profile)
    return _as_expected(answer, expectations, run)


def _as_expected(answer: Answer, expectations: Expectations, run: CaseRun) -> Answer:
    expectations.judge(answer.at, run.scope, answer.exchange)
    expectations.keep(answer.at, run.scope, answer.exchange)
    return answer


def _refused(
    wanted: OutgoingRequest, awaited: Refusal, proof: Proof, expectations: Expectations, run: CaseRun
) -> Answer:
    before = [read(run) for _, read in proof.reads]
    answer = run.send(wanted)
    must_refuse(answer, awaited, run)
    _as_expected(answer, expectations, run)
    must_be_unchanged(run, proof.reads, before, answer.exchange)
    return answer


def must_be_unchanged(run: CaseRun, reads: Reads, before: Sequence[object], exchange: int) -> None:
    """Raise StateChanged for the first read that gives something else than before."""
    for (name, read), earlier in zip(reads, before, strict=True):
        later = read(run)
        if not same(earlier, later):
            raise StateChanged(
                f"{name} as before the request: {printed_json(earlier)[:SHOWN]}",
                printed_json(later)[:SHOWN],
                exchange,
            )


def _compile_refused(raw: Refused, site: CompileContext) -> Awaited:
    if isinstance(raw, list):
        return lambda run: refusal(tuple(raw), run.target.profile)
    if raw in CLASSES:
        return lambda run: refusal((raw,), run.target.profile)
    template = compile_value(raw, site)

    def stated(run: CaseRun) -> Refusal | None:
        value = str(template(run.scope))
        return refusal((value,), run.target.profile) if value in CLASSES else None

    return stated


def _compile_proof(step: CallStep, site: CompileContext) -> Proof:
    if step.control is None:
        raise site.problem(RefusalUnproven, f"a refused {step.call} needs a `control`")
    operation = site.facts.controls.get(step.control)
    if operation is None:
        earlier = ", ".join(name for name, called in site.facts.controls.items() if called == step.call) or "none"
        raise site.at("control").problem(
            RefusalUnproven,
            f"{step.control!r} is no earlier step that must be accepted; of {step.call} there is {earlier}",
        )
    if operation != step.call:
        raise site.at("control").problem(
            RefusalUnproven, f"{step.control!r} calls {operation}, not {step.call}: it proves nothing about it"
        )
    if step.unchanged is None and writes(step.call):
        raise site.problem(RefusalUnproven, f"{step.call} writes: its refusal needs `unchanged`")
    if step.unchanged == [] and writes(step.call):
        raise site.at("unchanged").problem(RefusalUnproven, "`unchanged` names no read")
    return Proof(step.control, compile_reads(step.unchanged or [], site))


def compile_reads(entries: Sequence[str | UnchangedRead], site: CompileContext) -> Reads:
    """The reads that `unchanged` names, each with its name."""
    return tuple(_compile_read(entry, site.at("unchanged", index)) for index, entry in enumerate(entries))


def _compile_read(entry: str | UnchangedRead, site: CompileContext) -> tuple[str, Read]:
    if isinstance(entry, UnchangedRead) and entry.chain is not None:
        return _compile_view(entry, entry.chain, site)
    if isinstance(entry, str):
        name, who_raw, with_raw = entry, None, UnchangedRead().with_
    else:
        name, who_raw, with_raw = _read_name(entry, site), entry.as_, entry.with_
    name_operation(name, site)
    paged = bool(OPERATIONS[name].items)
    if paged or (isinstance(entry, UnchangedRead) and entry.list_):
        must_be_list(name, site)
    if writes(name):
        raise site.problem(RefusalUnproven, f"{name} writes: it cannot show that nothing changed")
    who, members = compile_who(who_raw, name, site), compile_value(with_raw, site.at("with"))

    def read(run: CaseRun) -> object:
        wanted = OutgoingRequest(run.target.operation(name), who(run), members=as_members(members(run.scope)))
        if paged:
            return read_pages(run, wanted)
        answer = run.send(wanted)
        must_accept(answer)
        return answer.value

    return name, read


def _compile_view(entry: UnchangedRead, name: str, site: CompileContext) -> tuple[str, Read]:
    if entry.list_ or entry.call or entry.as_ or not isinstance(entry.with_, list):
        raise site.problem(BadShape, "a `chain` of `unchanged` has a list of arguments as `with`, and nothing else")
    site.facts.needs.add("chain_rpc")
    view = compile_view(name, site.at("chain"))
    arguments = [compile_value(raw, site.at("with", index)) for index, raw in enumerate(entry.with_)]

    def read(run: CaseRun) -> object:
        run.settle()
        return view(run, [template(run.scope) for template in arguments])

    return name, read


def _read_name(entry: UnchangedRead, site: CompileContext) -> str:
    names = [name for name in (entry.list_, entry.call) if name]
    if len(names) != 1:
        raise site.problem(BadShape, "an entry of `unchanged` has either `list`, `call` or `chain`")
    return names[0]
