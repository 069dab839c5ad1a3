"""The contract as wallets and readers see it: accounts, attached keys, events and transactions.

Specification: "What the service does" 4 and 5, "Resources and their fields / Account".
"""

from __future__ import annotations

from eth_utils.crypto import keccak

from conformance.cases import Judge, case
from conformance.service.accounts import CONVERSION, ChainSecuredAccount
from conformance.service.admin_writes import four_groups, group_named, wallet_record, writes_by_admin
from conformance.service.contract import payers
from conformance.service.derivations import account_hash, bytes_of_hex, hashed_cid, random_address, wallet_hash
from conformance.service.lists import one_item_page, unchanged_list
from conformance.service.minting import FAR_AHEAD
from conformance.service.node import Node
from conformance.service.refusal import Refusals, must_be_as_stated, must_refuse
from conformance.service.sizes import NUMBERS
from conformance.service.usage_keys import ALL_PERMISSIONS, Permissions
from conformance.values.json_values import member, pluck, printed, same_hex

NEEDS = ("chain_rpc", "funded_wallet")
ANY_KEY_LISTS = {"auth.usage_key_permission.lists": "any_key"}
ANY_KEY_LISTS_KEYS = {"auth.usage_key_permission.list_api_keys": "any_key"}
EVENTS = "events.kinds_and_delivery"
GIVEN_ORDER = ["adminHash", "usageApiKeyHash", "expiration", "balance", "name", "description"]
"""The arguments of `setUsageApiKey` before the permissions ("Minted wallet or usage key")."""


def hashed(content: bytes) -> str:
    """keccak256 as 0x hex."""
    return f"0x{keccak(content).hex()}"


# ------------------------------------------------------------------------------------------------- who may convert


@case("conversion-by-payer-and-owner", requirements=["MODE-200"], needs=["chain_rpc", "managed_accounts"])
def conversion_by_payer_and_owner(judge: Judge, node: Node) -> None:
    """The contract takes a conversion from a payer and from the owner, and from nobody else."""
    profile, random = node.session.profile, node.session.random
    of_alice, of_bob = (account_hash(node.accounts.new().key, profile) for _ in range(2))
    admin, stranger = random_address(random), random_address(random)
    owner, other_owner = (
        printed(member(node.contract.view("get_account", account), "adminWalletAddress"))
        for account in (of_alice, of_bob)
    )
    relays, conversion = payers(node.session), [of_alice, admin]
    with judge(why="a payer converts an account, and so does its owner"):
        by_payer = node.contract.dry_run(CONVERSION, conversion, sender=relays[0])
        for sender in (relays[-1], owner):
            node.contract.dry_run(CONVERSION, conversion, sender=sender)
    # Nor the one who would become the admin: that one has signed nothing.
    others = [stranger, admin, *([] if same_hex(owner, other_owner) else [other_owner])]
    if profile.offers("funded_wallet"):  # nor one with an account of its own
        others.append(node.accounts.by_wallet(node.wallets.new("carol")).admin.address)
    with (
        judge(why="nobody but a payer and the owner converts an account"),
        Refusals(node.session, control=by_payer, unchanged=[]) as refusals,
    ):
        for sender in others:
            node.contract.must_revert_dry(refusals, CONVERSION, conversion, sender=sender)


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
        with judge.apart("ACC-060"):
            found = node.contract.view("account_exists", hashed(wrong))
            judge.same(found, {"exists": False}, f"an account under keccak256 of the address {spelling}")
    account, other = (node.contract.view("get_account", account) for account in (own, managed))
    judge.set_up(member(other, "managed") is True, "`managed` of an API-mode account")
    with judge.apart("ACC-050", "ACC-180"):
        judge.same(member(account, "managed"), False, "`managed` of the account that a wallet made")
    with judge.apart("ACC-030", "ACC-180"):
        judge.same_hex(member(account, "adminWalletAddress"), carol.address, "its `adminWalletAddress`")


