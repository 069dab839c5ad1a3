"""Who the machine says it is: one identity behind both quotes."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass

from reference_node.chain.interface import Address
from reference_node.tee.compose import compose_hash
from reference_node.tee.quotes import TdReport

INSTANCE_ID_BYTES = 20


def derived(root_secret: bytes, purpose: str) -> bytes:
    """32 bytes for this purpose that tell nothing about the root secret."""
    return hmac.digest(root_secret, b"tee\x00" + purpose.encode(), "sha256")


@dataclass(frozen=True)
class Identity:
    """What the registers of the machine and its event log tell of it."""

    app_id: Address
    """The address of the application-authorisation contract, 20 bytes."""
    instance_id: bytes
    """20 bytes, another for each root secret."""
    app_compose: str
    """The application's description; its hash is measured."""
    key_provider_id: bytes
    """The public key of the key-derivation service, 32 bytes."""
    mr_td: bytes = TdReport.mr_td
    """The measurement of the virtual firmware, 48 bytes."""
    os_image_hash: bytes = hashlib.sha256(b"simulated operating system image").digest()
    """The measurement of the operating system's image, 32 bytes."""

    @property
    def compose_hash(self) -> bytes:
        """SHA-256 of `app_compose`, 32 bytes."""
        return compose_hash(self.app_compose)


def identity_of(root_secret: bytes, app_id: Address, app_compose: str) -> Identity:
    """The identity of the machine that has this root secret and runs this application."""
    return Identity(
        app_id=app_id,
        instance_id=derived(root_secret, "instance id")[:INSTANCE_ID_BYTES],
        app_compose=app_compose,
        key_provider_id=derived(root_secret, "key provider"),
    )
