"""Plays a plan on the node: sends its acts, and compares the node with the model after each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import TypeAdapter

from conformance.drivers.model import blame
from conformance.drivers.model.effects import apply
from conformance.drivers.model.plan import Planned
from conformance.drivers.model.ruling import ExpectedOutcomeRules
from conformance.drivers.model.script import Script, StepData
from conformance.drivers.model.views import CHAIN, ChainViews, Look, Views, reading_before
from conformance.drivers.model.world import ACTIONS, Account, World
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.driver import compile_step
from conformance.language.models import Step
from conformance.language.templates import CompileContext
from conformance.problems import Departure
from conformance.service.reads import RecentReads

STEPS: TypeAdapter[Step] = TypeAdapter(Step)
EVERYTHING = frozenset({"groups", "keys", "wallets", "actions"})
WALLETS_INSIDE, ACTIONS_INSIDE = "wallets of a group", "actions of a group"
LISTED = {
    "add_group": frozenset({"groups", WALLETS_INSIDE, ACTIONS_INSIDE}),
    "update_group": frozenset({"groups", WALLETS_INSIDE, ACTIONS_INSIDE}),
    "remove_group": EVERYTHING,
    "add_usage_api_key": frozenset({"keys"}),
    "update_usage_api_key": frozenset({"keys"}),
    "update_usage_api_key_metadata": frozenset({"keys"}),
    "remove_usage_api_key": frozenset({"keys"}),
    "create_wallet": frozenset({"wallets"}),
    "add_action": frozenset({"actions"}),
    "update_action_metadata": frozenset({"actions"}),
    "delete_action": frozenset({"actions", ACTIONS_INSIDE}),
    "add_pkp_to_group": frozenset({WALLETS_INSIDE}),
    "remove_pkp_from_group": frozenset({WALLETS_INSIDE}),
    "add_action_to_group": frozenset({ACTIONS_INSIDE}),
    "remove_action_from_group": frozenset({ACTIONS_INSIDE}),
}
"""The lists that an operation is about. Lists inside groups: those of its group, or all where it names none."""
BESIDE = 1
"""How many lists that an act is not about are read after it, in turn. At the end, all are read."""
ACTS_BETWEEN_CHAIN_LOOKS = 4
"""How many acts lie between reads of the contract's views, which cover what the last act was about. At the end, all
views are read."""
QUESTIONS, LAST_QUESTIONS = 1, 4
"""How many questions about an account the contract's execution rule is asked at such a time, and at the end."""


@dataclass
class Failed:
    """The failure of a plan."""

    acts: int
    """How many of its acts were played."""
    problem: Departure
    what: str
    """The list or view that was wrong; empty where the answer to an act was."""
    aspect: str
    """Its wrong aspect (`Check.aspect`)."""
    requirements: blame.Ids
    essential: list[StepData]
    """The steps that changed state or saved a variable, and those that show the failure."""
    everything: list[StepData]
    """All steps that were played."""


