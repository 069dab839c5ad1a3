"""The quote library `dcap-qvl`: signatures, certificate paths and TCB status of one quote, as one call."""

from __future__ import annotations

import json
from functools import lru_cache

import dcap_qvl  # type: ignore[import-untyped] # its stubs are not marked as such

from conformance.verify.policy import TcbStatus

DEBUG_REFUSALS = ("Debug mode is enabled", "TD profiling is enabled")
VE_REFUSAL = "SEPT_VE_DISABLE is not enabled"
REVOKED_REFUSAL = "TCB status is invalid: Revoked"


class LibraryRefusedError(Exception):
    """The library refuses the quote; the text is its reason."""


def library_status(
    quote: bytes, members: tuple[tuple[str, str], ...], root_der: bytes, at: int
) -> tuple[TcbStatus, tuple[str, ...]]:
    """Status and advisories that the library finds. LibraryRefusedError: it refuses the quote."""
    try:
        report = dcap_qvl.verify_with_root_ca(quote, _collateral(members), root_der, at)
        return TcbStatus(str(report.status)), tuple(map(str, report.advisory_ids))
    except (ValueError, TypeError, OverflowError, RuntimeError) as problem:
        text = str(problem).removeprefix("Verification failed: ")
        raise LibraryRefusedError(" ".join(text.split("\n\nStack backtrace")[0].split())) from problem
    except BaseException as problem:
        # pyo3 turns a panic of Rust into an exception that is no Exception and that no module exports
        if type(problem).__name__ != "PanicException":
            raise
        raise LibraryRefusedError(f"the library panicked: {problem}") from problem


@lru_cache(maxsize=8)
def _collateral(members: tuple[tuple[str, str], ...]) -> dcap_qvl.QuoteCollateralV3:
    return dcap_qvl.QuoteCollateralV3.from_json(json.dumps(dict(members)))
