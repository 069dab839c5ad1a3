"""The story of a failing case: who asked for what, and what came back, a line each, in names in place of ids."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

import yaml

from conformance.report.results import ConversationExchangeShown, ConversationShown
from conformance.service.derivations import hashed_cid
from conformance.service.session import DESCRIPTION
from conformance.values.json_text import parse, written
from conformance.values.shown_text import cut, plain
from conformance.verdict import Conversation, ConversationExchange

Exchanged = ConversationExchange | ConversationExchangeShown
MOST_STEPS, LEAST_STEPS = 9, 4
"""Steps of a story; those between are counted."""
REFUSED = 400
SHORTEST = 8
"""Characters of a value that its name replaces in any text; shorter ones, as group ids, are named in requests."""
LONGEST_STEP = 150
LONGEST_GAP = 90
"""Characters of the operations between two steps."""
LONGEST_TEXT = 30
"""Characters of a text inside of a step."""
VARIABLE = re.compile(r"\$\{?([A-Z][A-Z0-9_]*_[0-9]+)\}?")
BARE = re.compile(r"(?<=[:\[,])\s*(\$\{\w+\})")
"""A variable in place of a number in JSON."""
LONG_HEX = re.compile(r"\b(0x)?([0-9a-fA-F]{4})[0-9a-fA-F]{9,}([0-9a-fA-F]{4})\b")
HASH = re.compile(r"\b0x[0-9a-f]{64}\b")
CID = re.compile(r"\b(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{50,})\b")
"""CIDv0 in base58, and CIDv1 in base32."""
WALLET_AUTH = "X-Wallet-Auth"
ACCOUNTS = ("alice", "bob", "carol")
LETTERS = {"add_usage_api_key": "K", "add_usage_api_key_with_signature": "K", "add_group": "G", "list_groups": "G",
           "create_wallet": "P", "list_wallets": "P", "list_wallets_in_group": "P", "list_actions": "X"}  # fmt: skip
"""What an operation gives, by the letter of its name: usage keys, groups, wallets, actions."""
READS = ("list_", "get_", "account_exists", "run_action", "balance", "stripe_config")
"""How the operations begin that leave the objects of a case as they are."""
LABELS = ("name", "description")


@dataclass(frozen=True)
class Names:
    """The names of what a case made."""

    variables: Mapping[str, str] = field(default_factory=dict)
    """Variable of a conversation to name."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Value to name; credentials are not among them."""

    def shown(self, text: str) -> str:
        """A text with names in place of variables and values; other long hex values are shortened."""
        for value in sorted(self.values, key=len, reverse=True):
            if len(value) >= SHORTEST:
                text = text.replace(value, self.values[value])
        text = VARIABLE.sub(lambda found: self.of(found[1]), text)
        return LONG_HEX.sub(r"\1\2…\3", text)

    def of(self, variable: str) -> str:
        """The name of a variable."""
        return self.variables.get(variable, variable.lower())


@dataclass(frozen=True)
class Story:
    """What led to a failure."""

    steps: tuple[str, ...] = ()
    """The steps that concern the failing object, the last of them the failing one, and how many lie between them."""
    names: Names = Names()

    @property
    def used(self) -> Mapping[str, str]:
        """The names that the steps use, and their values; credentials are left out."""
        words = {word for step in self.steps for word in re.findall(r"\w+", step)}
        return {name: value for value, name in self.names.values.items() if name in words and name != value}


def story(conversation: Conversation | ConversationShown | None, about: str = "", most: int = MOST_STEPS) -> Story:
    """The story of a conversation; an empty one where none was kept.

    `about` is what was expected and what came: the story tells of the objects in it, too.
    """
    if conversation is None or not conversation.exchanges:
        return Story()
    exchanges = conversation.exchanges
    last = len(exchanges) - 1 if conversation.departed is None else conversation.departed
    objects = _Objects(conversation)
    told = _concerned(exchanges[: last + 1], objects, about, max(most, LEAST_STEPS))
    variables = _names(exchanges, told) | {name: value for name, value in conversation.names.items() if _is_word(value)}
    named = [(variables[name], value) for name, value in conversation.names.items() if name in variables]
    values = {value: name for name, value in named}
    names = Names(variables, values | objects.actions([exchanges[number] for number in told], values))
    return Story(tuple(_with_gaps(exchanges, told, names, conversation.left_out)), names)


