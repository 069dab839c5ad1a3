"""Requests that HTTP allows and few clients send: repeated headers, bodies in chunks, odd bytes, rare methods.

Specification, "Preamble / Conventions", "Endpoints" (methods, query fields) and "Authentication" 1. Servers, and what
stands before them, may refuse any of these, and may close the connection on what they do not take for HTTP; what they
accept has the effect that the text says, and none ends in a server fault.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from conformance.cases import Judge, case
from conformance.endpoints.messages import OF_GATEWAYS, Answer
from conformance.endpoints.requests import OutgoingRequest, message
from conformance.problems import ConnectionDropped
from conformance.service.acceptance import raise_for_trouble
from conformance.service.bindings import bound
from conformance.service.derivations import hashed_cid, random_key
from conformance.service.lists import IN_GROUP, first_page, unchanged_list
from conformance.service.node import Node
from conformance.service.reads import Read
from conformance.service.refusal import Refusals, must_be_unchanged, read_before, was_accepted
from conformance.service.usage_keys import Permissions
from conformance.values.ids import GroupId
from conformance.values.json_values import pluck

NEEDS = ("managed_accounts",)
NOT_IMPLEMENTED = 501
"""What a server answers to a method that it does not know at all (RFC 9110, 9.1)."""
LONG = 4_000
"""Characters of a long value; servers take at least 8,000 bytes of a request line (RFC 9112, 3)."""


def sent(node: Node, request: OutgoingRequest) -> Answer | None:
    """Send an odd request. None: the connection was closed without an answer."""
    try:
        return node.session.send(request)
    except ConnectionDropped:
        return None


def two_keys(first: str, second: str) -> list[dict[str, str | None]]:
    """Headers that hold two keys, in this order where they have one."""
    return [
        {"X-Api-Key": first, "x-api-key": second},
        # The order of two headers with different names means nothing (RFC 9110, 5.3).
        {"X-Api-Key": first, "Authorization": f"Bearer {second}"},
        {"Authorization": f"Bearer {first}", "authorization": f"Bearer {second}"},
        {"X-Api-Key": f"{first}, {second}"},
    ]


@case("two-keys-do-not-combine", requirements=["AUTH-080", "ACC-120"], needs=NEEDS)
def two_keys_do_not_combine(judge: Judge, node: Node) -> None:
    """A usage key without permissions gains none beside another account's key or an unknown one."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    weak = node.usage_keys.add(alice).key
    request = replace(node.groups.creation(bob), credential=None)
    made = node.groups.add(alice).accepted
    groups = unchanged_list(node.session, "list_groups", alice)
    for requirement, other in (("ACC-120", bob), ("AUTH-080", random_key(node.session.random))):
        pairs = [*two_keys(weak, other), *two_keys(other, weak)]
        with judge.apart(requirement), Refusals(node.session, control=made, unchanged=[groups]) as refusals:
            for headers in pairs:
                refusals.send_without_effect(replace(request, headers=headers), ["any"])


@case("odd-bytes-are-no-key", requirements=["AUTH-050"], needs=NEEDS)
def odd_bytes_are_no_key(judge: Judge, node: Node) -> None:
    """A header with foreign letters, tabs, quotes or thousands of characters in place of a key opens nothing."""
    alice = node.accounts.new().key
    read = node.session.request("list_groups", alice, page_number=first_page(node.session), page_size=1)
    lists = node.session.accept(read)[1]
    texts = ["\u043a\u043b\u044e\u0447", "\u00e9" * 44, "a\tb", '"', "%00", "k" * LONG, f"{'=' * 44}"]
    values: list[dict[str, str | None]] = [{"X-Api-Key": text} for text in texts]
    values += [
        {"Authorization": text} for text in ("Bearer", "Bearer \u043a\u043b\u044e\u0447", f"Bearer {'k' * LONG}")
    ]
    with judge(), Refusals(node.session, control=lists, unchanged=[]) as refusals:
        for headers in values:
            if answer := sent(node, replace(read, credential=None, headers=headers)):
                refusals.check(answer, ["any"])


@case("odd-queries", requirements=["LIST-100"], needs=NEEDS)
def odd_queries(judge: Judge, node: Node) -> None:
    """Page fields in bytes that are no text, given twice, or beside what nobody asked for, end in no server fault."""
    alice = node.accounts.new().key
    node.groups.add(alice)
    groups = node.groups.list(alice)
    read = node.session.request("list_groups", alice)
    first = first_page(node.session)
    page = f"page_number={first}&page_size=2"
    queries = ["page_number=%ff&page_size=2", "page_number=%00&page_size=2", "page_number=&page_size=", "%zz=%&=&&;"]
    queries += ["?", f"{page}?"]
    queries += [f"{page}&page_number={first}", f"page_number[]={first}&page_size[a]=2", f"{page}&x={'x' * LONG}"]
    for query in queries:
        answer = sent(node, replace(read, path=f"{read.operation.path}?{query}"))
        with judge.apart():
            if answer:
                was_accepted(node.session, answer, or_refused=["any"])
    with judge():
        judge.same(node.groups.list(alice), groups, "the list after the odd queries")


