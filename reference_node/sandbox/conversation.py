"""The node's side of one run. Every received frame is untrusted: its size, count, shape and time are checked."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from reference_node.json_depth import depth
from reference_node.sandbox.engine import response_too_long
from reference_node.sandbox.frames import Kind
from reference_node.sandbox.limits import Limits
from reference_node.sandbox.logs import Logs
from reference_node.sandbox.outcome import HostCall, HostError, RunResult, SandboxBroken
from reference_node.sandbox.stream import Stream, TimeUp, Violation
from reference_node.sandbox.use import Scheduled, Use

if TYPE_CHECKING:
    from reference_node.strict_json import Json

BEGIN_SECONDS = 30.0
"""How long a forked process may take to lock itself down and read the script."""

HEAD_START_SECONDS = 0.25
"""After this time a run gets a lower priority than short runs."""

DELAY_SECONDS = 0.25
"""Each second is charged so much later than it begins: for so long a process may have waited for the processor."""

SHORTEST_WAIT_SECONDS = 0.01

CALLS = ("getPrivateKey", "signMessage", "signDigest")

CALL_BYTES = 64
"""The bytes of a call's frame besides the argument: its number and name."""

NEXT_SECOND_UNPAID = "credits spent: the account can't pay for another second"


class _Ended(Exception):  # noqa: N818 - an outcome
    """The run is over, with this error."""


class Conversation:
    """Sends a script to a process and serves it until it answers or reaches a limit."""

    def __init__(
        self,
        stream: Stream,
        limits: Limits,
        host: HostCall,
        each_second: Callable[[int], bool] | None,
        step_behind: Callable[[], None] = lambda: None,
        scheduled: Callable[[], Scheduled] = lambda: Scheduled(0.0, 0.0),
    ) -> None:
        self._stream = stream
        self._limits = limits
        self._host = host
        self._each_second = each_second or (lambda _: True)
        self._logs = Logs(limits.log_bytes)
        self._lines = 0
        self._calls = 0
        self._second = 1
        self._step_behind = step_behind
        self._use = Use(scheduled)
        self._ahead = True
        self.process_died = False
        """Whether the run ended because its process did."""

    def begin(self, code: str, parameters: str) -> None:
        """Send the script. Raises `SandboxBroken`, and `EOFError` if the process ended before it evaluated anything."""
        self._stream.send(Kind.PARAMETERS, parameters)
        self._stream.send(Kind.CODE, code)
        try:
            first = self._stream.receive(time.monotonic() + BEGIN_SECONDS)
        except (TimeUp, Violation) as fault:
            raise SandboxBroken("a process did not begin its run in time") from fault
        if first != (Kind.BEGUN, b""):
            raise SandboxBroken("a process sent something else before it began its run")
        self._use.begin()

    def finish(self) -> RunResult:
        """Serve the run to its end. Raises the host's exceptions except `HostError`."""
        try:
            response, error = self._serve(), None
        except _Ended as end:
            response, error = None, str(end)
        except Violation as fault:
            response, error = None, f"the run broke a rule of the sandbox: {fault}"
        except EOFError:
            self.process_died = True
            response, error = None, "the run's process died: it used up its memory or broke a rule of the sandbox"
        if error != NEXT_SECOND_UNPAID and not self._paid(self._use.seconds()) and error is None:
            response, error = None, NEXT_SECOND_UNPAID
        return RunResult(response, self._logs.text(error), error is not None, self._use.most)

    def _serve(self) -> str:
        while True:
            kind, payload = self._next()
            if kind is Kind.LOG:
                self._log(payload)
            elif kind is Kind.CALL:
                self._call(payload)
            elif kind is Kind.RESPONSE:
                return self._response(payload)
            elif kind is Kind.ERROR:
                raise _Ended(_text(payload)[: self._limits.error_bytes])
            else:
                raise Violation("a frame that only the node sends")

    def _next(self) -> tuple[Kind, bytes]:
        """The next frame. Each second that begins before it arrives must be paid for."""
        while True:
            use = self._use.seconds()
            if self._ahead and use >= HEAD_START_SECONDS:
                self._ahead = False
                self._step_behind()
            if not self._paid(use - DELAY_SECONDS):
                raise _Ended(NEXT_SECOND_UNPAID)
            if use >= self._limits.wall_seconds:
                raise _Ended(f"the run took too long: the limit is {self._limits.wall_seconds:g} s")
            left = self._limits.elapsed_seconds - self._use.elapsed()
            if left <= 0:
                raise _Ended(f"the run took too long beside others: the limit is {self._limits.elapsed_seconds:g} s")
            if self._stream.total > self._limits.sent_bytes:
                raise _Ended(f"the run sent too much: the limit is {self._limits.sent_bytes} bytes")
            next_event = HEAD_START_SECONDS if self._ahead else self._second + DELAY_SECONDS
            wait = min(max(min(next_event, self._limits.wall_seconds) - use, SHORTEST_WAIT_SECONDS), left)
            try:
                return self._stream.receive(time.monotonic() + wait)
            except TimeUp:
                continue

    def _paid(self, use: float) -> bool:
        """Whether every started second is paid for."""
        while self._second <= use and self._second < self._limits.wall_seconds:
            self._second += 1
            if not self._each_second(self._second):
                return False
        return True

    def _log(self, payload: bytes) -> None:
        self._lines += 1
        if self._lines > self._limits.log_bytes + 2:  # an honest run stops after the first line that does not fit
            raise Violation("too many lines of logs")
        self._logs.add(_text(payload))

    def _call(self, payload: bytes) -> None:
        self._calls += 1
        if self._calls > self._limits.host_calls:
            raise _Ended(f"too many uses of wallets: the limit is {self._limits.host_calls} in one run")
        if len(payload) > self._limits.argument_bytes + CALL_BYTES:
            raise _Ended(f"an argument is too long: the limit is {self._limits.argument_bytes} bytes of JSON")
        match _parsed(payload):
            case [int(number), str(name), dict(argument)] if name in CALLS:
                self._stream.send(Kind.ANSWER, json.dumps({"id": number} | self._ask(name, argument)))
            case _:
                raise Violation("a call of nothing that can be called")

    def _ask(self, name: str, argument: dict[str, Json]) -> dict[str, Json]:
        with self._use.of_host():
            try:
                return {"value": self._host(name, argument)}
            except HostError as error:
                return {"error": str(error)}

    def _response(self, payload: bytes) -> str:
        if len(payload) > self._limits.response_bytes:
            raise _Ended(response_too_long(self._limits))
        text = payload.decode("utf-8", "replace")
        if depth(text) > self._limits.response_depth:
            raise _Ended(f"the response nests too deep: the limit is {self._limits.response_depth} levels")
        value = _parsed(payload)
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise _Ended("the response holds half of a surrogate pair, which is no Unicode text") from None
        return text


def _parsed(payload: bytes) -> Json:
    """Exactly one JSON value."""
    try:
        value: Json = json.loads(payload.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Violation("a frame that is not JSON") from None
    return value


def _refuse_constant(name: str) -> Json:
    raise ValueError(name)


def _text(payload: bytes) -> str:
    """A JSON string."""
    text = _parsed(payload)
    if not isinstance(text, str):
        raise Violation("a frame that is no text")
    return text.encode("utf-8", "replace").decode()
