"""A bundled node whose state outlives its process: chain, payment provider and ledger are outside of it.

The chain is the in-memory chain of a second bundled node, over JSON-RPC. It has the same root secret, so the contract
is deployed there and the payers have ether. The provider is the Stripe simulator. Relays that can be cut lead to both.
"""

from __future__ import annotations

import json
import random
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import gevent
from gevent import socket as gevent_socket
from gevent.server import StreamServer

from conformance.endpoints.bundled import STARTER_CENTS, environment_of_nodes
from conformance.endpoints.parent import end_with_parent
from conformance.problems import NodeNotStarted
from conformance.transport import client

START_SECONDS = 120.0
NODE_PROGRAM = (sys.executable, "-m", "reference_node")
PIECE = 65_536
"""The most bytes that a relay forwards at once."""
CONTROL_SECONDS = 30.0


class Relay:
    """Forwards TCP connections to a local port. While it is cut, it refuses them."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._ends: set[socket.socket] = set()
        self._server = self._listening(0)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        """Its address, which stays the same after a cut."""

    def cut(self) -> None:
        """Refuse connections, and close open ones."""
        self._server.stop(timeout=0)
        for end in list(self._ends):
            end.close()

    def mend(self) -> None:
        """Accept connections again."""
        if not self._server.started:
            self._server = self._listening(urlsplit(self.url).port or 0)

    def _listening(self, port: int) -> StreamServer:
        server = StreamServer(("127.0.0.1", port), self._pass_on)
        server.start()
        return server

    def _pass_on(self, client: socket.socket, _address: object) -> None:
        try:
            server = gevent_socket.create_connection(("127.0.0.1", self._port))
        except OSError:
            client.close()
            return
        ends = {client, server}
        self._ends |= ends
        copies = [gevent.spawn(_copy, client, server), gevent.spawn(_copy, server, client)]
        try:
            gevent.joinall(copies, count=1)
        finally:
            gevent.killall(copies)
            self._ends -= ends
            for end in ends:
                end.close()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(PIECE):
            sink.sendall(piece)


class World:
    """The processes of a campaign with chaos. They end with this process, however it ends.

    `folder` is empty and is removed at the end. `program` is the command line before `serve` and its options; the
    self-test passes that of a faulty node.
    """

    def __init__(self, folder: Path, program: Sequence[str] = NODE_PROGRAM) -> None:
        self._folder = folder
        self._program = tuple(program)
        self._root_secret_file = folder / "root-secret"
        self._keys = {
            "SECRET_KEY": f"sk_test_{secrets.token_hex(12)}",
            "PUBLISHABLE_KEY": f"pk_test_{secrets.token_hex(12)}",
        }
        """Of the payment provider; it and the node read them from variables alone."""
        self._outside = ExitStack()
        self._node: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        with ExitStack() as started:
            started.callback(shutil.rmtree, self._folder, ignore_errors=True)
            self.ready_file = self._folder / "node.json"
            self.ledger = self._folder / "ledger.sqlite"
            self._root_secret_file.touch(0o600)
            self._root_secret_file.write_text(secrets.token_hex(32), encoding="ascii")
            started.callback(self._end_node)
            self._start_surroundings(started)
            self._port = _lasting_port()
            self.start_node()
            self._outside = started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._outside.close()

    @property
    def _root_secret(self) -> list[str]:
        """The option that names it, so that no command line and no environment holds it."""
        return ["--root-secret-file", str(self._root_secret_file)]

    # --------------------------------------------------------------------------------------------------- the node

    def start_node(self) -> float:
        """Start the node. Returns the seconds that it took. Raises NodeNotStarted."""
        began = time.monotonic()
        self.ready_file.unlink(missing_ok=True)
        self._node = self._popen("node", self._node_command(), "STRIPE")
        _await_ready(self._node, self.ready_file, self._log("node"))
        self._control_url = str(_facts(self.ready_file)["control_url"])
        return time.monotonic() - began

    def kill_node(self) -> None:
        """Kill the node by SIGKILL."""
        self._end_node()

    def stop_node(self) -> None:
        """Stop the node. NodeNotStarted: it does not end in order."""
        if self._node is not None:
            self._node.terminate()
            if self._node.wait(START_SECONDS) != 0:
                raise NodeNotStarted(f"the node ended with {self._node.returncode}: {_last_line(self._log('node'))}")
            self._node = None

    def pause_node(self, seconds: float) -> None:
        """Suspend the node by SIGSTOP for a while."""
        if self._node is not None:
            _pause(self._node, seconds)

    def set_clock(self, offset: int) -> None:
        """Set the offset of the node's clock in seconds."""
        with client(timeout=CONTROL_SECONDS) as http:
            http.post(f"{self._control_url}/clock", json={"offset_seconds": offset}).raise_for_status()

    def verified_ledger(self) -> str:
        """The faults that `ledger verify` reports; empty where there are none."""
        command = [*NODE_PROGRAM, "ledger", "verify", str(self.ledger)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own module
        return "" if done.returncode == 0 else (done.stderr or done.stdout).strip() or "it ended with no words"

    def _end_node(self) -> None:
        if self._node is not None:
            self._node.kill()
            self._node.wait()
            self._node = None

    def _node_command(self) -> list[str]:
        options = ["--host", "127.0.0.1", "--port", str(self._port), "--control", "--ready-file", str(self.ready_file)]
        options += ["--rpc-url", f"{self.chain.url}/rpc", "--ledger", str(self.ledger), *self._root_secret]
        options += ["--payments", "stripe", "--stripe-api-base", self.provider.url]
        return [*self._program, "serve", *options, "--starter-credits", str(STARTER_CENTS)]

    # -------------------------------------------------------------------------------------------------- around it

    def pause_chain(self, seconds: float) -> None:
        """Suspend the chain by SIGSTOP for a while: it accepts connections and does not answer."""
        _pause(self._chain, seconds)

    def _start_surroundings(self, started: ExitStack) -> None:
        files = {name: self._folder / f"{name}.json" for name in ("chain", "provider")}
        chain = ["serve", "--host", "127.0.0.1", "--port", "0", "--payments", "none", *self._root_secret]
        provider = ["stripe-simulator", "--port", "0"]
        self._chain = self._surrounding(started, "chain", chain)
        process = self._surrounding(started, "provider", provider, "STRIPE_SIMULATOR")
        ports = []
        for name, running in (("chain", self._chain), ("provider", process)):
            _await_ready(running, files[name], self._log(name))
            ports.append(urlsplit(str(_facts(files[name])["base_url"])).port or 0)
        self.chain, self.provider = Relay(ports[0]), Relay(ports[1])
        started.callback(self.provider.cut)
        started.callback(self.chain.cut)

    def _surrounding(
        self, started: ExitStack, name: str, options: Sequence[str], keys_of: str = ""
    ) -> subprocess.Popen[bytes]:
        ready = str(self._folder / f"{name}.json")
        process = self._popen(name, [*NODE_PROGRAM, *options, "--ready-file", ready], keys_of)
        started.callback(process.wait)
        started.callback(process.kill)
        return process

    def _popen(self, name: str, command: Sequence[str], keys_of: str = "") -> subprocess.Popen[bytes]:
        """Start a process; it gets the provider's keys in variables that begin so."""
        keys = {f"{keys_of}_{kind}": key for kind, key in self._keys.items()} if keys_of else {}
        with self._log(name).open("wb") as log:
            return subprocess.Popen(  # noqa: S603 - our own modules
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment_of_nodes() | keys,
                start_new_session=True,  # Ctrl-C goes to the campaign, which then ends them
                preexec_fn=end_with_parent,  # noqa: PLW1509 - greenlets are no threads
            )

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.log"


def _pause(process: subprocess.Popen[bytes], seconds: float) -> None:
    process.send_signal(signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        process.send_signal(signal.SIGCONT)


def _await_ready(process: subprocess.Popen[bytes], ready: Path, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while not ready.exists():
        if process.poll() is not None:
            raise NodeNotStarted(f"a bundled process ended with status {process.returncode}: {_last_line(log)}")
        if time.monotonic() > until:
            raise NodeNotStarted(f"a bundled process was not ready within {START_SECONDS:.0f} s")
        time.sleep(0.02)


def _facts(ready: Path) -> dict[str, object]:
    facts: dict[str, object] = json.loads(ready.read_text(encoding="utf-8"))
    return facts


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"


def _lasting_port() -> int:
    """A free port that no other program gets while the node is down: systems choose from 32,768 upwards."""
    while True:
        port = random.randrange(20_000, 32_000)  # noqa: S311 - no secret
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