def harmless(answer: Answer) -> None:
    """Raise for a server fault, but for the status by which a server says that it does not know the method."""
    if answer.status != NOT_IMPLEMENTED:
        raise_for_trouble(answer)


@case("odd-targets", requirements=["ERR-140"], needs=NEEDS)
def odd_targets(judge: Judge, node: Node) -> None:
    """Request targets that are no path, or hardly one, end in no server fault, and requests after them are answered."""
    alice = node.accounts.new().key
    node.groups.add(alice)
    read = node.session.request("list_groups", alice, page_number=first_page(node.session), page_size=1)
    page = node.session.accept(read)[0]
    path = f"{read.operation.path}?page_size=1"
    for target in ("//", f"//a:b{path}", f"/{path}", "*", "http://[", f"http://[{path}", f"http://a:b{path}", "a:b"):
        answer = sent(node, replace(read, target=target))
        with judge.apart():
            # A proxy answers so where the server behind it closes the connection.
            if answer and answer.status not in OF_GATEWAYS:
                harmless(answer)
    with judge.apart():
        judge.same(node.session.accept(read)[0].value, page.value, "the page after all of these targets")


@case("rare-methods-write-nothing", requirements=["EP-420"], needs=NEEDS)
def rare_methods_write_nothing(judge: Judge, node: Node) -> None:
    """HEAD, OPTIONS, methods that nobody knows and headers that name another method write nothing."""
    alice = node.accounts.new().key
    made = node.groups.add(alice)
    creation, removal = made.accepted.request, node.session.request("remove_group", alice, group_id=made.id)
    reads: list[Read] = [unchanged_list(node.session, "list_groups", alice)]
    others: Mapping[str, dict[str, str | None]] = {
        "HEAD": {},
        "OPTIONS": {},
        "FROB": {},
        "GET": {"X-HTTP-Method-Override": "POST"},
    }
    for method, headers in others.items():
        before = read_before(node.session, reads)
        for request in filter(None, (creation, removal)):
            body = message(request).body
            answer = sent(node, replace(request, method=method, headers=headers, body=body))
            with judge.apart():
                if answer:
                    harmless(answer)
        beside = "".join(f" with {name}: {value}" for name, value in headers.items())
        with judge.apart(why=f"add_group and remove_group sent by {method}{beside} write nothing"):
            must_be_unchanged(node.session, reads, before)


Headers = dict[str, str | None]
LONG_AGO = "Thu, 01 Jan 1970 00:00:00 GMT"
PARTIAL, NOT_MODIFIED = 206, 304
"""The statuses of a part that was asked for, and of what the client knows already (RFC 9110, 15.3.7 and 15.4.5)."""
FRAMED: Mapping[str, tuple[Headers, Headers]] = {
    "in chunks": ({"Transfer-Encoding": "chunked"}, {"Accept-Encoding": "gzip"}),
    "charset": ({"Content-Type": "application/json; charset=utf-8"}, {"Range": "items=0-0"}),
    "quoted charset": ({"Content-Type": 'Application/JSON;charset="UTF-8"'}, {"If-Modified-Since": LONG_AGO}),
    "no type": ({"Content-Type": None}, {"Accept": "text/html, */*;q=0.1", "Accept-Language": "de"}),
    # A range means something for GET alone, and in units that the server knows (RFC 9110, 14.2).
    "expectation": (
        {"Expect": "100-continue", "Range": "bytes=0-0"},
        {"Accept": "application/*;q=0.2", "Accept-Encoding": "gzip", "Connection": "close"},
    ),
}
"""How a body is sent, and how the list is asked for after it."""


def shows(judge: Judge, node: Node, read: OutgoingRequest, names: Sequence[object]) -> None:
    """A page of groups, asked for with these headers, is refused or shows these names."""
    answers: list[Answer] = []
    with judge.apart("EP-010"):
        answers.append(node.session.send(read))
    for answer in answers:
        with judge.apart("LIST-170"):
            judge.that(answer.status != NOT_MODIFIED, "a list, of which the client knows none", answer.summary)
            if answer.status != PARTIAL and was_accepted(node.session, answer, or_refused=["any"]):
                told = ", ".join(f"{name}: {value}" for name, value in read.headers.items())
                shown = answer.value if isinstance(answer.value, list) else []
                first = names[: node.session.target.page_size]
                if len(shown) > len(first):
                    continue  # the list below tells how many groups were made
                judge.same(pluck(shown, "name"), first, f"the names of the groups, asked for with {told}")


