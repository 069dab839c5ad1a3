"""Limits log records per minute, so that clients can't fill the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

RECORDS = 60
"""The most records in one window."""

WINDOW_SECONDS = 60.0


class LogLimit(logging.Filter):
    """Passes `RECORDS` records in each window. The first record of the next window reports how many were dropped."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now = now
        self._began = now()
        self._seen = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this record is written."""
        if self._now() - self._began >= WINDOW_SECONDS:
            left_out, self._began, self._seen = self._seen - RECORDS, self._now(), 0
            if left_out > 0:
                record.msg = f"{record.getMessage()} (before this, {left_out} records were left out)"
                record.args = ()
        self._seen += 1
        return self._seen <= RECORDS


_SHARED = LogLimit()


def limited_logger(name: str) -> logging.Logger:
    """The logger with this name, under the limit that all loggers of the node share: a filter binds one logger only."""
    logger = logging.getLogger(name)
    logger.addFilter(_SHARED)
    return logger
