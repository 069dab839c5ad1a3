"""The captured console output of a run, cut where it grows too long."""

from __future__ import annotations


class Logs:
    """Lines up to so many bytes of UTF-8, the line ends between them included."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lines: list[str] = []
        self._size = 0
        self.cut = False
        """Whether something did not fit."""

    def add(self, line: str) -> None:
        """Take a line, or as much of it as fits."""
        if self.cut:
            return
        data = line.encode("utf-8", "replace")
        room = self._limit - self._size - bool(self._lines)
        self.cut = len(data) > room
        if self.cut and room < 0:
            return
        self._lines.append(data[: max(room, 0)].decode("utf-8", "ignore"))
        self._size += len(data) + (len(self._lines) > 1)

    def text(self, error: str | None = None) -> str:
        """All of it, then the mark of a cut, then an error."""
        mark = [f"[logs cut: the limit is {self._limit} bytes]"] if self.cut else []
        return "\n".join([*self._lines, *mark, *([] if error is None else [error])])
