"""What vouches for a simulated platform at a given time: TCB info, QE identity, revocation lists and their issuers.

Intel, "API documentation of the Provisioning Certification Service", version 4: TCB info version 3 for TDX, QE identity
version 2. The signed parts are exact JSON text: verifiers hash the bytes as served.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import quote as percent_encoded

from reference_node.tee.pki import ROOT_CRL_URL, Platform, Role, pem

JsonObject = dict[str, object]

QE_MRSIGNER = bytes.fromhex("dc9e2a7c6f948f17474e34a7fc43ed030f7c1563f1babddf6340c82e0e54a8c5")
"""MRSIGNER of Intel's TD quoting enclave, 32 bytes; the simulated enclave claims the same."""

QE_PRODUCT_ID = 2
TCB_EVALUATION_DATA_NUMBER = 17
VALID_DAYS = 30

_LEVEL_DATE = "2024-03-13T00:00:00Z"
_EARLIER_DATE = "2023-08-09T00:00:00Z"
_SGX_LEVEL = [2, 2, 2, 2, 3, 1, 0, 5, *[0] * 8]
_TDX_LEVEL = [5, 0, 2, *[0] * 13]


@dataclass(frozen=True)
class Collateral:
    """Members as dcap-qvl's QuoteCollateralV3; a negative vector replaces one."""

    pck_crl_issuer_chain: str
    root_ca_crl: bytes
    pck_crl: bytes
    tcb_info_issuer_chain: str
    tcb_info: str
    tcb_info_signature: bytes
    qe_identity_issuer_chain: str
    qe_identity: str
    qe_identity_signature: bytes

    def as_json(self) -> dict[str, str]:
        """The members as JSON has them: bytes in lower-case hex."""
        return {name: value if isinstance(value, str) else value.hex() for name, value in vars(self).items()}


@dataclass(frozen=True)
class CollateralForm:
    """What of a platform's collateral neither the platform nor the time decides."""

    tcb_info: JsonObject | None = None
    """`None`: the usual document. A vector changes one that `tcb_info_document` made."""
    qe_identity: JsonObject | None = None
    tcb_info_text: str | None = None
    """Signed as it stands, where the JSON text itself matters."""
    qe_identity_text: str | None = None
    signer: Role = "tcb_signer"
    """Whose certificate and key the two documents carry."""
    signing_key: str | None = None
    """Label of the key that signs them; `None`: the signer's."""


def tcb_info_document(platform: Platform, issued: datetime | None = None) -> JsonObject:
    """TCB info of the platform's FMSPC: one current level, one that is out of date."""
    tcb = platform.form.tcb
    older = [max(0, version - 1) for version in _SGX_LEVEL]
    return {
        "id": "TDX",
        "version": 3,
        **_validity(issued or platform.now),
        "fmspc": tcb.fmspc.hex().upper(),
        "pceId": tcb.pceid.hex().upper(),
        "tcbType": 0,
        "tcbEvaluationDataNumber": TCB_EVALUATION_DATA_NUMBER,
        "tdxModule": _module(),
        "tdxModuleIdentities": [
            {
                "id": "TDX_01",
                **_module(),
                "tcbLevels": [_isvsvn_level(4), _isvsvn_level(2, "OutOfDate", _EARLIER_DATE)],
            }
        ],
        "tcbLevels": [
            platform_level(_SGX_LEVEL, 11, _TDX_LEVEL),
            {
                **platform_level(older, 5, _TDX_LEVEL, "OutOfDate", _EARLIER_DATE),
                "advisoryIDs": ["INTEL-SA-00615"],
            },
        ],
    }


def qe_identity_document(platform: Platform, issued: datetime | None = None) -> JsonObject:
    """Identity of the TD quoting enclave."""
    return {
        "id": "TD_QE",
        "version": 2,
        **_validity(issued or platform.now),
        "tcbEvaluationDataNumber": TCB_EVALUATION_DATA_NUMBER,
        "miscselect": "00000000",
        "miscselectMask": "FFFFFFFF",
        "attributes": "11000000000000000000000000000000",
        "attributesMask": "FBFFFFFFFFFFFFFF0000000000000000",
        "mrsigner": QE_MRSIGNER.hex().upper(),
        "isvprodid": QE_PRODUCT_ID,
        "tcbLevels": [_isvsvn_level(4), _isvsvn_level(2, "OutOfDate", _EARLIER_DATE)],
    }


