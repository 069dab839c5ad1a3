"""Alters the verifier of signed envelopes, for all flows or for one."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable

from conformance.selftest.tools.alter import wrap
from reference_node.node import Node
from reference_node.permission.typed_data import Flow, Members
from reference_node.problems import BadRequest

Check = Callable[..., object]
About = dict[str, object]
"""What the verifier gets beside the envelope: `flow`, `chain_id`, `now`, `title`."""

MINTS = ("create_wallet_with_signature", "add_usage_api_key_with_signature")
CONVERSION = "convert_to_chain_secured_account"


def refuse(code: str) -> BadRequest:
    """Return the refusal of a faulty verifier, to be raised."""
    return BadRequest(code, "the envelope is refused")


def replace_check(node: Node, method: str, check: Check) -> None:
    """Replace one of the verifier's checks."""
    wrap(node.envelopes, method, lambda _, *given: check(*given))


def around_verdict(node: Node, around: Callable[[Check, object, object, About], object], *flows: Flow) -> None:
    """Wrap the whole verification in these flows; in all where none is named."""

    def verify(original: Check, typed_data: object, signature: object, **about: object) -> object:
        if flows and about["flow"] not in flows:
            return original(typed_data, signature, **about)
        return around(original, typed_data, signature, about)

    wrap(node.envelopes, "verify", verify)


def good_once(node: Node, *flows: Flow) -> None:
    """Refuse an envelope that was accepted before, by its signature."""
    spent: set[str] = set()

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        signer = original(data, signature, **about)
        if str(signature) in spent:
            raise refuse("typed-data-spent")
        spent.add(str(signature))
        return signer

    around_verdict(node, verify, *flows)


def believe_any_signature(node: Node, *flows: Flow) -> None:
    """Take the envelope's address for the signer, whoever has signed."""
    where_another_signed(node, lambda _, data, *__: address_in(data), *flows)


def where_another_signed(node: Node, judge: Callable[[Check, Members, object, About], object], *flows: Flow) -> None:
    """Let `judge` decide on envelopes that another than the stated wallet has signed."""
    where_refused(node, judge, *flows, code="signature-mismatch")


def where_refused(
    node: Node, judge: Callable[[Check, Members, object, About], object], *flows: Flow, code: str = ""
) -> None:
    """Let `judge` name the signer of envelopes that are refused with a code that begins so; None leaves it at that."""

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        try:
            return original(data, signature, **about)
        except BadRequest as refused:
            signer = judge(original, members_of(data), signature, about) if refused.code.startswith(code) else None
            if signer is None:
                raise
            return signer

    around_verdict(node, verify, *flows)


def judge_by(node: Node, facts: Callable[[Members, About], About], *flows: Flow) -> None:
    """Verify envelopes against facts that they may state themselves; where they state none, against the true ones."""

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        try:
            told = facts(members_of(data), about)
        except (AttributeError, KeyError, TypeError, ValueError):
            told = {}
        return original(data, signature, **about | told)

    around_verdict(node, verify, *flows)


def stated_time(document: Members, _: About) -> About:
    """Take the time at which an envelope says that it was issued for the present; for `judge_by`."""
    return {"now": int(_part(document, "message")["issuedAt"])}


def stated_chain(document: Members, _: About) -> About:
    """Take the chain that an envelope names for the node's; for `judge_by`."""
    return {"chain_id": int(_part(document, "domain")["chainId"])}


def stated_flow(document: Members, _: About) -> About:
    """Take the flow that an envelope names for that of the call; for `judge_by`."""
    return {"flow": Flow(str(document["primaryType"]))}


def _part(document: Members, name: str) -> dict[str, str]:
    part = document[name]
    if not isinstance(part, dict):
        raise TypeError(name)
    return {key: str(value) for key, value in part.items()}


def read_as(node: Node, change: Callable[[Members, About], Members], *flows: Flow) -> None:
    """Verify what `change` makes of an envelope; where `change` fails or makes nothing, the envelope as it is."""

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        try:
            read: object = change(copy.deepcopy(members_of(data)), about) or data
        except (KeyError, TypeError, ValueError, AttributeError):
            read = data
        return original(read, signature, **about)

    around_verdict(node, verify, *flows)


def members_of(typed_data: object) -> Members:
    """Return the members of an envelope, in whichever form it comes; none of anything else, and of one with twins."""
    try:
        value = json.loads(typed_data, object_pairs_hook=_without_twins) if isinstance(typed_data, str) else typed_data
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _without_twins(pairs: list[tuple[str, object]]) -> Members:
    if len(dict(pairs)) < len(pairs):
        raise ValueError
    return dict(pairs)


def address_in(typed_data: object) -> bytes | None:
    """Return the wallet that an envelope names; None where it names none."""
    message = members_of(typed_data).get("message")
    stated = message.get("address") if isinstance(message, dict) else None
    try:
        address = bytes.fromhex(str(stated).removeprefix("0x"))
    except ValueError:
        return None
    return address if len(address) == 20 else None
