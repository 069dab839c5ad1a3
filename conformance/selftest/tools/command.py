"""`service-conformance selftest`: every mutant has to be caught, every variant green, no sham satisfied."""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import track

from conformance.console import CommandConsole
from conformance.report import make_writable
from conformance.resources import scenarios
from conformance.run.case import Case, matches
from conformance.run.loader import load
from conformance.selftest.automatic.command import try_sample
from conformance.selftest.tools.catches import Catch, catch_of, load_catches, record, tier_one
from conformance.selftest.tools.findings import findings, unchecked
from conformance.selftest.tools.harness import Trial, TrialRunner, trials
from conformance.selftest.tools.kept import KEPT_NAME, KeptOutcomes
from conformance.selftest.tools.matrix import MATRICES, print_matrix, print_packs, write_matrix
from conformance.selftest.tools.mutant import Mutant, all_mutants
from conformance.selftest.tools.overlap import RECORD, try_overlap
from conformance.selftest.tools.precision import WORST, Precision, blame_of, sample
from conformance.selftest.tools.seeds import TABLE, found_by_fuzzing, try_seeds
from conformance.selftest.tools.shams import SHAMS
from conformance.selftest.under_load.lossy import lossy_nodes
from conformance.selftest.under_load.mutants import load_mutants
from conformance.selftest.under_load.trial import try_all
from conformance.selftest.variants import VARIANTS
from conformance.verdict import Outcome, Verdict


@dataclass(frozen=True)
class Tier:
    """Nodes that are tried together."""

    title: str
    names: Sequence[str]
    """Of mutants, variants and shams, the long trials first."""


def main(argv: Sequence[str]) -> int:
    """Run the self-test. 0: every check proved itself; 1: one did not; 2: usage error."""
    options = _parser().parse_args(argv)
    console = CommandConsole()
    if options.jobs < 1:
        console.print(f"--jobs has to be at least 1, not {options.jobs}")
        return 2
    if options.variants:
        return _on_variants(console, options)
    if options.automatic is not None:
        return try_sample(console, options.automatic, options.seed, options.jobs, options.output)
    return _under_load(console, options) if options.load else _by_tiers(console, options)


def _by_tiers(console: Console, options: argparse.Namespace) -> int:
    """Try the nodes that are faulty for one client."""
    mutants = {mutant.name: mutant for mutant in all_mutants() if _chosen(mutant.name, options.mutant)}
    if not mutants:
        return _none_is_called(console, options)
    if options.list:
        _list(console, mutants.values())
        return 0
    if options.case:
        return _tell_cases(console, mutants, options)
    written = {"precision": [KEPT_NAME], "seeds": [TABLE], "overlap": [RECORD]}
    kind = next((option for option in written if getattr(options, option)), "")
    try:
        make_writable(options.output, *written.get(kind, MATRICES))
    except OSError as problem:
        console.print(f"{options.output} cannot be written into: {problem.strerror}")
        return 2
    measures = {"precision": _measure, "seeds": _by_seeds, "overlap": _by_checks}
    return measures.get(kind, _test)(console, mutants, options)


def _by_seeds(console: Console, mutants: Mapping[str, Mutant], options: argparse.Namespace) -> int:
    drawn = {*mutants} if options.mutant else found_by_fuzzing(load_catches())
    chosen = {name: mutant for name, mutant in mutants.items() if name in drawn}
    return try_seeds(console, chosen, options.seeds, options.jobs, options.output)


def _by_checks(console: Console, mutants: Mapping[str, Mutant], options: argparse.Namespace) -> int:
    return try_overlap(console, mutants, options.seed, options.jobs, options.output)