def make_collateral(
    platform: Platform, issued: datetime | None = None, form: CollateralForm | None = None
) -> Collateral:
    """Collateral of a platform, issued at a time (by default the platform's own)."""
    form = form or CollateralForm()
    issued = issued or platform.now
    tcb_info = form.tcb_info_text or canonical(form.tcb_info or tcb_info_document(platform, issued))
    qe_identity = form.qe_identity_text or canonical(form.qe_identity or qe_identity_document(platform, issued))
    signing_key = form.signing_key or platform.key_label(form.signer)
    signer_chain = pem(platform.certificate(form.signer), platform.root)
    return Collateral(
        pck_crl_issuer_chain=pem(platform.pck_ca, platform.root),
        root_ca_crl=platform.crl(platform.form.root_crl, issued),
        pck_crl=platform.crl(platform.form.pck_crl, issued),
        tcb_info_issuer_chain=signer_chain,
        tcb_info=tcb_info,
        tcb_info_signature=platform.sign(signing_key, tcb_info.encode()),
        qe_identity_issuer_chain=signer_chain,
        qe_identity=qe_identity,
        qe_identity_signature=platform.sign(signing_key, qe_identity.encode()),
    )


def canonical(document: JsonObject) -> str:
    """The JSON text that is signed: compact, members in the order of the document."""
    return json.dumps(document, separators=(",", ":"))


@dataclass(frozen=True)
class PccsAnswer:
    """A 200 answer of a provisioning certificate caching service."""

    body: bytes
    content_type: str
    headers: dict[str, str]


def pccs_answers(collateral: Collateral) -> dict[str, PccsAnswer]:
    """The answers of a PCCS by path, as Intel's service and its caches give them.

    `/sgx/certification/v4/pckcrl` answers DER (`encoding=der`), `rootcacrl` hex text; the last path is that of the root
    CRL's distribution point, which answers DER.
    """
    pck_crl_chain = {"SGX-PCK-CRL-Issuer-Chain": percent_encoded(collateral.pck_crl_issuer_chain)}
    tcb_chain = {"TCB-Info-Issuer-Chain": percent_encoded(collateral.tcb_info_issuer_chain)}
    qe_chain = {"SGX-Enclave-Identity-Issuer-Chain": percent_encoded(collateral.qe_identity_issuer_chain)}
    tcb_info = _signed("tcbInfo", collateral.tcb_info, collateral.tcb_info_signature)
    qe_identity = _signed("enclaveIdentity", collateral.qe_identity, collateral.qe_identity_signature)
    return {
        "/sgx/certification/v4/pckcrl": PccsAnswer(collateral.pck_crl, "application/pkix-crl", pck_crl_chain),
        "/sgx/certification/v4/rootcacrl": PccsAnswer(collateral.root_ca_crl.hex().encode(), "text/plain", {}),
        "/tdx/certification/v4/tcb": PccsAnswer(tcb_info, "application/json", tcb_chain),
        "/tdx/certification/v4/qe/identity": PccsAnswer(qe_identity, "application/json", qe_chain),
        "/" + ROOT_CRL_URL.rpartition("/")[2]: PccsAnswer(collateral.root_ca_crl, "application/pkix-crl", {}),
    }


def platform_level(
    sgx: list[int], pcesvn: int, tdx: list[int], status: str = "UpToDate", date: str = _LEVEL_DATE
) -> JsonObject:
    """A platform TCB level: 16 SGX and 16 TDX component versions and a PCESVN."""
    tcb = {
        "sgxtcbcomponents": [{"svn": version} for version in sgx],
        "pcesvn": pcesvn,
        "tdxtcbcomponents": [{"svn": version} for version in tdx],
    }
    return {"tcb": tcb, "tcbDate": date, "tcbStatus": status}


def _isvsvn_level(isvsvn: int, status: str = "UpToDate", date: str = _LEVEL_DATE) -> JsonObject:
    return {"tcb": {"isvsvn": isvsvn}, "tcbDate": date, "tcbStatus": status}


def _module() -> JsonObject:
    return {"mrsigner": "00" * 48, "attributes": "00" * 8, "attributesMask": "FF" * 8}


def _validity(issued: datetime) -> JsonObject:
    issue = issued - timedelta(days=1)
    return {"issueDate": _instant(issue), "nextUpdate": _instant(issue + timedelta(days=VALID_DAYS))}


def _instant(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _signed(name: str, text: str, signature: bytes) -> bytes:
    return f'{{"{name}":{text},"signature":"{signature.hex()}"}}'.encode()
