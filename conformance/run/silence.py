"""Tells what a profile costs: how many cases each key that states nothing takes from a run ("Ways to answer")."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from conformance.profile import NotClaimed, NotStated, Profile, resolve, states, value_at
from conformance.run.case import Case


def cost_of_silence(profile: Profile, cases: Iterable[Case]) -> Mapping[str, int]:
    """For each key that is null, the number of cases that need it, of those that the profile's capabilities allow."""
    offered = [case for case in cases if all(profile.offers(need) for need in case.info.needs)]
    return Counter(key for case in offered for key in {_outermost(profile, key) for key in _silent(profile, case)})


def _silent(profile: Profile, case: Case) -> Iterator[str]:
    yield from (key for key in case.info.uses if not states(profile, key))
    if case.info.accounts and profile.accounts.credits is None:
        yield "accounts.credits"
    for name in case.info.operations:
        try:
            resolve(profile, name)
        except NotClaimed:
            continue  # what the node does not offer is no silence
        except NotStated as problem:
            yield problem.path


def _outermost(profile: Profile, key: str) -> str:
    """The null to which the key belongs: its own, or that of a section above it."""
    parts = key.split(".")
    above = [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
    return next(path for path in above if value_at(profile, path) is None)
