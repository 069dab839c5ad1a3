"""Runs of the execution matrix: its actions, one request for a run, and whether the answer proves what it should.

Specification, "Endpoints / Wallets and actions" (run action), "Endpoints / Execution rule".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.drivers.matrix.cells import ITEMS
from conformance.drivers.matrix.owner import PkpWallet
from conformance.drivers.matrix.scripts import Script, challenge, offered, prover, users_in
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.refusals import must_accept, must_refuse, refusal
from conformance.drivers.steps.run_failures import must_not_fail
from conformance.endpoints.client import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.language.action_sources import parameters, source
from conformance.language.functions import hashed_cid
from conformance.language.models import RefusalClass
from conformance.language.runs import returned
from conformance.problems import LeakyRefusal, Mismatch, ProfileSilent
from conformance.values.json_values import member

SHOWN = 300


@dataclass(frozen=True)
class Question:
    """A run that is asked for."""

    name: str
    """Decides the challenge, with the run's seed."""
    key: str
    item: str
    """Which of `ITEMS` is run."""
    wallet: PkpWallet
    script: Script


class Runs:
    """The actions, each in every script that the node's sandbox can run, and runs of them."""

    def __init__(self, run: CaseRun) -> None:
        self._run = run
        self.scripts = offered(run.target.profile)
        if not self.scripts:
            raise ProfileSilent("a sandbox that gives keys or signatures", "a profile that names none of its calls")
        self._codes = {(item, script): self._code(item, script) for item in ITEMS for script in self.scripts}
        self._hashes = {name: self._hashed_cid(code) for name, code in self._codes.items()}

    def _code(self, item: str, script: Script) -> str:
        return source(script.name, self._run.target.profile, f"{self._run.scope.variables['label']} {item}")

    def _hashed_cid(self, code: str) -> str:
        answer = self._run.send(
            OutgoingRequest(self._run.target.operation("get_action_ipfs_id"), members={"code": code})
        )
        must_accept(answer)
        return hashed_cid(self._run.scope, member(answer.value, "cid"))

    def hashed_cids(self, item: str) -> list[object]:
        """What a group lists that lists the action: it in every script."""
        return [self._hashes[item, script] for script in self.scripts]

    def must_be_granted(self, question: Question) -> None:
        """Raise unless the run used the wallet."""
        given, answer = self._ask(question)
        must_accept(answer)
        must_not_fail(answer, self._run.target.profile)
        result = returned(self._run.scope, member(answer.value, "response"))
        try:
            address = prover(question.script, given, result, self._run.scope)
        except Mismatch as problem:
            problem.exchange = answer.exchange
            raise
        if address.lower() != question.wallet.address.lower():
            raise Mismatch(f"the key of {question.wallet.address}", f"the key of {address}", answer.exchange)

    def must_be_refused(self, question: Question, classes: Sequence[RefusalClass]) -> None:
        """Raise unless the run was refused and gave nothing of the wallet away."""
        given, answer = self._ask(question)
        must_refuse(answer, refusal(tuple(classes), self._run.target.profile), self._run)
        if question.wallet.address.lower() in users_in(answer, question.script, given, self._run.scope):
            raise LeakyRefusal("a refusal without the wallet's key or signature", answer.text[:SHOWN], answer.exchange)

    def _ask(self, question: Question) -> tuple[str, Answer]:
        script = question.script
        given = challenge(script, f"{self._run.scope.seed}{question.name}/{script.name}")
        params = parameters(question.wallet.id, {script.proof: given}, self._run.scope.profile)
        members: dict[str, object] = {"code": self._codes[question.item, script], "jsParams": params}
        return given, self._run.send(
            OutgoingRequest(self._run.target.operation("run_action"), question.key, members=members)
        )
