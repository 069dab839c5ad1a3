"""Builds the results of a run from its record."""

from __future__ import annotations

import hashlib
import json
import platform
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from itertools import groupby

from pydantic import JsonValue

from conformance.report.case_text import rerun
from conformance.report.causes import causes
from conformance.report.judgement import Judged, Judgement, judge
from conformance.report.profile_used import profile_used, without_secrets
from conformance.report.record import RunRecord
from conformance.report.results import (
    AssumedKey,
    CaseResult,
    CauseResult,
    CellResult,
    FailureShown,
    RequirementResult,
    Results,
    Specification,
    Spent,
    Suite,
    TargetJudged,
    Totals,
)
from conformance.requirements import Catalogue, Uncovered, catalogue, statuses, uncovered
from conformance.requirements.specification import specification_file
from conformance.verdict import CellOutcome, CellVerdict, ExitCode, Outcome, Verdict


def results_of(run: RunRecord, known: Catalogue | None = None, listed: Uncovered | None = None) -> Results:
    """The results of a run, judged by the shipped catalogue unless another is given."""
    checked = statuses(known or catalogue(), uncovered() if listed is None else listed, run.checks)
    judged = judge(checked, run.outcomes)
    code = exit_code(run)
    return Results(
        conforms=code is ExitCode.CONFORMS,
        exit_code=code,
        sentence=_sentence(run, code, judged),
        suite=Suite(version=version("service-conformance")),
        specification=_specification(),
        profile=profile_used(run.profile_source, run.profile),
        target=TargetJudged(base_url=without_secrets(run.base_url), bundled=run.bundled),
        seed=run.seed,
        environment=f"Python {platform.python_version()}, {platform.system()} {platform.machine()}",
        selected=run.selected,
        quick=run.quick,
        started=run.started,
        finished=run.finished,
        resumed=run.resumed,
        interrupted=run.interrupted,
        faults=run.faults,
        assumed=_assumed(_by_name(run)),
        evidence=run.evidence,
        totals=_totals(run, judged),
        causes=tuple(CauseResult.model_validate(asdict(cause)) for cause in causes(run.outcomes)),
        requirements=tuple(map(_requirement, judged)),
        cases=tuple(_case(run, outcome) for outcome in _by_name(run)),
    )


def _assumed(outcomes: Iterable[Outcome]) -> tuple[AssumedKey, ...]:
    """The assumed keys that inconclusive cases depend on.

    Of the several keys of a case that is the one that explains it; else one that explains another case; else the first.
    """
    hanging = [outcome for outcome in outcomes if outcome.assumed and outcome.failure is not None]
    hanging.sort(key=lambda outcome: not outcome.explains)
    by_key: dict[str, list[Outcome]] = {outcome.explains: [] for outcome in hanging if outcome.explains}
    for outcome in hanging:
        key = outcome.explains or next((key for key in by_key if key in outcome.assumed), "")
        by_key.setdefault(key or next(iter(outcome.assumed)), []).append(outcome)
    return tuple(
        AssumedKey(
            key=key,
            explains=any(outcome.explains for outcome in members),
            value=_plain(members[0].assumed[key]),
            expected=members[0].failure.expected if members[0].failure else "",
            got=members[0].failure.got if members[0].failure else "",
            cases=tuple(outcome.case for outcome in members),
        )
        for key, members in by_key.items()
    )


def _plain(value: object) -> JsonValue:
    """A profile value as a JSON value."""
    converted: JsonValue = json.loads(json.dumps(value, default=str))
    return converted


def exit_code(run: RunRecord) -> ExitCode:
    """The exit code of the run."""
    return exit_code_of(
        (outcome.verdict for outcome in run.outcomes), run.faults, run.interrupted or run.unwritten, crashed=run.crashed
    )


def exit_code_of(
    verdicts: Iterable[Verdict], faults: Sequence[str], interrupted: str, *, crashed: bool = False
) -> ExitCode:
    """The exit code of a run. A failure comes first: no other problem of the run makes it untrue."""
    seen = Counter(verdicts)
    codes = (
        (seen[Verdict.FAIL] or faults, ExitCode.FAILS),
        (seen[Verdict.SUITE_ERROR], ExitCode.SUITE_ERROR),
        (crashed, ExitCode.CRASHED),
        (interrupted, ExitCode.INTERRUPTED),
        (not seen, ExitCode.NOTHING_SELECTED),
        (seen[Verdict.INCONCLUSIVE] or seen[Verdict.NOT_OFFERED] == seen.total(), ExitCode.INCONCLUSIVE),
    )
    return next((code for applies, code in codes if applies), ExitCode.CONFORMS)


