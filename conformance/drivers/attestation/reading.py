"""Reads the node's evidence no more strictly than the specification demands, unlike a relying party."""

from __future__ import annotations

import json
import re
from functools import cached_property

from conformance.profile.attestation import AttestationForms
from conformance.verify import Evidence, Policy
from conformance.verify.documents import EvidenceQuote, Info, read_evidence_quote, read_info
from conformance.verify.event_log import Event, before_ready
from conformance.verify.evidence import EVIDENCE_QUOTE, INFO
from conformance.verify.faults import Fault
from conformance.verify.reading import Identity, Reading, check_replay
from conformance.verify.strict import hex_bytes, json_object, text_member

BLOCK = re.compile(rb"-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----")


class TextReading(Reading):
    """Evidence under a policy, read by the forms that the profile states."""

    def __init__(
        self, evidence: Evidence, policy: Policy, forms: AttestationForms, contract_exists: bool | None
    ) -> None:
        super().__init__(evidence, policy)
        self.forms = forms
        self.contract_exists = contract_exists
        """Whether there is code at `app_id`; None: not looked up."""

    def body(self, name: str, code: str) -> bytes:
        """A body as served. A certificate file is returned without the explanatory text that RFC 7468 permits."""
        body = super().body(name, code)
        return b"\n".join([*BLOCK.findall(body), b""]) if name.startswith("evidences/cert-") else body

    @cached_property
    def info(self) -> Info:
        """The members of `/info`. Other rules judge the compose hash's length (ATT-150) and `app_compose` (ATT-030)."""
        body = self.body(INFO, "info-missing")
        try:
            return read_info(body)
        except ValueError as problem:
            members = _members_of_info(body)
            if members is None:
                raise Fault("info-malformed", str(problem), INFO) from problem
            if members.app_compose == "":
                raise Fault("app-compose-malformed", "app_compose is no text", f"{INFO}: tcb_info") from problem
            return members

    @property
    def shows_quote(self) -> bool:
        """Whether the profile says that quote.json contains the quote."""
        return "quote" in self.forms.quote_json_members

    @cached_property
    def evidence_quote_document(self) -> EvidenceQuote:
        """The document `quote.json`. The specification states only the form of `report_data`."""
        body = self.body(EVIDENCE_QUOTE, "evidence-missing")
        try:
            return read_evidence_quote(_with_texts_alone(body))
        except ValueError as problem:
            raise Fault("evidence-malformed", str(problem), EVIDENCE_QUOTE) from problem

    def measured(self, events: tuple[Event, ...], register: bytes, where: str) -> Identity:
        """The identity in an event log that replays to a register. The specification names only the compose hash."""
        check_replay(events, register, where)
        named: dict[str, bytes] = {}
        for event in before_ready(events):
            if event.name == "compose-hash" and event.name in named:
                raise Fault("identity-event-repeated", f"compose-hash stands again in event {event.index}", where)
            named.setdefault(event.name, event.payload)
        if "compose-hash" not in named:
            raise Fault("identity-event-absent", "no runtime event compose-hash before system-ready", where)
        return Identity(named.get("app-id", b""), named["compose-hash"], named.get("instance-id"))


def _members_of_info(body: bytes) -> Info | None:
    """The members, both hashes in hex; `app_compose` is empty where it is no text. None where a member is absent."""
    try:
        document = json_object(body)
        tcb_info = document.get("tcb_info")
        tcb_members = json_object(tcb_info.encode()) if isinstance(tcb_info, str) else tcb_info
        app_id, compose_hash = (hex_bytes(text_member(document, name)) for name in ("app_id", "compose_hash"))
    except ValueError:
        return None
    if not isinstance(tcb_members, dict) or tcb_members.get("app_compose") is None or not app_id or not compose_hash:
        return None
    text = tcb_members["app_compose"]
    return Info(app_id, compose_hash, text if isinstance(text, str) else "")


def _with_texts_alone(body: bytes) -> bytes:
    """The document without a quote or event log that is no text."""
    members = json_object(body)
    odd = [name for name in ("quote", "event_log") if not isinstance(members.get(name), str)]
    return json.dumps({name: value for name, value in members.items() if name not in odd}).encode()
