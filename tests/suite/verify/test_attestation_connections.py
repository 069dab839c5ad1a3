"""Connections that end at several machines: each certificate has to be one that evidence names (ATT-280)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from conformance.drivers.attestation.connections import CONNECTIONS, strangers
from conformance.drivers.attestation.evidence import address_of
from conformance.endpoints.client import Target
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.redaction import Secrets
from conformance.selftest.tools.serving import target_node
from conformance.verify.evidence import CHECKSUMS
from conformance.verify.fetching import path_of
from conformance.verify.transport import Transport
from reference_node.node import Node


@pytest.fixture
def machines() -> Iterator[Sequence[tuple[Node, Target]]]:
    """Two machines, each with a certificate and evidence of its own."""
    nodes: list[Node] = []
    with target_node(nodes.append, "0") as one, target_node(nodes.append, "1") as other:
        yield list(zip(nodes, (one, other), strict=True))


def in_turn(machines: Sequence[tuple[Node, Target]]) -> Callable[[], Transport]:
    """Connections to one machine after the other."""
    addresses = itertools.cycle(address_of(target) for _, target in machines)
    return lambda: Transport(next(addresses))


def named_by(target: Target) -> bytes:
    with Transport(address_of(target)) as transport:
        return transport.get(path_of(CHECKSUMS)).certificate or b""


def judged(machines: Sequence[tuple[Node, Target]]) -> list[str]:
    target = machines[0][1]
    return strangers(in_turn(machines), target.profile, ExchangeLog(Secrets()), {named_by(target)})


def test_machines_with_their_own_evidence_are_no_strangers(machines: Sequence[tuple[Node, Target]]) -> None:
    assert named_by(machines[0][1]) != named_by(machines[1][1])
    assert judged(machines) == []


def test_machine_whose_evidence_names_another_certificate_is_a_stranger(
    machines: Sequence[tuple[Node, Target]],
) -> None:
    (ours, _), (other, _) = machines
    other.attestation._evidence = replace(ours.attestation.evidence, tls=other.attestation.evidence.tls)
    found = judged(machines)
    assert len(found) == CONNECTIONS // 2
    assert all("SHA-256" in told for told in found)
