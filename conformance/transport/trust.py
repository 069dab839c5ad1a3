"""Which certificates are trusted: those of this machine, as OpenSSL finds them, and those of a file beside them.

OpenSSL takes `SSL_CERT_FILE` and `SSL_CERT_DIR` in place of the machine's own file and folder, as curl does.
"""

from __future__ import annotations

import os
import ssl
from functools import lru_cache
from pathlib import Path

VARIABLE = "SSL_CERT_FILE"


class BadCertificatesError(ValueError):
    """A file with no certificates that could be trusted. The text says which file, what named it, and why."""


def trusted(ca_file: Path | None = None) -> ssl.SSLContext:
    """A context that trusts this machine's certificates, and those of `ca_file` in addition.

    Made once for each file: reading takes 23 ms. Raises BadCertificatesError.
    """
    return _context(os.environ.get(VARIABLE), os.environ.get("SSL_CERT_DIR"), ca_file)


def unverified() -> ssl.SSLContext:
    """TLS that takes every certificate, and a context for connections without TLS: made at once."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def certificates_in(file: Path, named_by: str = "") -> None:
    """Check that a file has a certificate in PEM. Raises BadCertificatesError."""
    try:
        ssl.create_default_context(cafile=str(file))
    except OSError as problem:  # SSLError is one
        why = (
            "has no certificate in PEM" if isinstance(problem, ssl.SSLError) else f"cannot be read: {problem.strerror}"
        )
        raise BadCertificatesError(f"{named_by}{file} {why}") from problem


@lru_cache(maxsize=8)
def _context(machines: str | None, _folder: str | None, ca_file: Path | None) -> ssl.SSLContext:
    if machines:  # OpenSSL says nothing of a file that it cannot read
        certificates_in(Path(machines), f"{VARIABLE}: ")
    context = ssl.create_default_context()
    if ca_file is not None:
        certificates_in(ca_file)
        context.load_verify_locations(cafile=str(ca_file))
    return context
