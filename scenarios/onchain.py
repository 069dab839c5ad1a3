"""The contract as wallets and readers see it, where cases compute.

What a wallet writes there shows over HTTP, what is written over HTTP shows there, and each call changes the account
that it names. Specification: "What the service does" 4 and 5, "Resources and their fields / Account".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from eth_utils.crypto import keccak

from conformance.cases import Judge, case
from conformance.profile.wire import ZERO_HASH
from conformance.service.acceptance import Accepted
from conformance.service.accounts import ChainSecuredAccount
from conformance.service.at_once import at_once
from conformance.service.bindings import Converted, converted
from conformance.service.contract import payers
from conformance.service.derivations import account_hash, hashed_cid, wallet_hash
from conformance.service.groups import ALL_PKPS, group_id
from conformance.service.lists import only, read_pages, unchanged_list
from conformance.service.minting import FAR_AHEAD
from conformance.service.node import Node
from conformance.service.refusal import must_be_as_stated, must_refuse
from conformance.service.signing_runs import signers_in
from conformance.service.usage_keys import ALL_PERMISSIONS, Permissions
from conformance.values.ids import Address, GroupId, PkpId
from conformance.values.json_values import member, pluck, printed, same_hex

NEEDS = ("chain_rpc", "funded_wallet")
ANY_KEY_LISTS = {"auth.usage_key_permission.lists": "any_key"}
RUNS_AFTER_CONVERSION = (
    {"chain.admin_hash_meaning": "api_key_hash"},
    {"billing.credits_after_conversion": "moved"},
)
EVENTS = "events.kinds_and_delivery"
LISTED_KEY = "wire.list_items.fields.usage_key"

Write = Callable[..., Accepted]


def by_admin(node: Node, account: ChainSecuredAccount) -> Write:
    """What sends a write of the account's admin wallet; the account is the first argument."""

    def write(function: str, *arguments: object) -> Accepted:
        return node.contract.write(account.admin, function, account.hash, *arguments)[1]

    return write


def judged_writes(judge: Judge, node: Node, account: ChainSecuredAccount) -> Write:
    """The same; a write that the contract does not take is a failure of ACC-150."""
    write = by_admin(node, account)

    def judged(function: str, *arguments: object) -> Accepted:
        with judge("ACC-150"):
            return write(function, *arguments)

    return judged


def lower(address: object) -> str:
    """An address without the capitals of its checksum."""
    return printed(address).lower()


def hashed(content: bytes) -> str:
    """keccak256 as 0x hex."""
    return f"0x{keccak(content).hex()}"


def group_named(node: Node, account: ChainSecuredAccount, name: str) -> GroupId:
    """The id of the one group of this name, as the contract lists it."""
    return group_id(member(only(node.contract.items("list_groups", account.hash), "name", name), "id"))


def wallet_record(node: Node, account: str, address: str) -> object:
    """The contract's record of an account's wallet: its `id`, `walletAddress`, `derivationPath` and labels."""
    return only(node.contract.items("list_wallets", account), "walletAddress", address)


def four_groups(node: Node, account: ChainSecuredAccount) -> list[GroupId]:
    """The ids of four new groups that permit nothing."""
    write = by_admin(node, account)
    for number in range(4):
        write("add_group", f"{node.label} {number}", "d", [], [])
    return [group_named(node, account, f"{node.label} {number}") for number in range(4)]


# ------------------------------------------------------------------------------------------- the account of a wallet


