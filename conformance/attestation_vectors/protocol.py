"""The protocol by which a command judges attestation vectors: a line of JSON each way (docs/attestation-vectors.md)."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from conformance.attestation_vectors.files import COLLATERAL, QUOTE, Kind, Vector

PROTOCOL = 1
KINDS: tuple[Kind, ...] = ("quote", "evidence")
START = {"command": "start", "protocol": PROTOCOL}


class Result(StrEnum):
    """What a command says of a vector."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True)
class Hello:
    """Who answers, and which kinds of vectors it judges."""

    implementation: str
    kinds: frozenset[str]
    policies: frozenset[str]
    """Sections of a policy that it judges by."""

    def judges(self, vector: Vector) -> bool:
        """Whether it can be asked about a vector."""
        return vector.kind in self.kinds and vector.policy.keys() <= self.policies


@dataclass(frozen=True)
class Answer:
    """A command's word on one vector."""

    result: Result
    detail: str


def line(message: Mapping[str, object]) -> bytes:
    """A message as it goes over the wire."""
    return json.dumps(message).encode() + b"\n"


def request(vector: Vector) -> dict[str, object]:
    """The question about a vector."""
    asked: dict[str, object] = {"command": "verify", "id": vector.id, "kind": vector.kind}
    if vector.kind == "quote":
        asked |= {"quote": vector.files[QUOTE].decode().strip(), "collateral": vector.files[COLLATERAL].decode()}
    else:
        asked["files"] = {name: base64.b64encode(body).decode() for name, body in vector.files.items()}
    return asked | {"root": vector.root, "at": vector.at} | ({"policy": vector.policy} if vector.policy else {})


def read_hello(text: bytes) -> Hello:
    """The answer to `start`. ValueError: it is none."""
    members = _object(text)
    if members.get("protocol") != PROTOCOL:
        raise ValueError(f"it speaks protocol {members.get('protocol')!r}, not {PROTOCOL}")
    name, kinds, policies = members.get("implementation"), members.get("kinds"), members.get("policies", [])
    if not isinstance(name, str) or not isinstance(kinds, Sequence) or not set(kinds) <= set(KINDS):
        raise ValueError(f"no implementation, or kinds that are not among {', '.join(KINDS)}")
    if not isinstance(policies, list):
        raise ValueError("policies is no list of sections of a policy")  # noqa: TRY004 - a fault of the text
    return Hello(name, frozenset(map(str, kinds)), frozenset(map(str, policies)))


def read_answer(text: bytes, asked: str) -> Answer:
    """The answer about the vector of this id. ValueError: it is none."""
    members = _object(text)
    if members.get("id") != asked:
        raise ValueError(f"an answer about {members.get('id')!r}, where {asked!r} was asked about")
    return Answer(Result(str(members.get("result"))), str(members.get("detail") or ""))


def _object(text: bytes) -> Mapping[str, object]:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("no JSON object")  # noqa: TRY004 - a fault of the text, not of a caller
    return value
