"""Listening sockets and ready files for the servers of this package."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from pathlib import Path

BACKLOG = 2048


class ServingError(Exception):
    """A server can't start; the message is one line that says why and what to do."""


def listen(host: str, port: int, option: str = "--port") -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises `ServingError`, which names the option."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio disables Nagle's algorithm only for sockets with a named protocol; with it every answer takes 40 ms
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as fault:
        listening.close()
        raise not_listening(fault, f"{host}:{port}", option) from None
    return listening


def not_listening(fault: OSError, where: str, option: str) -> ServingError:
    """The error for an address at which nothing can listen, with the fix."""
    if fault.errno == errno.EADDRINUSE:
        return ServingError(f"{where} is in use: stop what listens there, or choose another {option} (0: any)")
    return ServingError(f"can't listen at {where}: {fault.strerror or fault}")


def reachable(listening: socket.socket) -> str:
    """`host:port` at which programs on this machine reach the socket."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared, not bound
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_open(host: str) -> bool:
    """Whether a server at this host is reachable from other machines."""
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() != "localhost"


def base_url(listening: socket.socket) -> str:
    """The address at which clients on this machine reach the socket."""
    return f"http://{reachable(listening)}"


def remove_stale(ready_file: Path | None) -> None:
    """Remove an earlier node's ready file, and check that a new one can be written."""
    if ready_file is None:
        return
    try:
        if ready_file.exists() and not ready_file.is_file():  # removing a device or a pipe could harm others
            raise ServingError(f"the ready file {ready_file} can't be written: it is no regular file")
        ready_file.unlink(missing_ok=True)
        probe = _beside(ready_file)
        probe.touch()
        probe.unlink()
    except OSError as fault:
        raise ServingError(f"the ready file {ready_file} can't be written: {fault.strerror}") from None


def write_atomically(file: Path, text: str, *, private: bool = False) -> None:
    """Write a file atomically; a private one for its owner alone."""
    partial = _beside(file)
    try:
        if private:
            partial.unlink(missing_ok=True)
            partial.touch(0o600)
        partial.write_text(text, encoding="utf-8")
        partial.replace(file)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def _beside(file: Path) -> Path:
    """A temporary name in the same folder that no other process uses."""
    return file.with_name(f".{file.name}.{os.getpid()}")
