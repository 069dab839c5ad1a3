"""Which proxy a request goes through, by the environment: `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy`.

The variables mean what curl and urllib take them to mean. What `no_proxy` holds that is no host is ignored, as there.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from urllib.parse import unquote, urlsplit

SCHEMES = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
"""Schemes of proxies, and their ports."""
PORTS = {"http": 80, "https": 443}
FORM = "write http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT"

Address = IPv4Address | IPv6Address


class BadProxyError(ValueError):
    """A variable names no proxy that can be used. The text says which, and how to write it, without its password."""


@dataclass(frozen=True)
class Proxy:
    """A proxy that a variable of the environment names."""

    variable: str
    scheme: str
    host: str
    """Without brackets."""
    port: int
    auth: tuple[str, str] | None = None
    """User and password."""

    @property
    def url(self) -> str:
        """Its address, without user and password."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"

    def __str__(self) -> str:
        return f"through the proxy {self.url} of {self.variable}"


def proxy_for(url: str, environment: Mapping[str, str] = os.environ) -> Proxy | None:
    """The proxy of a URL; None: requests go there directly, as they always do to this machine. Raises BadProxyError."""
    parts = urlsplit(url)
    host = (parts.hostname or "").rstrip(".")
    if not host or is_loopback(host):
        return None
    named = _named(parts.scheme, environment)
    if named is None or _excepted(host, parts.port or PORTS.get(parts.scheme), environment):
        return None
    return _read(*named)


def forwarder(url: str, environment: Mapping[str, str] = os.environ) -> Proxy | None:
    """The proxy that reads and forwards each request of a URL, and may answer itself: an HTTP proxy, without TLS.

    A connection under TLS, or one through SOCKS, ends at its server.
    """
    proxy = proxy_for(url, environment) if urlsplit(url).scheme == "http" else None
    return proxy if proxy is not None and proxy.scheme in PORTS else None


def is_loopback(host: str) -> bool:
    """Whether a host, without brackets, is this machine by its name or address; no name is looked up."""
    name = host.rstrip(".").lower()
    address = _address(name)
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    if address is None:
        return name == "localhost" or name.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def _address(host: str) -> Address | None:
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:  # 127.1 and 2130706433 are addresses to whatever connects
        return IPv4Address(socket.inet_aton(host)) if re.fullmatch(r"[0-9a-fxA-FX.]+", host) else None
    except OSError:
        return None


def _named(scheme: str, environment: Mapping[str, str]) -> tuple[str, str] | None:
    """The variable that names the proxy, and its value. The form in small letters goes before the other one."""
    for kind in (f"{scheme}_proxy", "all_proxy"):
        variable = kind if kind in environment else kind.upper()
        if value := environment.get(variable, "").strip():
            return variable, value
    return None


def _read(variable: str, value: str) -> Proxy:
    try:
        parts = urlsplit(value if "://" in value else f"http://{value}")
        scheme, host, port = parts.scheme, parts.hostname, parts.port
        auth = None if parts.username is None else (unquote(parts.username), unquote(parts.password or ""))
    except ValueError:
        scheme, host, port, auth = "", None, None, None
    if scheme not in SCHEMES or not host or port == 0:
        raise BadProxyError(f"{variable}={_without_password(value)} names no proxy that can be used: {FORM}")
    return Proxy(variable, scheme, host, port or SCHEMES[scheme], auth)


def _without_password(value: str) -> str:
    scheme, separator, rest = value.rpartition("://")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"[:200]


def _excepted(host: str, port: int | None, environment: Mapping[str, str]) -> bool:
    value = environment.get("no_proxy", environment.get("NO_PROXY", ""))
    return any(entry == "*" or _covers(entry, host.lower(), port) for entry in re.split(r"[,\s]+", value) if entry)


def _covers(entry: str, host: str, port: int | None) -> bool:
    """Whether an entry of `no_proxy` is about a host and port."""
    address = _address(host)
    for name, only in _readings(entry.rpartition("://")[2].lower()):
        if only is not None and only != port:
            continue
        network = _network(name)
        if address is not None and network is not None:
            if address in network:
                return True
        elif name and address is None and (host == name or host.endswith(f".{name}")):
            return True
    return False


def _readings(entry: str) -> Iterator[tuple[str, int | None]]:
    """What an entry may mean: a host or network without brackets, and the one port that it is about."""
    bracketed = re.fullmatch(r"\[([^\]]*)\](/\d+)?(?::(\d+))?", entry)
    if bracketed:
        yield bracketed[1] + (bracketed[2] or ""), int(bracketed[3]) if bracketed[3] else None
        return
    yield entry.removeprefix("*").strip("."), None
    host, colon, port = entry.rpartition(":")
    if colon and ":" not in host and port.isdecimal():
        yield host.removeprefix("*").strip("."), int(port)


def _network(text: str) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(text.partition("%")[0], strict=False)
    except ValueError:
        return None
