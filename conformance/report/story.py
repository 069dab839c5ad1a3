"""The story of a failing case: who asked for what, and what came back, a line each, in names in place of ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, urlsplit

from conformance.endpoints.conversation import OF_JQ
from conformance.report.objects import (
    ACCOUNT_KEY,
    CID,
    Exchanged,
    Names,
    Objects,
    credentials_of,
    is_word,
    names_of,
    sent_texts,
)
from conformance.report.results import ConversationShown
from conformance.report.telling import REFUSED, asked_for, is_bearer, step, writes
from conformance.service.session import DESCRIPTION
from conformance.values.json_text import parse
from conformance.values.shown_text import cut
from conformance.verdict import Conversation, ConversationExchange

MOST_STEPS, LEAST_STEPS = 9, 4
"""Steps of a story; those between are counted."""
OTHER_PAGES = 2
"""Pages of a list that are told beside the failing one: what is on two of them, or on none, shows there."""
LONGEST_GAP = 90
"""Characters of the operations between two steps."""
OF_ACCOUNTS = frozenset({"convert_to_chain_secured_account"})
"""Operations that change what a whole account may do."""
LISTS_OF_WALLETS = frozenset({"list_wallets", "list_wallets_in_group"})
ADDRESS = re.compile("0x[0-9a-fA-F]{40}")
QUOTED = re.compile(r'"[^"\\]{8,}"(?!\s*:)')
"""A text in an expectation or an answer, no name of a member, that is long enough to tell which request sent it."""
SIGNED_AT = re.compile(r'"issuedAt":"?\d+"?')
HASH_OR_ADDRESS = re.compile("0x[0-9a-fA-F]{40,64}")


@dataclass(frozen=True)
class Story:
    """What led to a failure."""

    steps: tuple[str, ...] = ()
    """The steps that concern the failing object, the last of them the failing one, and how many lie between them."""
    names: Names = field(default_factory=Names)

    @property
    def used(self) -> Mapping[str, str]:
        """The names that the steps use, and their values; credentials are left out."""
        words = {word for step in self.steps for word in re.findall(r"\w+", step)}
        used: dict[str, str] = {}
        for value, name in sorted(self.names.values.items(), key=lambda one: not CID.fullmatch(one[0])):
            if name in words and name != value:
                used[name] = f"{used[name]}, hashed {value}" if name in used else value
        return used


def story(conversation: Conversation | ConversationShown | None, about: str = "", most: int = MOST_STEPS) -> Story:
    """The story of a conversation; an empty one where none was kept.

    `about` is what was expected and what came: the story tells of the objects in it, too.
    """
    if conversation is None or not conversation.exchanges:
        return Story()
    exchanges = _sent(conversation.exchanges)
    departed = conversation.departed
    last = len(exchanges if departed is None else _sent(conversation.exchanges[: departed + 1])) - 1
    objects = Objects(conversation)
    known = {value: name for name, value in conversation.names.items()}
    unnamed = {*HASH_OR_ADDRESS.findall(about)} - known.keys() - dict(_addresses(exchanges, known)).keys()
    told = _concerned(exchanges[: last + 1], objects, about, unnamed, max(most, LEAST_STEPS))
    variables = names_of(exchanges, told) | {
        name: value for name, value in conversation.names.items() if is_word(value)
    }
    named = [(variables[name], value) for name, value in conversation.names.items() if name in variables]
    values = {value: name for name, value in named}
    values |= dict(_addresses(exchanges, values)) | dict(_account_wallets(exchanges, variables))
    values |= dict(_own_names(conversation, variables))
    names = Names(variables, values | objects.actions([exchanges[number] for number in told], values))
    full = {told[-1], *_otherwise_before(exchanges[:last], exchanges[last])}
    full |= {number for number in told if _answers(exchanges[number], {*HASH_OR_ADDRESS.findall(about)} - {*values})}
    *steps, failing = _with_gaps(exchanges, told, names, conversation.left_out, full)
    return Story((*steps, failing + _unchanged(exchanges[:last], exchanges[last])), names)


def _sent(exchanges: Sequence[Exchanged]) -> Sequence[Exchanged]:
    """The exchanges that were sent; what others would have given is given by the one before them."""
    sent: list[Exchanged] = []
    for one in exchanges:
        if one.not_sent and sent:
            by = {name for path in one.given.values() for name in OF_JQ.findall(path)}
            given = {name: path for name, path in sent[-1].given.items() if name not in by}
            sent[-1] = _giving(sent[-1], given | one.given)
        elif not one.not_sent:
            sent.append(one)
    return sent


def _giving(exchange: Exchanged, given: dict[str, str]) -> Exchanged:
    if isinstance(exchange, ConversationExchange):
        return replace(exchange, given=given)
    return exchange.model_copy(update={"given": given})


def _answers(exchange: Exchanged, values: Set[str]) -> bool:
    """Whether an answer holds one of these values, which a name would not tell."""
    body = exchange.response_body.lower()
    return any(value.lower() in body for value in values)


def _own_names(
    conversation: Conversation | ConversationShown, variables: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The addresses and hashes of the case's own wallets and keys, with what they are called."""
    accounts = {name for one in conversation.exchanges if one.operation == "new_account" for name in one.given}
    for called, value in conversation.names.items():
        name, _, what = called.partition("'s ")
        variable = name.removeprefix("$")
        if what and (variable == name or (variable in variables and (variable in accounts) is (what == "account"))):
            text = f"{variables.get(variable, name)}'s {what}"
            yield from _spelled(value, text)


