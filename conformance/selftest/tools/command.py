"""``service-conformance selftest``: mutants are caught, correct nodes are green, a sham satisfies no pack."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from rich.console import Console
from rich.progress import track

from conformance.report import make_writable
from conformance.resources import scenarios
from conformance.run.loader import load
from conformance.selftest.tools.harness import Bench, Trial, trials
from conformance.selftest.tools.matrix import MATRICES, of_pack, print_matrix, print_packs, write_matrix
from conformance.selftest.tools.miniatures import MINIATURES
from conformance.selftest.tools.mutant import Mutant, all_mutants
from conformance.selftest.variants import VARIANTS
from conformance.verdict import Verdict


def main(argv: Sequence[str]) -> int:
    """Run the self-test. 0: every check proved itself; 1: one did not; 2: usage error."""
    options = _parser().parse_args(argv)
    console = Console()
    mutants = {mutant.name: mutant for mutant in all_mutants() if _chosen(mutant.name, options.mutant)}
    whole = not options.mutant
    if not mutants:
        console.print(f"no mutant is called {', '.join(options.mutant)}; --list names them")
        return 2
    if options.list:
        _list(console, mutants.values())
        return 0
    if options.jobs < 1:
        console.print(f"--jobs has to be at least 1, not {options.jobs}")
        return 2
    try:
        make_writable(options.output, *MATRICES)
    except OSError as problem:
        console.print(f"{options.output} cannot be written into: {problem.strerror}")
        return 2
    cases = load([scenarios()])
    names = [*([*VARIANTS, *MINIATURES] if whole else []), *mutants]  # the long trials first
    bench = Bench(mutants, cases, options.seed)
    running = track(trials(bench, names, options.jobs), "nodes", len(names), console=console)
    done = {trial.name: trial for trial in running}
    print_matrix(console, mutants, done)
    faults = [f"{trial.name}: the suite itself failed: {trial.crash}" for trial in done.values() if trial.crash]
    faults += _missed(mutants, done)
    if whole:
        print_packs(console, {name: done[name] for name in (*VARIANTS, *MINIATURES)})
        faults += [fault for name in VARIANTS for fault in _not_green(done[name])]
        faults += [fault for name in MINIATURES for fault in _satisfied(done[name], {case.pack for case in cases})]
        faults += _unknown(mutants.values(), {i for case in cases for i in case.requirements})
    write_matrix(options.output, mutants, done)
    for fault in faults:
        console.print(f"[red]{fault}[/red]", highlight=False, soft_wrap=True)
    caught = sum(not done[name].missed for name in mutants)
    console.print(
        f"{caught} of {len(mutants)} mutants caught; {len(faults)} faults; matrix in {options.output}/", soft_wrap=True
    )
    return 1 if faults else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="service-conformance selftest",
        description="Run faulty nodes and see each caught by the checks of the requirements that it breaks.",
    )
    parser.add_argument("--mutant", action="append", default=[], metavar="GLOB", help="only these mutants")
    parser.add_argument("--list", action="store_true", help="name the mutants and what is wrong with them")
    parser.add_argument("--seed", default="0", help="what random values come from (default: 0)")
    parser.add_argument(
        "--jobs", type=int, default=(os.cpu_count() or 1) + 1, help="nodes at a time (default: one more than the cores)"
    )
    parser.add_argument(
        "--output", type=Path, default=Path("reports/selftest"), help="folder of the matrix (default: reports/selftest)"
    )
    return parser


def _chosen(name: str, globs: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(name, glob) for glob in globs)


def _list(console: Console, mutants: Iterable[Mutant]) -> None:
    for mutant in mutants:
        console.print(
            f"{mutant.family}: {mutant.name} ({', '.join(mutant.breaks)}): {mutant.fault}",
            highlight=False,
            soft_wrap=True,
        )


def _missed(mutants: Iterable[str], done: dict[str, Trial]) -> list[str]:
    return [f"{name} breaks {i}, and no check of it noticed" for name in mutants for i in done[name].missed]


def _not_green(trial: Trial) -> list[str]:
    return [
        f"the {trial.name} node: {outcome.case} is {outcome.verdict.value}: {outcome.reason}"
        for outcome in trial.outcomes
        if outcome.verdict not in {Verdict.PASS, Verdict.NOT_OFFERED}
    ]


def _satisfied(trial: Trial, packs: Iterable[str]) -> list[str]:
    """The packs that find nothing wrong with a sham: no case fails, and some passes or none is inconclusive."""
    faults = []
    for pack in sorted(packs):
        verdicts = {outcome.verdict for outcome in of_pack(trial, pack)}
        if Verdict.FAIL not in verdicts and (Verdict.PASS in verdicts or Verdict.INCONCLUSIVE not in verdicts):
            faults.append(f"{trial.name} satisfies the pack {pack}")
    return faults


def _unknown(mutants: Iterable[Mutant], checked: set[str]) -> list[str]:
    return [
        f"{mutant.name} breaks {requirement}, which no case checks"
        for mutant in mutants
        for requirement in mutant.breaks
        if requirement not in checked
    ]
