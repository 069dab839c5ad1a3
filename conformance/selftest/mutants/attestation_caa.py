"""Faults of the CAA records: accounts that are not the evidence's, and records that leave issuance to others."""

from __future__ import annotations

from conformance.selftest.tools.alter_attestation import publish_caa
from conformance.selftest.tools.mutant import mutant
from reference_node.node import Node


@mutant("ATT-190")
def caa_is_absent(node: Node) -> None:
    """Publish no CAA records."""
    publish_caa(node)