def _addresses(exchanges: Sequence[Exchanged], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The addresses of wallets, which lists give beside ids that have names."""
    for one in exchanges:
        for item in _items(one.response_body) if one.operation in LISTS_OF_WALLETS else ():
            texts = [value for value in item.values() if isinstance(value, str)]
            called = next((names[text] for text in texts if text in names), "")
            for address in filter(ADDRESS.fullmatch, texts if called else []):
                yield from _spelled(address, f"{called}'s address")


def _account_wallets(exchanges: Sequence[Exchanged], variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The addresses that were answered with the keys of new accounts."""
    for one in exchanges:
        account = next((variables[name] for name in one.given if name.startswith(ACCOUNT_KEY)), "")
        if one.operation == "new_account" and account:
            for address in ADDRESS.findall(one.response_body):
                yield from _spelled(address, f"{account}'s wallet")


def _spelled(address: str, name: str) -> Iterator[tuple[str, str]]:
    """An address or hash as it was given, and in small letters."""
    yield address.lower(), f"{name} in small letters"
    yield address, name


def _items(body: str) -> Sequence[Mapping[str, object]]:
    """The items of a list, which may be a member of its answer."""
    with suppress(ValueError):
        value = parse(body)
        listed = (
            next((inner for inner in value.values() if isinstance(inner, list)), [])
            if isinstance(value, dict)
            else value
        )
        return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return []


def _concerned(exchanges: Sequence[Exchanged], objects: Objects, about: str, unnamed: Set[str], most: int) -> list[int]:
    """The numbers of the last exchange and of those before it that made or changed what the failure is about.

    `_always_told`, `_sending` and `_answering` say what is told whatever it is about. Where nothing of this is there,
    what called the same operation is told.
    """
    *before, last = exchanges
    accounts = {name for one in exchanges if one.operation == "new_account" for name in one.given}
    touched = objects.touched(last)
    matter = (touched | objects.of_values(about)) - accounts or touched
    always = _always_told(before, last) | _sending(before, about)
    found = [
        number
        for number, one in enumerate(before)
        if matter & one.given.keys()
        or (writes(one) and matter & objects.touched(one))
        or one.operation in OF_ACCOUNTS
        or number in always
    ]
    found = [number for number in found if _request(before[number]) != _request(exchanges[number + 1])]
    found = sorted({*found, *_answering(before, unnamed)})
    if len(found) >= most:
        found = [number for number in found if (before[number].status or REFUSED) < REFUSED or number in always]
    found = _ends(found, most)
    if not found and last.operation:
        found = [number for number, one in enumerate(before) if one.operation == last.operation][1 - most :]
    room = max(most - 1 - len(found), 0)
    return [*sorted([*found, *_givers(before, found, objects, accounts)[:room]]), len(before)]


def _always_told(before: Sequence[Exchanged], last: Exchanged) -> set[int]:
    """The newest write, and one that was refused since: a fault mostly is in their effects.

    So is the same request where it was answered otherwise before.
    """
    written = [number for number, one in enumerate(before) if writes(one) and one.operation != "new_account"]
    refused = {number for number in written[-1:] if (before[number].status or 0) >= REFUSED}
    newest = {*[number for number in written if (before[number].status or REFUSED) < REFUSED][-1:]}
    return refused | newest | _otherwise_before(before, last)


def _sending(before: Sequence[Exchanged], about: str) -> set[int]:
    """The writes that alone sent a text of the failure: the ids of groups in an answer are too short to tell them."""
    texts = {*QUOTED.findall(about)} - {f'"{DESCRIPTION}"'}
    sending = [
        [n for n, one in enumerate(before) if writes(one) and text in (one.request_body or "")] for text in texts
    ]
    return {numbers[0] for numbers in sending if len(numbers) == 1}


def _answering(before: Sequence[Exchanged], values: Set[str]) -> set[int]:
    """The writes that were answered with one of these addresses and hashes of the failure, which have no names."""
    return {number for number, one in enumerate(before) if writes(one) and _answers(one, values)}


def _givers(before: Sequence[Exchanged], found: Sequence[int], objects: Objects, accounts: Set[str]) -> list[int]:
    """The steps whose answers gave what the others name."""
    named = frozenset().union(*(objects.touched(before[number]) for number in found)) - accounts
    return [number for number, one in enumerate(before) if number not in found and named & one.given.keys()]


def _otherwise_before(before: Sequence[Exchanged], last: Exchanged) -> set[int]:
    """The newest of the same requests as the last whose answer was another: it shows when that was still right.

    Where there is none, the newest that another caller sent and that ended with another status, or the newest that
    asked for other pages.
    """
    alike = [number for number, one in enumerate(before) if _of_whomever(one) == _of_whomever(last)]
    same = [number for number in alike if _sender(before[number]) == _sender(last)]
    other = [number for number in same if before[number].response_body != last.response_body]
    other = other or [number for number in alike if before[number].status != last.status]
    pages = [number for number, one in enumerate(before) if _is_other_page(one, last)]
    return {*other[-1:]} or {*pages[-OTHER_PAGES:]}


def _sender(exchange: Exchanged) -> list[str]:
    """Who sends a request; a wallet proves it anew each time."""
    return [SIGNED_AT.sub("", text) for text in exchange.request_headers.values()]


def _is_other_page(one: Exchanged, last: Exchanged) -> bool:
    """Whether two requests ask for pages of the same size of one list."""
    sizes = [dict(parse_qsl(urlsplit(each.url).query)).get("page_size") for each in (one, last)]
    paths = [(each.method, urlsplit(each.url).path, *credentials_of(each)) for each in (one, last)]
    return one.url != last.url and sizes[0] == sizes[1] is not None and paths[0] == paths[1]


def _unchanged(before: Sequence[Exchanged], last: Exchanged) -> str:
    """The newest write, where what is read after it is answered as it was before it."""
    written = [number for number, one in enumerate(before) if writes(one) and (one.status or REFUSED) < REFUSED]
    if not written or writes(last):
        return ""
    same = [one for one in before[: written[-1]] if _of_whomever(one) == _of_whomever(last)]
    same = [one for one in same if _sender(one) == _sender(last)][-1:]
    is_unchanged = any((one.status, one.response_body) == (last.status, last.response_body) for one in same)
    return f", as before {asked_for(before[written[-1]])}" if is_unchanged else ""


def _of_whomever(exchange: Exchanged) -> tuple[str, ...]:
    """What makes a request the same as another, whoever sends it."""
    return exchange.method, *sent_texts(exchange)[len(exchange.request_headers) :]


def _ends(numbers: list[int], most: int) -> list[int]:
    """The first few, which made the objects, and the newest."""
    if len(numbers) < most:
        return numbers
    return numbers[:2] + numbers[-(most - 3) :]


def _request(exchange: Exchanged) -> tuple[object, ...]:
    """What makes a request the same as another, with its status."""
    return exchange.method, *sent_texts(exchange), exchange.status


def _with_gaps(
    exchanges: Sequence[Exchanged], told: Sequence[int], names: Names, left_out: int, full: Set[int]
) -> Iterator[str]:
    before = -1 - left_out
    given: set[str] = set()
    for number in told:
        between = exchanges[max(before + 1, 0) : number]
        if number - before == 2 and between and _tells(between[0], exchanges[number]):
            yield step(between[0], names, given)
        elif number - before > 1:
            yield _gap(number - before - 1 - len(between), between)
        yield step(exchanges[number], names, given, in_full=number in full)
        given |= exchanges[number].given.keys()
        before = number


def _tells(alone: Exchanged, following: Exchanged) -> bool:
    """Whether the step of a request that lies alone between two tells more than its operation would."""
    return bool(credentials_of(alone)) and _request(alone) != _request(following)


def _gap(left_out: int, between: Sequence[Exchanged]) -> str:
    """What lies between two steps, by its operations: ``… create_wallet, 2 list_wallets``; other requests last."""
    asked = Counter(map(asked_for, sorted(between, key=lambda one: not one.operation and not one.contract)))
    listed = [f"{number} {name}" if number > 1 else name for name, number in asked.items()]
    if between and all(is_bearer(one) for one in between):
        listed[-1] += " as Bearer"
    return cut(f"… {', '.join([*([f'{left_out} requests'] if left_out else []), *listed])}", LONGEST_GAP)