@case("each-wallet-its-own", requirements=["ACC-150", "CHAIN-180"], needs=NEEDS)
def each_wallet_its_own(judge: Judge, node: Node) -> None:
    """Two wallets create two accounts, and the writes of each change only its own."""
    carol, erin = node.wallets.new("carol"), node.wallets.new("erin")
    with judge("ACC-150"):
        of_carol, of_erin = node.accounts.by_wallet(carol), node.accounts.by_wallet(erin)
    for account in (of_carol, of_erin):
        record = node.contract.view("get_account", account.hash)
        is_own = same_hex(member(record, "adminWalletAddress"), account.admin.address)
        judge.set_up(is_own and member(record, "managed") is False, "an unmanaged account of the wallet")
    with judge("ACC-150"):
        node.contract.write(carol, "add_group", of_carol.hash, node.label, "d", [], [])
        judge.items(node.contract.items("list_groups", of_carol.hash), [{"name": node.label}], "the wallet's groups")
    with judge("CHAIN-180"):
        judge.same(node.contract.items("list_groups", of_erin.hash), [], "the groups of the other wallet")


# ------------------------------------------------------------------------------------------- the functions by name


@case(
    "registration-keeps-each-argument",
    requirements=["MINT-030", "MINT-070"],
    needs=NEEDS,
    uses=[{"wire.derivation_path.form": "hex_uint256"}],
)
def registration_keeps_each_argument(judge: Judge, node: Node) -> None:
    """`registerWalletDerivation` takes account, address, path, name and description in this order."""
    dana = node.accounts.by_wallet(node.wallets.new("carol"))
    minted = node.minting.wallet(dana.admin)
    signature = node.contract.signature("register_wallet_derivation")
    judge.set_up(signature.startswith("registerWalletDerivation("), "a contract with the specification's function")
    name, description = f"{node.label} name", f"{node.label} description"
    arguments = (dana.hash, minted.address, minted.path, name, description)
    node.contract.write(dana.admin, "register_wallet_derivation", *arguments)
    wallets = node.contract.items("list_wallets", dana.hash)
    with judge("MINT-030"):
        judge.same_hexes(pluck(wallets, "walletAddress"), [minted.address], "the wallets in the contract")
        path = int.from_bytes(bytes_of_hex(minted.path.removeprefix("0x").rjust(64, "0")))
        judge.items(wallets, [{"derivationPath": path}], "the wallets in the contract")
    with judge("MINT-070"):
        judge.items(wallets, [{"name": name, "description": description}], "the wallets in the contract")


@case("attach-keeps-each-argument", requirements=["UKEY-380"], needs=NEEDS)
def attach_keeps_each_argument(judge: Judge, node: Node) -> None:
    """`setUsageApiKey` takes expiration, balance, labels and the seven permissions in the specification's order."""
    carol = node.wallets.new("carol")
    dana = node.accounts.by_wallet(carol)
    a, b, c, d = four_groups(node, dana)
    rows = {
        (FAR_AHEAD, 7): Permissions(True, False, False, [a], [b], [c], [d]),
        (FAR_AHEAD + 1, 70): Permissions(False, True, False, [b], [c], [d], [a]),
        (FAR_AHEAD + 2, *NUMBERS["balance"]): Permissions(False, False, True, [c], [d], [a], [b]),
    }
    with judge():
        signature = node.contract.signature("set_usage_api_key")
        judge.that(signature.startswith("setUsageApiKey("), "a function called setUsageApiKey", signature)
        judge.same(node.contract.argument_names("set_usage_api_key")[:6], GIVEN_ORDER, "its first arguments")
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


# --------------------------------------------------------------------------------------------------- account by account


