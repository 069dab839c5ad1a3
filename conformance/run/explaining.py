"""Finds the profile key whose other value would explain what a node answered, among the keys that a case relied on."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import get_args

from conformance.endpoints.canonical import descend
from conformance.profile import Operation, choices
from conformance.profile.section import RefusalClass
from conformance.report.objects import items_of
from conformance.service.reliance import CONTAINER, OF_ITEMS, OF_REQUESTS
from conformance.values.json_text import parse
from conformance.values.json_values import MISSING, printed_json
from conformance.verdict import Exchange

SHORTEST_NAME = 3
"""Characters of an assumed text that a look for it can tell from others."""
REFUSED, SERVER_FAULT = 400, 500
NO_SUCH_PATH = frozenset({404, 405})
OF_WRONG_BODIES = frozenset({400, 422})
OF_PATHS = "wire.operations.method_and_path."
REFUSALS = frozenset({"refused", *get_args(RefusalClass)})
"""Values of a key that say that a request is refused."""
DIGITS = re.compile(r'(?<=[\[,:])\s*"[0-9]+"')
"""A text of a number, as a value."""
NOT_THE_NAME = r"(?:required|missing|unknown|unexpected|unrecogni[sz]ed|extra|additional|not (?:allowed|expected))"
"""How a refusal says that it lacks a member, or does not know one; other words are about the member's value."""
NEAR = 60
"""Characters between such a word and the name of the member."""


@dataclass(frozen=True)
class Departed:
    """What was expected, and what came in its place."""

    expected: str
    exchange: Exchange
    operation: Operation | None = None
    """What was called."""
    left_open: Collection[str] = ()
    """The keys that answer the statements which are charged, where the specification leaves all of these open."""
    made_for: Collection[str] = ()
    """The keys of which the case is for some values alone."""
    got: str = ""
    """How what came was told."""

    @property
    def status(self) -> int:
        """That of the answer."""
        return self.exchange.status or 0

    @property
    def accepted(self) -> bool:
        """Whether the request was accepted."""
        return self.status < REFUSED

    @property
    def is_refused(self) -> bool:
        """Whether what had to be accepted was refused: a choice explains that only where it may say "refused"."""
        return not self.accepted and "acceptance (2xx)" in self.expected

    def decides(self, key: str) -> bool:
        """Whether the key says how this operation is served, or which nodes the case is for, or what is charged."""
        called = self.operation
        is_its = called is not None and (key in called.keys or key.startswith(f"wire.{called.name}."))
        return is_its or key in self.made_for or self.answers(key)

    def answers(self, key: str) -> bool:
        """Whether the key, or the section that it is in, answers a charged statement."""
        return any(key == name or key.startswith(f"{name}.") for name in self.left_open)


def explaining(keys: Mapping[str, object], departed: Departed) -> str:
    """The key whose other value explains what came; empty where none does. No key explains a server fault.

    What the answer itself shows comes before what is left: the key that alone answers the charged statements, or of
    which alone the case is for some values.
    """
    if departed.exchange.status is None or departed.status >= SERVER_FAULT:
        return ""
    for rule in RULES:
        for key, value in keys.items():
            if rule(key, value, departed):
                return key
    if departed.is_refused:
        return ""
    answering = [key for key in keys if departed.answers(key)] or [key for key in keys if key in departed.made_for]
    return answering[0] if len(answering) == 1 else ""


def _class_of_refusal(key: str, value: object, departed: Departed) -> bool:
    """The class of refusals that the charged statement leaves open, for a refusal of another class."""
    return (
        not departed.accepted
        and isinstance(value, str)
        and value in REFUSALS
        and departed.answers(key)
        and _says(departed.expected, value)
        and not REFUSALS.isdisjoint(choices(key) - {value})
    )


def _status_of_refusals(key: str, _: object, departed: Departed) -> bool:
    """The statuses of a class of refusals, for a refusal with another one."""
    return (
        key.startswith("errors.status_codes.")
        and re.search(rf"\b{key.rpartition('.')[2]}: ", departed.expected) is not None
        and not departed.accepted
    )


def _member_of_answer(key: str, value: object, departed: Departed) -> bool:
    """The name of a member that was expected, and that the accepted answer lacks."""
    return _says(departed.expected, str(value).rpartition(".")[2]) and _lacks(key, value, departed)


def _member_not_there(key: str, value: object, departed: Departed) -> bool:
    """The name of a member that the items of a list lack, where a member is told not to be there."""
    return str(MISSING) in departed.got and key.startswith(OF_ITEMS) and _lacks(key, value, departed)


def _lacks(key: str, value: object, departed: Departed) -> bool:
    """Whether the accepted answer, or each item of the list in it, lacks the member whose name the key says."""
    if not key.startswith("wire.") or key.endswith("_form") or not _is_name(value) or not departed.accepted:
        return False
    answer = departed.exchange.response_body
    if key.startswith(OF_ITEMS):
        path, items = tuple(str(value).split(".")), items_of(answer)
        is_its = departed.operation is None or key in departed.operation.keys
        return is_its and bool(items) and all(descend(item, path) is MISSING for item in items)
    body = _parsed(answer)
    has_members = isinstance(body, dict) or bool(body and isinstance(body, list))
    return has_members and str(value).rpartition(".")[2] not in _members(answer)


