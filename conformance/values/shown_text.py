"""Texts of others as people see them: one line, without what controls a terminal, no longer than useful."""

from __future__ import annotations

import re

LOG_COMMAND = re.compile(r"#(?=#[A-Za-z]*\[)|(?<!\S):(?=:[A-Za-z])")
"""Where a runner of CI jobs reads a command in a log: `##[` and `##vso[` anywhere in a line, `::` where it begins.

`ActionCommand.cs` of GitHub's runner, whose lines may begin with blanks; `##vso[` and `##teamcity[` are those of Azure
Pipelines and TeamCity.
"""


def plain(text: str) -> str:
    """A text in one line, in which a blank takes the place or breaks the mark of what controls a terminal or a job."""
    shown = text if text.isprintable() else "".join(one if one.isprintable() else " " for one in text)
    return LOG_COMMAND.sub(lambda mark: f"{mark[0]} ", shown)


def cell(text: str) -> str:
    """A text for a cell of a table, which may be folded anywhere: no line of it begins a command of a CI job."""
    return plain(text).replace("::", ": :")


def shortened(text: str, most: int) -> str:
    """The beginning of a text, as `plain` shows it."""
    return plain(cut(text, most))


def cut(text: str, most: int) -> str:
    """A text of at most so many characters, or its beginning and a mark that the rest is missing."""
    return text if len(text) <= most else f"{text[:most]}…"


def escaped(text: str) -> str:
    """A text with its lines, and each character that controls or reorders what is shown as JSON escapes it."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in KEPT else _code_units(character) for character in text
    )


KEPT = "\n\t"
"""Unprintable characters that do no harm in a file of several lines."""


def _code_units(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


NUMBER = re.compile(r"(?<![\w.])[1-9]\d{7,77}(?![\w.])")
WIDTHS = {24: 1, 31: 1 << 17, 32: 1 << 17, 53: 1 << 17, 63: 1 << 17, 64: 1 << 17, 128: 1 << 17, 256: 1 << 17}
"""Bits at which formats of numbers end (that of 24 is single precision), and how near to them a number is named so."""


def with_powers(text: str) -> str:
    """A text whose numbers tell that they lie at the end of a format: ``16777217 (2^24 + 1)``."""
    return NUMBER.sub(lambda found: f"{found[0]}{_power(int(found[0]))}", text)


def _power(number: int) -> str:
    for bits, near in WIDTHS.items():
        beyond = number - (1 << bits)
        if abs(beyond) <= near:
            return f" (2^{bits})" if beyond == 0 else f" (2^{bits} {'+' if beyond > 0 else '-'} {abs(beyond)})"
    return ""
