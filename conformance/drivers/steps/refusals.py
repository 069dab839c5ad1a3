"""Refusals: which statuses count, what a refused answer must not hold, and that nothing changed.

A 5xx, a time-out or a dropped connection is never a refusal ("Errors").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from conformance.drivers.steps.caserun import CaseRun
from conformance.endpoints.client import Answer, AskedAt
from conformance.language.models import RefusalClass
from conformance.problems import (
    LeakyRefusal,
    NotAccepted,
    NotRefused,
    OutOfCredit,
    ServerFault,
    Throttled,
    WrongRefusal,
)
from conformance.profile import WHOLE, Profile
from conformance.values.json_values import member, printed

CLASSES: frozenset[str] = frozenset(get_args(RefusalClass))
NEVER_BY_CHANCE = frozenset({402, 429})
"""Lack of credit and of patience: they say nothing about the request, so that no open class includes them."""
SAID_BY_REFUSALS_TOO = frozenset({"logs"})
"""Members of a success that give nothing away: a run that is refused when it asks for its wallet has logs before."""
SHOWN = 300


@dataclass(frozen=True)
class Refusal:
    """The classes of refusal that a step takes as right, and the statuses that these have on this node."""

    classes: tuple[str, ...]
    statuses: frozenset[int]

    def __str__(self) -> str:
        if len(self.statuses) > 10:
            return f"a refusal ({' or '.join(self.classes)}: any 4xx but 402 and 429)"
        return f"a refusal ({' or '.join(self.classes)}: {', '.join(map(str, sorted(self.statuses)))})"


def refusal(classes: tuple[str, ...], profile: Profile) -> Refusal:
    """The statuses of refusal classes by the profile's `errors.status_codes`."""
    return Refusal(classes, frozenset().union(*(_statuses(name, profile) for name in classes)))


def _statuses(name: str, profile: Profile) -> frozenset[int]:
    codes = profile.errors.status_codes
    stated: tuple[int, ...] | None = None if name == "any" or codes is None else getattr(codes, name)
    if stated is not None:
        return frozenset(stated)
    return frozenset(range(400, 500)) - (NEVER_BY_CHANCE - ({402} if name == "insufficient_credit" else set()))


def raise_for_trouble(answer: Answer, awaited: frozenset[int] = frozenset()) -> None:
    """Raise for an answer that is neither acceptance nor refusal; a status that is awaited is no trouble."""
    status = answer.status
    if status in awaited:
        return
    if status == 429 or (status == 503 and "retry-after" in answer.headers):
        raise Throttled("an answer", f"status {status}: {answer.text[:SHOWN]}", answer.exchange)
    if status == 402:
        raise OutOfCredit("an account with credit", f"status 402: {answer.text[:SHOWN]}", answer.exchange)
    if status >= 500:
        raise ServerFault("an answer below 500", f"status {status}: {answer.text[:SHOWN]}", answer.exchange)


def must_accept(answer: Answer) -> None:
    """Raise unless the answer is a 2xx whose body can be read."""
    raise_for_trouble(answer)
    if not answer.accepted:
        raise NotAccepted("acceptance (2xx)", f"status {answer.status}: {answer.text[:SHOWN]}", answer.exchange)
    _ = answer.value


def must_refuse(answer: Answer, wanted: Refusal, run: CaseRun) -> None:
    """Raise unless the answer is a refusal of these classes that gives nothing away.

    What is no endpoint is nothing that the specification speaks of: its refusal may have any body. Outside of the API
    something else may live, such as a page for people: all that counts there is that it is not the API.
    """
    raise_for_trouble(answer, wanted.statuses)
    if answer.asked_at is AskedAt.OUTSIDE and not (answer.accepted and answer.readable):
        _holds_no_credential(answer, run)
        return
    if answer.accepted:
        raise NotRefused(str(wanted), f"status {answer.status}: {answer.text[:SHOWN]}", answer.exchange)
    if answer.asked_at is AskedAt.ENDPOINT:
        _ = answer.value
    if answer.status not in wanted.statuses:
        raise WrongRefusal(str(wanted), f"status {answer.status}: {answer.text[:SHOWN]}", answer.exchange)
    _gives_nothing_away(answer, run)


def _holds_no_credential(answer: Answer, run: CaseRun) -> None:
    if run.secrets.found_in(answer.text) or any(map(run.secrets.found_in, answer.headers.values())):
        raise LeakyRefusal("a refusal without a credential in it", answer.text[:SHOWN], answer.exchange)


def _gives_nothing_away(answer: Answer, run: CaseRun) -> None:
    _holds_no_credential(answer, run)
    for name, value in _success_members(answer) if answer.readable else []:
        raise LeakyRefusal(
            f"a refusal without {name!r}, which only success gives", printed(value)[:SHOWN], answer.exchange
        )


def _success_members(answer: Answer) -> list[tuple[str, object]]:
    operation = answer.operation
    body = answer.value
    if operation is None:
        return []
    if operation.is_list:
        page = body if operation.page_member is None else member(body, operation.page_member)
        return [("the page", page)] if isinstance(page, list) and (page or page is body) else []
    if not isinstance(body, dict):
        return []
    told = {wire for name, wire in operation.response.items() if name not in SAID_BY_REFUSALS_TOO} - {WHOLE}
    return [(name, body[name]) for name in sorted(told) if body.get(name)]  # an empty value gives nothing
