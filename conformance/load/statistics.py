"""Latencies by operation, from Locust's statistics."""

from __future__ import annotations

from locust.stats import RequestStats, StatsEntry

from conformance.load.results import OperationResult

CASE = "case"
"""The "method" of failed cases in Locust's report."""


def requests_so_far(stats: RequestStats) -> int:
    """The number of requests, without the entries of cases."""
    return sum(entry.num_requests for entry in stats.entries.values() if entry.method != CASE)


def operations(stats: RequestStats) -> tuple[OperationResult, ...]:
    """The results of each operation, by name."""
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
