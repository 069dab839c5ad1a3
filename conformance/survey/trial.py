"""The account of a survey: its requests and the objects that it created."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count
from urllib.parse import urlencode

from pydantic import JsonValue

from conformance.drivers.openapi.requests import DescribedRequest
from conformance.endpoints.canonical import number_of
from conformance.endpoints.messages import Answer
from conformance.profile.operations import PERMISSION_ARRAYS, PERMISSION_FLAGS
from conformance.service.wallet_names import WalletNames
from conformance.survey.asking import Asker, items_of, value_of
from conformance.survey.notes import Notes
from conformance.survey.reading import METHOD_AND_PATH
from conformance.values.json_text import written

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


NAMED_BY = {
    "add_group": "group",
    "update_group": "group",
    "add_usage_api_key": "usage key",
    "update_usage_api_key": "usage key",
    "update_usage_api_key_metadata": "usage key",
}
"""By path: the kind of object that it names."""
USUAL_SIZE = 20
MOST_GROUPS = 200
PAGE = 10
"""Items that every node serves in one page."""


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
    given_names: defaultdict[str, set[str]] = field(default_factory=partial(defaultdict, set))
    """By kind of object."""
    usage_keys: list[str] = field(default_factory=list)
    runner: str = ""
    """The key whose runs the node accepts."""
    plain_key: str = ""
    """A usage key without permissions."""
    pkp: str = ""
    other_pkp: str = ""
    """A second wallet."""
    address: str = ""
    action: str = ""
    """The CID of a registered action."""
    hashed: str = ""
    wallet_names: WalletNames | None = None
    """Where requests name wallets by address."""

    @property
    def first_page(self) -> int:
        """The number of the first page."""
        seen = self.notes.seen.get("wire.paging.first_page_number")
        return int(str(seen.value)) if seen else 0

    @property
    def first_list(self) -> str:
        """The path of the first page of groups, with its query."""
        return f"list_groups?page_number={self.first_page}&page_size={USUAL_SIZE}"

    def post(self, path: str, body: dict[str, JsonValue], key: str | None = None) -> Answer:
        """Send a POST, by default with the account's key; whole numbers in the type that the node describes.

        A name that was given before gets a number: a node may refuse a name that another group, or usage key, has.
        """
        member = self.group_names[0] if path == "add_group" else "name"
        if path in NAMED_BY and isinstance(name := body.get(member), str):
            given = self.given_names[NAMED_BY[path]]
            numbered = (f"{name} {number}" for number in count(2))
            body = {**body, member: next(new for new in chain([name], numbered) if new not in given)}
        answer = self.ask.post(path, key or self.key, body=self._fitted(path, body))
        if answer.accepted:
            self.note_name(path, body.get(member))
        return answer

    def note_name(self, path: str, name: JsonValue) -> None:
        """Note a name that the node has accepted."""
        if path in NAMED_BY and isinstance(name, str):
            self.given_names[NAMED_BY[path]].add(name)

    def offers(self, operation: str) -> bool:
        """Whether the path of an operation was seen that the specification names without one."""
        return f"{METHOD_AND_PATH}.{operation}" in self.notes.seen

    def described(self, operation: str) -> DescribedRequest | None:
        """What the node describes of such an operation's request."""
        seen = self.notes.seen.get(f"{METHOD_AND_PATH}.{operation}")
        path = str(seen.value).partition(" ")[2].removeprefix("/") if seen else ""
        return self.notes.api.at(path) if self.notes.api and path else None

    def call(self, operation: str, body: dict[str, JsonValue] | None = None, key: str | None = None) -> Answer:
        """Call such an operation, by default with the account's key; without `body` it has no members."""
        endpoint = str(self.notes.seen[f"{METHOD_AND_PATH}.{operation}"].value)
        method, _, path = endpoint.replace("{slug}", self.notes.value("brand.slug", "")).partition(" ")
        path = path.removeprefix("/")
        if body is None or method == "GET":
            return self.ask.send(method, path + (f"?{urlencode(body)}" if body else ""), key or self.key)
        return self.ask.send(method, path, key or self.key, written(self._fitted(path, body)))

    def _fitted(self, path: str, body: dict[str, JsonValue]) -> dict[str, JsonValue]:
        """A body with whole numbers in the type that the node describes, and wallets by what it takes."""
        named = self.wallet_names.in_members(body) if self.wallet_names else body
        return self.notes.api.fitted(path, named) if self.notes.api else named

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

    def all_groups(self) -> list[dict[str, JsonValue]]:
        """All groups of the account."""
        groups: list[dict[str, JsonValue]] = []
        for number in count(self.first_page):
            items = items_of(self.ask.get("list_groups", self.key, page_number=number, page_size=PAGE))
            groups += items
            if len(items) < PAGE or len(groups) > MOST_GROUPS:
                return groups
        return groups

    def newest_group(self) -> int | None:
        """The id of the last group that the list shows."""
        groups = self.all_groups()
        return number_of(groups[-1].get("id")) if groups else None

    def all_actions(self) -> JsonValue:
        """The wildcard among a group's actions, in a form that the node takes."""
        seen = self.notes.seen.get("wire.group.cid_wildcard_form")
        return seen.value[0] if seen and isinstance(seen.value, list) else 0

    def cid(self, code: str) -> str:
        """The CID that the node computes for code; empty where it computes none."""
        slug = self.notes.value("brand.slug", "")
        value = value_of(self.ask.post(f"get_{slug}_action_ipfs_id", body=code)) if slug else None
        member = self.notes.value("wire.get_action_ipfs_id.answer_member", "")
        value = value.get(member) if isinstance(value, dict) else value
        return value if isinstance(value, str) else ""
