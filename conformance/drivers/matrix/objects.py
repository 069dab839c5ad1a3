"""What the cells of an execution matrix stand on: accounts, wallets, groups and keys, laid out once.

Specification, "Resources and their fields", "Endpoints / Execution rule". From one arrangement to the next a single
write changes this group's lists; a second account is made when the first cell needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from conformance.drivers.matrix.cells import (
    ENDING,
    FOREIGN,
    FOREIGN_WALLET,
    GROUPS,
    ITEMS,
    OTHER,
    OWN,
    THIS,
    Arrangement,
    Cell,
    all_cells,
)
from conformance.drivers.matrix.converted import ConvertedOwner, Means
from conformance.drivers.matrix.owner import Lists, Owner, PkpWallet
from conformance.drivers.matrix.runs import Question, Runs
from conformance.drivers.matrix.scripts import Script
from conformance.drivers.steps.caserun import CaseRun
from conformance.problems import StepProblem
from conformance.service.execution_rule import ANY, Group, decide

ALL_WALLETS = f"0x{'00' * 32}"


class Stage:
    """The objects, and the cells tried on them."""

    def __init__(self, run: CaseRun, cells: Sequence[Cell], means: Means | None = None) -> None:
        self._run = run
        self._runs = Runs(run)
        self._rows = {cell.row: cell for cell in cells}
        self._keys: dict[str, str] = {}
        """Row to credential."""
        self.unproven: dict[str, StepProblem] = {}
        """Rows whose keys could not do what they once could, or can elsewhere: their refusals would prove nothing."""
        self._arrangement = Arrangement()
        self._owner = Owner(run) if means is None else ConvertedOwner(run, means)
        self._wallets = {OWN: dict(zip(ITEMS, self._owner.wallets(len(ITEMS)), strict=True))}
        self._groups = self._lay_out(self._owner, OWN)
        self._make_keys()

    @property
    def scripts(self) -> list[Script]:
        """The scripts that the node's sandbox can run."""
        return self._runs.scripts

    def arrange(self, arrangement: Arrangement) -> None:
        """Have the groups, and the second account, as the arrangement says."""
        before, self._arrangement = self._arrangement, arrangement
        lists = self._arrangement.world()[OWN].groups[THIS]
        if before.world()[OWN].groups[THIS] != lists:
            self._owner.rewrite(self._groups[THIS], THIS, self._lists(lists, OWN))
        if arrangement.accounts > 1 and FOREIGN not in self._wallets:
            self._make_second_account()

    def judge(self, cell: Cell, script: Script) -> None:
        """Run the cell with one script. StepProblem: what came is not what the rule says."""
        wallet = self._wallets[OWN][cell.wallet_used]
        question = Question(cell.id, self._keys[cell.row], cell.action_used, wallet, script)
        if cell.decision().granted:
            self._runs.must_be_granted(question)
        else:
            self._runs.must_be_refused(question, cell.refusal_classes)

    def _lists(self, group: Group, account: str) -> Lists:
        """A group's lists as requests have them; wildcards in the profile's form."""
        forms = self._run.target.profile.wire.group.cid_wildcard_form or (0,)
        wallets = {ANY: ALL_WALLETS} | {name: wallet.id for name, wallet in self._wallets[account].items()}
        actions: dict[str, list[object]] = {item: self._runs.hashed_cids(item) for item in ITEMS}
        actions[ANY] = [forms[0]]
        return Lists(
            [wallets[name] for name in sorted(group.wallets)],
            [entry for name in sorted(group.actions) for entry in actions[name]],
        )

    def _lay_out(self, owner: Owner, account: str) -> dict[str, object]:
        """The account's two groups: name to id."""
        groups = self._arrangement.world()[account].groups
        return {name: owner.group(name, self._lists(groups[name], account)) for name in (THIS, OTHER)}

    def _make_keys(self) -> None:
        self._keys["account"] = self._owner.key
        rows = {row: cell for row, cell in self._rows.items() if cell.kind in {"usage", *ENDING}}
        arrays = self._make_usage_keys(self._owner, rows, self._groups)
        ending = [row for row, cell in rows.items() if cell.kind in ENDING]
        self._owner.begin({self._keys[row]: arrays[row] for row in ending})
        for row in ending:
            self._must_work(row)
        self._owner.end([self._keys[row] for row in ending])

    def _make_usage_keys(
        self, owner: Owner, rows: Mapping[str, Cell], groups: Mapping[str, object]
    ) -> dict[str, list[object]]:
        """Make the keys of these rows; the groups in which each executes."""
        ids = {**groups, ANY: 0}
        arrays = {row: [ids[name] for name in sorted(GROUPS[cell.groups])] for row, cell in rows.items()}
        for row, execute_in in arrays.items():
            self._keys[row] = owner.usage_key(row, execute_in)
        return arrays

    def _must_work(self, row: str) -> None:
        """A key that is to end does before what a live one with its groups can, if that is anything."""
        alive = self._rows[row].counterpart
        for cell in all_cells(["usage"]):
            if cell.row == alive.row and cell.arrangement == self._arrangement and cell.decision().granted:
                self._note_proof(row, cell.action_used, self._wallets[OWN][cell.wallet_used])
                return

    def _make_second_account(self) -> None:
        """Its groups permit what they can, to its own wallets alone; its keys make use of that."""
        owner = Owner(self._run)
        wallet = owner.wallets(1)[0]
        self._wallets[FOREIGN] = {FOREIGN_WALLET: wallet}
        groups = self._lay_out(owner, FOREIGN)
        self._keys["other_account"] = owner.key
        rows = {row: cell for row, cell in self._rows.items() if cell.kind == "other_usage"}
        self._make_usage_keys(owner, rows, groups)
        for row in self._able(self._rows.values()):
            self._note_proof(row, "none", wallet)

    def _able(self, cells: Iterable[Cell]) -> list[str]:
        """The rows of the second account's keys that may run every action there."""
        world = self._arrangement.world()
        foreign = {cell.row: cell.key for cell in cells if cell.key.account == FOREIGN}
        return [row for row, key in foreign.items() if decide(key, "none", FOREIGN_WALLET, world).granted]

    def _note_proof(self, row: str, item: str, wallet: PkpWallet) -> None:
        try:
            self._runs.must_be_granted(Question(row, self._keys[row], item, wallet, self.scripts[0]))
        except StepProblem as problem:
            self.unproven[row] = problem
