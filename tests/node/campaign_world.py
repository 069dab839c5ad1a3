"""What stands around the node of the campaign and never dies: the chain, the payment provider, and who starts nodes."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from anvils import anvil_in
from processes import node_process

from reference_node.deployment import Payers
from reference_node.permission.keys import KeyDerivation

START_SECONDS = 120
SECRET = hashlib.sha256(b"the root secret of the campaign").hexdigest()
PAYERS = 16
STARTER_CREDITS = 40
SECRET_KEY, PUBLISHABLE_KEY = "sk_test_campaign", "pk_test_campaign"


@dataclass
class World:
    """Processes around a node that is started over and over again at one address."""

    folder: Path

    def __post_init__(self) -> None:
        self._outside = ExitStack()
        self.ledger = self.folder / "ledger.sqlite"
        self._ended: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._ready = self.folder / "node.json"
        self._node = 0

    def __enter__(self) -> Self:
        with ExitStack() as started:
            anvil = started.enter_context(anvil_in(self.folder / "anvil", "--prune-history"))
            options = ("--control", "--processing-seconds", "0.2")
            keys = ("--secret-key", SECRET_KEY, "--publishable-key", PUBLISHABLE_KEY)
            _, provider = started.enter_context(
                node_process(self.folder / "provider.json", *options, *keys, serves="stripe-simulator")
            )
            self.rpc_url, self.chain_id = anvil.url, int(str(anvil.ask("eth_chainId")), 16)
            self.provider_url, self.provider_control = str(provider["base_url"]), str(provider["control_url"])
            payers = Payers.derived(KeyDerivation(bytes.fromhex(SECRET)), PAYERS)
            anvil.fund(*(f"0x{address.hex()}" for address in payers.addresses))
            self._midwife = self._start_midwife(started)
            threading.Thread(target=self._listen, daemon=True).start()
            self.port = _lasting_port()
            self._outside = started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        with self._outside:
            if self._node:
                with suppress(ProcessLookupError):
                    os.kill(self._node, signal.SIGKILL)

    @property
    def node_url(self) -> str:
        """Where each node listens."""
        return f"http://127.0.0.1:{self.port}"

    def start_node(self, step: str = "", passes: int = 0) -> bool:
        """Start a node, which dies at this step; false where it did before it served anybody."""
        self._ready.unlink(missing_ok=True)
        options = [
            *("--port", str(self.port), "--rpc-url", self.rpc_url, "--payers", str(PAYERS)),
            *("--ready-file", str(self._ready), "--ledger", str(self.ledger)),
            *("--starter-credits", str(STARTER_CREDITS), "--payments", "stripe"),
            *("--stripe-api-base", self.provider_url),
        ]
        assert self._midwife.stdin
        self._midwife.stdin.write(json.dumps({"options": options, "step": step, "passes": passes}) + "\n")
        self._midwife.stdin.flush()
        self._node = self._ended.get(timeout=START_SECONDS)
        deadline = time.monotonic() + START_SECONDS
        while not self._ready.exists():
            if self.node_ended(0.02):
                return False
            assert time.monotonic() < deadline, "the node did not become ready"
        return True

    def node_ended(self, within: float) -> bool:
        """Whether the node dies by itself in so many seconds. Any end but by SIGKILL is a fault of the node."""
        try:
            code = self._ended.get(timeout=within)
        except queue.Empty:
            return False
        assert code == -signal.SIGKILL, f"the node ended with {code}: {(self.folder / 'node.log').read_text()[-1500:]}"
        self._node = 0
        return True

    def kill(self) -> None:
        """End the node at this moment."""
        os.kill(self._node, signal.SIGKILL)
        assert self.node_ended(START_SECONDS)

    def stop(self) -> None:
        """End the node in good order."""
        os.kill(self._node, signal.SIGTERM)
        assert self._ended.get(timeout=START_SECONDS) == 0
        self._node = 0

    def _listen(self) -> None:
        assert self._midwife.stdout
        for line in self._midwife.stdout:
            self._ended.put(int(line))

    def _start_midwife(self, outside: ExitStack) -> subprocess.Popen[str]:
        """Start what forks the nodes, and writes all that they say into one file."""
        secrets = {
            "REFERENCE_NODE_ROOT_SECRET": SECRET,
            "STRIPE_SECRET_KEY": SECRET_KEY,
            "STRIPE_PUBLISHABLE_KEY": PUBLISHABLE_KEY,
        }
        process = subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, str(Path(__file__).with_name("campaign_node.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=outside.enter_context((self.folder / "node.log").open("w")),
            text=True,
            env=os.environ | secrets,
        )
        outside.callback(_end, process)
        return process


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def _lasting_port() -> int:
    """A free port that no other program is given while the node is dead: systems choose from 32,768 upwards."""
    while True:
        port = random.randrange(20_000, 32_000)  # noqa: S311 - no secret
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
