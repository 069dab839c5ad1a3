"""Reads every page of a list ("Endpoints", query fields `page_number` and `page_size`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import BeyondLimits, Malformed, Mismatch
from conformance.service.acceptance import must_accept
from conformance.service.reads import Read
from conformance.service.refusal import was_accepted
from conformance.service.session import Session
from conformance.values.json_values import member, printed, same, same_hex

MOST_PAGES = 1_000
"""No case needs more pages; a longer list ignores its page number."""
PAGES_OF_ENDLESS = 20
"""Pages that are read of further lists of an operation of which one had no end: no run reads a thousand for each."""
IN_GROUP = ("list_wallets_in_group", "list_actions")
"""The lists that may be those of one group."""


def read_list(session: Session, operation: str, key: str | None, /, **members: object) -> list[object]:
    """All items of a list by canonical names, in order; `operation` is for example `list_groups`.

    Refusals that follow at once are held against them.
    """
    items: list[object] = session.recent_reads.ask(unchanged_list(session, operation, key, **members))  # type: ignore[assignment]  # what `read_pages` gives
    return items


def unchanged_list(session: Session, operation: str, key: str | None, /, **members: object) -> Read:
    """The same list as a read that must stay unchanged."""
    return list_as_read(session, session.request(operation, key, **members))


def list_as_read(session: Session, request: OutgoingRequest) -> Read:
    """The list that a request asks for as a read; another that asks the same gives the same."""
    plain = request == OutgoingRequest(request.operation, request.credential, members=request.members)
    asks = f"{request.operation.name} {request.credential} {request.members!r}" if plain else None
    return Read(request.operation.name, lambda: read_pages(session, request), asks)


def only(items: Iterable[object], name: str, value: object) -> object:
    """The only item whose member has this value; hex is compared in any form. Raises Mismatch."""
    matches = [item for item in items if same(member(item, name), value) or same_hex(member(item, name), value)]
    if len(matches) != 1:
        raise Mismatch(f"one item whose {name} is {printed(value)}", printed(matches)[:300])
    return matches[0]


def read_pages(session: Session, request: OutgoingRequest, page_size: int | None = None) -> list[object]:
    """All items in order. Departures: a refusal, a page that is no array or is too long, the same page again, no end.

    A page behind the last may be empty or refused: the specification does not say which. Where the profile does not
    state the largest size, a node may serve less than was asked for: then only such a page ends the list.
    """
    size = page_size or session.target.page_size
    short_page_ends = not session.target.page_size_is_assumed
    first = first_page(session)
    items: list[object] = []
    previous: list[object] = []
    endless = session.target.endless_lists
    most = PAGES_OF_ENDLESS if request.operation.name in endless else MOST_PAGES
    for number in range(most):
        page = page_or_none(session, request, number, size) if number else read_page(session, request, number, size)
        if page and page == previous:
            raise Malformed(f"other items on page {first + number} than on the one before", printed(page)[:300])
        items += page
        if not page or (len(page) < size and short_page_ends):
            return items
        previous = page
    expected, got = f"an end of the list within {most} pages", f"{len(items)} items and no end"
    if most < MOST_PAGES:
        raise BeyondLimits(expected, f"{got}, as another list of {request.operation.name} had none in {MOST_PAGES}")
    endless.add(request.operation.name)
    raise Malformed(expected, got)


def first_page(session: Session) -> int:
    """The number of the first page. ProfileSilent: the profile leaves it out."""
    return int(printed(session.stated("wire.paging.first_page_number")))


def one_item_page(session: Session) -> dict[str, object]:
    """The members that ask for the first page with one item on it."""
    return {"page_number": first_page(session), "page_size": 1}


def read_page(session: Session, request: OutgoingRequest, number: int, size: int) -> list[object]:
    """One page of a list, counted from 0. Departures as in `read_pages`."""
    members = {**request.members, "page_number": first_page(session) + number, "page_size": size}
    answer = session.send(replace(request, members=members))
    must_accept(answer)
    return _items(answer, size)


def page_or_none(session: Session, request: OutgoingRequest, number: int, size: int | None) -> list[object]:
    """One page that may lie behind the last, counted from 0; no items where it is refused. None: no size."""
    page: dict[str, object] = {"page_number": first_page(session) + number}
    if size is not None:
        page["page_size"] = size
    answer = session.send(replace(request, members={**request.members, **page}))
    return _items(answer, size) if was_accepted(session, answer, or_refused=["any"]) else []


def _items(answer: Answer, size: int | None) -> list[object]:
    page = answer.value
    if not isinstance(page, list):
        raise Malformed("an array of items", printed(page)[:300], answer.exchange)
    if size is not None and len(page) > size:
        raise Malformed(f"a page of at most {size} items", f"{len(page)} items", answer.exchange)
    return page
