"""Faults about which signature opens which call, and for how long ("Authentication" 6)."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

from conformance.selftest.tools.alter import Answered, Forward, Received, answer, body_of, change_refused, intercept
from conformance.selftest.tools.alter_envelopes import (
    CONVERSION,
    MINTS,
    About,
    Check,
    around_verdict,
    judge_by,
    members_of,
    refuse,
    stated_flow,
    where_another_signed,
)
from conformance.selftest.tools.mutant import mutant
from conformance.values.typed_data import digest
from reference_node.node import Node
from reference_node.permission.signatures import parse_signature, recover
from reference_node.permission.typed_data import DOMAIN_FIELDS, MESSAGE_FIELDS, Flow, Members
from reference_node.problems import BadRequest


@mutant("ENV-140", "WSIG-050", "WSIG-070", also="BILL-240 ENV-150 WSIG-060")
def any_flow_will_do(node: Node) -> None:
    """Accept an envelope for any flow in each flow."""
    judge_by(node, stated_flow)


@mutant("ENV-140", also="BILL-240 ENV-150 ERR-030 WSIG-050 WSIG-060 WSIG-070")
def any_flow_will_do_in_a_string(node: Node) -> None:
    """Accept an envelope for any flow in each flow where `typed_data` is a JSON string."""

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        flow: About = {}
        if isinstance(data, str):
            with suppress(KeyError, ValueError):
                flow = stated_flow(members_of(data), about)
        return original(data, signature, **about | flow)

    around_verdict(node, verify)


@mutant("ENV-150", also="BILL-240 ENV-210 ENV-220")
def signatures_are_not_bound_to_a_flow(node: Node) -> None:
    """Accept a signature over another flow's envelope with the same values."""
    where_another_signed(node, _by_any_flow)


def _by_any_flow(verify: Check, data: Members, signature: object, about: About) -> object:
    fields = {"EIP712Domain": DOMAIN_FIELDS}
    for flow in Flow:
        rewritten = {**data, "primaryType": flow.value, "types": {**fields, flow.value: MESSAGE_FIELDS}}
        try:
            return verify(rewritten, signature, **about | {"flow": flow})
        except BadRequest:
            continue
    raise refuse("signature-mismatch")


@mutant("ENV-280", "ENV-460", also="ENV-260")
def accepted_envelopes_stay_good(node: Node) -> None:
    """Accept for ever an envelope that was accepted once."""
    known: dict[str, object] = {}

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        name = f"{about['flow']} {data} {signature}"
        if name not in known:
            known[name] = original(data, signature, **about)
        return known[name]

    around_verdict(node, verify)


@mutant("ENV-220", also="BILL-240 ENV-210")
def domain_is_good_without_its_chain(node: Node) -> None:
    """Accept a signature over the envelope without its chain id."""

    def judge(_: Check, data: dict[str, Any], signature: object, __: About) -> object:
        types = {**data["types"], "EIP712Domain": DOMAIN_FIELDS[:2]}
        signer = recover(digest({**data, "types": types}), parse_signature(signature))
        node.envelopes.check_signer(signer, node.envelopes.address(data["message"]))
        return signer

    where_another_signed(node, judge)


@mutant("WSIG-090", also="AUTH-070 VER-050")
def keys_are_asked_of_mints(node: Node) -> None:
    """Refuse a mint that carries a key."""

    async def handler(request: Received, forward: Forward) -> Answered:
        if request.key is not None:
            return answer(401, {"code": "no-key-wanted"})
        return await forward(request)

    intercept(node, MINTS, handler)


@mutant("WSIG-090", also="ENV-210 ENV-220 MINT-020 MINT-100 UKEY-360")
def keys_stand_in_for_signatures(node: Node) -> None:
    """Answer a mint that carries a key with the previous mint's answer, whatever its signature."""
    last: dict[str, Answered] = {}

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.accepted:
            last[request.operation] = given
        return given if request.key is None else last.get(request.operation, given)

    intercept(node, MINTS, handler)


@mutant("WSIG-080", also="MINT-040 MINT-120 MINT-180")
def mints_give_the_signer_back(node: Node) -> None:
    """Answer the signer's address as the minted wallet."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        data = body_of(request).get("typed_data")
        message = data.get("message") if isinstance(data, dict) else None
        if not given.accepted or not isinstance(message, dict):
            return given
        return answer(200, {**given.told, "wallet_address": message["address"]})

    intercept(node, MINTS, handler)


@mutant("ERR-140", "WSIG-100", also="MINT-020 VER-050")
def refused_mints_give_a_wallet_all_the_same(node: Node) -> None:
    """Show a wallet and a path in the refusal of a mint."""

    def changed(request: Received, given: Answered) -> Answered:
        derived = node.keys.wallet_key(int.from_bytes(request.body[-31:]) | 1)
        told = {"wallet_address": f"0x{derived[:20].hex()}", "derivation_path": "0x01"}
        return answer(given.status, {**given.told, **told})

    change_refused(node, MINTS, changed)


@mutant("EP-030", "ERR-140", server_fault=True, also="ENV-400 VER-050")
def bodies_without_envelopes_are_server_faults(node: Node) -> None:
    """Answer a wallet-signed call whose body is no object with status 500."""

    async def handler(request: Received, forward: Forward) -> Answered:
        if request.method == "POST" and not _holds_an_object(request.body):
            return answer(500, {"code": "server-error"})
        return await forward(request)

    intercept(node, (*MINTS, CONVERSION), handler)


def _holds_an_object(body: bytes) -> bool:
    try:
        return isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False
