"""Dates in headers of answers (RFC 9110, 5.6.7)."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def http_date(text: str) -> datetime:
    """A date after 1970, which is UTC where it names no zone. Raises ValueError for any other text."""
    try:
        date = parsedate_to_datetime(text)
    except OverflowError as problem:  # a zone of many digits
        raise ValueError(str(problem)) from problem
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    if date.timestamp() < 0:
        raise ValueError(f"{date.isoformat()} lies before 1970")
    return date
