"""A proxy on loopback that counts what passes: HTTP, CONNECT and SOCKS5. It alone knows where `node.test` is."""

from __future__ import annotations

import socket
import socketserver
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

NAME = "node.test"
"""No resolver knows a name that ends in `.test` (RFC 6761)."""


@dataclass
class CountingProxy:
    """What it was asked, and how it behaves."""

    places: dict[str, int] = field(default_factory=dict)
    """`host:port` as clients name it, to the port on loopback that it is."""
    passed: list[tuple[str, str]] = field(default_factory=list)
    """The kind (`http`, `connect`, `socks5`) and `host:port` of everything asked for."""
    passwords: list[str] = field(default_factory=list)
    """Values of `Proxy-Authorization`, and `user:password` of SOCKS."""
    refuses: bytes = b""
    """The status line, or SOCKS reply, in place of a connection."""
    port: int = 0

    @property
    def kinds(self) -> set[str]:
        return {kind for kind, _ in self.passed}


@contextmanager
def counting_proxy(**places: int) -> Iterator[CountingProxy]:
    """Run the proxy. `places`: ports on loopback of `node.test:80` and `node.test:443`, as `http` and `https`."""
    proxy = CountingProxy({f"{NAME}:{ {'http': 80, 'https': 443}[scheme] }": port for scheme, port in places.items()})

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                (_socks if self.connection.recv(1, socket.MSG_PEEK) == b"\5" else _http)(proxy, self)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Say nothing of clients that went away."""

    with Server(("127.0.0.1", 0), Handler) as server:
        proxy.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield proxy
        server.shutdown()


def _http(proxy: CountingProxy, client: socketserver.StreamRequestHandler) -> None:
    method, target, _ = client.rfile.readline().decode().split()
    headers = {}
    while (line := client.rfile.readline().decode().strip()) != "":
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    proxy.passwords += [headers[name] for name in ("proxy-authorization",) if name in headers]
    parts = urlsplit(target)
    place = target if method == "CONNECT" else f"{parts.hostname}:{parts.port or 80}"
    proxy.passed.append(("connect" if method == "CONNECT" else "http", place))
    if proxy.refuses or place not in proxy.places:
        client.wfile.write(b"HTTP/1.1 " + (proxy.refuses or b"502 Bad Gateway") + b"\r\nContent-Length: 0\r\n\r\n")
        return
    with socket.create_connection(("127.0.0.1", proxy.places[place])) as server:
        if method == "CONNECT":
            client.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            _relay(client.connection, server)
            return
        body = client.rfile.read(int(headers.get("content-length", 0)))
        headers = {name: value for name, value in headers.items() if not name.startswith("proxy-")}
        lines = [f"{method} {parts._replace(scheme='', netloc='').geturl() or '/'} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in {**headers, "connection": "close"}.items()]
        server.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        while piece := server.recv(65536):
            client.wfile.write(piece)


def _socks(proxy: CountingProxy, client: socketserver.StreamRequestHandler) -> None:
    """RFC 1928, and RFC 1929 where the client offers a password."""
    count = client.rfile.read(2)[1]
    with_password = 2 in client.rfile.read(count)
    client.wfile.write(b"\5\2" if with_password else b"\5\0")
    if with_password:
        user = client.rfile.read(client.rfile.read(2)[1]).decode()
        password = client.rfile.read(client.rfile.read(1)[0]).decode()
        proxy.passwords.append(f"{user}:{password}")
        client.wfile.write(b"\1\0")
    kind = client.rfile.read(4)[3]
    size = client.rfile.read(1)[0] if kind == 3 else {1: 4, 4: 16}[kind]
    raw = client.rfile.read(size)
    host = raw.decode() if kind == 3 else socket.inet_ntop({1: socket.AF_INET, 4: socket.AF_INET6}[kind], raw)
    (port,) = struct.unpack(">H", client.rfile.read(2))
    proxy.passed.append(("socks5", f"{host}:{port}"))
    place = f"{host}:{port}"
    if proxy.refuses or place not in proxy.places:
        client.wfile.write(proxy.refuses or b"\5\5\0\1" + bytes(6))
        return
    with socket.create_connection(("127.0.0.1", proxy.places[place])) as server:
        client.wfile.write(b"\5\0\0\1" + bytes(6))
        _relay(client.connection, server)


def _relay(one: socket.socket, other: socket.socket) -> None:
    back = threading.Thread(target=_pump, args=(other, one), daemon=True)
    back.start()
    _pump(one, other)
    back.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(65536):
            target.sendall(piece)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
