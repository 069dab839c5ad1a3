"""Prints the report on the terminal: a table by family, the shared causes, the failed requirements and the verdict."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from itertools import chain

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from conformance.report.causes import counted, counted_waiting, numbered, unexplained, waiting
from conformance.report.judgement import Judgement
from conformance.report.matrix import drawn, matrices
from conformance.report.ranking import broken
from conformance.report.results import CaseResult, RequirementResult, Results, Totals
from conformance.requirements import Coverage, Level
from conformance.values.shown_text import plain, shortened
from conformance.verdict import ExitCode, Verdict

COLUMNS = (
    (Judgement.FAIL, "bold red"),
    (Judgement.KNOWN, "yellow"),
    (Judgement.INCONCLUSIVE, "magenta"),
    (Judgement.PASS, "green"),
    (Judgement.PASS_IN_PART, "green"),
    (Judgement.NOT_OFFERED, "cyan"),
    (Judgement.NOT_RUN, "dim"),
    (Judgement.NOT_YET_COVERED, "dim"),
)
LONGEST = 160
"""Characters of a departure below the statement that it breaks; the case's own report tells more of it."""
LONGEST_ASSUMED = 400
"""Characters of what was expected by an assumed key, and of what came."""
SHOWN_CASES = 3
"""Cases below a statement."""


def show(results: Results, console: Console, told: Collection[str] = ()) -> None:
    """Print the report. Of the cases that were told already, by their ids, it gives the names alone."""
    console.print(_table(results.requirements))
    grids = [part for case in matrices(results) for part in drawn(case)]
    for part in (*grids, *_causes(results), *_failures(results, told), *_notes(results)):
        console.print(part, soft_wrap=True)
    style = "bold green" if results.conforms else "bold red"
    console.print(Text(results.sentence, style), soft_wrap=True)


def _table(requirements: Iterable[RequirementResult]) -> Table:
    judged = [requirement for requirement in requirements if requirement.level in {Level.MUST, Level.SHOULD}]
    table = Table(
        title="Requirements (must and should)", title_justify="left", show_footer=True, box=None, pad_edge=False
    )
    total = Counter(requirement.verdict for requirement in judged)
    table.add_column("family", footer="all")
    for judgement, style in COLUMNS:
        table.add_column(judgement.value, justify="right", style=style, footer=str(total[judgement] or "-"))
    by_family: dict[str, Counter[Judgement]] = {}
    for requirement in judged:
        by_family.setdefault(requirement.id.partition("-")[0], Counter())[requirement.verdict] += 1
    for family, count in by_family.items():
        if count[Judgement.FAIL] or not total[Judgement.FAIL]:
            table.add_row(family, *(str(count[judgement] or "-") for judgement, _ in COLUMNS))
    return table


def _causes(results: Results) -> Iterable[RenderableType]:
    if results.causes:
        yield Text("\nCauses that several cases share", "bold")
    for number, cause in enumerate(results.causes, 1):
        yield Text.assemble(f"  {number}. ", (plain(cause.headline), "bold"))
        yield Text(f"      {counted(cause)}; look at {cause.cases[0]}")


def _failures(results: Results, told: Collection[str]) -> Iterable[RenderableType]:
    """The broken statements with their cases, each case once; statements without a further case share a line."""
    cases, numbers, waits = {case.case: case for case in results.cases}, numbered(results), waiting(results)
    listed: set[str] = set()
    beside: list[str] = []
    if failed := broken(results):
        yield Text("\nRequirements that the node breaks", "bold")
    for requirement in failed:
        new = [name for name in requirement.failed if name not in listed]
        listed.update(new)
        if not new:
            beside.append(requirement.id)
            continue
        clause = f" ({requirement.level}; {requirement.section}) {requirement.text}"
        yield Text.assemble("  ", (requirement.id, "bold red"), clause)
        for name in new[:SHOWN_CASES]:
            why = f"cause {numbers[name]}" if name in numbers else _departure(cases[name])
            after = f" ({counted_waiting(waits[name])})" if name in waits else ""
            yield Text(f"      {name}" if name in told else f"      {name}: {why}{after}")
        if len(new) > SHOWN_CASES:
            yield Text(f"      and {len(new) - SHOWN_CASES} more")
    if beside:
        yield Text.assemble("  by the same cases also ", (", ".join(beside), "bold red"))
    for case in results.cases:
        if case.verdict == "fail" and not case.requirements and case.case not in told:
            yield Text(f"  {case.case}: {_departure(case)}")


def _departure(case: CaseResult) -> str:
    return shortened(case.failure.told, LONGEST) if case.failure else plain(case.reason)


