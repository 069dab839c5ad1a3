"""The exchanges of a case, redacted, with what each answer gives to later requests: a script can repeat them.

A value that a later request holds is named after the member of the answer that gave it first: `${WALLET_ADDRESS_2}`.
"""

from __future__ import annotations

import base64
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from urllib.parse import quote, unquote

from conformance.endpoints.log import ComputedIds, ExchangeLog, RawExchange
from conformance.endpoints.redaction import SHORTEST, Secrets
from conformance.values.ids import Address
from conformance.values.json_text import parse, written
from conformance.verdict import ContractCall, Conversation, ConversationExchange

MOST_CHARACTERS = 150_000
"""Of the newest requests and answers of a conversation; of what came before, what gave them keys and ids is kept."""
MOST_EXCHANGES = 200
MOST_GIVERS = 50
"""Older exchanges that are kept for the keys and ids that they gave."""
LONGEST_ANSWER = 2_000
"""Characters of an answer that are kept."""
LONGEST_REQUEST = 60_000
"""Characters of a body that is repeated: Linux takes no argument of more than 128 KiB."""
TOKEN = re.compile(rf"[A-Za-z0-9+/=_-]{{{SHORTEST},}}")
VARIABLE = re.compile(r"\$\{([A-Z][A-Z0-9_]*_[0-9]+)\}")
"""How requests name a value that an earlier answer gave, or a key that the suite made up."""
OF_JQ = re.compile(r"\$([A-Z][A-Z0-9_]*_[0-9]+)")
"""How a filter names such a value."""
MARK = "\ue000"
"""Stands for the `$` of a variable until the rest of a text is redacted."""
HIDDEN = re.compile(r"\[(?:redacted|private key|key of another case)\]")
WILDCARD = "0"
MAKES_GROUPS = "add_group"
WALLET_AUTH = "x-wallet-auth"
STANDARD_BASE64 = str.maketrans("-_", "+/")
LONGEST_PROOF = 1_000
"""Characters of the typed data in the header of a wallet's proof that are kept."""
SENDS_SIGNED = "eth_sendRawTransaction"


@dataclass(frozen=True)
class GroupMembers:
    """The wire names of members that are group ids: short numbers, which only their names tell."""

    sent: frozenset[str] = frozenset()
    answered: frozenset[str] = frozenset()


def conversation(
    log: ExchangeLog,
    secrets: Secrets,
    departed: int | None,
    groups: GroupMembers,
    contract_call: Callable[[RawExchange], ContractCall | None] = lambda _: None,
    others: Sequence[int] = (),
) -> Conversation:
    """The exchanges that the log holds. `departed` is the number of the one that shows the failure.

    `contract_call` tells what a request to the chain calls, `others` are the numbers of exchanges that show more.
    """
    every = log.raw
    numbers = _kept(every)
    kept = [every[number] for number in numbers]
    places = [bisect_left(numbers, one.number - log.forgotten) + at for at, one in enumerate(log.computed)]
    computed = dict(zip(places, log.computed, strict=True))
    for place, one in computed.items():
        kept.insert(place, one.reads)
    values = _Values(secrets.names, groups)
    values.find_in(kept, computed)
    shown = [
        replace(
            _shown(raw, values, number, secrets),
            contract=contract_call(raw),
            not_sent=number in computed,
            at_once=any(raw.is_beside(other) for other in kept if other is not raw),
            restarted=raw.restarted,
        )
        for number, raw in enumerate(kept)
    ]
    where = {
        number + log.forgotten: at + sum(place - nth <= at for nth, place in enumerate(places))
        for at, number in enumerate(numbers)
    }
    known = {name: secrets.hide(value) for value, name in values.variables.items() if value not in secrets.names}
    return Conversation(
        exchanges=tuple(_without_unused(shown)),
        left_out=len(every) - len(numbers),  # what the log forgot did not lead here
        departed=None if departed is None else where.get(departed),
        others=tuple(where[number] for number in others if number in where),
        names=known | {name: value for value, name in values.group_ids.items()},
    )


def _without_unused(exchanges: Sequence[ConversationExchange]) -> Iterator[ConversationExchange]:
    """The exchanges, each giving only what some request holds, or the filter for what one would have given."""
    used = {name for one in exchanges for text in _sent_texts(one) for name in VARIABLE.findall(text)}
    used |= {name for one in exchanges if one.not_sent for path in one.given.values() for name in OF_JQ.findall(path)}
    for one in exchanges:
        yield replace(one, given={name: path for name, path in one.given.items() if name in used})