@case(
    "bodies-in-other-frames",
    requirements=["EP-010", "EP-160", "GRP-020", "LIST-170"],
    needs=NEEDS,
    uses=["wire.list_groups.item_fields.name"],
)
def bodies_in_other_frames(judge: Judge, node: Node) -> None:
    """A body in chunks, or with a charset beside its type, is refused, or makes the group that it describes.

    A list says so to each client, whatever form of the answer it prefers, unless it is refused that form.
    """
    alice = node.accounts.new().key
    node.groups.add(alice)
    names = pluck(node.groups.list(alice), "name")
    page: dict[str, object] = {"page_number": first_page(node.session), "page_size": node.session.target.page_size}
    read = node.session.request("list_groups", alice, **page)
    for frame, (sent_with, asked_with) in FRAMED.items():
        request = replace(node.groups.creation(alice, f"zw\u00f6lf \u4e8c {frame}"), headers=sent_with)
        with judge.apart("EP-160"):
            if was_accepted(node.session, node.session.send(request), or_refused=["any"]):
                names.append(request.members["group_name"])
        shows(judge, node, replace(read, headers=asked_with), names)
    made = pluck(node.groups.list(alice), "name")
    with judge("EP-160"):
        judge.same(len(made), len(names), "the number of groups that were made")
    with judge.apart("GRP-020"):
        judge.same(made, names, "the names of the groups that were made")


@case("group-named-twice", requirements=["AUTH-080"], needs=NEEDS)
def group_named_twice(judge: Judge, node: Node) -> None:
    """A body that names two groups, of which a usage key may write in one, changes nothing in the other."""
    alice = node.accounts.new().key
    (p, q), (one, two) = node.pkps.create_several(alice, 2), map(node.actions.sample_cid, ("one", "two"))
    g, h = (bound(node, alice, [p], [hashed_cid(one)]) for _ in range(2))
    key = node.usage_keys.add(
        alice, Permissions(manage_ipfs_ids_in_groups=[g], add_pkp_to_groups=[g], remove_pkp_from_groups=[g])
    ).key
    writes: Mapping[str, dict[str, object]] = {
        "add_pkp_to_group": {"pkp_id": q.id},
        "add_action_to_group": {"action_ipfs_cid": two},
        "remove_pkp_from_group": {"pkp_id": p.id},
        "remove_action_from_group": {"hashed_cid": hashed_cid(one)},
    }
    reads = [unchanged_list(node.session, name, alice, group_id=h) for name in IN_GROUP]
    before = read_before(node.session, reads)
    for name, members in writes.items():
        request = node.session.request(name, key, group_id=g, **members)
        for body in twice(request, h):
            answer = sent(node, replace(request, body=body))
            with judge.apart():
                if answer:
                    harmless(answer)
        with judge.apart(why=f"{name} with a second group in its body changes nothing in that one"):
            must_be_unchanged(node.session, reads, before)


def twice(request: OutgoingRequest, other: GroupId) -> list[str]:
    """Bodies that name another group, too, before the request's own or behind it."""
    name = request.operation.request.get("group_id", "group_id")
    own, changed = (message(one).body or "{}" for one in (request, request.changed(group_id=other)))
    more = f"{json.dumps(name)}: {json.dumps(json.loads(changed).get(name))}"
    return [f"{{{more}, {own[1:]}", f"{own[:-1]}, {more}}}"]


@case("lists-answer-what-they-hold-now", requirements=["LIST-170", "ACC-110", "AUTH-040"], needs=NEEDS)
def lists_answer_what_they_hold_now(judge: Judge, node: Node) -> None:
    """A list that has changed, or is another account's, is answered whole to a client that names an earlier answer.

    A client without a key learns nothing by naming the newest one.
    """
    alice, bob = node.accounts.new().key, node.accounts.new().key
    node.groups.add(bob, "of bob")
    page: dict[str, object] = {"page_number": first_page(node.session), "page_size": node.session.target.page_size}
    of_alice, of_bob = (node.session.request("list_groups", key, **page) for key in (alice, bob))
    tag = node.session.accept(of_alice)[0].headers.get("etag", '"0"')
    kept: dict[str, str | None] = {"If-None-Match": tag}
    made = node.groups.add(alice)
    for requirement, request in (("LIST-170", of_alice), ("ACC-110", of_bob)):
        plain = node.session.accept(request)[0]
        answer = node.session.send(replace(request, headers=kept))
        with judge.apart(requirement):
            judge.that(answer.accepted, "the list, which is another than that of the tag", answer.summary)
            judge.same(answer.value, plain.value, "the list as it is without the tag of another answer")
    before = node.session.accept(of_alice)[0]
    kept["If-None-Match"] = before.headers.get("etag", '"0"')
    answer = node.session.send(replace(of_alice, credential=None, headers=kept))
    with judge.apart("AUTH-040"):  # 304 would say that the list is still the one that the tag names
        judge.that(answer.status >= 400, "a refusal of a client without a key", answer.summary)
    node.groups.update(alice, made.id, "renamed", pkp_ids=[], cid_hashes=[])
    plain = node.session.accept(of_alice)[0]
    if plain.value != before.value:  # a list that shows no names is the same after a new name
        answer = node.session.send(replace(of_alice, headers=kept))
        with judge.apart("LIST-170"):
            judge.that(answer.accepted, "the list, which is another than that of the tag", answer.summary)
            judge.same(answer.value, plain.value, "the list as it is after a new name of its group")
