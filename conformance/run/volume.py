"""How much a run keeps of what its failing cases sent and met (docs/limits.md): a node may answer anything."""

from __future__ import annotations

import threading
from dataclasses import replace

from pydantic import TypeAdapter

from conformance.values.shown_text import cut
from conformance.verdict import Exchange, Failure, Outcome

MOST_OF_FAILURES = 32 * 1024 * 1024
"""Bytes of the failures of a run as JSON. Each form of the report and the journal hold about as much, no more."""
SHORT = 400
"""Characters of each text of a failure after that."""
IN_SHORT = "the failures of this run hold so much text that this one is told in short: run its case alone to see it"
_FAILURE = TypeAdapter(Failure)


class FailureVolume:
    """What the failures of a run may still take. Several threads may count."""

    def __init__(self) -> None:
        self._left = MOST_OF_FAILURES
        self._lock = threading.Lock()

    def kept(self, outcome: Outcome) -> Outcome:
        """An outcome, its failure in short where those before it have left too little."""
        if outcome.failure is None:
            return outcome
        size = len(_FAILURE.dump_json(outcome.failure))
        with self._lock:
            if size <= self._left:
                self._left -= size
                return outcome
        return replace(outcome, failure=_in_short(outcome.failure))


def _in_short(failure: Failure) -> Failure:
    """A failure without the story of its case, with the beginnings of texts."""
    return Failure(
        cut(failure.step, SHORT),
        cut(failure.expected, SHORT),
        cut(failure.got, SHORT),
        _exchange_in_short(failure.exchange) if failure.exchange else None,
        hint="; ".join(filter(None, [cut(failure.hint, SHORT), IN_SHORT])),
    )


def _exchange_in_short(exchange: Exchange) -> Exchange:
    return replace(
        exchange,
        url=cut(exchange.url, SHORT),
        request_headers={name: cut(value, SHORT) for name, value in exchange.request_headers.items()},
        request_body=None if exchange.request_body is None else cut(exchange.request_body, SHORT),
        response_headers={},
        response_body=cut(exchange.response_body, SHORT),
        curl=exchange.curl if len(exchange.curl) <= 2 * SHORT else "",
    )
