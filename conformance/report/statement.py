"""The statement of a run's verdict: what it says follows from results.json and from the evidence that the run kept."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import datetime

from conformance.problems import Problem
from conformance.report.build import exit_code_of
from conformance.report.profile_used import without_secrets
from conformance.report.results import EvidenceVerified, Results
from conformance.report.write import AFTER, BEFORE
from conformance.verdict import ExitCode, Verdict
from conformance.verify import Evidence, Policy, verify
from conformance.verify import statement as form
from conformance.verify.evidence import digest_of
from conformance.verify.faults import Fault
from conformance.verify.observed import Observed
from conformance.verify.reading import Reading
from conformance.verify.results import REFUSING
from conformance.verify.rules.statement import code_of
from conformance.verify.statement import EvidenceNotes, EvidenceUsed, JudgedCode, Judgement, Subject, written_time


class NoStatement(Problem):
    """Nothing can be stated of a run."""

    code = "no-statement"
    cause = "the run and its evidence do not hold what a statement says"
    hint = "run the suite anew with --evidence DIR, and change neither results.json nor the folder"


def judgement_of(results: Results, before: Evidence, after: Evidence, policy: Policy) -> Judgement:
    """What a statement says of a run. `policy`: how its evidence is judged. Raise NoStatement."""
    evidence = results.evidence
    if evidence is None:
        raise NoStatement("results.json names no evidence: the run was made without --evidence DIR")
    if evidence.trouble or evidence.after is None:
        raise NoStatement(f"after the last case the evidence was not verified: {evidence.trouble or 'it is missing'}")
    _check_totals(results)
    code, seen = _verified(before, evidence.before, BEFORE, results, policy)
    code_after, seen_after = _verified(after, evidence.after, AFTER, results, policy)
    first, last = seen.at, seen_after.at
    if differences := code.differences(code_after):
        raise NoStatement(f"before and after the cases other code answered: {'; '.join(differences)}")
    if not _second(results.started) <= first <= last <= results.finished.timestamp():
        raise NoStatement("the evidence was not observed while the run went on: at its beginning, then at its end")
    used = _used(form.BEFORE, before, code, first), _used(form.AFTER, after, code, last)
    return _judgement(results, code, *used, list(_warnings(results, seen)))


def _second(moment: datetime) -> int:
    """Evidence says when it was observed in whole seconds."""
    return int(moment.timestamp())


def _check_totals(results: Results) -> None:
    """What follows from the cases is not otherwise than a run writes it."""
    verdicts = [case.verdict for case in results.cases]
    code = exit_code_of(verdicts, results.faults, results.interrupted)
    counts = {verdict: verdicts.count(verdict) for verdict in Verdict if verdict in verdicts}
    if (results.exit_code, results.conforms) != (code, code is ExitCode.CONFORMS) or results.totals.cases != counts:
        raise NoStatement("results.json contradicts itself: its totals or its exit code do not follow from its cases")
    names = [case.case for case in results.cases]
    if len(set(names)) != len(names):
        raise NoStatement("results.json contradicts itself: a case stands in it twice")


def _verified(
    evidence: Evidence, recorded: EvidenceVerified, name: str, results: Results, policy: Policy
) -> tuple[JudgedCode, Observed]:
    """The code that evidence of the run shows, and what was observed beside it."""
    if digest_of(evidence) != recorded.sha256:
        raise NoStatement(f"the evidence in {name}/ is not the one that results.json names by its SHA-256")
    verified = verify(evidence, policy)
    if not verified.accepted or not recorded.verified:
        refusing = dict.fromkeys(finding.code for finding in verified.findings if finding.severity in REFUSING)
        raise NoStatement(f"the evidence in {name}/ is refused: {', '.join(refusing) or 'the run refused it'}")
    reading = Reading(evidence, policy)
    try:
        code, observed = code_of(reading), reading.observed
    except Fault as fault:
        raise NoStatement(f"the evidence in {name}/ does not name the code: {fault}") from fault
    stated = results.profile.content.get("attestation")
    other = stated.get("base_url") if isinstance(stated, dict) else None
    if observed is None or without_secrets(observed.base_url) not in {results.target.base_url, other}:
        raise NoStatement(f"the evidence in {name}/ is not of the node that results.json names")
    return code, observed


def _used(name: str, evidence: Evidence, code: JudgedCode, at: int) -> EvidenceUsed:
    notes = EvidenceNotes(at=form.time_of(at), compose_hash=code.compose_hash, **code.system.model_dump())
    return EvidenceUsed(name=name, digest=form.Digest(sha256=digest_of(evidence)), annotations=notes)


def _judgement(
    results: Results, code: JudgedCode, before: EvidenceUsed, after: EvidenceUsed, warnings: list[str]
) -> Judgement:
    digest = form.Digest(sha256=hashlib.sha256(results.content).hexdigest())
    notes = form.RunNotes(
        base_url=results.target.base_url,
        started=written_time(results.started),
        finished=written_time(results.finished),
        sentence=results.sentence,
        selected=list(results.selected),
        quick=results.quick,
        warnings=warnings,
        not_offered=_cases(results, Verdict.NOT_OFFERED),
    )
    specification, profile = results.specification, form.Digest(sha256=results.profile.sha256)
    return Judgement(
        subjects=(
            *code.subjects(),
            Subject(name=form.RESULTS, digest=digest),
            Subject(name=form.PROFILE, digest=profile),
        ),
        result=_result(results, warnings),
        passed=tuple(_cases(results, Verdict.PASS)),
        warned=tuple(_cases(results, Verdict.KNOWN, Verdict.INCONCLUSIVE)),
        failed=tuple(_cases(results, Verdict.FAIL, Verdict.SUITE_ERROR)),
        suite=form.SuiteUsed(
            uri=f"pkg:pypi/{results.suite.name}@{results.suite.version}",
            annotations=form.SuiteNotes(version=results.suite.version),
        ),
        specification=form.SpecificationUsed(
            digest=form.Digest(sha256=specification.sha256),
            annotations=form.SpecificationNotes(title=specification.title),
        ),
        profile=results.profile.sha256,
        run=form.RunDone(digest=digest, annotations=notes),
        before=before,
        after=after,
    )


def _cases(results: Results, *verdicts: Verdict) -> list[str]:
    return [case.case for case in results.cases if case.verdict in verdicts]


def _result(results: Results, warnings: list[str]) -> form.Result:
    if results.conforms:
        return form.Result.WARNED if warnings else form.Result.PASSED
    some_passed = bool(_cases(results, Verdict.PASS))
    inconclusive = results.exit_code is ExitCode.INCONCLUSIVE and some_passed
    return form.Result.WARNED if inconclusive else form.Result.FAILED


def _warnings(results: Results, observed: Observed) -> Iterator[str]:
    """Why the result is not PASSED, a sentence each."""
    proving = {case for requirement in results.requirements for case in requirement.checks}
    left_out = len(proving - {case.case for case in results.cases})
    if results.selected or results.quick or left_out:
        chosen = ", ".join([*results.selected, *(["--quick"] if results.quick else [])])
        yield f"A part of the cases was run, {left_out} were not{f': {chosen}' if chosen else ''}."
    for verdict, what in (
        (Verdict.KNOWN, "failed as the vendor's list of known failures says"),
        (Verdict.INCONCLUSIVE, "taught nothing"),
        (Verdict.FAIL, "failed"),
        (Verdict.SUITE_ERROR, "ended by an error of the suite"),
    ):
        if count := len(_cases(results, verdict)):
            yield f"{count} {'case' if count == 1 else 'cases'} {what}."
    yield from results.faults
    same = without_secrets(observed.base_url) == results.target.base_url and observed.tls_certificate is not None
    if not same and not results.target.bundled:
        yield "Nothing shows that the cases' connections ended where the evidence is from: use one https:// address."
