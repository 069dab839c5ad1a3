"""Where a key counts, where cases compute ("Authentication" 1: in either of two headers)."""

from __future__ import annotations

from dataclasses import replace

from conformance.cases import Judge, case
from conformance.service.derivations import base64_of, random_key
from conformance.service.lists import first_page, one_item_page, read_list, read_pages, unchanged_list
from conformance.service.node import Node
from conformance.service.refusal import Refusals, must_refuse

NOT_AUTHENTICATED = ("unauthenticated", "invalid", "malformed")
CONFLICTING = "auth.conflicting_headers"
NAMES = ("api_key", "x-api-key", "X-Api-Key", "key", "token")


@case("key-in-another-place", requirements=["AUTH-200"], needs=["managed_accounts"])
def key_in_another_place(judge: Judge, node: Node) -> None:
    """A key in the query, the body, a cookie or another scheme or header opens nothing."""
    alice = node.accounts.new().key
    read = node.session.request("list_groups", alice, page_number=first_page(node.session), page_size=1)
    write = node.groups.creation(alice)
    lists, adds = (node.session.accept(request)[1] for request in (read, write))
    groups = unchanged_list(node.session, "list_groups", alice)
    as_headers: list[dict[str, str | None]] = [
        {"cookie": "; ".join(f"{name}={alice}" for name in NAMES[:3])},
        {"authorization": f"Basic {base64_of(f'{alice}:'.encode())}"},
        {"authorization": f"Basic {base64_of(f'user:{alice}'.encode())}"},
        {"authorization": f"Basic {alice}"},
        {"authorization": alice},
        {"authorization": f"Token {alice}"},
        {"api-key": alice},
    ]
    with judge(), Refusals(node.session, control=[lists, adds], unchanged=[groups]) as refusals:
        # Of members that no operation has, a node may refuse any; these two are what it would look for.
        for request, names in ((read, NAMES), (write, NAMES[:2])):
            moved = replace(request, credential=None).changed(**dict.fromkeys(names, alice))
            refusals.send(moved, NOT_AUTHENTICATED)
        for headers in as_headers:
            refusals.send(replace(read, credential=None, headers=headers), NOT_AUTHENTICATED)


@case("different-keys-as-stated", requirements=["AUTH-190"], needs=["managed_accounts"], uses=[CONFLICTING])
def different_keys_as_stated(judge: Judge, node: Node) -> None:
    """Of two different keys in the two headers the one counts that the profile states, or both are refused."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    unknown = random_key(node.session.random)
    node.groups.add(alice, "of alice")
    adds = node.groups.add(bob, "of bob").accepted
    read = node.session.request("list_groups", alice, **one_item_page(node.session))
    _, lists = node.session.accept(read)
    shown: dict[str, list[object]] = {key: read_list(node.session, "list_groups", key) for key in (alice, bob)}
    judge.set_up(shown[alice] != shown[bob], "two accounts whose lists differ")
    stated = node.session.stated(CONFLICTING)
    groups = [unchanged_list(node.session, "list_groups", key) for key in (alice, bob)]
    for first, second in ((alice, bob), (bob, alice), (alice, unknown), (unknown, alice)):
        both: dict[str, str | None] = {"x-api-key": first, "authorization": f"Bearer {second}"}
        counts = {"x_api_key_wins": first, "bearer_wins": second}.get(str(stated), unknown)
        sent = replace(read, credential=None, headers=both)
        with judge.apart("AUTH-190"):
            if counts in shown:
                listed = read_pages(node.session, replace(sent, members={}))
                judge.same(listed, shown[counts], "the list of the key that counts")
            else:
                must_refuse(node.session, sent, ["any"], control=lists, unchanged=[])
                write = replace(adds.changed(), credential=None, headers=both)
                must_refuse(node.session, write, ["any"], control=adds, unchanged=groups)
