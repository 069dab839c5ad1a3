"""Answers the attestation vectors' protocol with dcap-qvl (PyPI): `docs/attestation-vectors.md` describes it."""

import json
import sys
from importlib.metadata import version

import dcap_qvl
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding


def verdict(request: dict[str, str | int]) -> tuple[str, str]:
    """`accepted` if the library verifies the quote and calls the platform up to date; and what it says."""
    root = x509.load_pem_x509_certificate(str(request["root"]).encode()).public_bytes(Encoding.DER)
    try:
        quote = bytes.fromhex(str(request["quote"]))
        collateral = dcap_qvl.QuoteCollateralV3.from_json(str(request["collateral"]))
        report = dcap_qvl.verify_with_root_ca(quote, collateral, root, int(request["at"]))
    except ValueError as fault:
        return "refused", str(fault)
    return ("accepted" if report.status == "UpToDate" else "refused"), report.status


for line in sys.stdin:
    request = json.loads(line)
    if request["command"] == "start":
        answer = {"protocol": 1, "implementation": f"dcap-qvl {version('dcap-qvl')}", "kinds": ["quote"]}
    else:
        result, detail = verdict(request)
        answer = {"id": request["id"], "result": result, "detail": detail}
    print(json.dumps(answer), flush=True)
