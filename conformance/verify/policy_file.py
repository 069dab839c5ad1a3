"""Reads a policy from YAML, and measurements from YAML or JSON. Each error names the file, the line and the key."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias, TypeVar

from pydantic import JsonValue, TypeAdapter, ValidationError

from conformance.problems import LoadProblem
from conformance.values.marked_yaml import Document, Place
from conformance.verify.certificates import read_root
from conformance.verify.dsse import read_public_key
from conformance.verify.event_log import extend
from conformance.verify.evidence import read_file
from conformance.verify.fetching import Sources
from conformance.verify.keyless import read_trusted_root
from conformance.verify.pccs import INTEL_PCS
from conformance.verify.policy import (
    BOOT_REGISTERS,
    KeylessSigner,
    KeyProvider,
    Measurements,
    Policy,
    Signer,
    StatementPolicy,
)
from conformance.verify.policy_form import MeasurementsForm, PolicyForm, SignerForm, StatementForm
from conformance.verify.statement import Result
from conformance.verify.strict import hex_bytes

MOST_BYTES = 1 << 20
"""No policy and no file of measurements is longer."""
MOST_SHOWN = 20
"""Errors of a file that are shown."""
INTEL = "intel"
DAY = 24 * 3600

T = TypeVar("T")


class BadPolicy(LoadProblem):
    """A policy, a file of measurements, or a file that a policy names cannot be used."""

    code = "bad-policy"
    cause = "the policy does not follow its schema"
    hint = "docs/verify.md describes every key; editors check against conformance/verify/policy.schema.json"


@dataclass(frozen=True)
class PolicyFile:
    """What a policy file says: what is accepted, and where evidence comes from beside the service."""

    policy: Policy = field(default_factory=Policy)
    sources: Sources = field(default_factory=Sources)


def load_policy(path: Path) -> PolicyFile:
    """Read a policy. LoadProblem: the file, or one that it names, cannot be used."""
    document = _document(path)
    form = _validated(TypeAdapter(PolicyForm), document.value, document)
    read = PolicyFile()
    for section, apply in SECTIONS.items():
        try:
            read = apply(read, form, path)
        except (OSError, ValueError) as problem:
            reason = f"{problem.filename}: {problem.strerror}" if isinstance(problem, OSError) else str(problem)
            raise BadPolicy(f"{section}: {reason}", path, document.line((section,))) from problem
    return read


def policy_of(document: Mapping[str, object]) -> PolicyFile:
    """The same of a document that was read already. ValueError, OSError: it is no policy."""
    form, read = PolicyForm.model_validate_json(json.dumps(document), strict=True), PolicyFile()
    for apply in SECTIONS.values():
        read = apply(read, form, Path("policy"))
    return read


def load_measurements(path: Path) -> tuple[Measurements, ...]:
    """Read one set of measurements, or a list of them. LoadProblem: it cannot be used."""
    document = _document(path)
    listed: JsonValue = document.value if isinstance(document.value, list) else [document.value]
    within: Place = () if isinstance(document.value, list) else (0,)
    forms = _validated(TypeAdapter(list[MeasurementsForm]), listed, document, within)
    if not forms:
        raise BadPolicy("no measurements; name one set at least", path, 1)
    try:
        return _measurements(forms, path.stem)
    except ValueError as problem:
        raise BadPolicy(str(problem), path, 1) from problem


def _document(path: Path) -> Document:
    try:
        too_long = path.stat().st_size > MOST_BYTES
    except OSError as problem:
        raise BadPolicy(f"cannot be read: {problem.strerror}", path) from problem
    if too_long:
        raise BadPolicy(f"is longer than {MOST_BYTES} bytes", path)
    return Document(path)


def _validated(form: TypeAdapter[T], value: JsonValue, document: Document, within: Place = ()) -> T:
    """The form of a value. `within`: the beginning of places that the document does not have."""
    try:
        return form.validate_json(json.dumps(value), strict=True)
    except ValidationError as problem:
        errors = problem.errors(include_url=False)
    faults: dict[tuple[int, str], str] = {}
    for error in errors:
        place = tuple(error["loc"])[len(within) :]
        shown = ".".join(map(str, place)) or "the file"
        faults.setdefault((document.line(place), shown), _said(error["type"], error["msg"], error["input"]))
    lines = [(line, f"{shown}: {said}") for (line, shown), said in sorted(faults.items())]
    first, *others = lines[:MOST_SHOWN]
    rest = "".join(f"\n{document.path}:{line}: {text}" for line, text in others)
    raise BadPolicy(first[1] + rest, document.path, first[0])


def _said(kind: str, message: str, value: object) -> str:
    if kind == "extra_forbidden":
        return "no such key"
    if kind == "missing":
        return "is missing"
    advice = "; write it in quotes" if kind == "string_type" and isinstance(value, int | float) else ""
    return f"{message}{advice}"


Section: TypeAlias = Callable[[PolicyFile, PolicyForm, Path], PolicyFile]


def _with(read: PolicyFile, **changes: object) -> PolicyFile:
    return replace(read, policy=replace(read.policy, **changes))  # type: ignore[arg-type]  # mypy cannot type **changes


def _expecting(read: PolicyFile, **changes: object) -> PolicyFile:
    return _with(read, expected=replace(read.policy.expected, **changes))  # type: ignore[arg-type]


def _root(read: PolicyFile, form: PolicyForm, path: Path) -> PolicyFile:
    if form.root == INTEL:
        return read
    inline = form.root.startswith("-----BEGIN")
    body = form.root.encode() if inline else read_file(path.parent / form.root)
    try:
        read_root(body)
    except ValueError as problem:
        raise ValueError(f"no certificate that can be read: {problem}") from problem
    return _with(read, root=body)


def _collateral(read: PolicyFile, form: PolicyForm, path: Path) -> PolicyFile:
    said = form.collateral
    if said.pccs and said.file:
        raise ValueError("name either pccs or file")
    body = read_file(path.parent / said.file) if said.file else None
    read = replace(read, sources=replace(read.sources, pccs=said.pccs or INTEL_PCS, collateral=body))
    return _with(read, most_collateral_age=_seconds(said.max_age_days))


def _tcb(read: PolicyFile, form: PolicyForm, _: Path) -> PolicyFile:
    return _with(read, accepted_statuses=frozenset(form.tcb.accept), most_tcb_age=_seconds(form.tcb.max_age_days))


def _td(read: PolicyFile, form: PolicyForm, _: Path) -> PolicyFile:
    return _with(read, allow_debug=form.td.allow_debug, allow_ve_injection=form.td.allow_ve_injection)


def _boot(read: PolicyFile, form: PolicyForm, path: Path) -> PolicyFile:
    if form.boot.measurements and form.boot.file:
        raise ValueError("name either measurements or file")
    if form.boot.file:
        return _with(read, measurements=load_measurements(path.parent / form.boot.file))
    return _with(read, measurements=_measurements(form.boot.measurements, path.stem))


def _app(read: PolicyFile, form: PolicyForm, path: Path) -> PolicyFile:
    app = form.app
    provider = app.key_provider
    if app.compose_file:
        read = _with(read, expected_compose=read_file(path.parent / app.compose_file))
    return _expecting(
        read,
        app_id=hex_bytes(app.id) if app.id else None,
        instance_id=hex_bytes(app.instance_id) if app.instance_id else None,
        key_provider=KeyProvider(provider.name, provider.id) if provider else None,
        compose_hashes=frozenset(map(hex_bytes, app.compose_hash)),
        image_digests=frozenset(app.image_digests),
        os_image_hashes=frozenset(map(hex_bytes, app.os_image_hash)),
    )


def _contract(read: PolicyFile, form: PolicyForm, _: Path) -> PolicyFile:
    return replace(read, sources=replace(read.sources, rpc_url=form.contract.rpc_url))


def _caa(read: PolicyFile, form: PolicyForm, _: Path) -> PolicyFile:
    read = replace(read, sources=replace(read.sources, resolver=form.caa.resolver))
    read = _with(read, allow_other_accounts=form.caa.allow_other_accounts)
    return _expecting(read, acme_accounts=frozenset(form.caa.accounts))


def _statement(read: PolicyFile, form: PolicyForm, path: Path) -> PolicyFile:
    said = form.statement
    if not said.signers:
        if said != StatementForm():
            raise ValueError("name the signers whose statements are believed")
        return read
    signers = tuple(_signer(one, path) for one in said.signers)
    results = frozenset(map(Result, said.accept))
    root = None if said.trusted_root is None else _trusted_root(said.trusted_root, path)
    return _with(read, statement=StatementPolicy(signers, _seconds(said.max_age_days), results, root))


def _signer(said: SignerForm, path: Path) -> Signer | KeylessSigner:
    name = said.name or ""
    if said.key and not said.identity and not said.issuer:
        return Signer(_signing_key(said.key, path), name)
    if said.identity and said.issuer and not said.key:
        return KeylessSigner(said.identity, said.issuer, name)
    raise ValueError("signers: name either key, or identity and issuer")


def _trusted_root(text: str, path: Path) -> bytes:
    body = text.encode() if text.startswith("{") else read_file(path.parent / text)
    try:
        read_trusted_root(body)
    except ValueError as problem:
        raise ValueError(f"trusted_root: {problem}") from problem
    return body


def _signing_key(text: str, path: Path) -> bytes:
    body = text.encode() if text.startswith("-----BEGIN") else read_file(path.parent / text)
    try:
        read_public_key(body)
    except ValueError as problem:
        raise ValueError(f"signers: {problem}") from problem
    return body


SECTIONS: Mapping[str, Section] = {
    "root": _root,
    "collateral": _collateral,
    "tcb": _tcb,
    "td": _td,
    "boot": _boot,
    "app": _app,
    "contract": _contract,
    "caa": _caa,
    "statement": _statement,
}
"""Section of the file to what reads it."""


def _seconds(days: int | None) -> int | None:
    return None if days is None else days * DAY


def _measurements(forms: list[MeasurementsForm], file: str) -> tuple[Measurements, ...]:
    """ValueError: a register is not what its own events replay to."""
    return tuple(
        _one(form.name or (file if len(forms) == 1 else f"{file} {number}"), form)
        for number, form in enumerate(forms, start=1)
    )


def _one(name: str, form: MeasurementsForm) -> Measurements:
    registers = {register: hex_bytes(getattr(form, register)) for register in BOOT_REGISTERS}
    digests = {register: tuple(map(hex_bytes, getattr(form.events, register))) for register in BOOT_REGISTERS[1:]}
    for register, events in digests.items():
        if events and extend(events) != registers[register]:
            raise ValueError(f"{name}: the events of {register} do not replay to its value")
    return Measurements(name=name, source=form.source, events=tuple(digests.values()), **registers)
