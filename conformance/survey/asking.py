"""Sends the requests of a survey in wire form: without a profile, the node's names are not known yet."""

from __future__ import annotations

import base64
import secrets
from urllib.parse import urlencode

from pydantic import JsonValue

from conformance.endpoints.client import Target
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.messages import Answer, Message
from conformance.endpoints.redaction import Secrets
from conformance.endpoints.requests import JSON_TYPE
from conformance.values.addresses import CORE
from conformance.values.json_text import parse, written

NOT_SERVED = frozenset({404, 405, 501})


class Asker:
    """Sends requests to a node without a profile."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self.secrets = Secrets(target.seen_keys)
        """The keys of the survey, which its profile must not hold: a node may repeat them in any name."""
        self._log = ExchangeLog(self.secrets)
        self.requests = 0
        self.writes = 0
        """Accepted requests other than GET."""

    def url(self, path: str) -> str:
        """The address of a path under the API's prefix."""
        return f"{self._target.base_url}{CORE}/{path}"

    def get(self, path: str, key: str | None = None, /, **query: JsonValue) -> Answer:
        """Send a GET under the API's prefix, or under the node's address where the path begins with `/`."""
        return self.send("GET", path + (f"?{urlencode(query)}" if query else ""), key)

    def post(self, path: str, key: str | None = None, /, body: JsonValue = None) -> Answer:
        """Send a POST of JSON; with None, without a body."""
        return self.send("POST", path, key, None if body is None else written(body))

    def send(self, method: str, path: str, key: str | None = None, body: str | None = None, **more: str) -> Answer:
        """Send a request; `more` are further headers, `_` for `-`. Raises StepProblem where no answer comes."""
        headers = {"Content-Type": JSON_TYPE} if body is not None else {}
        headers |= {name.replace("_", "-"): value for name, value in more.items()}
        if key is not None:
            headers["X-Api-Key"] = key
            self.secrets.learn(key)
        self.requests += 1
        whole = path if path.startswith("/") else f"{CORE}/{path}"
        answer = self._target.exchange(Message(method, whole, headers, body), self._log)
        self.writes += answer.accepted and method != "GET"
        self.secrets.learn_members(object_of(answer), answer.exchange)
        return answer


def value_of(answer: Answer) -> JsonValue:
    """The JSON value of an answer; None where its body is not JSON."""
    try:
        value: JsonValue = parse(answer.text)  # type: ignore[assignment]  # parse gives JSON values alone
    except ValueError:
        return None
    return value


def object_of(answer: Answer) -> dict[str, JsonValue]:
    """The JSON object of an accepted answer; empty where there is none."""
    value = value_of(answer) if answer.accepted else None
    return value if isinstance(value, dict) else {}


def items_of(answer: Answer) -> list[dict[str, JsonValue]]:
    """The items of a page: the answer itself, or the only array among its members."""
    value = value_of(answer) if answer.accepted else None
    if isinstance(value, dict):
        lists = [inner for inner in value.values() if isinstance(inner, list)]
        value = lists[0] if len(lists) == 1 else None
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def flat(item: dict[str, JsonValue], above: str = "") -> dict[str, JsonValue]:
    """The members of an object and of the objects inside it, by names with dots."""
    members: dict[str, JsonValue] = {}
    for name, value in item.items():
        members |= flat(value, f"{above}{name}.") if isinstance(value, dict) else {f"{above}{name}": value}
    return members


def name_of(item: dict[str, JsonValue], value: JsonValue) -> str | None:
    """The name of the only member with this value; None where no member or several have it."""
    names = [name for name, held in item.items() if held == value and type(held) is type(value)]
    return names[0] if len(names) == 1 else None


def nobodys_key() -> str:
    """A key that nobody has."""
    return base64.b64encode(secrets.token_bytes(32)).decode()
