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


@pytest.mark.parametrize("shown", [SPOKEN, SPOKEN.upper(), SPOKEN[::-1], SPOKEN.encode().hex(), "-".join(SPOKEN)])
def test_token_is_hidden_in_the_answers_of_every_case(
    node: TinyNode, monkeypatch: pytest.MonkeyPatch, shown: str
) -> None:
    monkeypatch.setenv("MY_TOKEN", SPOKEN)
    with target(node, "MY_TOKEN") as there:
        of_a_case = Secrets(there.seen_keys)
    assert of_a_case.hide(f"a group called {shown}") == "a group called [secret of the profile]"
    assert not of_a_case.found_in(SPOKEN)  # which is no key that an answer must not show


def test_without_a_named_variable_no_token_is_sent(node: TinyNode) -> None:
    log = ExchangeLog(Secrets())
    with target(node, None) as there:
        tell_control(there, log, "clock", {"offset_seconds": 0})
    assert "Authorization" not in log._exchanges[0].request_headers


def test_variable_that_is_not_set_is_named(node: TinyNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_TOKEN", raising=False)
    with target(node, "MY_TOKEN") as there, pytest.raises(NoControlToken, match="MY_TOKEN"):
        tell_control(there, ExchangeLog(Secrets()), "clock", {"offset_seconds": 0})
