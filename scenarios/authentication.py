"""Where a key counts, where cases compute ("Authentication" 1: in either of two headers)."""

from __future__ import annotations

from dataclasses import replace

from conformance.cases import Judge, case
from conformance.service.derivations import base64_of
from conformance.service.lists import first_page, unchanged_list
from conformance.service.node import Node
from conformance.service.refusal import Refusals

NOT_AUTHENTICATED = ("unauthenticated", "invalid", "malformed")
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
