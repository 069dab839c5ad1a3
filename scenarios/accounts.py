"""Accounts and what belongs to them ("Resources and their fields / Account", "States and transitions / Account mode").

A fresh account may already hold things that the specification does not mention, so that cases look for what they made
and never count on empty lists.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.service.acceptance import must_accept
from conformance.service.at_once import send_at_once
from conformance.service.bindings import bound
from conformance.service.derivations import account_hash, hashed_cid, random_hash
from conformance.service.lists import first_page, only
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.refusal import was_accepted
from conformance.service.usage_keys import NO_PERMISSIONS, Permissions
from conformance.values.ids import Cid, GroupId
from conformance.values.json_values import member, pluck, printed, same_hex

NEEDS = ("managed_accounts",)
ON_CHAIN = (*NEEDS, "chain_rpc")
FIELDS = "wire.list_items.fields"
GROUP_FIELDS = "wire.list_groups.item_fields"
ADDRESS = re.compile("0x[0-9a-fA-F]{40}")
EVERYWHERE = Permissions(False, False, False, [0], [0], [0], [0])
NOTHING: Mapping[str, object] = {"pkp_ids_permitted": [], "cid_hashes_permitted": []}
TAKEN = {"name": "taken", "description": "over"}
"""The labels that another account gives to what is not its own."""


def new_address(node: Node, key: str) -> str:
    """The address of a new wallet, as the node answers it."""
    ((answer, _),) = node.pkps.creations(key, 1)
    return printed(member(answer.value, "wallet_address"))


def has_labels(judge: Judge, wallet: object) -> None:
    """The wallet has a name and a description."""
    for name in ("name", "description"):
        judge.that(isinstance(member(wallet, name), str), f"a wallet with a {name}", wallet)


# ------------------------------------------------------------------------------------------------ what it consists of


@case(
    "wallet-joins-its-account",
    requirements=["ACC-010", "EP-350"],
    needs=NEEDS,
    uses=[f"{FIELDS}.wallet.wallet_address"],
)
def wallet_joins_its_account(judge: Judge, node: Node) -> None:
    """A wallet that an account's key creates is then one of that account's wallets."""
    _, alice = node.accounts.new(), node.accounts.new().key
    before = pluck(node.pkps.list(alice), "wallet_address")
    with judge("ACC-010"):
        address = new_address(node, alice)
        judge.that(ADDRESS.fullmatch(address) is not None, "a wallet_address", address)
        judge.same([one for one in before if same_hex(one, address)], [], "the wallet before it is made")
        listed = node.pkps.list(alice)
    with judge("EP-350"):
        others = [one for one in pluck(listed, "wallet_address") if one not in before and not same_hex(one, address)]
        judge.same(others, [], f"wallets that are new in the list, beside {address}, which was answered,")
    with judge("ACC-010"):
        only(listed, "wallet_address", address)


@case(
    "wallet-has-labels",
    requirements=["ACC-080"],
    needs=NEEDS,
    uses=[f"{FIELDS}.wallet.{name}" for name in ("wallet_address", "name", "description")],
)
def wallet_has_labels(judge: Judge, node: Node) -> None:
    """Each wallet of an account has a name and a description."""
    alice = node.accounts.new().key
    address = new_address(node, alice)
    wallet = only(node.pkps.list(alice), "wallet_address", address)
    with judge():
        has_labels(judge, wallet)


@case("wallet-record-on-chain", requirements=["ACC-080"], needs=ON_CHAIN)
def wallet_record_on_chain(judge: Judge, node: Node) -> None:
    """On-chain, each wallet of an account has a derivation path of its own, a name and a description."""
    alice = node.accounts.new().key
    own = account_hash(alice, node.session.profile)
    addresses = [new_address(node, alice) for _ in range(2)]
    with judge():
        records = node.contract.items("list_wallets", own)
    made = [only(records, "walletAddress", address) for address in addresses]
    with judge():
        for wallet in made:
            has_labels(judge, wallet)
        # Key material is derived from the path, so that two wallets cannot share one.
        judge.distinct(pluck(records, "derivationPath"), "derivation paths of the account's wallets")


@case("record-on-chain", requirements=["ACC-020", "ACC-030", "ACC-040"], needs=ON_CHAIN)
def record_on_chain(judge: Judge, node: Node) -> None:
    """A fresh account's on-chain record is keyed by its apiKeyHash, has an admin wallet and is managed."""
    with judge("ACC-020"):
        own = account_hash(node.accounts.new(spends=False).key, node.session.profile)
        for record, exists in ((own, True), (random_hash(node.session.random), False)):
            judge.same(node.contract.view("account_exists", record), {"exists": exists}, f"account_exists of {record}")
    with judge("ACC-040"):
        account = node.contract.view("get_account", own)
        judge.members(account, {"managed": True}, "the account's record")
    with judge("ACC-030"):
        admin = printed(member(account, "adminWalletAddress"))
        is_one = ADDRESS.fullmatch(admin) and int(admin, 16)
        judge.that(bool(is_one), "an admin wallet that is an address, and not the zero address", admin)