class _Objects:
    """What requests are about: variables, and the hashes and CIDs that no answer gave before; a CID is its hash."""

    def __init__(self, conversation: Conversation | ConversationShown) -> None:
        self._variables = {value: name for name, value in conversation.names.items() if len(value) >= SHORTEST}
        self._hashes: dict[str, str] = {}

    def of_text(self, text: str) -> list[str]:
        """The objects of a text, in their order."""
        found = {match.start(): match[1] for match in VARIABLE.finditer(text)}
        found |= {match.start(): self._object(match[0]) for match in HASH.finditer(text)}
        found |= {match.start(): self._object(self._hash(match[0])) for match in CID.finditer(text)}
        return [found[place] for place in sorted(found)]

    def _object(self, value: str) -> str:
        return self._variables.get(value, value)

    def _hash(self, cid: str) -> str:
        return self._hashes.setdefault(cid, hashed_cid(cid))

    def of_values(self, text: str) -> frozenset[str]:
        """The objects whose values stand in a text."""
        return frozenset(name for value, name in self._variables.items() if value in text) | {*self.of_text(text)}

    def touched(self, exchange: Exchanged) -> frozenset[str]:
        """What a request names in its address, its body and its credential."""
        return frozenset(name for text in _sent(exchange) for name in self.of_text(text)) - exchange.given.keys()

    def actions(self, told: Sequence[Exchanged], named: Mapping[str, str]) -> dict[str, str]:
        """The names of the actions whose CIDs the steps hold: a CID and its hash have the same name."""
        names: dict[str, str] = {}
        taken = {name for name in named.values() if re.fullmatch("X[0-9]*", name)}
        free = (f"X{number if number > 1 else ''}" for number in range(1, len(self._hashes) + len(taken) + 2))
        for cid in dict.fromkeys(cid for one in told for text in _sent(one) for cid in CID.findall(text)):
            name = named.get(self._hash(cid)) or next(name for name in free if name not in taken)
            names |= {cid: name, self._hash(cid): name}
        return names


WORD = re.compile(r"[a-z]+(_[a-z]+)*")


def _is_word(value: str) -> bool:
    """Whether a value is a word that needs no name: an OpenAPI description gives the names of operations."""
    return WORD.fullmatch(value) is not None


def _names(exchanges: Sequence[Exchanged], told: Sequence[int]) -> dict[str, str]:
    """Variable to name: alice for the first account of the steps that are told, K2 for their second usage key."""
    kinds = {variable: _kind(exchange, variable) for exchange in exchanges for variable in exchange.given}
    in_steps = dict.fromkeys(name for number in told for name in _in_order(exchanges[number]) if name in kinds)
    names: dict[str, str] = {}
    numbers: Counter[str] = Counter()
    for variable in (*in_steps, *(name for name in kinds if name not in in_steps)):
        kind = kinds[variable]
        numbers[kind] += 1
        names[variable] = _name(kind, numbers[kind], variable)
    return names


def _kind(exchange: Exchanged, variable: str) -> str:
    if exchange.operation == "new_account":
        return "account" if variable.startswith("API_KEY") else ""
    return LETTERS.get(exchange.operation, "")


def _name(kind: str, number: int, variable: str) -> str:
    if kind == "account":
        return ACCOUNTS[number - 1] if number <= len(ACCOUNTS) else f"account{number}"
    return f"{kind}{number if number > 1 else ''}" if kind else variable.lower()


def _concerned(exchanges: Sequence[Exchanged], objects: _Objects, about: str, most: int) -> list[int]:
    """The numbers of the last exchange and of those before it that made or changed what the failure is about."""
    *before, last = exchanges
    accounts = {name for one in exchanges if one.operation == "new_account" for name in one.given}
    touched = objects.touched(last)
    matter = (touched | objects.of_values(about)) - accounts or touched
    found = [
        number
        for number, one in enumerate(before)
        if matter & one.given.keys() or (_writes(one) and matter & objects.touched(one))
    ]
    if len(found) >= most:
        found = [number for number in found if (before[number].status or REFUSED) < REFUSED]
    found = _ends(found, most)
    room = max(most - 1 - len(found), 0)
    return [*sorted([*found, *_givers(before, found, objects, accounts)[:room]]), len(before)]


