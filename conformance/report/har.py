"""Failing cases as an HTTP archive (HAR 1.2), which browsers' developer tools and proxies open.

https://w3c.github.io/web-performance/specs/HAR/Overview.html. Each case is a page, each of its exchanges an entry. All
is redacted: `${API_KEY_1}` in a request stands for a key that an earlier answer gave.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from http import HTTPStatus
from urllib.parse import parse_qsl, urlsplit

from pydantic import JsonValue

from conformance.report.ranking import failed_cases
from conformance.report.results import (
    CaseResult,
    ConversationExchangeShown,
    ConversationShown,
    ExchangeShown,
    Results,
)
from conformance.values.json_text import parse
from conformance.values.shown_text import escaped

TIMES = (
    "Times of day are not measured: those of a page count the durations of its entries from the beginning of the run."
)
UNKNOWN = -1
"""A size that is not known."""
VERSION = "HTTP/1.1"


def har(results: Results) -> str:
    """The exchanges of the cases that failed, the most telling case first, as JSON."""
    cases = failed_cases(results)
    log = {
        "version": "1.2",
        "creator": {"name": results.suite.name, "version": results.suite.version},
        "pages": [_page(case, results.started) for case in cases],
        "entries": [entry for case in cases for entry in _entries(case, results.started)],
        "comment": TIMES,
    }
    return escaped(json.dumps({"log": log}, indent=1, ensure_ascii=False) + "\n")


def _page(case: CaseResult, started: datetime) -> dict[str, JsonValue]:
    told = case.failure.told if case.failure else case.reason
    return {
        "startedDateTime": started.isoformat(),
        "id": case.case,
        "title": f"{case.case}: {case.title}",
        "pageTimings": {"onContentLoad": UNKNOWN, "onLoad": UNKNOWN},
        "comment": told.removeprefix(": "),
    }


def _entries(case: CaseResult, started: datetime) -> Iterator[dict[str, JsonValue]]:
    failure = case.failure
    if failure is None:
        return
    told = failure.conversation or ConversationShown(exchanges=(), left_out=0, departed=None)
    at = started
    for number, exchange in enumerate(told.exchanges):
        if exchange.not_sent:
            continue
        departs = number == told.departed
        yield _entry(case.case, exchange, at, failure.exchange if departs else None)
        at += timedelta(seconds=exchange.seconds)
    if told.departed is None and failure.exchange is not None:
        yield _entry(case.case, failure.exchange, at, failure.exchange)


def _entry(
    case: str, exchange: ConversationExchangeShown | ExchangeShown, at: datetime, departed: ExchangeShown | None
) -> dict[str, JsonValue]:
    """An entry; of the exchange that shows the failure the headers of the answer are known."""
    milliseconds = exchange.seconds * 1000
    return {
        "pageref": case,
        "startedDateTime": at.isoformat(),
        "time": milliseconds,
        "request": _request(exchange),
        "response": _response(exchange, departed.response_headers if departed else {}),
        "cache": {},
        "timings": {"send": 0, "wait": milliseconds, "receive": 0},
        "comment": "this one shows the failure" if departed else "",
    }


def _request(exchange: ConversationExchangeShown | ExchangeShown) -> dict[str, JsonValue]:
    body = exchange.request_body
    request: dict[str, JsonValue] = {
        "method": exchange.method,
        "url": exchange.url,
        "httpVersion": VERSION,
        "cookies": [],
        "headers": _pairs(exchange.request_headers.items()),
        "queryString": _pairs(parse_qsl(urlsplit(exchange.url).query, keep_blank_values=True)),
        "headersSize": UNKNOWN,
        "bodySize": UNKNOWN if body else 0,
    }
    if body is not None:
        request["postData"] = {"mimeType": _type(exchange.request_headers, body), "text": body}
    return request


def _response(exchange: ConversationExchangeShown | ExchangeShown, headers: dict[str, str]) -> dict[str, JsonValue]:
    status, body = exchange.status, exchange.response_body
    return {
        "status": status or 0,
        "statusText": HTTPStatus(status).phrase if status and status in {*HTTPStatus} else "",
        "httpVersion": VERSION,
        "cookies": [],
        "headers": _pairs(headers.items()),
        "content": {"size": len(body.encode(errors="replace")), "mimeType": _type(headers, body), "text": body},
        "redirectURL": headers.get("location", ""),
        "headersSize": UNKNOWN,
        "bodySize": UNKNOWN,
        "comment": "" if status else "no answer came",
    }


def _pairs(items: Iterable[tuple[str, str]]) -> list[JsonValue]:
    return [{"name": name, "value": value} for name, value in items]


def _type(headers: dict[str, str], body: str) -> str:
    """The media type: by the header, else JSON where the text is JSON."""
    stated = next((value for name, value in headers.items() if name.lower() == "content-type"), "")
    if stated or not body:
        return stated
    try:
        parse(body)
    except ValueError:
        return "text/plain"
    return "application/json"
