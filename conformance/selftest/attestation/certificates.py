"""Vectors of the PKI beneath a quote: roots, certificate chains, validity, the PCK certificate's SGX extension."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from conformance.selftest.attestation.forms import Group, Test, accepted, refused, rows
from conformance.selftest.attestation.sound_quote import SoundQuote
from conformance.verify import intel_root
from reference_node.tee.pki import PlatformForm, Role, pem
from reference_node.tee.sgx_extension import PlatformTcb

NAMES: dict[Role, str] = {
    "root": "the root",
    "pck_ca": "the PCK CA",
    "pck": "the PCK certificate",
    "tcb_signer": "the TCB signer",
}


def groups(seed: bytes) -> list[Group]:
    """The groups of certificates."""
    sound = SoundQuote(seed)
    intel = [replace(test, root=intel_root().decode()) for test in _under_intel(sound)]
    return [
        sound.group("roots", "Which root a chain ends in", list(_roots(sound))),
        sound.group("intel-root", "The simulated platform under Intel's root certificate", intel),
        sound.group("chains", "Who issues which certificate, and may it", list(_chains(sound))),
        sound.group("validity", "Every certificate is valid at the time of judgement", list(_validity(sound))),
        sound.group("pck-extension", "What the PCK certificate says of its machine", list(_extension(sound))),
    ]


def _stranger(sound: SoundQuote, organization: str | None = None) -> SoundQuote:
    """The same quote on a platform whose root is its own."""
    form = PlatformForm()
    for role in NAMES if organization else ():
        form = form.with_certificate(role, organization=organization)
    return replace(sound, seed=sound.seed + b" stranger", platform=form)


def _roots(sound: SoundQuote) -> Iterator[Test]:
    stranger = _stranger(sound)
    named = _stranger(sound, "Intel Corporation")
    yield refused("root-simulated", "everything under the root of another platform", stranger.files(), "WrongRoot")
    yield refused("root-differs", "everything under another root that is named as Intel's", named.files(), "WrongRoot")
    yield refused(
        "root-simulated",
        "the quote of another platform, with this platform's collateral",
        sound.files(stranger.raw),
        "WrongRoot",
    )
    yield refused(
        "root-simulated",
        "this platform's quote, with TCB info and QE identity of another",
        sound.files(
            members={name: stranger.members[name] for name in stranger.members if "tcb" in name or "qe" in name}
        ),
        "WrongRoot",
    )
    ours, theirs = sound.machine, named.machine
    swapped = pem(theirs.pck, theirs.pck_ca, ours.root).encode() + b"\x00"
    changed = replace(named, quote=replace(named.quote, chain=swapped))
    yield refused(
        "pck-chain", "another platform's chain with the trusted root put on top", sound.files(changed.raw), "WrongRoot"
    )
    other = sound.with_certificate("root", key="stranger")
    yield refused("root-simulated", "everything under a root of the same name and another key", other, "WrongRoot")


def _under_intel(sound: SoundQuote) -> Iterator[Test]:
    yield refused(
        "root-simulated", "a sound simulated quote is no quote of Intel's hardware", sound.files(), "Simulated"
    )
    named = replace(sound, platform=_stranger(sound, "Intel Corporation").platform)
    yield refused("root-differs", "the same, with Intel's names in every certificate", named.files(), "Simulated")
    root = intel_root()
    chain = pem(sound.machine.pck, sound.machine.pck_ca).encode() + root + b"\x00"
    yield refused("pck-chain", "Intel's root on top of the simulated chain", sound.with_form(chain=chain), "Simulated")


def _chains(sound: SoundQuote) -> Iterator[Test]:
    yield accepted("PCK CA and root as they are", sound.files())
    with_form = sound.with_certificate
    for comment, files in {
        "the PCK CA is signed by another key": with_form("pck_ca", signing_key="stranger"),
        "the PCK certificate is signed by another key": with_form("pck", signing_key="stranger"),
        "the PCK certificate is signed by itself": with_form("pck", signing_key="pck"),
        "the TCB signer is signed by another key": with_form("tcb_signer", signing_key="stranger"),
    }.items():
        yield refused("signature", comment, files, "WrongChain")
    unsound = replace(sound, platform=sound.platform.with_certificate("root", signing_key="stranger"))
    yield _trusted(unsound, refused("signature", "the root is not signed by itself", unsound.files(), "WrongChain"))
    for comment, files in {
        "the PCK certificate is issued by the root": with_form("pck", issuer="root"),
        "the PCK certificate is issued by the TCB signer": with_form("pck", issuer="tcb_signer"),
        "the PCK CA is no CA": with_form("pck_ca", authority=False, path_length=None),
        "the PCK CA may not sign certificates": with_form("pck_ca", cert_sign=False),
        "the PCK certificate is a CA": with_form("pck", authority=True),
        "a PCK CA of another name": with_form("pck_ca", common_name="Intel SGX PCK Platform"),
        "a PCK certificate of another name": with_form("pck", common_name="PCK"),
        "the PCK certificate is of the processor CA, which issues for machines without TDX": replace(
            sound, platform=PlatformForm(pck_ca="Processor")
        ).files(),
    }.items():
        yield refused("pck-chain", comment, files, "WrongChain")
    signer = with_form("tcb_signer", common_name="Intel SGX TCB")
    yield refused("collateral-signer", "a TCB signer of another name", signer, "WrongChain")
    below = with_form("tcb_signer", issuer="pck_ca")
    yield refused("collateral-signer", "the TCB signer is issued by the PCK CA", below, "WrongChain")


def _trusted(sound: SoundQuote, test: Test) -> Test:
    """The test under the root of its own platform."""
    return replace(test, root=sound.machine.root_pem)


def _validity(sound: SoundQuote) -> Iterator[Test]:
    second = 1 / 86400
    for role, name in NAMES.items():
        for comment, code, days, flag in (
            ("has expired", "collateral-date", (-20, -1), "Expired"),
            ("expired a second ago", "collateral-date", (-20, -second), "Expired"),
            ("is not yet valid", "collateral-date", (1, 20), "NotYetValid"),
            ("is valid from this second on", None, (0, 20), "Boundary"),
        ):
            dated = replace(sound, platform=sound.platform.with_certificate(role, valid_days=days))
            told = f"{name} {comment}"
            test = refused(code, told, dated.files(), flag) if code else accepted(told, dated.files(), flag)
            yield _trusted(dated, test)


def _extension(sound: SoundQuote) -> Iterator[Test]:
    other = bytes.fromhex("908060000001")
    yield refused(
        "platform-differs", "a PCK certificate of another FMSPC", sound.with_tcb(fmspc=other), "PlatformDiffers"
    )
    pceid = sound.with_tcb(pceid=b"\x01\x00")
    yield refused("platform-differs", "a PCK certificate of another PCE", pceid, "PlatformDiffers")
    usual = PlatformTcb().components
    contradicting = sound.with_tcb(cpusvn=bytes(16))
    yield refused("pck-contradiction", "CPUSVN is zero, the components are not", contradicting, "Contradiction")
    higher = sound.with_tcb(components=(0,) * 16, cpusvn=bytes(usual))
    yield refused("pck-contradiction", "CPUSVN is current, the components are zero", higher, "Contradiction")
    for comment, changes in rows(
        {
            "an FMSPC of 5 bytes": {"fmspc": bytes(5)},
            "an FMSPC of 7 bytes": {"fmspc": bytes(7)},
            "a PCE id of 3 bytes": {"pceid": bytes(3)},
            "a PPID of 15 bytes": {"ppid": bytes(15)},
            "15 components": {"components": usual[:15]},
            "17 components": {"components": (*usual, 0)},
            "a component of 256": {"components": (256, *usual[1:]), "cpusvn": bytes(usual)},
            "a negative component": {"components": (-1, *usual[1:]), "cpusvn": bytes(usual)},
            "a CPUSVN of 15 bytes": {"cpusvn": bytes(usual[:15])},
            "a PCESVN of 65536": {"pcesvn": 65536},
        }
    ):
        yield refused("pck-extension", comment, sound.with_tcb(**changes), "Malformed")
    letters = replace(sound, platform=PlatformForm(tcb=PlatformTcb(fmspc=bytes.fromhex("b0c06f000000"))))
    yield accepted("an FMSPC with letters, which TCB info writes in upper case", letters.files(), "HexCase")
