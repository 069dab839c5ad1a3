"""Vectors of the certificate revocation lists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cryptography.hazmat.primitives.serialization import Encoding

from conformance.selftest.attestation.forms import Group, Test, accepted, refused
from conformance.selftest.attestation.quote_scene import QuoteScene
from reference_node.tee.pki import CrlForm, PlatformForm, Role

LISTS: dict[str, tuple[str, CrlForm]] = {
    "the PCK CRL": ("pck_crl", CrlForm(issuer="pck_ca")),
    "the root CRL": ("root_crl", CrlForm(issuer="root")),
}
SECOND = 1 / 86400


def groups(seed: bytes) -> list[Group]:
    """The groups of revocation lists."""
    scene = QuoteScene(seed)
    return [
        scene.group("revocation", "Certificates that are revoked", list(_revoked(scene))),
        scene.group("crl", "Who issues a revocation list, when, and in which form", [*_issuers(scene), *_dates(scene)]),
        scene.group("crl-form", "A revocation list is DER and nothing else", list(_forms(scene))),
    ]


def _with(scene: QuoteScene, name: str, form: CrlForm) -> dict[str, str]:
    return replace(scene, platform=replace(PlatformForm(), **{name: form})).files()  # type: ignore[arg-type]


def _revoked(scene: QuoteScene) -> Iterator[Test]:
    rows: list[tuple[str, str, Role]] = [
        ("the PCK certificate", "pck_crl", "pck"),
        ("the PCK CA", "root_crl", "pck_ca"),
        ("the TCB signer", "root_crl", "tcb_signer"),
        ("the root itself", "root_crl", "root"),
    ]
    for what, name, role in rows:
        issuer: Role = "pck_ca" if name == "pck_crl" else "root"
        listed = _with(scene, name, CrlForm(issuer=issuer, revoked=(role,)))
        yield refused("certificate-revoked", f"{what} is revoked", listed, "Revoked")
    among = CrlForm(issuer="pck_ca", revoked=("pck",), revoked_serials=tuple(range(1, 40)))
    yield refused(
        "certificate-revoked", "the PCK certificate behind 39 others", _with(scene, "pck_crl", among), "Revoked"
    )
    others = CrlForm(issuer="pck_ca", revoked_serials=tuple(range(1, 40)))
    yield accepted("39 other PCK certificates are revoked", _with(scene, "pck_crl", others), "Variant")
    wrong_list = CrlForm(issuer="root", revoked=("pck",))
    yield accepted(
        "the root's list has the PCK certificate's serial number, which is another issuer's",
        _with(scene, "root_crl", wrong_list),
        "Variant",
    )


def _issuers(scene: QuoteScene) -> Iterator[Test]:
    members = scene.members
    for what, (name, form) in LISTS.items():
        stranger = _with(scene, name, replace(form, signing_key="stranger"))
        yield refused("signature", f"{what} is signed by another key", stranger, "WrongSigner")
        leaf = _with(scene, name, replace(form, signing_key="pck"))
        yield refused("signature", f"{what} is signed by the PCK", leaf, "WrongSigner")
    exchanged = {"pck_crl": members["root_ca_crl"], "root_ca_crl": members["pck_crl"]}
    yield refused("crl-issuer", "the two lists are exchanged", scene.files(members=exchanged), "WrongSigner")
    twice = {"pck_crl": members["root_ca_crl"]}
    yield refused("crl-issuer", "the root CRL stands for both", scene.files(members=twice), "WrongSigner")
    twice = {"root_ca_crl": members["pck_crl"]}
    yield refused("crl-issuer", "the PCK CRL stands for both", scene.files(members=twice), "WrongSigner")
    other = replace(scene, seed=scene.seed + b" stranger").members
    for what, name in {"the PCK CRL": "pck_crl", "the root CRL": "root_ca_crl"}.items():
        changed = scene.files(members={name: other[name]})
        yield refused("signature", f"{what} of another platform's CA of the same name", changed, "WrongSigner")
    roles: tuple[Role, ...] = ("root", "pck_ca")
    for role in roles:
        unfit = replace(scene, platform=scene.platform.with_certificate(role, crl_sign=False))
        test = refused("signature", f"the {role} may not sign lists", unfit.files(), "WrongSigner")
        yield replace(test, root=unfit.machine.root_pem)


def _dates(scene: QuoteScene) -> Iterator[Test]:
    for what, (name, form) in LISTS.items():
        for comment, days, flag in (
            ("has expired", (-31, -1), "Expired"),
            ("expired a second ago", (-31, -SECOND), "Expired"),
            ("is issued tomorrow", (1, 30), "NotYetValid"),
        ):
            dated = _with(scene, name, replace(form, valid_days=days))
            yield refused("collateral-date", f"{what} {comment}", dated, flag)
        begins = _with(scene, name, replace(form, valid_days=(0, 30)))
        yield accepted(f"{what} is issued this second", begins, "Boundary")


def _forms(scene: QuoteScene) -> Iterator[Test]:
    for what, name in {"the PCK CRL": "pck_crl", "the root CRL": "root_ca_crl"}.items():
        der = bytes.fromhex(scene.members[name])
        for comment, changed in {
            "is empty": b"",
            "lacks its last byte": der[:-1],
            "has a byte too many": der + b"\x00",
            "is PEM": b"-----BEGIN X509 CRL-----\n",
            "is a certificate": scene.machine.pck_ca.public_bytes(Encoding.DER),
        }.items():
            yield refused("crl-malformed", f"{what} {comment}", scene.files(members={name: changed.hex()}), "Malformed")
