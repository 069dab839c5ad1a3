"""Faults that nobody thought up: small changes of the node's code, planted one at a time in a forked process."""
