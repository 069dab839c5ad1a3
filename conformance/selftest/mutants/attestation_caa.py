"""Faults of the CAA records: accounts that are not the evidence's, and records that leave issuance to others."""

from __future__ import annotations

import json
from collections.abc import Callable

import dns.name
import dns.rdatatype
import dns.rrset

from conformance.selftest.tools.alter_attestation import change_bound_file, publish_caa
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.tee.dns import Zone

CA = "acme.example"
Uri = Callable[[str], str]

URIS = (
    row("prefix", lambda uri: uri[:-1]),
    row("longer", lambda uri: uri + "0"),
    row("slash", lambda uri: uri + "/"),
    row("query", lambda uri: uri + "?"),
    row("upper-case-path", lambda uri: uri.replace("/acct/", "/ACCT/")),
    row("http", lambda uri: uri.replace("https:", "http:")),
    row("other-host", lambda uri: uri.replace("//acme.", "//acme2.")),
    row("inside", lambda uri: f"https://other.example/?next={uri}"),
    row("other-account", lambda uri: uri[: uri.rindex("/")] + "/1"),
    row("port", lambda uri: uri.replace(".example/", ".example:443/")),
    row("escaped", lambda uri: uri.replace("/acct/", "/%61cct/")),
)


@mutant("ATT-190", each=URIS)
def caa_pins_an_account_that_looks_alike(node: Node, change: Uri) -> None:
    """Pin another account URI than the evidence's, which looks much like it."""
    uri = change(node.attestation.issuer.account_uri)
    publish_caa(node, *(f'0 {tag} "{CA}; accounturi={uri}"' for tag in ("issue", "issuewild")))


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


@mutant("ATT-190", each=RECORDS)
def caa_pins_no_account(node: Node, records: list[str]) -> None:
    """Publish CAA records in which no `accounturi` stands for the evidence's account."""
    uri = node.attestation.issuer.account_uri
    publish_caa(node, *(record.format(uri=uri) for record in records))


@mutant("ATT-190")
def caa_is_absent(node: Node) -> None:
    """Publish no CAA records."""
    publish_caa(node)


@mutant("ATT-190")
def domain_does_not_exist(node: Node) -> None:
    """Deny in DNS that the gateway domain exists."""
    node.attestation.zone = Zone.of("other.example", {"CAA": [f'0 issue "{CA}"']})


class _ParentZone(Zone):
    """Has the records of its domain at the parent as well, and others at the domain itself."""

    def find(self, name: dns.name.Name, kind: dns.rdatatype.RdataType) -> list[dns.rrset.RRset] | None:
        """Find CAA records of the parent."""
        if name == self.domain.parent() and kind == dns.rdatatype.CAA:
            return [dns.rrset.from_rdata_list(name, 60, list(self.records[kind]))]
        if name == self.domain and kind == dns.rdatatype.CAA:
            return [dns.rrset.from_text(name, 60, "IN", "CAA", f'0 issue "{CA}; accounturi=https://{CA}/1"')]
        return super().find(name, kind)


@mutant("ATT-190")
def caa_of_the_parent_alone_pins_the_account(node: Node) -> None:
    """Pin the account at the parent domain, and another at the gateway domain, which alone counts."""
    zone = node.attestation.zone
    node.attestation.zone = _ParentZone(zone.domain, zone.records)


@mutant("ATT-190")
def account_is_another_than_that_of_caa(node: Node) -> None:
    """Show and bind another ACME account than the one that CAA records pin."""
    other = json.dumps({"uri": f"{node.attestation.issuer.account_uri}0"}).encode()
    change_bound_file(node, "acme-account.json", lambda _: other)