@case("only-the-named-account", requirements=["CHAIN-180", "MINT-060", "MINT-160"], needs=NEEDS)
def only_the_named_account(judge: Judge, node: Node) -> None:
    """Registration and attach change the account named by adminHash, and take no other account's name."""
    dana, fred = node.accounts.by_wallet(node.wallets.new("carol")), node.accounts.by_wallet(node.wallets.new("erin"))
    carol = dana.admin
    key, other_key = node.minting.usage_key(carol), node.minting.usage_key(carol)
    wallet, other_wallet = node.minting.wallet(carol), node.minting.wallet(carol)
    node.minting.register(dana, key)
    writes_by_admin(node, fred)("add_group", "of fred", "d", [], [])
    of_fred = {view: node.contract.items(view, fred.hash) for view in ("list_wallets", "list_usage_api_keys")}
    with judge("CHAIN-180"):
        registers = node.minting.register(dana, wallet)
        attaches = node.minting.attach(dana, key, expiration=FAR_AHEAD)
        registered = pluck(node.contract.items("list_wallets", dana.hash), "walletAddress")
        judge.same(
            sum(same_hex(address, wallet.address) for address in registered),
            1,
            "the number of times that list_wallets of the contract holds the registered wallet",
        )
        judge.same(len(node.contract.items("list_usage_api_keys", dana.hash)), 1, "the number of attached keys")
        for view, before in of_fred.items():
            judge.same(node.contract.items(view, fred.hash), before, f"{view} of the other account")
    with judge.apart("MINT-060", why="the admin of one account registers no wallet under the adminHash of another"):
        node.contract.must_refuse(
            carol,
            "register_wallet_derivation",
            *(fred.hash, other_wallet.address, other_wallet.path, "n", "d"),
            control=registers,
            unchanged=[node.contract.unchanged_items("list_wallets", account.hash) for account in (fred, dana)],
        )
    with judge.apart("MINT-160", why="the admin of one account attaches no key under the adminHash of another"):
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
    of_the_key = [other_key.hash, FAR_AHEAD, 1, "n", "d", *ALL_PERMISSIONS.arguments]
    attachment = [managed, *of_the_key]
    would_attach = node.contract.dry_run("set_usage_api_key", [dana.hash, *of_the_key], sender=carol.address)
    with judge(), Refusals(node.session, control=would_attach, unchanged=[]) as refusals:
        node.contract.must_revert_dry(refusals, "set_usage_api_key", attachment, sender=alice.wallet_address)
    with judge():
        node.contract.must_refuse(
            carol,
            "set_usage_api_key",
            *attachment,
            control=attaches,
            unchanged=[
                node.contract.unchanged_items("list_usage_api_keys", managed),
                unchanged_list(node.session, "list_api_keys", alice.key),
            ],
        )
        asks = node.session.accept(node.session.request("list_groups", alice.key, **one_item_page(node.session)))[1]
        request = node.session.request("list_groups", other_key.key, **one_item_page(node.session))
        must_refuse(node.session, request, ["unauthenticated", "forbidden"], control=asks, unchanged=[])


# ---------------------------------------------------------------------------------------------- events and transactions


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

    judge.set_up(node.contract.view("account_exists", dana.hash) == {"exists": False}, "no account after the mints")
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


@case("expired-key-reads-nothing", requirements=["UKEY-390"], needs=NEEDS, uses=[ANY_KEY_LISTS, ANY_KEY_LISTS_KEYS])
def expired_key_reads_nothing(judge: Judge, node: Node) -> None:
    """A usage key attached with an expiration in the past opens no list, one with an expiration ahead does."""
    dana = node.accounts.by_wallet(node.wallets.new("carol"))
    live, expired = node.minting.usage_key(dana.admin), node.minting.usage_key(dana.admin)
    everywhere = Permissions(execute_in_groups=[0])
    for key in (live, expired):
        node.minting.register(dana, key)
    node.minting.attach(dana, live, everywhere, expiration=FAR_AHEAD, balance=1)
    node.minting.attach(dana, expired, everywhere, expiration=1_000_000_000, balance=1)
    for operation in ("list_api_keys", "list_groups"):
        with judge.apart():
            asks = node.session.accept(node.session.request(operation, live.key, **one_item_page(node.session)))[1]
            request = node.session.request(operation, expired.key, **one_item_page(node.session))
            stated = "semantics.usage_key_expiration.expired_key"
            must_be_as_stated(node.session, request, stated, control=asks, unchanged=[])


@case("far-expirations-do-not-come", requirements=["UKEY-390"], needs=NEEDS, uses=[ANY_KEY_LISTS])
def far_expirations_do_not_come(judge: Judge, node: Node) -> None:
    """A usage key attached with an expiration that no signed number of 64 bits holds opens lists."""
    dana = node.accounts.by_wallet(node.wallets.new("carol"))
    node.session.stated("semantics.usage_key_expiration.unit")
    for expiration in NUMBERS["expiration"]:
        key = node.minting.usage_key(dana.admin)
        node.minting.register(dana, key)
        node.minting.attach(dana, key, Permissions(execute_in_groups=[0]), expiration=expiration, balance=1)
        with judge.apart():
            node.session.accept(node.session.request("list_groups", key.key, **one_item_page(node.session)))


# ------------------------------------------------------------------------------------------------ transactions


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
    sent = node.contract.transactions_after(before, holding=node.label.encode().hex())
    judge.set_up(len(sent) >= 6, "a transaction with its labels for each of six writes")
    for transaction in sent:
        with judge.apart():
            logs = transaction["logs"] if isinstance(transaction["logs"], list) else []
            judge.that(node.contract.address.lower() in pluck(logs, "address"), "a log of the contract", transaction)