@case("admin-wallet-as-stated", requirements=["ACC-030"], needs=ON_CHAIN, uses=["chain.managed_admin_wallet"])
def admin_wallet_as_stated(judge: Judge, node: Node) -> None:
    """The admin wallet of an API-mode account is the one that the node's profile names."""
    alice = node.accounts.new()
    with judge():
        account = node.contract.view("get_account", account_hash(alice.key, node.session.profile))
        admin = member(account, "adminWalletAddress")
        judge.that(isinstance(admin, str), "an admin wallet", account)
        # ACC-210: the specification does not say which wallet it is. Only `account_wallet` can be looked up over HTTP.
        if node.session.stated("chain.managed_admin_wallet") == "account_wallet":
            judge.same_hex(admin, alice.wallet_address, "the admin wallet that the profile names")


@case("group-is-a-child", requirements=["ACC-070"], needs=NEEDS)
def group_is_a_child(judge: Judge, node: Node) -> None:
    """A group that an account's key creates is then one of that account's groups."""
    alice = node.accounts.new().key
    before = pluck(node.groups.list(alice), "id")
    node.session.accept(node.groups.creation(alice))
    with judge():
        ids = pluck(node.groups.list(alice), "id")
        judge.same(len(ids), len(before) + 1, "the number of the account's groups")
        judge.distinct(ids, "ids of the account's groups")
        judge.that(ids[-1] not in before, "a last group that was not there before it was made", ids)


@case("group-has-its-labels", requirements=["ACC-070"], needs=NEEDS, uses=[GROUP_FIELDS])
def group_has_its_labels(judge: Judge, node: Node) -> None:
    """A group keeps the name and description that it was created with."""
    alice = node.accounts.new().key
    name, description = node.label, f"of {node.label}"
    node.session.call("add_group", alice, group_name=name, group_description=description, **NOTHING)
    with judge():
        groups = node.groups.list(alice)
        judge.items(groups[-1:], [{"name": name, "description": description}], "the newest group")


@case(
    "action-metadata-is-a-child",
    requirements=["ACC-090"],
    needs=NEEDS,
    uses=[f"{FIELDS}.action.name", f"{FIELDS}.action.description"],
)
def action_metadata_is_a_child(judge: Judge, node: Node) -> None:
    """A CID's name and description, once registered, are in the account's list of actions."""
    alice = node.accounts.new().key
    actions = {node.actions.sample_cid(name): {"name": f"{node.label} {name}", "description": name} for name in "ab"}
    for cid, labels in actions.items():
        node.session.call("add_action", alice, action_ipfs_cid=cid, **labels)
    with judge():
        listed = node.actions.list(alice)
        for cid, labels in actions.items():
            judge.members(only(listed, "hashed_cid", hashed_cid(cid)), labels, "the action's labels")


@case("usage-key-is-a-child", requirements=["ACC-100"], needs=NEEDS, uses=[f"{FIELDS}.usage_key.name"])
def usage_key_is_a_child(judge: Judge, node: Node) -> None:
    """A usage key that an account's key creates is then one of that account's usage keys."""
    alice = node.accounts.new().key
    judge.set_up(node.label not in pluck(node.usage_keys.list(alice), "name"), "no usage key of this name yet")
    node.usage_keys.add(alice)
    with judge():
        only(node.usage_keys.list(alice), "name", node.label)


# ------------------------------------------------------------------------------------------------ two accounts apart


