"""Wallets (PKPs), where cases compute ("Resources and their fields / Wallet (PKP)", "What the service does" 1).

`create_wallet` answers the address alone; the id that every group operation takes is learnt from `list_wallets`, or by
the profile's rule where the list does not show it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from itertools import cycle

from conformance.cases import Judge, case
from conformance.service.acceptance import Accepted
from conformance.service.at_once import at_once
from conformance.service.bindings import bound
from conformance.service.derivations import ID_RULE, account_hash, pkp_id_in
from conformance.service.lists import unchanged_list
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.refusal import Refusals, must_refuse
from conformance.service.secrets_search import wallets_leaked_by, wallets_of_secrets_in, witnessed
from conformance.service.usage_keys import Permissions
from conformance.service.wallet_names import FORM
from conformance.values.json_values import member, pluck, printed

NEEDS = ("managed_accounts",)
ID = re.compile("0x[0-9a-fA-F]{64}")
BAD_FORM = ("invalid", "malformed", "not_found")


def malformed_ids(node: Node, pkp: Pkp) -> Sequence[str]:
    """What is no PKP id. What is nearly nothing must not become the all-zero id, which permits all wallets."""
    ids = (pkp.id[:-1], f"{pkp.id}0", pkp.id[2:], f"{pkp.id[:-1]}g", pkp.address, "0x0", "")
    taken = node.session.target.profile_value(FORM)  # where it is the address, `wallet-is-named-by-its-id` charges it
    return [one for one in ids if taken != "address" or one != pkp.address]


def check_ids(judge: Judge, wallets: Sequence[object]) -> None:
    """Each id is 32 bytes of hex."""
    with judge.apart("PKP-020"):
        odd = [one for one in pluck(wallets, "id") if not ID.fullmatch(printed(one))]
        judge.same(odd, [], "the ids that are no 32 bytes of hex")


@case(
    "wallet-is-named-by-its-id",
    requirements=["PKP-010", "PKP-020"],
    needs=NEEDS,
    uses=["wire.list_items.fields.wallet.id", "wire.list_items.fields.wallet.wallet_address"],
)
def wallet_is_named_by_its_id(judge: Judge, node: Node) -> None:
    """The id that list_wallets shows is 32 bytes of hex and names the wallet in add_pkp_to_group."""
    alice = node.accounts.new().key
    made = [printed(member(answer.value, "wallet_address")) for answer, _ in node.pkps.creations(alice, 2)]
    g = node.groups.add(alice).id
    # The form of a group's id is not what this case is about.
    node.groups.add_action(alice, g, node.actions.sample_cid("a"))
    with judge("PKP-010"):
        wallets = node.pkps.list(alice)
        judge.distinct(pluck(wallets, "id"), "ids of wallets")
    check_ids(judge, wallets)
    rule = node.session.target.profile_value(ID_RULE)
    ids = [pkp_id_in(wallets, address, rule) for address in made]
    for count, own in enumerate(ids, 1):
        with judge("PKP-010"):
            request = node.session.request("add_pkp_to_group", alice, group_id=g, pkp_id=own)
            node.session.accept(node.session.as_specified(request))
            in_group = node.pkps.list(alice, g)
            named = {own.lower(): address.lower() for own, address in zip(ids[:count], made, strict=False)}
            pairs = zip(pluck(in_group, "id"), pluck(in_group, "wallet_address"), strict=True)
            shown = {printed(own).lower(): printed(address).lower() for own, address in pairs}
            judge.same(shown, named, "the addresses in the group by id")
        check_ids(judge, in_group)


@case(
    "every-created-wallet-is-another",
    requirements=["PKP-110", "LIST-170"],
    needs=NEEDS,
    uses=["wire.list_items.fields.wallet.id", "wire.list_items.fields.wallet.wallet_address"],
)
def every_created_wallet_is_another(judge: Judge, node: Node) -> None:
    """Wallets created one after the other, at the same time and in two accounts all differ."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    create = partial(node.session.accept, node.pkps.creation(alice))
    with judge("PKP-110"):
        made = [create(), create(), *at_once([create] * 3)]
        own = {printed(member(answer.value, "wallet_address")).lower() for answer, _ in made}
        of_bob = node.pkps.create(bob).address.lower()
        judge.same(
            len({*own, of_bob}),
            6,
            "the number of wallets that five creations by one account, three at once, and one by another made",
        )
        wallets = node.pkps.list(alice)
        ids, addresses = (
            [printed(value).lower() for value in pluck(wallets, name)] for name in ("id", "wallet_address")
        )
        judge.that(
            len(set(ids)) == len(ids) and len(set(addresses)) == len(addresses),
            "each wallet once in list_wallets",
            wallets,
        )
        judge.that(of_bob not in addresses, "list_wallets to show no wallet of another account", addresses)
    with judge("LIST-170"):
        judge.that(
            own <= set(addresses), "list_wallets to show each wallet_address that create_wallet answered", addresses
        )


# ------------------------------------------------------------------------------------------------------ malformed ids


