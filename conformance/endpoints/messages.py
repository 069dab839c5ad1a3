"""Requests in wire form, and the node's answers to them ("Preamble / Conventions")."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum

import httpx

from conformance.endpoints.canonical import canonical, descend, with_id_as_listed
from conformance.problems import Malformed, NotJson
from conformance.profile import Operation
from conformance.values.json_text import parse
from conformance.values.json_values import MISSING, Missing

ANSWERED_IN_TEXT = frozenset({"swagger_ui", "evidences", "evidence_checksums"})
"""Operations whose accepted answer is not JSON. All others answer JSON ("Preamble / Conventions")."""
JSON = re.compile(r"\s*application/(?:[^\s;]+\+)?json\s*(?:;|$)", re.IGNORECASE)
"""A media type of JSON (RFC 8259, 11; RFC 6839, 3.1), with any parameters."""
SHOWN = 300
"""Characters of an answer that a failure shows."""
HTML = re.compile(r"\s*<(!doctype\s+html|html)\b", re.IGNORECASE)
TITLE = re.compile(r"<title[^<>]*>([^<]*)", re.IGNORECASE)
"""Takes time in proportion to the text: what it tries from one `<` on ends at the next."""
OF_GATEWAYS = frozenset({502, 503, 504})
"""Statuses by which a gateway says that the server behind it did not answer (RFC 9110, 15.6)."""


class AskedAt(Enum):
    """The kind of URL of a request."""

    ENDPOINT = "endpoint"
    NO_ENDPOINT = "no endpoint"
    """Under the API's prefix, by a path or a method that the operation does not have."""
    OUTSIDE = "outside"
    """Not under the API's prefix."""


@dataclass(frozen=True, slots=True)
class Message:
    """A request in wire form, before the credential is put in."""

    method: str
    path: str
    """Under the node's address, or a whole URL."""
    headers: dict[str, str]
    body: str | None
    target: str | None = None
    """What the request line has in place of the path (RFC 9112, 3.2)."""


@dataclass(slots=True)
class Answer:
    """An answer of the node."""

    status: int
    headers: httpx.Headers
    text: str
    exchange: int
    """Its number in the log."""
    operation: Operation | None = None
    seconds: float = 0.0
    """From the request to the end of the answer."""
    group_id_form: str | None = None
    """The form of group ids in lists, by the profile."""
    asked_at: AskedAt = AskedAt.ENDPOINT
    fault: str = ""
    """Why its body cannot be read; empty where nothing is known against it."""
    renamed: dict[str, object] = field(default_factory=dict)
    """The members that were sent in place of the request's own, whose name the node had refused."""
    _value: object = field(default=MISSING)

    @property
    def accepted(self) -> bool:
        """A 2xx."""
        return 200 <= self.status < 300

    @property
    def value(self) -> object:
        """The answer by canonical names; null for an empty body. Malformed: it is not what the operation answers."""
        if isinstance(self._value, Missing):
            self._value = self._canonical() if self.accepted else self._parsed()
        return self._value

    @property
    def readable(self) -> bool:
        """Whether its body can be read: JSON in the form of the operation's answer, or what a refusal may hold."""
        try:
            _ = self.value
        except Malformed:
            return False
        return True

    @property
    def summary(self) -> str:
        """Its status and the beginning of its body; for an HTML page its title and whether a gateway sent it."""
        if not HTML.match(self.text):
            return f"status {self.status}: {self.text[:SHOWN]}"
        if self.status in OF_GATEWAYS:
            server = self.headers.get("server", "no name of its server")
            return f"status {self.status}: {self._page} from a gateway ({server}) that got no answer from the node"
        return f"status {self.status}: {self._page}"

    @property
    def _page(self) -> str:
        title = TITLE.search(self.text)
        return f"a page in HTML, {title[1].strip()[:SHOWN]!r}" if title else "a page in HTML"

    def _canonical(self) -> object:
        value = canonical(self.operation, self._parsed())
        if self.operation is not None and self.operation.name == "add_group":
            return with_id_as_listed(value, self.group_id_form)
        return value

    def _parsed(self) -> object:
        if not self.text and not self.fault:
            return None
        try:
            return self._json()
        except ValueError as problem:
            if self._may_be_text:
                return self.text
            got = self.summary if HTML.match(self.text) else f"{problem}: {self.text[:200]}"
            raise NotJson("a JSON body", got, self.exchange) from None

    @property
    def _may_be_text(self) -> bool:
        """Whether the body need not be JSON: that of a refusal need not, unless it calls itself so ("Errors")."""
        if self.accepted:
            return self.operation is not None and self.operation.name in ANSWERED_IN_TEXT
        return 400 <= self.status < 500 and not JSON.match(self.headers.get("content-type", ""))

    def _json(self) -> object:
        if self.fault:
            raise ValueError(self.fault)
        return parse(self.text)

    def at(self, path: tuple[str, ...]) -> object:
        """The value at a path of a pack; MISSING when there is none."""
        match path:
            case ("@status" | "@accepted" | "@text" | "@seconds" as name,):
                attribute: object = getattr(self, name[1:])
                return attribute
            case ("@headers",):
                return dict(self.headers)
            case ("@headers", name):
                return self.headers.get(name, MISSING)
            case _:
                return descend(self.value, path)
