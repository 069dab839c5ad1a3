"""What a caller accepts. The defaults are the strictest; each option says what it lets in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files


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


@cache
def intel_root() -> bytes:
    """Intel's SGX root CA certificate as PEM, as it ships with this package."""
    return files("conformance.verify").joinpath("data/intel_sgx_root_ca.pem").read_bytes()
