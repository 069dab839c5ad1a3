"""One fault, one headline: cases that failed or taught nothing for one cause, told once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from conformance.problems import (
    BudgetSpent,
    GasSpent,
    LivePayments,
    NodeSilent,
    NoFunderKey,
    OutOfCredit,
    PurchasesSpent,
    SetupFailed,
    Throttled,
    Unreachable,
    Untrusted,
)
from conformance.report.results import CauseResult, Results
from conformance.verdict import Exchange, Outcome, Verdict

OF_THE_RUN = {
    problem.code: problem.cause
    for problem in (
        BudgetSpent, GasSpent, LivePayments, NodeSilent, NoFunderKey, OutOfCredit, PurchasesSpent, Throttled,
        Unreachable, Untrusted,
    )
}  # fmt: skip
"""Problems that have one cause whichever request met them."""
GATEWAY = frozenset({502, 504})
"""Whatever was asked for, the server behind did not answer."""
VARYING = re.compile(r"0x[0-9a-fA-F]+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|[0-9a-fA-F]{16,}|[A-Za-z0-9+/]{40,}={0,2}|\d+")
"""What differs from one account, request or moment to the next: ids, hashes, keys, numbers."""
OF_BLOCKED = re.compile(r" \([^()]*\)$")
"""What a blocked case says after what it got: the problem that it met."""
SHOWN = 160
"""Characters of an answer that a headline shows."""
TOGETHER = (Verdict.FAIL, Verdict.INCONCLUSIVE)


@dataclass(frozen=True)
class Cause:
    """A cause that several cases share."""

    headline: str
    cases: tuple[str, ...]
    """The first is the one to look at: one that failed, where one did."""
    failed: int
    inconclusive: int


def causes(outcomes: Iterable[Outcome]) -> tuple[Cause, ...]:
    """The causes that at least two cases share, the most frequent first."""
    found: dict[tuple[str, ...], list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.verdict in TOGETHER and (key := _key(outcome)):
            found.setdefault(key, []).append(outcome)
    shared = [_cause(members) for members in found.values() if len(members) > 1]
    return tuple(sorted(shared, key=lambda cause: (-len(cause.cases), cause.cases[0])))


def _cause(members: list[Outcome]) -> Cause:
    members = sorted(members, key=lambda one: (TOGETHER.index(one.verdict), one.case))
    failed = sum(one.verdict is Verdict.FAIL for one in members)
    return Cause(_headline(members[0]), tuple(one.case for one in members), failed, len(members) - failed)


def _key(outcome: Outcome) -> tuple[str, ...]:
    """Equal for cases with one cause; empty where it cannot be told."""
    code, failure = outcome.properties.get("problem", ""), outcome.failure
    if code in OF_THE_RUN:
        return (code,)
    if failure is None or failure.exchange is None or outcome.assumed:  # of assumed keys the report tells each once
        return ()
    exchange = failure.exchange
    if exchange.status in GATEWAY:
        return ("gateway", str(exchange.status), _alike(exchange.response_body))
    asked = (exchange.method, _alike(urlsplit(exchange.url).path))
    if exchange.status is None:
        return (*asked, _alike(failure.got))
    if exchange.status >= 400:
        return (*asked, str(exchange.status), _alike(exchange.response_body))
    got = OF_BLOCKED.sub("", failure.got) if code == SetupFailed.code else failure.got
    return (*asked, str(exchange.status), _alike(failure.expected), _alike(got))


def _alike(text: str) -> str:
    return VARYING.sub("#", text)


def _headline(outcome: Outcome) -> str:
    code, failure = outcome.properties.get("problem", ""), outcome.failure
    if code in OF_THE_RUN:
        return f"{OF_THE_RUN[code]}: {failure.got}" if failure else OF_THE_RUN[code]
    if failure is None or failure.exchange is None:
        return outcome.reason
    exchange = failure.exchange
    if exchange.status in GATEWAY:
        return f"a gateway answers {exchange.status} in the node's place: {_shown(exchange)}"
    asked = f"{exchange.method} {urlsplit(exchange.url).path}"
    if exchange.status is not None and exchange.status >= 400:
        return f"{asked} answers {exchange.status}: {_shown(exchange)}"
    return f"{asked}: expected {failure.expected}; got {OF_BLOCKED.sub('', failure.got)}"


def _shown(exchange: Exchange) -> str:
    text = " ".join(exchange.response_body.split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def counted(cause: CauseResult) -> str:
    """How many cases of a cause have which verdict, in words."""
    parts = [f"{cause.failed} failed"] if cause.failed else []
    parts += [f"{cause.inconclusive} inconclusive"] if cause.inconclusive else []
    return f"{len(cause.cases)} cases ({', '.join(parts)})"


def numbered(results: Results) -> Mapping[str, int]:
    """Each case that shares a cause, with the number of the cause."""
    return {case: number for number, cause in enumerate(results.causes, 1) for case in cause.cases}
