"""Attestation vectors: 250 of them, evenly from all files, against as many bare verifications by the quote library."""

from __future__ import annotations

import dcap_qvl  # type: ignore[import-untyped]  # its stubs are not marked as such
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from benchmarks.timing import Row, in_turn
from conformance.attestation_vectors.files import COLLATERAL, QUOTE, Vector, shipped
from conformance.verify import Evidence, Policy, verify, verify_quote

VECTORS = 250


def rows() -> list[Row]:
    """The verifier's side of the vectors."""
    vectors = shipped()
    chosen = [vectors[number * len(vectors) // VECTORS] for number in range(VECTORS)]
    sound = next(vector for vector in vectors if vector.kind == "quote" and vector.result == "accepted")
    quote, collateral = bytes.fromhex(sound.files[QUOTE].decode()), sound.files[COLLATERAL].decode()
    root = x509.load_pem_x509_certificate(sound.root.encode()).public_bytes(Encoding.DER)

    def judged() -> None:
        for vector in chosen:
            assert _accepted(vector) == (vector.result == "accepted"), vector.id

    def bare() -> None:
        for _ in range(VECTORS):
            read = dcap_qvl.QuoteCollateralV3.from_json(collateral)
            assert dcap_qvl.verify_with_root_ca(quote, read, root, sound.at).status == "UpToDate"

    measured, base = in_turn([judged, bare], 9)
    return [Row(f"{VECTORS} attestation vectors judged", measured, "as many quotes by bare dcap-qvl", base, 4.0)]


def _accepted(vector: Vector) -> bool:
    root = vector.root.encode()
    if vector.kind == "evidence":
        return verify(Evidence(vector.files), Policy(root=root)).accepted
    quote = bytes.fromhex(vector.files[QUOTE].decode())
    return verify_quote(quote, vector.files[COLLATERAL], Policy(root=root, at=vector.at)).accepted
