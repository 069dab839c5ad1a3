"""Declares cases in Python: the decorator `@case`, the judge, and the service objects that cases take as arguments.

    @case("groups-have-ids", requirements=["GRP-010"], needs=["managed_accounts"])
    def groups_have_ids(judge: Judge, accounts: Accounts, groups: Groups) -> None:
        \"\"\"Two groups of an account have different ids.\"\"\"
        alice = accounts.new()
        first = groups.add(alice.key)
        with judge("GRP-010"):
            second = groups.add(alice.key)
            judge.that(first.id != second.id, "another id than the first group's", second.id)

A departure inside a judge's block is a failure of the requirements that the block names, and of no others. One outside
is trouble with the set-up, and inconclusive. After one inside `judge.apart(…)` the case goes on, so that one failure
hides no other. Every requirement of a case has to be judged in some block.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, get_type_hints

from pydantic import JsonValue

from conformance.drivers.steps.caserun import CaseRun
from conformance.problems import Departure, Mismatch, SetupFailed, StateChanged, StepProblem, UnjudgedRequirement
from conformance.service.accounts import Accounts
from conformance.service.actions import Actions
from conformance.service.clock import Clock
from conformance.service.contract import Contract
from conformance.service.groups import Groups
from conformance.service.node import Node
from conformance.service.payments import Payments
from conformance.service.pkps import Pkps
from conformance.service.provider_control import ProviderControl
from conformance.service.restarts import Restarts
from conformance.service.runs import Runs
from conformance.service.session import Session
from conformance.service.usage_keys import UsageKeys
from conformance.service.wallets import Wallets
from conformance.values.json_values import MISSING, member, printed, printed_json, same, same_hex, same_hexes, texts
from conformance.values.shown_text import shortened

__all__ = ["Judge", "PythonCase", "case"]

Program: TypeAlias = Callable[[CaseRun], None]
Function = TypeVar("Function", bound=Callable[..., None])
SHOWN = 1_000
"""Characters of a value that a failure shows."""
SHOWN_RIGHT, LONGEST_RIGHT = 3, 200
"""Checks that held beside one that failed, and the characters that tell them."""


class Judge:
    """Assigns parts of a case to requirements, and compares values with what they demand."""

    def __init__(self, session: Session, requirements: Sequence[str]) -> None:
        self._session = session
        self._left = set(requirements)
        self._requirements = tuple(requirements)
        self._failures: list[Departure] = []
        self._began = 0
        """The number of the exchange with which the newest block begins."""
        self._apart: Counter[tuple[str, ...]] = Counter()
        self._departed: dict[Departure, tuple[str, ...]] = {}
        self._held: dict[tuple[str, ...], list[str]] = {}
        """What the blocks apart that judge the same found right."""
        self._compared = ""

    @contextmanager
    def __call__(self, *requirements: str, unchanged: str = "", why: str = "") -> Iterator[None]:
        """A block whose departures are failures of these requirements of the case; without any, of all of them.

        `unchanged` names the requirement that refusals change nothing: a changed state is a failure of that one alone.
        `why` says what the node has to do, without brackets; a failure tells it first.
        """
        named = (*requirements, *filter(None, [unchanged])) or self._requirements
        if unknown := set(named) - set(self._requirements):
            raise UnjudgedRequirement(f"the case does not say that it is about {', '.join(sorted(unknown))}")
        if self._session.judges:
            raise UnjudgedRequirement("a block that judges stands inside another one")
        self._session.judges = True
        self._began = len(self._session.log)
        try:
            yield
        except Departure as problem:
            self._session.reliance.remember_at(problem)
            if why:
                problem.expected = f"{why}: {problem.expected}"
            changed = (unchanged,) if unchanged and isinstance(problem, StateChanged) else requirements or named
            problem.blame(changed)
            raise
        finally:
            self._session.judges = False
        self._left -= set(named)

    @contextmanager
    def apart(self, *requirements: str, unchanged: str = "", why: str = "") -> Iterator[None]:
        """A block that nothing after it depends on: after a departure in it the case goes on, and fails at its end."""
        self._apart[requirements] += 1
        self._compared = ""
        try:
            with self(*requirements, unchanged=unchanged, why=why):
                yield
            self._held.setdefault(requirements, []).append(self._compared)
        except Departure as problem:
            self._failures.append(problem)
            self._departed[problem] = requirements

    def set_up(self, holds: bool, expected: str) -> None:
        """End the case as inconclusive unless a condition of its set-up holds."""
        if not holds:
            number, log = self._session.last_exchange, self._session.log
            last = None if number is None else log.redacted(number)
            got = f"in the last answer status {last.status}: {last.response_body[:SHOWN]}" if last else "something else"
            raise SetupFailed(expected, got, number)

    def same(self, got: object, expected: object, what: str, at: int | None = None) -> None:
        """Compare two JSON values; `what` names the value in the words of the clause.

        `at`: the number of the exchange that shows it; without it the newest of the block that has a text of `got`.
        """
        self._compared = what
        if not same(got, expected):
            raise self._departure(f"{what} to be {printed_json(expected)[:SHOWN]}", got, at)

    def same_hex(self, got: object, expected: object, what: str) -> None:
        """Compare two texts of hex digits, whatever their capitals and the 0x."""
        if not same_hex(got, expected):
            raise self._departure(f"{what} to be {printed(expected)[:SHOWN]}", got)

    def same_hexes(
        self, got: Sequence[object], expected: Sequence[object], what: str, *, any_order: bool = False
    ) -> None:
        """Compare two arrays of hex texts, in this order or in any."""
        if not same_hexes(got, expected, any_order=any_order):
            raise self._departure(f"{what} to be {printed_json(list(expected))[:SHOWN]}", got)

    def members(self, got: object, expected: Mapping[str, object], what: str) -> None:
        """Compare these members of an object; it may have others."""
        self.same({name: member(got, name) for name in expected}, dict(expected), what)

    def items(self, got: Sequence[object], expected: Sequence[Mapping[str, object]], what: str) -> None:
        """Compare an array: as many items, in this order, each with these members."""
        names = [list(item) for item in expected]
        if len(got) != len(expected):
            raise self._departure(f"{what} to be {printed_json([*expected])[:SHOWN]}", got)
        parts = [{name: member(item, name) for name in known} for item, known in zip(got, names, strict=True)]
        self.same(parts, [dict(item) for item in expected], what)

    def distinct(self, values: Sequence[object], what: str) -> None:
        """Compare values with one another: each is there, and no two are the same; `what` names them in the plural."""
        shown = [printed(value) for value in values]
        alike = [number for number, value in enumerate(shown) if shown.count(value) > 1]
        if MISSING in values or alike:
            again = MISSING if MISSING in values else values[alike[0]]
            got = str(MISSING) if again is MISSING else f"{printed(again)}, {shown.count(printed(again))} times"
            raise Mismatch(f"{len(values)} different {what}", got[:SHOWN], self._shown_at(again))

    def that(self, holds: bool, expected: str, got: object) -> None:
        """Raise a departure unless something holds; `expected` says what in the words of the clause."""
        self._compared = expected
        if not holds:
            raise self._departure(expected, got)

    def _departure(self, expected: str, got: object, at: int | None = None) -> Mismatch:
        return Mismatch(expected, printed_json(got)[:SHOWN], self._shown_at(got) if at is None else at)

    def _shown_at(self, got: object) -> int | None:
        """The number of the newest exchange of the block that was answered with a text of this value, else the last."""
        shown = self._session.log.answered_with([*texts(got)], self._began)
        return self._session.last_exchange if shown is None else shown

    def stop(self, problem: StepProblem) -> None:
        """End the case with a problem: one more failure of a block, or trouble that is raised unless a block failed."""
        if isinstance(problem, Departure) and problem.judged:
            self._failures.append(problem)
        elif not self._failures:
            raise SetupFailed.of(problem) if isinstance(problem, Departure) else problem

    def finish(self, step: Callable[[Departure], str]) -> None:
        """Raise the first failure, with the requirements of all failures; `step` locates each one.

        Raises UnjudgedRequirement where a requirement of the case was in no block that went through.
        """
        if self._failures:
            first = self._failures[0]
            for failure in self._failures:
                share = self._share(failure) if failure is first else ""
                failure.step = failure.step or f"{step(failure)}{share}"
            raise Departure.first_of(self._failures)
        if self._left:
            raise UnjudgedRequirement(f"no block of the case judges {', '.join(sorted(self._left))}")

    def _share(self, failure: Departure) -> str:
        """How many of the blocks apart that judge the same as this one failed, where most of several did not.

        With what was right: it tells where the fault is not.
        """
        requirements = self._departed.get(failure)
        if requirements is None:
            return ""
        failed, tried = [*self._departed.values()].count(requirements), self._apart[requirements]
        held = dict.fromkeys(what for what in self._held.get(requirements, []) if what and what not in failure.expected)
        right = [*held][-SHOWN_RIGHT:]
        told = f"; right: {shortened('; '.join(right), LONGEST_RIGHT)}" if right else ""
        return f" ({failed} of {tried} such checks failed{told})" if 2 * failed < tried else ""


SERVICES: Mapping[type, Callable[[CaseRun], object]] = {
    Session: lambda run: run,
    Accounts: Accounts,
    Actions: Actions,
    Clock: lambda run: run.clock,
    Contract: Contract,
    Groups: Groups,
    Payments: Payments,
    Node: Node,
    Pkps: Pkps,
    ProviderControl: ProviderControl,
    Restarts: Restarts,
    Runs: Runs,
    UsageKeys: UsageKeys,
    Wallets: Wallets,
}
"""The arguments that a case may take beside its judge, by type."""


@dataclass(frozen=True)
class PythonCase:
    """A case, from its decorator and its function."""

    id: str
    title: str
    """The first paragraph of the docstring, on one line."""
    requirements: tuple[str, ...]
    needs: tuple[str, ...]
    uses: tuple[str | Mapping[str, JsonValue], ...]
    function: Callable[..., None]
    each: Mapping[str, object] | None = None
    """The values of its argument `row`, by id. It runs once for each."""

    @property
    def line(self) -> int:
        """The line of its file where it begins."""
        return self.function.__code__.co_firstlineno

    @property
    def arguments(self) -> dict[str, object]:
        """The types of its arguments by name. Raises NameError for an annotation that nothing defines."""
        hints = get_type_hints(self.function)
        return {name: hints.get(name) for name in inspect.signature(self.function).parameters}

    def program(self, row: Mapping[str, object]) -> Program:
        """The program that runs it, with the `row` of one row or without."""
        services = {name: kind for name, kind in self.arguments.items() if name not in row}

        def program(run: CaseRun) -> None:
            judge = Judge(run, self.requirements)
            arguments = {name: judge if kind is Judge else SERVICES[kind](run) for name, kind in services.items()}  # type: ignore[index]
            try:
                self.function(**arguments, **row)
            except StepProblem as problem:
                if isinstance(problem, Departure):
                    problem.step = problem.step or self._step(problem)
                judge.stop(problem)
            judge.finish(self._step)

        return program

    def _step(self, problem: Departure) -> str:
        """The line of the case in which the problem came up."""
        file, line, trace = self.function.__code__.co_filename, self.line, problem.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == file:
                line = trace.tb_lineno
            trace = trace.tb_next
        return f"line {line}"


def case(
    id: str,  # noqa: A002 - what it is called everywhere
    *,
    requirements: Iterable[str],
    needs: Iterable[str] = (),
    uses: Iterable[str | Mapping[str, JsonValue]] = (),
    each: Mapping[str, object] | None = None,
) -> Callable[[Function], Function]:
    """Make a function a case of the pack that its file is.

    `id` is in kebab case, `requirements` are ids of the catalogue, `needs` capabilities and `uses` profile keys as in
    packs (docs/packs.md). With `each` it runs once for each of these values, which the argument `row` takes; their
    keys are the ids of the rows. The docstring is the title. What is wrong is told when the file is loaded.
    """

    def mark(function: Function) -> Function:
        title = " ".join((function.__doc__ or "").strip().partition("\n\n")[0].split())
        python_case = PythonCase(id, title, tuple(requirements), tuple(needs), tuple(uses), function, each)
        function.__dict__["conformance_case"] = python_case
        return function

    return mark
