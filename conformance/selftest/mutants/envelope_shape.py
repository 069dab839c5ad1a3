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
from reference_node.permission.typed_data import MESSAGE_FIELDS, SIZE_LIMIT, Flow, Members, domain_name

PARTS = ("types", "primaryType", "domain", "message")
"""The members of an envelope, in the order of the specification."""


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
        if isinstance(data, str) and len(data) <= SIZE_LIMIT:
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


@mutant(
    "ENV-240",
    each=[
        row("fraction-cut", lambda time: time.partition(".")[0]),
        row("sign-overlooked", lambda time: time.removeprefix("-")),
    ],
    also="ENV-430",
)
def time_is_read_leniently(node: Node, read: Callable[[str], str]) -> None:
    """Read an `issuedAt` that is no whole number of seconds since 1970; the label says how."""

    def change(document: Members, _: About) -> Members:
        message = _message(document)
        if isinstance(message["issuedAt"], str | float):
            message["issuedAt"] = read(str(message["issuedAt"]))
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


def _has_integers(document: Members) -> bool:
    parts = [(document.get(name), member) for name, member in (("domain", "chainId"), ("message", "issuedAt"))]
    stated = [part.get(member) for part, member in parts if isinstance(part, dict)]
    return any(isinstance(one, int) for one in stated)


@mutant(
    each=[
        row("members-in-another-order", lambda found: [*found] != [*PARTS], breaks="ENV-410"),
        row("integers", _has_integers, breaks="ENV-430"),
        row("hex", lambda found: re.search(r"'(chainId|issuedAt)': '0x", str(found)), breaks="ENV-430"),
    ]
)
def envelope_of_another_form_is_refused(node: Node, is_of_it: Callable[[Members], object]) -> None:
    """Refuse an envelope of a form that the specification or the profile permits; the label says of which."""

    def check(original: Check, document: object, flow: Flow) -> object:
        if isinstance(document, dict) and is_of_it(document):
            raise refuse("typed-data-form")
        return original(document, flow)

    wrap(node.envelopes, "parts", check)


@mutant("ENV-440", also="ENV-320 LIM-010")
def undeclared_members_are_ignored(node: Node) -> None:
    """Ignore members that `types` does not declare, though the profile says that they are refused."""

    def change(document: Members, _: About) -> Members:
        known = {name: document[name] for name in PARTS}
        domain, message = known["domain"], _message(known)
        if isinstance(domain, dict):
            known["domain"] = {name: domain[name] for name in ("name", "version", "chainId")}
        return {**known, "message": {name: message[name] for name in ("address", "issuedAt")}}

    _read(node, change)
