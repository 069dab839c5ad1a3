"""Connections that end at several machines: each certificate has to be one that evidence names (ATT-280)."""

from __future__ import annotations

import itertools

from conformance.drivers.attestation.connections import strangers
from conformance.drivers.attestation.evidence import address_of
from conformance.endpoints.client import Target
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.redaction import Secrets
from conformance.selftest.tools.serving import target_node
from conformance.verify.evidence import CHECKSUMS
from conformance.verify.fetching import path_of
from conformance.verify.transport import Transport


def named_by(target: Target) -> bytes:
    with Transport(address_of(target)) as transport:
        return transport.get(path_of(CHECKSUMS)).certificate or b""


def test_machines_with_their_own_evidence_are_no_strangers() -> None:
    with target_node(lambda _: None, "0") as one, target_node(lambda _: None, "1") as other:
        assert named_by(one) != named_by(other)
        in_turn = itertools.cycle(map(address_of, (one, other)))
        log = ExchangeLog(Secrets())
        assert strangers(lambda: Transport(next(in_turn)), one.profile, log, {named_by(one)}) == []
