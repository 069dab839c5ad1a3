"""Groups the cases that failed or were inconclusive for the same cause, so that the report shows each cause once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from conformance.problems import (
    BeyondLimits,
    BudgetSpent,
    GasSpent,
    LivePayments,
    NodeSilent,
    NoFunderKey,
    OutOfCredit,
    ProxyFault,
    PurchasesSpent,
    SetupFailed,
    Throttled,
    Unreachable,
    Untrusted,
)
from conformance.report.results import CauseResult, Results
from conformance.requirements import Level, catalogue
from conformance.values.json_values import printed_json
from conformance.values.shown_text import cut
from conformance.verdict import Exchange, Outcome, Verdict

OF_THE_RUN = {
    problem.code: problem.cause
    for problem in (
        BeyondLimits, BudgetSpent, GasSpent, LivePayments, NodeSilent, NoFunderKey, OutOfCredit, ProxyFault,
        PurchasesSpent, Throttled, Unreachable, Untrusted,
    )
}  # fmt: skip
"""Problems whose cases share one cause, whichever request met the problem."""
GATEWAY = frozenset({502, 504})
"""Statuses of a gateway that got no answer from the node."""
VARYING = re.compile(r"0x[0-9a-fA-F]+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|[0-9a-fA-F]{16,}|[A-Za-z0-9+/]{40,}={0,2}|\d+")
"""Text that differs between accounts, requests and times: ids, hashes, keys, numbers."""
OF_BLOCKED = re.compile(r" \([^()]*\)$")
"""The problem in parentheses that a blocked case appends to what it got."""
SERVER_FAULT = 500
REQUEST, OF_REFUSALS = 2, 4
"""Parts of a key that are the request, and parts of the key of a refusal: the request, then what came."""
MANY_REQUESTS = 3
"""From so many different requests with the same refusal on, the refusal is their common cause."""
NAMED_REQUESTS = 3
"""How many further requests a headline names that were answered with the same server fault."""
NAMED_WAITING = 3
"""How many of the cases that wait for a failed one are named."""
SHOWN = 160
"""How many characters of an answer a headline shows."""
LONGEST = 400
"""The same of what was expected and of what came."""
SHOWN_KEYS, SHOWN_VALUE = 3, 80
"""Assumed keys that are shown, and characters of an assumed value."""
TOGETHER = (Verdict.FAIL, Verdict.INCONCLUSIVE)


@dataclass(frozen=True)
class Cause:
    """A cause that several cases share."""

    headline: str
    cases: tuple[str, ...]
    """Ordered so that the first is the one to look at: a failed case comes before an inconclusive one."""
    failed: int
    inconclusive: int


def causes(outcomes: Iterable[Outcome]) -> tuple[Cause, ...]:
    """The causes that at least two cases share, the most frequent first."""
    keys = [(outcome, key) for outcome in outcomes if outcome.verdict in TOGETHER and (key := _key(outcome))]
    requests: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for _, key in keys:
        requests.setdefault(key[REQUEST:], set()).add(key[:REQUEST])
    by_key: dict[tuple[str, ...], list[Outcome]] = {}
    for outcome, key in keys:
        is_everywhere = len(key) == OF_REFUSALS and len(requests[key[REQUEST:]]) >= MANY_REQUESTS
        by_key.setdefault(key[REQUEST:] if is_everywhere else key, []).append(outcome)
    shared = [_cause(members) for members in by_key.values() if len(members) > 1]
    return tuple(sorted(shared, key=lambda cause: (-len(cause.cases), cause.cases[0])))


def _cause(members: list[Outcome]) -> Cause:
    members = sorted(members, key=_as_examples)
    failed = sum(outcome.verdict is Verdict.FAIL for outcome in members)
    return Cause(_headline(members), tuple(outcome.case for outcome in members), failed, len(members) - failed)


def _as_examples(outcome: Outcome) -> tuple[int, bool, int, int, str]:
    """The order of the cases of a cause: failed ones first, of these what the specification says, then the shortest.

    A case about what the profile answers would send its reader there.
    """
    levels = {statement.level for statement in catalogue().requirements if statement.id in outcome.blamed}
    is_by_profile = levels == {Level.SILENT}
    return TOGETHER.index(outcome.verdict), is_by_profile, outcome.exchanges, len(outcome.blamed), outcome.case


def _key(outcome: Outcome) -> tuple[str, ...]:
    """A key that cases with the same cause share; empty where the cause is unknown."""
    code, failure = outcome.properties.get("problem", ""), outcome.failure
    if code in OF_THE_RUN:
        return (code,)
    if failure is None or failure.exchange is None or outcome.assumed:  # the report lists assumed keys on their own
        return ()
    exchange = failure.exchange
    request = (exchange.method, _alike(urlsplit(exchange.url).path))
    if exchange.status is None:
        return (*request, _alike(failure.got))
    if exchange.status >= SERVER_FAULT:  # one fault of a server mostly shows at several operations
        return (str(exchange.status), _alike(exchange.response_body))
    if exchange.status >= 400:
        return (*request, str(exchange.status), _alike(exchange.response_body))
    got = OF_BLOCKED.sub("", failure.got) if code == SetupFailed.code else failure.got
    return (*request, str(exchange.status), _alike(failure.expected), _alike(got))


def _alike(text: str) -> str:
    return VARYING.sub("#", text)


def _headline(members: Sequence[Outcome]) -> str:
    outcome = members[0]
    code, failure = outcome.properties.get("problem", ""), outcome.failure
    if code in OF_THE_RUN:
        return f"{OF_THE_RUN[code]}: {cut(failure.got, LONGEST)}" if failure else OF_THE_RUN[code]
    if failure is None or failure.exchange is None:
        return outcome.reason
    exchange = failure.exchange
    if exchange.status in GATEWAY:
        return f"a gateway answers {exchange.status} in the node's place: {_shown(exchange)}"
    met = [one.failure.exchange for one in members if one.failure and one.failure.exchange]
    first, *others = dict.fromkeys(f"{one.method} {urlsplit(one.url).path}" for one in met)
    if exchange.status is not None and exchange.status >= 400:
        more = f" and {len(others) - NAMED_REQUESTS} more" if len(others) > NAMED_REQUESTS else ""
        requests = f"{', '.join([first, *others[:NAMED_REQUESTS]])}{more}"
        return f"{requests} {'answer' if others else 'answers'} {exchange.status}: {_shown(exchange)}"
    got = OF_BLOCKED.sub("", failure.got)
    return f"{first}: expected {cut(failure.expected, LONGEST)}; got {cut(got, LONGEST)}"


def _shown(exchange: Exchange) -> str:
    text = " ".join(exchange.response_body.split())
    return cut(text, SHOWN)


def unexplained(assumed: Mapping[str, object]) -> str:
    """Assumed keys, of which none explains what came."""
    shown = list(assumed.items())[:SHOWN_KEYS]
    listed = ", ".join(f"{key}: {printed_json(value)[:SHOWN_VALUE]}" for key, value in shown)
    more = f" and {len(assumed) - len(shown)} more keys" if len(assumed) > len(shown) else ""
    return f"{listed}{more}; none of these explains it" if len(assumed) > 1 else f"{listed}, which does not explain it"


def counted(cause: CauseResult) -> str:
    """The number of a cause's cases and of each verdict among them, in words."""
    parts = [f"{cause.failed} failed"] if cause.failed else []
    parts += [f"{cause.inconclusive} inconclusive"] if cause.inconclusive else []
    return f"{len(cause.cases)} cases ({', '.join(parts)})"


