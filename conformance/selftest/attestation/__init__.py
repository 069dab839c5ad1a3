"""The generator of the attestation vectors: evidence of a simulated machine, and what can be wrong with it."""

from conformance.selftest.attestation.generate import vector_files

__all__ = ["vector_files"]