@case(
    "account-of-a-wallet",
    requirements=["ACC-030", "ACC-050", "ACC-060", "ACC-180"],
    needs=[*NEEDS, "managed_accounts"],
)
def account_of_a_wallet(judge: Judge, node: Node) -> None:
    """The account that a wallet makes is unmanaged, its own, and named by the hash of its 20 address bytes."""
    carol = node.wallets.new("carol")
    raw = bytes.fromhex(carol.address.removeprefix("0x"))
    own = hashed(raw)
    managed = account_hash(node.accounts.new().key, node.session.profile)
    judge.set_up(node.contract.view("account_exists", own) == {"exists": False}, "no account of a fresh wallet")
    node.contract.write(carol, "new_chain_secured_account", node.label, "first")
    with judge("ACC-060"):
        found = node.contract.view("account_exists", own)
        judge.same(found, {"exists": True}, "the account under keccak256 of 20 bytes")
        for spelling, wrong in {
            "padded to 32 bytes": raw.rjust(32, bytes(1)),
            "as text": carol.address.encode(),
            "as text in lower case": carol.address.lower().encode(),
        }.items():
            found = node.contract.view("account_exists", hashed(wrong))
            judge.same(found, {"exists": False}, f"an account under keccak256 of the address {spelling}")
    account, other = (node.contract.view("get_account", account) for account in (own, managed))
    judge.set_up(member(other, "managed") is True, "`managed` of an API-mode account")
    with judge.apart("ACC-050", "ACC-180"):
        judge.same(member(account, "managed"), False, "`managed` of the account that a wallet made")
    with judge.apart("ACC-030", "ACC-180"):
        judge.same(lower(member(account, "adminWalletAddress")), lower(carol.address), "its `adminWalletAddress`")


# ------------------------------------------------------------------------------------------- the functions by name


@case("attach-keeps-each-argument", requirements=["UKEY-380"], needs=NEEDS)
def attach_keeps_each_argument(judge: Judge, node: Node) -> None:
    """`setUsageApiKey` takes expiration, balance, labels and the seven permissions in the specification's order."""
    carol = node.wallets.new("carol")
    dana = node.accounts.by_wallet(carol)
    a, b, c, d = four_groups(node, dana)
    rows = {
        (FAR_AHEAD, 7): Permissions(True, False, False, [a], [b], [c], [d]),
        (FAR_AHEAD + 1, 70): Permissions(False, True, False, [b], [c], [d], [a]),
        (FAR_AHEAD + 2, 700): Permissions(False, False, True, [c], [d], [a], [b]),
    }
    with judge():
        signature = node.contract.signature("set_usage_api_key")
        judge.that(signature.startswith("setUsageApiKey("), "a function called setUsageApiKey", signature)
        for (expiration, balance), permissions in rows.items():
            key = node.minting.usage_key(carol)
            node.minting.register(dana, key)
            labels = {"name": f"{node.label} name", "description": f"{node.label} description"}
            arguments = [key.hash, expiration, balance, *labels.values(), *permissions.arguments]
            node.contract.write(carol, "set_usage_api_key", dana.hash, *arguments)
            shown = member(node.contract.view("get_usage_api_key", dana.hash, key.hash), "usageKey")
            expected = {"expiration": expiration, "balance": balance, **labels, **permissions.record}
            judge.members(shown, expected, "the record of the attached key")
        keys = node.contract.items("list_usage_api_keys", dana.hash)
        judge.same(len(keys), len(rows), "the number of attached keys")
        first = [key for key in keys if member(key, "canCreateGroups") is True]
        judge.items(first, [{"expiration": FAR_AHEAD, "balance": 7}], "the values of the first key, as before")


# ------------------------------------------------------------------------------- what the chain says, HTTP says


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
    write = judged_writes(judge, node, dana)
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
        listed = group_id(pluck(node.groups.list(key), "id")[0])
        judge.same(listed, g, "the id in the list, as the contract has it,")
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
    write = judged_writes(judge, node, dana)
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
        *(f"{LISTED_KEY}.{name}" for name in ("name", "description", "expiration", "balance")),
        *(f"{LISTED_KEY}.{name}" for name in ALL_PERMISSIONS.members),
    ],
)
def lists_follow_usage_keys(judge: Judge, node: Node) -> None:
    """Usage keys that the admin wallet writes show in the list with their values, and stop with their removal."""
    dana = node.accounts.by_wallet(node.wallets.new("carol"))
    write = judged_writes(judge, node, dana)
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
    asked = node.session.request("list_api_keys", own.key, **a_page(node))
    attached = node.session.accept(asked)[1]
    write("remove_usage_api_key", own.hash)
    with judge("CHAIN-050"):
        must_refuse(node.session, asked, ["unauthenticated"], control=attached, unchanged=[])


