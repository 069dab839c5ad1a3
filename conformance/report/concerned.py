"""Chooses the exchanges of a failing case that its story tells: those that concern the failure."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from urllib.parse import parse_qsl, urlsplit

from conformance.report.objects import VARIABLE, Exchanged, Objects, credentials_of, sent_texts
from conformance.report.telling import REFUSED, RENEWAL, asked_for, writes
from conformance.service.session import DESCRIPTION

OTHER_PAGES = 2
"""Pages of a list that are told beside the failing one: what is on two of them, or on none, shows there."""
OF_ACCOUNTS = frozenset({"convert_to_chain_secured_account"})
"""Operations that change what a whole account may do."""
QUOTED = re.compile(r'"[^"\\]{8,}"(?!\s*:)')
"""A text in an expectation or an answer, no name of a member, that is long enough to tell which request sent it."""
MOST_SEARCHED = 50
"""Values of a failure that requests and answers are searched for: those of a node's long answer may be thousands."""
SIGNED_AT = re.compile(r'"issuedAt":"?\d+"?')


def concerned(exchanges: Sequence[Exchanged], objects: Objects, about: str, unnamed: Set[str], most: int) -> list[int]:
    """The numbers of the last exchange and of those before it that made or changed what the failure is about.

    `_always_told`, `_sending` and `_answering` say what is told whatever it is about. Where nothing of this is there,
    what called the same operation is told.
    """
    *before, last = exchanges
    accounts = {name for one in exchanges if one.operation == "new_account" for name in one.given}
    touched = objects.touched(last)
    matter = (touched | objects.of_values(about)) - accounts or touched
    always = _always_told(before, last) | _sending(before, about) | _other_run(before, last) | _granting(before, last)
    found = [
        number
        for number, one in enumerate(before)
        if matter & one.given.keys()
        or (writes(one) and matter & objects.touched(one))
        or one.operation in OF_ACCOUNTS
        or number in always
    ]
    found = [number for number in found if request_of(before[number]) != request_of(exchanges[number + 1])]
    found = sorted({*found, *_answering(before, unnamed)})
    if len(found) >= most:
        found = [number for number in found if (before[number].status or REFUSED) < REFUSED or number in always]
    found = _ends(found, most, always)
    if not found and last.operation:
        found = [number for number, one in enumerate(before) if one.operation == last.operation][1 - most :]
    room = max(most - 1 - len(found), 0)
    return [*sorted([*found, *_givers(before, found, objects, accounts)[:room]]), len(before)]


def _always_told(before: Sequence[Exchanged], last: Exchanged) -> set[int]:
    """The newest write, and one that was refused since: a fault mostly is in their effects.

    So it is in those of a renewal of the certificate. So is the same request where it was answered otherwise before.
    """
    written = [number for number, one in enumerate(before) if writes(one) and one.operation != "new_account"]
    renewed = [number for number, one in enumerate(before) if asked_for(one) == RENEWAL]
    refused = {number for number in written[-1:] if (before[number].status or 0) >= REFUSED}
    newest = {*[number for number in written if (before[number].status or REFUSED) < REFUSED][-1:]}
    return refused | newest | {*renewed[-1:]} | otherwise_before(before, last)


def _other_run(before: Sequence[Exchanged], last: Exchanged) -> set[int]:
    """The newest accepted run of the same key, where the last exchange is a run: the two differ in little."""
    runs = [
        number
        for number, one in enumerate(before)
        if one.operation == last.operation == "run_action"
        and _sender(one) == _sender(last)
        and (one.status or REFUSED) < REFUSED
    ]
    return {*runs[-1:]}


def _granting(before: Sequence[Exchanged], last: Exchanged) -> set[int]:
    """The newest write about the key that asks, by another one: it says what the key may do."""
    asking = {*credentials_of(last)}
    granting = [
        number
        for number, one in enumerate(before)
        if writes(one) and asking.isdisjoint(credentials_of(one)) and not asking.isdisjoint(_named_in_body(one))
    ]
    return {*granting[-1:]}


def _named_in_body(exchange: Exchanged) -> list[str]:
    return VARIABLE.findall(exchange.request_body or "")


def _sending(before: Sequence[Exchanged], about: str) -> set[int]:
    """The writes that alone sent a text of the failure: the ids of groups in an answer are too short to tell them."""
    texts = [text for text in searched(QUOTED, about) if text != f'"{DESCRIPTION}"']
    sending = [
        [n for n, one in enumerate(before) if writes(one) and text in (one.request_body or "")] for text in texts
    ]
    return {numbers[0] for numbers in sending if len(numbers) == 1}


def _answering(before: Sequence[Exchanged], values: Set[str]) -> set[int]:
    """The writes that were answered with one of these addresses and hashes of the failure, which have no names."""
    return {number for number, one in enumerate(before) if writes(one) and answers(one, values)}


def _givers(before: Sequence[Exchanged], found: Sequence[int], objects: Objects, accounts: Set[str]) -> list[int]:
    """The steps whose answers gave what the others name."""
    named = frozenset().union(*(objects.touched(before[number]) for number in found)) - accounts
    return [number for number, one in enumerate(before) if number not in found and named & one.given.keys()]


def otherwise_before(before: Sequence[Exchanged], last: Exchanged) -> set[int]:
    """The newest request like the last one that was answered otherwise: the last time that it was right.

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


def unchanged_since(before: Sequence[Exchanged], last: Exchanged) -> str:
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


def _ends(numbers: list[int], most: int, always: Set[int]) -> list[int]:
    """The first few, which made the objects, and the newest, beside those that are always told."""
    if len(numbers) < most:
        return numbers
    others = [number for number in numbers if number not in always]
    room = max(most - 1 - len(numbers) + len(others), 2)
    ends = others[:2] + others[2:][max(len(others) - room, 0) :]
    return sorted({*ends, *(always & {*numbers})})


def request_of(exchange: Exchanged) -> tuple[object, ...]:
    """What makes a request the same as another, with its status."""
    return exchange.method, *sent_texts(exchange), exchange.status


def searched(values: re.Pattern[str], about: str) -> list[str]:
    """The first different values in what was expected and what came."""
    return [*dict.fromkeys(values.findall(about))][:MOST_SEARCHED]


def answers(exchange: Exchanged, values: Set[str]) -> bool:
    """Whether an answer holds one of these values, which a name would not tell."""
    body = exchange.response_body.lower()
    return any(value.lower() in body for value in values)
