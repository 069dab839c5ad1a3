"""What cases cost, in requests, and the selection of ``--quick``: the cheapest cases that name every requirement.

The costs were measured against the bundled node; ``python -m benchmarks.costs`` measures them again. They decide only
the order and the selection of cases, so they need not be exact for other nodes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from statistics import median

from conformance.run.case import Case

COSTS_FILE = Path(__file__).with_name("costs.json")


@cache
def measured() -> Mapping[str, int]:
    """Requests of each shipped case by its id."""
    costs: dict[str, int] = json.loads(COSTS_FILE.read_text(encoding="utf-8"))
    return costs


def cost(case_id: str) -> float:
    """Requests that a case needs: measured, or the median of the measured cases."""
    return measured().get(case_id, _usual())


@cache
def _usual() -> float:
    return median(measured().values())


def cheapest(cases: Sequence[Case], is_offered: Callable[[Case], bool]) -> set[str]:
    """Choose few cheap cases that together name every requirement of the given cases, and return their ids.

    A case that the node's profile rules out is chosen for a requirement only where the profile rules out all its cases.
    """
    ranked = sorted(cases, key=lambda case: (not is_offered(case), cost(case.id)))
    chosen: list[Case] = []
    named: Counter[str] = Counter()
    for case in ranked:
        if not named.keys() >= set(case.requirements):
            chosen.append(case)
            named.update(set(case.requirements))
    for case in reversed(chosen.copy()):
        if all(named[requirement] > 1 for requirement in case.requirements):
            chosen.remove(case)
            named.subtract(set(case.requirements))
    return {case.id for case in chosen}
