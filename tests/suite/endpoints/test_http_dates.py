"""Dates that a node sends: each is a date after 1970, or none."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from conformance.values.http_dates import http_date


@pytest.mark.parametrize(
    "text", ["Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 -0000", "Sun, 06 Nov 1994 09:49:37 +0100"]
)
def test_date_is_read_with_its_zone(text: str) -> None:
    assert http_date(text) == datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "Mon, 01 Jan 0900 00:00:00 GMT",
        "Wed, 31 Dec 1969 23:59:59 GMT",
        "Fri, 31 Dec 9999 23:59:59 +99999999999999",
        f"Mon, 1 Jan {'9' * 5_000} 00:00:00 GMT",
        "(" * 50_000,
    ],
)
def test_other_texts_are_no_dates(text: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        http_date(text)
