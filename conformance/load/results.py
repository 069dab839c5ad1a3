"""load.json: the record of a load campaign. docs/load.md describes it; load.schema.json is its schema."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Literal

from conformance.load.campaign import Campaign
from conformance.load.tally import FirstDeparture, Tally
from conformance.profile import Profile
from conformance.report.case_text import rerun
from conformance.report.profile_used import profile_used, without_secrets
from conformance.report.results import FailureShown, Part, ProfileUsed, Suite, TargetJudged
from conformance.verdict import ExitCode, Outcome, Verdict

LOAD_NAME = "load.json"
FORMAT: Literal[1] = 1
"""Incremented when a member changes its meaning or is removed."""


class Sample(Part):
    """The load at one moment."""

    seconds: float
    """Since the first user began."""
    users: int
    rate: float
    """Requests per second, over about the last ten seconds."""


class Began(Part):
    """The first time that a case had another verdict than alone, with the load at that time."""

    verdict: Verdict
    load: Sample
    requirements: tuple[str, ...]
    """The requirements that it is about."""
    reason: str
    failure: FailureShown | None


class CaseUnderLoad(Part):
    """One case."""

    case: str
    alone: Verdict
    """Its verdict alone. Only cases that passed ran under load."""
    reason: str
    """Why it did not pass alone; empty when it did."""
    under_load: dict[Verdict, int]
    """How often it had each verdict."""
    began: tuple[Began, ...]
    """The first outcome of each verdict other than pass, in order of time."""
    rerun: str
    """The command that runs it alone with the same random choices."""


class OperationResult(Part):
    """The requests of one operation under load. Times are milliseconds, from the request to the end of the answer."""

    operation: str
    """The operation; for other requests the first part of the path."""
    method: str
    requests: int
    faults: int
    """Answers with status 5xx, and requests without an answer."""
    median_ms: float
    p95_ms: float
    p99_ms: float
    most_ms: float


class Throughput(Part):
    """The work done under load."""

    seconds: float
    requests: int
    requests_per_second: float
    cases: int
    cases_per_second: float


class NodeMemory(Part):
    """The resident memory of the bundled node, in MB of 1,000,000 bytes."""

    start_mb: float
    """Before the first user."""
    warm_mb: float
    """Once all users have begun."""
    end_mb: float
    """When all users have finished."""
    requests_after_warm_up: int
    mb_per_thousand_requests: float
    """The growth after the warm-up for each thousand requests."""


class ChaosEvent(Part):
    """One disturbance of the node."""

    seconds: float
    """Since the first one could come."""
    what: str
    lasted: float
    """Seconds; of a node that was killed: until it served again."""


class ChaosResult(Part):
    """What came of disturbing the node."""

    events: tuple[ChaosEvent, ...]
    disturbed: int
    """Cases whose outcome says nothing: they met a disturbance."""
    acknowledged: int
    """Writes of the accounts that keep books, which the node accepted."""
    doubtful: int
    """Those that it did not answer, or answered with an error."""
    payments: int
    """Payment intents of these accounts."""
    faults: tuple[str, ...]
    """What was lost, doubled, or not right any more."""


class LoadResults(Part):
    """The record of a campaign."""

    format: Literal[1] = FORMAT
    holds: bool
    """True exactly when the exit code is 0."""
    exit_code: ExitCode
    sentence: str
    """The verdict in words."""
    suite: Suite
    profile: ProfileUsed
    target: TargetJudged
    seed: str
    started: datetime
    finished: datetime
    interrupted: str
    """Why the campaign was interrupted; empty when it was not."""
    users: int
    """How many were asked for."""
    workers: int
    """The number of processes that ran them; 0: a single process."""
    throughput: Throughput
    operations: tuple[OperationResult, ...]
    samples: tuple[Sample, ...]
    """Samples of the load over time."""
    cases: tuple[CaseUnderLoad, ...]
    left_out: dict[str, str]
    """Selected cases that did not run, and why."""
    memory: NodeMemory | None = None
    """Null for nodes that the campaign did not start, with chaos, and on systems other than Linux."""
    chaos: ChaosResult | None = None
    """Null where nothing was asked to disturb the node."""


@dataclass
class LoadRecord:
    """The findings of a campaign so far."""

    campaign: Campaign
    profile: Profile
    base_url: str
    started: datetime
    left_out: dict[str, str] = field(default_factory=dict)
    alone: dict[str, Outcome] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    samples: list[Sample] = field(default_factory=list)
    operations: tuple[OperationResult, ...] = ()
    load_began: float = 0.0
    """By the monotonic clock; 0: not yet."""
    load_ended: float = 0.0
    interrupted: str = ""
    memory: NodeMemory | None = None
    chaos: ChaosResult | None = None

    @property
    def flipped(self) -> list[str]:
        """The cases that passed alone and failed under load."""
        return sorted(name for name, case in self.tally.cases.items() if case.counts.get(Verdict.FAIL))

    def load_at(self, at: float) -> Sample:
        """The load at a moment of the monotonic clock."""
        seconds = at - self.load_began
        before = [sample for sample in self.samples if sample.seconds <= seconds]
        return before[-1] if before else Sample(seconds=max(0.0, seconds), users=1, rate=0.0)


def load_results(record: LoadRecord, options: Sequence[str]) -> LoadResults:
    """The results of a campaign; `options` are those of the command that reruns a case."""
    campaign, profile, code = record.campaign, record.profile, exit_code(record)
    return LoadResults(
        holds=code is ExitCode.CONFORMS,
        exit_code=code,
        sentence=_sentence(record, code),
        suite=Suite(version=version("service-conformance")),
        profile=profile_used(str(campaign.options.profile or "reference"), profile),
        target=TargetJudged(base_url=without_secrets(record.base_url), bundled=campaign.ready_file is not None),
        seed=campaign.seed,
        started=record.started,
        finished=datetime.now(UTC),
        interrupted=record.interrupted,
        users=campaign.users,
        workers=campaign.workers,
        throughput=_throughput(record),
        operations=record.operations,
        samples=tuple(record.samples),
        cases=tuple(_case(record, name, options) for name in sorted(record.alone)),
        left_out=record.left_out,
        memory=record.memory,
        chaos=record.chaos,
    )


def exit_code(record: LoadRecord) -> ExitCode:
    """The exit code, as of a run. Verdicts of cases alone count, too."""
    seen = verdicts(record) + Counter(outcome.verdict for outcome in record.alone.values())
    if record.chaos and record.chaos.faults:
        return ExitCode.FAILS
    for verdict, code in ((Verdict.FAIL, ExitCode.FAILS), (Verdict.SUITE_ERROR, ExitCode.SUITE_ERROR)):
        if seen[verdict]:
            return code
    if record.interrupted:
        return ExitCode.INTERRUPTED
    if seen[Verdict.INCONCLUSIVE] or not verdicts(record):
        return ExitCode.INCONCLUSIVE
    return ExitCode.CONFORMS


def verdicts(record: LoadRecord) -> Counter[Verdict]:
    """The number of outcomes under load with each verdict."""
    return sum((Counter(case.counts) for case in record.tally.cases.values()), Counter())


def _sentence(record: LoadRecord, code: ExitCode) -> str:
    ran, alone = verdicts(record), Counter(outcome.verdict for outcome in record.alone.values())
    every = ran.total()
    if record.chaos and record.chaos.faults:
        return f"The node does not survive: {len(record.chaos.faults)} faults after what disturbed it."
    if code is ExitCode.FAILS and not ran[Verdict.FAIL]:
        return f"The node does not conform even without load: {alone[Verdict.FAIL]} of {alone.total()} cases failed."
    return {
        ExitCode.FAILS: f"The node does not hold under load: {len(record.flipped)} cases that pass alone failed,"
        f" {ran[Verdict.FAIL]} times in {every}.",
        ExitCode.SUITE_ERROR: "The suite erred: some cases did not run as they should, and say nothing about the node.",
        ExitCode.INTERRUPTED: f"The campaign was interrupted: {record.interrupted}",
        ExitCode.INCONCLUSIVE: f"Nothing failed, but {ran[Verdict.INCONCLUSIVE]} of {every} cases were inconclusive."
        if every
        else "Nothing was learnt: no case that passes alone was left to run under load.",
        ExitCode.CONFORMS: f"The node holds: all {every} cases under load ended as they do alone."
        + (" Nothing that it acknowledged was lost or doubled." if record.chaos else ""),
    }.get(code, "")


def _throughput(record: LoadRecord) -> Throughput:
    seconds = max(0.0, record.load_ended - record.load_began)
    requests, cases = sum(operation.requests for operation in record.operations), verdicts(record).total()
    return Throughput(
        seconds=seconds,
        requests=requests,
        requests_per_second=requests / seconds if seconds else 0.0,
        cases=cases,
        cases_per_second=cases / seconds if seconds else 0.0,
    )


def _case(record: LoadRecord, name: str, options: Sequence[str]) -> CaseUnderLoad:
    outcome, tally = record.alone[name], record.tally.cases.get(name)
    firsts = sorted(tally.firsts.items(), key=lambda item: item[1].at) if tally else []
    return CaseUnderLoad(
        case=name,
        alone=outcome.verdict,
        reason=outcome.reason,
        under_load=tally.counts if tally else {},
        began=tuple(_began(record, verdict, first) for verdict, first in firsts),
        rerun=rerun(name, record.campaign.seed, options),
    )


def _began(record: LoadRecord, verdict: Verdict, first: FirstDeparture) -> Began:
    return Began(
        verdict=verdict,
        load=record.load_at(first.at),
        requirements=first.requirements,
        reason=first.reason,
        failure=first.failure,
    )