@case("malformed-id-in-group-lists", requirements=["PKP-130"], needs=NEEDS)
def malformed_id_in_group_lists(judge: Judge, node: Node) -> None:
    """add_group and update_group refuse a PKP id that is not 0x and 64 hex digits."""
    alice = node.accounts.new().key
    p = node.pkps.create(alice)
    g = node.groups.add(alice, pkp_ids=[p.id])
    updated = node.groups.update(alice, g.id, pkp_ids=[p.id], cid_hashes=[])
    groups = unchanged_list(node.session, "list_groups", alice)
    wallets = unchanged_list(node.session, "list_wallets_in_group", alice, group_id=g.id)
    with judge(), Refusals(node.session, control=[g.accepted, updated], unchanged=[groups, wallets]) as refusals:
        # Every other form goes to the other operation: both take the same list.
        for control, wrong in zip(cycle([g.accepted, updated]), malformed_ids(node, p)):
            refusals.send(control.changed(pkp_ids_permitted=[wrong]), BAD_FORM)


@case("malformed-id-added-or-removed", requirements=["PKP-130"], needs=NEEDS)
def malformed_id_added_or_removed(judge: Judge, node: Node) -> None:
    """add_pkp_to_group and remove_pkp_from_group refuse a PKP id that is not 0x and 64 hex digits."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    g = bound(node, alice, [q], [])
    groups = unchanged_list(node.session, "list_groups", alice)
    wallets = unchanged_list(node.session, "list_wallets_in_group", alice, group_id=g)

    def refuse(control: Accepted, forms: Sequence[str]) -> None:
        with Refusals(node.session, control=control, unchanged=[groups, wallets]) as refusals:
            for wrong in forms:
                refusals.send(control.changed(pkp_id=wrong), BAD_FORM)

    with judge():
        added, removed = node.groups.add_pkp(alice, g, p.id), node.groups.remove_pkp(alice, g, p.id)
        # Here the wallet is in no group: a wrong form of its id, taken for the right one, would add it.
        refuse(added, malformed_ids(node, p)[::2])
        # And here it is in the group: a wrong form, taken for the right one, would remove it.
        node.groups.add_pkp(alice, g, p.id)
        refuse(removed, malformed_ids(node, p)[1::2])


# ------------------------------------------------------------------------------------------------------ nothing leaks


@case("no-answer-holds-a-private-key", requirements=["PKP-090"], needs=NEEDS)
def no_answer_holds_a_private_key(judge: Judge, node: Node) -> None:
    """Nothing that the node answers is the private key of a wallet."""
    answers = witnessed(node.session)
    alice = node.accounts.new().key
    everything = Permissions(False, False, True, [0], [0], [0], [0])
    key = node.usage_keys.add(alice, everything).key
    by_key = node.session.accept(node.pkps.creation(key))[0]
    pkp = node.pkps.create(alice)
    g = bound(node, alice, [pkp], [])
    removed = node.groups.remove_pkp(alice, g, pkp.id)
    wallets = unchanged_list(node.session, "list_wallets", alice)
    must_refuse(node.session, removed.changed(pkp_id=pkp.id[:-1]), ["any"], control=removed, unchanged=[wallets])
    node.groups.add_pkp(alice, g, pkp.id)
    node.pkps.list(alice, g)
    node.groups.list(alice)
    node.usage_keys.list(alice)
    node.session.call("get_node_chain_config")
    leaked = wallets_leaked_by(answers)
    for address in (pkp.address, member(by_key.value, "wallet_address")):
        with judge.apart():
            judge.that(
                printed(address).lower() not in leaked, f"nothing that is the private key of {address}", "that key"
            )


@case("no-chain-record-holds-a-private-key", requirements=["PKP-090"], needs=[*NEEDS, "chain_rpc"])
def no_chain_record_holds_a_private_key(judge: Judge, node: Node) -> None:
    """Neither the contract's records, its logs nor the payers' transactions hold a wallet's private key."""
    alice = node.accounts.new().key
    owner = account_hash(alice, node.session.profile)
    start = node.session.chain.block_number()
    pkp = node.pkps.create(alice)
    wallet, account = node.contract.view("get_wallet", owner, pkp.id), node.contract.view("get_account", owner)
    mined = node.contract.transactions_after(start, holding=owner)
    with judge():
        leaked = wallets_of_secrets_in(wallet, account, mined)
        judge.that(pkp.address.lower() not in leaked, f"nothing that is the private key of {pkp.address}", "that key")


@case("ids-keep-their-zeros", requirements=["PKP-020"], needs=NEEDS, uses=["wire.list_items.fields.wallet.id"])
def ids_keep_their_zeros(judge: Judge, node: Node) -> None:
    """An id that begins with a zero has 64 hex characters like any other: one wallet in 16 has such an id."""
    alice = node.accounts.new().key
    for _ in range(8):
        for _ in range(12):
            node.session.accept(node.pkps.creation(alice))
        ids = [printed(one) for one in pluck(node.pkps.list(alice), "id")]
        with judge("PKP-020"):
            short = [one for one in ids if not ID.fullmatch(one)]
            judge.same(short, [], "the ids that are not 0x and 64 hex characters")
        if any(one.startswith("0x0") for one in ids):
            return
