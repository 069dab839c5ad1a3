"""The statement of a verdict: in-toto Statement v1 with the predicate test-result v0.1. docs/verify.md shows one.

Its subjects are the code that was judged; `configuration` holds by what, when, and with which evidence.
https://github.com/in-toto/attestation/blob/main/spec/predicates/test-result.md
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import sha256
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from conformance.verify.strict import json_object

PAYLOAD_TYPE = "application/vnd.in-toto+json"
STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"
SUITE = "service-conformance"

COMPOSE, CONTRACT, RESULTS, PROFILE, IMAGE = "app_compose", "AccountConfig", "results.json", "profile", "image:"
"""Names of subjects; an image's is `image:` and its reference, as it is pinned."""
BEFORE, AFTER = "evidence before", "evidence after"

Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Register = Annotated[str, Field(pattern=r"^[0-9a-f]{96}$")]
Time = Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]


class Result(StrEnum):
    """The result of a run."""

    PASSED = "PASSED"
    """Every case was run, none failed, and none was excused."""
    WARNED = "WARNED"
    """No case failed, but not all were run, or some taught nothing, or failed as known."""
    FAILED = "FAILED"


class Part(BaseModel):
    """A part of the statement. Further members are ignored, as in-toto's parsing rules want."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Digest(Part):
    """A digest set."""

    sha256: Hash


class Subject(Part):
    """A part of what was judged."""

    name: str
    digest: Digest
    uri: str | None = None


class System(Part):
    """What booted the code, hex, and the app's id."""

    app_id: str
    mrtd: Register
    rtmr0: Register
    rtmr1: Register
    rtmr2: Register


class EvidenceNotes(System):
    """What stands about evidence."""

    at: Time
    compose_hash: Hash


class SuiteNotes(Part):
    """What stands about the suite."""

    version: str


class SpecificationNotes(Part):
    """What stands about the specification."""

    title: str


class RunNotes(Part):
    """What stands about the run."""

    base_url: str
    started: Time
    finished: Time
    sentence: str
    selected: list[str]
    """The options that chose the cases; empty: all were run."""
    quick: bool
    warnings: list[str]
    """Why the result is WARNED or FAILED, in sentences."""
    not_offered: list[str]
    """Cases that the node's profile does not claim."""


class SuiteUsed(Part):
    """The suite, as a package URL."""

    name: str = "suite"
    uri: str
    annotations: SuiteNotes


class SpecificationUsed(Part):
    """The text that was judged by."""

    name: str = "specification"
    digest: Digest
    annotations: SpecificationNotes


class RunDone(Part):
    """The run; its digest is that of results.json."""

    name: str = "run"
    digest: Digest
    annotations: RunNotes


class EvidenceUsed(Part):
    """The evidence that was verified before the first case, or after the last. `digest_of` makes its digest."""

    name: str
    digest: Digest
    annotations: EvidenceNotes


class Predicate(Part):
    """The members of test-result v0.1."""

    result: Result
    configuration: list[dict[str, JsonValue]]
    passedTests: list[str]  # noqa: N815 - in-toto's name
    warnedTests: list[str]  # noqa: N815
    failedTests: list[str]  # noqa: N815


class Statement(Part):
    """A statement."""

    type: str = Field(alias="_type", pattern=f"^{STATEMENT_TYPE}$")
    subject: list[Subject] = Field(min_length=1)
    predicateType: str = PREDICATE_TYPE  # noqa: N815
    predicate: Predicate