def a_page(node: Node) -> dict[str, object]:
    """The members that ask for one item of a list."""
    return {"page_number": node.session.stated("wire.paging.first_page_number"), "page_size": 1}


# ------------------------------------------------------------------------------- what the chain says decides runs


@case(
    "runs-follow-the-chain",
    requirements=["CHAIN-050", "ACC-150"],
    needs=[*NEEDS, "managed_accounts"],
    uses=RUNS_AFTER_CONVERSION,
)
def runs_follow_the_chain(judge: Judge, node: Node) -> None:
    """What the admin wallet writes on the chain decides the next run of a usage key."""
    on = converted(node)
    write, key = judged_writes(judge, node, on.account), on.attached.hash
    in_g, in_h = (replace(ALL_PERMISSIONS, execute_in_groups=[group]).arguments for group in (on.g, on.h))
    runs = node.signing.must_sign(on.key, on.x, on.p).accepted

    def x_with_p(permitted: bool) -> None:
        with judge("CHAIN-050"):
            if permitted:
                node.signing.must_sign(on.key, on.x, on.p)
            else:
                node.signing.must_be_refused(on.key, on.x, on.p, control=runs)

    for what, value in {"action": on.x.hash, "pkp": on.p.id}.items():
        write(f"remove_{what}_from_group", on.g, value)
        x_with_p(permitted=False)
        write(f"add_{what}_to_group", on.g, value)
        x_with_p(permitted=True)
    write("update_usage_api_key", key, "n", "d", *in_h)
    x_with_p(permitted=False)
    with judge("CHAIN-050"):
        node.signing.must_sign(on.key, on.y, on.q)
    write("update_usage_api_key", key, "n", "d", *in_g)
    x_with_p(permitted=True)
    write("update_group", on.g, "n", "d", [on.p.id], [on.y.hash])
    x_with_p(permitted=False)
    write("update_group", on.g, "n", "d", [on.p.id], [on.x.hash])
    x_with_p(permitted=True)
    write("remove_group", on.g)
    x_with_p(permitted=False)


@case(
    "permissions-of-attached-keys",
    requirements=["MINT-150"],
    needs=[*NEEDS, "managed_accounts"],
    uses=RUNS_AFTER_CONVERSION,
)
def permissions_of_attached_keys(judge: Judge, node: Node) -> None:
    """Of the four arrays of a key attached on the chain only `execute_in_groups` lets it run."""
    on = converted(node)
    write = by_admin(node, on.account)
    with judge():
        runs = node.signing.must_sign(on.key, on.x, on.p).accepted
        node.signing.must_be_refused(on.key, on.y, on.q, control=runs)
        node.signing.must_be_refused(on.key, on.x, on.q, control=runs)
        for permissions in (
            Permissions(True, True, True, manage_ipfs_ids_in_groups=[on.g]),
            Permissions(True, True, True, add_pkp_to_groups=[on.g]),
            Permissions(True, True, True, remove_pkp_from_groups=[on.g]),
            Permissions(True, True, True, [0], [0], [0], execute_in_groups=[on.h]),
        ):
            write("update_usage_api_key", on.attached.hash, "n", "d", *permissions.arguments)
            node.signing.must_be_refused(on.key, on.x, on.p, control=runs)
        everywhere = Permissions(execute_in_groups=[0])
        write("update_usage_api_key", on.attached.hash, "n", "d", *everywhere.arguments)
        node.signing.must_sign(on.key, on.x, on.p)
        node.signing.must_sign(on.key, on.y, on.q)


@case(
    "all-wallets-written-on-the-chain",
    requirements=["GRP-070"],
    needs=[*NEEDS, "managed_accounts"],
    uses=RUNS_AFTER_CONVERSION,
)
def all_wallets_written_on_the_chain(judge: Judge, node: Node) -> None:
    """The zero hash among a group's wallets on the chain permits every wallet, with the listed action alone."""
    on = converted(node)
    runs = node.signing.must_sign(on.key, on.x, on.p).accepted
    node.signing.must_be_refused(on.key, on.x, on.q, control=runs)
    by_admin(node, on.account)("update_group", on.g, "n", "d", [ALL_PKPS], [on.x.hash])
    with judge():
        node.signing.must_sign(on.key, on.x, on.q)
        node.signing.must_be_refused(on.key, on.y, on.p, control=runs)


