"""Evidence, read lazily: each body once, each with the code of what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeVar

from conformance.verify import documents, dsse, keyless
from conformance.verify.certificates import Certificate, read_chain, read_root
from conformance.verify.chain import Platform, judge_quote
from conformance.verify.documents import AppCompose, Attestation, EvidenceQuote, Info
from conformance.verify.event_log import (
    IDENTITY,
    RUNTIME_REGISTER,
    SYSTEM_READY,
    Event,
    before_ready,
    extend,
    of_register,
    read_event_log,
)
from conformance.verify.evidence import (
    ACME_ACCOUNT,
    ATTESTATION,
    CHECKSUMS,
    COLLATERAL,
    EVIDENCE_QUOTE,
    INFO,
    LISTING,
    OBSERVED,
    STATEMENT,
    Evidence,
    certificate_file,
)
from conformance.verify.faults import Fault
from conformance.verify.listing import read_listing
from conformance.verify.observed import Observed
from conformance.verify.policy import KeylessSigner, Policy, Signer, StatementPolicy, intel_root
from conformance.verify.quote import Quote, UnsupportedQuoteError, parse_quote
from conformance.verify.statement import Judgement, OtherPredicateError, read_statement
from conformance.verify.strict import hex_bytes

T = TypeVar("T")
MOST_QUOTE_BYTES = 64 * 1024


@dataclass(frozen=True)
class Identity:
    """Who runs, as the system wrote it into the runtime register before the application could."""

    app_id: bytes
    compose_hash: bytes
    instance_id: bytes | None

    @property
    def written(self) -> str:
        """For people."""
        instance = "none" if self.instance_id is None else self.instance_id.hex()
        return f"app {self.app_id.hex()}, instance {instance}, compose hash {self.compose_hash.hex()}"


@dataclass(frozen=True)
class CertificateFile:
    """The evidence's certificate of the gateway domain."""

    name: str
    domain: str
    chain: tuple[Certificate, ...]

    @property
    def leaf(self) -> Certificate:
        """The first certificate."""
        return self.chain[0]


