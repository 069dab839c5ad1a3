"""The driver `histories`: sends random operations at the same time, and looks for an order that explains all answers.

The acts are those of the driver `model`, and so is the model that must give each answer in that order (`drawing`,
`state`, `answers`). The lists that the acts are about are read at the same time and after them (`play`). Where no
order explains what was answered (`conformance.service.histories`), the history is shrunk (`shrink`) and told as a table
of who asked for what when (`told`), with the requirements that it contradicts (`blame`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random

from conformance.drivers.histories.blame import contradicted
from conformance.drivers.histories.drawing import Acts, Drawing
from conformance.drivers.histories.form import HistoriesCase
from conformance.drivers.histories.play import Failed, HistoryPlay
from conformance.drivers.histories.shrink import Shrinking
from conformance.drivers.histories.told import told_state
from conformance.drivers.model.acts import Act
from conformance.drivers.model.ruling import ExpectedOutcomeRules
from conformance.drivers.model.views import LISTS
from conformance.drivers.model.world import World
from conformance.drivers.steps.caserun import CaseRun
from conformance.language.templates import CompileContext
from conformance.problems import Departure, Mismatch, SetupFailed
from conformance.service.execution_rule import ANY
from conformance.service.histories import table
from conformance.service.reads import RecentReads

__all__ = ["HistoriesCase", "compile_histories"]

USES = ("accounts.credits", "wire.paging.first_page_number", "wire.list_groups.item_fields.name")


def compile_histories(form: HistoriesCase, context: CompileContext) -> Callable[[CaseRun], None]:
    """Compile a case, which plays histories until one fails."""
    info = context.info
    info.drawn = True
    info.needs.add("managed_accounts")
    info.uses |= {*USES}
    operations = {*form.before, *(operation for row in form.rounds for operation in row)}
    info.operations |= {"new_account", "list_wallets_in_group", *LISTS.values(), *operations}

    def program(run: CaseRun) -> None:
        HistoriesRun(form, run).play_histories()

    return program


class HistoriesRun:
    """One run of a case."""

    def __init__(self, form: HistoriesCase, run: CaseRun) -> None:
        self._form, self._run = form, run
        self._rules = ExpectedOutcomeRules(run.target.profile)
        self._played = 0
        self._begin_empty = False
        """Whether a history found that all lists of new accounts are empty."""

    def play_histories(self) -> None:
        """Play histories, one unless `--budget` says otherwise. Raises Departure for a failing one."""
        extent = self._run.target.extent
        for number in range(1, (extent.budget or 1) + 1):
            acts, failed = self._drawn(number)
            if failed is not None:
                if not extent.until_wrong:
                    named = contradicted(failed)
                    shrinking = Shrinking(lambda shorter: self._again(shorter, named))  # noqa: B023 - called here
                    acts, failed = shrinking.shortest(acts, failed)
                raise self._departure(number, acts, failed)
            self._run.log.forget()

    def _drawn(self, number: int) -> tuple[Acts, Failed | None]:
        """Draw a history while it is played: what acts mean depends on the state before them."""
        random = Random(f"{self._run.seed}{number}")  # noqa: S311 - repeatable choices
        drawing = Drawing(self._rules, random)
        rounds = [*self._form.rounds]
        if number > 1:
            random.shuffle(rounds)

        def before(world: World) -> Iterator[Act]:
            drawn = (drawing.one(operation, world) for operation in self._form.before)
            return (act for act in drawn if act is not None)

        return self._play(before, [partial(drawing.round, row) for row in rounds])

    def _again(self, acts: Acts, named: Sequence[str]) -> tuple[Acts, Failed] | None:
        """Play those acts that still have their objects; how they fail, if they contradict one of these again."""

        def before(world: World) -> Iterator[Act]:
            return (act for act in acts.before if _is_known(act, world) and self._rules.reasons(act, world) == ())

        sent, failed = self._play(before, [partial(_known, row) for row in acts.rounds])
        return (sent, failed) if failed is not None and {*contradicted(failed)} & {*named} else None

    def _play(
        self, before: Callable[[World], Iterator[Act]], rounds: Sequence[Callable[[World], Sequence[Act]]]
    ) -> tuple[Acts, Failed | None]:
        """Play a history until a round fails; the acts that were sent until then."""
        self._played += 1
        branch = self._run.branch(f"history {self._played}")
        branch.recent_reads = RecentReads(branch.log)
        play = HistoryPlay(branch, self._rules, begins_empty=self._begin_empty)
        try:
            prepared = play.prepare(before)
        except Departure as problem:
            if problem.judged:
                raise
            raise SetupFailed.of(problem) from problem
        self._begin_empty = play.begins_empty
        sent: list[tuple[Act, ...]] = []
        for acts in rounds:
            together, failed = play.round(acts(play.world))
            sent += [together] if together else []
            if failed is not None:
                return Acts(prepared, tuple(sent)), failed
        return Acts(prepared, tuple(sent)), None

    def _departure(self, number: int, acts: Acts, failed: Failed) -> Departure:
        names = {name for act in acts.rounds[-1] for name in (act.group, act.key, act.action) if name}
        states = dict.fromkeys(told_state(state, failed.explanations.account, names) for state in failed.before)
        expected = f"an order of these requests that explains all answers, from {' or '.join(states)}"
        problem = Mismatch(expected, table(failed.history), self._run.last_exchange)
        known = tuple(name for name in contradicted(failed) if name in self._form.requirements)
        problem.requirements = known or tuple(self._form.requirements)
        problem.step = f"history {number}, round {len(acts.rounds)}"
        return problem


def _known(acts: Sequence[Act], world: World) -> list[Act]:
    """The acts whose objects there are, or were."""
    return [act for act in acts if _is_known(act, world)]


def _is_known(act: Act, world: World) -> bool:
    """Whether there are, or were, all objects that the act names."""
    account = world.accounts[act.account]
    groups = {*account.groups, *account.gone, "", ANY}
    arrays = (group for _, array in act.permissions.arrays for group in array)
    return (
        {act.group, *arrays} <= groups
        and act.by in {act.account, *account.keys}
        and act.key in {"", *account.keys}
        and {act.wallet, *act.wallets} <= {"", ANY, *account.wallets}
    )
