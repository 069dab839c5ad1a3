"""What a statement of a verdict says: whether the code that answers is the code that was judged, by whom and when."""

from __future__ import annotations

from conformance.verify.compose import ComposeFault, pinned_images
from conformance.verify.documents import read_chain_config
from conformance.verify.dsse import read_public_key
from conformance.verify.evidence import CHAIN_CONFIG, INFO, STATEMENT
from conformance.verify.faults import Fault
from conformance.verify.judging import Notes
from conformance.verify.keyless import told
from conformance.verify.policy import BOOT_REGISTERS, KeylessSigner, Signer
from conformance.verify.reading import Reading
from conformance.verify.statement import (
    AFTER,
    COMPOSE,
    CONTRACT,
    IMAGE,
    PAYLOAD_TYPE,
    PROFILE,
    RESULTS,
    SUITE,
    JudgedCode,
    Judgement,
    Result,
    Subject,
    System,
)
from conformance.verify.strict import unix_seconds, when

DAY = 24 * 3600
MOST_SKEW = 300
"""Seconds by which the clocks of a signer and of a verifier may differ."""


def code_of(reading: Reading) -> JudgedCode:
    """The code that evidence shows. Fault: it does not name all of it."""
    identity, report = reading.identity, reading.quote.report
    registers = dict(zip(BOOT_REGISTERS, (report.mr_td, *report.registers[:3]), strict=True))
    try:
        images = pinned_images(reading.app_compose.docker_compose_file)
    except ComposeFault as fault:
        raise Fault(fault.code, fault.text, f"{INFO}: docker_compose_file") from fault
    body = reading.body(CHAIN_CONFIG, "contract-unknown")
    try:
        contract = read_chain_config(body)
    except ValueError as problem:
        raise Fault("contract-unknown", str(problem), CHAIN_CONFIG) from problem
    return JudgedCode(
        compose_hash=identity.compose_hash.hex(),
        images=frozenset(image.name for image in images),
        contract=contract,
        system=System(app_id=identity.app_id.hex(), **{name: value.hex() for name, value in registers.items()}),
    )


def statement(reading: Reading, _: Notes) -> str:
    """The envelope, and in it a statement of a verdict."""
    envelope = reading.envelope
    if envelope.payload_type != PAYLOAD_TYPE:
        raise Fault("statement-type", f"the type is {envelope.payload_type[:100]!r}, not {PAYLOAD_TYPE}", STATEMENT)
    said = reading.statement
    return f"in-toto Statement v1 of a test-result v0.1 on {len(said.subjects)} subjects"


def signature(reading: Reading, _: Notes) -> str:
    """Every signature is one of the policy's signers."""
    return "; ".join(f"{signer.name or 'a signer'}, {_signed_with(signer)}" for signer in reading.signers)


def _signed_with(signer: Signer | KeylessSigner) -> str:
    return told(signer) if isinstance(signer, KeylessSigner) else f"key {read_public_key(signer.key).keyid}"


def judged_code(reading: Reading, notes: Notes) -> str:
    """The subjects are the code that the evidence shows, and the judged machine booted the same."""
    said, code = reading.statement, code_of(reading)
    _compare_subjects(said, code, notes)
    where = f"{STATEMENT}: {AFTER}"
    judged, measured = said.after.annotations.model_dump(), code.system.model_dump()
    if judged["app_id"] != measured["app_id"]:
        notes.add("judged-app-differs", f"app {judged['app_id']} was judged, {measured['app_id']} is measured", where)
    for register in () if reading.policy.measurements else BOOT_REGISTERS:
        if judged[register] != measured[register]:
            differs = f"{register.upper()} was {judged[register]}, and is {measured[register]}"
            notes.add("judged-boot-differs", differs, where)
    booted = "measurements of the policy" if reading.policy.measurements else "MRTD, RTMR0, RTMR1, RTMR2"
    return f"app_compose {code.compose_hash}, {len(code.images)} images, {code.contract}, {booted}: as judged"


def _compare_subjects(said: Judgement, code: JudgedCode, notes: Notes) -> None:
    where = f"{STATEMENT}: subject"
    names = [subject.name for subject in said.subjects]
    expected = {subject.name: subject for subject in code.subjects()}
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            notes.add("judged-subjects", f"{name} stands {names.count(name)} times", where)
        if not name.startswith(IMAGE) and name not in {*expected, RESULTS, PROFILE}:
            notes.add("judged-subjects", f"a verdict is about no {name!r}", where)
    for name in (RESULTS, PROFILE, COMPOSE, CONTRACT):
        if name not in names:
            notes.add("judged-subjects", f"{name} is missing", where)
    judged = {subject.name: subject for subject in said.subjects}
    for name, differs in ((COMPOSE, "judged-compose-differs"), (CONTRACT, "judged-contract-differs")):
        if name in judged and judged[name] != expected[name]:
            notes.add(differs, f"{_shown(judged[name])} was judged, {_shown(expected[name])} is there", where)
    images, running = ({name: one for name, one in of.items() if name.startswith(IMAGE)} for of in (judged, expected))
    if images != running:
        got = f"judged were {', '.join(sorted(images)) or 'none'}; there are {', '.join(sorted(running))}"
        notes.add("judged-images-differ", got, where)


