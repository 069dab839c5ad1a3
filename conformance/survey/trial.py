"""The account of a survey: its requests and the objects that it created."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import JsonValue

from conformance.endpoints.messages import Answer
from conformance.profile.operations import PERMISSION_ARRAYS, PERMISSION_FLAGS
from conformance.survey.asking import Asker, value_of
from conformance.survey.notes import Notes

ALL_PERMISSIONS: dict[str, JsonValue] = {
    **dict.fromkeys(PERMISSION_FLAGS, True),
    **{name: [0] for name in PERMISSION_ARRAYS},
}
NO_PERMISSIONS: dict[str, JsonValue] = {
    **dict.fromkeys(PERMISSION_FLAGS, False),
    **{name: [] for name in PERMISSION_ARRAYS},
}

NAMES = ("account_name", "group_name", "name", "title", "label")
DESCRIPTIONS = ("account_description", "group_description", "description", "about", "note", "details")
"""Member names to try where the node refuses the reference node's."""


USUAL_SIZE = 20


@dataclass
class Trial:
    """An account that the survey uses, and the objects in it."""

    ask: Asker
    notes: Notes
    label: str
    key: str = ""
    wallet: str = ""
    """The address of the account key's wallet; empty for an account that the user gave."""
    group_names: tuple[str, str] = ("group_name", "group_description")
    groups: list[JsonValue] = field(default_factory=list)
    """The ids of groups as the first page of the list shows them."""
    made_groups: int = 1
    usage_keys: list[str] = field(default_factory=list)
    plain_key: str = ""
    """A usage key without permissions."""
    pkp: str = ""
    address: str = ""
    action: str = ""
    """The CID of a registered action."""
    hashed: str = ""

    @property
    def first_page(self) -> int:
        """The number of the first page."""
        seen = self.notes.seen.get("wire.paging.first_page_number")
        return int(str(seen.value)) if seen else 0

    def post(self, path: str, body: dict[str, JsonValue], key: str | None = None) -> Answer:
        """Send a POST, by default with the account's key."""
        return self.ask.post(path, key or self.key, body=body)

    def page(self, path: str, **query: JsonValue) -> Answer:
        """Request the first page of a list, of the node's default size, or of a usual one where there is no default."""
        answer = self.ask.get(path, self.key, **query)
        if answer.accepted or "page_size" in query:
            return answer
        paged = self.ask.get(path, self.key, **query, page_number=self.first_page, page_size=USUAL_SIZE)
        default = self.notes.seen.get("limits.page_size_default")
        return paged if paged.accepted or (default is not None and default.value is None) else answer

    def add_group(self, name: str, key: str = "", **lists: JsonValue) -> Answer:
        """Create a group."""
        labels: dict[str, JsonValue] = dict.fromkeys(self.group_names, name)
        answer = self.post("add_group", {"pkp_ids_permitted": [], "cid_hashes_permitted": [], **labels, **lists}, key)
        self.made_groups += answer.accepted and not key
        return answer

    def cid(self, code: str) -> str:
        """The CID that the node computes for code; empty where it computes none."""
        slug = self.notes.value("brand.slug", "")
        value = value_of(self.ask.post(f"get_{slug}_action_ipfs_id", body=code)) if slug else None
        return value if isinstance(value, str) else ""