def _tell_cases(console: Console, mutants: Mapping[str, Mutant], options: argparse.Namespace) -> int:
    """Say of each chosen case whether it catches each chosen mutant. 0: a case catches every mutant."""
    cases = _chosen_cases(console, options)
    if not cases:
        return 2
    caught: set[str] = set()
    runner = TrialRunner(mutants, cases, options.seed, all_of=dict.fromkeys(mutants, cases))
    for trial in trials(runner, [*mutants], options.jobs):
        if trial.crash:
            console.print(f"{trial.name}: the suite itself failed: {trial.crash}", highlight=False, soft_wrap=True)
        for outcome in trial.outcomes:
            catches = outcome.verdict is Verdict.FAIL and not {*outcome.blamed}.isdisjoint(trial.breaks)
            caught |= {trial.name} if catches else set()
            told = _told(outcome, trial, catches=catches)
            console.print(f"{outcome.case} {told}", highlight=False, markup=False, soft_wrap=True)
    return 0 if caught == {*mutants} else 1


def _on_variants(console: Console, options: argparse.Namespace) -> int:
    """Run the chosen cases on the correct nodes that chose otherwise. 0: no case fails or is inconclusive."""
    cases = _chosen_cases(console, options)
    if not cases:
        return 2
    done: dict[str, Trial] = {}
    for trial in trials(TrialRunner({}, cases, options.seed), [*VARIANTS], options.jobs):
        done[trial.name] = trial
        number = Counter(outcome.verdict.value for outcome in trial.outcomes)
        console.print(f"{trial.name}: {', '.join(f'{number[one]} {one}' for one in number)}", highlight=False)
    found = findings({}, done, ())
    for sentence in found:
        console.print(f"[red]{escape(sentence)}[/red]", highlight=False, soft_wrap=True)
    return 1 if found else 0


def _chosen_cases(console: Console, options: argparse.Namespace) -> list[Case]:
    """The cases of these names, or all; where there are none, that is said."""
    every = [*load([scenarios()]), *load([scenarios()], OPT_IN_PACKS)]
    cases = [case for case in every if not options.case or any(matches(case.id, name) for name in options.case)]
    if not cases:
        console.print(f"no case is called {', '.join(options.case)}; `service-conformance packs` names them")
    return cases


def _told(outcome: Outcome, trial: Trial, *, catches: bool) -> str:
    """What a case says of a mutant."""
    if catches:
        return f"catches {trial.name}: it charges {', '.join(outcome.blamed)}: {outcome.reason}"
    if outcome.verdict is Verdict.FAIL:
        told = f"it charges {', '.join(outcome.blamed)} alone, not {', '.join(trial.breaks)}: {outcome.reason}"
    else:
        told = f"{outcome.verdict}{': ' if outcome.reason else ''}{outcome.reason}"
    return f"does not catch {trial.name}: {told}"


def _none_is_called(console: Console, options: argparse.Namespace) -> int:
    console.print(f"no mutant is called {', '.join(options.mutant)}; --list names them")
    return 2


def _under_load(console: Console, options: argparse.Namespace) -> int:
    """Try the nodes that are faulty under load alone, or when they are killed or cut off."""
    chosen = [mutant for mutant in load_mutants() if _chosen(mutant.name, options.mutant)]
    lossy = [node for node in lossy_nodes() if _chosen(node.name, options.mutant)]
    if not chosen and not lossy:
        return _none_is_called(console, options)
    if options.list:
        for mutant in chosen:
            console.print(f"{mutant.name} ({mutant.pack}): {mutant.fault}", highlight=False, soft_wrap=True)
        for node in lossy:
            console.print(f"{node.name} (chaos): {node.fault}", highlight=False, soft_wrap=True)
        return 0
    return try_all(console, chosen, lossy, options.seed)


MISSED_GOALS = 3
"""The exit code when a measurement of blame misses a goal: what a sample shows depends on the sample."""
OPT_IN_PACKS = ("fuzz",)
"""Opt-in packs that faulty nodes and variants meet as well, after all others."""


