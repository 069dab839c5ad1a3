"""Faults of the collateral that vouches for the platform: stale, signed by somebody else, or for another platform."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.selftest.tools.alter_attestation import Members, change_platform, serve_collateral
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.tee.collateral import (
    CollateralForm,
    tcb_info_document,
)
from reference_node.tee.pki import CrlForm, PlatformForm

SIGNED = (
    row("root", CollateralForm(signer="root")),
    row("leaf", CollateralForm(signer="pck")),
    row("authority", CollateralForm(signer="pck_ca")),
    row("somebody", CollateralForm(signing_key="somebody")),
)


@mutant("ATT-140", each=SIGNED)
def collateral_is_signed_by_somebody_else(node: Node, form: CollateralForm) -> None:
    """Serve TCB info and QE identity that are not signed by the TCB signer."""
    serve_collateral(node, form=form)


INFO = (
    row("family", {"fmspc": "908060000001"}),
    row("engine", {"pceId": "0001"}),
    row("sgx", {"id": "SGX"}),
    row("no-levels", {"tcbLevels": []}),
    row("version", {"version": 2}),
)


@mutant("ATT-140", each=INFO)
def tcb_info_is_of_another_platform(node: Node, other: Members) -> None:
    """Serve TCB info that is rightly signed, but for another platform."""
    document = {**tcb_info_document(node.attestation.platform), **other}
    serve_collateral(node, form=CollateralForm(tcb_info=document))


REVOCATION = (
    row("leaf", lambda form: replace(form, pck_crl=CrlForm(issuer="pck_ca", revoked=("pck",)))),
    row("authority", lambda form: replace(form, root_crl=CrlForm(issuer="root", revoked=("pck_ca",)))),
    row("signer", lambda form: replace(form, root_crl=CrlForm(issuer="root", revoked=("tcb_signer",)))),
    row("stale-list", lambda form: replace(form, pck_crl=CrlForm(issuer="pck_ca", valid_days=(-60, -1)))),
    row("stale-root-list", lambda form: replace(form, root_crl=CrlForm(issuer="root", valid_days=(-60, -1)))),
    row("list-of-somebody", lambda form: replace(form, pck_crl=CrlForm(issuer="pck_ca", signing_key="somebody"))),
    row("list-of-the-root", lambda form: replace(form, pck_crl=CrlForm(issuer="root"))),
    row("expired-signer", lambda form: form.with_certificate("tcb_signer", valid_days=(-60, -1))),
    row("signer-of-somebody", lambda form: form.with_certificate("tcb_signer", signing_key="somebody")),
)


@mutant("ATT-140", each=REVOCATION)
def certificate_is_not_good_any_more(node: Node, change: Callable[[PlatformForm], PlatformForm]) -> None:
    """Revoke a certificate, or serve a revocation list that says nothing about it."""
    change_platform(node, change)
