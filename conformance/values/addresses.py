"""Addresses of servers, as people write them: the one place that reads them for every command and for profiles."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import httpx

CORE = "/core/v1"
"""The path prefix of all but the attestation paths ("Versioning")."""


def read_address(text: str) -> str:
    """An address in its plainest form.

    Scheme and host are in small letters, an internationalised host in those of the DNS (RFC 5891); the scheme's own
    port and a slash at the end are left out. Raises `ValueError` that says what is wrong and never repeats
    a password.
    """
    if "@" in re.split(r"[/?#]", re.sub(r"^\w+://", "", text), maxsplit=1)[0]:
        raise ValueError("a user or password stands before its host: leave it out, no command sends one")
    if not re.match(r"https?://[^/]", text, re.IGNORECASE):
        raise ValueError(f"begins with http:// or https://, unlike {text}")
    if "?" in text or "#" in text:
        raise ValueError(f"has no query and no fragment, unlike {text}")
    try:
        urlsplit(text)  # which says best what is wrong with brackets
        url = _parsed(text)
    except ValueError as problem:
        raise ValueError(f"{text}: {problem}") from problem
    host = url.raw_host.decode("ascii")
    if url.port is not None and not 0 < url.port < 65536:
        raise ValueError(f"{text}: has to name a port from 1 to 65535")
    if not _is_host(host):
        raise ValueError(f"{host!r} is no name of a host")
    return f"{url.scheme}://{url.netloc.decode('ascii')}{url.raw_path.decode('ascii').rstrip('/')}"


def _parsed(text: str) -> httpx.URL:
    """The URL. httpx keeps capitals in numbers of IPv6, and the scheme's own port after a scheme in capitals."""
    import httpx  # noqa: PLC0415 - commands that read no address name CORE, too

    try:
        return httpx.URL(re.sub(r"^\w+://[^/?#]*", lambda found: found[0].lower(), text))
    except httpx.InvalidURL as problem:
        raise ValueError(str(problem)) from problem


def _is_host(host: str) -> bool:
    """Whether a host in letters of the DNS may be one; names of containers have underscores."""
    labels = host.removesuffix(".").split(".")
    return ":" in host or (len(host) < 255 and all(re.fullmatch(r"[a-z0-9_-]{1,63}", label) for label in labels))


def node_address(text: str) -> str:
    """The address of a node. Raises `ValueError` as above, and where it is that of the API."""
    address = read_address(text)
    if address.endswith(CORE):
        raise ValueError(f"is the address without {CORE}, unlike {text}")
    return address


def authority_of(url: str) -> str:
    """Host and port of a URL, comparable with those of others; empty where it has none."""
    try:
        return _parsed(url).netloc.decode("ascii")
    except ValueError:
        return ""


def below(url: str, address: str) -> str | None:
    """What follows an address in a URL below it; None where it is not below."""
    rest = url.removeprefix(address)
    return rest if url.startswith(address) and rest[:1] in {"", "/", "?"} else None
