"""Orders the statements that a node breaks, and the cases that failed: what explains most of the failures comes first.

The order is that of spectrum-based fault localisation (Ochiai, doi:10.1109/TAIC.PART.2007.13), with statements in place
of lines of code: a statement ranks higher the more cases fail by it or wait for one that fails, and lower the more
cases that name it pass. Of statements by which one case each fails, that whose case took the fewest requests comes
first.
"""

from __future__ import annotations

from collections import Counter

from conformance.report.causes import waiting
from conformance.report.judgement import Judgement
from conformance.report.results import CaseResult, RequirementResult, Results
from conformance.requirements import Level, catalogue
from conformance.verdict import Verdict


def broken(results: Results) -> tuple[RequirementResult, ...]:
    """The statements with verdict fail: those that explain most first, those that only restate others last.

    What the specification says comes before what it leaves to the profile: a fault in the former mostly shows in both.
    """
    ranks = {name: rank for rank, name in enumerate(_named(results))}
    failed = [requirement for requirement in results.requirements if requirement.verdict is Judgement.FAIL]
    restating = catalogue().restatements

    def key(one: RequirementResult) -> tuple[bool, bool, bool, int]:
        return one.id not in ranks, one.id in restating, one.level is Level.SILENT, ranks.get(one.id, len(ranks))

    return tuple(sorted(failed, key=key))


def failed_cases(results: Results) -> tuple[CaseResult, ...]:
    """The cases that failed: those of the first statement first, of these the case that charges and names least.

    A statement that only restates another one does not count. What fails among requests at once comes after what fails
    alone: it shows less of the cause.
    """
    ranks = {requirement.id: rank for rank, requirement in enumerate(broken(results))}
    restating = catalogue().restatements

    def key(case: CaseResult) -> tuple[int, bool, int, int, int, str]:
        blamed = case.contradicted or case.requirements
        rank = min((ranks.get(name, len(ranks)) for name in blamed), default=len(ranks))
        charged = len({*blamed} - restating.keys())
        return rank, _is_at_once(case), charged, len(case.requirements), case.exchanges, case.case

    return tuple(sorted((case for case in results.cases if case.verdict is Verdict.FAIL), key=key))


def _is_at_once(case: CaseResult) -> bool:
    """Whether requests were under way together before the answer that shows the failure, or when it came."""
    told = case.failure.conversation if case.failure else None
    if told is None or told.departed is None:
        return False
    return any(one.at_once for one in told.exchanges[: told.departed + 1])


def _named(results: Results) -> list[str]:
    """The statements that failing cases name themselves, the most suspicious first.

    Those that fail in the same cases rank together, in the order in which a case names what its step judges.
    """
    failing = [case for case in results.cases if case.verdict is Verdict.FAIL]
    blamed = [case.contradicted or case.requirements for case in failing]
    waits = {case: len(others) for case, others in waiting(results).items()}
    failed = Counter(name for names in blamed for name in names)
    for case, names in zip(failing, blamed, strict=True):
        failed.update(dict.fromkeys(names, waits.get(case.case, 0)))
    passed = Counter(name for case in results.cases if case.verdict is Verdict.PASS for name in case.requirements)
    place = {name: number for names in reversed(blamed) for number, name in enumerate(names)}
    together = {name: frozenset(at for at, names in enumerate(blamed) if name in names) for name in failed}
    score: dict[frozenset[int], float] = {}
    for name, fails in together.items():
        score[fails] = max(score.get(fails, 0), failed[name] ** 2 / (failed[name] + passed[name]))
    alone = {fails for fails in score if len(fails) == 1 and not waits.get(failing[min(fails)].case)}
    of_one = max((score[fails] for fails in alone), default=0)

    def key(name: str) -> tuple[float, int, float, int]:
        fails = together[name]
        if fails not in alone:
            return -score[fails], 0, 0, place[name]
        return -of_one, failing[min(fails)].exchanges, -score[fails], place[name]

    return sorted(failed, key=key)