def _sent_texts(exchange: ConversationExchange) -> Iterable[str]:
    return exchange.url, exchange.request_body or "", *exchange.request_headers.values()


def _kept(exchanges: Sequence[RawExchange]) -> list[int]:
    """The numbers of the newest exchanges, and of the older ones whose answers gave first what those requests hold."""
    begin = len(exchanges) - _newest(exchanges)
    givers: dict[str, int] = {}
    for number, raw in enumerate(exchanges[:begin]):
        for _, _, value in leaves(raw.response_body):
            if isinstance(value, str):
                givers.setdefault(value, number)
    kept = set(range(begin, len(exchanges)))
    asking = [*kept]
    while asking and len(kept) < MOST_EXCHANGES + MOST_GIVERS:
        held = _first_uses([exchanges[asking.pop()]])
        found = {givers[word] for word in held if word in givers} - kept
        kept |= found
        asking += sorted(found)
    return sorted(kept)


def _newest(exchanges: Sequence[RawExchange]) -> int:
    """How many of the newest exchanges fit into the limits; one at least."""
    size = count = 0
    for raw in reversed(exchanges[-MOST_EXCHANGES:]):
        size += len(raw.url) + min(len(raw.request_body or ""), LONGEST_REQUEST)
        size += min(len(raw.response_body), LONGEST_ANSWER)
        if count and size > MOST_CHARACTERS:
            break
        count += 1
    return count