class Reading:
    """One evidence under one policy. Every property raises Fault where the evidence does not give it."""

    def __init__(self, evidence: Evidence, policy: Policy) -> None:
        self.evidence = evidence
        self.policy = policy
        self._platforms: dict[str, Platform] = {}

    # what was trusted and observed

    @cached_property
    def root(self) -> Certificate:
        """The trusted root certificate."""
        return _reading(
            "root-unusable",
            "the policy's root",
            lambda: read_root(intel_root() if self.policy.root is None else self.policy.root),
        )

    @cached_property
    def observed(self) -> Observed | None:
        """`observed.json`; None: there is none."""
        body = self.evidence.get(OBSERVED)
        if body is None:
            return None
        return _reading("observed-malformed", OBSERVED, lambda: documents.read_observed(body))

    @cached_property
    def at(self) -> int:
        """Unix seconds for which to judge."""
        at = self.policy.at
        if at is None and self.observed is not None:
            at = self.observed.at
        if at is None or not documents.is_time(at):
            raise Fault("time-unknown", "no time to judge the evidence for: name one, or have it observed", OBSERVED)
        return at

    # the bodies

    def body(self, name: str, code: str) -> bytes:
        """A body. Fault: it is absent."""
        body = self.evidence.get(name)
        if body is None:
            raise Fault(code, f"{name} is absent: it was not served", name)
        return body

    def _document(self, name: str, kind: str, read: Callable[[bytes], T]) -> T:
        """A body read; `kind` begins the codes for absent and malformed ones."""
        body = self.body(name, f"{kind}-missing")
        return _reading(f"{kind}-malformed", name, lambda: read(body))

    @cached_property
    def info(self) -> Info:
        """`/info`."""
        return self._document(INFO, "info", documents.read_info)

    @cached_property
    def app_compose(self) -> AppCompose:
        """`app_compose` of `/info`."""
        text = self.info.app_compose
        where = f"{INFO}: tcb_info.app_compose"
        return _reading("app-compose-malformed", where, lambda: documents.read_app_compose(text))

    @cached_property
    def attestation(self) -> Attestation:
        """`/attestation`."""
        return self._document(ATTESTATION, "attestation", documents.read_attestation)

    @cached_property
    def evidence_quote_document(self) -> EvidenceQuote:
        """`quote.json`."""
        return self._document(EVIDENCE_QUOTE, "evidence", documents.read_evidence_quote)

    @cached_property
    def acme_account(self) -> str:
        """The URI of the ACME account."""
        return self._document(ACME_ACCOUNT, "acme-account", documents.read_acme_account)

    @cached_property
    def checksums(self) -> dict[str, str]:
        """File name to SHA-256, of `sha256sum.txt`."""
        return dict(self._document(CHECKSUMS, "checksums", documents.read_checksums))

    @cached_property
    def listing(self) -> tuple[str, ...]:
        """Files that `/evidences/` links."""
        return self._document(LISTING, "listing", read_listing)

    @cached_property
    def certificate(self) -> CertificateFile:
        """The certificate file of the gateway domain, or the first listed one where no domain is known."""
        gateway = self.observed.gateway_domain if self.observed else None
        for name in self.listing:
            domain = documents.certificate_domain(name)
            if domain is not None and (gateway is None or covers(domain, gateway)):
                file = certificate_file(domain)
                body = self.body(file, "certificate-missing")
                return CertificateFile(file, domain, _reading("certificate-malformed", file, partial(read_chain, body)))
        linked = f"cert-{gateway or '<domain>'}.pem"
        raise Fault("listing-no-certificate", f"the listing links {len(self.listing)} files, but no {linked}", LISTING)

    # quotes and event logs

    @cached_property
    def quote(self) -> Quote:
        """The quote of `/attestation`."""
        where = f"{ATTESTATION}: quote"
        raw = _reading("quote-not-hex", where, lambda: _quote_bytes(self.attestation.quote))
        return read_quote(raw, where, "quote-layout", "tee-unsupported")

    @cached_property
    def evidence_quote(self) -> Quote:
        """The quote of `quote.json`."""
        where = f"{EVIDENCE_QUOTE}: quote"
        text = self.evidence_quote_document.quote
        if text is None:
            raise Fault("evidence-quote-missing", "quote.json holds no quote", EVIDENCE_QUOTE)
        raw = _reading("evidence-quote-malformed", where, lambda: _quote_bytes(text))
        return read_quote(raw, where, "evidence-quote-malformed", "evidence-quote-malformed")

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The event log of `/attestation`."""
        text = self.attestation.event_log or ""
        events = _reading("event-log-malformed", f"{ATTESTATION}: event_log", lambda: read_event_log(text))
        return supported(events, f"{ATTESTATION}: event_log")

    @cached_property
    def evidence_events(self) -> tuple[Event, ...] | None:
        """The event log of `quote.json`, where it has one."""
        text = self.evidence_quote_document.event_log
        if text is None:
            return None
        where = f"{EVIDENCE_QUOTE}: event_log"
        return supported(_reading("evidence-event-log-malformed", where, lambda: read_event_log(text)), where)

    @cached_property
    def identity(self) -> Identity:
        """The identity in the event log of `/attestation`, which replays to the quote's runtime register."""
        check_replay(self.events, self.quote.report.rt_mr3, f"{ATTESTATION}: event_log")
        return identity_of(self.events, f"{ATTESTATION}: event_log")

    def measured_once(self, name: str) -> bytes | None:
        """The payload of the system's only event of a name. None: there is not exactly one, or one may be hidden."""
        _ = self.identity
        found = [event for event in before_ready(self.events) if f"{event.name}:".startswith(f"{name}:")]
        return found[0].payload if len(found) == 1 and found[0].name == name else None

    # the statement of a verdict

    @cached_property
    def envelope(self) -> dsse.Signed:
        """`statement.json`, of which nothing is checked."""
        return self._document(STATEMENT, "statement", dsse.read_envelope)

    @cached_property
    def signers(self) -> tuple[Signer | KeylessSigner, ...]:
        """Who signed the statement, all of them named by the policy."""
        accepted = self.policy.statement or StatementPolicy(())
        if self.envelope.bundle is not None:
            return (self._signing_identity(accepted),)
        keys = {}
        for number, signer in enumerate(accepted.signers, start=1):
            if isinstance(signer, KeylessSigner):
                continue
            where = f"the policy's signer {number}"
            keys[_reading("signer-unusable", where, partial(dsse.read_public_key, signer.key))] = signer
        signed = self.envelope
        found = _reading("statement-signature", STATEMENT, lambda: dsse.signing_keys(signed, tuple(keys)))
        return tuple(keys[key] for key in found)

    def _signing_identity(self, accepted: StatementPolicy) -> KeylessSigner:
        identities = [signer for signer in accepted.signers if isinstance(signer, KeylessSigner)]
        if not identities:
            raise Fault("statement-signature", "a Sigstore bundle, and the policy names no identity", STATEMENT)
        body = accepted.trusted_root
        where = "the policy's trusted root"
        root = _reading(
            "signer-unusable", where, lambda: keyless.public_root() if body is None else keyless.read_trusted_root(body)
        )
        signed = self.envelope
        return _reading("statement-signature", STATEMENT, lambda: keyless.signing_identity(signed, identities, root))

    @cached_property
    def statement(self) -> Judgement:
        """What the statement says; its signatures hold."""
        payload = self.envelope.payload if self.signers else b""
        where = f"{STATEMENT}: payload"
        try:
            return _reading("statement-payload", where, lambda: read_statement(payload))
        except Fault as fault:
            if isinstance(fault.__cause__, OtherPredicateError):
                raise Fault("statement-predicate", fault.compared, where) from fault
            raise

    def platform(self, quote: Quote, where: str) -> Platform:
        """A quote judged down to the root."""
        if where not in self._platforms:
            self._platforms[where] = judge_quote(quote, self._collateral, self.root, self.at, self.policy, where)
        return self._platforms[where]

    def _collateral(self) -> bytes:
        return self.body(COLLATERAL, "collateral-missing")


