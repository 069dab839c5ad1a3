"""The node's test control, where the profile names one (docs/profile.md, "Capabilities")."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from conformance.endpoints.client import Target, control_token
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.messages import Answer, Message
from conformance.endpoints.requests import JSON_TYPE
from conformance.problems import NoControlToken
from conformance.profile import Profile
from conformance.values.json_text import written


def control_headers(profile: Profile) -> dict[str, str]:
    """The headers of requests to the test control. NoControlToken: the profile names a variable that holds no token."""
    headers = {"Content-Type": JSON_TYPE}
    variable = profile.control_token_variable
    if variable is None:
        return headers
    token = control_token(profile)
    if token is None:
        raise NoControlToken(f"a token in the variable {variable}, which the profile names", "it is not set")
    return {**headers, "Authorization": f"Bearer {token}"}


def tell_control(
    target: Target, log: ExchangeLog, action: Literal["clock", "spend", "rotate"], members: dict[str, JsonValue]
) -> Answer:
    """Send an action to the node's test control. Others would notice that the certificate is another one."""
    if action == "rotate":
        target.be_alone()
    url = f"{target.profile.control_url}/{action}"
    return target.exchange(Message("POST", url, control_headers(target.profile), written(members)), log)
