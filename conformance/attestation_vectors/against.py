"""Holds the attestation vectors against a command, and says where it is too generous or too strict.

A crash, a time-out or an answer that is none is neither: the command is started again for the next vector.
"""

from __future__ import annotations

import asyncio
import shlex
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from conformance.attestation_vectors.files import Vector
from conformance.attestation_vectors.protocol import (
    START,
    Answer,
    Hello,
    Result,
    line,
    read_answer,
    read_hello,
    request,
)
from conformance.problems import Problem

LONGEST_ANSWER = 1 << 20
"""Bytes of a line that a command answers."""
PATIENCE = 10.0
"""Seconds for one vector."""
START_PATIENCE = 60.0
"""Seconds until a command says what it is: some compile themselves first."""


class Verdict(StrEnum):
    """How a command fares with a vector."""

    AGREES = "agrees"
    TOO_GENEROUS = "too generous"
    TOO_STRICT = "too strict"
    CRASHED = "crashed"
    TIMED_OUT = "timed out"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True)
class Judged:
    """A vector and how the command fared with it."""

    vector: Vector
    verdict: Verdict
    detail: str


@dataclass(frozen=True)
class Comparison:
    """A command and all vectors of the kinds that it judges."""

    implementation: str
    judged: Sequence[Judged]
    others: int
    """Vectors of kinds, or with a policy, that it does not judge."""

    def having(self, *verdicts: Verdict) -> list[Judged]:
        """What came out in one of these ways."""
        return [judged for judged in self.judged if judged.verdict in verdicts]


class CrashError(Exception):
    """The command ended, or answered something that is no answer."""


def compare(command: str, vectors: Iterable[Vector], patience: float = PATIENCE) -> Comparison:
    """Ask a command about vectors. Problem: it cannot be started, or does not speak the protocol."""
    words = shlex.split(command)
    if not words:
        raise Problem("--against needs a command, not an empty text")
    return asyncio.run(_compare(words, list(vectors), patience))


async def _compare(words: Sequence[str], vectors: Sequence[Vector], patience: float) -> Comparison:
    judged: list[Judged] = []
    hello: Hello | None = None
    left = list(reversed(vectors))
    while left or hello is None:
        async with _running(words) as process:
            hello = await _hello(process, words)
            left = [vector for vector in left if hello.judges(vector)]
            while left:
                judged.append(await _judged(process, left.pop(), patience))
                if judged[-1].verdict in {Verdict.CRASHED, Verdict.TIMED_OUT}:
                    break
    return Comparison(hello.implementation, judged, len(vectors) - len(judged))


@asynccontextmanager
async def _running(words: Sequence[str]) -> AsyncIterator[Process]:
    start = partial(asyncio.create_subprocess_exec, *words, limit=LONGEST_ANSWER)
    try:
        process = await start(stdin=PIPE, stdout=PIPE, stderr=DEVNULL)
    except OSError as fault:
        raise Problem(f"--against {shlex.join(words)}: {fault.strerror or fault}") from None
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def _hello(process: Process, words: Sequence[str]) -> Hello:
    try:
        return read_hello(await _asked(process, line(START), START_PATIENCE))
    except TimeoutError:
        fault: object = f"no answer to `start` within {START_PATIENCE:.0f} s"
    except (CrashError, ValueError) as problem:
        fault = problem
    raise Problem(f"--against {shlex.join(words)}: {fault} (docs/attestation-vectors.md describes the protocol)")


async def _judged(process: Process, vector: Vector, patience: float) -> Judged:
    try:
        answer = read_answer(await _asked(process, line(request(vector)), patience), vector.id)
    except TimeoutError:
        return Judged(vector, Verdict.TIMED_OUT, f"no answer within {patience:g} s")
    except (CrashError, ValueError) as problem:
        return Judged(vector, Verdict.CRASHED, str(problem))
    return Judged(vector, verdict_of(vector, answer), answer.detail)


def verdict_of(vector: Vector, answer: Answer) -> Verdict:
    """What an answer means for a vector."""
    if answer.result is Result.UNSUPPORTED:
        return Verdict.UNSUPPORTED
    if answer.result.value == vector.result:
        return Verdict.AGREES
    return Verdict.TOO_GENEROUS if answer.result is Result.ACCEPTED else Verdict.TOO_STRICT


async def _asked(process: Process, message: bytes, patience: float) -> bytes:
    """The line that a process answers. TimeoutError, CrashError: it does not."""
    if process.stdin is None or process.stdout is None:
        raise AssertionError("a process without pipes")
    async with asyncio.timeout(patience):
        try:
            process.stdin.write(message)
            await process.stdin.drain()
            answer = await process.stdout.readline()
        except (ConnectionError, ValueError) as fault:
            raise CrashError(f"the command stopped talking: {fault}") from fault
        if not answer.endswith(b"\n"):
            raise CrashError(f"the command ended with exit code {await process.wait()}")
    return answer


DIFFERENCES = (Verdict.TOO_GENEROUS, Verdict.TOO_STRICT, Verdict.CRASHED, Verdict.TIMED_OUT)


def differences(comparison: Comparison) -> Iterator[str]:
    """A line for each vector that the command judges wrongly or not at all, and one that sums up."""
    for judged in comparison.having(*DIFFERENCES):
        flags = ", ".join(judged.vector.flags)
        detail = f" ({' '.join(judged.detail.split())[:120]})" if judged.detail else ""
        subject = f"{judged.vector.topic}: {judged.vector.comment}"
        yield f"{judged.verdict:<12}  {judged.vector.id:<24}  {flags:<16}  {subject}{detail}"
    counts = Counter(judged.verdict for judged in comparison.judged)
    summed = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    others = f"; {comparison.others} of other kinds" if comparison.others else ""
    yield f"{comparison.implementation}: {len(comparison.judged)} vectors: {summed}{others}"


def markdown(comparisons: Sequence[Comparison]) -> str:
    """Flag by flag, how many of the vectors that must be refused each command accepts; then the rest, in sums."""
    flags: Counter[str] = Counter()
    for judged in comparisons[0].judged:
        if judged.vector.result == "refused":
            flags.update(judged.vector.flags)
    heads = ["to be refused", "vectors", *(comparison.implementation for comparison in comparisons)]
    rows = [heads, ["---"] * len(heads)]
    for flag, count in sorted(flags.items()):
        rows.append([flag, str(count), *(_cell(comparison, flag) for comparison in comparisons)])
    for verdict in Verdict:
        heading = {Verdict.AGREES: "**judged rightly**"}.get(verdict, f"**{verdict}**")
        rows.append([heading, "", *(str(len(comparison.having(verdict))) for comparison in comparisons)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _cell(comparison: Comparison, flag: str) -> str:
    if not any(flag in judged.vector.flags for judged in comparison.judged):
        return "not asked"
    generous = sum(flag in judged.vector.flags for judged in comparison.having(Verdict.TOO_GENEROUS))
    return f"{generous} accepted" if generous else ""
