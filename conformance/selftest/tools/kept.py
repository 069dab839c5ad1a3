"""Keeps what cases said of mutants in `blame.jsonl`, so that a later measurement repeats only what has changed since.

An outcome is good as long as its pack, the suite, the node and the seed are what they were.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import conformance
from conformance.resources import scenarios
from conformance.run.case import Case
from conformance.verdict import Outcome, Verdict
from reference_node import node

KEPT_NAME = "blame.jsonl"
NOT_JUDGING = frozenset({"catches.json", "follows.yaml"})
"""Files of the suite that change no outcome."""


@dataclass(frozen=True)
class KeptOutcomes:
    """The outcomes of earlier measurements, in a file with a line for each mutant; the last line of a mutant counts."""

    path: Path
    seed: str

    def of(self, mutant: str, cases: Iterable[Case]) -> tuple[Outcome, ...]:
        """What is known of these cases on a mutant and still good."""
        known = self._read().get(mutant, {})
        by_id = {case.id: case for case in cases}
        return tuple(
            _outcome(by_id[name], told)
            for name, told in known.items()
            if name in by_id and told["stamp"] == self._stamp(by_id[name])
        )

    def keep(self, mutant: str, cases: Iterable[Case], outcomes: Sequence[Outcome]) -> None:
        """Add the outcomes of these cases on a mutant."""
        by_id = {case.id: case for case in cases}
        told = {
            outcome.case: {
                "stamp": self._stamp(by_id[outcome.case]),
                "verdict": outcome.verdict,
                "contradicted": outcome.contradicted,
                "reason": outcome.reason,
            }
            for outcome in outcomes
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"mutant": mutant, "outcomes": told}) + "\n")

    def _read(self) -> Mapping[str, dict[str, dict[str, str]]]:
        if not self.path.exists():
            return {}
        lines = [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
        return {line["mutant"]: line["outcomes"] for line in lines}

    def _stamp(self, case: Case) -> str:
        return stamp(self.seed, case.path)


def stamp(seed: str, *packs: Path) -> str:
    """A digest of all that an outcome hangs on: the seed, the suite, the node and these packs."""
    told = " ".join((seed, _of_suite(), *map(_of_pack, packs)))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _outcome(case: Case, told: Mapping[str, str]) -> Outcome:
    return Outcome(
        case.id,
        case.title,
        case.requirements,
        Verdict(told["verdict"]),
        told["reason"],
        contradicted=tuple(told["contradicted"]),
    )


@cache
def _of_pack(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@cache
def _of_suite() -> str:
    """One digest of suite and node, without the packs."""
    digest = hashlib.sha256()
    for module in (conformance, node):
        for path in sorted(Path(str(module.__file__)).parent.rglob("*")):
            if path.suffix in {".py", ".yaml", ".json"} and path.name not in NOT_JUDGING and _is_no_pack(path):
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _is_no_pack(path: Path) -> bool:
    return not path.is_relative_to(scenarios())