@dataclass(frozen=True)
class JudgedCode:
    """The code that was judged, or that answers now."""

    compose_hash: str
    """Hex."""
    images: frozenset[str]
    """References with `@sha256:` and the digest."""
    contract: str
    """The AccountConfig contract as `eip155:<chain id>:<address>` (CAIP-10), in lower case."""
    system: System

    def differences(self, other: JudgedCode) -> list[str]:
        """What differs from other code, in words; empty: it is the same."""
        named = {
            "app_compose": (self.compose_hash, other.compose_hash),
            "images": (", ".join(sorted(self.images)), ", ".join(sorted(other.images))),
            "contract": (self.contract, other.contract),
        }
        system, other_system = self.system.model_dump(), other.system.model_dump()
        named |= {name: (value, other_system[name]) for name, value in system.items()}
        return [f"{name} {mine} and {theirs}" for name, (mine, theirs) in named.items() if mine != theirs]

    def subjects(self) -> list[Subject]:
        """As subjects of a statement, images by name."""
        images = [
            Subject(name=f"{IMAGE}{image}", digest=Digest(sha256=image.rpartition(":")[2]))
            for image in sorted(self.images)
        ]
        contract = Digest(sha256=sha256(self.contract.encode()).hexdigest())
        return [
            Subject(name=COMPOSE, digest=Digest(sha256=self.compose_hash)),
            *images,
            Subject(name=CONTRACT, digest=contract, uri=self.contract),
        ]


@dataclass(frozen=True)
class Judgement:
    """What a statement says."""

    subjects: tuple[Subject, ...]
    result: Result
    passed: tuple[str, ...]
    warned: tuple[str, ...]
    failed: tuple[str, ...]
    suite: SuiteUsed
    specification: SpecificationUsed
    profile: str
    """SHA-256 of the vendor profile, hex."""
    run: RunDone
    before: EvidenceUsed
    after: EvidenceUsed

    def payload(self) -> bytes:
        """The statement as JSON: same judgement, same bytes."""
        used = (self.suite, self.specification, self.run, self.before, self.after)
        profile: dict[str, JsonValue] = {"name": PROFILE, "digest": {"sha256": self.profile}}
        statement = Statement(
            _type=STATEMENT_TYPE,
            subject=list(self.subjects),
            predicate=Predicate(
                result=self.result,
                configuration=[*(one.model_dump(mode="json") for one in used), profile],
                passedTests=list(self.passed),
                warnedTests=list(self.warned),
                failedTests=list(self.failed),
            ),
        )
        document = statement.model_dump(mode="json", by_alias=True, exclude_none=True)
        return json.dumps(document, indent=1, ensure_ascii=True).encode()


class OtherPredicateError(ValueError):
    """A statement of something else than the result of tests."""


def read_statement(payload: bytes) -> Judgement:
    """Read a statement. ValueError: it is none in this form. OtherPredicateError: it states something else."""
    document = json_object(payload)
    if document.get("predicateType") != PREDICATE_TYPE:
        raise OtherPredicateError(f"the predicate's type is {str(document.get('predicateType'))[:100]!r}")
    statement = _read(Statement, document)
    predicate = statement.predicate
    used = _by_name(predicate.configuration)
    profile = _read(Subject, used[PROFILE])
    return Judgement(
        subjects=tuple(statement.subject),
        result=predicate.result,
        passed=tuple(predicate.passedTests),
        warned=tuple(predicate.warnedTests),
        failed=tuple(predicate.failedTests),
        suite=_read(SuiteUsed, used["suite"]),
        specification=_read(SpecificationUsed, used["specification"]),
        profile=profile.digest.sha256,
        run=_read(RunDone, used["run"]),
        before=_read(EvidenceUsed, used[BEFORE]),
        after=_read(EvidenceUsed, used[AFTER]),
    )


_CONFIGURATION = ("suite", "specification", PROFILE, "run", BEFORE, AFTER)


def _by_name(configuration: Sequence[dict[str, JsonValue]]) -> dict[str, dict[str, JsonValue]]:
    names = Counter(str(one.get("name")) for one in configuration)
    for name in _CONFIGURATION:
        if names[name] != 1:
            raise ValueError(f"predicate.configuration names {name!r} {names[name]} times, not once")
    return {str(one.get("name")): one for one in configuration}


Form = TypeVar("Form", bound=Part)


def _read(form: type[Form], document: object) -> Form:
    try:
        return form.model_validate_json(json.dumps(document), strict=True)
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or form.__name__
        raise ValueError(f"{place}: {first['msg']}") from problem


def time_of(seconds: int) -> str:
    """Unix seconds as a statement has a time."""
    return written_time(datetime.fromtimestamp(seconds, UTC))


def written_time(moment: datetime) -> str:
    """A time as a statement has it, in whole seconds."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
