"""Conversion to ChainSecured mode where the specification is silent ("States and transitions / Account mode")."""

from __future__ import annotations

from typing import Literal

from conformance.profile.section import AcceptedOrRefused, Section


class Mode(Section):
    """Choices about conversion."""

    old_master_key_reads: AcceptedOrRefused | None = "unauthenticated"
    """Lists with the old master key (MODE-280)."""
    old_master_key_execute: AcceptedOrRefused | None = "unauthenticated"
    """Runs with the old master key (MODE-290)."""
    admin_address_reuse: Literal["accepted", "refused"] | None = "accepted"
    """One wallet as admin of several accounts (MODE-320)."""
    contract_admin: Literal["accepted", "refused"] | None = "accepted"
    """A contract wallet as admin of the account that it makes on the chain (MODE-320)."""
