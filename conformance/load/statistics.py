"""Latencies by operation, from what Locust has counted."""

from __future__ import annotations

from locust.stats import RequestStats, StatsEntry

from conformance.load.results import OperationResult

CASE = "case"
"""Stands in Locust's report where requests have their method, for cases that failed."""


def operations(stats: RequestStats) -> tuple[OperationResult, ...]:
    """What was called, by name."""
    called = [entry for entry in stats.entries.values() if entry.method != CASE and entry.num_requests]
    return tuple(_operation(entry) for entry in sorted(called, key=lambda entry: (entry.name, entry.method)))


def _operation(entry: StatsEntry) -> OperationResult:
    return OperationResult(
        operation=entry.name,
        method=entry.method,
        requests=entry.num_requests,
        faults=entry.num_failures,
        median_ms=entry.median_response_time,
        p95_ms=entry.get_response_time_percentile(0.95),
        p99_ms=entry.get_response_time_percentile(0.99),
        most_ms=round(entry.max_response_time, 3),
    )
