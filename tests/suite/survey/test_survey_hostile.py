"""Runs of a node that means harm tell the survey nothing, and end it with no error."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import cast

import httpx
import pytest

from conformance.endpoints.messages import Answer
from conformance.service.runs import returned
from conformance.survey import runs
from conformance.survey.trial import Trial

DEEP = "[" * 100_000


class SilentNotes:
    """Notes that are lost."""

    def see(self, *_: object) -> None:
        """Lose it."""

    doubt = see


def answering(text: str, status: int = 200) -> Trial:
    answer = Answer(status, httpx.Headers(), text, 0)
    return cast("Trial", SimpleNamespace(call=lambda *_: answer, notes=SilentNotes(), runner=""))


@pytest.mark.parametrize(
    "response", ["", "5", "null", "[5]", "[[1, 2]]", '[["a", [1]]]', '[["a", "key"]]', '{"a": ["key"]}', DEEP]
)
def test_sandbox_that_lists_no_calls_tells_nothing(response: str) -> None:
    runs._sandbox(answering(json.dumps({"response": response})))


@pytest.mark.parametrize("text", ["{", "", "[]", "{}", '{"a":' * 100_000, '{"logs": 1, "a": true}', '{"a": 1, "a": 1}'])
@pytest.mark.parametrize("status", [200, 400])
def test_failure_that_is_no_answer_of_a_run_tells_nothing(text: str, status: int) -> None:
    runs._failure(answering(text, status), {"a": False})


@pytest.mark.parametrize("response", [DEEP, '{"a":' * 100_000, "9" * 5_000, "[1,"])
def test_text_that_is_no_json_is_returned_as_it_is(response: str) -> None:
    assert returned(response, "text") == response
    assert returned("[[1]]", "text") == [[1]]
