"""Searches for a sequence that the node fails, and shrinks it. Hypothesis draws and shrinks."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

from hypothesis import Phase, Verbosity, configuration, find, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from conformance.drivers.model.acts import Act, Drawn
from conformance.drivers.model.plan import Planned, Planner
from conformance.drivers.model.play import Failed
from conformance.problems import Inconclusive

SHRINKING = 80
"""The most sequences that are played to shrink a failing one."""
BYTES = 19
"""The bytes of a drawn act, which uses the first eight. One draw for each act, instead of one for each number, keeps
shrinking fast. Hypothesis now and then draws a constant of the modules that are loaded, and a sequence would hang on
what else runs: no constant of this project is as long.
"""
DRAWS = 10
"""How often Hypothesis draws for one sequence: its first draw is always the simplest."""
Drawing = tuple[bytes, ...]
Plan = tuple[Planned, ...]
Acts = tuple[Act, ...]


class Search:
    """Plays sequences until one fails. Each is drawn from the seed and its number alone."""

    def __init__(
        self,
        planner: Planner,
        play: Callable[[Plan, str | None], Failed | None],
        steps: int,
        shrinking: int = SHRINKING,
    ) -> None:
        """`shrinking` limits the plays that shrink a failing sequence; 0 does not shrink it."""
        self._planner = planner
        self._play = play
        self._steps = steps
        self._drawn: dict[Drawing, bool] = {}
        self._known: dict[Acts, bool] = {}
        self._shrinking = 0
        self._most = shrinking
        self._played = False
        """Whether the current sequence has been played."""
        self.shortest: tuple[Plan, Failed] | None = None
        self.only: str | None = None
        """What has to be compared to show the failure (`Failed.what`); None: everything, after each act."""
        self.trouble: Inconclusive | None = None
        """What ended the search early."""

    def run(self, seed: str) -> None:
        """Draw a sequence and play it. If it fails, shrink it: `shortest`."""
        self._played = False
        how = settings(
            max_examples=DRAWS,
            deadline=None,
            database=None,
            phases=[Phase.generate, Phase.shrink],
            verbosity=Verbosity.quiet,
        )
        drawing = st.tuples(*[st.binary(min_size=BYTES, max_size=BYTES)] * self._steps)
        with files_elsewhere():
            try:
                find(drawing, self._fails, settings=how, random=Random(seed))  # noqa: S311 - repeatable choices
            except NoSuchExample:
                return
        if self._most:
            self._trim()

    def _fails(self, drawn: Drawing) -> bool:
        if drawn not in self._drawn:
            self._drawn[drawn] = not self._over() and self._fails_anew(drawn)
        return self._drawn[drawn]

    def _over(self) -> bool:
        """Whether playing is over. Further draws then count as passing."""
        done = self._played if self.shortest is None else self._shrinking >= self._most
        return done or self.trouble is not None

    def _fails_anew(self, drawn: Drawing) -> bool:
        plan = self._planner.plan([Drawn.of(numbers) for numbers in drawn])
        return self._judged(plan)

    def _judged(self, plan: Plan) -> bool:
        acts = tuple(planned.act for planned in plan)
        if self.shortest is None and len(acts) * 2 < self._steps:
            return False
        if acts not in self._known:
            fails_early = any(self._known.get(acts[:end]) for end in range(len(acts)))
            self._known[acts] = fails_early or self._plays_badly(plan)
        return self._known[acts]

    def _plays_badly(self, plan: Plan) -> bool:
        self._played = True
        self._shrinking += self.shortest is not None
        failed = self._played_with(plan, self.only)
        if failed is not None and self.shortest is None and self._most:
            # Where the comparisons between the acts matter, too, the end alone shows nothing.
            at_the_end = self._played_with(plan[: failed.acts], failed.what)
            self.only = failed.what if at_the_end is not None and at_the_end.aspect == failed.aspect else None
        if failed is not None and self.shortest is not None and failed.aspect != self.shortest[1].aspect:
            return False  # another fault, or another trace of it, which says less about what is wrong
        if failed is not None:
            self._note(plan[: failed.acts], failed)
        return failed is not None

    def _played_with(self, plan: Plan, only: str | None) -> Failed | None:
        try:
            return self._play(plan, only)
        except Inconclusive as problem:
            self.trouble = problem
            return None

    def _trim(self) -> None:
        """Leave out acts one by one while the rest still fails."""
        position = len(self._best())
        while position > 0 and self.trouble is None:
            position -= 1
            rest = [*self._best()[:position], *self._best()[position + 1 :]]
            self._judged(self._planner.plan(rest))
            position = min(position, len(self._best()))

    def _best(self) -> list[Drawn]:
        return [] if self.shortest is None else [planned.drawn for planned in self.shortest[0] if planned.drawn]

    def _note(self, plan: Plan, failed: Failed) -> None:
        self._known[tuple(planned.act for planned in plan)] = True
        if self.shortest is None or len(plan) <= len(self.shortest[0]):
            self.shortest = plan, failed


@contextmanager
def files_elsewhere() -> Iterator[None]:
    """Have Hypothesis keep its files in a temporary folder instead of the working folder."""
    before = getattr(configuration, "__hypothesis_home_directory", None)
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
        configuration.set_hypothesis_home_dir(folder)
        try:
            yield
        finally:
            configuration.set_hypothesis_home_dir(before)
