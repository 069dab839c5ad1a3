"""The profile as results.json holds it, without what its addresses may give away."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

from pydantic import JsonValue

from conformance.profile import Profile
from conformance.report.results import ProfileUsed

OF_THE_NODE = frozenset({"base_url", "attestation.base_url"})
"""Addresses that are shown with their path. In those of a chain or a payment provider the path may hold a key."""
HIDDEN_PATH = "/[path]"


def profile_used(source: str, profile: Profile) -> ProfileUsed:
    """The profile of a run: `source` is its file as the user named it, or ``reference``."""
    return ProfileUsed(
        source=source,
        sha256=profile_digest(profile),
        capabilities=profile.capabilities,
        content=shown_profile(profile),
        assumed=tuple(sorted(profile.assumed)),
    )


def profile_digest(profile: Profile) -> str:
    """SHA-256 of the profile with every default filled in, hex."""
    text = json.dumps(profile.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def shown_profile(profile: Profile) -> dict[str, JsonValue]:
    """The profile with every default filled in; addresses without user, password and query, most without their path."""
    return _shown(profile.model_dump(mode="json"), "")


def without_secrets(url: str) -> str:
    """A URL without user, password, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _shown(section: Mapping[str, JsonValue], above: str) -> dict[str, JsonValue]:
    return {name: _value(value, above + name) for name, value in section.items()}


def _value(value: JsonValue, key: str) -> JsonValue:
    if isinstance(value, dict):
        return _shown(value, f"{key}.")
    if not isinstance(value, str) or not value.startswith(("http://", "https://")):
        return value
    url = without_secrets(value)
    path = urlsplit(url).path
    return url if key in OF_THE_NODE or path in {"", "/"} else url.removesuffix(path) + HIDDEN_PATH