def _test(console: Console, mutants: Mapping[str, Mutant], options: argparse.Namespace) -> int:
    catches = load_catches()
    cases = [*load([scenarios()]), *load([scenarios()], OPT_IN_PACKS)]
    runner = TrialRunner(mutants, cases, options.seed, {name: catch.cases for name, catch in catches.items()})
    done, times = _run(console, runner, _tiers(mutants, catches, options), options.jobs)
    tried = {name: mutant for name, mutant in mutants.items() if name in done}
    print_matrix(console, tried, done)
    if others := {name: done[name] for name in (*VARIANTS, *SHAMS) if name in done}:
        print_packs(console, others)
    write_matrix(options.output, tried, done)
    found = findings(tried, done, {case.pack for case in cases if not case.opt_in})
    found += unchecked(mutants.values(), {requirement for case in cases for requirement in case.requirements})
    for sentence in found:
        console.print(f"[red]{sentence}[/red]", highlight=False, soft_wrap=True)
    _keep(console, tried, done, catches, write=options.record)
    for line in times:
        console.print(line, highlight=False, soft_wrap=True)
    caught = sum(not done[name].missed for name in tried)
    console.print(
        f"{caught} of {len(tried)} mutants caught; {len(found)} faults; matrix in {options.output}/", soft_wrap=True
    )
    return 1 if found else 0


def _measure(console: Console, mutants: Mapping[str, Mutant], options: argparse.Namespace) -> int:
    """Run every case on a sample of mutants, and print whether what is charged is what they break."""
    chosen = {mutant.name: mutant for mutant in sample(mutants.values(), options.precision, options.seed)}
    kept = KeptOutcomes(options.output / KEPT_NAME, options.seed)
    runner = TrialRunner(mutants, load([scenarios()]), options.seed, kept=kept)
    blames, crashes = [], 0
    for trial in track(trials(runner, [*chosen], options.jobs), "blame", len(chosen), console=console):
        if trial.crash:
            crashes += 1
            console.print(f"[red]{trial.name}: the suite itself failed: {trial.crash}[/red]", highlight=False)
            continue
        blames.append(blame_of(chosen[trial.name], trial))
        console.print(f"{blames[-1].told} ({trial.seconds:.0f} s)", highlight=False, soft_wrap=True)
    if not blames:
        return 1
    measured = Precision(blames)
    console.print(f"\nThe worst {min(WORST, len(blames))}:", highlight=False)
    for blame in measured.worst():
        console.print(blame.told, highlight=False, soft_wrap=True)
    console.print(f"{measured}", highlight=False, soft_wrap=True)
    if crashes:
        return 1
    return 0 if measured.reached else MISSED_GOALS


def _tiers(mutants: Mapping[str, Mutant], catches: Mapping[str, Catch], options: argparse.Namespace) -> list[Tier]:
    if options.mutant:
        return [Tier("the chosen mutants", [*mutants])]
    sample = dict.fromkeys(mutant.name for mutant in tier_one(mutants.values(), catches))
    one = Tier("tier one", [*SHAMS, *sample])
    two = Tier("tier two", [*VARIANTS, *(name for name in mutants if name not in sample)])
    if options.rest:
        slow = _slow_to_find(catches)
        part, parts = options.rest
        names = [name for name in two.names if name not in slow]
        return [Tier("the rest", names[part - 1 :: parts])]
    return [one, two] if options.full else [one]


FUZZED = 6
"""How many of the mutants that fuzzing alone finds the longer job of CI tries: each takes it some thousand requests."""


def _slow_to_find(catches: Mapping[str, Catch]) -> set[str]:
    """The mutants that fuzzing alone finds, but for those that it finds first: `--full` and `--seeds` try these."""
    return {*sorted(found_by_fuzzing(catches), key=lambda name: catches[name].requests)[FUZZED:]}


def _run(console: Console, runner: TrialRunner, tiers: Iterable[Tier], jobs: int) -> tuple[dict[str, Trial], list[str]]:
    """Every trial by its node's name, and a line for each tier that tells its time."""
    done: dict[str, Trial] = {}
    lines = []
    for tier in tiers:
        began = time.monotonic()
        running = trials(runner, tier.names, jobs)
        for trial in track(running, tier.title, len(tier.names), console=console):
            done[trial.name] = trial
        lines.append(f"{tier.title}: {_counted(tier.names)} in {time.monotonic() - began:.0f} s")
    slipped = [trial.name for trial in done.values() if trial.missed and not trial.crash]
    if slipped and len(done) > 1:
        # Requests that are sent at once don't always meet beside other nodes: what shows only then gets a quiet trial.
        again = track(trials(runner, slipped, jobs=1), "alone", len(slipped), console=console)
        done.update({trial.name: trial for trial in again})
        lines.append(f"tried once more, alone: {', '.join(slipped)}")
    return done, lines


