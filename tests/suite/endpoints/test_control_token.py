"""The headers of requests to a node's test control."""

from __future__ import annotations

import pytest
from tiny_node import TinyNode

from conformance.endpoints.client import Target
from conformance.endpoints.control import tell_control
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.redaction import Secrets
from conformance.problems import NoControlToken
from conformance.profile import Profile

SPOKEN = "a-word-of-the-test-control"


def target(node: TinyNode, variable: str | None) -> Target:
    return Target(node.url, Profile(control_url=f"{node.url}/control", control_token_variable=variable))


def test_token_of_the_named_variable_is_sent_and_never_shown(node: TinyNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", f"{SPOKEN}\n")
    log = ExchangeLog(Secrets())
    with target(node, "MY_TOKEN") as there:
        tell_control(there, log, "clock", {"offset_seconds": 0})
    (raw,) = log._exchanges
    assert raw.request_headers["Authorization"] == f"Bearer {SPOKEN}"
    assert SPOKEN not in repr(log.redacted(0))


def test_without_a_named_variable_no_token_is_sent(node: TinyNode) -> None:
    log = ExchangeLog(Secrets())
    with target(node, None) as there:
        tell_control(there, log, "clock", {"offset_seconds": 0})
    assert "Authorization" not in log._exchanges[0].request_headers


def test_variable_that_is_not_set_is_named(node: TinyNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_TOKEN", raising=False)
    with target(node, "MY_TOKEN") as there, pytest.raises(NoControlToken, match="MY_TOKEN"):
        tell_control(there, ExchangeLog(Secrets()), "clock", {"offset_seconds": 0})
