"""What cases cost, and the selection of ``--quick``: cases that name every requirement with few requests.

The costs were measured against the bundled node; ``python -m benchmarks.costs`` measures them again. They decide the
order and the selection of cases, and say beforehand what a run takes, so they need not be exact for other nodes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import median
from typing import NamedTuple

from conformance.run.case import Case

COSTS_FILE = Path(__file__).with_name("costs.json")


class Cost(NamedTuple):
    """What a case takes."""

    requests: float
    charged_cents: int = 0
    bought_cents: int = 0
    gas: int = 0


AS_A_WRITE = 10
"""How many reads take as long as a write on a slow node and on a fast one, in between. A write costs a cent."""
GAS_OF_A_TRANSACTION = 200_000
MOST_OF_A_JUDGE = 60
"""Requests of the costliest case that ``--quick`` runs because others build on what it judges."""


@cache
def measured() -> Mapping[str, Cost]:
    """What each shipped case takes, by its id."""
    costs: dict[str, list[int]] = json.loads(COSTS_FILE.read_text(encoding="utf-8"))
    return {case: Cost(*cost) for case, cost in costs.items()}


def cost(case_id: str) -> float:
    """Requests that a case needs: measured, or the median of the measured cases."""
    return _cost(case_id).requests


def length(case_id: str) -> float:
    """How long a case takes, compared with others: requests, of which writes and transactions wait for a block."""
    found = _cost(case_id)
    return found.requests + AS_A_WRITE * (found.charged_cents + found.gas / GAS_OF_A_TRANSACTION)


def expected(case_ids: Collection[str]) -> Cost:
    """What these cases take together."""
    return Cost(*map(sum, zip(*map(_cost, case_ids), strict=True))) if case_ids else Cost(0)


def _cost(case_id: str) -> Cost:
    return measured().get(case_id, Cost(_usual()))


@cache
def _usual() -> float:
    return median(cost.requests for cost in measured().values())


def cheapest(
    cases: Sequence[Case], is_offered: Callable[[Case], bool], judges: Collection[str] = frozenset()
) -> set[str]:
    """Choose few cheap cases that together name every requirement of the given cases, and return their ids.

    The `judges` are chosen first, where they are cheap: they judge what other cases build on. Without them a failure of
    those would be charged to what they are about.
    Then come cases that the node offers. Random sequences, which may not come to all that they name, are taken only
    where no other case names a requirement; cases that are not offered come last.
    Weighted set cover: again and again the case that costs least for each requirement that is not named yet.
    """
    offered = [case for case in cases if is_offered(case)]
    judging = [case for case in offered if case.id.partition("[")[0] in judges and cost(case.id) <= MOST_OF_A_JUDGE]
    chosen = list(judging)
    named = {requirement for case in judging for requirement in case.requirements}
    for pool in ([case for case in offered if not case.info.drawn], offered, cases):
        unnamed = {requirement for case in pool for requirement in case.requirements} - named
        named |= unnamed
        while unnamed:
            naming = [case for case in pool if not unnamed.isdisjoint(case.requirements)]
            best = min(naming, key=lambda case: cost(case.id) / len(unnamed.intersection(case.requirements)))
            chosen.append(best)
            unnamed -= set(best.requirements)
    return {case.id for case in _needed(chosen, judging)}


def _needed(chosen: Sequence[Case], judging: Sequence[Case]) -> list[Case]:
    """The judges, and the cases without those whose requirements the others name, too; the costly ones leave first."""
    named = Counter(requirement for case in chosen for requirement in set(case.requirements))
    kept = list(chosen)
    for case in sorted(chosen, key=lambda case: cost(case.id), reverse=True):
        if case not in judging and all(named[requirement] > 1 for requirement in case.requirements):
            kept.remove(case)
            named.subtract(set(case.requirements))
    return kept
