"""Tests of the attestation vectors, with other people's verifiers."""
