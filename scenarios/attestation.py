"""The attestation endpoints, where cases compare: answers, connections, and the evidence before and after a renewal.

Specification: "Authentication" 4, and "Endpoints / Attestation". An answer may be made anew each time, as a quote is,
and several machines may answer in turn. What all answers without a key share has to be in those with a key as well.
Cases about evidence import the verifier, whose libraries are an extra, when they run; so does the one about the
OpenAPI description with the library that reads it.
"""
# ruff: noqa: PLC0415

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from itertools import cycle, islice
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from conformance.cases import Judge, case
from conformance.drivers.attestation.form import RuleName
from conformance.endpoints.control import tell_control
from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import ConnectionDropped, Mismatch, StepProblem, require_verifier
from conformance.service.acceptance import must_accept, raise_for_trouble
from conformance.service.derivations import random_hash
from conformance.service.restarts import Restarts
from conformance.service.session import Session
from conformance.values.json_text import parse, written

if TYPE_CHECKING:
    from conformance.drivers.attestation.evidence import Fetched

OPERATIONS = {
    "info": "info",
    "attestation": "attestation",
    "evidences": "evidences",
    "evidence-checksums": "evidence_checksums",
    "evidence-quote": "evidence_quote",
    "evidence-acme-account": "evidence_acme_account",
}
"""The operations by the ids of their rows, which are listed without running the file."""
HELD = {"evidence_checksums": "ATT-170", "evidence_quote": "ATT-240"}
"""Files of which a client may hold a copy, and what it breaks to call an old copy the newest."""
RENEWED: Mapping[str, RuleName] = {
    "ATT-170": "checksum-binding",
    "ATT-180": "tls-certificate",
    "ATT-240": "evidence-binding",
    "ATT-110": "certificate-bound",
    "ATT-130": "registers",
}
"""What a renewal of the certificate could leave behind: by requirement, the rule that shows it."""
EACH_TIME: Mapping[str, RuleName] = {
    "ATT-020": "info",
    "ATT-040": "attestation",
    "ATT-060": "events",
    "ATT-070": "listing",
    "ATT-080": "checksum-file",
    "ATT-090": "evidence-document",
    "ATT-100": "acme-account",
    "ATT-150": "compose-hash",
    "ATT-170": "checksum-binding",
    "ATT-230": "report-data",
    "ATT-240": "evidence-binding",
}
"""What each answer has to satisfy: by requirement, the rule that shows it."""
TIMES = 3
"""How often everything is asked for again, so that every second or third answer is among them."""
MORE_ROUNDS = 4
"""How often both are asked once more before a difference counts."""

Parts = Mapping[str, object]
"""Value by place: the status, the media type, and each value of the JSON or the whole text."""


def parts_of(answer: Answer) -> Parts:
    """What of an answer is compared."""
    media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    parts: dict[str, object] = {"status": answer.status, "content type": media_type}
    try:
        _place(parse(answer.text), "body", parts)
    except ValueError:
        parts["body"] = answer.text
    return parts


def _place(value: object, path: str, parts: dict[str, object]) -> None:
    if isinstance(value, dict) and value:
        for name, inner in value.items():
            _place(inner, f"{path}.{name}", parts)
    elif isinstance(value, list) and value:
        for index, inner in enumerate(value):
            _place(inner, f"{path}.{index}", parts)
    else:
        parts[path] = value


def differences(alone: Sequence[Parts], presented: Sequence[Parts]) -> list[str]:
    """Places where all answers without a key are alike, and none with a key is like them.

    Where answers without a key differ, only their kind and length are compared.
    """
    places = dict.fromkeys(place for parts in (*alone, *presented) for place in parts)
    return [place for place in places if _differs(place, alone, presented)]


def _differs(place: str, alone: Sequence[Parts], presented: Sequence[Parts]) -> bool:
    for look in (_exact, _shape):
        usual = {look(parts, place) for parts in alone}
        if len(usual) == 1:
            return usual.isdisjoint(look(parts, place) for parts in presented)
    return False


def _exact(parts: Parts, place: str) -> str:
    return written(parts[place]) if place in parts else "absent"


def _shape(parts: Parts, place: str) -> str:
    value = parts.get(place)
    size = len(value) if isinstance(value, str) else 0
    return f"{type(value).__name__} {size}" if place in parts else "absent"


