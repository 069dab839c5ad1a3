"""Answers the vectors' protocol with this project's own verifier."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import BinaryIO, cast

from conformance.attestation_vectors.protocol import KINDS, PROTOCOL, line
from conformance.verify import Evidence, Verified, verify, verify_quote
from conformance.verify.policy_file import SECTIONS, policy_of
from conformance.verify.results import REFUSING


def serve(requests: BinaryIO | None = None, answers: BinaryIO | None = None) -> None:
    """Answer line by line until the requests end; by default from standard input to standard output."""
    answers = answers or sys.stdout.buffer
    for text in requests or sys.stdin.buffer:
        answers.write(line(answer(json.loads(text))))
        answers.flush()


def answer(asked: Mapping[str, object]) -> dict[str, object]:
    """The answer to a request."""
    if asked["command"] == "start":
        judged = {"kinds": list(KINDS), "policies": list(SECTIONS)}
        return {"protocol": PROTOCOL, "implementation": "service-conformance", **judged}
    verified = _verified(asked)
    refusing = [finding.code for finding in verified.findings if finding.severity in REFUSING]
    result = "accepted" if verified.accepted else "refused"
    return {"id": asked["id"], "result": result, "detail": ", ".join(dict.fromkeys(refusing))}


def _verified(asked: Mapping[str, object]) -> Verified:
    policy = policy_of(cast("Mapping[str, object]", asked.get("policy", {}))).policy
    policy = replace(policy, root=str(asked["root"]).encode())
    if asked["kind"] == "quote":
        quote, collateral = bytes.fromhex(str(asked["quote"])), str(asked["collateral"]).encode()
        return verify_quote(quote, collateral, replace(policy, at=int(str(asked["at"]))))
    files = cast("Mapping[str, str]", asked["files"])
    return verify(Evidence({name: base64.b64decode(body) for name, body in files.items()}), policy)