def others(cause: CauseResult) -> str:
    """How many cases beside the first have a cause, and at which requests, in words."""
    more = len(cause.cases) - 1
    return f"{more} more {'case ends' if more == 1 else 'cases end'} so: {cause.headline.partition(': ')[0]}"


def waiting(results: Results) -> Mapping[str, Sequence[str]]:
    """The blocked cases by the failed case that judges what blocks them."""
    failed = {
        case.case.partition("[")[0]: case.case for case in reversed(results.cases) if case.verdict == Verdict.FAIL
    }
    waiting: dict[str, list[str]] = {}
    for case in results.cases:
        if judging := failed.get(case.waits_for):
            waiting.setdefault(judging, []).append(case.case)
    return waiting


def counted_waiting(cases: Sequence[str]) -> str:
    """How many cases wait for one that failed, in words."""
    shown, more = cases[:NAMED_WAITING], len(cases) - NAMED_WAITING
    listed = ", ".join([*shown, *([f"{more} more"] if more > 0 else [])])
    return f"{len(cases)} {'case waits' if len(cases) == 1 else 'cases wait'} for this: {listed}"


def numbered(results: Results) -> Mapping[str, int]:
    """The number of the cause, from 1, by case; only cases that share a cause."""
    return {case: number for number, cause in enumerate(results.causes, 1) for case in cause.cases}
