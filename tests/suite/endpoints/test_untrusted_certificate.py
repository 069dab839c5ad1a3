"""A certificate that this machine does not trust: nothing is learnt, and the reader is told what to do."""

from __future__ import annotations

import httpx
import pytest

from conformance.endpoints.client import Target
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.messages import Message
from conformance.endpoints.redaction import Secrets
from conformance.problems import Untrusted
from conformance.profile import Profile


def test_untrusted_certificate_is_told_apart_from_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> httpx.Response:
        raise httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate")

    monkeypatch.setattr(httpx.Client, "send", fail)
    with Target("https://node.example", Profile(), seed="0") as target, pytest.raises(Untrusted) as raised:
        target.exchange(Message("GET", "/core/v1/list_groups", {}, None), ExchangeLog(Secrets()))
    assert "self-signed certificate" in str(raised.value)
