"""A quote with its collateral, before something is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import cast

from conformance.attestation_vectors.files import COLLATERAL, QUOTE
from conformance.selftest.attestation.forms import Base, Group, Test
from reference_node.tee.collateral import (
    CollateralForm,
    JsonObject,
    make_collateral,
    qe_identity_document,
    tcb_info_document,
)
from reference_node.tee.pki import Platform, PlatformForm, Role
from reference_node.tee.quotes import QeReport, QuoteForm, TdReport, make_quote
from reference_node.tee.sgx_extension import PlatformTcb

NOW = datetime(2026, 3, 1, tzinfo=UTC)
"""The time for which all vectors are judged, unless one says another."""

Path = Sequence[str | int]
"""Members and indexes that lead into a JSON document."""


@dataclass(frozen=True)
class SoundQuote:
    """Everything behind a quote and its collateral; a test replaces one thing."""

    seed: bytes
    platform: PlatformForm = field(default_factory=PlatformForm)
    report: TdReport = field(default_factory=TdReport)
    version: int = 4
    quote: QuoteForm = field(default_factory=QuoteForm)
    collateral: CollateralForm = field(default_factory=CollateralForm)
    issued: datetime = NOW

    @cached_property
    def machine(self) -> Platform:
        """The platform."""
        return Platform(self.seed, NOW, self.platform)

    @cached_property
    def raw(self) -> bytes:
        """The quote."""
        return make_quote(self.machine, self.report, version=self.version, form=self.quote)

    @cached_property
    def members(self) -> dict[str, str]:
        """The members of the collateral."""
        return make_collateral(self.machine, self.issued, self.collateral).as_json()

    def files(self, raw: bytes | None = None, members: Mapping[str, object] | None = None) -> dict[str, str]:
        """The two files, with another quote or other members of the collateral."""
        kept = {name: value for name, value in (self.members | dict(members or {})).items() if value is not ABSENT}
        return {QUOTE: (self.raw if raw is None else raw).hex() + "\n", COLLATERAL: as_file(kept)}

    def with_form(self, **changes: object) -> dict[str, str]:
        """The files with some fields of the quote's form replaced."""
        return replace(self, quote=replace(self.quote, **changes)).files()  # type: ignore[arg-type]

    def with_report(self, **changes: object) -> dict[str, str]:
        """The files with some fields of the TD report replaced."""
        return replace(self, report=replace(self.report, **changes)).files()  # type: ignore[arg-type]

    def with_qe_report(self, **changes: object) -> dict[str, str]:
        """The files with some fields of the quoting enclave's report replaced, and the report signed again."""
        return self.with_form(qe_report=replace(QeReport(), **changes))  # type: ignore[arg-type]

    def with_certificate(self, role: Role, **changes: object) -> dict[str, str]:
        """The files with the certificate of one role made differently."""
        return replace(self, platform=self.platform.with_certificate(role, **changes)).files()

    def with_tcb(self, **changes: object) -> dict[str, str]:
        """The files with another PCK certificate, under the TCB info of the platform as it was."""
        tcb = replace(PlatformTcb(), **changes)  # type: ignore[arg-type]
        form = replace(self.collateral, tcb_info=tcb_info_document(self.machine))
        return replace(self, platform=replace(self.platform, tcb=tcb), collateral=form).files()

    def with_tcb_info(self, path: Path, value: object) -> dict[str, str]:
        """The files with one value of the TCB info replaced, and signed again."""
        document = edited(tcb_info_document(self.machine), path, value)
        return replace(self, collateral=replace(self.collateral, tcb_info=document)).files()

    def with_qe_identity(self, path: Path, value: object) -> dict[str, str]:
        """The files with one value of the QE identity replaced, and signed again."""
        document = edited(qe_identity_document(self.machine), path, value)
        return replace(self, collateral=replace(self.collateral, qe_identity=document)).files()

    def group(self, topic: str, comment: str, tests: Sequence[Test]) -> Group:
        """A group whose base is this quote."""
        name = f"quote-{self.version}"
        base = Base(name, "quote", self.machine.root_pem, int(NOW.timestamp()), self.files())
        return Group(topic, comment, base, tests)


ABSENT = object()
"""Takes the place of a value that is to be left out."""


def edited(document: JsonObject, path: Path, value: object) -> JsonObject:
    """A JSON document with one value replaced, or taken away with `ABSENT`."""
    changed = deepcopy(document)
    holder: object = changed
    for step in path[:-1]:
        holder = cast("dict[str | int, object]", holder)[step]
    members = cast("dict[str | int, object]", holder)
    if value is ABSENT:
        del members[path[-1]]
    else:
        members[path[-1]] = value
    return changed


def as_file(members: Mapping[str, object]) -> str:
    """JSON with a line for each member, so that a changed member changes one line."""
    return json.dumps(members, indent=1) + "\n"


def bit_flipped(data: bytes, place: int, bit: int = 0) -> bytes:
    """The bytes with one bit changed."""
    return data[:place] + bytes([data[place] ^ 1 << bit]) + data[place + 1 :]


def spliced_bytes(data: bytes, place: int, new: bytes) -> bytes:
    """The bytes with some of them replaced by as many others."""
    return data[:place] + new + data[place + len(new) :]
