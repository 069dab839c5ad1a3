"""Tests and groups of vectors before they are numbered, and how their files are written as changes of a base."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from conformance.attestation_vectors.files import (
    BaseForm,
    Change,
    GroupForm,
    Kind,
    Policy,
    Resigned,
    Result,
    Splice,
    TestForm,
    resigned,
    spliced,
)

Files = Mapping[str, str | bytes | None]
"""The files of a test: text, bytes that are no UTF-8, or None where one is absent."""

GAP = 8
"""Splices that are nearer than this are one: a splice costs as much itself."""


@dataclass(frozen=True)
class Test:
    """A vector without its number."""

    comment: str
    flags: tuple[str, ...]
    files: Files
    finding: str | None
    """The code that a refusal must have."""
    result: Result
    root: str | None = None
    """PEM of the root to trust in place of the base's."""
    policy: Policy = field(default_factory=dict)
    """What the caller accepts, where it is not all that is sound."""


@dataclass(frozen=True)
class Base:
    """What the tests of some groups change."""

    name: str
    kind: Kind
    root: str
    at: int
    files: Mapping[str, str]

    def written(self) -> BaseForm:
        """As a file has it."""
        return {"type": self.kind, "root": self.root, "at": self.at, "files": dict(self.files)}


@dataclass(frozen=True)
class Group:
    """Tests that share a base and a topic."""

    topic: str
    comment: str
    base: Base
    tests: Sequence[Test]


Kinds = Mapping[str, tuple[str, str | None]]
"""Code of a finding to its rule and requirement."""


def accepted(comment: str, files: Files, *flags: str) -> Test:
    """A test that every verifier must accept."""
    return Test(comment, flags or ("Valid",), files, None, "accepted")


def refused(finding: str, comment: str, files: Files, *flags: str) -> Test:
    """A test that every verifier must refuse, with the code of the finding."""
    return Test(comment, flags, files, finding, "refused")


def rows(table: Mapping[str, Mapping[str, object]]) -> Iterable[tuple[str, Mapping[str, object]]]:
    """Comments, each with what is replaced."""
    return table.items()


def written(group: Group, first: int, kinds: Kinds, rule: str) -> GroupForm:
    """A group as its file has it, its tests numbered from `first`; `rule` is that of accepted tests."""
    return {
        "topic": group.topic,
        "comment": group.comment,
        "base": group.base.name,
        "tests": [_test(group.base, test, number, kinds, rule) for number, test in enumerate(group.tests, start=first)],
    }


def _test(base: Base, test: Test, number: int, kinds: Kinds, rule: str) -> TestForm:
    told_rule, requirement = kinds[test.finding] if test.finding else (rule, None)
    form: TestForm = {
        "tcId": number,
        "comment": test.comment,
        "flags": list(test.flags),
        "result": test.result,
        "rule": told_rule,
        "requirement": requirement,
        "finding": test.finding,
        "files": changes(base.files, test.files),
    }
    if test.root is not None and test.root != base.root:
        form["root"] = test.root
    if test.policy:
        form["policy"] = test.policy
    return form


def changes(base: Mapping[str, str], files: Files) -> dict[str, Change]:
    """How files differ from a base; a base's file that they do not name is absent."""
    found: dict[str, Change] = {}
    for name in [*base, *(name for name in files if name not in base)]:
        new = files.get(name)
        if isinstance(new, bytes):
            found[name] = {"hex": new.hex()}
        elif new is None:
            found[name] = None
        elif name not in base:
            found[name] = new
        elif new != base[name]:
            found[name] = _shortest(base[name], new)
    return found


def _shortest(old: str, new: str) -> Change:
    if (change := _resigned(old, new)) is not None:
        return change
    splices = list(_joined(old, _splices(old, new)))
    if spliced(old, splices) != new:
        raise AssertionError("splices that do not give the text")
    return splices if sum(len(text) + 12 for _, _, text in splices) < len(new) else new


def _resigned(old: str, new: str) -> Resigned | None:
    """The change of a DSSE envelope by its payload; None: something else changed than payload and signatures."""
    try:
        payloads = [base64.b64decode(json.loads(text)["payload"]).decode() for text in (old, new)]
        signatures = [signature["sig"] for signature in json.loads(new)["signatures"]]
        splices = list(_joined(payloads[0], _splices(payloads[0], payloads[1])))
        change: Resigned = {"payload": splices, "signatures": signatures}
        return change if splices and resigned(old, change) == new else None
    except (ValueError, LookupError, TypeError):
        return None


def _splices(old: str, new: str) -> Iterator[Splice]:
    """Line by line first: what stands between two changed lines stays as it is."""
    old_lines, new_lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
    matcher = SequenceMatcher(None, old_lines, new_lines, autojunk=False)
    starts = [0]
    for line in old_lines:
        starts.append(starts[-1] + len(line))
    for tag, first, last, new_first, new_last in matcher.get_opcodes():
        if tag == "equal":
            continue
        pairs = [("".join(old_lines[first:last]), "".join(new_lines[new_first:new_last]))]
        if last - first == new_last - new_first:
            pairs = list(zip(old_lines[first:last], new_lines[new_first:new_last], strict=True))
        place = starts[first]
        for before, after in pairs:
            yield from _within(before, after, place)
            place += len(before)


def _within(old: str, new: str, place: int) -> Iterator[Splice]:
    """Runs of differing characters where the length is the same, else what stands between common start and end."""
    if len(old) == len(new):
        yield from ((place + at, 1, new[at]) for at in range(len(old)) if old[at] != new[at])
        return
    start = next((at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    yield place + start, len(old) - start - end, new[start : len(new) - end]


def _joined(old: str, splices: Iterator[Splice]) -> Iterator[Splice]:
    """Splices with those in one that stand close together."""
    last: Splice | None = None
    for start, removed, inserted in splices:
        if last is not None and start - (last[0] + last[1]) < GAP:
            between = old[last[0] + last[1] : start]
            last = (last[0], start + removed - last[0], last[2] + between + inserted)
            continue
        if last is not None:
            yield last
        last = (start, removed, inserted)
    if last is not None:
        yield last
