"""What the contract holds and what the lists of the HTTP API show agree, in both directions.

Specification: "What the service does" 4 and 5, "Resources and their fields / Account".
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from conformance.cases import Judge, case
from conformance.service.admin_writes import four_groups, group_named, wallet_record, writes_by_admin
from conformance.service.derivations import hashed_cid
from conformance.service.groups import group_id
from conformance.service.lists import one_item_page, only, read_pages
from conformance.service.minting import FAR_AHEAD
from conformance.service.node import Node
from conformance.service.refusal import must_refuse
from conformance.service.usage_keys import ALL_PERMISSIONS, Permissions
from conformance.values.json_values import member, pluck, same_hex

NEEDS = ("chain_rpc", "funded_wallet")
ANY_KEY_LISTS = {"auth.usage_key_permission.lists": "any_key"}
ANY_KEY_LISTS_KEYS = {"auth.usage_key_permission.list_api_keys": "any_key"}
LISTED_KEY = "wire.list_items.fields.usage_key"


@case(
    "lists-follow-groups",
    requirements=["CHAIN-050", "ACC-150"],
    needs=NEEDS,
    uses=[
        ANY_KEY_LISTS,
        "wire.list_groups.item_fields.name",
        "wire.list_groups.item_fields.description",
        "wire.list_items.fields.wallet.wallet_address",
    ],
)
def lists_follow_groups(judge: Judge, node: Node) -> None:
    """Groups that the admin wallet writes on the chain show in the lists of a usage key at once."""
    dana = node.accounts.by_wallet(node.wallets.new("carol"))
    write = writes_by_admin(node, dana, within=partial(judge, "ACC-150"))
    wallet = node.minting.wallet(dana.admin)
    node.minting.register(dana, wallet)
    pkp = member(wallet_record(node, dana.hash, wallet.address), "id")
    key = node.minting.attached_key(dana).key
    hash_one, hash_two = (hashed_cid(node.actions.sample_cid(mark)) for mark in ("one", "two"))
    label = node.label

    def shows(*labels: tuple[str, str]) -> None:
        expected = [{"name": f"{label} {name}", "description": description} for name, description in labels]
        with judge("CHAIN-050"):
            judge.items(node.groups.list(key), expected, "the groups in list_groups")

    def holds(addresses: list[str], hashes: list[str]) -> None:
        with judge("CHAIN-050"):
            judge.same_hexes(pluck(node.pkps.list(key, g), "wallet_address"), addresses, "the group's wallets")
            listed = pluck(node.actions.list(key, g), "hashed_cid")
            judge.same_hexes(listed, hashes, "the group's actions", any_order=True)

    shows()
    write("add_group", f"{label} one", "first", [pkp], [hash_one])
    shows(("one", "first"))
    g = group_named(node, dana, f"{label} one")
    with judge("CHAIN-050"):
        listed = [group_id(one) for one in pluck(node.groups.list(key), "id")]
        judge.same(listed, [g], "the ids in the list, as the contract has them,")
    holds([wallet.address], [hash_one])
    write("remove_pkp_from_group", g, pkp)
    holds([], [hash_one])
    write("add_pkp_to_group", g, pkp)
    write("add_action_to_group", g, hash_two)
    holds([wallet.address], [hash_one, hash_two])
    write("remove_action_from_group", g, hash_one)
    holds([wallet.address], [hash_two])
    write("update_group", g, f"{label} renamed", "second", [], [hash_one])
    shows(("renamed", "second"))
    holds([], [hash_one])
    write("add_group", f"{label} two", "d", [], [])
    shows(("renamed", "second"), ("two", "d"))
    write("remove_group", g)
    shows(("two", "d"))


@case(
    "lists-follow-wallets-and-actions",
    requirements=["CHAIN-050", "ACC-150"],
    needs=NEEDS,
    uses=[
        ANY_KEY_LISTS,
        "wire.list_items.fields.wallet.wallet_address",
        "wire.list_items.fields.wallet.name",
        "wire.list_items.fields.wallet.description",
        "wire.list_items.fields.action.name",
        "wire.list_items.fields.action.description",
    ],
)
def lists_follow_wallets_and_actions(judge: Judge, node: Node) -> None:
    """Wallets and action metadata that the admin wallet writes show in the lists of a usage key at once."""
    dana = node.accounts.by_wallet(node.wallets.new("carol"))
    write = writes_by_admin(node, dana, within=partial(judge, "ACC-150"))
    key = node.minting.attached_key(dana).key
    wallet = node.minting.wallet(dana.admin)
    hash_one, hash_two = (hashed_cid(node.actions.sample_cid(mark)) for mark in ("one", "two"))
    label = node.label

    def minted() -> list[object]:
        return [item for item in node.pkps.list(key) if same_hex(member(item, "wallet_address"), wallet.address)]

    def shows(labels: dict[str, tuple[str, str]]) -> None:
        with judge("CHAIN-050"):
            items = node.actions.list(key)
            judge.same(len(items), len(labels), "the number of actions in list_actions")
            for hashed, (name, description) in labels.items():
                item = only(items, "hashed_cid", hashed)
                judge.members(item, {"name": name, "description": description}, "the labels of the action")

    judge.set_up(minted() == [], "a list without the minted wallet before its registration")
    write("register_wallet_derivation", wallet.address, wallet.path, f"{label} minted", "of the chain")
    labels = {"name": f"{label} minted", "description": "of the chain"}
    with judge("CHAIN-050"):
        judge.items(minted(), [labels], "the minted wallet in list_wallets")
    shows({})
    write("add_action", hash_one, label, "first")
    write("add_action", hash_two, f"{label} other", "first")
    shows({hash_one: (label, "first"), hash_two: (f"{label} other", "first")})
    write("update_action_metadata", hash_one, f"{label} renamed", "second")
    shows({hash_one: (f"{label} renamed", "second"), hash_two: (f"{label} other", "first")})
    write("delete_action", hash_one)
    shows({hash_two: (f"{label} other", "first")})


@case(
    "lists-follow-usage-keys",
    requirements=["CHAIN-050", "UKEY-380", "ACC-150"],
    needs=NEEDS,
    uses=[
        ANY_KEY_LISTS,
        ANY_KEY_LISTS_KEYS,
        *(f"{LISTED_KEY}.{name}" for name in ("name", "description", "expiration", "balance")),
        *(f"{LISTED_KEY}.{name}" for name in ALL_PERMISSIONS.members),
    ],
)
def lists_follow_usage_keys(judge: Judge, node: Node) -> None:
    """Usage keys that the admin wallet writes show in the list with their values, and stop with their removal."""
    dana = node.accounts.by_wallet(node.wallets.new("carol"))
    write = writes_by_admin(node, dana, within=partial(judge, "ACC-150"))
    own = node.minting.attached_key(dana, name="key")
    a, b, c, d = four_groups(node, dana)
    other = node.minting.usage_key(dana.admin)
    node.minting.register(dana, other)
    label = node.label
    first = Permissions(True, False, False, [a], [b], [c], [d])
    second = Permissions(False, True, True, [d], [c], [b], [])

    def shows(name: str, values: dict[str, object], about: str = "CHAIN-050") -> None:
        with judge.apart(about):
            listed = [item for item in node.usage_keys.list(own.key) if member(item, "name") == f"{label} {name}"]
            judge.items(listed, [values], f"the usage key {name!r} in list_api_keys")

    write("set_usage_api_key", other.hash, FAR_AHEAD, 77, f"{label} other", "first", *first.arguments)
    with judge("CHAIN-050"):
        judge.same(len(node.usage_keys.list(own.key)), 2, "the number of usage keys")
    shows("other", {"expiration": FAR_AHEAD, "balance": 77}, "UKEY-380")
    shows("other", {"description": "first", **first.members})
    shows("key", {"can_create_groups": False, "execute_in_groups": []})
    write("update_usage_api_key", other.hash, f"{label} changed", "second", *second.arguments)
    shows("changed", {"description": "second", **second.members})
    write("update_usage_api_key_metadata", other.hash, f"{label} again", "third")
    shows("again", {"description": "third", **second.members})
    write("remove_usage_api_key", other.hash)
    with judge("CHAIN-050"):
        judge.items(node.usage_keys.list(own.key), [{"name": f"{label} key"}], "the usage keys that are left")
    asked = node.session.request("list_api_keys", own.key, **one_item_page(node.session))
    attached = node.session.accept(asked)[1]
    write("remove_usage_api_key", own.hash)
    with judge("CHAIN-050"):
        must_refuse(node.session, asked, ["unauthenticated"], control=attached, unchanged=[])


@case(
    "attached-key-sees-its-account",
    requirements=["CHAIN-050", "CHAIN-180"],
    needs=NEEDS,
    uses=[ANY_KEY_LISTS, "wire.list_groups.item_fields.name"],
)
def attached_key_sees_its_account(judge: Judge, node: Node) -> None:
    """A usage key attached on the chain sees the account that attached it, and no other."""
    dana, fred = node.accounts.by_wallet(node.wallets.new("carol")), node.accounts.by_wallet(node.wallets.new("erin"))
    for account, name in ((dana, "of dana"), (fred, "of fred")):
        writes_by_admin(node, account)("add_group", f"{node.label} {name}", "d", [], [])
    keys = {name: node.minting.usage_key(account.admin) for name, account in (("of dana", dana), ("of fred", fred))}
    for account, (name, key) in zip((dana, fred), keys.items(), strict=True):
        node.minting.register(account, key)
        node.minting.attach(account, key)
        own = f"{node.label} {name}"
        with judge("CHAIN-050"):
            listed = pluck(node.groups.list(key.key), "name")
            judge.that(own in listed, f"the group {own!r} in the list of the key {name}", listed)
        with judge.apart("CHAIN-180"):
            judge.that([group for group in listed if group != own] == [], "no group of another account", listed)
    with judge("CHAIN-050"):
        bearer = replace(node.session.request("list_groups", keys["of dana"].key), via="bearer")
        judge.items(
            read_pages(node.session, bearer),
            [{"name": f"{node.label} of dana"}],
            "the items, when the key is sent as Bearer,",
        )
