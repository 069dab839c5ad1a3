"""Profiles that state nothing for one key."""

from __future__ import annotations

from pydantic import JsonValue

from conformance.profile import Profile


def without(key: str) -> Profile:
    """The default profile with null at a key of dotted names."""
    nested: JsonValue = None
    for name in reversed(key.split(".")):
        nested = {name: nested}
    return Profile.model_validate(nested)
