"""The JavaScript engine of one run, and the globals that scripts find.

Nothing here is a security boundary: all of it is the script's, once the script breaks the engine.
"""

from __future__ import annotations

import json
import os
import re
import resource
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import _quickjs  # type: ignore[import-not-found] # its wrapper package starts a thread, which makes fork unsafe

from reference_node.sandbox.limits import KIB, MIB, Limits

if TYPE_CHECKING:
    from reference_node.strict_json import Json

PARTS = ("random", "console", "encoding", "clone", "search_params", "host", "url", "timers", "actions", "main")
"""The files under js/, in the order of their dependencies."""

STACK_BYTES = MIB

RELIEF_BYTES = MIB
"""Memory beyond the limit that is needed to report that the limit was reached."""

NEARLY_ALL = 0.75
"""The part of the memory limit that is resident at least when memory runs out: the allocator keeps some for itself."""

FIRST_LINE = MIB
"""The line of the stack at which js/ begins. Scripts have fewer: the node takes bodies of at most 1 MiB."""
STACK_FRAME = re.compile(r"^    at .*<input>:(\d+):\d+\)?$")

UNSHOWABLE = "(Failed obtaining QuickJS error string. Concurrency issue?)"
"""The wrapper's message for a thrown value that can't be converted to text."""

Emit = Callable[[str, str], None]
Answer = TypeVar("Answer")


class ScriptError(Exception):
    """The text of the value that the script threw."""


class Engine:
    """A context with all globals, ready for one script."""

    def __init__(self, title: str, limits: Limits, emit: Emit) -> None:
        self._limits = limits
        self._memory_limit = 0
        self._peak_before = 0
        self._context = _quickjs.Context()
        self._context.set_max_stack_size(STACK_BYTES)
        callables: dict[str, Callable[..., object]] = {
            "emit": emit,
            "entropy": lambda count: os.urandom(count).hex(),
            "relieve": self._relieve,
        }
        for name, function in callables.items():
            self._context.add_callable(name, function)
        self._operations = self._context.eval(_bootstrap(title, limits, callables))

    def evaluate(self, code: str) -> None:
        """Run the top level of a script. Raises `ScriptError`."""
        self._peak_before = _peak_bytes()
        try:
            self._checked(lambda: self._context.eval(code))
        except (TypeError, UnicodeDecodeError):
            pass  # the value of the last statement has no counterpart in Python; nobody asked for it
        except ValueError:
            raise ScriptError("SyntaxError: the code holds a NUL character") from None

    def ask(self, operation: str, argument: str = "") -> Json:
        """Call an operation of js/. Raises `ScriptError`."""
        answer: Json = self._checked(lambda: self._operations(operation, argument))
        return answer

    def work(self) -> None:
        """Run pending jobs until none is left. Raises `ScriptError`."""
        while self._checked(self._context.execute_pending_job):
            pass

    def never_settles(self) -> str:
        """The error of a main that nothing can settle any more.

        The engine drops a job silently when there is no memory for it, so the error mentions it where that may be so.
        """
        text = "main never settles: nothing is left that it could wait for"
        if self._memory_limit and _peak_bytes() - self._peak_before > self._limits.memory_bytes * NEARLY_ALL:
            text += f", and its memory had come near the limit of {self._limits.memory_bytes / MIB:g} MiB"
        return text

    def seal(self) -> None:
        """Apply the memory limit from now on."""
        self._context.gc()
        self._memory_limit = self._held() + self._limits.memory_bytes
        self._context.set_memory_limit(self._memory_limit)

    def _exhausted(self, nothing_thrown: bool) -> bool:
        """Whether memory ran out. The engine throws null if it can't even create an error."""
        if not self._memory_limit:
            return False
        grown = _peak_bytes() - self._peak_before
        freed_again = nothing_thrown and grown > self._limits.memory_bytes // 8
        return freed_again or self._held() > self._memory_limit - RELIEF_BYTES // 16

    def _held(self) -> int:
        held: int = self._context.memory()["malloc_size"]
        return held

    def _relieve(self, nothing_thrown: bool) -> bool:
        exhausted = self._exhausted(nothing_thrown)
        self._context.set_memory_limit(self._memory_limit + RELIEF_BYTES)
        return exhausted

    def _checked(self, action: Callable[[], Answer]) -> Answer:
        try:
            return action()
        except _quickjs.JSException as fault:
            text = str(fault)
        if self._exhausted(text == "null\n") or text.startswith("InternalError: out of memory"):
            text = out_of_memory(self._limits)
        elif text == UNSHOWABLE:
            text = "[an error that can't be shown]"
        raise ScriptError(_without_own_frames(text.removesuffix("\nundefined")))


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB


def _without_own_frames(text: str) -> str:
    """The message and stack of an error, without frames in js/."""
    lines = text.rstrip("\n").split("\n")
    return "\n".join(line for line in lines if not ((frame := STACK_FRAME.match(line)) and int(frame[1]) >= FIRST_LINE))


def out_of_memory(limits: Limits) -> str:
    """The error of a run that exceeded the memory limit."""
    return f"out of memory: the limit is {limits.memory_bytes / MIB:g} MiB"


def response_too_long(limits: Limits) -> str:
    """The error of a run whose response is over the limit."""
    return f"the response is too long: the limit is {limits.response_bytes} bytes of JSON"


def _bootstrap(title: str, limits: Limits, callables: dict[str, Callable[..., object]]) -> str:
    """A JavaScript expression that installs all globals and returns the function that runs operations."""
    facts = {
        "title": title,
        "firstLine": FIRST_LINE,
        "responseLength": limits.response_bytes,
        "argumentLength": limits.argument_bytes,
        "logLength": limits.log_bytes,
        "errorLength": limits.error_bytes,
        "tooLong": f"is too long: the limit is {limits.argument_bytes} bytes of JSON",
        "outOfMemory": out_of_memory(limits),
        "responseTooLong": response_too_long(limits),
    }
    folder = Path(__file__).with_name("js")
    parts = ",\n".join((folder / f"{name}.js").read_text(encoding="utf-8") for name in PARTS)
    taken = "".join(f"native.{name} = globalThis.{name}; delete globalThis.{name};" for name in callables)
    return (
        "\n" * FIRST_LINE + f"(() => {{ const native = {json.dumps(facts)}; {taken} const operations = {{}};"
        f" for (const part of [{parts}]) Object.assign(operations, part(native));"
        " return (operation, argument) => operations[operation](argument); })()"
    )