@case(
    "all-actions-written-on-the-chain",
    requirements=["GRP-080"],
    needs=[*NEEDS, "managed_accounts"],
    uses=RUNS_AFTER_CONVERSION,
)
def all_actions_written_on_the_chain(judge: Judge, node: Node) -> None:
    """The zero hash among a group's actions on the chain permits every action, with the listed wallet alone."""
    on = converted(node)
    runs = node.signing.must_sign(on.key, on.x, on.p).accepted
    node.signing.must_be_refused(on.key, on.y, on.p, control=runs)
    by_admin(node, on.account)("update_group", on.g, "n", "d", [on.p.id], [ZERO_HASH])
    with judge():
        node.signing.must_sign(on.key, on.y, on.p)
        node.signing.must_be_refused(on.key, on.x, on.q, control=runs)


# ------------------------------------------------------------------------------------ registrations of others' wallets


@dataclass(frozen=True)
class StrangeWallet:
    """A wallet of another account, as the contract's records have it."""

    address: Address
    id: PkpId
    path: object


def wallet_of_bob(node: Node) -> StrangeWallet:
    """One of a fresh account."""
    bob = node.accounts.new()
    pkp = node.pkps.create(bob.key)
    bobs = account_hash(bob.key, node.session.profile)
    record = wallet_record(node, bobs, pkp.address)
    return StrangeWallet(pkp.address, PkpId(printed(member(record, "id"))), member(record, "derivationPath"))


def must_not_sign_as(judge: Judge, node: Node, on: Converted, pkp_id: str, owner: str) -> None:
    """Run with a wallet; however this ends, nothing that it answers is a signature of `owner`."""
    request = node.runs.request(on.key, on.x.code, pkp_id=pkp_id, params={"message": node.label})
    answer = node.runs.any_end(request)
    signers = signers_in(answer.text, node.label)
    judge.that(owner.lower() not in signers, f"no signature of {owner}, which belongs to another account", answer.text)


@case(
    "path-of-another-wallet",
    requirements=["MINT-050"],
    needs=[*NEEDS, "managed_accounts"],
    uses=RUNS_AFTER_CONVERSION,
)
def path_of_another_wallet(judge: Judge, node: Node) -> None:
    """A wallet that was registered with another account's derivation path signs nothing as that account's wallet."""
    on = converted(node)
    bobs = wallet_of_bob(node)
    minted, strange = node.minting.wallet(on.account.admin), node.minting.wallet(on.account.admin)
    node.minting.register(on.account, minted)
    # The contract may refuse this one: then nothing comes of it, and nothing is left to be judged.
    node.minting.register(on.account, replace(strange, path=printed(bobs.path)))
    records = (wallet_record(node, on.account.hash, wallet.address) for wallet in (minted, strange))
    own, copied = (PkpId(printed(member(record, "id"))) for record in records)
    by_admin(node, on.account)("update_group", on.g, "n", "d", [own, copied], [on.x.hash])
    node.signing.must_sign(on.key, on.x, replace(on.p, id=own, address=minted.address))
    with judge():
        must_not_sign_as(judge, node, on, copied, bobs.address)


@case(
    "copied-registration",
    requirements=["PKP-150", "MINT-050"],
    needs=[*NEEDS, "managed_accounts"],
    uses=RUNS_AFTER_CONVERSION,
)
def copied_registration(judge: Judge, node: Node) -> None:
    """A registration copied from another account's record, address and path, gives no use of its wallet."""
    on = converted(node)
    write = by_admin(node, on.account)
    bobs = wallet_of_bob(node)
    # The contract may refuse this one: then nothing comes of it, and nothing is left to be judged.
    write("register_wallet_derivation", bobs.address, bobs.path, "n", "d")
    write("update_group", on.g, "n", "d", [on.p.id, bobs.id], [on.x.hash])
    node.signing.must_sign(on.key, on.x, on.p)
    with judge():
        must_not_sign_as(judge, node, on, bobs.id, bobs.address)