def _by_reason(results: Results, verdict: Verdict, name: str, style: str) -> Iterable[RenderableType]:
    """A line for each reason of a verdict, without the cases that share a cause or depend on an assumed key.

    Nor with those that wait for a case which failed: it names them.
    """
    cases: dict[str, list[str]] = {}
    with_cause = {*numbered(results), *chain.from_iterable(waiting(results).values())}
    for case in results.cases:
        if case.verdict == verdict and case.case not in with_cause and not case.assumed:
            cases.setdefault(case.reason, []).append(case.case)
    for reason, (first, *others) in cases.items():
        yield Text(f"{name}: {f'{first} and {len(others)} more' if others else first}: {plain(reason)}", style)


def _assumed(results: Results) -> Iterable[RenderableType]:
    """A line for each assumed key, with what was expected by it and what the node answered.

    Where no key explains what came, the line names several and none of them as the reason.
    """
    by_name = {case.case: case for case in results.cases}
    for key in results.assumed:
        cases = f"{key.cases[0]} and {len(key.cases) - 1} more" if len(key.cases) > 1 else key.cases[0]
        expected, got = (shortened(text, LONGEST_ASSUMED) for text in (key.expected, key.got))
        came = f"Expected {expected}; got {got}."
        if key.explains:
            value = plain(json.dumps(key.value, ensure_ascii=False))
            told = f"Assumed: {key.key}: {value}, which the profile does not state. {came} Another value explains it."
            told += f" State it in your profile; on it hang: {cases}"
        else:
            keys = unexplained(by_name[key.cases[0]].assumed)
            told = f"Assumed: {plain(keys)}. {came} Cases: {cases}"
        yield Text(told, "magenta")
    if results.assumed:
        options = ["--try", "--profile", results.profile.source, "-o", "NEW.yaml"]
        command = shlex.join(["service-conformance", "init", results.target.base_url, *options])
        yield Text(f"`{plain(command)}` tries the node and states what it sees.", "magenta")


def _spent(totals: Totals) -> str:
    """What was charged, bought and used as gas. Credit is told by pack where some was bought, else the charges."""
    spent, by_pack = totals.spent, totals.spent_by_pack.items()
    bought = {pack: one.bought_cents for pack, one in by_pack if one.bought_cents}
    charged = {pack: one.charged_cents for pack, one in by_pack if one.charged_cents}
    told = [f"{spent.charged_cents} cents charged by the profile's prices{'' if bought else _listed(charged)}"]
    told += [f"{spent.bought_cents} cents of credit bought{_listed(bought)}"] * bool(bought)
    told += [f"{spent.gas:,} units of gas used"] * bool(spent.gas)
    return "; ".join(told)


def _listed(by_pack: Mapping[str, int]) -> str:
    return ": " + ", ".join(f"{pack} {cents}" for pack, cents in by_pack.items()) if by_pack else ""


def _waited(totals: Totals) -> str:
    """What the way to the node has cost; empty where it cost nothing."""
    told = []
    if totals.waited_seconds:
        told.append(f"cases waited {totals.waited_seconds:.0f} s for a node that put requests off or was not there")
    if totals.repeats:
        cases = "1 case" if totals.repeats == 1 else f"{totals.repeats} cases"
        told.append(f"{cases} ran again after answers that were late or missing, or a gateway's")
    return "; ".join(told)


def _sizes(cases: Iterable[CaseResult]) -> str:
    """The largest number of items that cases tried in each list; empty where they tell none."""
    largest: dict[str, int] = {}
    for name, values in chain.from_iterable(case.tried.items() for case in cases):
        for size in values:
            if isinstance(size, int):
                largest[name] = max(size, largest.get(name, 0))
    return ", ".join(f"{name} {size}" for name, size in largest.items())


def _notes(results: Results) -> Iterable[RenderableType]:
    yield Text("")
    for fault in results.faults:
        yield Text(f"Fault: {plain(fault)}", "red")
    yield from _by_reason(results, Verdict.SUITE_ERROR, "Suite error", "bold magenta")
    yield from _by_reason(results, Verdict.INCONCLUSIVE, "Inconclusive", "magenta")
    yield from _assumed(results)
    in_part = [requirement for requirement in results.requirements if requirement.coverage is Coverage.PARTLY]
    if in_part and results.exit_code is not ExitCode.NOTHING_SELECTED:
        yield Text(
            f"{len(in_part)} {'requirement is' if len(in_part) == 1 else 'requirements are'} proved in part only;"
            " `service-conformance requirements --uncovered` says what is missing.",
            "dim",
        )
    if results.totals.spent_by_pack:
        yield Text(_spent(results.totals), "dim")
    if waited := _waited(results.totals):
        yield Text(waited, "dim")
    if sizes := _sizes(results.cases):
        yield Text(f"sizes tried: {sizes}", "dim")
    yield Text(
        f"seed {results.seed}; node {results.target.base_url}; profile {results.profile.source};"
        f" {results.totals.exchanges} requests in {(results.finished - results.started).total_seconds():.0f} s",
        "dim",
    )
