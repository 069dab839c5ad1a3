"""The simulated platform: its PKI as openssl and dcap-qvl read it, its quotes byte for byte."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dcap_qvl
import pytest
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from programs import absent

from reference_node.tee.collateral import CollateralForm, make_collateral, tcb_info_document
from reference_node.tee.pki import ORGANIZATION, CrlForm, Platform, PlatformForm, Role
from reference_node.tee.quotes import QuoteForm, TdReport, TdReport15, make_quote
from reference_node.tee.sgx_extension import PlatformTcb

NOW = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
ROLES: tuple[Role, ...] = ("root", "pck_ca", "pck", "tcb_signer")


@pytest.fixture(scope="module")
def platform() -> Platform:
    return Platform(b"seed", NOW)


@pytest.mark.parametrize("other", [Platform(b"other", NOW), Platform(b"seed", NOW + timedelta(seconds=1))])
def test_other_seed_or_time_gives_other_certificates(platform: Platform, other: Platform) -> None:
    for role in ROLES:
        assert other.certificate(role) != platform.certificate(role)


def test_fields_of_the_report_stand_where_dcap_qvl_reads_them(platform: Platform) -> None:
    sizes = {name: len(value) for name, value in vars(TdReport15()).items()}
    values = {name: bytes([place + 1]) * size for place, (name, size) in enumerate(sizes.items())}
    read = dcap_qvl.parse_quote(make_quote(platform, TdReport15(**values), version=5)).report
    there = {
        "rtmr0": "rt_mr0",
        "rtmr1": "rt_mr1",
        "rtmr2": "rt_mr2",
        "rtmr3": "rt_mr3",
        "tee_tcb_svn_2": "tee_tcb_svn2",
    }
    for name, value in values.items():
        assert bytes(getattr(read, there.get(name, name))) == value, name


def test_sgx_extension_says_what_the_platform_is() -> None:
    tcb = PlatformTcb(fmspc=bytes.fromhex("00a0b0c0d0e0"), pceid=b"\x01\x02", pcesvn=300, components=tuple(range(16)))
    other = Platform(b"seed", NOW, PlatformForm(tcb=tcb))
    read = dcap_qvl.parse_pck_extension_from_pem(other.pck_chain_pem.encode())
    assert (bytes(read.fmspc), bytes(read.pce_id), read.pce_svn) == (tcb.fmspc, tcb.pceid, 300)
    assert (bytes(read.cpu_svn), bytes(read.ppid), read.sgx_type) == (bytes(range(16)), other.derived("ppid", 16), 1)


def test_every_certificate_names_itself_simulated(platform: Platform) -> None:
    for role in ROLES:
        names = platform.certificate(role).subject.get_attributes_for_oid(x509.NameOID.ORGANIZATION_NAME)
        assert [name.value for name in names] == [ORGANIZATION]
    assert "Simulated" in ORGANIZATION


def test_chain_and_revocation_lists_verify_with_openssl(platform: Platform, tmp_path: Path) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        absent("openssl is missing: install it")
    revoked = Platform(b"seed", NOW, PlatformForm(pck_crl=CrlForm(issuer="pck_ca", revoked=("pck",))))
    for place, (machine, expected) in enumerate([(platform, 0), (revoked, 2)]):
        folder = tmp_path / str(place)
        folder.mkdir()
        (folder / "root.pem").write_text(machine.root_pem)
        (folder / "ca.pem").write_bytes(machine.pck_ca.public_bytes(Encoding.PEM))
        (folder / "pck.pem").write_bytes(machine.pck.public_bytes(Encoding.PEM))
        lists = [x509.load_der_x509_crl(der).public_bytes(Encoding.PEM) for der in (machine.root_crl, machine.pck_crl)]
        (folder / "crls.pem").write_bytes(b"".join(lists))
        command = [openssl, "verify", "-x509_strict", "-crl_check_all", "-attime", str(int(NOW.timestamp()))]
        command += ["-CAfile", "root.pem", "-untrusted", "ca.pem", "-CRLfile", "crls.pem", "pck.pem"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603
        assert done.returncode == expected, done.stderr
        assert ("certificate revoked" in done.stderr) == bool(expected)


def test_document_can_be_signed_as_it_stands(platform: Platform) -> None:
    text = '{"id": "TDX" }'
    collateral = make_collateral(platform, form=CollateralForm(tcb_info_text=text))
    assert collateral.tcb_info == text
    assert tcb_info_document(platform)["id"] == "TDX"


@pytest.mark.parametrize(
    ("report", "version", "told"),
    [
        (TdReport(), 3, "version 4 or 5"),
        (TdReport15(), 4, "version 5"),
        (replace(TdReport(), rtmr3=bytes(47)), 4, "rtmr3 of a TD report has 48 bytes, not 47"),
    ],
)
def test_layout_that_no_hardware_makes_is_refused(
    platform: Platform, report: TdReport, version: int, told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        make_quote(platform, report, version=version)


def test_form_of_a_quote_changes_nothing_else(platform: Platform) -> None:
    usual = make_quote(platform, TdReport())
    vendor = make_quote(platform, TdReport(), form=QuoteForm(qe_vendor=bytes(16)))
    differing = [place for place, (a, b) in enumerate(zip(usual, vendor, strict=True)) if a != b]
    assert set(differing) <= {*range(12, 28), *range(636, 700)}