# -------------------------------------------------------------------------------------------------- account by account


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
        by_admin(node, account)("add_group", f"{node.label} {name}", "d", [], [])
    keys = {name: node.minting.usage_key(account.admin) for name, account in (("of dana", dana), ("of fred", fred))}
    for account, (name, key) in zip((dana, fred), keys.items(), strict=True):
        node.minting.register(account, key)
        node.minting.attach(account, key)
        with judge():
            judge.items(node.groups.list(key.key), [{"name": f"{node.label} {name}"}], f"the groups of the key {name}")
    with judge():
        bearer = replace(node.session.request("list_groups", keys["of dana"].key), via="bearer")
        judge.items(read_pages(node.session, bearer), [{"name": f"{node.label} of dana"}], "the same as Bearer")


@case("only-the-named-account", requirements=["CHAIN-180"], needs=NEEDS)
def only_the_named_account(judge: Judge, node: Node) -> None:
    """Registration and attach change the account named by adminHash, and take no other account's name."""
    dana, fred = node.accounts.by_wallet(node.wallets.new("carol")), node.accounts.by_wallet(node.wallets.new("erin"))
    carol = dana.admin
    key, other_key = node.minting.usage_key(carol), node.minting.usage_key(carol)
    wallet, other_wallet = node.minting.wallet(carol), node.minting.wallet(carol)
    node.minting.register(dana, key)
    by_admin(node, fred)("add_group", "of fred", "d", [], [])
    of_fred = {view: node.contract.items(view, fred.hash) for view in ("list_wallets", "list_usage_api_keys")}
    with judge():
        registers = node.minting.register(dana, wallet)
        attaches = node.minting.attach(dana, key, expiration=FAR_AHEAD)
        registered = pluck(node.contract.items("list_wallets", dana.hash), "walletAddress")
        judge.same([lower(one) for one in registered].count(lower(wallet.address)), 1, "how often it is registered")
        judge.same(len(node.contract.items("list_usage_api_keys", dana.hash)), 1, "the number of attached keys")
        for view, before in of_fred.items():
            judge.same(node.contract.items(view, fred.hash), before, f"{view} of the other account")
        node.contract.must_refuse(
            carol,
            "register_wallet_derivation",
            *(fred.hash, other_wallet.address, other_wallet.path, "n", "d"),
            control=registers,
            unchanged=[node.contract.unchanged_items("list_wallets", account.hash) for account in (fred, dana)],
        )
        node.contract.must_refuse(
            carol,
            "set_usage_api_key",
            *(fred.hash, other_key.hash, FAR_AHEAD, 1, "n", "d", *ALL_PERMISSIONS.arguments),
            control=attaches,
            unchanged=[node.contract.unchanged_items("list_usage_api_keys", account.hash) for account in (fred, dana)],
        )


@case("no-attach-to-managed-accounts", requirements=["MINT-170"], needs=[*NEEDS, "managed_accounts"])
def no_attach_to_managed_accounts(judge: Judge, node: Node) -> None:
    """A client attaches a usage key that it minted to no API-mode account."""
    carol = node.wallets.new("carol")
    dana = node.accounts.by_wallet(carol)
    alice = node.accounts.new()
    managed = account_hash(alice.key, node.session.profile)
    key, other_key = node.minting.usage_key(carol), node.minting.usage_key(carol)
    node.minting.register(dana, key)
    node.minting.register(dana, other_key)
    attaches = node.minting.attach(dana, key, expiration=FAR_AHEAD)
    with judge():
        node.contract.must_refuse(
            carol,
            "set_usage_api_key",
            *(managed, other_key.hash, FAR_AHEAD, 1, "n", "d", *ALL_PERMISSIONS.arguments),
            control=attaches,
            unchanged=[
                node.contract.unchanged_items("list_usage_api_keys", managed),
                unchanged_list(node.session, "list_api_keys", alice.key),
            ],
        )
        asks = node.session.accept(node.session.request("list_groups", alice.key, **a_page(node)))[1]
        request = node.session.request("list_groups", other_key.key, **a_page(node))
        must_refuse(node.session, request, ["unauthenticated", "forbidden"], control=asks, unchanged=[])


