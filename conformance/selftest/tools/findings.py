"""Finds what trials show to be wrong with the suite or with the mutants, a sentence each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from conformance.selftest.tools.harness import Trial
from conformance.selftest.tools.matrix import of_pack
from conformance.selftest.tools.mutant import Mutant
from conformance.selftest.tools.shams import SHAMS
from conformance.selftest.variants import VARIANTS
from conformance.verdict import Verdict


def findings(mutants: Mapping[str, Mutant], done: Mapping[str, Trial], packs: Iterable[str]) -> list[str]:
    """Return what the trials show to be wrong with the suite or with the mutants."""
    faults = [f"{trial.name}: the suite itself failed: {trial.crash}" for trial in done.values() if trial.crash]
    ended = {name: trial for name, trial in done.items() if not trial.crash}
    for name in [name for name in mutants if name in ended]:
        faults += [f"{name} breaks {missed}, and no check of it noticed" for missed in ended[name].missed]
        faults += _crashed(mutants[name], ended[name])
    for name in [name for name in VARIANTS if name in ended]:
        faults += _not_green(ended[name])
    for name in [name for name in SHAMS if name in ended]:
        faults += _satisfied(ended[name], packs)
    return faults


def _crashed(mutant: Mutant, trial: Trial) -> list[str]:
    """Report a mutant that crashes: it shows that the suite notices a crash, not the fault."""
    if mutant.server_fault:
        return [] if trial.server_faults else [f"{mutant.name} declares a server fault, and none occurred"]
    first = trial.server_faults[:1]
    return [f"{mutant.name}: planted code failed: {fault} (the first of {len(trial.server_faults)})" for fault in first]


def _not_green(trial: Trial) -> list[str]:
    broken = [f"the {trial.name} node: {fault}" for fault in trial.server_faults[:1]]
    return broken + [
        f"the {trial.name} node: {outcome.case} is {outcome.verdict.value}: {outcome.reason}"
        for outcome in trial.outcomes
        if outcome.verdict not in {Verdict.PASS, Verdict.NOT_OFFERED}
    ]


def _satisfied(trial: Trial, packs: Iterable[str]) -> list[str]:
    """Report packs that find nothing wrong with a sham: no case fails, and some passes or none is inconclusive."""
    faults = []
    for pack in sorted(packs):
        verdicts = {outcome.verdict for outcome in of_pack(trial, pack)}
        if Verdict.FAIL not in verdicts and (Verdict.PASS in verdicts or Verdict.INCONCLUSIVE not in verdicts):
            faults.append(f"{trial.name} satisfies the pack {pack}")
    return faults


def unchecked(mutants: Iterable[Mutant], checked: set[str]) -> list[str]:
    """Report the requirements that mutants break and that no case checks."""
    return [
        f"{mutant.name} breaks {requirement}, which no case checks"
        for mutant in mutants
        for requirement in mutant.breaks
        if requirement not in checked
    ]