def _givers(before: Sequence[Exchanged], found: Sequence[int], objects: _Objects, accounts: Set[str]) -> list[int]:
    """The steps whose answers gave what the others name."""
    named = frozenset().union(*(objects.touched(before[number]) for number in found)) - accounts
    return [number for number, one in enumerate(before) if number not in found and named & one.given.keys()]


def _writes(exchange: Exchanged) -> bool:
    return bool(exchange.operation) and not exchange.operation.startswith(READS)


def _ends(numbers: list[int], most: int) -> list[int]:
    """The first few, which made the objects, and the newest."""
    if len(numbers) < most:
        return numbers
    return numbers[:2] + numbers[-(most - 3) :]


def _sent(exchange: Exchanged) -> tuple[str, ...]:
    """The texts of a request that may name objects: of who asks, and of what is asked."""
    return *exchange.request_headers.values(), unquote(exchange.url), exchange.request_body or ""


def _in_order(exchange: Exchanged) -> Iterator[str]:
    """The variables of an exchange: of who asks, of what is asked, of what the answer gives."""
    for text in _sent(exchange):
        yield from VARIABLE.findall(text)
    yield from exchange.given


def _with_gaps(exchanges: Sequence[Exchanged], told: Sequence[int], names: Names, left_out: int) -> Iterator[str]:
    before = -1 - left_out
    given: set[str] = set()
    for number in told:
        if number - before > 1:
            between = exchanges[max(before + 1, 0) : number]
            yield _gap(number - before - 1 - len(between), between)
        yield _step(exchanges[number], names, given, last=number == told[-1])
        given |= exchanges[number].given.keys()
        before = number


def _gap(left_out: int, between: Sequence[Exchanged]) -> str:
    """What lies between two steps, by its operations: ``… create_wallet, 2 list_wallets``."""
    asked = Counter(one.operation or _request_line(one) for one in between)
    listed = [f"{number} {name}" if number > 1 else name for name, number in asked.items()]
    return cut(f"… {', '.join([*([f'{left_out} requests'] if left_out else []), *listed])}", LONGEST_GAP)


def _step(exchange: Exchanged, names: Names, earlier: Set[str], *, last: bool) -> str:
    """``alice: add_group pkp_ids_permitted [P] → 200, G``. What an earlier step gave, too, is given again."""
    credentials = [
        f"{names.of(name)}{' as Bearer' if text.startswith('Bearer ') else ''}"
        for text in exchange.request_headers.values()
        for name in VARIABLE.findall(text)
    ]
    proof = [WALLET_AUTH for name in exchange.request_headers if name.title() == WALLET_AUTH]
    who = next(iter([*credentials, *proof]), "anybody")
    asked = f"{exchange.operation or _request_line(exchange)} {_members(exchange, last=last)}"
    asked = cut(names.shown(asked), LONGEST_STEP)
    answer = ["no answer" if exchange.status is None else str(exchange.status)]
    answer += [f"{names.of(name)} again" if name in earlier else names.of(name) for name in exchange.given]
    if last or (exchange.status or 0) >= REFUSED:
        answer += [cut(names.shown(_told(exchange.response_body)), LONGEST_STEP)]
    return f"{who}: {asked.rstrip()} → {', '.join(filter(None, answer))}"


def _told(body: str) -> str:
    """An answer in one line; of a problem document (RFC 9457) what it says."""
    with suppress(ValueError):
        value = parse(body)
        if isinstance(value, dict) and isinstance(value.get("detail"), str):
            return plain(f"{value.get('code') or value.get('title') or ''}: {value['detail']}".removeprefix(": "))
    return plain(" ".join(body.split()))


STATUS_AND_BODY = re.compile(r"(status \d+): (?=\{)")


