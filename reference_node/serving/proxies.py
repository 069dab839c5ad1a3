"""Requests that come through a proxy: at which address the client found the node, and which paths are the node's own.

The address is that of `--public-url`. Without it, proxies that `--trusted-proxy` names tell it, by the header
`Forwarded` (RFC 7239) or by `X-Forwarded-Proto`, `-Host` and `-Prefix`. What others send in these headers is ignored.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from http import HTTPStatus
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import TypeVar

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from reference_node.problems import document, quoted
from reference_node.public_address import PublicAddress, read_origin, read_prefix

Networks = Collection[IPv4Network | IPv6Network]

Told = TypeVar("Told")

SCHEMES = frozenset({"http", "https"})

_PAIR = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+=(?:[^\s;,\"]+|\"(?:[^\"\\]|\\.)*\")"
"""A parameter. Values with a colon have to be quoted, and many proxies do not."""

_ELEMENT = re.compile(rf"\s*({_PAIR}(?:\s*;\s*{_PAIR})*)?\s*(?:,|$)")
"""One element of `Forwarded`: what one proxy tells (RFC 7239, section 4)."""

_NODE = re.compile(r"\[(?P<bracketed>[^]]*)\](?::\w+)?|(?P<name>[^:]*)(?::\w+)?|(?P<bare>.*)")
"""The name of a client or proxy, with or without its port (RFC 7239, section 6)."""


class Proxies:
    """Finds out the address of each request, and sets `root_path`, whether the proxy has stripped the prefix or not."""

    def __init__(self, app: ASGIApp, public: PublicAddress | None, trusted: Networks, served: Collection[str]) -> None:
        """`served` are the beginnings of all paths that the node serves, such as `/core/v1` and `/rpc`."""
        self._app = app
        self._public = public
        self._trusted = trusted
        self._served = served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http":
            try:
                address = self._public or self._told(scope)
            except ValueError as fault:
                refusal = document(Request(scope), HTTPStatus.BAD_REQUEST, "forwarding-unclear", str(fault))
                await refusal(scope, receive, send)
                return
            scope = {**scope, "public_address": address, **self._placed(scope, address.prefix)}
        await self._app(scope, receive, send)

    def _told(self, scope: Scope) -> PublicAddress:
        """What the proxy tells, if it is trusted. Raises `ValueError` where that is no address."""
        client = scope["client"]
        if not self._trusted or client is None or not is_within(client[0], self._trusted):
            return PublicAddress()
        return told(Headers(scope=scope), self._trusted)

    def _placed(self, scope: Scope, prefix: str) -> dict[str, object]:
        """The members of the scope that say where the path stands: below the prefix, in any case."""
        path, raw_path = scope["path"], scope["raw_path"]
        if path == prefix and path not in self._served:
            path, raw_path = f"{path}/", raw_path + b"/"
        below = path.removeprefix(prefix)
        is_stripped = not path.startswith(f"{prefix}/") or (self._is_served(path) and not self._is_served(below))
        if is_stripped:
            path, raw_path = prefix + path, prefix.encode() + raw_path
        return {"root_path": prefix, "path": path, "raw_path": raw_path}

    def _is_served(self, path: str) -> bool:
        return path == "/" or any(path == first or path.startswith(f"{first}/") for first in self._served)


def told(headers: Headers, trusted: Networks) -> PublicAddress:
    """The address that a trusted proxy tells. Raises `ValueError` that names the header at fault.

    Where a chain of proxies tells of each other, the one that counts is the farthest that trusted ones vouch for.
    """
    forwarded = _forwarded(headers, trusted)
    passed = _passed_on(headers, trusted)
    for name in ("proto", "host"):
        if name in forwarded and forwarded[name].lower() != passed.get(name, forwarded[name]).lower():
            raise ValueError(
                f"Forwarded tells {name}={quoted(forwarded[name])}, X-Forwarded-{name.capitalize()} "
                f"{quoted(passed[name])}: have the proxy take away the header that it does not set itself"
            )
    of = passed | forwarded
    scheme = of.get("proto", "").lower()
    if scheme and scheme not in SCHEMES:
        raise ValueError(f"the proxy tells the scheme {quoted(scheme)!r}: it has to be http or https")
    try:
        origin = read_origin(scheme or "http", of["host"]) if "host" in of else None
        return PublicAddress(origin if scheme else None, read_prefix(of.get("prefix", "")))
    except ValueError as fault:
        raise ValueError(f"the proxy tells no address: {fault}") from None


def is_within(address: str, networks: Networks) -> bool:
    """Whether an address is in one of the networks; a name is in none."""
    try:
        number = ip_address(address)
    except ValueError:
        return False
    if isinstance(number, IPv6Address):
        number = number.ipv4_mapped or number
    return any(number in network for network in networks)


def _forwarded(headers: Headers, trusted: Networks) -> dict[str, str]:
    """The parameters of the element of `Forwarded` that counts, by name in lower case."""
    field = ",".join(headers.getlist("forwarded"))
    elements: list[dict[str, str]] = []
    place = 0
    while place < len(field):
        found = _ELEMENT.match(field, place)
        if found is None:
            raise ValueError(f"Forwarded is not as RFC 7239 has it: {quoted(field)!r}")
        place = found.end()
        if found[1]:
            pairs = (pair.partition("=") for pair in re.findall(_PAIR, found[1]))
            elements.append({name.lower(): _unquoted(value) for name, _, value in pairs})
    if not elements:
        return {}
    return _farthest(elements, [element.get("for", "") for element in elements], trusted)


def _passed_on(headers: Headers, trusted: Networks) -> dict[str, str]:
    """The values of `X-Forwarded-*` that count: of lists, those that the same proxy added."""
    clients = _listed(headers, "x-forwarded-for")
    values = {name: _listed(headers, f"x-forwarded-{name}") for name in ("proto", "host", "prefix")}
    return {name: _farthest(found, clients[-len(found) :], trusted) for name, found in values.items() if found}


def _listed(headers: Headers, name: str) -> list[str]:
    return [value for one in ",".join(headers.getlist(name)).split(",") if (value := one.strip())]


def _farthest(told: Sequence[Told], clients: Sequence[str], trusted: Networks) -> Told:
    """Of what each proxy tells, the nearest last: that of the farthest that is trusted. `clients` came to each."""
    at = len(told) - 1
    for client in reversed(clients):
        if at == 0 or not is_within(_number(client), trusted):
            break
        at -= 1
    return told[at]


def _number(node: str) -> str:
    parts = _NODE.fullmatch(node)
    assert parts is not None  # noqa: S101 - its last alternative matches everything
    return parts["bracketed"] or parts["name"] or parts["bare"] or ""


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1]) if value.startswith('"') else value
