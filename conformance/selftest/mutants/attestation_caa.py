"""Faults of the CAA records: accounts that are not the evidence's, and records that leave issuance to others."""

from __future__ import annotations

from conformance.selftest.tools.alter_attestation import publish_caa
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node

CA = "acme.example"


RECORDS = (
    row("no-account", [f'0 issue "{CA}"']),
    row("nobody", ['0 issue ";"']),
    row("no-issue", ['0 iodef "mailto:{uri}"']),
    row("in-iodef", ['0 iodef "{uri}"', f'0 issue "{CA}"']),
    row("other-tag", ['0 contactemail "accounturi={uri}"', f'0 issue "{CA}"']),
    row("other-parameter", [f'0 issue "{CA}; account={{uri}}"']),
    row("longer-parameter", [f'0 issue "{CA}; xaccounturi={{uri}}"']),
    row("in-another-parameter", [f'0 issue "{CA}; validationmethods=accounturi={{uri}}"']),
    row("comma", [f'0 issue "{CA}, accounturi={{uri}}"']),
    row("as-the-domain", ['0 issue "accounturi={uri}"']),
)


@mutant("ATT-190")
def caa_is_absent(node: Node) -> None:
    """Publish no CAA records."""
    publish_caa(node)