def _text_of_refusal(key: str, value: object, departed: Departed) -> bool:
    """A text of the request in whose place, or as whose name, a refusal or a failed run tells of it."""
    if key.startswith(("wire.", "errors.")) or not _is_name(value) or choices(key):
        return False
    answer = departed.exchange.response_body
    return _says(answer, str(value)) or any(
        _has_in_its_place(answer, text, str(value)) for text in _texts(departed.exchange.request_body or "")
    )


def _whole_answer(key: str, value: object, departed: Departed) -> bool:
    """Where the answer stands: it was taken for the whole, and an object came, or the other way round."""
    if not departed.accepted or not departed.decides(key):
        return False
    is_object = isinstance(_parsed(departed.exchange.response_body), dict)
    if key == f"{CONTAINER}form":
        return is_object is not (value == "object")
    return key.endswith("_member") and value is None and is_object


def _path(key: str, _: object, departed: Departed) -> bool:
    """The path and method of an operation, where the node has nothing there."""
    called = departed.operation.name if departed.operation else ""
    return key == f"{OF_PATHS}{called}" and departed.is_refused and departed.status in NO_SUCH_PATH


def _member_of_request(key: str, value: object, departed: Departed) -> bool:
    """The name of a member of the request that a refusal lacks, or does not know."""
    return (
        key.startswith(OF_REQUESTS)
        and not key.startswith(OF_PATHS)
        and _is_name(value)
        and departed.status in OF_WRONG_BODIES
        and f'"{value}"' in (departed.exchange.request_body or "")
        and _is_other_name(departed.exchange.response_body, str(value))
    )


def _is_other_name(refusal: str, name: str) -> bool:
    """Whether a refusal complains about the name of a member, and not about its value."""
    member, gap = rf"(?<!\w){re.escape(name)}(?!\w)", rf"(?s:.{{,{NEAR}}}?)"
    return re.search(f"{member}{gap}{NOT_THE_NAME}|{NOT_THE_NAME}{gap}{member}", refusal, re.IGNORECASE) is not None


def _refused_or_not(key: str, value: object, departed: Departed) -> bool:
    """Whether the node refuses such a request, and with which class of refusal."""
    if not isinstance(value, str):
        return False
    others = choices(key) - {value}
    if value in REFUSALS:
        expected = _says(departed.expected, value) or departed.answers(key)
        return expected and bool(others - REFUSALS if departed.accepted else others & REFUSALS)
    return departed.decides(key) and not departed.accepted and bool(others & REFUSALS)


def _status_of_answer(key: str, value: object, departed: Departed) -> bool:
    """The status of an answer that is no refusal, as that of a run which failed."""
    return (
        key.endswith(".status")
        and departed.status != value
        and re.search(rf"\bstatus {value}\b", departed.expected) is not None
    )


def _price(key: str, _: object, departed: Departed) -> bool:
    """The price of a call, for a balance that is not what it leaves."""
    is_balance = departed.operation is not None and departed.operation.name == "balance"
    return key.startswith("billing.charge_per_call.") and is_balance and departed.accepted


def _form_of_answer(key: str, value: object, departed: Departed) -> bool:
    """The form of a value: a text of JSON came in place of the JSON, or texts of digits in place of numbers."""
    if value == "integer" and departed.accepted:
        return DIGITS.search(departed.exchange.response_body) is not None and departed.decides(key)
    if value == "text" or "text" not in choices(key) or not departed.accepted:
        return False
    inner = (_parsed(text) for text in _texts(departed.exchange.response_body))
    return any(isinstance(one, dict | list) and printed_json(one) in departed.expected for one in inner)


RULES: tuple[Callable[[str, object, Departed], bool], ...] = (
    _class_of_refusal,
    _status_of_refusals,
    _member_of_answer,
    _member_not_there,
    _whole_answer,
    _path,
    _member_of_request,
    _refused_or_not,
    _status_of_answer,
    _form_of_answer,
    _text_of_refusal,
    _price,
)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and len(value) >= SHORTEST_NAME


def _says(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _has_in_its_place(answer: str, sent: str, value: str) -> bool:
    """Whether an answer has a text that was sent, but for the part of it that was assumed."""
    before, found, after = sent.partition(value)
    if not found or not (before or after) or sent in answer:
        return False
    return re.search(rf"{re.escape(before)}[A-Z]\w[\w ]*{re.escape(after)}", answer) is not None


def _parsed(text: str) -> object:
    """The JSON value of a text; None where it is no JSON."""
    try:
        return parse(text)
    except ValueError:
        return None


def _members(body: str) -> frozenset[str]:
    """The names of the members of a JSON text, inner ones included."""
    return frozenset(name for name, _ in _leaves(body))


def _texts(body: str) -> frozenset[str]:
    """The texts inside of a JSON text."""
    return frozenset(value for _, value in _leaves(body) if isinstance(value, str))


def _leaves(body: str) -> Iterator[tuple[str, object]]:
    """The members inside of a JSON text, outer and inner; of texts that hold JSON themselves, too."""
    found = [_parsed(body)]
    while found:
        value = found.pop()
        if isinstance(value, dict):
            yield from value.items()
            found += value.values()
        elif isinstance(value, list):
            found += value
        elif isinstance(value, str) and value.startswith("{"):
            yield from _leaves(value)
