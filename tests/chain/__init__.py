"""Tests of the settlement chain."""