@case(
    "credentials-are-ignored",
    requirements=["ATT-270"],
    needs=["attestation"],
    each=OPERATIONS,
)
def credentials_are_ignored(judge: Judge, session: Session, row: str) -> None:
    """An attestation path answers without a key, and the same with keys that nobody has."""
    operation = session.target.operation(row)
    unknown = b64encode(session.random.randbytes(32)).decode()
    requests = {
        "no key": OutgoingRequest(operation),
        "an unknown key": OutgoingRequest(operation, unknown),
        "an unknown key as bearer": OutgoingRequest(operation, unknown, "bearer"),
        "a key that is none": OutgoingRequest(operation, headers={"X-Api-Key": "no key at all"}),
    }
    got: dict[str, list[Parts]] = {name: [] for name in requests}
    without = session.send(requests["no key"])
    if without.status not in {401, 403}:
        must_accept(without)  # a path that is not served asks for no key either

    def ask(name: str) -> None:
        answer = session.send(requests[name])
        if name == "no key":
            must_accept(answer)
        raise_for_trouble(answer, frozenset({402}))
        got[name].append(parts_of(answer))

    with judge():
        for name in (*requests, "no key"):
            ask(name)
    for name in list(requests)[1:]:
        with judge.apart():
            for _ in range(MORE_ROUNDS):
                if differences(got["no key"], got[name]):
                    for each in session.random.sample(["no key", name, name], 3):
                        ask(each)
            found = differences(got["no key"], got[name])
            judge.that(not found, f"the same answer with {name} as without", f"another {', '.join(found)}")


@case("answers-as-described", requirements=["VER-050"], needs=["attestation", "openapi"])
def answers_as_described(judge: Judge, session: Session) -> None:
    """The answers of the attestation endpoints are as the OpenAPI description says."""
    from conformance.drivers.openapi.answers import DescribedAnswers

    answers = DescribedAnswers(session)
    for operation in OPERATIONS.values():
        session.call(operation)
    with judge():
        answers.must_be_as_described()


# --------------------------------------------------------------------------------------------- connections, renewals


def fresh_evidence(session: Session) -> Fetched:
    """The node's evidence, fetched again. Inconclusive: the verifier's libraries are not installed."""
    require_verifier()
    from conformance.drivers.attestation.evidence import fetched_anew

    return fetched_anew(session.target, session.log)


def certificate_of(judge: Judge, got: Fetched) -> bytes:
    """The certificate of the connection that served the evidence. Trouble with the set-up where there is none."""
    observed = got.reading.observed if got.reading is not None else None
    certificate = observed.tls_certificate if observed is not None else None
    judge.set_up(certificate is not None, f"evidence over HTTPS ({got.trouble or 'it came over HTTP'})")
    return certificate or b""


def shown_and_named(judge: Judge, got: Fetched) -> tuple[bytes, bytes]:
    """That certificate, and sha256sum.txt, which follows the certificate of the evidence."""
    from conformance.verify.evidence import CHECKSUMS

    return certificate_of(judge, got), got.reading.evidence.get(CHECKSUMS, b"") if got.reading is not None else b""


CHALLENGES = ("report_data", "reportData", "nonce", "challenge")
"""Fields of a query in which a caller could ask for report data."""
QUOTES = 20
"""So many that a quote now and then that is another one is among them."""


@case("nobody-chooses-the-report-data", requirements=["ATT-230"], needs=["attestation"])
def nobody_chooses_the_report_data(judge: Judge, session: Session) -> None:
    """Nobody chooses the report data of /attestation's quote, which could otherwise be that of forged evidence."""
    require_verifier()
    asked, unknown = session.request("attestation"), b64encode(session.random.randbytes(32)).decode()
    chosen = random_hash(session.random).removeprefix("0x") * 2
    forms = {
        "as it is": asked,
        "with a key": replace(asked, credential=unknown),
        "with a key as bearer": replace(asked, credential=unknown, via="bearer"),
        **{
            f"with {name} in the query": replace(asked, path=f"{asked.operation.path}?{name}={chosen}")
            for name in CHALLENGES
        },
    }
    judge.set_up(_report_data(session.send(asked)) is not None, "a quote of /attestation that can be read")
    for form, request in islice(cycle(forms.items()), QUOTES):
        report = _report_data(session.send(request))
        with judge.apart():
            # Other fields of a query may be refused.
            judge.that(report is None or not any(report), f"report data of zeros, asked {form}", (report or b"").hex())


