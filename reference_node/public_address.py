"""Where clients find the node: its address as a proxy in front of it serves it, and paths below that address.

A proxy may serve the node below a prefix of paths. ASGI calls the prefix `root_path`; `path` begins with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from starlette.types import Scope

PREFIX = "/core/v1"
"""The path prefix of the API (specification, "Versioning")."""

OWN_PORT = {"http": 80, "https": 443}
"""The port that an address of this scheme leaves out."""

_HOST = re.compile(r"[a-z0-9]([a-z0-9._-]*[a-z0-9])?|[0-9a-f:.]+")
_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)*")


@dataclass(frozen=True)
class PublicAddress:
    """The node's address, as far as it is known."""

    origin: str | None = None
    """Scheme, host and port, where another than the scheme's, such as `https://host:8443`; `None`: not known."""
    prefix: str = ""
    """The prefix of all paths, such as `/acme/v7`; empty: none."""

    @property
    def url(self) -> str:
        """The address without a slash at its end: a whole one, or the prefix alone."""
        return (self.origin or "") + self.prefix

    @property
    def host(self) -> str | None:
        """The name or number of the host."""
        return urlsplit(self.origin).hostname if self.origin else None


def read_url(text: str) -> PublicAddress:
    """A whole address. Raises `ValueError` that says what is wrong and how to write it."""
    example = "write it as https://host.example/acme"
    if not re.match(r"https?://", text, re.IGNORECASE):
        raise ValueError(f"{text!r} has no scheme: {example}")
    if "?" in text or "#" in text:
        raise ValueError(f"{text!r} has a {'query' if '?' in text else 'fragment'}, which no address of a node has")
    scheme, _, rest = text.partition("://")
    authority, _, path = rest.partition("/")
    prefix = read_prefix(f"/{path}")
    if prefix.endswith(PREFIX):
        raise ValueError(f"{text!r} is the address of the API: leave {PREFIX} out")
    return PublicAddress(read_origin(scheme.lower(), authority), prefix)


def read_origin(scheme: str, authority: str) -> str:
    """The origin of a scheme and a host with or without port. Raises `ValueError`."""
    if "@" in authority:
        raise ValueError("a user name or password stands before the host: leave it out")
    try:
        parts = urlsplit(f"{scheme}://{authority}")
        port, host = parts.port, (parts.hostname or "").encode("idna").decode("ascii").lower()
    except ValueError:
        raise ValueError(f"{authority[:80]!r} is no host, nor host and port") from None
    if not _HOST.fullmatch(host) or port == 0 or parts.netloc != authority or authority.endswith(":"):
        raise ValueError(f"{authority[:80]!r} is no host, nor host and port")
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}" + ("" if port in {None, OWN_PORT[scheme]} else f":{port}")


def read_prefix(path: str) -> str:
    """A prefix of paths without a slash at its end. Raises `ValueError`."""
    prefix = path.removesuffix("/")
    if not _PATH.fullmatch(prefix) or {".", ".."} & set(prefix.split("/")):
        raise ValueError(f"{path[:80]!r} is no prefix: write one such as /acme/v7, of letters, digits and -._~")
    return prefix


def prefix_of(scope: Scope) -> str:
    """The prefix at which the client found the node. Starlette adds the path of what it mounts to `root_path`."""
    prefix: str = scope.get("app_root_path", scope.get("root_path", ""))
    return prefix


def own_path(scope: Scope) -> str:
    """The request's path below the prefix."""
    path: str = scope["path"]
    return path.removeprefix(prefix_of(scope))