@dataclass
class _Values:
    """What answers give to later requests."""

    credentials: Mapping[str, str]
    groups: GroupMembers
    variables: dict[str, str] = field(default_factory=dict)
    """Value to variable, without `$`."""
    group_ids: dict[str, str] = field(default_factory=dict)
    """The same for group ids."""
    makers: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """Group id to the headers of the request whose answer gave it first."""
    given: dict[int, dict[str, str]] = field(default_factory=dict)
    """Number of an exchange to its variables, with the filters of jq that take them from the answer."""

    def find_in(self, exchanges: Sequence[RawExchange], computed: Mapping[int, ComputedIds]) -> None:
        """Look through the answers of a conversation, and what some requests, by their numbers, would have given."""
        self.variables |= {value: name.removeprefix("$") for value, name in self.credentials.items()}
        first = _first_uses(exchanges)
        for number, one in computed.items():
            first |= {address: number for address, own in one.ids.items() if own in first}
        found: set[str] = set()
        for number, raw in enumerate(exchanges):
            for address, own in computed[number].ids.items() if number in computed else ():
                if first.get(own, -1) > number:
                    variable = self.variables.setdefault(own, self._variable("id"))
                    self.given.setdefault(number, {})[variable] = self._in_list(address, computed[number].member)
            for name, path, value in leaves(raw.response_body):
                if isinstance(value, str) and value not in found and first.get(value, -1) > number:
                    found.add(value)
                    variable = self.variables.setdefault(value, self._variable(name))
                    self.given.setdefault(number, {})[variable] = path
                elif name in self.groups.answered and self._is_made(str(value), raw):
                    variable = self.group_ids.setdefault(str(value), self._variable("group"))
                    self.given.setdefault(number, {})[variable] = path

    def _in_list(self, address: Address, member: str) -> str:
        """The filter for the id of the wallet with an address, whatever the list looks like."""
        known = f"${self.variables[address]}" if address in self.variables else json.dumps(address)
        return f"[.. | objects | select(any(.[]; . == {known}))][0][{json.dumps(member)}]"

    def _is_made(self, value: str, raw: RawExchange) -> bool:
        """Whether it is a group that no earlier answer gave, or whose number its account gets once more."""
        if not value.isdecimal() or value == WILDCARD:
            return False
        if value not in self.group_ids:
            self.makers[value] = raw.request_headers
            return True
        return raw.operation == MAKES_GROUPS and self.makers.get(value) == raw.request_headers

    def _variable(self, name: str) -> str:
        word = re.sub(r"[^A-Z0-9]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).upper()).strip("_")
        return f"{word if word[:1].isalpha() else 'VALUE'}_{len(self.variables) + len(self.group_ids) + 1}"

    def named(self, text: str, *, in_url: bool = False) -> str:
        """A part of a request with marked variables in place of the values."""
        for value in sorted(self.variables, key=len, reverse=True):
            for spelling in {value, quote(value, safe="", errors="surrogatepass")} if in_url else {value}:
                text = text.replace(spelling, f"{MARK}{{{self.variables[value]}}}")
        return text

    def group_ids_named(self, text: str) -> str:
        """The same for group ids: members of a JSON object, alone or in arrays, and fields of a query."""
        names = "|".join(map(re.escape, sorted(self.groups.sent)))
        if not names or not self.group_ids:
            return text
        text = re.sub(rf"(?<=[?&])({names})=(\d+)(?=&|$)", self._in_query, text)
        return re.sub(rf'("(?:{names})"\s*:\s*)(\[[\d",\s]*\]|"?\d+"?)', self._in_member, text)

    def _in_query(self, found: re.Match[str]) -> str:
        return f"{found[1]}={self._group(found[2])}"

    def _in_member(self, found: re.Match[str]) -> str:
        return found[1] + re.sub(r"\d+", lambda number: self._group(number[0]), found[2])

    def _group(self, number: str) -> str:
        return f"{MARK}{{{self.group_ids[number]}}}" if number in self.group_ids else number


def _first_uses(exchanges: Sequence[RawExchange]) -> dict[str, int]:
    """The words of the requests, with the number of the first request that holds each."""
    first: dict[str, int] = {}
    for number, raw in enumerate(exchanges):
        for text in (unquote(raw.url), *raw.request_headers.values(), raw.request_body or ""):
            for word in _words(text):
                first.setdefault(word, number)
    return first


def _words(text: str) -> Iterator[str]:
    for found in TOKEN.finditer(text):
        yield found[0]
        yield from found[0].split("/")  # the parts of a path
        yield found[0].partition("=")[2]  # the value of `group_id=…` in a query


def leaves(body: str) -> Iterator[tuple[str, str, object]]:
    """The values inside of a JSON text: the name of the member, the filter of jq, the value. Nothing of other texts."""
    try:
        value = parse(body)
    except ValueError:
        return
    yield from _inside(value, "VALUE", "")


def _inside(value: object, name: str, path: str) -> Iterator[tuple[str, str, object]]:
    if isinstance(value, dict):
        for member, inner in value.items():
            yield from _inside(inner, str(member), f"{path or '.'}[{json.dumps(str(member))}]")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _inside(inner, name, f"{path or '.'}[{index}]")
    elif not isinstance(value, bool):
        yield name, path or ".", value


def _shown(raw: RawExchange, values: _Values, number: int, secrets: Secrets) -> ConversationExchange:
    body = raw.request_body
    url = secrets.hide(values.group_ids_named(values.named(raw.url, in_url=True)))
    sent = "" if body is None else secrets.hide(values.group_ids_named(values.named(body[:LONGEST_REQUEST])))
    headers = {name: _header(name, values.named(text), secrets) for name, text in raw.request_headers.items()}
    return ConversationExchange(
        method=raw.method,
        url=url.replace(MARK, "$"),
        request_headers={name: text.replace(MARK, "$") for name, text in headers.items()},
        request_body=None if body is None else sent.replace(MARK, "$"),
        status=raw.status,
        response_body=secrets.hide_beginning(raw.response_body, LONGEST_ANSWER, raw.cut),
        seconds=raw.seconds,
        given=values.given.get(number, {}),
        unrepeatable=_obstacle(len(body or ""), [url, sent, *headers.values()]),
        operation=raw.operation,
    )


def _header(name: str, text: str, secrets: Secrets) -> str:
    hidden = secrets.hide(text) if MARK in text else secrets.hide_header(name, text)
    proved = _typed_data(text) if name.lower() == WALLET_AUTH else ""
    return f"{secrets.hide(proved)} [redacted]" if proved else hidden


def _typed_data(proof: str) -> str:
    """The typed data of a proof, which is worth nothing without its signature; empty where it cannot be told."""
    with suppress(ValueError):
        text = proof if proof.startswith("{") else base64.b64decode(proof.translate(STANDARD_BASE64) + "==").decode()
        envelope = parse(text)
        told = written(envelope["typed_data"]) if isinstance(envelope, dict) and "typed_data" in envelope else ""
        return told if len(told) <= LONGEST_PROOF else ""
    return ""


def _obstacle(size: int, texts: Sequence[str]) -> str:
    """Why a request with a body of this size and these texts cannot be repeated; empty when it can."""
    if size > LONGEST_REQUEST:
        return f"its body of {size} characters is too long"
    text = "\n".join(texts)
    if SENDS_SIGNED in text:
        return "it sends a transaction that was signed for its place on the chain"
    if HIDDEN.search(text):
        return "it holds a signature or a key that is kept out of this file"
    if "$API_KEY_" in text:
        return "it holds a key in another spelling than the one in which the node gave it"
    return ""