def _report_data(answer: Answer) -> bytes | None:
    """The report data of the quote in an answer of /attestation; None where there is no quote that can be read."""
    from conformance.verify.documents import read_attestation
    from conformance.verify.quote import parse_quote
    from conformance.verify.strict import hex_bytes

    try:
        return parse_quote(hex_bytes(read_attestation(answer.text.encode()).quote)).report.report_data
    except ValueError:
        return None


@case(
    "evidence-asked-again",
    requirements=[
        "ATT-020",
        "ATT-040",
        "ATT-060",
        "ATT-070",
        "ATT-080",
        "ATT-090",
        "ATT-100",
        "ATT-150",
        "ATT-170",
        "ATT-230",
        "ATT-240",
    ],
    needs=["attestation"],
)
def evidence_asked_again(judge: Judge, session: Session) -> None:
    """Evidence that is asked for again is as good as the first, each time, and under another spelling of the host."""
    require_verifier()
    from conformance.drivers.attestation.driver import judge_rules

    for _ in range(TIMES):
        got = fresh_evidence(session)
        for requirement, rule in EACH_TIME.items():
            with judge.apart(requirement):
                judge_rules(got, "evidence that is asked for again", requirement, [rule], session.log)
    with judge.apart("ATT-150"):
        asked = replace(session.request("info"), headers={"Host": other_spelling(session.target.base_url)})
        with suppress(ConnectionDropped):  # some servers drop a connection for a host that they do not know
            matches = _matches_its_hash(session.send(asked))
            expected = "an app_compose whose SHA-256 is compose_hash, however Host is spelt"
            judge.that(matches is not False, expected, matches)


def other_spelling(base_url: str) -> str:
    """The host of a URL in capitals, which are the same host (RFC 9110, 4.2.3); of an IP address, another one."""
    address = urlsplit(base_url)
    host = (address.hostname or "").upper()
    port = f":{address.port}" if address.port else ""
    return f"{host if host.strip('0123456789.:') else 'LOCALHOST'}{port}"


def _matches_its_hash(answer: Answer) -> bool | None:
    """Whether the compose hash in an answer of /info is that of its app_compose; None where it is no such answer."""
    from conformance.verify.documents import read_info

    try:
        info = read_info(answer.text.encode())
    except ValueError:
        return None
    return sha256(info.app_compose.encode()).digest() == info.compose_hash


@case("each-connection-shows-the-certificate", requirements=["ATT-280"], needs=["attestation", "tls"])
def each_connection_shows_the_certificate(judge: Judge, session: Session) -> None:
    """New connections for the API and for the evidence show a certificate that evidence names."""
    named = certificate_of(judge, fresh_evidence(session))
    from conformance.drivers.attestation.connections import CONNECTIONS, unnamed_certificates

    with judge("ATT-280"):
        others = unnamed_certificates(session.target, session.log, named)
        judge.that(not others, f"{CONNECTIONS} connections with a certificate that evidence names", others)


class Renewed(NamedTuple):
    """What the node answers after the certificate was renewed."""

    evidence: Fetched
    to_holders: Mapping[str, Answer]
    """The answers to a client that names its copy of before, by operation; not where that is what is served still."""


def renewed(judge: Judge, session: Session) -> Renewed:
    """Renew the certificate, once in a run; the evidence is about another certificate than before."""
    return session.target.remembered("renewed evidence", lambda: _renewed(judge, session))


def _renewed(judge: Judge, session: Session) -> Renewed:
    before = shown_and_named(judge, fresh_evidence(session))
    requests = [OutgoingRequest(session.target.operation(name)) for name in HELD]
    copies = [session.accept(request)[0] for request in requests]
    told = tell_control(session.target, session.log, "rotate", {})
    judge.set_up(told.accepted, "a control that renews the certificate")
    got = fresh_evidence(session)
    judge.set_up(shown_and_named(judge, got) != before, "another certificate after the renewal")
    answers: dict[str, Answer] = {}
    for name, request, copy in zip(HELD, requests, copies, strict=True):
        answer = session.send(replace(request, headers={"If-None-Match": copy.headers.get("etag", '"0"')}))
        if answer.accepted or session.accept(request)[0].text != copy.text:
            answers[name] = answer
    return Renewed(got, answers)


