"""Runs of the execution matrix: sends each run, and checks the proof in its answer.

Specification, "Endpoints / Wallets and actions" (run action), "Endpoints / Execution rule".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conformance.drivers.matrix.cells import ITEMS
from conformance.drivers.matrix.scripts import Script, challenge, offered, prover, users_in
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import LeakyRefusal, Mismatch, NotRefused, OtherKeyUsed, ProfileSilent
from conformance.service.actions import Actions
from conformance.service.derivations import hashed_cid
from conformance.service.pkps import Pkp
from conformance.service.refusal import RefusalClass, Refusals
from conformance.service.runs import Runs, may_go_on
from conformance.service.session import Session
from conformance.values.ids import Cid

SHOWN = 300


@dataclass(frozen=True)
class CellRun:
    """The run of a cell."""

    name: str
    """Part of the challenge's seed."""
    key: str
    item: str
    """The action that is run, one of `ITEMS`."""
    wallet: Pkp
    script: Script


class MatrixRuns:
    """Prepares the actions, each in every script that the node's sandbox can run, and runs them."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._runs = Runs(session)
        self.scripts = offered(session.profile)
        if not self.scripts:
            raise ProfileSilent("a sandbox that gives keys or signatures", "a profile that names none of its calls")
        actions = Actions(session)
        pairs = [(item, script) for item in ITEMS for script in self.scripts]
        self._codes = {(item, script): actions.source(script.name, item) for item, script in pairs}
        cids = {pair: actions.cid(code) for pair, code in self._codes.items()}
        self._hashes = {pair: hashed_cid(cid) for pair, cid in cids.items()}
        self.cids: dict[object, Cid] = {self._hashes[pair]: cid for pair, cid in cids.items()}
        """The raw CID of each hash that a group may list."""

    def hashed_cids(self, item: str) -> list[object]:
        """The hashes that list an action in a group: one for each script."""
        return [self._hashes[item, script] for script in self.scripts]

    def must_be_granted(self, cell: CellRun) -> None:
        """Run, and raise unless the answer proves that the wallet's key was used."""
        run = self._runs.must_succeed(self._request(cell))
        try:
            address = prover(cell.script, self._challenge(cell), run.result)
        except Mismatch as problem:
            problem.exchange = run.answer.exchange
            raise
        if address.lower() != cell.wallet.address.lower():
            raise OtherKeyUsed(f"the key of {cell.wallet.address}", f"the key of {address}", run.answer.exchange)

    def must_be_refused(self, cell: CellRun, classes: Sequence[RefusalClass], refusals: Refusals) -> None:
        """Run, and raise unless the run is refused without a trace of the wallet's key.

        Code that swallows the refusal of its wallet may go on without it where the profile says so.
        """
        if cell.script.yields and may_go_on(self._session):
            answer = refusals.send_either(self._request(cell), classes)
        else:
            answer = refusals.send(self._request(cell), classes)
        if cell.wallet.address.lower() in users_in(answer, cell.script, self._challenge(cell)):
            kind = NotRefused if answer.accepted else LeakyRefusal
            raise kind("a refusal without the wallet's key or signature", answer.text[:SHOWN], answer.exchange)

    def _challenge(self, cell: CellRun) -> str:
        return challenge(cell.script, f"{self._session.seed}{cell.name}/{cell.script.name}")

    def _request(self, cell: CellRun) -> OutgoingRequest:
        code = self._codes[cell.item, cell.script]
        params: dict[str, object] = {cell.script.proof: self._challenge(cell)}
        return self._runs.request(cell.key, code, pkp_id=cell.wallet.id, params=params)
