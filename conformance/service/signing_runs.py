"""Runs that prove their permission by signing a text with a wallet ("Execution rule")."""

from __future__ import annotations

import re
from collections.abc import Sequence

from conformance.endpoints.messages import SHOWN, Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import LeakyRefusal, Mismatch, NotAccepted, NotRefused, OtherKeyUsed
from conformance.service.acceptance import Accepted
from conformance.service.actions import ActionCode
from conformance.service.pkps import Pkp
from conformance.service.refusal import Refusals, must_refuse, was_accepted
from conformance.service.runs import Run, Runs, may_go_on, signer_of_message
from conformance.service.session import Session
from conformance.values.json_values import same_hex

SIGNATURE = re.compile(r"(?:0x)?[0-9a-fA-F]{130}")


class SigningRuns:
    """Runs of an action that signs the text `message` with one wallet; the text is the case's label.

    The action is one that a group can list, or bare code.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._runs = Runs(session)

    def request(self, key: str | None, action: ActionCode | str, pkp: Pkp, **params: object) -> OutgoingRequest:
        """A run of the action with the wallet; `params` are further members of `jsParams`."""
        code = action if isinstance(action, str) else action.code
        return self._runs.request(key, code, pkp_id=pkp.id, params={"message": self._session.label, **params})

    def must_sign(self, key: str, action: ActionCode | str, pkp: Pkp) -> Run:
        """Run the action, which must return a signature of the wallet: a group of the key permits that."""
        answer = self._session.send(self.request(key, action, pkp))
        try:
            return self.signed(answer, pkp)
        except NotAccepted as problem:
            what = "the action" if isinstance(action, str) else action.hash
            problem.expected = f"a group of the key permits {what} with {pkp.id}: {problem.expected}"
            raise

    def signs(
        self, key: str, action: ActionCode | str, pkp: Pkp, *, or_refused: Sequence[str] = ("forbidden",)
    ) -> bool:
        """Whether it is permitted. A Departure unless the wallet signs, or the run is refused with these classes."""
        return self.has_signed(self._session.send(self.request(key, action, pkp)), pkp, or_refused=or_refused)

    def has_signed(self, answer: Answer, pkp: Pkp, *, or_refused: Sequence[str] = ("forbidden",)) -> bool:
        """The same for the answer of a run that was already sent."""
        accepted = was_accepted(self._session, answer, or_refused=or_refused)
        if accepted:
            self.signed(answer, pkp)
        return accepted

    def signed(self, answer: Answer, pkp: Pkp) -> Run:
        """The run of an answer, which the wallet itself must have signed."""
        run = self._runs.succeeded(answer)
        signer = signer_of_message(self._session.label, run.result)
        if not same_hex(signer, pkp.address):
            raise OtherKeyUsed(f"a signature of the wallet {pkp.address}", f"one of {signer}", answer.exchange)
        return run

    def must_be_refused(
        self,
        key: str | None,
        action: ActionCode | str,
        pkp: Pkp,
        *,
        control: Accepted,
        classes: Sequence[str] = ("forbidden",),
    ) -> None:
        """Send a run that must be refused, with an accepted run as the control."""
        must_refuse(self._session, self.request(key, action, pkp), classes, control=control, unchanged=[])

    def must_not_use(self, request: OutgoingRequest, pkp: Pkp, *, control: Accepted) -> Answer:
        """Send a run that may not use the wallet and swallows that: it may go on where the profile says so."""
        with Refusals(self._session, control=control, unchanged=[]) as refusals:
            send = refusals.send_either if may_go_on(self._session) else refusals.send
            answer = send(request, ["forbidden"])
            if pkp.address.lower() in signers_in(answer.text, self._session.label):
                kind = NotRefused if answer.accepted else LeakyRefusal
                raise kind("a run without the wallet's signature", answer.text[:SHOWN], answer.exchange)
        return answer

    def must_not_sign_as(self, key: str, action: ActionCode | str, pkp_id: str, address: str) -> None:
        """Run with a wallet that is not the account's: however this ends, nothing in the answer is its signature."""
        code = action if isinstance(action, str) else action.code
        answer = self._runs.any_end(
            self._runs.request(key, code, pkp_id=pkp_id, params={"message": self._session.label})
        )
        if address.lower() in signers_in(answer.text, self._session.label):
            expected = f"no signature of {address}, which is no wallet of this account"
            raise Mismatch(expected, answer.text[:SHOWN], answer.exchange)


def signers_in(text: str, message: str) -> set[str]:
    """The addresses, in lower case, of the signers of all signatures of the message in a text."""
    return {signer for signature in SIGNATURE.findall(text) for signer in _signers(message, signature)}


def _signers(message: str, signature: str) -> list[str]:
    try:
        return [signer_of_message(message, signature).lower()]
    except Mismatch:
        return []
