"""Attestation vectors: evidence and quotes that a verifier must accept or refuse (docs/attestation-vectors.md)."""
