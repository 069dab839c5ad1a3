"""The driver `execution_matrix`: compares runs with the Execution rule for every kind of key, action and wallet.

`conformance.service.execution_rule` says what each cell must give. All cells that can be tried are, whatever came of
the others, so that the report can draw which are wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from conformance.drivers.matrix.account import OPERATIONS
from conformance.drivers.matrix.cells import Arrangement, Cell, Kind, all_cells
from conformance.drivers.matrix.converted import note_needs
from conformance.drivers.matrix.objects import MatrixObjects
from conformance.drivers.matrix.plan import chosen, in_order
from conformance.drivers.matrix.scripts import scripts_for
from conformance.drivers.sections import labelled, set_up
from conformance.drivers.steps.caserun import CaseRun
from conformance.language.models import CaseForm
from conformance.language.templates import CompileContext
from conformance.problems import (
    BadShape,
    ControlNotAccepted,
    Departure,
    Inconclusive,
    ServerFault,
    WrongRefusal,
)
from conformance.service.action_sources import API, MEMBER, NAMED_BY
from conformance.service.refusal import Refusals
from conformance.service.runs import RESPONSE_FORM
from conformance.verdict import CellOutcome, CellVerdict

MOST_FAULTS = 3
"""The number of unanswered runs after which the matrix stops: each may have taken a long time."""
MANAGED_KEYS = frozenset({"account", "usage", "removed", "other_account", "other_usage"})
CHAIN_SECURED_KEYS = frozenset({"usage", "expired"})
NAMED = 8
"""How many wrong cells a failure names; the report shows all of them."""


class ExecutionMatrixCase(CaseForm):
    """Runs actions with every combination of key, action and wallet, and compares each with the Execution rule."""

    driver: Literal["execution_matrix"]
    keys: Annotated[list[Kind], Field(min_length=1)]
    """The kinds of keys to try."""
    mode: Literal["managed", "chain_secured"] = "managed"
    """The mode of the account. Only a ChainSecured account has keys that expire."""


def compile_matrix(form: ExecutionMatrixCase, context: CompileContext) -> Callable[[CaseRun], None]:
    """Compile a matrix, which tries the cells that the run's extent selects."""
    chain_secured = form.mode == "chain_secured"
    possible = CHAIN_SECURED_KEYS if chain_secured else MANAGED_KEYS
    if impossible := set(form.keys) - possible:
        message = f"a {form.mode} account has no such keys: {', '.join(sorted(impossible))}"
        raise context.at("keys").problem(BadShape, message)
    cells = all_cells(form.keys, 1 if chain_secured else 2)
    if chain_secured:
        note_needs(context)
    context.info.cells.extend(cell.id for cell in cells)
    context.info.operations.update({*OPERATIONS, "get_action_ipfs_id", "run_action"})
    context.info.uses.update({f"{API}.namespace", NAMED_BY, MEMBER, RESPONSE_FORM, "wire.group.cid_wildcard_form"})
    context.info.uses.add("wire.paging.first_page_number")
    context.info.accounts.append("the owner of the cells")
    return lambda run: Matrix(run, cells, chain_secured=chain_secured).run_cells()


class Matrix:
    """One matrix during a run."""

    def __init__(self, run: CaseRun, cells: list[Cell], *, chain_secured: bool) -> None:
        self._run = run
        self._chain_secured = chain_secured
        self._cells = chosen(cells, run.target.extent, edges=not chain_secured)
        self._wrong: dict[Cell, Departure] = {}
        self._faults = 0
        for cell in cells:
            decision = cell.decision()
            run.cells[cell.id] = CellOutcome(cell.id, decision.granted, CellVerdict.NOT_TRIED, decision.reason)

    def run_cells(self) -> None:
        """Try every cell, then raise the first departure with the names of the other wrong cells."""
        try:
            with set_up():
                objects = MatrixObjects(self._run, self._cells, chain_secured=self._chain_secured)
            with objects.refusals() as refusals:
                for arrangement, cells in in_order(self._cells):
                    self._try_all(objects, refusals, arrangement, cells)
        except Inconclusive:
            if not self._wrong:
                raise
        if self._wrong:
            raise self._failure()
        for row, problem in objects.unproven.items():
            raise ControlNotAccepted(f"that the key {row} runs what it may", problem.got, problem.exchange) from problem

    def _try_all(self, objects: MatrixObjects, refusals: Refusals, arrangement: Arrangement, cells: list[Cell]) -> None:
        with set_up():
            objects.arrange(arrangement)
        for cell in cells:
            if cell.row not in objects.unproven and not self._enough():
                self._try(objects, refusals, cell)

    def _enough(self) -> bool:
        return self._faults >= MOST_FAULTS or (self._run.target.extent.until_wrong and bool(self._wrong))

    def _try(self, objects: MatrixObjects, refusals: Refusals, cell: Cell) -> None:
        outcome = self._run.cells[cell.id]
        right = CellVerdict.GRANTED if outcome.granted else CellVerdict.REFUSED
        try:
            for script in scripts_for(cell, objects.scripts, full=self._run.target.extent.full):
                with labelled(f"cell {cell.id} ({script.name})"):
                    objects.try_cell(cell, script, refusals)
        except Departure as problem:
            self._wrong[cell] = problem
            self._faults += isinstance(problem, ServerFault)
            # The rule is kept where only the status of the refusal is another one, which the case tells.
            if not isinstance(problem, WrongRefusal):
                self._run.cells[cell.id] = replace(outcome, verdict=CellVerdict.WRONG, got=problem.got)
                return
        self._run.cells[cell.id] = replace(outcome, verdict=right)

    def _failure(self) -> Departure:
        first, *others = self._wrong
        problem = self._wrong[first]
        problem.blame(sorted({_contradicted(cell) for cell in self._wrong}))
        problem.expected = f"{problem.expected} by {first.told}: {self._run.cells[first.id].reason}"
        if others:
            more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
            problem.got += f"; wrong are also {', '.join(cell.id for cell in others[:NAMED])}{more}"
        if right := [*self._right_beside(first)][:NAMED]:
            problem.got += f"; right are {', '.join(right)}"
        return problem

    def _right_beside(self, wrong: Cell) -> Iterator[str]:
        """The cells beside a wrong one that were tried and are right, with what they gave."""
        for cell in self._cells:
            verdict = self._run.cells[cell.id].verdict
            if cell.is_beside(wrong) and verdict in {CellVerdict.GRANTED, CellVerdict.REFUSED}:
                yield f"{cell.id} ({verdict})"


def _contradicted(cell: Cell) -> str:
    """What a wrong cell contradicts: the rule, or that an expired key runs nothing that it could run before."""
    return "UKEY-390" if cell.kind == "expired" and cell.counterpart.decision().granted else "EXEC-090"