def _shown(subject: Subject) -> str:
    return f"{subject.uri or subject.name} with SHA-256 {subject.digest.sha256}"


def judged_run(reading: Reading, _: Notes) -> str:
    """The run was made with this suite, and what is said of it fits together."""
    said = reading.statement
    suite, specification, run = said.suite, said.specification, said.run
    if suite.uri != f"pkg:pypi/{SUITE}@{suite.annotations.version}":
        raise Fault("judged-suite", f"{suite.uri} judged", f"{STATEMENT}: suite")
    for name, digest in ((RESULTS, run.digest.sha256), (PROFILE, said.profile)):
        if any(subject.name == name and subject.digest.sha256 != digest for subject in said.subjects):
            raise _contradiction(f"{name} is another one as subject than in the configuration")
    before, after = said.before.annotations, said.after.annotations
    composes = {subject.digest.sha256 for subject in said.subjects if subject.name == COMPOSE}
    if {before.compose_hash, after.compose_hash} - composes:
        raise _contradiction("evidence before or after the run is of another app_compose than the subject")
    if before.model_copy(update={"at": after.at}) != after:
        raise _contradiction("before and after the run the machine had other registers")
    times = [_seconds(time) for time in (run.annotations.started, before.at, after.at, run.annotations.finished)]
    if times != sorted(times):
        raise _contradiction("the evidence was not observed at the beginning and at the end of the run")
    return (
        f"{SUITE} {suite.annotations.version}, specification {specification.digest.sha256}, "
        f"{RESULTS} {run.digest.sha256}"
    )


def _contradiction(text: str) -> Fault:
    return Fault("judged-run-contradiction", text, f"{STATEMENT}: configuration")


def _seconds(time: str) -> int:
    try:
        return unix_seconds(time)
    except ValueError as problem:
        raise _contradiction(str(problem)) from problem


def judged_result(reading: Reading, notes: Notes) -> str:
    """The result is one that the policy accepts, and follows from the cases."""
    said, accepted = reading.statement, reading.policy.statement
    notes_of_run, where = said.run.annotations, f"{STATEMENT}: predicate"
    cases = (*said.passed, *said.warned, *said.failed, *notes_of_run.not_offered)
    if len(set(cases)) != len(cases):
        raise Fault("judged-result-contradiction", "a case stands there twice", where)
    excused = bool(said.warned or notes_of_run.warnings or notes_of_run.selected or notes_of_run.quick)
    best = Result.FAILED if said.failed or not said.passed else Result.WARNED if excused else Result.PASSED
    ranks = list(Result)
    if ranks.index(said.result) < ranks.index(best):
        got = f"{said.result}, where cases and warnings allow {best} at most"
        raise Fault("judged-result-contradiction", got, where)
    if said.result is Result.FAILED or accepted is None or said.result not in accepted.results:
        wanted = ", ".join(sorted(accepted.results)) if accepted else "nothing"
        raise Fault("judged-result", f"{said.result}, the policy accepts {wanted}: {_why(said)}", where)
    for warning in notes_of_run.warnings:
        notes.add("judged-with-warnings", warning, where)
    counts = (("passed", said.passed), ("warned", said.warned), ("not offered", notes_of_run.not_offered))
    return f"{said.result}: {', '.join(f'{len(names)} {what}' for what, names in counts if names)}"


def _why(said: Judgement) -> str:
    return " ".join(said.run.annotations.warnings)[:300] or said.run.annotations.sentence[:300]


def judged_time(reading: Reading, _: Notes) -> str:
    """The run ended neither too long ago nor in the future."""
    said, accepted = reading.statement, reading.policy.statement
    finished = _seconds(said.run.annotations.finished)
    age, where = reading.at - finished, f"{STATEMENT}: run.finished"
    told = f"the run ended {when(finished)}"
    if age < -MOST_SKEW:
        raise Fault("judged-in-future", f"{told}, after {when(reading.at)}", where)
    most = accepted.most_age if accepted else None
    if most is not None and age > most:
        raise Fault("judged-too-old", f"{told}, {age // DAY} days before; the policy allows {most // DAY}", where)
    allowed = "of any age" if most is None else f"at most {most // DAY} days are allowed"
    return f"{told}, {max(age, 0) // DAY} days before; {allowed}"
