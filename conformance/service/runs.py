"""Runs of actions: requests, results of `main`, signers, and errors.

Specification, "Endpoints / Wallets and actions" (run action). The specification does not show the answer to code that
throws, does not parse or exceeds a limit: a node may answer with success and a mark, or with another status.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from conformance.endpoints.messages import SHOWN, Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import Mismatch, NotAccepted, ProfileSilent, RunEndedOtherwise
from conformance.profile import Profile
from conformance.profile.exec import FailureAndLimits
from conformance.service.acceptance import Accepted, must_accept, raise_for_trouble
from conformance.service.action_sources import parameters
from conformance.service.refusal import was_accepted
from conformance.service.session import Session
from conformance.values.json_text import parse
from conformance.values.json_values import MISSING, member, printed
from conformance.values.recovery import (
    DIGEST_BYTES,
    KEY_BYTES,
    UnrecoverableError,
    address_of,
    from_hex,
    message_digest,
    signer,
)

RUN = "run_action"
RESPONSE_FORM = "exec.response_form"
SWALLOWED = "exec.pkp_selection.swallowed_refusal"
PRIVATE_KEY = "a private key of 32 bytes in hex"
NO_MASK = "0x" + "00" * KEY_BYTES


@dataclass(frozen=True)
class Run:
    """A run that was permitted and came to a result."""

    answer: Answer
    accepted: Accepted
    """The control for refusals of `run_action`."""
    response_form: str | None
    """The value of `exec.response_form`."""

    @property
    def result(self) -> object:
        """What `main` returned. ProfileSilent: the profile does not say how the response holds it."""
        if self.response_form is None:
            raise ProfileSilent("a profile that says exec.response_form", "a profile that leaves it out")
        return returned(member(self.answer.value, "response"), self.response_form)

    @property
    def logs(self) -> object:
        """What it logged."""
        return member(self.answer.value, "logs")


class Runs:
    """Runs actions with an account key or a permitted usage key."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def request(
        self, key: str | None, code: str, *, pkp_id: object = MISSING, params: Mapping[str, object] | None = None
    ) -> OutgoingRequest:
        """A run with these parameters, which name a wallet as the profile says; without `pkp_id` they name none."""
        members = dict(params or {})
        if pkp_id is not MISSING:
            members = parameters(pkp_id, members, self._session.target.profile_value)
        return self._session.request(RUN, key, code=code, jsParams=members)

    def run(self, key: str, code: str, *, pkp_id: object = MISSING, params: Mapping[str, object] | None = None) -> Run:
        """Run code that must come to a result."""
        return self.must_succeed(self.request(key, code, pkp_id=pkp_id, params=params))

    def must_succeed(self, request: OutgoingRequest) -> Run:
        """Send a run that must come to a result."""
        return self.succeeded(self._session.send(request), request)

    def succeeded(self, answer: Answer, request: OutgoingRequest | None = None) -> Run:
        """The run of an answer, which must have come to a result."""
        must_accept(answer)
        must_not_fail(answer, self._session.profile)
        return Run(answer, Accepted(RUN, request), self._session.profile.exec.response_form)

    def any_end(self, request: OutgoingRequest) -> Answer:
        """Send a run that may come to a result, end with an error or be refused."""
        answer = self._session.send(request)
        if not failed(answer, self._session.profile):
            was_accepted(self._session, answer, or_refused=["any"])
        return answer

    def must_fail(self, request: OutgoingRequest) -> Answer:
        """Send a run that is permitted and must end with an error."""
        answer = self._session.send(request)
        must_fail(answer, self._session.profile)
        return answer


def may_go_on(session: Session) -> bool:
    """Whether a run may go on whose code swallows the refusal of a wallet; also where the profile does not say."""
    return session.target.profile_value(SWALLOWED) != "refuses_run"


def returned(response: object, form: object) -> object:
    """What `main` returned, of a `response` in the form that the value of `exec.response_form` says."""
    if form != "text" or not isinstance(response, str):
        return response
    try:
        return parse(response)
    except ValueError:
        return response


# ------------------------------------------------------------------------------------------------------- who signed


def signer_of_message(text: str, signature: object) -> str:
    """The address that signed a text by EIP-191, in EIP-55 form."""
    return _signer(message_digest(text), signature)


def signer_of_digest(digest: object, signature: object) -> str:
    """The address that signed 32 bytes as they are, in EIP-55 form."""
    try:
        raw = from_hex(printed(digest), DIGEST_BYTES, "a digest of 32 bytes in hex")
    except UnrecoverableError as problem:
        raise Mismatch("a digest to hold the signature against", str(problem)) from None
    return _signer(raw, signature)


def _signer(digest: bytes, signature: object) -> str:
    try:
        return signer(digest, printed(signature))
    except UnrecoverableError as problem:
        raise Mismatch("a signature that recovers to a signer", str(problem)) from None


def address_of_private_key(key: object, mask: object = NO_MASK) -> str:
    """The address of a private key in hex, in EIP-55 form; of a masked one, with the mask that it was combined with."""
    try:
        return address_of(unmasked(key, mask).hex())
    except UnrecoverableError as problem:
        raise Mismatch(PRIVATE_KEY, str(problem)) from None


def unmasked(key: object, mask: object) -> bytes:
    """The bytes of a private key that was combined with a mask; both are hex."""
    try:
        both = [from_hex(printed(part), KEY_BYTES, PRIVATE_KEY) for part in (key, mask)]
    except UnrecoverableError as problem:
        raise Mismatch(PRIVATE_KEY, str(problem)) from None
    return bytes(byte ^ of_mask for byte, of_mask in zip(*both, strict=True))


# ------------------------------------------------------------------------------------------------ how a run ended


def must_not_fail(answer: Answer, profile: Profile) -> None:
    """Raise for a run that was permitted and ended with an error. Other operations have no such end."""
    forms = profile.exec.failure_and_limits
    if answer.operation is not None and answer.operation.name == RUN and forms is not None and _marked(answer, forms):
        raise RunEndedOtherwise(
            "a run that ends with what `main` returns", f"one with an error: {answer.text[:SHOWN]}", answer.exchange
        )


def failed(answer: Answer, profile: Profile) -> bool:
    """Whether the answer says, as the profile has it, that the code failed."""
    forms = profile.exec.failure_and_limits
    if forms is None or answer.status != forms.status:
        return False
    return forms.error_member is None or _marked(answer, forms)


def must_fail(answer: Answer, profile: Profile) -> None:
    """Raise unless the answer says, as the profile has it, that the code failed."""
    forms = profile.exec.failure_and_limits
    if failed(answer, profile) or forms is None:
        return
    raise_for_trouble(answer, frozenset({forms.status}))
    mark = f" with {forms.error_member} true" if forms.error_member else ""
    # A refusal may be that of the key and not of the code: then it is for others to judge.
    departure = RunEndedOtherwise if answer.accepted else NotAccepted
    raise departure(f"a run that ends with an error: status {forms.status}{mark}", answer.summary, answer.exchange)


def _marked(answer: Answer, forms: FailureAndLimits) -> bool:
    return forms.error_member is not None and member(answer.value, forms.error_member) is True
