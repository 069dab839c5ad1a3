"""Runs scripts, each in its own process, with fair turns among accounts."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from reference_node.sandbox.conversation import Conversation
from reference_node.sandbox.limits import Limits
from reference_node.sandbox.outcome import HostCall, RunResult, SandboxBroken, SandboxUnavailable
from reference_node.sandbox.slots import Account, FairSlots
from reference_node.sandbox.stream import Stream
from reference_node.sandbox.warm import DEATH_SECONDS, SPARES, Forked, Zygote

WORKERS = 16
"""Concurrent runs: several for each CPU, since runs wait for wallet calls and accounts share the slots."""


ATTEMPTS = SPARES
"""How often to retry a run whose process ended before it had the script: all spares may have been killed."""


class _NotBegun(SandboxBroken):
    """The process of a run ended before it had the whole script."""


class Sandbox:
    """Runs scripts. Thread-safe. The first run starts the sandbox, unless `start` was called."""

    def __init__(
        self,
        limits: Limits = Limits(),  # noqa: B008 - frozen
        *,
        title: str = "Service",
        preload: Sequence[Path] = (),
        insecure: bool = False,
        workers: int = WORKERS,
    ) -> None:
        self.limits = limits
        self._title = title
        self._preload = preload
        self._insecure = insecure
        self._slots = FairSlots(workers, limits)
        self._lock = threading.Lock()
        self._zygote: Zygote | None = None
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def process(self) -> int | None:
        """The id of the warm process, if it runs; used for measurements."""
        with self._lock:
            return None if self._zygote is None else self._zygote.process_id

    def start(self) -> None:
        """Start the warm process. Raises `SandboxUnavailable` and `SandboxBroken`."""
        self._warm()

    def run(
        self,
        code: str,
        params: str,
        host: HostCall,
        account: Account,
        each_second: Callable[[int], bool] | None = None,
        paying: bool = True,
    ) -> RunResult:
        """Call the script's `main` with `params` (JSON text).

        `host` answers wallet calls. The run takes a turn of `account`; `paying` accounts have priority. `each_second`
        is called with n when second n of the run begins, from 2 on; False ends the run. Raises `SandboxBusy`,
        `SandboxBroken`, `SandboxUnavailable`, and the host's exceptions except `HostError`.
        """
        with self._slots.slot(account, paying=paying):
            for left in range(ATTEMPTS, -1, -1):
                zygote, forked = self._take()
                try:
                    return self._converse(zygote, forked, code, params, host, each_second)
                except _NotBegun:
                    if not left and not zygote.gone(DEATH_SECONDS):  # a new warm process has fresh spares
                        raise
                finally:
                    forked.close()
        raise SandboxBroken("every process ended before its run")

    def close(self) -> None:
        """Stop all processes. Runs in progress raise `SandboxBroken`."""
        self._slots.close()
        with self._lock:
            self._closed = True
            zygote, self._zygote = self._zygote, None
        if zygote is not None:
            zygote.close()

    def _converse(
        self,
        zygote: Zygote,
        forked: Forked,
        code: str,
        params: str,
        host: HostCall,
        each_second: Callable[[int], bool] | None,
    ) -> RunResult:
        stream = Stream(forked.connection, self.limits.frame_bytes)
        conversation = Conversation(stream, self.limits, host, each_second, forked.step_behind, forked.scheduled)
        try:
            conversation.begin(code, params)
        except EOFError:
            raise _NotBegun("a process ended before its run") from None
        zygote.replenish()
        result = conversation.finish()
        if conversation.process_died and zygote.gone(DEATH_SECONDS):
            raise SandboxBroken("the warm process ended during the run")
        return result

    def _take(self) -> tuple[Zygote, Forked]:
        """Take a process for a run; retry if spares or the warm process have died."""
        for _ in range(ATTEMPTS):
            zygote = self._warm()
            try:
                return zygote, zygote.take()
            except SandboxBroken:
                zygote.gone(DEATH_SECONDS)  # its death may take a moment to show
        zygote = self._warm()
        return zygote, zygote.take()

    def _warm(self) -> Zygote:
        with self._lock:
            if self._closed:
                raise SandboxBroken("the sandbox is closed")
            if self._zygote is not None and self._zygote.gone():
                self._zygote.close()
                self._zygote = None
            if self._zygote is None:
                self._zygote = self._start()
            return self._zygote

    def _start(self) -> Zygote:
        if sys.platform != "linux":
            raise SandboxUnavailable("actions run on Linux alone: their sandbox is made of its system calls")
        zygote = Zygote(self._title, self.limits, [_read(file) for file in self._preload])
        missing = zygote.report["no_seccomp"]
        if missing is not None and not self._insecure:
            zygote.close()
            raise SandboxUnavailable(
                f"{missing}, and without seccomp, code that breaks the engine can do what this process can:"
                " install libseccomp, or accept that by --insecure-sandbox"
            )
        if missing is not None:
            print(f"WARNING: {missing}. Actions run WITHOUT seccomp: run none that you don't trust.", file=sys.stderr)
        zygote.replenish()
        return zygote


def _read(file: Path) -> tuple[str, str]:
    try:
        return file.name, file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        raise SandboxUnavailable(f"{file} can't be preloaded: {fault}") from None
