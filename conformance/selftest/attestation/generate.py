"""Writes the files of attestation vectors. The seed decides every key and name: the same seed gives the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from conformance.attestation_vectors.files import BaseForm, FileForm, GroupForm
from conformance.selftest.attestation import (
    accounts,
    bodies,
    boots,
    bound_files,
    certificates,
    collateral_documents,
    images,
    layouts,
    measurements,
    policies,
    revocations,
    served_certificates,
    signatures,
    statements,
    td_reports,
)
from conformance.selftest.attestation.flags import FLAGS
from conformance.selftest.attestation.forms import Group, written
from conformance.values.json_text import vectors_text
from conformance.verify import FAULTS

DESCRIPTION = (
    "Quotes and evidence that a verifier must accept or refuse. A test says how its files differ from its base; "
    "docs/attestation-vectors.md describes the form."
)


@dataclass(frozen=True)
class File:
    """A file of vectors: its rule, for accepted tests, and what makes its groups from a seed."""

    rule: str
    groups: Callable[[bytes], Sequence[Group]]


FILES: Mapping[str, File] = {
    "quote_layout.json": File("quotes", layouts.groups),
    "quote_signatures.json": File("quotes", signatures.groups),
    "td_report.json": File("quotes", td_reports.groups),
    "quote_certificates.json": File("quotes", certificates.groups),
    "revocation.json": File("quotes", revocations.groups),
    "boot.json": File("boot-measurements", boots.groups),
    "policy.json": File("expected-identity", policies.groups),
    "collateral.json": File("quotes", collateral_documents.groups),
    "compose_hash.json": File("compose-hash", measurements.compose_groups),
    "images.json": File("image-pins", images.groups),
    "checksums.json": File("evidence-files", bound_files.checksum_groups),
    "certificate.json": File("tls-certificate", served_certificates.groups),
    "caa.json": File("caa-account", accounts.caa_groups),
    "event_log.json": File("event-log", measurements.event_groups),
    "bindings.json": File("report-data", bound_files.binding_groups),
    "authorisation.json": File("authorisation", accounts.authorisation_groups),
    "bodies.json": File("attestation", bodies.groups),
    "statement.json": File("statement", statements.groups),
}


def vector_files(seed: str, names: Collection[str] = FILES.keys()) -> dict[str, str]:
    """Name and text of each file, or of some."""
    return {name: _text(name, file, seed) for name, file in FILES.items() if name in names}


def _text(name: str, file: File, seed: str) -> str:
    kinds = {code: (kind.rule.value, kind.requirement) for code, kind in FAULTS.items()}
    groups = file.groups(f"attestation vectors {seed} {name}".encode())
    forms: list[GroupForm] = []
    number = 1
    for group in groups:
        forms.append(written(group, number, kinds, file.rule))
        number += len(group.tests)
    used = sorted({flag for group in groups for test in group.tests for flag in test.flags})
    form: FileForm = {
        "description": DESCRIPTION,
        "generator": f"service-conformance vectors attestation --seed {seed}",
        "numberOfTests": number - 1,
        "notes": {flag: {"description": FLAGS[flag][0], "effect": FLAGS[flag][1]} for flag in used},
        "bases": _bases(groups),
        "testGroups": forms,
    }
    return vectors_text(form)


def _bases(groups: Sequence[Group]) -> dict[str, BaseForm]:
    bases: dict[str, BaseForm] = {}
    for group in groups:
        if bases.setdefault(group.base.name, group.base.written()) != group.base.written():
            raise AssertionError(f"two bases are called {group.base.name}")
    return bases
