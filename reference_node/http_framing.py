"""Refuses ambiguous requests, as in request smuggling (RFC 9112, 2.2, 5.2 and 6.1)."""

from __future__ import annotations

import re

import h11

_BARE_LINE_FEED = re.compile(rb"(?<!\r)\n")
_FOLDED_LINE = re.compile(rb"\n[ \t]")


class StrictConnection(h11.Connection):
    """An h11 connection that refuses request heads which h11 accepts but proxies may parse differently."""

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """The next event. Raises `h11.RemoteProtocolError` for an ambiguous request."""
        before, _ = self.trailing_data if self.their_state is h11.IDLE else (b"", False)
        event = super().next_event()
        if isinstance(event, h11.Request):
            _refuse_ambiguous(before[: len(before) - len(self.trailing_data[0])], event)
        return event


def _refuse_ambiguous(head: bytes, request: h11.Request) -> None:
    if _BARE_LINE_FEED.search(head):
        raise h11.RemoteProtocolError("a line of the head ends without a carriage return")
    if _FOLDED_LINE.search(head):
        raise h11.RemoteProtocolError("a header goes on in a second line")
    names = {bytes(name) for name, _ in request.headers}
    if b"transfer-encoding" in names:
        if b"content-length" in names:
            raise h11.RemoteProtocolError("Content-Length stands beside Transfer-Encoding")
        if request.http_version < b"1.1":
            raise h11.RemoteProtocolError("Transfer-Encoding is not known to HTTP/1.0")
