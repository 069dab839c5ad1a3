"""Follows what a node mints by signature."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field

from conformance.selftest.tools.alter import Answered, Forward, Received, intercept
from conformance.selftest.tools.alter_envelopes import MINTS
from reference_node.chain.interface import Address
from reference_node.node import Node
from reference_node.permission.keys import key_hash


@dataclass
class Minted:
    """What a node has minted so far."""

    wallets: dict[Address, int] = field(default_factory=dict)
    """Address to derivation path."""
    keys: dict[int, int] = field(default_factory=dict)
    """Hash of a usage key to the derivation path of its wallet."""


def follow_mints(node: Node) -> Minted:
    """Return what the node mints from now on; it grows with it."""
    minted = Minted()

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted:
            told = json.loads(given.body)
            path = int(told["derivation_path"], 16)
            minted.wallets[Address(bytes.fromhex(told["wallet_address"][2:]))] = path
            if "usage_api_key" in told:
                minted.keys[key_hash(base64.b64decode(told["usage_api_key"]))] = path
        return given

    intercept(node, MINTS, handler)
    return minted