def _counted(names: Sequence[str]) -> str:
    shams, variants = (sum(name in kind for name in names) for kind in (SHAMS, VARIANTS))
    counts = {"mutants": len(names) - shams - variants, "variants": variants, "shams": shams}
    return ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)


def _keep(
    console: Console, tried: Iterable[str], done: Mapping[str, Trial], recorded: Mapping[str, Catch], *, write: bool
) -> None:
    """Record what caught these mutants, or say how many were caught otherwise than is recorded."""
    fresh = {name: catch_of(done[name]) for name in tried if not done[name].missed and not done[name].crash}
    if write:
        record({**recorded, **fresh}, [mutant.name for mutant in all_mutants()])
        return
    other = [name for name, catch in fresh.items() if name not in recorded or {*catch.cases} != {*recorded[name].cases}]
    if other:
        named = ", ".join(other[:3]) + ", ..." * (len(other) > 3)
        told = f"{len(other)} mutants were caught otherwise than catches.json says ({named})"
        console.print(f"{told}: `service-conformance selftest --full --record` brings it up to date", soft_wrap=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="service-conformance selftest",
        description="Run faulty nodes and see each caught by the checks of the requirements that it breaks.",
    )
    parser.add_argument("--mutant", action="append", default=[], metavar="GLOB", help="only these mutants")
    parser.add_argument(
        "--case", action="append", default=[], metavar="GLOB", help="say whether these cases catch the mutants, no more"
    )
    parser.add_argument(
        "--variants", action="store_true", help="correct nodes that chose otherwise, with all cases or those of --case"
    )
    tiers = parser.add_mutually_exclusive_group()
    tiers.add_argument("--full", action="store_true", help="all mutants and variants, not only tier one")
    tiers.add_argument(
        "--rest",
        nargs="?",
        type=_part,
        const=(1, 1),
        metavar="K/N",
        help="what tier one leaves out, but for most that fuzzing alone finds; with K/N the Kth of N parts",
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="record in conformance/selftest/catches.json which cases caught the mutants",
    )
    parser.add_argument(
        "--overlap", action="store_true", help="name the mutants that prove nothing which another one does not prove"
    )
    parser.add_argument("--load", action="store_true", help="the nodes that are faulty under load alone, with Locust")
    parser.add_argument("--list", action="store_true", help="name the mutants and what is wrong with them")
    parser.add_argument(
        "--precision",
        type=_number,
        metavar="N",
        help="run every case on a sample of N mutants, and measure whether what is charged is what they break",
    )
    parser.add_argument(
        "--automatic",
        type=_number,
        metavar="N",
        help="try a sample of N faults that nobody thought up: small changes of the node's code",
    )
    parser.add_argument(
        "--seeds",
        type=_number,
        metavar="N",
        help="try the mutants that fuzzing alone finds with each of the seeds 1 to N",
    )
    parser.add_argument("--seed", default="0", help="what random values come from (default: 0)")
    parser.add_argument(
        "--jobs", type=int, default=(os.cpu_count() or 1) + 1, help="nodes at a time (default: one more than the cores)"
    )
    parser.add_argument(
        "--output", type=Path, default=Path("reports/selftest"), help="folder of the matrix (default: reports/selftest)"
    )
    return parser


def _number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("has to be at least 1")
    return number


def _part(text: str) -> tuple[int, int]:
    """Read `2/3`, the second of three parts."""
    part, _, parts = text.partition("/")
    if not (part.isdecimal() and parts.isdecimal() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"has to be one part of several, as in 2/3; got {text}")
    return int(part), int(parts)


def _chosen(name: str, globs: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(name, glob) for glob in globs)


def _list(console: Console, mutants: Iterable[Mutant]) -> None:
    for mutant in mutants:
        console.print(
            f"{mutant.family}: {mutant.name} ({', '.join(mutant.breaks)}): {mutant.fault}",
            highlight=False,
            soft_wrap=True,
        )
