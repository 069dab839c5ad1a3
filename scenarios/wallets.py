"""Wallets (PKPs) ("Resources and their fields / Wallet (PKP)", "What the service does" 1).

`create_wallet` answers the address alone; the id that every group operation takes is learnt from `list_wallets`, or by
the profile's rule where the list does not show it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import cycle

from conformance.cases import Judge, case
from conformance.service.acceptance import Accepted, must_accept
from conformance.service.at_once import send_at_once
from conformance.service.bindings import bound
from conformance.service.derivations import ID_RULE, account_hash, hashed_cid, pkp_id_in
from conformance.service.lists import only, unchanged_list
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.refusal import NO_ID, Refusals, must_refuse
from conformance.service.secrets_search import wallets_leaked_by, wallets_of_secrets_in, witnessed
from conformance.service.usage_keys import Permissions
from conformance.service.wallet_names import FORM
from conformance.values.ids import GroupId, PkpId
from conformance.values.json_values import MISSING, member, pluck, printed, same_hex

NEEDS = ("managed_accounts",)
ON_CHAIN = (*NEEDS, "chain_rpc")
LABELS = ("name", "description")
IN_TURN, AT_ONCE = 12, 3
"""Wallets that one account creates: so many that a creation now and then that comes to nothing is among them."""
FIELDS = "wire.list_items.fields.wallet"
IDS, ADDRESSES = f"{FIELDS}.id", f"{FIELDS}.wallet_address"
LABEL_FIELDS = tuple(f"{FIELDS}.{label}" for label in LABELS)
ADDRESS = re.compile("0x[0-9a-fA-F]{40}")
ID = re.compile("0x[0-9a-fA-F]{64}")


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


def new_addresses(node: Node, key: str, count: int) -> list[str]:
    """The addresses of new wallets, as the node answers them."""
    return [printed(member(answer.value, "wallet_address")) for answer, _ in node.pkps.creations(key, count)]


@case("created-wallet-has-an-address", requirements=["PKP-030"], needs=NEEDS, uses=[ADDRESSES])
def created_wallet_has_an_address(judge: Judge, node: Node) -> None:
    """Creating a wallet answers its address, and the account lists that address."""
    alice = node.accounts.new().key
    with judge():
        (address,) = new_addresses(node, alice, 1)
        is_one = ADDRESS.fullmatch(address) is not None and int(address, 16) != 0
        judge.that(is_one, "an address other than zero", address)
        only(node.pkps.list(alice), "wallet_address", address)


@case("derivation-path-is-on-chain", requirements=["PKP-040", "PKP-110"], needs=ON_CHAIN)
def derivation_path_is_on_chain(judge: Judge, node: Node) -> None:
    """The contract's record of a wallet holds its address and a path of its own, also of wallets created at once."""
    alice = node.accounts.new().key
    own = account_hash(alice, node.session.profile)
    paths = []
    for pkp in node.pkps.create_several(alice, 2):
        with judge("PKP-040"):
            record = member(node.contract.view("get_wallet", own, pkp.id), "wallet")
            path = member(record, "derivationPath")
            judge.that(path is not MISSING, "a record with a derivation path", record)
        is_its = same_hex(member(record, "id"), pkp.id) and same_hex(member(record, "walletAddress"), pkp.address)
        judge.set_up(is_its, "the record of the wallet with this id and address")
        paths.append(path)
    with judge():
        # Two wallets derived along one path would be one wallet.
        judge.distinct(paths, "derivation paths")
    with judge("PKP-110"):
        for answer in send_at_once(node.session, [node.pkps.creation(alice)] * 4):
            must_accept(answer)
        records = node.contract.items("list_wallets", own)
        judge.that(len(records) >= 6, "a record of each wallet", records)
        for name in ("id", "walletAddress", "derivationPath"):
            judge.distinct(pluck(records, name), f"values of {name} in the contract")


@case(
    "derivation-path-is-listed",
    requirements=["PKP-040", "PKP-110"],
    needs=NEEDS,
    uses=[f"{FIELDS}.derivation_path"],
)
def derivation_path_is_listed(judge: Judge, node: Node) -> None:
    """list_wallets shows a derivation path of each wallet's own."""
    alice = node.accounts.new().key
    node.pkps.creations(alice, 2)
    with judge("PKP-040"):
        paths = pluck(node.pkps.list(alice), "derivation_path")
        judge.that(len(paths) >= 2 and None not in paths and MISSING not in paths, "a path of each wallet", paths)
    with judge():
        judge.distinct(paths, "derivation paths")


