"""Vectors of the certificate revocation lists."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cryptography.hazmat.primitives.serialization import Encoding

from conformance.selftest.attestation.forms import Group, Test, accepted, refused
from conformance.selftest.attestation.sound_quote import SoundQuote
from reference_node.tee.pki import CrlForm, PlatformForm, Role

LISTS: dict[str, tuple[str, CrlForm]] = {
    "the PCK CRL": ("pck_crl", CrlForm(issuer="pck_ca")),
    "the root CRL": ("root_crl", CrlForm(issuer="root")),
}
SECOND = 1 / 86400


def groups(seed: bytes) -> list[Group]:
    """The groups of revocation lists."""
    sound = SoundQuote(seed)
    return [
        sound.group("revocation", "Certificates that are revoked", list(_revoked(sound))),
        sound.group("crl", "Who issues a revocation list, when, and in which form", [*_issuers(sound), *_dates(sound)]),
        sound.group("crl-form", "A revocation list is DER and nothing else", list(_forms(sound))),
    ]


def _with(sound: SoundQuote, name: str, form: CrlForm) -> dict[str, str]:
    return replace(sound, platform=replace(PlatformForm(), **{name: form})).files()  # type: ignore[arg-type]


def _revoked(sound: SoundQuote) -> Iterator[Test]:
    rows: list[tuple[str, str, Role]] = [
        ("the PCK certificate", "pck_crl", "pck"),
        ("the PCK CA", "root_crl", "pck_ca"),
        ("the TCB signer", "root_crl", "tcb_signer"),
        ("the root itself", "root_crl", "root"),
    ]
    for what, name, role in rows:
        issuer: Role = "pck_ca" if name == "pck_crl" else "root"
        listed = _with(sound, name, CrlForm(issuer=issuer, revoked=(role,)))
        yield refused("certificate-revoked", f"{what} is revoked", listed, "Revoked")
    among = CrlForm(issuer="pck_ca", revoked=("pck",), revoked_serials=tuple(range(1, 40)))
    yield refused(
        "certificate-revoked", "the PCK certificate behind 39 others", _with(sound, "pck_crl", among), "Revoked"
    )
    others = CrlForm(issuer="pck_ca", revoked_serials=tuple(range(1, 40)))
    yield accepted("39 other PCK certificates are revoked", _with(sound, "pck_crl", others), "Variant")
    wrong_list = CrlForm(issuer="root", revoked=("pck",))
    yield accepted(
        "the root's list has the PCK certificate's serial number, which is another issuer's",
        _with(sound, "root_crl", wrong_list),
        "Variant",
    )


def _issuers(sound: SoundQuote) -> Iterator[Test]:
    members = sound.members
    for what, (name, form) in LISTS.items():
        stranger = _with(sound, name, replace(form, signing_key="stranger"))
        yield refused("signature", f"{what} is signed by another key", stranger, "WrongSigner")
        leaf = _with(sound, name, replace(form, signing_key="pck"))
        yield refused("signature", f"{what} is signed by the PCK", leaf, "WrongSigner")
    exchanged = {"pck_crl": members["root_ca_crl"], "root_ca_crl": members["pck_crl"]}
    yield refused("crl-issuer", "the two lists are exchanged", sound.files(members=exchanged), "WrongSigner")
    twice = {"pck_crl": members["root_ca_crl"]}
    yield refused("crl-issuer", "the root CRL stands for both", sound.files(members=twice), "WrongSigner")
    twice = {"root_ca_crl": members["pck_crl"]}
    yield refused("crl-issuer", "the PCK CRL stands for both", sound.files(members=twice), "WrongSigner")
    other = replace(sound, seed=sound.seed + b" stranger").members
    for what, name in {"the PCK CRL": "pck_crl", "the root CRL": "root_ca_crl"}.items():
        changed = sound.files(members={name: other[name]})
        yield refused("signature", f"{what} of another platform's CA of the same name", changed, "WrongSigner")
    roles: tuple[Role, ...] = ("root", "pck_ca")
    for role in roles:
        unfit = replace(sound, platform=sound.platform.with_certificate(role, crl_sign=False))
        test = refused("signature", f"the {role} may not sign lists", unfit.files(), "WrongSigner")
        yield replace(test, root=unfit.machine.root_pem)


def _dates(sound: SoundQuote) -> Iterator[Test]:
    for what, (name, form) in LISTS.items():
        for comment, days, flag in (
            ("has expired", (-31, -1), "Expired"),
            ("expired a second ago", (-31, -SECOND), "Expired"),
            ("is issued tomorrow", (1, 30), "NotYetValid"),
        ):
            dated = _with(sound, name, replace(form, valid_days=days))
            yield refused("collateral-date", f"{what} {comment}", dated, flag)
        begins = _with(sound, name, replace(form, valid_days=(0, 30)))
        yield accepted(f"{what} is issued this second", begins, "Boundary")


def _forms(sound: SoundQuote) -> Iterator[Test]:
    for what, name in {"the PCK CRL": "pck_crl", "the root CRL": "root_ca_crl"}.items():
        der = bytes.fromhex(sound.members[name])
        for comment, changed in {
            "is empty": b"",
            "lacks its last byte": der[:-1],
            "has a byte too many": der + b"\x00",
            "is PEM": b"-----BEGIN X509 CRL-----\n",
            "is a certificate": sound.machine.pck_ca.public_bytes(Encoding.DER),
        }.items():
            yield refused("crl-malformed", f"{what} {comment}", sound.files(members={name: changed.hex()}), "Malformed")
