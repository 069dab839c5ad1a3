"""The captured console output of a run, cut at a limit."""

from __future__ import annotations


class Logs:
    """Collects lines up to a limit in bytes of UTF-8, including line ends."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lines: list[str] = []
        self._size = 0
        self.cut = False
        """Whether any output was cut."""

    def add(self, line: str) -> None:
        """Add a line, or the part of it that fits."""
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
        """The output, followed by the mark of a cut and by an error, if any."""
        mark = [f"[logs cut: the limit is {self._limit} bytes]"] if self.cut else []
        return "\n".join([*self._lines, *mark, *([] if error is None else [error])])