@dataclass
class Play:
    """One playing of one plan, on accounts of its own."""

    run: CaseRun
    context: CompileContext
    script: Script
    rules: ExpectedOutcomeRules
    accounts: int
    chain: bool
    only: str | None = None
    """Compare only this (`Failed.what`), at the end, to show a known failure. Default: everything, after each act."""
    begins_empty: bool = False
    """Whether all lists of new accounts are known to be empty."""
    essential: list[StepData] = field(default_factory=list)
    everything: list[StepData] = field(default_factory=list)

    def play(self, plan: tuple[Planned, ...]) -> Failed | None:
        """Play the plan until it ends or fails. Raises Inconclusive where nothing was learnt."""
        self._world = World.of(self.accounts)
        try:
            self._begin()
        except Departure as problem:
            return self._failed(0, problem, blame.ALWAYS)
        for planned in plan:
            failed = self._act(planned)
            if not planned.refused:
                apply(planned.act, self._world, self.rules)
            if failed is None and self.only is None:
                failed = self._look_all(planned, self._due(planned))
            if failed:
                return failed
        last = plan[-1] if plan else None
        return self._look_all(last, (look for look in self._all() if self.only in {None, look.what}))

    def _begin(self) -> None:
        for step in self.script.beginning(self.accounts):
            self._do(step, essential=True)
        before: dict[str, dict[str, int]] = {}
        profile = self.run.target.profile
        for name in World.of(self.accounts).accounts:
            before[name] = {}
            if self.begins_empty:
                continue
            for what, variable, step in reading_before(name, chain=self.chain, profile=profile):
                if self.only not in {None, what.removeprefix(CHAIN)}:
                    continue
                self._do(step, essential=True)
                value = self.run.scope.variables[variable]
                before[name][what] = len(value) if isinstance(value, list) else 0
        if self.only is None:
            self.begins_empty = not any(count for lists in before.values() for count in lists.values())
        self._views = Views(profile, before)
        self._on_chain = ChainViews(profile, before)

    def _act(self, planned: Planned) -> Failed | None:
        asked = False
        for step in self.script.of(planned):
            try:
                self._do(step, essential=True)
            except Departure as problem:
                ids = blame.of_effect(planned) if asked else blame.of_request(planned)
                return self._failed(planned.number, problem, ids)
            asked = asked or "call" in step
        return None

    def _look_all(self, planned: Planned | None, looks: Iterator[Look]) -> Failed | None:
        for look in looks:
            failed = self._look(planned, look)
            if failed:
                return failed
        return None

    def _look(self, planned: Planned | None, look: Look) -> Failed | None:
        number = planned.number if planned else 0
        try:
            self._do(look.reading)
        except Departure as problem:
            self.essential.append(look.reading)
            return self._failed(number, problem, blame.of_view(planned, look, None), look.what)
        for check in look.checks:
            try:
                self._do(check.step)
            except Departure as problem:
                self.essential += [look.reading, check.step]
                return self._failed(number, problem, blame.of_view(planned, look, check), look.what, check.aspect)
        return None

    def _due(self, planned: Planned) -> Iterator[Look]:
        """What to compare after an act: the lists that it is about, and some that it must not change."""
        account = self._world.accounts[planned.act.account]
        about = LISTED.get(planned.act.operation, frozenset())
        group = planned.act.group or planned.act.makes
        looks = list(self._views.of(account))
        near = [look for look in looks if look.what in about and (not group or look.subject in {"", group})]
        far = [look for look in looks if look not in near]
        start = planned.number * BESIDE
        yield from near + [far[(start + index) % len(far)] for index in range(min(BESIDE, len(far)))]
        if not self.chain or planned.number % ACTS_BETWEEN_CHAIN_LOOKS:
            return
        yield from self._on_chain.of(account, about)
        if group in account.groups:
            yield from self._on_chain.inside(account, group)
        yield from self._questions(account, planned.number, QUESTIONS)

    def _all(self) -> Iterator[Look]:
        for account in self._world.accounts.values():
            yield from self._views.of(account)
            if self.chain:
                yield from self._on_chain.of(account, EVERYTHING)
                for group in account.groups:
                    yield from self._on_chain.inside(account, group)
                yield from self._questions(account, 0, LAST_QUESTIONS)

    def _questions(self, account: Account, turn: int, limit: int) -> Iterator[Look]:
        """Some questions to the contract's execution rule, in turn."""
        asking = [account.name, *account.live_keys()]
        every = [(by, action, wallet) for wallet in account.wallets for by in asking for action in ACTIONS]
        for index in range(min(limit, len(every))):
            by, action, wallet = every[(turn * limit + index) % len(every)]
            yield from self._on_chain.permission(self._world, account, by, action, wallet)

    def _do(self, step: StepData, *, essential: bool = False) -> None:
        self.everything.append(step)
        if essential:
            self.essential.append(step)
        label = f"steps[{len(self.everything)}]"
        compiled = compile_step(STEPS.validate_python(step), self.context, label)
        self.context.check()
        compiled.run(self.run)

    def _failed(self, acts: int, problem: Departure, ids: blame.Ids, what: str = "", aspect: str = "") -> Failed:
        return Failed(acts, problem, what, aspect, ids, self.essential, self.everything)


def fresh_run(run: CaseRun, context: CompileContext, name: str) -> tuple[CaseRun, CompileContext]:
    """A run and a context with variables, step ids and controls of its own.

    Nothing else writes at the same time, so that the last result of a read can be reused.
    """
    branch = run.branch(name)
    branch.accepted = {}
    branch.recent_reads, branch.repeats_reads = RecentReads(branch.log), False
    return branch, CompileContext(context.document, context.vocabulary, context.place)