def in_short(text: str) -> str:
    """What came, with what each problem document in it says in the place of the document."""
    shown, at = "", 0
    for found in STATUS_AND_BODY.finditer(text):
        with suppress(ValueError):
            _, end = json.JSONDecoder().raw_decode(text, found.end())
            if found.start() >= at and (told := _told(text[found.end() : end])) != text[found.end() : end]:
                shown, at = f"{shown}{text[at : found.start()]}{found[1]}, {told}", end
    return shown + text[at:]


def _request_line(exchange: Exchanged) -> str:
    return f"{exchange.method} {urlsplit(exchange.url).path}"


def _members(exchange: Exchanged, *, last: bool) -> str:
    """The members of a request: labels last, and those that are false or empty only counted.

    Pages and the suite's own description of what it makes are left out before the last step.
    """
    query = parse_qsl(urlsplit(exchange.url).query)
    try:
        body = parse(BARE.sub(r'"\1"', exchange.request_body or "{}"))
    except ValueError:
        body = {"body": exchange.request_body}
    members = [*query, *(body.items() if isinstance(body, dict) else [("", body)])]
    members = [member for member in members if last or not (member[0].startswith("page_") or member[1] == DESCRIPTION)]
    members.sort(key=lambda member: member[0].endswith(LABELS))
    full = [f"{name} {_value(value)}".strip() for name, value in members if value not in (False, [], "", None)]
    empty = len(members) - len(full)
    return ", ".join([*full, *([f"{empty} false or empty"] if empty else [])])


def _value(value: object) -> str:
    if isinstance(value, dict) and (envelope := _envelope(value)):
        return envelope
    text = value if isinstance(value, str) else written(value).replace('"', "")
    text = plain(text)
    if isinstance(value, str) and not any(form.fullmatch(value) for form in (VARIABLE, LONG_HEX, CID)):
        return json.dumps(cut(text, LONGEST_TEXT), ensure_ascii=False)
    return text


def _envelope(value: Mapping[str, object]) -> str:
    """Of typed data what tells one envelope from another; empty for another object."""
    domain, message = value.get("domain"), value.get("message")
    if not isinstance(domain, dict) or not isinstance(message, dict):
        return ""
    members = {**message, "chainId": domain.get("chainId")}
    return plain(f"{value.get('primaryType')} {written(members)}".replace('"', ""))


OTHERS = re.compile(r" \(and (\d+ more: .*)\)$", re.DOTALL)
"""The further failures of a case, which follow its first one."""
LONGEST_COMPARED = 20_000
"""Characters of lists whose items are compared with one another."""
LIST = re.compile(r"(?:.* to be |in any order )?(\[.*\])(?:(?: at .*)? of .*)?", re.DOTALL)
"""An expectation of a list: `the groups to be [1]`, ``in any order [{name: "g"}] at 0.items of `seen` ``."""


def difference(expected: str, got: str) -> Sequence[tuple[str, str]]:
    """What is missing and what is too much, where a list was expected and a list came.

    Of an object the members that were expected count alone.
    """
    if max(len(expected), len(got)) > LONGEST_COMPARED:
        return ()
    form = LIST.fullmatch(expected)
    others = OTHERS.search(got)
    try:
        wanted, found = yaml.safe_load(form[1]) if form else None, parse(got[: others.start()] if others else got)
    except (ValueError, yaml.YAMLError):
        return ()
    if not isinstance(wanted, list) or not isinstance(found, list):
        return ()
    missing, extra = _unmatched(wanted, found)
    sides = [(name, written(items)) for name, items in (("missing", missing), ("too many", extra)) if items]
    sides = sides or ([("order", "another than expected")] if len(wanted) > 1 else [])
    return [*sides, ("and", others[1])] if sides and others else sides


def _unmatched(wanted: Sequence[object], found: Sequence[object]) -> tuple[list[object], list[object]]:
    """The expected items that nothing found is, and the found ones that were not expected."""
    left, missing = list(found), []
    for item in wanted:
        match = next((other for other in left if _is(other, item)), None)
        if match is None:
            missing.append(item)
        else:
            left.remove(match)
    return missing, left


def _is(found: object, wanted: object) -> bool:
    if isinstance(found, dict) and isinstance(wanted, dict):
        return all(name in found and _is(found[name], value) for name, value in wanted.items())
    return type(found) is type(wanted) and found == wanted