# -------------------------------------------------------------------------------------- what HTTP says, the chain says


@case(
    "views-agree-with-lists",
    requirements=["CHAIN-050"],
    needs=[*NEEDS, "managed_accounts"],
    uses=["wire.list_items.fields.wallet.wallet_address", f"{LISTED_KEY}.name"],
)
def views_agree_with_lists(judge: Judge, node: Node) -> None:
    """After writes over HTTP the contract holds exactly the groups, wallets, actions and keys that the lists show."""
    alice = node.accounts.new().key
    owner = account_hash(alice, node.session.profile)
    node.pkps.create_several(alice, 3)
    made = [node.groups.add(alice, str(number)) for number in range(3)]
    cids = [node.actions.sample_cid(str(number)) for number in range(3)]
    for cid in cids:
        node.actions.add(alice, cid)
    keys = [node.usage_keys.add(alice, name=str(number)).key for number in range(3)]
    node.groups.remove(alice, made[1].id)
    node.actions.delete(alice, hashed_cid(cids[1]))
    node.usage_keys.remove(alice, keys[1])

    def agree(listed: list[object], name: str, view: str, name_there: str) -> None:
        # The forms differ (numbers or texts, capitals), the values have to be the same; the order is the list's affair.
        shown = sorted(lower(value) for value in pluck(listed, name))
        there = sorted(lower(value) for value in pluck(node.contract.items(view, owner), name_there))
        judge.that(len(shown) >= 2, f"the two items that are left in {view}", listed)
        judge.same(there, shown, f"{name_there} in {view}, as the list shows it,")

    with judge():
        agree(node.groups.list(alice), "id", "list_groups", "id")
        agree(node.pkps.list(alice), "wallet_address", "list_wallets", "walletAddress")
        agree(node.actions.list(alice), "hashed_cid", "list_actions", "cidHash")
        agree(node.usage_keys.list(alice), "name", "list_usage_api_keys", "name")


# ----------------------------------------------------------------------------------------------------------- events


@case(
    "writes-emit-events",
    requirements=["CHAIN-160"],
    needs=NEEDS,
    uses=[
        {"events.kinds_and_delivery.delivery": "contract_logs"},
        {"events.kinds_and_delivery.every_state_change": True},
    ],
)
def writes_emit_events(judge: Judge, node: Node) -> None:
    """Each write of an admin wallet leaves a log of the contract."""
    carol = node.wallets.new("carol")
    dana = ChainSecuredAccount(wallet_hash(carol.address), carol)
    wallet, key = node.minting.wallet(carol), node.minting.usage_key(carol)
    hash_one, hash_two = (hashed_cid(node.actions.sample_cid(mark)) for mark in ("one", "two"))

    def emits(function: str, *arguments: object) -> None:
        receipt, _ = node.contract.write(carol, function, *arguments)
        logged = any(same_hex(member(log, "address"), node.contract.address) for log in receipt.logs)
        judge.that(logged, f"a log of the contract for {function}", list(receipt.logs))

    with judge():
        emits("new_chain_secured_account", node.label, "d")
        node.session.cleanup.note_admin(dana.hash, carol.address)
        emits("register_wallet_derivation", dana.hash, wallet.address, wallet.path, "n", "d")
        pkp = member(wallet_record(node, dana.hash, wallet.address), "id")
        emits("add_group", dana.hash, "n", "d", [], [])
        g = group_named(node, dana, "n")
        node.minting.register(dana, key)
        emits("add_pkp_to_group", dana.hash, g, pkp)
        emits("add_action_to_group", dana.hash, g, hash_one)
        permissions = Permissions(execute_in_groups=[g])
        emits("set_usage_api_key", dana.hash, key.hash, FAR_AHEAD, 1, "n", "d", *permissions.arguments)
        emits("update_usage_api_key", dana.hash, key.hash, "n", "d", *Permissions(can_create_groups=True).arguments)
        emits("update_usage_api_key_metadata", dana.hash, key.hash, "o", "e")
        emits("add_action", dana.hash, hash_one, "n", "d")
        emits("update_action_metadata", dana.hash, hash_one, "o", "e")
        emits("delete_action", dana.hash, hash_one)
        emits("remove_pkp_from_group", dana.hash, g, pkp)
        emits("update_group", dana.hash, g, "o", "e", [pkp], [hash_two])
        emits("remove_action_from_group", dana.hash, g, hash_two)
        emits("remove_usage_api_key", dana.hash, key.hash)
        emits("remove_group", dana.hash, g)


