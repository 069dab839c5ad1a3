"""Faults of the collateral that vouches for the platform: stale, signed by somebody else, or for another platform."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from conformance.selftest.tools.alter_attestation import change_platform, serve_collateral
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.tee.collateral import CollateralForm, tcb_info_document
from reference_node.tee.pki import CrlForm, PlatformForm


@mutant("ATT-140")
def collateral_is_signed_by_somebody_else(node: Node) -> None:
    """Serve TCB info and QE identity that are not signed by the TCB signer."""
    serve_collateral(node, form=CollateralForm(signing_key="somebody"))


@mutant("ATT-140")
def tcb_info_is_of_another_platform(node: Node) -> None:
    """Serve TCB info that is rightly signed, but for another family of platforms."""
    document = {**tcb_info_document(node.attestation.platform), "fmspc": "908060000001"}
    serve_collateral(node, form=CollateralForm(tcb_info=document))


REVOCATION = (
    row("leaf", lambda form: replace(form, pck_crl=CrlForm(issuer="pck_ca", revoked=("pck",)))),
    row("authority", lambda form: replace(form, root_crl=CrlForm(issuer="root", revoked=("pck_ca",)))),
)


@mutant("ATT-140", each=REVOCATION)
def certificate_is_not_good_any_more(node: Node, change: Callable[[PlatformForm], PlatformForm]) -> None:
    """Revoke a certificate of the platform's chain."""
    change_platform(node, change)
