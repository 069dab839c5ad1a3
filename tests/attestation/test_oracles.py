"""The quote vectors, judged by three verifiers that nobody here wrote, say what docs/attestation-vectors.md tells.

None of them refuses what this project accepts, but for three sound vectors; the page says why.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from conformance.attestation_vectors.against import compare, markdown
from conformance.attestation_vectors.files import shipped

PAGE = Path(__file__).resolve().parents[2] / "docs" / "attestation-vectors.md"


def test_documented_table_is_what_the_verifiers_say(dcap_qvl: str, phala_dcap_qvl: str, go_tdx_guest: str) -> None:
    own = shlex.join([sys.executable, "-m", "conformance", "vectors", "attestation", "--answer"])
    quotes = [vector for vector in shipped() if vector.kind == "quote"]
    commands = (own, dcap_qvl, phala_dcap_qvl, go_tdx_guest)
    comparisons = [compare(command, quotes, patience=60) for command in commands]
    assert markdown(comparisons) in PAGE.read_text(encoding="utf-8")