@dataclass(frozen=True)
class Owner:
    """An account with a wallet and an action, whose groups and keys have names that begin with its own."""

    key: str
    name: str
    wallet: Pkp
    cid: Cid

    @classmethod
    def made(cls, node: Node, name: str) -> Owner:
        """A new one."""
        key = node.accounts.new().key
        return cls(key, f"{node.label} {name}", node.pkps.create(key), node.actions.sample_cid(name))

    @cached_property
    def marks(self) -> Mapping[str, tuple[str, str]]:
        """By list, the member and the text by which what is its own is known."""
        wallet = ("wallet_address", self.wallet.address[2:])
        action = ("hashed_cid", hashed_cid(self.cid)[2:])
        named = ("name", self.name)
        return {
            "list_groups": named,
            "list_api_keys": named,
            "list_wallets": wallet,
            "list_wallets_in_group": wallet,
            "list_actions": action,
        }

    def own(self, operation: str, items: object) -> list[object]:
        """The items that are its own."""
        name, mark = self.marks[operation]
        known = items if isinstance(items, list) else []
        return [one for one in known if mark.lower() in printed(member(one, name)).lower()]


@dataclass(frozen=True)
class Apart:
    """Two accounts, no list of which shows anything of the other."""

    judge: Judge
    node: Node

    def page(self, operation: str, key: str, **members: object) -> OutgoingRequest:
        """A request of the first page of a list."""
        size = self.node.session.target.page_size
        paging = {"page_number": first_page(self.node.session), "page_size": size}
        return self.node.session.request(operation, key, **members, **paging)

    def shows_nothing_of(self, other: Owner, operation: str, items: object) -> None:
        """The items are none of the other account's."""
        self.judge.same(other.own(operation, items), [], f"what {operation} shows of another account")

    def page_shows_nothing_of(self, other: Owner, request: OutgoingRequest) -> None:
        """A list that may be refused shows nothing of the other account."""
        answer = self.node.session.send(request)
        if was_accepted(self.node.session, answer, or_refused=["any"]):
            self.shows_nothing_of(other, request.operation.name, answer.value)


@case(
    "lists-show-the-own-account-alone",
    requirements=["ACC-110"],
    needs=NEEDS,
    uses=[
        {"semantics.managed_key_wallet_listed": False},
        GROUP_FIELDS,
        f"{FIELDS}.wallet.wallet_address",
        f"{FIELDS}.usage_key.name",
    ],
)
def lists_show_the_own_account_alone(judge: Judge, node: Node) -> None:
    """No list shows a group, wallet, action or usage key of another account."""
    apart = Apart(judge, node)
    alice, bob = Owner.made(node, "a"), Owner.made(node, "b")
    pairs = ((alice, bob), (bob, alice))
    # Alice has one group more than Bob: whether ids are numbered per account or for all accounts (ACC-130), the id of
    # her last group is not one of his.
    groups = {
        owner.name: [named_group(node, owner, number) for number in range(2 - (owner is bob))] for owner, _ in pairs
    }
    for owner, _ in pairs:
        node.actions.add(owner.key, owner.cid, owner.name)
    keys = [node.usage_keys.add(owner.key, EVERYWHERE, owner.name[len(node.label) + 1 :]).key for owner, _ in pairs]
    reads = {
        "list_groups": node.groups.list,
        "list_wallets": node.pkps.list,
        "list_actions": node.actions.list,
        "list_api_keys": node.usage_keys.list,
    }
    wallets = {owner.key: node.pkps.list(owner.key) for owner, _ in pairs}
    with judge():
        for operation, read in reads.items():
            for owner, other in pairs:
                apart.shows_nothing_of(other, operation, read(owner.key))

    lists_of_a_group_show_nothing(apart, alice, bob, (*groups[alice.name], *groups[bob.name]))
    with judge():
        # Also while the other account reads the same list.
        asked = [(owner, other, operation) for operation in reads for owner, other in pairs]
        requests = [apart.page(operation, owner.key) for owner, _, operation in asked]
        for _ in range(3):
            answers = send_at_once(node.session, requests)
            for (owner, other, operation), answer in zip(asked, answers, strict=True):
                must_accept(answer)
                apart.shows_nothing_of(other, operation, answer.value)
                if operation == "list_wallets":
                    judge.same(answer.value, wallets[owner.key], "the account's wallets")
        # What a usage key may list is nowhere stated (SCOPE-160); another account's things it may not.
        for operation in ("list_groups", "list_wallets", "list_api_keys"):
            apart.page_shows_nothing_of(alice, apart.page(operation, keys[1]))


