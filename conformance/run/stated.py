"""The key of the profile, stated or assumed, whose other value would explain what a case met: its hint names it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from conformance.drivers.steps.caserun import CaseRun
from conformance.endpoints.log import ExchangeLog, RawExchange
from conformance.endpoints.messages import Answer, Message
from conformance.problems import (
    ControlNotAccepted,
    Departure,
    LeakyRefusal,
    NotAccepted,
    NotRefused,
    OutOfCredit,
    ServerFault,
    SetupFailed,
    StateChanged,
    StepProblem,
)
from conformance.profile import Operation, read_aside
from conformance.report.causes import SHOWN_VALUE
from conformance.report.objects import items_of
from conformance.requirements import catalogue
from conformance.run.case import Case
from conformance.run.explaining import REFUSALS, REFUSED, Departed, explaining
from conformance.service.reliance import FIRST_PAGE
from conformance.values.json_values import printed_json
from conformance.values.shown_text import cut
from conformance.verdict import Exchange, Failure

OF_ANSWERS = ("brand.", "errors.status_codes.", "wire.")
"""The sections whose values show in answers as they stand."""
FIRST_PAGES = (0, 1)
SAY_NOTHING = frozenset({None, 429, 502, 503, 504})
"""The statuses of no answer, and of one that puts the request off."""
BY_NO_NAME = (NotRefused, StateChanged, LeakyRefusal)
"""Departures that no other name and no other status explains."""


def stated_hint(problem: StepProblem, run: CaseRun, failure: Failure, exchange: Exchange | None) -> str:
    """What the profile states, where another value would explain a problem; empty where none would."""
    key = first_page(problem, run) or (_otherwise(problem, run, failure, exchange))
    if not key or key in run.target.profile.assumed:
        return ""
    value = printed_json(run.target.profile_value(key))
    return f"the profile states {key}: {cut(value, SHOWN_VALUE)}; correct it there if the node is right"


def _otherwise(problem: StepProblem, run: CaseRun, failure: Failure, exchange: Exchange | None) -> str:
    """The stated key whose other value explains a departure; of statements left open, the key which answers them.

    No name and no status explains why a node accepts what it must refuse, changes state or tells a secret.
    """
    if not isinstance(problem, Departure):
        return ""
    stated = {key: value for key, value in run.reliance.stated.items() if key.startswith(OF_ANSWERS)}
    named = ""
    if exchange is not None and not isinstance(problem, BY_NO_NAME):
        named = explaining(stated, Departed(failure.expected, exchange))
    answering = left_open(problem.requirements)
    return named or next((key for key in answering if _may_explain(problem, run.target.profile_value(key))), "")


def _may_explain(problem: Departure, value: object) -> bool:
    """Whether another value than this may: none explains a server fault, nor a refusal where refusals are stated."""
    return not isinstance(problem, ServerFault) and not (isinstance(problem, NotAccepted) and str(value) in REFUSALS)


def left_open(requirements: Sequence[str]) -> Sequence[str]:
    """The profile keys that answer these statements, as far as the specification leaves them open."""
    return [key for name in requirements if (key := catalogue().by_id[name].profile_key)]


def assumed_that_explains(
    assumed: Mapping[str, object],
    problem: StepProblem,
    case: Case,
    run: CaseRun,
    failure: Failure,
    shown: Exchange | None,
) -> str:
    """The assumed key whose other value explains a problem, which `shown` shows; empty where none does."""
    if isinstance(problem, OutOfCredit):
        return next(iter(assumed), "")
    if isinstance(problem, BY_NO_NAME) and not isinstance(problem, NotRefused):
        return ""
    if first := first_page(problem, run) if FIRST_PAGE in assumed else "":
        return first
    number = run.last_exchange if problem.exchange is None else problem.exchange
    name = run.log.operation(number)
    with read_aside():
        operation = run.target.operation(name) if name else None
    if shown is None or number is None:
        return ""
    if operation is not None and operation.is_list and (shown.status or 0) < REFUSED:
        shown = _with_items(number, run) or shown
    charged = problem.requirements or case.requirements
    keys = left_open(charged) if isinstance(problem, Departure) else []
    open_keys = keys if len(keys) == len(charged) else []
    is_accepted_in_setup = isinstance(problem, SetupFailed) and (shown.status or 0) < REFUSED
    made_for = () if is_accepted_in_setup else {key for key, _ in case.info.stated}
    departed = Departed(failure.expected, shown, operation, open_keys, made_for, failure.got)
    return explaining(assumed, departed)


def _with_items(number: int, run: CaseRun) -> Exchange | None:
    """The newest page with items of the list that an exchange reads, up to this exchange: the last page holds none."""
    log = run.log
    for at in range(number, log.forgotten - 1, -1):
        if log.operation(at) == log.operation(number) and (log.status(at) or REFUSED) < REFUSED:
            page = log.redacted(at)
            if items_of(page.response_body):
                return page
    return None


def open_where_blocked(problem: StepProblem, case: Case, run: CaseRun, shown: Exchange | None) -> dict[str, object]:
    """The assumed keys another value of which may explain what blocks a case, or why a control was not accepted.

    A refusal may come from those alone which the case names, or is for some values of: the node may be one that the
    case is not for. Where another case judges the operation, that one tells.
    """
    if isinstance(problem, ControlNotAccepted):
        return run.reliance.open
    if not isinstance(problem, SetupFailed) or problem.judged_by:
        return {}
    if shown is None or (shown.status or 0) < REFUSED:
        return run.reliance.open
    with read_aside():
        read = {key: run.target.profile_value(key) for key, _ in case.info.stated if key in run.target.profile.assumed}
    return run.reliance.still_open(read) | run.reliance.named


def first_page(problem: StepProblem, run: CaseRun) -> str:
    """The key of the first page's number, where that page shows nothing and the page of the other number does."""
    number = run.last_exchange if problem.exchange is None else problem.exchange
    with read_aside():
        stated = run.target.profile_value(FIRST_PAGE)
    name = run.log.operation(number)
    if stated not in FIRST_PAGES or not name or not run.target.operation(name).is_list:
        return ""
    with read_aside():
        operation = run.target.operation(name)
    asked = run.log.raw[(number or 0) - run.log.forgotten]
    if asked.status in SAY_NOTHING:  # asking again would wait again, and count as another time-out
        return ""
    try:
        first, other = (_page(asked, operation, page, run) for page in (stated, 1 - int(str(stated))))
    except StepProblem:  # whatever the node does now, the case has its verdict
        return ""
    return FIRST_PAGE if other and not first else ""


def _page(asked: RawExchange, operation: Operation, number: object, run: CaseRun) -> list[object]:
    """The items of one page of a list that a case asked for, in no log of the case; none where it is refused."""
    member = operation.request["page_number"]
    parts = urlsplit(asked.url)
    query = [(name, str(number) if name == member else value) for name, value in parse_qsl(parts.query)]
    url = urlunsplit(parts._replace(query=urlencode(query)))
    answer = run.target.exchange(
        Message(asked.method, url, asked.request_headers, None), ExchangeLog(run.secrets), operation
    )
    return _items(answer)


def _items(answer: Answer) -> list[object]:
    items = answer.value if answer.accepted and answer.readable else []
    return items if isinstance(items, list) else []
