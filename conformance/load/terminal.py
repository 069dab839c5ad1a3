"""Prints the report of a load campaign."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.table import Table
from rich.text import Text

from conformance.load.results import Began, ChaosResult, LoadResults
from conformance.values.shown_text import plain
from conformance.verdict import Verdict

SHOWN = 15
"""How many operations, the slowest ones, the table shows."""


def show(results: LoadResults, console: Console) -> None:
    """Print the report."""
    done = results.throughput
    console.print(_operations(results))
    console.print(
        f"{results.users} users, {done.seconds:.0f} s: {done.requests} requests"
        f" ({done.requests_per_second:.1f} a second), {done.cases} cases ({done.cases_per_second:.1f} a second);"
        f" {len(results.left_out)} cases left out"
    )
    if results.memory is not None:
        memory = results.memory
        console.print(
            f"memory of the node: {memory.start_mb:.0f} MB, {memory.warm_mb:.0f} MB with all users,"
            f" {memory.end_mb:.0f} MB at the end; {memory.mb_per_thousand_requests:.2f} MB for a thousand requests"
        )
    for case in results.cases:
        if case.alone is not Verdict.PASS:
            console.print(Text(f"{case.case}: {case.alone} alone: {case.reason}"))
        for began in case.began:
            times, every = case.under_load[began.verdict], sum(case.under_load.values())
            console.print(Text(f"{case.case}: {began.verdict} {times} of {every} times, {_load(began)}"))
            console.print(Text(f"  {plain(began.reason)}"))
    if results.chaos is not None:
        _show_chaos(results.chaos, console)
    console.print(Text(results.sentence, "bold green" if results.holds else "bold red"))


def _show_chaos(chaos: ChaosResult, console: Console) -> None:
    kinds = Counter(event.what.partition(" by ")[0] for event in chaos.events)
    counts = ", ".join(f"{what} {times} times" for what, times in sorted(kinds.items()))
    console.print(Text(f"{len(chaos.events)} disturbances: {counts}"))
    console.print(
        Text(
            f"{chaos.acknowledged} writes acknowledged, {chaos.doubtful} in doubt, {chaos.payments} payments;"
            f" {chaos.disturbed} cases disturbed"
        )
    )
    for fault in chaos.faults:
        console.print(Text(plain(fault), "red"))


def _load(began: Began) -> str:
    load = began.load
    return f"first at {load.users} users and {load.rate:.0f} requests a second, after {load.seconds:.0f} s"


def _operations(results: LoadResults) -> Table:
    table = Table(title="The slowest operations, ms", title_justify="left", box=None, pad_edge=False)
    for name in ("operation", "requests", "faults", "median", "p95", "p99", "most"):
        table.add_column(name, justify="left" if name == "operation" else "right")
    for operation in sorted(results.operations, key=lambda operation: -operation.p99_ms)[:SHOWN]:
        figures = (operation.median_ms, operation.p95_ms, operation.p99_ms, operation.most_ms)
        table.add_row(
            operation.operation,
            str(operation.requests),
            str(operation.faults),
            *(f"{figure:.0f}" for figure in figures),
        )
    return table
