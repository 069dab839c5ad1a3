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


def told_control(node: TinyNode, variable: str | None) -> ExchangeLog:
    """Move the node's clock by a profile that names this variable; what was sent."""
    log = ExchangeLog(Secrets())
    with Target(node.url, Profile(control_url=f"{node.url}/control", control_token_variable=variable)) as target:
        tell_control(target, log, "clock", {"offset_seconds": 0})
    return log


def test_token_of_the_named_variable_is_sent_and_never_shown(node: TinyNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", f"{SPOKEN}\n")
    log = told_control(node, "MY_TOKEN")
    assert [asked.headers["authorization"] for asked in node.asked] == [f"Bearer {SPOKEN}"]
    assert SPOKEN not in repr(log.redacted(0))


@pytest.mark.parametrize("shown", [SPOKEN, SPOKEN.upper(), SPOKEN[::-1], SPOKEN.encode().hex(), "-".join(SPOKEN)])
def test_token_is_hidden_in_the_answers_of_every_case(monkeypatch: pytest.MonkeyPatch, shown: str) -> None:
    monkeypatch.setenv("MY_TOKEN", SPOKEN)
    with Target("http://node.invalid", Profile.model_validate({"control_token_variable": "MY_TOKEN"})) as target:
        of_a_case = Secrets(target.seen_keys)
    assert of_a_case.hide(f"a group called {shown}") == "a group called [secret of the profile]"
    assert not of_a_case.found_in(SPOKEN)  # which is no key that an answer must not show


def test_without_a_named_variable_no_token_is_sent(node: TinyNode) -> None:
    told_control(node, None)
    assert ["authorization" in asked.headers for asked in node.asked] == [False]


def test_variable_that_is_not_set_is_named(node: TinyNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MY_TOKEN", raising=False)
    with pytest.raises(NoControlToken, match="MY_TOKEN"):
        told_control(node, "MY_TOKEN")