def lists_of_a_group_show_nothing(apart: Apart, alice: Owner, bob: Owner, groups: Sequence[GroupId]) -> None:
    """Alice's list of a group shows her things.

    The same id under Bob's key shows none of them, be it his own group, an empty page or a refusal (LIST-160).
    """
    first, second, of_bob = groups
    inside = {"list_wallets_in_group": apart.node.pkps.list, "list_actions": apart.node.actions.list}
    for operation, read in inside.items():
        apart.judge.set_up(len(alice.own(operation, read(alice.key, second))) == 1, f"her own in {operation}")
    # Bob reads the group that has the same number as one of hers, if each account counts its own, right after her.
    for read in inside.values():
        read(alice.key, first)
    with apart.judge():
        for operation, read in inside.items():
            apart.shows_nothing_of(alice, operation, read(bob.key, of_bob))
        for operation in inside:
            apart.page_shows_nothing_of(alice, apart.page(operation, bob.key, group_id=second))


def named_group(node: Node, owner: Owner, number: int) -> GroupId:
    """A group of the account, with its wallet and its action."""
    name = f"{owner.name[len(node.label) + 1 :]}{number}"
    return node.groups.add(owner.key, name, pkp_ids=[owner.wallet.id], cid_hashes=[hashed_cid(owner.cid)]).id


def try_all(node: Node, requests: Sequence[OutgoingRequest]) -> None:
    """Send requests with another account's key: each is refused, or touches what is that account's own."""
    for request in requests:
        was_accepted(node.session, node.session.send(request), or_refused=["any"])


@case(
    "other-accounts-groups-stay-as-they-are",
    requirements=["ACC-120"],
    needs=NEEDS,
    uses=[f"{FIELDS}.wallet.wallet_address"],
)
def other_accounts_groups_stay_as_they_are(judge: Judge, node: Node) -> None:
    """No key of another account changes a group."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    cid, other_cid = (node.actions.sample_cid(name) for name in ("inside", "outside"))
    hashed = hashed_cid(cid)
    first, second = (bound(node, alice, [p], [hashed]) for _ in range(2))

    def lists() -> list[object]:
        return [node.groups.list(alice), node.pkps.list(alice, second), node.actions.list(alice, second)]

    before = lists()
    # Bob's only group may have the id of Alice's first one (ACC-130), not that of her second one.
    of_bob = node.groups.add(bob).id
    # What Bob does in his own group shows there alone.
    for added in (other_cid, cid):
        node.groups.add_action(bob, of_bob, added)
    node.groups.remove_action(bob, of_bob, hashed)
    with judge():
        judge.same_hexes(pluck(node.actions.list(alice, first), "hashed_cid"), [hashed], "the actions of Alice's group")
    in_group: list[tuple[str, dict[str, object]]] = [
        ("add_action_to_group", {"action_ipfs_cid": other_cid}),
        ("remove_action_from_group", {"hashed_cid": hashed}),
        ("add_pkp_to_group", {"pkp_id": q.id}),
        ("remove_pkp_from_group", {"pkp_id": p.id}),
        ("update_group", {**TAKEN, **NOTHING}),
        ("remove_group", {}),
    ]
    with judge():
        try_all(node, [node.session.request(name, bob, group_id=second, **members) for name, members in in_group])
        try_all(node, [node.session.request(name, bob, group_id=first, **members) for name, members in in_group[4:]])
        judge.same(lists(), before, "Alice's groups, and the wallets and actions of her second one")
        judge.same_hexes(pluck(node.pkps.list(alice, first), "wallet_address"), [p.address], "the wallets of the first")
    # The same requests with the key of the account that owns the group do what they say.
    for name, members in in_group[:4]:
        node.session.call(name, alice, group_id=second, **members)
    inside = pluck(node.pkps.list(alice, second), "wallet_address")
    judge.set_up(
        len(inside) == 1 and same_hex(inside[0], q.address), "the one wallet that the owner put into the group"
    )
    for name, members in in_group[4:]:
        node.session.call(name, alice, group_id=second, **members)


@case("other-accounts-usage-keys-stay-as-they-are", requirements=["ACC-120"], needs=NEEDS)
def other_accounts_usage_keys_stay_as_they_are(judge: Judge, node: Node) -> None:
    """No key of another account changes a usage key."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    key = node.usage_keys.add(alice, Permissions(can_create_groups=True)).key
    keys = node.usage_keys.list(alice)
    narrowed = NO_PERMISSIONS.but({"can_delete_groups": True})
    tried: list[tuple[str, dict[str, object]]] = [
        ("update_usage_api_key", {**TAKEN, **narrowed.members}),
        ("update_usage_api_key_metadata", {**TAKEN}),
        ("remove_usage_api_key", {}),
    ]
    with judge():
        try_all(node, [node.session.request(name, bob, usage_api_key=key, **members) for name, members in tried])
        judge.same(node.usage_keys.list(alice), keys, "Alice's usage keys")
        node.session.accept(node.groups.creation(key))
    # The same requests with the key of the account that owns the usage key are accepted.
    for name, members in tried:
        node.session.call(name, alice, usage_api_key=key, **members)


