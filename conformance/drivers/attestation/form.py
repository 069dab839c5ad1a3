"""The form of a case of the driver `attestation` in a pack."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from conformance.language.models import CaseForm

RuleName = Literal[
    "info",
    "app-compose",
    "attestation",
    "quote",
    "events",
    "listing",
    "checksum-file",
    "evidence-document",
    "acme-account",
    "evidence-files",
    "compose-hash",
    "image-pins",
    "checksum-binding",
    "tls-certificate",
    "caa-account",
    "event-types",
    "event-digests",
    "report-data",
    "evidence-binding",
    "certificate-bound",
    "authorisation-contract",
    "authorisation",
    "quotes",
    "registers",
    "evidence-quote",
    "same-app",
    "api-connection",
]


class AttestationCase(CaseForm):
    """Judges the node's evidence, which is fetched once a run, by rules of the attestation verifier."""

    driver: Literal["attestation"]
    rules: Annotated[list[RuleName], Field(min_length=1)]
    """The rules that are judged."""
    because_of: list[str] = Field(default_factory=list)
    """Requirements whose findings also break the case's. Default: the case's own."""
