"""Measurements of the node and the suite: ratios of two things timed in turn within one run, never timed tests."""