def _reading(code: str, where: str, read: Callable[[], T]) -> T:
    try:
        return read()
    except ValueError as problem:
        raise Fault(code, str(problem), where) from problem


def _quote_bytes(text: str) -> bytes:
    raw = hex_bytes(text)
    if len(raw) > MOST_QUOTE_BYTES:
        raise ValueError(f"{len(raw)} bytes are no quote")
    return raw


def read_quote(raw: bytes, where: str, layout: str, unsupported: str) -> Quote:
    """A quote taken apart. Fault: with the code for a wrong layout, or for a quote of another kind."""
    try:
        return parse_quote(raw)
    except UnsupportedQuoteError as problem:
        raise Fault(unsupported, str(problem), where) from problem
    except ValueError as problem:
        raise Fault(layout, str(problem), where) from problem


def covers(domain: str, name: str) -> bool:
    """Whether the domain of a certificate, which may be a wildcard, covers a name."""
    domain, name = domain.lower().rstrip("."), name.lower().rstrip(".")
    return domain == name or (domain.startswith("*.") and domain[1:] == name[name.find(".") :])


def supported(events: tuple[Event, ...], where: str) -> tuple[Event, ...]:
    """The events, all of version 1. Fault: one is of another."""
    for event in events:
        if not event.version_1:
            raise Fault("event-version", f"event {event.index} ({event.name!r}) is not of version 1", where)
    return events


def check_replay(events: tuple[Event, ...], register: bytes, where: str) -> None:
    """The runtime events, and no others, replay to the runtime register. Fault: they do not.

    The name and payload of any other event are not hashed: in this register it could hide an identity event.
    """
    for event in events:
        if event.runtime and event.register not in {None, RUNTIME_REGISTER}:
            got = f"event {event.index} ({event.name!r}) is a runtime event of RTMR{event.register}"
            raise Fault("event-register", got, where)
        if event.register == RUNTIME_REGISTER and not event.runtime:
            got = f"event {event.index} ({event.name!r}) of RTMR3 is no runtime event but of type {event.type:#010x}"
            raise Fault("event-register", got, where)
    replayed = extend(event.computed_digest for event in of_register(events, 3))
    if replayed != register:
        raise Fault(
            "register-differs", f"the log replays to RTMR3 {replayed.hex()}, the quote has {register.hex()}", where
        )


_TWO_READINGS = tuple(f"{name}:" for name in (*IDENTITY, SYSTEM_READY))
"""Beginnings of names: with the colons of the digest's formula, the same bytes are an event called `app-id`."""


def identity_of(events: tuple[Event, ...], where: str) -> Identity:
    """The identity events before `system-ready`. Fault: one is absent, stands more than once, or may be hidden."""
    payloads: dict[str, bytes] = {}
    for event in before_ready(events):
        if event.name.startswith(_TWO_READINGS):
            got = f"event {event.index} ({event.name[:80]!r}) has the digest of an event {event.name.split(':')[0]}"
            raise Fault("identity-event-hidden", got, where)
        if event.name in IDENTITY:
            if event.name in payloads:
                raise Fault("identity-event-repeated", f"{event.name} stands again in event {event.index}", where)
            payloads[event.name] = event.payload
    for name in ("app-id", "compose-hash"):
        if name not in payloads:
            raise Fault("identity-event-absent", f"no runtime event {name} before system-ready", where)
    return Identity(payloads["app-id"], payloads["compose-hash"], payloads.get("instance-id"))
