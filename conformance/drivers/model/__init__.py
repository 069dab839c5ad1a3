"""The driver `model`: plays random sequences of operations and compares the node with a model after each step.

Drawn numbers (`search`) become acts by the model's state (`acts`, `world`). The specification and the profile decide
the outcome of each (`ruling`, `effects`, `plan`). Acts are sent as steps of a pack (`script`), and after each the
lists and the contract's views are compared (`views`, `play`). A failing sequence is shrunk and written as a pack
(`replay`), with the requirements that it contradicts (`blame`).
"""

from __future__ import annotations

from collections.abc import Callable

from conformance.drivers.model.form import ModelCase
from conformance.drivers.model.plan import Planned, Planner
from conformance.drivers.model.play import Failed, Play, fresh_run
from conformance.drivers.model.replay import replay_case, replay_text
from conformance.drivers.model.ruling import ExpectedOutcomeRules
from conformance.drivers.model.script import SOURCE, Script
from conformance.drivers.model.search import SHRINKING, Search
from conformance.drivers.model.views import LISTS
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.driver import compile_case
from conformance.language.form import Members
from conformance.language.models import StepsCase
from conformance.language.runs import RESPONSE_FORM
from conformance.language.templates import CompileContext
from conformance.problems import Departure, NothingAsserted, SetupFailed
from conformance.profile import Profile
from conformance.service.action_sources import MEMBER, needs

__all__ = ["ModelCase", "compile_model"]

INSIDE = ("list_wallets_in_group",)


def compile_model(form: ModelCase, context: CompileContext) -> Callable[[CaseRun], None]:
    """Compile a case, which plays sequences until one fails."""
    info = context.info
    info.drawn = True
    info.needs.add("managed_accounts")
    info.uses |= {"accounts.credits", "wire.paging.first_page_number"}
    info.operations |= {"new_account", *LISTS.values(), *INSIDE, *form.operations}
    if "run_action" in form.operations:
        info.operations.add("get_action_ipfs_id")
        info.uses |= {MEMBER, RESPONSE_FORM, *needs(SOURCE).uses}

    def program(run: CaseRun) -> None:
        ModelRun(form, context, run).play_sequences()

    return program


class ModelRun:
    """One run of a case."""

    def __init__(self, form: ModelCase, context: CompileContext, run: CaseRun) -> None:
        profile = run.target.profile
        self._form, self._context, self._run = form, context, run
        self._chain = _chain_can_be_asked(profile)
        self._script = Script(profile, runs="run_action" in form.operations, chain=self._chain)
        self._planner = Planner(ExpectedOutcomeRules(profile), form.accounts, tuple(form.operations), form.usage_keys)
        self._played = 0
        self._begin_empty = False
        """Whether a sequence found that all lists of new accounts are empty."""

    def play_sequences(self) -> None:
        """Play sequences. Raises Departure for a failing one, Inconclusive where the search ended early without one."""
        extent = self._run.target.extent
        sequences = extent.budget or self._form.sequences
        shrinking = 0 if extent.until_wrong else SHRINKING
        search = Search(self._planner, self._play, self._form.steps, shrinking)
        for number in range(1, sequences + 1):
            search.run(f"{self._run.scope.seed}{number}")
            if search.shortest is not None:
                raise self._departure(number, *search.shortest)
            if search.trouble is not None:
                raise search.trouble
            self._run.log.forget()

    def _play(self, plan: tuple[Planned, ...], only: str | None) -> Failed | None:
        self._played += 1
        run, context = fresh_run(self._run, self._context, f"playing {self._played}")
        rules, accounts = self._planner.rules, self._form.accounts
        play = Play(run, context, self._script, rules, accounts, self._chain, only, begins_empty=self._begin_empty)
        failed = play.play(plan)
        self._begin_empty = play.begins_empty
        return failed

    def _departure(self, number: int, plan: tuple[Planned, ...], failed: Failed) -> Departure:
        """The failure with its replay, which is run once more and left out where it does not fail again."""
        known = tuple(name for name in failed.requirements if name in self._form.requirements)
        source = self._run.scope.seed.rstrip("/").rpartition("/")[2]
        title = f"{len(plan)} acts in sequence {number}, after which the node and the model disagree"
        for steps in (failed.essential, failed.everything):
            case = replay_case(steps, title, known or self._form.requirements, ["chain_rpc"] if self._chain else [])
            problem = self._shown_by(case)
            if problem is not None:
                seed = self._run.target.seed
                problem.replay = replay_text(case, source=source, number=number, seed=seed)
                return _with(problem, known, f"the replay of sequence {number}, {problem.step}")
        return _with(failed.problem, known, f"sequence {number}, act {failed.acts}, and not when repeated alone")

    def _shown_by(self, case: Members) -> Departure | None:
        _, context = fresh_run(self._run, self._context, "replay")
        program = compile_case(StepsCase.model_validate(case), context)
        try:
            context.check()
        except NothingAsserted:
            return None  # no step that can fail is left
        self._run.accepted = {}
        try:
            program(self._run)
        except Departure as problem:
            return problem
        except SetupFailed:
            pass
        return None


def _with(problem: Departure, requirements: tuple[str, ...], step: str) -> Departure:
    problem.requirements = requirements
    problem.step = step
    return problem


def _chain_can_be_asked(profile: Profile) -> bool:
    """Whether the chain answers and the profile states how keys are hashed for the contract."""
    return profile.offers("chain_rpc") and None not in (
        profile.chain.abi.account,
        profile.crypto.api_key_hash_preimage,
        profile.crypto.usage_key_hash_preimage,
    )