@case(
    "other-accounts-actions-stay-as-they-are",
    requirements=["ACC-120"],
    needs=NEEDS,
    uses=[f"{FIELDS}.action.name", f"{FIELDS}.action.description"],
)
def other_accounts_actions_stay_as_they_are(judge: Judge, node: Node) -> None:
    """No key of another account changes an action's registered name and description, nor which groups list it."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    cid = node.actions.sample_cid("shared")
    hashed = hashed_cid(cid)
    node.actions.add(alice, cid)
    group = bound(node, alice, [], [hashed])
    actions = node.actions.list(alice)
    rename, delete = (
        node.session.request("update_action_metadata", bob, hashed_cid=hashed, **TAKEN),
        node.session.request("delete_action", bob, hashed_cid=hashed),
    )
    with judge():
        try_all(node, [rename, delete])
        judge.same(node.actions.list(alice), actions, "Alice's actions")
    # No account owns an action ("Resources and their fields / Action"): Bob may register the same CID. What he then
    # does with it is his own.
    node.actions.add(bob, cid)
    for request in (rename, delete):
        node.session.accept(request)
        with judge():
            judge.same(node.actions.list(alice), actions, "Alice's actions")
    with judge():
        judge.same_hexes(pluck(node.actions.list(alice, group), "hashed_cid"), [hashed], "the actions of Alice's group")
    node.session.call("update_action_metadata", alice, hashed_cid=hashed, **TAKEN)
    with judge():
        judge.members(only(node.actions.list(alice), "hashed_cid", hashed), TAKEN, "the action that its owner renamed")


@case(
    "equal-bodies-make-two-accounts",
    requirements=["ACC-110", "ACC-200"],
    needs=NEEDS,
    uses=[{"accounts.credits": "granted"}],
)
def equal_bodies_make_two_accounts(judge: Judge, node: Node) -> None:
    """Two account creations with the same body make two accounts."""
    twin = {"account_description": "a twin", "email": "twin@example.org"}
    one, another = node.accounts.new(members=twin), node.accounts.new()
    with judge("ACC-200"):
        two = node.accounts.new(members=twin)
        judge.distinct([one.key, two.key], "keys of accounts with the same body")
    of_two, of_another = node.groups.list(two.key), node.groups.list(another.key)
    node.groups.add(one.key)
    with judge("ACC-110"):
        judge.same(node.groups.list(another.key), of_another, "the groups of an account with another body")
    with judge("ACC-200"):
        judge.same(node.groups.list(two.key), of_two, "the groups of the second account")


@case("equal-bodies-at-once-make-accounts", requirements=["ACC-200"], needs=NEEDS)
def equal_bodies_at_once_make_accounts(judge: Judge, node: Node) -> None:
    """Account creations with the same body at the same time each make an account of their own."""
    request = node.session.request("new_account", account_name=node.label, account_description="a twin")
    with judge():
        answers = send_at_once(node.session, [request] * 4)
        for answer in answers:
            must_accept(answer)
        judge.distinct([member(answer.value, "api_key") for answer in answers], "keys of accounts made at once")