@case("expired-key-reads-nothing", requirements=["UKEY-390"], needs=NEEDS, uses=[ANY_KEY_LISTS])
def expired_key_reads_nothing(judge: Judge, node: Node) -> None:
    """A usage key attached with an expiration in the past opens no list, one with an expiration ahead does."""
    dana = node.accounts.by_wallet(node.wallets.new("carol"))
    live, expired = node.minting.usage_key(dana.admin), node.minting.usage_key(dana.admin)
    everywhere = Permissions(execute_in_groups=[0])
    for key in (live, expired):
        node.minting.register(dana, key)
    node.minting.attach(dana, live, everywhere, expiration=FAR_AHEAD, balance=1)
    node.minting.attach(dana, expired, everywhere, expiration=1_000_000_000, balance=1)
    with judge():
        for operation in ("list_api_keys", "list_groups"):
            asks = node.session.accept(node.session.request(operation, live.key, **a_page(node)))[1]
            request = node.session.request(operation, expired.key, **a_page(node))
            stated = "semantics.usage_key_expiration.expired_key"
            must_be_as_stated(node.session, request, stated, control=asks, unchanged=[])


# ------------------------------------------------------------------------------------------------ transactions


@case("every-sender-is-published", requirements=["CHAIN-080"], needs=[*NEEDS, "managed_accounts"])
def every_sender_is_published(judge: Judge, node: Node) -> None:
    """Of many writes at once, each is sent by a published payer."""
    alice = node.accounts.new().key
    published = {payer.lower() for payer in payers(node.session)}
    before = node.session.chain.block_number()
    at_once([partial(node.session.accept, node.groups.creation(alice))] * 8)
    with judge():
        sent = node.contract.transactions_after(before, holding=node.label.encode().hex())
        senders = {printed(transaction["from"]) for transaction in sent}
        judge.that(len(sent) > 0 and senders <= published, f"transactions of {published}", senders)


@case(
    "writes-over-http-emit-events",
    requirements=["CHAIN-160"],
    needs=[*NEEDS, "managed_accounts"],
    uses=[{f"{EVENTS}.delivery": "contract_logs", f"{EVENTS}.every_state_change": True}],
)
def writes_over_http_emit_events(judge: Judge, node: Node) -> None:
    """Each write over HTTP leaves a log of the contract."""
    alice, cid = node.accounts.new().key, node.actions.sample_cid("one")
    before = node.session.chain.block_number()
    group = node.groups.add(alice).id
    node.groups.update(alice, group, "renamed", pkp_ids=[], cid_hashes=[])
    node.actions.add(alice, cid)
    node.actions.update(alice, hashed_cid(cid), "renamed")
    key = node.usage_keys.add(alice).key
    node.usage_keys.rename(alice, key, "renamed")
    with judge():
        sent = node.contract.transactions_after(before, holding=node.label.encode().hex())
        judge.that(len(sent) >= 6, "a transaction for each of six writes", sent)
        for transaction in sent:
            logs = transaction["logs"] if isinstance(transaction["logs"], list) else []
            judge.that(node.contract.address.lower() in pluck(logs, "address"), "a log of the contract", transaction)
