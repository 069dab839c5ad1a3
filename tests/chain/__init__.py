"""Tests of the settlement chain."""

from hypothesis import HealthCheck, settings

UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""For random tests: none of them is about time, however busy the machine."""
