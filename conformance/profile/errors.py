"""How refusals look ("Errors")."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from conformance.profile.section import Section, WireName

JSON_MEDIA_TYPE = r"^application/([a-z0-9.-]+\+)?json$"
RefusalStatus = Annotated[int, Field(ge=400, le=499)]
UnavailableStatus = Annotated[int, Field(ge=400, le=599)]
Statuses = Annotated[tuple[RefusalStatus, ...], Field(min_length=1)] | None


class StatusCodes(Section):
    """Refusal class to the statuses that count as it, each a 4xx: a server fault is no refusal. Null: any 4xx."""

    malformed: Statuses = (400,)
    """The body is not JSON, or typed data is at fault."""
    unauthenticated: Statuses = (401,)
    """No key, an unknown or a removed one."""
    insufficient_credit: Statuses = (402,)
    """Credits do not cover the call."""
    forbidden: Statuses = (403,)
    """The key is known and lacks the permission."""
    not_found: Statuses = (404,)
    """This account has no such thing."""
    conflict: Statuses = (409,)
    """It contradicts the present state."""
    too_large: Statuses = (413,)
    """The body is too long."""
    invalid: Statuses = (422,)
    """JSON of the wrong shape, a number out of range, bad hex."""
    method: Statuses = (405,)
    """The path is not served with this method."""
    unavailable: Annotated[tuple[UnavailableStatus, ...], Field(min_length=1)] | None = (503,)
    """The chain or the payment provider does not answer."""


class BodyShape(Section):
    """The body of a refusal."""

    media_type: Annotated[str, Field(pattern=JSON_MEDIA_TYPE)] = "application/problem+json"
    """Its Content-Type, without parameters: `application/json`, or a type that ends in `+json` (RFC 6839)."""
    code_member: WireName | None = "code"
    """The member with a stable, machine-readable code."""
    status_member: WireName | None = "status"
    """The member that repeats the HTTP status."""


class Errors(Section):
    """Statuses and bodies of refusals."""

    status_codes: StatusCodes | None = StatusCodes()
    """ERR-120. Null: every class is any 4xx."""
    body_shape: BodyShape | None = BodyShape()
    """ERR-130."""