@case("wallet-has-name-and-description", requirements=["PKP-050"], needs=NEEDS, uses=[*LABEL_FIELDS])
def wallet_has_name_and_description(judge: Judge, node: Node) -> None:
    """list_wallets shows a name and a description of each wallet."""
    alice = node.accounts.new().key
    node.pkps.creations(alice, 1)
    with judge():
        wallets = node.pkps.list(alice)
        texts = [isinstance(text, str) for label in LABELS for text in pluck(wallets, label)]
        judge.that(bool(texts) and all(texts), "a name and a description of each wallet", wallets)


@case(
    "wallet-keeps-the-name-given",
    requirements=["PKP-050"],
    needs=NEEDS,
    uses=["wire.create_wallet.fields.name", "wire.create_wallet.fields.description", *LABEL_FIELDS, ADDRESSES],
)
def wallet_keeps_the_name_given(judge: Judge, node: Node) -> None:
    """A wallet is listed with the name and the description that it was created with."""
    alice = node.accounts.new().key
    labels = [{label: f"{node.label} {label} {number}" for label in LABELS} for number in range(2)]
    made = [node.session.call("create_wallet", alice, **given).value for given in labels]
    with judge():
        wallets = node.pkps.list(alice)
        for answer, given in zip(made, labels, strict=True):
            wallet = only(wallets, "wallet_address", member(answer, "wallet_address"))
            judge.members(wallet, given, "the wallet's labels")


@case(
    "contract-and-list-agree-on-wallets",
    requirements=["PKP-050"],
    needs=ON_CHAIN,
    uses=[IDS, ADDRESSES, *LABEL_FIELDS],
)
def contract_and_list_agree_on_wallets(judge: Judge, node: Node) -> None:
    """The contract's record of each wallet has the name and the description that list_wallets shows."""
    alice = node.accounts.new().key
    pkp = node.pkps.create(alice)
    with judge():
        wallet = only(node.pkps.list(alice), "id", pkp.id)
        own = account_hash(alice, node.session.profile)
        record = member(node.contract.view("get_wallet", own, pkp.id), "wallet")
        labels = {label: member(record, label) for label in LABELS}
        judge.that(all(isinstance(text, str) for text in labels.values()), "labels in the contract", record)
        judge.members(wallet, labels, "the labels of the contract's record in the list")


