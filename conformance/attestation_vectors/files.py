"""The files of attestation vectors: `fixtures/attestation/*.json`, described by `schema.json` beside this module.

A test says how its files differ from those of a base, so that the files stay small and show what was changed.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NotRequired, TypedDict, cast

from conformance.problems import Problem
from conformance.resources import fixtures

QUOTE = "quote.hex"
COLLATERAL = "collateral.json"

Kind = Literal["quote", "evidence"]
Result = Literal["accepted", "refused"]
Splice = tuple[int, int, str]
"""Where in the base's text, how many characters go, what comes in their place."""


class Resigned(TypedDict):
    """A DSSE envelope as the base's, with another payload and other signatures."""

    payload: Sequence[Splice]
    """Of the text that the base's payload is the base64 of."""
    signatures: Sequence[str]
    """Base64; each stands in place of the one of its number."""


Change = str | None | Sequence[Splice] | Mapping[str, str] | Resigned
"""A whole text; `null`, the file is absent; splices of the base's text; `{"hex": …}`, bytes that are no UTF-8; or the
base's envelope signed anew."""


Policy = dict[str, object]
"""Sections of a policy file (docs/verify.md)."""


class Note(TypedDict):
    """What a flag means."""

    description: str
    effect: str
    """What a verifier lets through, or keeps out, that judges such a test wrongly."""


class TestForm(TypedDict):
    """A test as its file has it."""

    tcId: int
    comment: str
    flags: list[str]
    result: Result
    rule: str
    requirement: str | None
    finding: str | None
    files: dict[str, Change]
    root: NotRequired[str]
    """In place of the base's."""
    policy: NotRequired[Policy]
    """What the caller accepts, where it is not all that is sound."""


class GroupForm(TypedDict):
    """A group as its file has it."""

    topic: str
    comment: str
    base: str
    tests: list[TestForm]


class BaseForm(TypedDict):
    """What the tests of some groups change, as its file has it."""

    type: Kind
    root: str
    """PEM of the root certificate to trust."""
    at: int
    """Unix seconds for which to judge."""
    files: dict[str, str]


class FileForm(TypedDict):
    """A file of vectors."""

    description: str
    generator: str
    numberOfTests: int
    notes: dict[str, Note]
    bases: dict[str, BaseForm]
    testGroups: list[GroupForm]


@dataclass(frozen=True)
class Vector:
    """A test with everything that it takes to run it."""

    file: str
    topic: str
    tc_id: int
    kind: Kind
    comment: str
    flags: tuple[str, ...]
    result: Result
    rule: str
    requirement: str | None
    finding: str | None
    """The code of a finding that this project's verifier must have; `None` where the vector is accepted."""
    files: Mapping[str, bytes]
    root: str
    """PEM of the root certificate to trust."""
    at: int
    """Unix seconds for which to judge."""
    policy: Policy

    @property
    def id(self) -> str:
        """Unique among all vectors."""
        return f"{self.file.removesuffix('.json')}/{self.tc_id}"


def folder() -> Path:
    """Where the shipped files are."""
    return fixtures() / "attestation"


def shipped() -> list[Vector]:
    """Every shipped vector, by file and number."""
    return [vector for path in sorted(folder().glob("*.json")) for vector in read(path)]


def read(path: Path) -> list[Vector]:
    """The vectors of a file. Problem: it is none."""
    try:
        form = json.loads(path.read_text(encoding="utf-8"))
        return list(_vectors(path.name, cast("FileForm", form)))
    except (OSError, ValueError, LookupError, TypeError) as fault:
        raise Problem(f"{path}: no file of attestation vectors: {fault}") from None


def _vectors(name: str, form: FileForm) -> Iterator[Vector]:
    for group in form["testGroups"]:
        base = form["bases"][group["base"]]
        for test in group["tests"]:
            yield Vector(
                file=name,
                topic=group["topic"],
                tc_id=test["tcId"],
                kind=base["type"],
                comment=test["comment"],
                flags=tuple(test["flags"]),
                result=test["result"],
                rule=test["rule"],
                requirement=test["requirement"],
                finding=test["finding"],
                files=changed(base["files"], test["files"]),
                root=test.get("root", base["root"]),
                at=base["at"],
                policy=test.get("policy", {}),
            )


def changed(base: Mapping[str, str], changes: Mapping[str, Change]) -> dict[str, bytes]:
    """The files of a test: those of its base, with its own changes."""
    files = {name: text.encode() for name, text in base.items() if name not in changes}
    for name, change in changes.items():
        if isinstance(change, str):
            files[name] = change.encode()
        elif isinstance(change, Mapping) and "hex" in change:
            files[name] = bytes.fromhex(cast("Mapping[str, str]", change)["hex"])
        elif isinstance(change, Mapping):
            files[name] = resigned(base[name], cast("Resigned", change)).encode()
        elif change is not None:
            files[name] = spliced(base[name], change).encode()
    return files


def resigned(envelope: str, change: Resigned) -> str:
    """An envelope with its payload changed and other signatures, as indented JSON."""
    members = json.loads(envelope)
    payload = base64.b64decode(members["payload"]).decode()
    members["payload"] = base64.b64encode(spliced(payload, change["payload"]).encode()).decode()
    for signature, replaced in zip(members["signatures"], change["signatures"], strict=True):
        signature["sig"] = replaced
    return json.dumps(members, indent=2) + "\n"


def spliced(text: str, splices: Sequence[Splice]) -> str:
    """A text with splices done; their places are those in the text as it was, from first to last."""
    parts: list[str] = []
    done = 0
    for start, removed, inserted in splices:
        parts += [text[done:start], inserted]
        done = start + removed
    return "".join([*parts, text[done:]])
