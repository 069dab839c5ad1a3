"""The canonical members of every operation's request and answer, those included that only some profiles have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from conformance.profile.model import Profile
from conformance.profile.operations import ATTESTATION, OPERATIONS
from conformance.profile.resolve import resolve

EVERY_NAME: Mapping[str, object] = {
    "wire": {
        "account_exists": {"request_response": {"key_in": "body"}},
        "create_wallet": {"fields": {"name": "name", "description": "description"}},
        "list_items": {"fields": {"wallet": {"derivation_path": "derivation_path"}}},
    },
}
"""What the reference profile leaves out and others may state."""
DOCUMENTS = frozenset({*ATTESTATION, "openapi", "swagger_ui"})
"""Operations whose answer is a document with members that no table of the specification names."""


@dataclass(frozen=True)
class MemberNames:
    """What an operation's request and answer may hold, by canonical name."""

    request: frozenset[str]
    answer: frozenset[str] | None
    """Of each item, where the operation is a list. None: a document of any form."""
    is_list: bool


@cache
def member_names() -> Mapping[str, MemberNames]:
    """Operation to its members on a node whose profile states every name."""
    profile = Profile.model_validate(EVERY_NAME)
    return {name: _names(profile, name) for name in OPERATIONS}


def _names(profile: Profile, name: str) -> MemberNames:
    operation = resolve(profile, name)
    answered = operation.response if operation.items is None else operation.items
    placeholders = {"group_id"} if "{group_id}" in operation.path else set()
    return MemberNames(
        request=frozenset({*operation.request, *placeholders}),
        answer=None if name in DOCUMENTS else frozenset(answered),
        is_list=operation.is_list,
    )