@case("wallet-in-two-groups", requirements=["PKP-060", "PKP-070"], needs=NEEDS, uses=[IDS, ADDRESSES])
def wallet_in_two_groups(judge: Judge, node: Node) -> None:
    """A wallet belongs to several groups at once, and leaving one leaves it in those made before and after."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    before, between, after = (bound(node, alice, pkps, []) for pkps in ([], [q], []))

    def holds(group: GroupId, *pkps: Pkp) -> None:
        ids = pluck(node.pkps.list(alice, group), "id")
        judge.same_hexes(ids, [one.id for one in pkps], "the wallets of the group", any_order=True)

    node.groups.add_pkp(alice, between, p.id)
    for group in (before, after):
        with judge("PKP-060"):
            node.groups.add_pkp(alice, group, p.id)
    for group in (before, after):
        with judge.apart("PKP-060"):
            holds(group, p)
    with judge("PKP-060"):
        holds(between, p, q)
    node.groups.remove_pkp(alice, between, p.id)
    holds(between, q)
    for group in (before, after):
        with judge.apart("PKP-070", why="a wallet that left one group stays in the others"):
            holds(group, p)


@case("capitals-in-an-id-mean-nothing", requirements=["PKP-140"], needs=NEEDS, uses=[IDS, ADDRESSES])
def capitals_in_an_id_mean_nothing(judge: Judge, node: Node) -> None:
    """Upper-case and lower-case hex of one PKP id name the same wallet."""
    alice = node.accounts.new().key
    p, g = node.pkps.create(alice), node.groups.add(alice).id
    small, capital = PkpId(p.id.lower()), PkpId(f"0x{p.id[2:].upper()}")

    def holds(*ids: str) -> None:
        judge.same_hexes(pluck(node.pkps.list(alice, g), "id"), ids, "the wallets of the group")

    with judge():
        node.groups.add_pkp(alice, g, small)
        node.groups.remove_pkp(alice, g, capital)
        holds()
        node.groups.add_pkp(alice, g, capital)
        holds(p.id)
        node.groups.update(alice, g, pkp_ids=[capital], cid_hashes=[])
        holds(p.id)


@case(
    "wallet-of-a-usage-key-is-the-accounts",
    requirements=["PKP-180", "PKP-110"],
    needs=NEEDS,
    uses=[IDS, ADDRESSES],
)
def wallet_of_a_usage_key_is_the_accounts(judge: Judge, node: Node) -> None:
    """A wallet that a usage key creates belongs to the account, whose own key lists it and puts it in a group.

    That of another usage key is another one.
    """
    alice = node.accounts.new().key
    key, other = (node.usage_keys.add(alice, Permissions(can_create_pkps=True)).key for _ in range(2))
    g = node.groups.add(alice).id
    address, another = (one for by in (key, other) for one in new_addresses(node, by, 1))
    with judge.apart("PKP-110", why="each of two usage keys of the account has created a wallet"):
        judge.that(address.lower() != another.lower(), f"another wallet than {address}", another)
    with judge("PKP-180", why="the wallet that a usage key creates is listed to the account key"):
        own = PkpId(printed(member(only(node.pkps.list(alice), "wallet_address", address), "id")))
    node.groups.add_pkp(alice, g, own)
    with judge("PKP-180", why="the account key puts the wallet that a usage key created into a group"):
        judge.same_hexes(pluck(node.pkps.list(alice, g), "id"), [own], "the wallets of the group")


@case(
    "wallet-is-named-by-its-id",
    requirements=["PKP-010", "PKP-020"],
    needs=NEEDS,
    uses=[IDS, ADDRESSES],
)
def wallet_is_named_by_its_id(judge: Judge, node: Node) -> None:
    """The id that list_wallets shows is 32 bytes of hex and names the wallet in add_pkp_to_group."""
    alice = node.accounts.new().key
    made = new_addresses(node, alice, 2)
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
    uses=[IDS, ADDRESSES],
)
def every_created_wallet_is_another(judge: Judge, node: Node) -> None:
    """Wallets created one after the other, at the same time and in two accounts all differ, and each is listed."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    with judge("PKP-110"):
        made = {alice: new_addresses(node, alice, IN_TURN), bob: new_addresses(node, bob, 1)}
        for answer in send_at_once(node.session, [node.pkps.creation(alice)] * AT_ONCE):
            must_accept(answer)
            made[alice].append(printed(member(answer.value, "wallet_address")))
        judge.distinct([one.lower() for of in made.values() for one in of], "addresses of wallets of two accounts")
    listed = {}
    for key, addresses in made.items():
        listed[key] = node.pkps.list(key)
        with judge("LIST-170"):
            shown = {printed(one).lower() for one in pluck(listed[key], "wallet_address")}
            found = [one for one in addresses if one.lower() in shown]
            judge.same(found, addresses, "what list_wallets shows of the wallets that create_wallet made")
    with judge("PKP-110"):
        for name in ("id", "wallet_address"):
            values = [printed(value).lower() for wallets in listed.values() for value in pluck(wallets, name)]
            judge.distinct(values, f"values of {name} in the lists of two accounts")


# ------------------------------------------------------------------------------------------------------ malformed ids


@case("malformed-id-in-group-lists", requirements=["PKP-130"], needs=NEEDS)
def malformed_id_in_group_lists(judge: Judge, node: Node) -> None:
    """add_group and update_group refuse a PKP id that is not 0x and 64 hex digits, with the actions beside it."""
    alice = node.accounts.new().key
    p = node.pkps.create(alice)
    g = node.groups.add(alice, pkp_ids=[p.id])
    updated = node.groups.update(alice, g.id, pkp_ids=[p.id], cid_hashes=[])
    groups = unchanged_list(node.session, "list_groups", alice)
    wallets = unchanged_list(node.session, "list_wallets_in_group", alice, group_id=g.id)
    actions = unchanged_list(node.session, "list_actions", alice, group_id=g.id)
    others: dict[str, object] = {"cid_hashes_permitted": [hashed_cid(node.actions.sample_cid("x"))]}
    reads = [groups, wallets, actions]
    with judge(), Refusals(node.session, control=[g.accepted, updated], unchanged=reads) as refusals:
        # Every other form goes to the other operation: both take the same list.
        for control, wrong in zip(cycle([g.accepted, updated]), malformed_ids(node, p)):
            refusals.send(control.changed(**others, pkp_ids_permitted=[wrong]), NO_ID)


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
                refusals.send(control.changed(pkp_id=wrong), NO_ID)

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


@case("ids-keep-their-zeros", requirements=["PKP-020"], needs=NEEDS, uses=[IDS])
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
