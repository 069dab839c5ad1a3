"""Mutation testing: small automatic changes of the node's code, each tried in a forked process."""
