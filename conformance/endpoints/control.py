"""The node's test control, where the profile names one (docs/profile.md, "Capabilities")."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from conformance.endpoints.client import Target
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.messages import Answer, Message
from conformance.endpoints.requests import JSON_TYPE
from conformance.values.json_text import written


def tell_control(
    target: Target, log: ExchangeLog, action: Literal["clock", "spend", "rotate"], members: dict[str, JsonValue]
) -> Answer:
    """Send an action to the node's test control."""
    url = f"{target.profile.control_url}/{action}"
    return target.exchange(Message("POST", url, {"Content-Type": JSON_TYPE}, written(members)), log)
