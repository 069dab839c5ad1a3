"""Mutation testing: small automatic changes of the node's code and of its contract, each tried in a forked process."""
