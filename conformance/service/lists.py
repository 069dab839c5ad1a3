"""Reads every page of a list ("Endpoints", query fields `page_number` and `page_size`)."""

from __future__ import annotations

from dataclasses import replace

from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import Malformed
from conformance.service.acceptance import must_accept
from conformance.service.reads import Read
from conformance.service.session import Session
from conformance.values.json_values import printed

MOST_PAGES = 1_000
"""No case makes more: a list that goes on is one that ignores its page number."""


def read_list(session: Session, operation: str, key: str | None, /, **members: object) -> list[object]:
    """All items of a list by canonical names, in order; `operation` is for example `list_groups`."""
    return read_pages(session, session.request(operation, key, **members))


def unchanged_list(session: Session, operation: str, key: str | None, /, **members: object) -> Read:
    """The same list as a read that must stay unchanged."""
    asks = f"{operation} {key} {members!r}"
    return Read(operation, lambda: read_list(session, operation, key, **members), asks)


def read_pages(session: Session, request: OutgoingRequest, page_size: int | None = None) -> list[object]:
    """All items in order. Departures: a refusal, a page that is no array or is too long, the same page again."""
    size = page_size or session.target.page_size
    first = session.profile.wire.paging.first_page_number or 0
    items: list[object] = []
    previous: list[object] = []
    for number in range(first, first + MOST_PAGES):
        members = {**request.members, "page_number": number, "page_size": size}
        page = _page(session, replace(request, members=members), size)
        if page and page == previous:
            raise Malformed(f"other items on page {number} than on the one before", printed(page)[:300])
        items += page
        if len(page) < size:
            return items
        previous = page
    raise Malformed(f"an end of the list within {MOST_PAGES} pages", f"{len(items)} items and no end")


def _page(session: Session, request: OutgoingRequest, size: int) -> list[object]:
    answer = session.send(request)
    must_accept(answer)
    page = answer.value
    if not isinstance(page, list):
        raise Malformed("an array of items", printed(page)[:300], answer.exchange)
    if len(page) > size:
        raise Malformed(f"a page of at most {size} items", f"{len(page)} items", answer.exchange)
    return page
