"""A correct node that takes signed envelopes in other forms."""

from __future__ import annotations

import re
from dataclasses import replace

from conformance.selftest.tools.alter import Answered, Forward, Received, intercept
from conformance.selftest.tools.alter_envelopes import About, Check, around_verdict, refuse
from conformance.selftest.variants.variant import choices
from reference_node.node import Node
from reference_node.permission.keys import CURVE_ORDER
from reference_node.permission.typed_data import Members

SIGNATURE = re.compile(r"0x([0-9a-fA-F]{64})([0-9a-fA-F]{64})(1b|1c|1B|1C)")
PARTS = {"domain": ("name", "version", "chainId"), "message": ("address", "issuedAt")}


@choices(
    {
        "capabilities": ["managed_accounts", "wallet_signed", "chain_rpc", "clock_control", "funded_wallet", "billing"],
        "wire": {"typed_data": {"form": ["string"]}, "x_wallet_auth": {"encoding": "base64url_json"}},
        "env": {
            "numeric_forms": ["decimal_string"],
            "signature_forms": {"recovery_bytes": [27, 28], "high_s": "accepted"},
            "undeclared_keys": "ignored",
        },
    }
)
def other_envelope_forms(node: Node) -> None:
    """Take signed envelopes in other forms.

    An envelope is a string, and `X-Wallet-Auth` is base64url. Numbers are decimal texts. The last byte of a signature
    is 27 or 28, and its s may be high. Members that `types` does not declare are ignored.
    """
    around_verdict(node, _in_other_forms(node))
    intercept(node, "billing/balance", _from_base64url)


def _in_other_forms(node: Node) -> Check:
    def verify(original: Check, data: object, signature: object, about: About) -> object:
        if not isinstance(data, str):
            raise refuse("typed-data-not-a-string")
        return original(_declared(node.envelopes.opened(data)), _low(signature), **about)

    return verify


def _declared(document: object) -> object:
    if not isinstance(document, dict):
        return document
    known: Members = {name: value for name, value in document.items() if name in {"types", "primaryType", *PARTS}}
    for part, names in PARTS.items():
        value = known.get(part)
        if isinstance(value, dict):
            known[part] = {name: _decimal(name, value[name]) for name in names if name in value}
    return known


def _decimal(name: str, value: object) -> object:
    if name in {"chainId", "issuedAt"} and not (isinstance(value, str) and value.isdecimal()):
        raise refuse("typed-data-number")
    return value


def _low(signature: object) -> object:
    found = SIGNATURE.fullmatch(signature) if isinstance(signature, str) else None
    if found is None:
        raise refuse("signature-malformed")
    r, s, v = found[1], int(found[2], 16), int(found[3], 16)
    return signature if s <= CURVE_ORDER // 2 else f"0x{r}{CURVE_ORDER - s:064x}{55 - v:02x}"


async def _from_base64url(request: Received, forward: Forward) -> Answered:
    headers = tuple(
        (name, value.replace(b"-", b"+").replace(b"_", b"/") if name == b"x-wallet-auth" else value)
        for name, value in request.headers
    )
    return await forward(replace(request, headers=headers))
