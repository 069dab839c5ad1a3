"""Runs of a node that means harm tell the survey nothing, and end it with no error."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import cast
from unittest.mock import Mock

import httpx
import pytest

from conformance.endpoints.messages import Answer
from conformance.survey import runs
from conformance.survey.trial import Trial

DEEP = "[" * 100_000


def answering(text: str, status: int = 200) -> Trial:
    answer = Answer(status, httpx.Headers(), text, 0)
    return cast("Trial", SimpleNamespace(call=lambda *_: answer, notes=Mock(), runner=""))


@pytest.mark.parametrize(
    "response", ["", "5", "null", "[5]", "[[1, 2]]", '[["a", [1]]]', '[["a", "key"]]', '{"a": ["key"]}', DEEP]
)
def test_sandbox_that_lists_no_calls_tells_nothing(response: str) -> None:
    runs._sandbox(answering(json.dumps({"response": response})))


@pytest.mark.parametrize("text", ["{", "", "[]", "{}", '{"a":' * 100_000, '{"logs": 1, "a": true}', '{"a": 1, "a": 1}'])
@pytest.mark.parametrize("status", [200, 400])
def test_failure_that_is_no_answer_of_a_run_tells_nothing(text: str, status: int) -> None:
    runs._failure(answering(text, status), {"a": False})
