"""The accounts, wallets, groups and keys of an execution matrix, made once for all its cells.

Specification, "Resources and their fields", "Endpoints / Execution rule". From one arrangement to the next a single
write changes this group's lists; a second account is made when the first cell needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from conformance.drivers.matrix.account import Lists, MatrixAccount
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
from conformance.drivers.matrix.converted import ConvertedMatrixAccount
from conformance.drivers.matrix.runs import CellRun, MatrixRuns
from conformance.drivers.matrix.scripts import Script
from conformance.problems import NotAccepted, StepProblem
from conformance.service.execution_rule import ANY, Group, decide
from conformance.service.groups import ALL_PKPS, Groups
from conformance.service.pkps import Pkp
from conformance.service.refusal import Refusals
from conformance.service.session import Session
from conformance.values.ids import GroupId


class MatrixObjects:
    """The objects, and the cells tried on them."""

    def __init__(self, session: Session, cells: Sequence[Cell], *, chain_secured: bool = False) -> None:
        self._session = session
        self._runs = MatrixRuns(session)
        self._rows = {cell.row: cell for cell in cells}
        self._keys: dict[str, str] = {}
        """Row to credential."""
        self.unproven: dict[str, StepProblem] = {}
        """Rows whose keys failed to run what they may run. Refusals of these keys would prove nothing."""
        self._arrangement = Arrangement()
        self._granted = False
        """Whether a run was granted. Until then no refusal proves anything."""
        self._account = ConvertedMatrixAccount(session) if chain_secured else MatrixAccount(session)
        self._wallets = {OWN: dict(zip(ITEMS, self._account.wallets(len(ITEMS)), strict=True))}
        self._groups = self._make_groups(self._account, OWN)
        self._make_keys()

    @property
    def scripts(self) -> list[Script]:
        """The scripts that the node's sandbox can run."""
        return self._runs.scripts

    def arrange(self, arrangement: Arrangement) -> None:
        """Write the lists of this group, and create the second account, as the arrangement needs."""
        before, self._arrangement = self._arrangement, arrangement
        lists = self._arrangement.world()[OWN].groups[THIS]
        if before.world()[OWN].groups[THIS] != lists:
            self._account.rewrite(self._groups[THIS], THIS, self._lists(lists, OWN))
        if arrangement.accounts > 1 and FOREIGN not in self._wallets:
            self._make_second_account()

    def refusals(self) -> Refusals:
        """The refusals of the matrix. Any granted run is their control. A run writes nothing, so there are no reads."""
        return Refusals(self._session, control=self._must_have_granted, unchanged=())

    def _must_have_granted(self) -> None:
        if not self._granted and not self.unproven:
            raise NotAccepted("a run that the rule grants", "none was tried")

    def try_cell(self, cell: Cell, script: Script, refusals: Refusals) -> None:
        """Run the cell with one script. StepProblem: the answer is not the rule's decision."""
        wallet = self._wallets[OWN][cell.wallet_used]
        run = CellRun(cell.id, self._keys[cell.row], cell.action_used, wallet, script)
        if cell.decision().granted:
            self._runs.must_be_granted(run)
            self._granted = True
        else:
            self._runs.must_be_refused(run, cell.refusal_classes, refusals)

    def _lists(self, group: Group, account: str) -> Lists:
        """A group's lists in the form of requests, with wildcards in the profile's form."""
        wallets = {ANY: ALL_PKPS} | {name: wallet.id for name, wallet in self._wallets[account].items()}
        actions: dict[str, list[object]] = {item: self._runs.hashed_cids(item) for item in ITEMS}
        actions[ANY] = [Groups(self._session).all_actions]
        return Lists(
            [wallets[name] for name in sorted(group.wallets)],
            [entry for name in sorted(group.actions) for entry in actions[name]],
            self._runs.cids,
        )

    def _make_groups(self, maker: MatrixAccount, account: str) -> dict[str, GroupId]:
        """Create the account's two groups. Returns their ids by name."""
        groups = self._arrangement.world()[account].groups
        return {name: maker.group(name, self._lists(groups[name], account)).id for name in (THIS, OTHER)}

    def _make_keys(self) -> None:
        self._keys["account"] = self._account.key
        rows = {row: cell for row, cell in self._rows.items() if cell.kind in {"usage", *ENDING}}
        arrays = self._make_usage_keys(self._account, rows, self._groups)
        ending = [row for row, cell in rows.items() if cell.kind in ENDING]
        self._account.before_ending({self._keys[row]: arrays[row] for row in ending})
        for row in ending:
            self._must_work(row)
        self._account.end([self._keys[row] for row in ending])

    def _make_usage_keys(
        self, maker: MatrixAccount, rows: Mapping[str, Cell], groups: Mapping[str, GroupId]
    ) -> dict[str, list[int]]:
        """Create the keys of these rows. Returns the groups in which each executes."""
        ids = {**groups, ANY: 0}
        arrays = {row: [ids[name] for name in sorted(GROUPS[cell.groups])] for row, cell in rows.items()}
        for row, execute_in in arrays.items():
            self._keys[row] = maker.usage_key(row, execute_in)
        return arrays

    def _must_work(self, row: str) -> None:
        """Before a key expires or is removed, check that it can run what its groups permit, if they permit anything."""
        alive = self._rows[row].counterpart
        for cell in all_cells(["usage"]):
            if cell.row == alive.row and cell.arrangement == self._arrangement and cell.decision().granted:
                self._note_proof(row, cell.action_used, self._wallets[OWN][cell.wallet_used])
                return

    def _make_second_account(self) -> None:
        """Create the second account. Its groups permit everything with its own wallets; its keys execute in them."""
        maker = MatrixAccount(self._session)
        wallet = maker.wallets(1)[0]
        self._wallets[FOREIGN] = {FOREIGN_WALLET: wallet}
        groups = self._make_groups(maker, FOREIGN)
        self._keys["other_account"] = maker.key
        rows = {row: cell for row, cell in self._rows.items() if cell.kind == "other_usage"}
        self._make_usage_keys(maker, rows, groups)
        for row in self._able(self._rows.values()):
            self._note_proof(row, "none", wallet)

    def _able(self, cells: Iterable[Cell]) -> list[str]:
        """The rows of the second account's keys that may run every action in it."""
        world = self._arrangement.world()
        foreign = {cell.row: cell.key for cell in cells if cell.key.account == FOREIGN}
        return [row for row, key in foreign.items() if decide(key, "none", FOREIGN_WALLET, world).granted]

    def _note_proof(self, row: str, item: str, wallet: Pkp) -> None:
        try:
            self._runs.must_be_granted(CellRun(row, self._keys[row], item, wallet, self.scripts[0]))
        except StepProblem as problem:
            self.unproven[row] = problem
