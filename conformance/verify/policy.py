"""What a caller accepts. The defaults are the strictest; each option says what it lets in."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files

from conformance.verify.statement import Result


class TcbStatus(StrEnum):
    """Status of a platform's trusted computing base, as the hardware vendor's TCB info and QE identity name it."""

    UP_TO_DATE = "UpToDate"
    SW_HARDENING_NEEDED = "SWHardeningNeeded"
    CONFIGURATION_NEEDED = "ConfigurationNeeded"
    CONFIGURATION_AND_SW_HARDENING_NEEDED = "ConfigurationAndSWHardeningNeeded"
    OUT_OF_DATE = "OutOfDate"
    OUT_OF_DATE_CONFIGURATION_NEEDED = "OutOfDateConfigurationNeeded"
    TD_RELAUNCH_ADVISED = "TDRelaunchAdvised"
    TD_RELAUNCH_ADVISED_CONFIGURATION_NEEDED = "TDRelaunchAdvisedConfigurationNeeded"
    REVOKED = "Revoked"


BOOT_REGISTERS = ("mrtd", "rtmr0", "rtmr1", "rtmr2")
"""What firmware and boot are measured into, as dstack-mr names it."""


@dataclass(frozen=True)
class MeasuredEvent:
    """An event of a boot."""

    register: int
    """RTMR that it extends, 0 to 2."""
    name: str
    digest: bytes


@dataclass(frozen=True)
class Measurements:
    """The registers of one boot that is accepted, 48 bytes each, for one image on one kind of machine."""

    name: str
    source: str
    """Where the values come from, for people."""
    mrtd: bytes
    rtmr0: bytes
    """Depends on the machine's processors, memory and devices, too."""
    rtmr1: bytes
    rtmr2: bytes
    events: tuple[tuple[bytes, ...], ...] = ((), (), ())
    """Digests that extended RTMR0 to RTMR2, where they are known: a refusal then names the event that differs."""


@dataclass(frozen=True)
class KeyProvider:
    """Who gives the app its keys. None: whatever is measured."""

    name: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class Expected:
    """Who and what must run. None, or an empty set: whatever is measured."""

    app_id: bytes | None = None
    """Also the address of the authorisation contract."""
    instance_id: bytes | None = None
    key_provider: KeyProvider | None = None
    compose_hashes: frozenset[bytes] = frozenset()
    image_digests: frozenset[str] = frozenset()
    """`sha256:` and 64 hex digits; no service may have another."""
    os_image_hashes: frozenset[bytes] = frozenset()
    acme_accounts: frozenset[str] = frozenset()
    """URIs. The evidence's account must be one of them, and CAA records may name any."""


@dataclass(frozen=True)
class Signer:
    """Somebody whose statements are believed."""

    key: bytes
    """Public key in PEM, Ed25519 or ECDSA over P-256."""
    name: str = ""
    """For people."""


@dataclass(frozen=True)
class KeylessSigner:
    """Somebody whose Sigstore bundles are believed. ValueError: identity or issuer is empty."""

    identity: str
    """As the certificate names it: an e-mail address, or the URI of a workflow. Exactly this one."""
    issuer: str
    """URL of the OpenID Connect issuer that vouches for the identity."""
    name: str = ""
    """For people."""

    def __post_init__(self) -> None:
        if not self.identity or not self.issuer:
            raise ValueError("a signer without a key needs both an identity and its issuer")


@dataclass(frozen=True)
class StatementPolicy:
    """Which statements of a verdict are accepted."""

    signers: tuple[Signer | KeylessSigner, ...]
    """Every signature has to be one of theirs."""
    most_age: int | None = None
    """Seconds since the end of the run (`judged-too-old`)."""
    results: frozenset[Result] = frozenset({Result.PASSED})
    """What the run may have ended with. `FAILED` is refused even if it is named."""
    trusted_root: bytes | None = None
    """A `trusted_root.json`, for Sigstore bundles. None: that of the public instance, without a connection."""


@dataclass(frozen=True)
class Policy:
    """How strictly evidence is judged. `Policy()` accepts up-to-date production hardware under Intel's root alone."""

    root: bytes | None = None
    """The trusted root certificate, PEM or DER. None: Intel's SGX root CA. Evidence never chooses its own root."""
    at: int | None = None
    """Unix seconds for which to judge. None: the time that the evidence was observed at."""
    accepted_statuses: frozenset[TcbStatus] = frozenset({TcbStatus.UP_TO_DATE})
    """Any other status refuses (`tcb-status`). `REVOKED` has an effect only if it is named here."""
    allow_debug: bool = False
    """Accept a debug TD, whose memory the host can read (`td-debug`)."""
    allow_ve_injection: bool = False
    """Accept a TD without SEPT_VE_DISABLE, into which the host can inject #VE exceptions (`td-attributes`)."""
    allow_other_accounts: bool = False
    """Accept CAA records that pin further ACME accounts beside the evidence's (`caa-other-account`)."""
    expected_compose: bytes | None = None
    """A compose file, or a whole app_compose text, that the service must run exactly."""
    measurements: tuple[Measurements, ...] = ()
    """The boots that are accepted. Without any, nothing judges which firmware and kernel booted."""
    expected: Expected = field(default_factory=Expected)
    """Who and what must run."""
    most_tcb_age: int | None = None
    """Seconds since the date of the TCB level that the platform reaches (`tcb-age`)."""
    most_collateral_age: int | None = None
    """Seconds since TCB info and QE identity were issued (`collateral-age`)."""
    statement: StatementPolicy | None = None
    """The service has to run the code that a statement in the evidence is about. None: no statement is looked at."""


@cache
def intel_root() -> bytes:
    """Intel's SGX root CA certificate as PEM, as it ships with this package."""
    return files("conformance.verify").joinpath("data/intel_sgx_root_ca.pem").read_bytes()
