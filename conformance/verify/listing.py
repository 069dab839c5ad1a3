"""The files that an HTML listing links, in one pass over it: `html.parser` takes minutes for some texts of 64 KiB."""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from urllib.parse import unquote, urlsplit

from conformance.verify.evidence import FILE_NAME

MOST_BYTES = 256 * 1024
_TAG = re.compile(r"</?([A-Za-z][^\s/<>]*)((?:[^\"'<>]|\"[^\"<]*\"|'[^'<]*')*)>")
"""A tag ends before the next `<`, so that no character is looked at for more than one tag."""
_ATTRIBUTE = re.compile(r"([^\s\"'<>/=]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?")
_RAW_TEXT = frozenset({"script", "style", "textarea", "title"})
"""Elements whose content is no markup."""


@lru_cache(maxsize=16)
def read_listing(body: bytes) -> tuple[str, ...]:
    """Names of the linked files, in order, each once. ValueError: it is no HTML in UTF-8, or too long."""
    if len(body) > MOST_BYTES:
        raise ValueError(f"{len(body)} bytes, where at most {MOST_BYTES} are read")
    names = (_file_name(href) for href in _links(body.decode("utf-8")))
    return tuple(dict.fromkeys(name for name in names if name is not None))


def _links(text: str) -> list[str]:
    """The `href` of every `a`."""
    links: list[str] = []
    place = text.find("<")
    while place >= 0:
        after = place + 1
        if text.startswith("<!--", place):
            end = text.find("-->", place + 4)
            after = len(text) if end < 0 else end + 3
        elif tag := _TAG.match(text, place):
            name, after = tag[1].lower(), tag.end()
            if text[place + 1] != "/":
                links += [href for href in [_href(tag[2])] if name == "a" and href]
                after = _behind_raw_text(text, name, after)
        place = text.find("<", after)
    return links


def _href(attributes: str) -> str:
    """The first `href` among a tag's attributes."""
    for match in _ATTRIBUTE.finditer(attributes):
        if match[1].lower() == "href":
            return unescape(match[2] or match[3] or match[4] or "")
    return ""


def _behind_raw_text(text: str, name: str, place: int) -> int:
    if name not in _RAW_TEXT:
        return place
    match = re.compile(rf"</{name}", re.IGNORECASE).search(text, place)
    return match.start() if match else len(text)


def _file_name(href: str) -> str | None:
    """The name of a file of `/evidences/` that a link leads to."""
    try:
        path = unquote(urlsplit(href).path, errors="strict")
    except ValueError:
        return None
    name = path.removeprefix("./").rpartition("/evidences/")[2]
    return name if FILE_NAME.fullmatch(name) else None
