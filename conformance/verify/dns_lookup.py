"""CAA records of a domain from a DNS resolver, climbing to parent domains (RFC 8659 section 3)."""

from __future__ import annotations

import time
from ipaddress import ip_address

import dns.exception
import dns.name
import dns.rcode
import dns.rdatatype
import dns.rdtypes.ANY.CAA
import dns.resolver

from conformance.verify.observed import MOST_RECORDS, CaaAnswer, CaaRecord
from conformance.verify.transport import Budget

SECONDS = 10.0
"""For one name, with all tries; `Limits.answer_seconds` for all names together."""
MOST_ALIASES = 8
NO_ERROR = "NOERROR"
DECIDED = frozenset({NO_ERROR, "NXDOMAIN"})
"""Statuses that tell which records there are; after any other nothing is known."""


def look_up_caa(domain: str, resolver: str | None = None, budget: Budget | None = None) -> CaaAnswer:
    """The relevant records of a domain. `resolver`: HOST:PORT; None: the system's. ValueError: either is malformed."""
    asking = _resolver(resolver)
    try:
        name = dns.name.from_text(domain.encode("idna").decode().removeprefix("*."))
    except (UnicodeError, dns.exception.DNSException) as problem:
        raise ValueError(f"{domain!r} is no domain name") from problem
    with (budget or Budget()).exchange() as end:
        return _climb(asking, name, end)


def _climb(asking: dns.resolver.Resolver, name: dns.name.Name, end: float) -> CaaAnswer:
    """The records of a name, or of the first parent that has some."""
    first: CaaAnswer | None = None
    while name != dns.name.root:
        answer = _ask(asking, name, end)
        if answer.records or answer.status not in DECIDED:
            return answer
        first = first or answer
        name = name.parent()
    return first or CaaAnswer(NO_ERROR)


def _resolver(address: str | None) -> dns.resolver.Resolver:
    if address is None:
        try:
            resolver = dns.resolver.Resolver()
        except dns.resolver.NoResolverConfiguration as problem:
            raise ValueError("this system names no DNS resolver; name one as HOST:PORT") from problem
    else:
        host, port = _host_and_port(address)
        resolver = dns.resolver.Resolver(configure=False)
        resolver.nameservers, resolver.port = [host], port
    return resolver


def _host_and_port(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    try:
        number = int(port) if colon else 0
        host = str(ip_address(host.strip("[]")))
    except ValueError:
        number = 0
    if not 0 < number < 65536:
        raise ValueError(f"{address!r} is no address of a resolver; write it as 127.0.0.1:53 or [::1]:53")
    return host, number


def _ask(resolver: dns.resolver.Resolver, name: dns.name.Name, end: float) -> CaaAnswer:
    """The records of one name, or the status of the failure."""
    try:
        return _follow(resolver, name, end)
    except dns.resolver.NXDOMAIN:
        status = "NXDOMAIN"
    except dns.resolver.NoNameservers as problem:
        status = _failure(problem)
    except dns.exception.Timeout:
        status = "TIMEOUT"
    except dns.exception.DNSException:
        status = "FORMERR"
    return CaaAnswer(status)


def _follow(resolver: dns.resolver.Resolver, name: dns.name.Name, end: float) -> CaaAnswer:
    """The records of one name, or of the name that aliases lead to."""
    for _ in range(MOST_ALIASES):
        seconds = min(SECONDS, end - time.monotonic())
        if seconds <= 0:
            raise dns.exception.Timeout
        answer = resolver.resolve(name, dns.rdatatype.CAA, raise_on_no_answer=False, search=False, lifetime=seconds)
        if answer.rrset is not None and len(answer.rrset) > MOST_RECORDS:
            return CaaAnswer("TOO-MANY-RECORDS")
        if answer.rrset is not None:
            return CaaAnswer(NO_ERROR, tuple(sorted(map(_record, answer.rrset), key=repr)))
        if answer.canonical_name == name:
            return CaaAnswer(NO_ERROR)
        name = answer.canonical_name
    raise dns.exception.FormError


def _failure(problem: dns.resolver.NoNameservers) -> str:
    """The response code of the last server that gave one; FORMERR for a response that could not be used."""
    for error in reversed(problem.kwargs.get("errors", [])):
        response = error[-1]
        if response is not None:
            status = dns.rcode.to_text(response.rcode())
            return "FORMERR" if status in DECIDED else status
    return "SERVFAIL"


def _record(record: object) -> CaaRecord:
    if not isinstance(record, dns.rdtypes.ANY.CAA.CAA):
        raise dns.exception.FormError
    tag, value = (part.decode("ascii", "backslashreplace") for part in (record.tag, record.value))
    return CaaRecord(record.flags, tag, value)
