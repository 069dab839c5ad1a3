"""Faults about the shape of envelopes: parts that lack, parts too many, and how numbers are written."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from contextlib import suppress

from conformance.selftest.tools.alter import wrap
from conformance.selftest.tools.alter_envelopes import About, Check, around_verdict, members_of, read_as, refuse
from conformance.selftest.tools.mutant import mutant, row
from reference_node.node import Node
from reference_node.permission.typed_data import MESSAGE_FIELDS, Flow, Members, domain_name


@mutant("ENV-410")
def order_of_members_counts(node: Node) -> None:
    """Refuse an envelope whose members stand in another order than in the specification."""

    def check(original: Check, document: object, flow: Flow) -> object:
        if isinstance(document, dict) and [*document] != ["types", "primaryType", "domain", "message"]:
            raise refuse("typed-data-order")
        return original(document, flow)

    wrap(node.envelopes, "parts", check)


@mutant("ENV-340", also="ENV-310")
def envelopes_have_to_be_objects(node: Node) -> None:
    """Refuse an envelope in a JSON string."""

    def check(original: Check, typed_data: object) -> object:
        if isinstance(typed_data, str):
            raise refuse("typed-data-not-an-object")
        return original(typed_data)

    wrap(node.envelopes, "opened", check)


def _without_further_fields(document: Members, about: About) -> None:
    types = document["types"]
    if isinstance(types, dict):
        types[str(about["flow"])] = types[str(about["flow"])][: len(MESSAGE_FIELDS)]
    document["message"] = dict(list(_message(document).items())[: len(MESSAGE_FIELDS)])


def _at_any_time(document: Members, about: About) -> None:
    about["now"] = int(str(_message(document)["issuedAt"]))


@mutant(
    each=[
        row("further-fields", _without_further_fields, breaks="ENV-080", also="ENV-110"),
        row("late", _at_any_time, breaks="ENV-260", also="LIM-020"),
    ],
    also="ENV-340",
)
def strings_are_read_with_indulgence(node: Node, change: Callable[[Members, About], None]) -> None:
    """Overlook a fault of an envelope that comes as a JSON string; the label says which."""

    def verify(original: Check, data: object, signature: object, about: About) -> object:
        document = members_of(data)
        if isinstance(data, str):
            with suppress(KeyError, TypeError, ValueError):
                change(document, about)
                return original(document, signature, **about)
        return original(data, signature, **about)

    around_verdict(node, verify)


def _read(node: Node, change: Callable[[Members, About], Members]) -> None:
    """Verify what `change` makes of an envelope; one that it leaves alone, as it came, so that its size is the same."""

    def changed(document: Members, about: About) -> Members:
        read = change(copy.deepcopy(document), about)
        return {} if read == document else read

    read_as(node, changed)


@mutant("ENV-160", also="ENV-090 ENV-110 ENV-120")
def primary_types_need_no_struct(node: Node) -> None:
    """Accept `types` without the struct that `primaryType` names."""

    def change(document: Members, about: About) -> Members:
        types = document["types"]
        if isinstance(types, dict) and str(about["flow"]) not in types:
            document["types"] = {"EIP712Domain": types["EIP712Domain"], str(about["flow"]): MESSAGE_FIELDS}
        return document

    _read(node, change)


def _message(document: Members) -> Members:
    message = document["message"]
    if not isinstance(message, dict):
        raise TypeError("no message")
    return message


@mutant("ENV-240", also="ENV-430")
def fractions_of_seconds_are_cut(node: Node) -> None:
    """Cut the fraction off `issuedAt`."""

    def change(document: Members, _: About) -> Members:
        message = _message(document)
        if isinstance(message["issuedAt"], str | float):
            message["issuedAt"] = str(message["issuedAt"]).partition(".")[0]
        return document

    _read(node, change)


@mutant("ENV-240", also="ENV-430")
def negative_times_count_from_the_end(node: Node) -> None:
    """Ignore the sign of `issuedAt`."""

    def change(document: Members, _: About) -> Members:
        message = _message(document)
        if isinstance(message["issuedAt"], str):
            message["issuedAt"] = message["issuedAt"].removeprefix("-")
        return document

    _read(node, change)


@mutant("ENV-400")
def missing_domains_are_the_nodes_own(node: Node) -> None:
    """Fill in what the domain lacks."""

    def change(document: Members, about: About) -> Members:
        own = {"name": domain_name(str(about["title"])), "version": "1", "chainId": str(about["chain_id"])}
        stated = document.get("domain")
        document["domain"] = {**own, **(stated if isinstance(stated, dict) else {})}
        return document

    _read(node, change)


@mutant("ENV-430")
def numbers_have_to_be_texts(node: Node) -> None:
    """Refuse a chain id or a time as a JSON integer, though the profile says that it is accepted."""

    def check(original: Check, document: object, flow: Flow) -> object:
        if isinstance(document, dict) and (
            isinstance(document["domain"].get("chainId"), int) or isinstance(_message(document).get("issuedAt"), int)
        ):
            raise refuse("typed-data-number")
        return original(document, flow)

    wrap(node.envelopes, "parts", check)


@mutant("ENV-430")
def numbers_are_never_hex(node: Node) -> None:
    """Refuse a chain id or a time in hex, though the profile says that it is accepted."""

    def check(original: Check, document: object, flow: Flow) -> object:
        if re.search(r"'(chainId|issuedAt)': '0x", str(document)):
            raise refuse("typed-data-number")
        return original(document, flow)

    wrap(node.envelopes, "parts", check)


@mutant("ENV-440")
def undeclared_members_are_ignored(node: Node) -> None:
    """Ignore members that `types` does not declare, though the profile says that they are refused."""

    def change(document: Members, _: About) -> Members:
        known = {name: document[name] for name in ("types", "primaryType", "domain", "message")}
        domain, message = known["domain"], _message(known)
        if isinstance(domain, dict):
            known["domain"] = {name: domain[name] for name in ("name", "version", "chainId")}
        return {**known, "message": {name: message[name] for name in ("address", "issuedAt")}}

    _read(node, change)
