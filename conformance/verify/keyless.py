"""Statements signed with an identity in place of a key: Sigstore bundles (https://docs.sigstore.dev/about/bundle).

Sigstore's own library, of the extra `sigstore`, signs them, and judges certificate, log entry and signature offline.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

from conformance.verify.dsse import Signed
from conformance.verify.policy import KeylessSigner

if TYPE_CHECKING:
    from cryptography.x509 import Certificate
    from sigstore.models import ClientTrustConfig, TrustedRoot
    from sigstore.oidc import IdentityToken

# The library is imported where it is used: only those who name identities have installed it.
# It warns of every root that is not fetched anew; without a handler Python would print that.
logging.getLogger("sigstore").addHandler(logging.NullHandler())

MOST_SHOWN = 300
"""Characters of an error that are shown."""


def require_library() -> None:
    """ValueError: the extra is not installed."""
    if find_spec("sigstore") is None:
        raise ValueError("Sigstore's library is not installed: pip install 'service-conformance[sigstore]'")


def read_trusted_root(body: bytes) -> TrustedRoot:
    """Whom an instance of Sigstore trusts, of its `trusted_root.json`. ValueError: it is none."""
    require_library()
    from sigstore.errors import Error  # noqa: PLC0415
    from sigstore.models import TrustedRoot  # noqa: PLC0415
    from sigstore_models.trustroot.v1 import TrustedRoot as TrustedRootForm  # noqa: PLC0415

    try:
        root = TrustedRoot(TrustedRootForm.from_json(body))
        root.get_fulcio_certs()
    except (Error, ValueError) as problem:
        raise ValueError(f"no trusted root of Sigstore: {_on_one_line(problem)}") from problem
    return root


def public_root() -> TrustedRoot:
    """Whom the public instance trusts: as fetched last on this machine, else as the library ships it.

    ValueError: the library cannot write its cache.
    """
    require_library()
    from sigstore.models import ClientTrustConfig  # noqa: PLC0415

    try:
        return ClientTrustConfig.production(offline=True).trusted_root
    except OSError as problem:
        raise ValueError(f"Sigstore's library cannot write its cache: {problem}; name a trusted root") from problem


def signing_identity(signed: Signed, accepted: Sequence[KeylessSigner], root: TrustedRoot) -> KeylessSigner:
    """Who of the accepted signed. ValueError: none of them, or the bundle proves nothing."""
    from sigstore.errors import VerificationError  # noqa: PLC0415
    from sigstore.models import Bundle  # noqa: PLC0415
    from sigstore.verify import Verifier  # noqa: PLC0415
    from sigstore.verify.policy import Identity  # noqa: PLC0415

    found: list[KeylessSigner] = []

    class Accepted:
        """Takes the certificate of anybody who is accepted, and keeps who it is."""

        def verify(self, cert: Certificate) -> None:
            for signer in accepted:
                try:
                    Identity(identity=signer.identity, issuer=signer.issuer).verify(cert)
                except VerificationError:
                    continue
                found.append(signer)
                return
            raise VerificationError(f"signed by {told(identity_of(cert))}, whom the policy does not name")

    try:
        bundle = Bundle.from_json(signed.bundle or b"")
        verified = Verifier(trusted_root=root).verify_dsse(bundle, Accepted())
    except Exception as problem:  # whatever the library meets in a hostile bundle: it proves nothing
        raise ValueError(f"the bundle does not verify: {_on_one_line(problem)}") from problem
    if verified != (signed.payload_type, signed.payload):
        raise ValueError("the bundle has a second envelope, and its signature is of that")
    return found[0]


def told(signer: KeylessSigner) -> str:
    """An identity for people."""
    return f"identity {signer.identity}, issuer {signer.issuer}"


def identity_of(certificate: Certificate) -> KeylessSigner:
    """Who a certificate of Fulcio names. ValueError, ExtensionNotFound: it names nobody."""
    from cryptography.x509 import (  # noqa: PLC0415
        ObjectIdentifier,
        OtherName,
        RFC822Name,
        SubjectAlternativeName,
        UniformResourceIdentifier,
        UnrecognizedExtension,
    )

    issuer = certificate.extensions.get_extension_for_oid(ObjectIdentifier("1.3.6.1.4.1.57264.1.1")).value
    names = certificate.extensions.get_extension_for_class(SubjectAlternativeName).value
    texts = [*names.get_values_for_type(RFC822Name), *names.get_values_for_type(UniformResourceIdentifier)]
    texts += [name.value.decode() for name in names.get_values_for_type(OtherName)]
    raw = issuer.value if isinstance(issuer, UnrecognizedExtension) else b""
    return KeylessSigner(", ".join(texts), raw.decode())


def sign(payload: bytes, token: str | None, trust_config: bytes | None) -> tuple[bytes, KeylessSigner]:
    """The bundle of a statement, as JSON, and who signed it: whom the token, else the environment or a browser names.

    `trust_config`: an instance's ClientTrustConfig; None: the public one, fetched anew. ValueError: nothing is signed.
    """
    require_library()
    from sigstore.dsse import Statement  # noqa: PLC0415
    from sigstore.models import ClientTrustConfig  # noqa: PLC0415
    from sigstore.oidc import IdentityToken  # noqa: PLC0415
    from sigstore.sign import SigningContext  # noqa: PLC0415

    try:
        trust = (
            ClientTrustConfig.from_json(trust_config.decode())
            if trust_config is not None
            else ClientTrustConfig.production()
        )
        identity = IdentityToken(token) if token is not None else _identity(trust)
        with SigningContext.from_trust_config(trust).signer(identity) as signer:
            bundle = signer.sign_dsse(Statement(payload))
        return f"{bundle.to_json()}\n".encode(), identity_of(bundle.signing_certificate)
    except Exception as problem:  # the library's errors, and those of its connections, have no base in common
        raise ValueError(_on_one_line(problem)) from problem


def _identity(trust: ClientTrustConfig) -> IdentityToken:
    from sigstore.oidc import IdentityToken, Issuer, detect_credential  # noqa: PLC0415

    token = detect_credential()
    if token is not None:
        return IdentityToken(token)
    return Issuer(trust.signing_config.get_oidc_url()).identity_token()


def _on_one_line(problem: BaseException) -> str:
    """What is wrong. Some errors of the library say it in their cause alone."""
    text = " ".join(str(problem).split())
    if not text and problem.__cause__ is not None:
        return _on_one_line(problem.__cause__)
    return text[:MOST_SHOWN] or type(problem).__name__
