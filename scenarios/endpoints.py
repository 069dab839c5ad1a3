"""Endpoints, where cases compute ("Endpoints / Groups", "Endpoints / Wallets and actions")."""

from __future__ import annotations

import re
from dataclasses import replace

from conformance.cases import Judge, case
from conformance.service.acceptance import must_accept
from conformance.service.derivations import hashed_cid
from conformance.service.lists import read_page, unchanged_list
from conformance.service.node import Node
from conformance.service.refusal import Refusals
from conformance.values.ids import is_address
from conformance.values.json_values import member, pluck

NEEDS = ("managed_accounts",)
WANTS_A_KEY = frozenset({401, 403})
"""Statuses that refuse a request for want of a key."""
KEY = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")


@case("add-group", requirements=["EP-160", "EP-240", "EP-250"], needs=NEEDS)
def add_group(judge: Judge, node: Node) -> None:
    """A group is made with the wallets and actions that the request names."""
    alice = node.accounts.new().key
    # The second wallet is one that the group must not list.
    pkp, _ = node.pkps.create_several(alice, 2)
    hashed = hashed_cid(node.actions.sample_cid("one"))
    before = pluck(node.groups.list(alice), "id")
    with judge("EP-160"):
        group = node.groups.add(alice, pkp_ids=[pkp.id], cid_hashes=[hashed])
        ids = pluck(node.groups.list(alice), "id")
        judge.that(
            group.listed_id not in before,
            "add_group to make a group with an id that list_groups shows and no earlier group had",
            group.listed_id,
        )
        judge.same(ids, [*before, group.listed_id], "the groups that list_groups shows")
    wallets, actions = node.pkps.list(alice, group.id), node.actions.list(alice, group.id)
    with judge.apart("EP-160", "EP-240"):
        judge.same_hexes(pluck(wallets, "wallet_address"), [pkp.address], "the wallets of the group")
    with judge.apart("EP-160", "EP-250"):
        judge.same_hexes(pluck(actions, "hashed_cid"), [hashed], "the actions of the group")


@case("new-account", requirements=["EP-040", "EP-050", "EP-060", "EP-070"], needs=NEEDS)
def new_account(judge: Judge, node: Node) -> None:
    """An account is made without a key, with an email or without one; the answer has its key and its wallet."""
    labels = {"account_name": node.label, "account_description": "made by the suite"}
    bodies: list[dict[str, str]] = [labels, {**labels, "email": "suite@example.org"}]
    answers = [node.session.send(node.session.request("new_account", **body)) for body in bodies]
    refused = [answer for answer in answers if not answer.accepted]
    for_want_of_a_key = [answer for answer in refused if answer.status in WANTS_A_KEY]
    with judge("EP-060"):
        if len(for_want_of_a_key) == len(answers):
            must_accept(refused[0])
    with judge("EP-040"):
        if len(refused) == len(answers):
            must_accept(refused[0])
    with judge("EP-070"):
        for answer in refused:
            must_accept(answer)
    for account in [answer.value for answer in answers if answer.accepted]:
        with judge("EP-050"):
            key, wallet = member(account, "api_key"), member(account, "wallet_address")
            judge.that(isinstance(key, str) and KEY.fullmatch(key) is not None, "an api_key in base64", key)
            judge.that(is_address(wallet), "a wallet_address", wallet)


@case("wallets-by-another-method", requirements=["EP-420"], needs=NEEDS)
def wallets_by_another_method(judge: Judge, node: Node) -> None:
    """Neither GET nor DELETE makes a wallet, unless it is the method that the profile states."""
    alice = node.accounts.new().key
    request = node.pkps.creation(alice)
    made, wallets = node.session.accept(request)[1], unchanged_list(node.session, "list_wallets", alice)
    with judge(), Refusals(node.session, control=made, unchanged=[wallets]) as refusals:
        for method in sorted({"GET", "DELETE"} - {request.operation.method}):
            refusals.send(replace(request, method=method), ["any"])


@case("list-wallets-in-group-pages", requirements=["EP-240"], needs=NEEDS)
def list_wallets_in_group_pages(judge: Judge, node: Node) -> None:
    """The list of a group's wallets goes page by page."""
    alice = node.accounts.new().key
    pkps = node.pkps.create_several(alice, 2)
    group = node.groups.add(alice, pkp_ids=[pkp.id for pkp in pkps]).id
    request = node.session.request("list_wallets_in_group", alice, group_id=group)
    with judge():
        pages = [read_page(node.session, request, number, 1) for number in range(2)]
        judge.same([len(page) for page in pages], [1, 1], "the number of wallets on each page")
        listed = pluck((wallet for page in pages for wallet in page), "wallet_address")
        judge.same_hexes(listed, [pkp.address for pkp in pkps], "the wallets on both pages", any_order=True)
