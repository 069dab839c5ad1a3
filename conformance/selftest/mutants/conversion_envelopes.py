"""Faults of the conversion: what it believes, and what it does not look at ("Wallet-signed endpoints" 2)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from pydantic import JsonValue

from conformance.selftest.tools.alter import (
    Answered,
    Forward,
    Received,
    answer_instead,
    body_of,
    change_body,
    intercept,
    members,
    refusal,
)
from conformance.selftest.tools.alter_envelopes import (
    CONVERSION,
    About,
    Check,
    address_in,
    around_verdict,
    judge_by,
    members_of,
    read_as,
    refuse,
    stated_chain,
    stated_flow,
    stated_time,
    where_refused,
)
from conformance.selftest.tools.api_keys import last_account_key, presented
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.permission.keys import key_hash, parse_key
from reference_node.permission.typed_data import SIZE_LIMIT, WINDOW_SECONDS, Flow, Members

CONVERT = Flow.CONVERT_ACCOUNT


def _signer_in(body: dict[str, JsonValue]) -> JsonValue:
    return members(members(body.get("typed_data")).get("message")).get("address")


@mutant("WSIG-020", also="EP-030 MODE-170")
def new_admin_may_be_left_out(node: Node) -> None:
    """Accept a conversion without `new_admin_wallet_address`."""

    def change(body: JsonValue) -> JsonValue:
        told = members(body)
        return {"new_admin_wallet_address": _signer_in(told), **told} if "typed_data" in told else body

    change_body(node, CONVERSION, change)


@mutant(
    "WSIG-060",
    "ENV-150",
    "ENV-220",
    "ENV-260",
    also=(
        "ENV-040 ENV-050 ENV-060 ENV-070 ENV-080 ENV-090 ENV-100 ENV-110 ENV-120 ENV-140 ENV-160 ENV-200 "
        "ENV-210 ENV-240 ENV-280 ENV-300 ENV-320 ENV-350 ENV-360 ENV-370 ENV-380 ENV-390 ENV-400 ENV-430 "
        "ENV-440 ENV-470 ENV-480 ERR-070 MODE-140 MODE-150 MODE-170 MODE-180 MODE-340 MODE-350 WSIG-020"
    ),
)
def account_key_alone_converts(node: Node) -> None:
    """Accept any envelope of a conversion with a valid account key."""
    where_refused(node, lambda _, data, *__: address_in(data), CONVERT)


@mutant("WSIG-020", also="AUTH-040 AUTH-050 AUTH-130 AUTH-200 ERR-090 MODE-120 MODE-210 MODE-370")
def signature_alone_converts(node: Node) -> None:
    """Apply a conversion without a valid key to the account that was made last."""
    last = last_account_key(node)

    async def convert(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        if given.status != 401 or not last:
            return given
        others = tuple(header for header in request.headers if header[0] != b"x-api-key")
        return await forward(replace(request, headers=(*others, (b"x-api-key", last[0].encode()))))

    intercept(node, CONVERSION, convert)


def _now(about: About) -> int:
    return int(str(about["now"]))


def _not_before_it_was_issued(document: Members, about: About) -> About:
    return {"now": max(_now(about), _now(stated_time(document, about)))}


@mutant(
    each=[
        row("any-time", stated_time, breaks="ENV-260 ENV-280 ENV-300 MODE-350"),
        row("any-time-ahead", _not_before_it_was_issued, breaks="ENV-260 ENV-300 MODE-350"),
        row("any-chain", stated_chain, breaks="ENV-200 MODE-340"),
        row("any-flow", stated_flow, breaks="WSIG-060 ENV-140", also="ENV-150"),
    ]
)
def conversion_is_judged_as_it_says_itself(node: Node, facts: Callable[[Members, About], About]) -> None:
    """Verify a conversion's envelope against what it says itself; the label says in what."""
    judge_by(node, facts, CONVERT)


@mutant("ENV-270", "ENV-290")
def conversions_have_a_second_less(node: Node) -> None:
    """Accept a conversion's envelope for 299 s before and after, not 300."""

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        with suppress(KeyError, TypeError, ValueError):
            if abs(_now(about) - _now(stated_time(members_of(data), about))) >= WINDOW_SECONDS:
                raise refuse("typed-data-expired")
        return original(data, signature, **about)

    around_verdict(node, verify, CONVERT)


@mutant("WSIG-040", also="ENV-410")
def conversions_want_the_envelope_first(node: Node) -> None:
    """Refuse a conversion whose body has the signature before the envelope."""

    def turned_round(request: Received) -> bool:
        return 0 <= request.body.find(b'"signature"') < request.body.find(b'"typed_data"')

    answer_instead(node, CONVERSION, refusal(400), turned_round)


@mutant("ENV-320")
def conversions_may_be_of_any_size(node: Node) -> None:
    """Skip the check of the size of a conversion's envelope."""
    read_as(node, lambda document, _: document, CONVERT)


@mutant("ERR-150", also="MODE-140 MODE-150 MODE-240")
def refused_conversions_convert(node: Node) -> None:
    """Convert the account although the envelope is refused."""

    async def handler(request: Received, forward: Forward) -> Answered:
        given = await forward(request)
        secret = parse_key(presented(request))
        if given.status in {400, 422} and secret is not None and node.accounts.key_info(key_hash(secret)).managed:
            named = address_in(body_of(request).get("typed_data")) or b"\1" * 20
            node.accounts.convert_to_chain_secured(key_hash(secret), named)
        return given

    intercept(node, CONVERSION, handler)


@mutant("ENV-310")
def conversions_have_to_be_short(node: Node) -> None:
    """Accept a conversion's envelope only when it is a byte shorter than the limit."""

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        if isinstance(data, str) and len(data.encode()) >= SIZE_LIMIT:
            raise refuse("typed-data-too-large")
        return original(data, signature, **about)

    around_verdict(node, verify, CONVERT)
