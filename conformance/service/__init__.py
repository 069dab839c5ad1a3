"""Verbs of the service over its endpoints, in plain Python: what drivers and Python cases call."""
