"""What workers send to the master."""

from __future__ import annotations

import json
from unittest.mock import Mock

from conformance.load.tally import CaseTally, Tally
from conformance.verdict import Failure, Outcome, Verdict


def outcome(verdict: Verdict, reason: str = "") -> Outcome:
    failure = Failure("steps[0]", "a list", "none") if verdict is Verdict.FAIL else None
    return Outcome("pack::case", "Title", ("A-1", "A-2"), verdict, reason, failure, contradicted=("A-2",))


def test_tallies_of_workers_add_up_although_their_clocks_differ() -> None:
    here, there, master = (Mock(return_value=now) for now in (100.0, 5_000.0, 70.0))
    first, second, every = Tally(here), Tally(there), Tally(master)
    first.note(outcome(Verdict.PASS))
    first.note(outcome(Verdict.FAIL, "later"))
    second.note(outcome(Verdict.FAIL, "earlier"))
    there.return_value += 8
    here.return_value += 2
    for worker in (first, second):
        every.merge(json.loads(json.dumps(worker.take())))
    case = every.cases["pack::case"]
    assert case.counts == {Verdict.PASS: 1, Verdict.FAIL: 2}
    departure = case.firsts[Verdict.FAIL]
    assert (departure.at, departure.reason, departure.requirements) == (62.0, "earlier", ("A-2",))
    assert departure.failure is not None
    assert departure.failure.expected == "a list"


def test_tally_that_was_taken_is_not_counted_again() -> None:
    worker, master = Tally(), Tally()
    worker.note(outcome(Verdict.PASS))
    master.merge(worker.take())
    master.merge(worker.take())
    assert master.cases == {"pack::case": CaseTally({Verdict.PASS: 1})}