def _sentence(run: RunRecord, code: ExitCode, judged: Sequence[Judged]) -> str:
    again = f" The run was stopped and taken up again {_times(len(run.resumed))}." if run.resumed else ""
    return _verdict(run, code, judged) + again


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _verdict(run: RunRecord, code: ExitCode, judged: Sequence[Judged]) -> str:
    count = Counter(outcome.verdict for outcome in run.outcomes)
    every = len(run.outcomes)
    passed = count[Verdict.PASS]
    known = f", {count[Verdict.KNOWN]} failed as known" if count[Verdict.KNOWN] else ""
    stale = "No case failed, but the list of known failures is out of date; each fault above says what to change."
    cheapest = "a quick run" if run.selected else "a quick run: the cheapest that name every requirement"
    selected = f" ({cheapest})" if run.quick else ""
    unclear = count[Verdict.INCONCLUSIVE]
    was = "was" if unclear == 1 else "were"
    that_ended = " that ended" if run.interrupted else ""
    end = f" The run was interrupted: {run.interrupted}." if run.interrupted else ""
    nothing = "Nothing was learnt: the profile offers nothing that these cases need."
    return {
        ExitCode.CONFORMS: f"The node conforms as far as these cases tell{selected}: {passed} of {every} passed,"
        f" {count[Verdict.NOT_OFFERED]} not offered{known}. {_untried(judged) if run.selected else _unproved(judged)}",
        ExitCode.FAILS: f"The node does not conform: {count[Verdict.FAIL]} of {every} cases{that_ended} failed.{end}"
        if count[Verdict.FAIL]
        else stale,
        ExitCode.INCONCLUSIVE: f"Nothing failed, but {unclear} of {every} cases {was} inconclusive."
        if count[Verdict.INCONCLUSIVE]
        else nothing,
        ExitCode.NOTHING_SELECTED: "No case was selected. `service-conformance packs` lists what --case takes.",
        ExitCode.INTERRUPTED: f"The run was interrupted: {run.interrupted}"
        if run.interrupted
        else f"No verdict, since a report is missing: {run.unwritten}",
        ExitCode.CRASHED: f"The suite crashed, which says nothing about the node: {run.interrupted or run.unwritten}",
        ExitCode.SUITE_ERROR: f"The suite erred: {count[Verdict.SUITE_ERROR]} of {every} cases did not run as they"
        " should, and say nothing about the node.",
    }[code]


def _untried(judged: Iterable[Judged]) -> str:
    demanded = [item.judgement for item in judged if item.status.requirement.judged]
    untried = demanded.count(Judgement.NOT_RUN)
    were = "was" if untried == 1 else "were"
    return f"A part of the cases was run: {untried} of {len(demanded)} must and should statements {were} not tried."


def _unproved(judged: Iterable[Judged]) -> str:
    demanded = [item.judgement for item in judged if item.status.requirement.judged]
    unproved = demanded.count(Judgement.NOT_YET_COVERED)
    if not unproved:
        return f"Each of the {len(demanded)} must and should statements has a check."
    return (
        f"{unproved} of {len(demanded)} must and should statements {'has' if unproved == 1 else 'have'} no check yet."
    )


def _specification() -> Specification:
    text = specification_file().read_bytes()
    title = text.decode("utf-8").partition("\n")[0].removeprefix("# ")
    return Specification(title=title, sha256=hashlib.sha256(text).hexdigest())


def _totals(run: RunRecord, judged: Iterable[Judged]) -> Totals:
    cases = Counter(outcome.verdict for outcome in run.outcomes)
    requirements = Counter(item.judgement for item in judged if item.status.requirement.judged)
    exchanges = sum(outcome.exchanges for outcome in run.outcomes)
    packs = groupby(_by_name(run), lambda outcome: outcome.case.partition("::")[0])
    by_pack = {pack: _spent(outcomes) for pack, outcomes in packs}
    return Totals(
        cases=dict(sorted(cases.items())),
        requirements=dict(sorted(requirements.items())),
        exchanges=exchanges,
        waited_seconds=round(sum(outcome.waited_seconds for outcome in run.outcomes), 3),
        repeats=sum(outcome.repeats for outcome in run.outcomes),
        spent=_spent(run.outcomes),
        spent_by_pack={pack: spent for pack, spent in by_pack.items() if any(spent.model_dump().values())},
    )


def _by_name(run: RunRecord) -> list[Outcome]:
    return sorted(run.outcomes, key=lambda outcome: outcome.case)


def _spent(outcomes: Iterable[Outcome]) -> Spent:
    every = list(outcomes)
    return Spent(
        charged_cents=sum(outcome.charged_cents for outcome in every),
        bought_cents=sum(outcome.bought_cents for outcome in every),
        gas=sum(outcome.gas for outcome in every),
    )


def _requirement(judged: Judged) -> RequirementResult:
    requirement = judged.status.requirement
    return RequirementResult(
        id=requirement.id,
        level=requirement.level,
        section=requirement.place,
        text=requirement.text,
        verdict=judged.judgement,
        coverage=judged.status.coverage,
        checks=judged.status.checks,
        failed=judged.failed,
        restates=judged.status.restates,
        note=judged.status.note,
    )


def _case(run: RunRecord, outcome: Outcome) -> CaseResult:
    return CaseResult(
        case=outcome.case,
        title=outcome.title,
        requirements=outcome.requirements,
        contradicted=outcome.contradicted,
        verdict=outcome.verdict,
        reason=outcome.reason,
        exchanges=outcome.exchanges,
        seconds=round(outcome.seconds, 6),
        spent=_spent([outcome]),
        waited_seconds=round(outcome.waited_seconds, 3),
        repeats=outcome.repeats,
        failure=FailureShown.model_validate(asdict(outcome.failure)) if outcome.failure else None,
        assumed={key: _plain(value) for key, value in outcome.assumed.items()},
        waits_for=outcome.waits_for,
        traceback=outcome.traceback,
        rerun=rerun(outcome.case, run.seed, run.rerun),
        cells=tuple(_cell(run, outcome.case, cell) for cell in outcome.cells),
        tried=outcome.tried,
    )


def _cell(run: RunRecord, case: str, cell: CellOutcome) -> CellResult:
    wrong = cell.verdict is CellVerdict.WRONG
    return CellResult(
        cell=cell.cell,
        expected="granted" if cell.granted else "refused",
        reason=cell.reason,
        verdict=cell.verdict,
        got=cell.got,
        rerun=rerun(case, run.seed, run.rerun, cell.cell) if wrong else "",
    )
