"""The conformance suite: judges any node of the service, clause by clause, from outside."""
