"""Answers of the simulated DNS: it has the CAA and address records of one domain, and knows no other name.

RFC 1035, RFC 6891 (EDNS) and RFC 8659 (CAA). It answers for the root of a name space of its own, so that whoever climbs
from the domain to its parents, as RFC 8659 says, is told that there is nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.rrset

TTL = 60
"""Seconds for which an answer may be kept."""

HEADER_BYTES = 12
PLAIN_UDP_BYTES = 512
"""What a client that says nothing takes over UDP (RFC 1035)."""
LARGEST_UDP_BYTES = 1232
"""What is sent over UDP at most, so that no answer is fragmented."""
LARGEST_TCP_BYTES = 65535

QUERY_BIT = 0x80
"""In the third byte of a header: whether the message is an answer."""

SOA = "ns.example. hostmaster.example. 1 3600 600 86400 60"


@dataclass(frozen=True)
class Zone:
    """The records of one domain; every other name does not exist, but for its parents."""

    domain: dns.name.Name
    records: Mapping[dns.rdatatype.RdataType, dns.rrset.RRset]

    @classmethod
    def of(cls, domain: str, records: Mapping[str, Iterable[str]]) -> Zone:
        """Texts of records by type, for instance `{"CAA": ['0 issue ";"']}`."""
        name = dns.name.from_text(domain)
        sets = {kind: dns.rrset.from_text(name, TTL, "IN", kind, *texts) for kind, texts in records.items()}
        return cls(name, {records.rdtype: records for records in sets.values()})

    def find(self, name: dns.name.Name, kind: dns.rdatatype.RdataType) -> list[dns.rrset.RRset] | None:
        """The records of this type; `None` where there is no such name."""
        if name != self.domain:
            return [] if name.is_superdomain(self.domain) else None
        if kind == dns.rdatatype.ANY:
            return list(self.records.values())
        return [self.records[kind]] if kind in self.records else []


def caa_record(tag: str, value: str) -> str:
    """The text of a CAA record without flags."""
    return f'0 {tag} "{value}"'


def respond(zone: Zone, wire: bytes, *, tcp: bool) -> bytes | None:
    """The answer to a message; `None` where it deserves none."""
    if len(wire) < HEADER_BYTES or wire[2] & QUERY_BIT:
        return None
    try:
        query = dns.message.from_wire(wire)
    except dns.exception.DNSException:
        return _format_error(wire)
    answer = _answer(zone, query)
    most = LARGEST_TCP_BYTES if tcp else min(max(query.payload, PLAIN_UDP_BYTES), LARGEST_UDP_BYTES)
    return answer.to_wire(max_size=most, prefer_truncation=True)


def _answer(zone: Zone, query: dns.message.Message) -> dns.message.Message:
    answer = dns.message.make_response(query, our_payload=LARGEST_UDP_BYTES)
    answer.flags |= dns.flags.AA
    refusal = _refusal(query)
    if refusal is not None:
        answer.set_rcode(refusal)
        return answer
    question = query.question[0]
    found = zone.find(question.name, question.rdtype)
    if found:
        answer.answer.extend(found)
    else:
        answer.authority.append(dns.rrset.from_text(dns.name.root, TTL, "IN", "SOA", SOA))
    if found is None:
        answer.set_rcode(dns.rcode.NXDOMAIN)
    return answer


def _refusal(query: dns.message.Message) -> dns.rcode.Rcode | None:
    """Why a well-formed message is not looked up."""
    if query.edns > 0:
        return dns.rcode.BADVERS
    if query.opcode() != dns.opcode.QUERY:
        return dns.rcode.NOTIMP
    if len(query.question) != 1:
        return dns.rcode.FORMERR
    question = query.question[0]
    if question.rdclass != dns.rdataclass.IN or question.rdtype in {dns.rdatatype.AXFR, dns.rdatatype.IXFR}:
        return dns.rcode.REFUSED
    return None


def _format_error(wire: bytes) -> bytes:
    """A bare header with the message's id: nothing else of it can be trusted."""
    flags = QUERY_BIT << 8 | (wire[2] & 0x79) << 8 | dns.rcode.FORMERR
    return wire[:2] + flags.to_bytes(2) + bytes(8)