@case(
    "evidence-follows-a-renewal",
    requirements=["ATT-170", "ATT-180", "ATT-240", "ATT-110", "ATT-130"],
    needs=["attestation", "tls", "certificate_control"],
)
def evidence_follows_a_renewal(judge: Judge, session: Session) -> None:
    """Once the certificate is renewed, all evidence is about the new one, also to a client with a copy of the old."""
    found = renewed(judge, session)
    from conformance.drivers.attestation.driver import judge_rules

    for requirement, rule in RENEWED.items():
        with judge.apart(requirement):
            judge_rules(found.evidence, "evidence about the renewed certificate", requirement, [rule], session.log)
    for name, answer in found.to_holders.items():
        with judge.apart(HELD[name], why="If-None-Match names the copy of before the renewal"):
            judge.that(answer.accepted, "the evidence of now", answer.summary)


class Restarted(NamedTuple):
    """What the node answers after a restart."""

    evidence: Fetched
    account: StepProblem | None
    """What is wrong with its ACME account beside the CAA records of then: both may be others after the next restart."""


def restarted(session: Session, restarts: Restarts) -> Restarted:
    """Restart the node, once in a run."""

    def looked_at() -> Restarted:
        restarts.stop()
        got = fresh_evidence(session)
        from conformance.drivers.attestation.driver import judge_rules

        try:
            if session.profile.offers("caa_dns"):
                judge_rules(got, "the account after a restart", "ATT-190", ["caa-account"], session.log)
        except StepProblem as problem:
            return Restarted(got, problem)
        return Restarted(got, None)

    return session.target.remembered("restarted evidence", looked_at)


@case(
    "evidence-follows-a-restart",
    requirements=["ATT-170", "ATT-180", "ATT-240", "ATT-110", "ATT-130"],
    needs=["attestation", "tls", "restart"],
)
def evidence_follows_a_restart(judge: Judge, session: Session, restarts: Restarts) -> None:
    """After a restart all evidence is about the certificate that is served then, whether it is another one or not."""
    got = restarted(session, restarts).evidence
    certificate_of(judge, got)
    from conformance.drivers.attestation.driver import judge_rules

    for requirement, rule in RENEWED.items():
        with judge.apart(requirement):
            judge_rules(got, "evidence after a restart", requirement, [rule], session.log)


@case("account-after-a-restart", requirements=["ATT-190"], needs=["attestation", "tls", "caa_dns", "restart"])
def account_after_a_restart(judge: Judge, session: Session, restarts: Restarts) -> None:
    """After a restart a CAA record of the gateway domain names the ACME account of the evidence still."""
    found = restarted(session, restarts)
    with judge():
        if (problem := found.account) is not None:  # another case may have asked, whose log has the exchanges
            raise Mismatch(problem.expected, problem.got)


@case(
    "account-after-a-renewal",
    requirements=["ATT-190"],
    needs=["attestation", "tls", "caa_dns", "certificate_control"],
)
def account_after_a_renewal(judge: Judge, session: Session) -> None:
    """Once the certificate is renewed, a CAA record of the gateway domain names the ACME account of the evidence."""
    got = renewed(judge, session).evidence
    from conformance.drivers.attestation.driver import judge_rules

    with judge():
        judge_rules(got, "the account of the renewed certificate", "ATT-190", ["caa-account"], session.log)


@case(
    "allowed-after-a-renewal",
    requirements=["ATT-260"],
    needs=["attestation", "tls", "certificate_control", "app_authorisation_contract", "chain_rpc"],
)
def allowed_after_a_renewal(judge: Judge, session: Session) -> None:
    """Once the certificate is renewed, the contract at app_id allows the compose hash still."""
    got = renewed(judge, session).evidence
    from conformance.drivers.attestation.driver import judge_rules

    with judge():
        judge_rules(got, "the compose hash after the renewal", "ATT-260", ["authorisation"], session.log)
