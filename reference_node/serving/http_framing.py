"""Refuses ambiguous requests, as in request smuggling (RFC 9112, 2.2, 5.2, 6.1 and 7.1)."""

from __future__ import annotations

import re

import h11
from h11._receivebuffer import ReceiveBuffer

CHUNK_LINE_LIMIT = 256
"""Bytes of the line before a chunk: its size, and extensions, which nobody needs."""

_BARE_LINE_FEED = re.compile(rb"(?<!\r)\n")
_BARE_RETURN = re.compile(rb"\r(?!\n)")
_FOLDED_LINE = re.compile(rb"\n[ \t]")


class StrictConnection(h11.Connection):
    """An h11 connection that refuses requests which h11 accepts but proxies may parse differently."""

    def __init__(self, our_role: type[h11.SERVER], max_incomplete_event_size: int) -> None:
        super().__init__(our_role, max_incomplete_event_size)
        self._receive_buffer = _StrictBuffer()  # h11 offers no other place that sees how lines end

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """The next event. Raises `h11.RemoteProtocolError` for an ambiguous request."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            _refuse_ambiguous(event)
        return event


class _StrictBuffer(ReceiveBuffer):
    """What has been received. Raises `h11.RemoteProtocolError` where a line of it can be read in two ways."""

    def maybe_extract_next_line(self) -> bytearray | None:
        """The line before a chunk, once it is complete."""
        line = super().maybe_extract_next_line()
        if len(self if line is None else line) > CHUNK_LINE_LIMIT:
            raise h11.RemoteProtocolError(f"the line before a chunk is longer than {CHUNK_LINE_LIMIT} bytes")
        if line is not None and (_BARE_LINE_FEED.search(line) or _BARE_RETURN.search(line)):
            raise h11.RemoteProtocolError("the line before a chunk holds a bare line feed or carriage return")
        return line

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """The lines of a head or of trailers, once they are complete."""
        before = bytes(self)
        lines = super().maybe_extract_lines()
        if lines is not None:
            taken = before[: len(before) - len(self)]
            if _BARE_LINE_FEED.search(taken):
                raise h11.RemoteProtocolError("a line of the head or of the trailers ends without a carriage return")
            if _FOLDED_LINE.search(taken):
                raise h11.RemoteProtocolError("a header goes on in a second line")
        return lines


def _refuse_ambiguous(request: h11.Request) -> None:
    names = {bytes(name) for name, _ in request.headers}
    if b"transfer-encoding" in names:
        if b"content-length" in names:
            raise h11.RemoteProtocolError("Content-Length stands beside Transfer-Encoding")
        if request.http_version < b"1.1":
            raise h11.RemoteProtocolError("Transfer-Encoding is not known to HTTP/1.0")
