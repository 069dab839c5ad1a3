"""The matrix of the Execution rule: what judging its cells costs beside the requests that it takes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import httpx
from pydantic import JsonValue

from benchmarks.node_process import Ready, node_process
from benchmarks.timing import Row, in_turn
from conformance.profile import Profile
from conformance.resources import scenarios
from conformance.run.runner import Case, Target, load, run_case
from conformance.verdict import Verdict

ROUNDS = 3

NAMES_MADE_BY = ("/new_account", "/add_usage_api_key", "/create_wallet", "/list_wallets")
"""Whose answers hold keys and ids that later requests repeat."""


@dataclass(frozen=True)
class Exchange:
    """A request and its answer."""

    method: str
    url: str
    headers: dict[str, str]
    body: str
    answer: str

    @property
    def names(self) -> bool:
        """Whether the answer tells keys or ids."""
        return httpx.URL(self.url).path.endswith(NAMES_MADE_BY)


def rows() -> list[Row]:
    """The one measurement of the matrix."""
    with node_process() as ready:
        (case,) = [case for case in load([scenarios()], ["execution_rule"]) if case.id.endswith("::matrix")]
        exchanges: list[Exchange] = []
        with _recording(exchanges):
            tried = _judge(case, ready)
        measured, base = in_turn([partial(_judge, case, ready), partial(_plain_loop, exchanges)], ROUNDS)
    what = f"a cell of the matrix ({tried} cells, {len(exchanges)} requests)"
    return [Row(what, measured / tried, "a plain httpx loop that sends the same", base / tried, 1.43)]


def _judge(case: Case, ready: Ready) -> int:
    """How many cells were tried."""
    profile = Profile.model_validate_json(json.dumps({"base_url": ready["base_url"]}))
    with Target(ready["base_url"], profile, seed=str(time.monotonic_ns())) as target:
        outcome = run_case(case, target)
    assert outcome.verdict is Verdict.PASS, outcome.reason
    return sum(cell.verdict.value in {"granted", "refused"} for cell in outcome.cells)


@contextmanager
def _recording(exchanges: list[Exchange]) -> Iterator[None]:
    """Note every request that httpx sends meanwhile."""
    send = httpx.Client.send

    def noted(
        client: httpx.Client, request: httpx.Request, *, stream: bool = False, **options: object
    ) -> httpx.Response:
        response = send(client, request, stream=stream, **options)  # type: ignore[arg-type] # as they came
        text = response.read().decode()
        sent = {name: value for name, value in request.headers.items() if name in {"x-api-key", "content-type"}}
        exchanges.append(Exchange(request.method, str(request.url), sent, request.content.decode(), text))
        return response

    httpx.Client.send = noted  # type: ignore[method-assign,assignment] # for as long as it is recorded
    try:
        yield
    finally:
        httpx.Client.send = send  # type: ignore[method-assign]


def _plain_loop(exchanges: list[Exchange]) -> None:
    """Send the same again, with the keys and ids that the node has given this time."""
    given: dict[str, str] = {}

    def now(text: str) -> str:
        for former, present in given.items():
            text = text.replace(former, present)
        return text

    with httpx.Client(trust_env=False) as http:
        for sent in exchanges:
            headers = {name: now(value) for name, value in sent.headers.items()}
            answer = http.request(sent.method, sent.url, headers=headers, content=now(sent.body) or None)
            if sent.names:
                given.update(_differences(json.loads(sent.answer), answer.json()))


def _differences(former: JsonValue, present: JsonValue) -> Iterator[tuple[str, str]]:
    """The texts at the same places of two answers that differ."""
    if isinstance(former, dict) and isinstance(present, dict):
        for name in former.keys() & present.keys():
            yield from _differences(former[name], present[name])
    elif isinstance(former, list) and isinstance(present, list):
        for one, other in zip(former, present, strict=True):
            yield from _differences(one, other)
    elif isinstance(former, str) and isinstance(present, str) and former != present:
        yield former, present
