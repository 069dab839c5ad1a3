"""Finds in the node's OpenAPI description the operations that the specification names without a path, and members."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from conformance.drivers.openapi.description import Description
from conformance.drivers.openapi.requests import DescribedRequest, described_requests
from conformance.profile.operations import OPERATIONS
from conformance.values.addresses import CORE

MEMBERS: Mapping[str, frozenset[str]] = {
    "add_action_to_group": frozenset({"group_id", "action_ipfs_cid"}),
    "add_pkp_to_group": frozenset({"group_id", "pkp_id"}),
    "run_action": frozenset({"code"}),
}
"""The members by which an operation is known whatever its path is called."""
MAKES = "create|mint|new|add|make"
WORDS: Mapping[str, re.Pattern[str]] = {
    "account_exists": re.compile(r"^[/_-]*account([/_-]?exists)?$"),
    "create_wallet": re.compile(rf"({MAKES}).{{0,100}}(wallet|pkp)|(wallet|pkp)s?[/_-]?({MAKES})"),
}
"""What the paths look like of operations without members."""
LABELS = re.compile(r"desc|about|note|detail|summary|blurb|comment", re.IGNORECASE)
"""Names of members that hold a description rather than a name."""
MAIL = re.compile(r"mail|contact", re.IGNORECASE)
FIXED = frozenset(spec.endpoint.partition(" ")[2] for spec in OPERATIONS.values() if spec.endpoint)


class DescribedApi:
    """The requests of a description, by what the survey asks about them."""

    def __init__(self, document: Mapping[str, object], url: str) -> None:
        self.requests = tuple(described_requests(Description(document, url)))
        self._by_path = {request.path: request for request in self.requests}

    @property
    def paths(self) -> list[str]:
        """The paths under the node's address."""
        return list(self._by_path)

    def at(self, path: str) -> DescribedRequest | None:
        """The request of a path, which is under the API's prefix where it does not begin with `/`."""
        return self._by_path.get(path if path.startswith("/") else f"{CORE}/{path}")

    def candidates(self, name: str, usual: str) -> list[str]:
        """Method and path under the API's prefix of each described operation that may be this one.

        One that has its name, or the usual path, is it; then those with its members, then those whose path sounds so.
        """
        left = [one for one in self.requests if one.path.startswith(f"{CORE}/") and not _is_fixed(one)]
        of_name = [one for one in left if one.name == name or one.path == f"{CORE}{usual.partition(' ')[2]}"]
        needed, sounds = MEMBERS.get(name), WORDS.get(name)
        of_members = [one for one in left if needed and needed <= {*one.body, *one.query}]
        of_words = [one for one in left if sounds and sounds.search(one.path.removeprefix(CORE)) and _has_labels(one)]
        found = of_name or of_members or of_words
        return [f"{one.method} {one.path.removeprefix(CORE)}" for one in found]

    def fitted(self, path: str, body: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
        """The members with whole numbers and texts of digits in the type that the description demands."""
        described = self.at(path)
        if described is None:
            return dict(body)
        return {name: _fitted(value, described.types(name)) for name, value in body.items()}

    def labels(self, path: str, known: Sequence[str] = ()) -> tuple[str, str, str | None] | None:
        """The names of the members for name, description and mail address. None where two texts are not described."""
        described = self.at(path)
        texts = [] if described is None else [n for n in described.body if "string" in described.types(n)]
        mail = next((name for name in texts if MAIL.search(name)), None)
        left = [name for name in texts if name not in {mail, *known}]
        about = next((name for name in left if LABELS.search(name)), left[1] if len(left) > 1 else None)
        named = next((name for name in left if name != about), None)
        return None if named is None or about is None else (named, about, mail)


def _is_fixed(request: DescribedRequest) -> bool:
    """Whether the specification gives the path, or it is one of the design-level paths."""
    return request.path in FIXED or "{" in request.path or request.path.endswith("/pkps/create")


def _has_labels(request: DescribedRequest) -> bool:
    """Whether it needs nothing but texts, which may be labels."""
    return all("string" in request.types(name) for name in request.required) and "typed_data" not in request.body


def _fitted(value: JsonValue, types: frozenset[str]) -> JsonValue:
    if isinstance(value, int) and not isinstance(value, bool) and types and not types & {"integer", "number"}:
        return str(value) if "string" in types else value
    if isinstance(value, str) and value.isdecimal() and types and "string" not in types:
        return int(value) if types & {"integer", "number"} else value
    return value
