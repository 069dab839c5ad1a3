"""Texts of others as people see them: one line, without what controls a terminal, no longer than useful."""

from __future__ import annotations


def plain(text: str) -> str:
    """A text in one line, with a blank for each character that controls a terminal or a reader of logs."""
    return "".join(character if character.isprintable() else " " for character in text)


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
