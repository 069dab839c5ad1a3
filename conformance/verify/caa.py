"""CAA records that pin an ACME account (RFC 8659, RFC 8657): every record that permits a CA must name exactly it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from conformance.verify.faults import Fault
from conformance.verify.observed import CaaAnswer, CaaRecord

WHERE = "observed.json: caa"
CRITICAL = 0x80
KNOWN = frozenset({"issue", "issuewild", "iodef", "contactemail", "contactphone", "issuemail", "issuevmc"})
"""IANA's registry of CAA properties."""
_LABEL = r"[A-Za-z0-9](?:-*[A-Za-z0-9])*"
_ISSUER = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_PARAMETER = re.compile(rf"({_LABEL})[ \t]*=[ \t]*([\x21-\x3a\x3c-\x7e]*)")


@dataclass(frozen=True)
class Permission:
    """An `issue` or `issuewild` value that permits a CA."""

    issuer: str
    account: str | None


def parse_issue(value: str) -> Permission | None:
    """Whom a value permits; None: nobody. ValueError: it is not in the form of RFC 8659 section 4.2."""
    issuer, *parameters = (part.strip(" \t") for part in value.split(";"))
    if issuer and not _ISSUER.fullmatch(issuer):
        raise ValueError(f"{issuer[:100]!r} is no domain name of a CA")
    accounts: list[str] = []
    if parameters != [""]:
        for text in parameters:
            match = _PARAMETER.fullmatch(text)
            if match is None:
                raise ValueError(f"{text[:200]!r} is no parameter")
            if match[1].lower() == "accounturi":
                accounts.append(match[2])
    if len(accounts) > 1:
        raise ValueError("accounturi stands twice, which permits nobody (RFC 8657 section 3)")
    return Permission(issuer, accounts[0] if accounts else None) if issuer else None


def check_account(answer: CaaAnswer, uri: str, *, allow_others: bool = False, accepted: Collection[str] = ()) -> int:
    """Number of records that pin the account. Fault: a record permits one that is not accepted, or none pins it."""
    _check_answer(answer)
    issue = _permissions(answer, "issue")
    if issue is None:
        raise Fault("caa-no-issue", "no `issue` record: any CA may issue to anybody", WHERE)
    permissions = [*issue, *(_permissions(answer, "issuewild") or [])]
    for permission in permissions:
        if permission.account is None:
            raise Fault("caa-unpinned", f"{permission.issuer} may issue to any account", WHERE)
    others = [permission.account for permission in permissions if permission.account != uri]
    if not any(permission.account == uri for permission in issue):
        named = ", ".join(map(repr, others)) or "nobody"
        raise Fault("caa-account-absent", f"the evidence's account is {uri!r}; the records permit {named[:300]}", WHERE)
    unknown = [account for account in others if account not in accepted]
    if unknown and not allow_others:
        raise Fault("caa-other-account", f"beside {uri!r} the records permit {unknown[0]!r}", WHERE)
    return len(permissions) - len(others)


def _check_answer(answer: CaaAnswer) -> None:
    """There are records, and none that a CA would have to stop at."""
    if answer.status == "NXDOMAIN":
        raise Fault("caa-domain-absent", "the gateway domain does not exist (NXDOMAIN)", WHERE)
    if answer.status != "NOERROR":
        raise Fault("caa-lookup-failed", f"DNS answered {answer.status[:40]}: nothing is known", WHERE)
    if not answer.records:
        raise Fault("caa-absent", "no CAA record on the domain or above it: any CA may issue to anybody", WHERE)
    for record in answer.records:
        if record.flags & CRITICAL and record.tag.lower() not in KNOWN:
            raise Fault("caa-critical-unknown", f"the critical property {record.tag[:40]!r} is unknown", WHERE)


def _permissions(answer: CaaAnswer, tag: str) -> list[Permission] | None:
    """Whom the records of a tag permit; None: there is no such record."""
    records = [record for record in answer.records if record.tag.lower() == tag]
    return [permission for record in records if (permission := _permission(record))] if records else None


def _permission(record: CaaRecord) -> Permission | None:
    try:
        return parse_issue(record.value)
    except ValueError as problem:
        raise Fault("caa-malformed", f"{record.tag} {record.value[:200]!r}: {problem}", WHERE) from problem
