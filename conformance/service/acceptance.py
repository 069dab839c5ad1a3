"""Acceptance: a 2xx with a readable body. Throttling and server faults neither accept nor refuse ("Errors")."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.endpoints.messages import SHOWN, Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import NotAccepted, OutOfCredit, ServerFault, Throttled


@dataclass(frozen=True)
class Accepted:
    """Evidence that a call was accepted, used as the control for a refusal of the same call."""

    call: str
    """The operation; for the contract `send FUNCTION` or `dry_run FUNCTION`."""
    request: OutgoingRequest | None = None
    """The accepted request, from which a case derives a changed one; None for the contract."""

    def changed(self, **members: object) -> OutgoingRequest:
        """The accepted request with other values of some members. Raises ValueError for a call of the contract."""
        if self.request is None:
            raise ValueError(f"{self.call} is no request")
        return self.request.changed(**members)


def raise_for_trouble(
    answer: Answer,
    awaited: frozenset[int] = frozenset(),
    fault: type[ServerFault] = ServerFault,
    expected: str = "an answer below 500",
) -> None:
    """Raise for an answer that is neither acceptance nor refusal, unless its status is one of the awaited.

    `fault` is the kind of departure that a 5xx is, `expected` what it says was expected.
    """
    status = answer.status
    if status in awaited:
        return
    if status == 429 or (status == 503 and "retry-after" in answer.headers):
        raise Throttled("an answer", answer.summary, answer.exchange)
    if status == 402:
        raise OutOfCredit("an account with credit", f"status 402: {answer.text[:SHOWN]}", answer.exchange)
    if status >= 500:
        raise fault(expected, answer.summary, answer.exchange)


def must_accept(answer: Answer) -> None:
    """Raise unless the answer is a 2xx whose body can be read."""
    expected = f"acceptance (2xx) of {answer.operation.name}" if answer.operation else "acceptance (2xx)"
    raise_for_trouble(answer, expected=expected)
    if not answer.accepted:
        raise NotAccepted(expected, answer.summary, answer.exchange)
    _ = answer.value
