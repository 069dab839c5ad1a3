"""The driver `model`: plays random sequences of operations and compares the node with a model after each step.

Drawn numbers (`search`) become acts by the model's state (`acts`, `world`). The specification and the profile decide
the outcome of each (`ruling`, `effects`, `plan`). Acts are carried out as requests, or as transactions of an admin
wallet (`acting`), and after each the lists and the contract's views are compared (`views`, `play`). A failing sequence
is shrunk and written as a pack (`replay`), with the requirements that it contradicts (`blame`).
"""

from __future__ import annotations

from collections.abc import Callable

from pydantic import JsonValue

from conformance.drivers.model.acting import READS, SOURCE
from conformance.drivers.model.acts import BUYS, CONVERSION, RESTART
from conformance.drivers.model.form import ModelCase
from conformance.drivers.model.plan import Planned, Planner
from conformance.drivers.model.play import Failed, Play
from conformance.drivers.model.replay import replay_text
from conformance.drivers.model.ruling import ExpectedOutcomeRules
from conformance.drivers.model.search import SHRINKING, Search
from conformance.drivers.steps.caserun import CaseRun
from conformance.language.templates import CompileContext
from conformance.problems import Departure
from conformance.profile import Profile
from conformance.service.action_sources import MEMBER, needs
from conformance.service.minting import NEVER
from conformance.service.reads import RecentReads
from conformance.service.runs import RESPONSE_FORM
from conformance.service.session import Session

__all__ = ["ModelCase", "compile_model"]

INSIDE = ("list_wallets_in_group",)
STATED_FOR_CONVERSIONS: dict[str, list[JsonValue]] = {
    "chain.admin_hash_meaning": ["api_key_hash"],
    "billing.credits_after_conversion": ["moved"],
}
"""What the profile has to say so that an owner can go on after a conversion, and runs are paid."""


def compile_model(form: ModelCase, context: CompileContext) -> Callable[[CaseRun], None]:
    """Compile a case, which plays sequences until one fails."""
    info = context.info
    info.drawn = True
    info.needs.add("managed_accounts")
    info.uses |= {"accounts.credits", "wire.paging.first_page_number"}
    info.operations |= {"new_account", *READS.values(), *INSIDE, *form.played} - {RESTART}
    if "run_action" in form.played:
        info.operations.add("get_action_ipfs_id")
        info.uses |= {MEMBER, RESPONSE_FORM, *needs(SOURCE)}
    if CONVERSION in form.played or form.by_wallet:
        info.needs |= {"wallet_signed", "chain_rpc", "funded_wallet"}
        info.uses |= {"chain.abi.writes", "chain.abi.attach", "chain.abi.account", NEVER}
        info.stated += STATED_FOR_CONVERSIONS.items()
    if RESTART in form.played:
        info.needs.add("restart")
        info.alone = True
    if form.credit or BUYS in form.played:
        info.needs |= {"billing"}
        info.uses |= {"wire.billing.fields", "billing.charge_per_call"}
    if BUYS in form.played:
        info.needs |= {"payment_sandbox"}

    def program(run: CaseRun) -> None:
        ModelRun(form, run).play()

    return program


class ModelRun:
    """One run of a case."""

    def __init__(self, form: ModelCase, run: CaseRun) -> None:
        profile = run.target.profile
        self._form, self._run = form, run
        self._chain = _chain_can_be_asked(profile)
        rules = ExpectedOutcomeRules(profile)
        self._planner = Planner(rules, form.accounts, form.played, form.by_wallet)
        self._played = 0
        self._begin_empty: dict[int, bool] = run.target.remembered("lists of new accounts", dict)
        """Whether a sequence of the run found that all lists of new accounts are empty, by how many wallets made."""

    def play(self) -> None:
        """Play the acts or the sequences. Raises Departure for a failing one, Inconclusive where they end early."""
        if self._form.acts:
            failed = self._play_in(self._run, self._planner.of_acts(self._form.acts), None)
            if failed is not None:
                raise self._judged(failed, f"act {failed.acts}")
            return
        extent = self._run.target.extent
        sequences = extent.budget or self._form.sequences
        shrinking = 0 if extent.until_wrong else SHRINKING
        search = Search(self._planner, self._play, self._form.steps, shrinking)
        for number in range(1, sequences + 1):
            search.run(f"{self._run.seed}{number}")
            if search.shortest is not None:
                raise self._departure(number, *search.shortest, search.only)
            if search.trouble is not None:
                raise search.trouble
            self._run.log.forget()

    def _play(self, plan: tuple[Planned, ...], only: str | None) -> Failed | None:
        self._played += 1
        branch = self._run.branch(f"playing {self._played}")
        branch.recent_reads = RecentReads(branch.log)
        return self._play_in(branch, plan, only)

    def _play_in(self, session: Session, plan: tuple[Planned, ...], only: str | None) -> Failed | None:
        credit, by_wallet = self._form.credit, self._form.by_wallet
        empty = self._begin_empty.get(by_wallet, False)
        play = Play(session, self._planner, self._chain, credit, only, begins_empty=empty)
        failed = play.play(plan)
        self._begin_empty[by_wallet] = play.begins_empty
        return failed

    def _departure(self, number: int, plan: tuple[Planned, ...], failed: Failed, only: str | None) -> Departure:
        """The failure with its replay, as its acts show it once more; without one where they do not."""
        began = len(self._run.log)
        again = self._play(plan, only)
        if again is None:
            return self._judged(failed, f"sequence {number}, act {failed.acts}, and not when repeated alone")
        self._run.log.forget(before=began)
        problem = self._judged(again, f"the replay of sequence {number}, act {again.acts}")
        if not plan:
            return problem
        problem.replay = replay_text(
            [planned.act for planned in plan],
            problem.requirements or self._form.requirements,
            {"accounts": self._form.accounts, "by_wallet": self._form.by_wallet},
            source=self._run.seed.rstrip("/").rpartition("/")[2],
            number=number,
            seed=self._run.target.seed,
        )
        return problem

    def _judged(self, failed: Failed, step: str) -> Departure:
        problem = failed.problem
        problem.requirements = tuple(name for name in failed.requirements if name in self._form.requirements)
        problem.step = step
        return problem


def _chain_can_be_asked(profile: Profile) -> bool:
    """Whether the chain answers and the profile states how keys are hashed for the contract."""
    return profile.offers("chain_rpc") and None not in (
        profile.chain.abi.account,
        profile.crypto.api_key_hash_preimage,
        profile.crypto.usage_key_hash_preimage,
    )
