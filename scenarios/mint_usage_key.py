"""Usage keys minted by signature ("States and transitions / Minted wallet or usage key").

A usage key that a signature mints opens nothing until the admin wallet has registered its wallet and attached its hash.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import cycle, product

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import ChainReverted
from conformance.profile import read_aside
from conformance.service.acceptance import Accepted, must_accept
from conformance.service.admin_writes import writes_by_admin
from conformance.service.at_once import send_at_once
from conformance.service.bindings import bound, one_group
from conformance.service.derivations import ID_RULE, base64_of, bytes_of_base64, pkp_id
from conformance.service.envelopes import sign_envelope
from conformance.service.lists import one_item_page, unchanged_list
from conformance.service.minting import BALANCE, NEVER, MintedKey
from conformance.service.near_keys import images, near_keys
from conformance.service.node import Node
from conformance.service.pkps import Pkp
from conformance.service.refusal import Refusals, must_be_as_stated, must_refuse, was_accepted
from conformance.service.runs import address_of_private_key
from conformance.service.secrecy import distinct_bytes, shared_prefix
from conformance.service.session import DESCRIPTION
from conformance.service.usage_keys import ALL_PERMISSIONS, NO_PERMISSIONS, Permissions
from conformance.values.ids import is_checked_address
from conformance.values.json_values import MISSING, member, pluck, printed, same_hex

MINT = "add_usage_api_key_with_signature"
MANAGED = ("managed_accounts",)
ON_CHAIN = ("chain_rpc", "funded_wallet")
ORDER = "chain.attach_order"
OWN_HASH = {"chain.admin_hash_meaning": "api_key_hash"}
ANY_KEY_LISTS = {"auth.usage_key_permission.lists": "any_key"}
READS = ("list_groups", "list_api_keys")
HEADERS = ("x-api-key", "bearer")
IDENTITY = ("wallet_address", "derivation_path")


@case("mints", requirements=["MINT-080", "MINT-090", "MINT-210", "WSIG-030", "WSIG-080"])
def mints(judge: Judge, node: Node) -> None:
    """Any wallet's signature mints a secret of 32 bytes, a wallet and its path."""
    carol = node.wallets.new("carol")
    request = node.minting.request(MINT, carol)
    with judge("MINT-080", "MINT-210"):
        minted = node.session.accept(request)[0].value
    key, address, path = (member(minted, name) for name in ("usage_api_key", "wallet_address", "derivation_path"))
    with judge("MINT-080", "WSIG-030"):
        judge.that(is_checked_address(address), "a wallet_address (0x, 40 hex digits, EIP-55)", address)
        judge.that(path not in (None, MISSING), "a derivation_path", path)
        judge.that(isinstance(key, str), "a usage_api_key", key)
    with judge("WSIG-080"):
        judge.that(not same_hex(address, carol.address), "another wallet than the signer's", address)
    with judge("MINT-090"):
        secret = bytes_of_base64(printed(key))
        judge.same(len(secret), 32, "the number of secret bytes in `usage_api_key`")
        judge.same(base64_of(secret), key, "standard base64 with its padding")


@case(
    "wallet-of-the-secret",
    requirements=["MINT-080", "MINT-090"],
    uses=[{"crypto.usage_key_wallet_derivation": "secret_is_private_key"}],
)
def wallet_of_the_secret(judge: Judge, node: Node) -> None:
    """The minted wallet is the one that follows from the secret, where the profile says that it does."""
    carol = node.wallets.new("carol")
    with judge():
        minted = node.session.accept(node.minting.request(MINT, carol))[0].value
    address = member(minted, "wallet_address")
    judge.set_up(not same_hex(address, carol.address), "another wallet than the signer's")
    secret = bytes_of_base64(printed(member(minted, "usage_api_key")))
    with judge("MINT-090"):
        judge.same(len(secret), 32, "the number of secret bytes in `usage_api_key`")
    with judge("MINT-080"):
        judge.same_hex(address, address_of_private_key(secret.hex()), "the minted wallet")


@case("beside-a-wallet-mint", requirements=["MINT-100", "WSIG-080"])
def beside_a_wallet_mint(judge: Judge, node: Node) -> None:
    """A wallet and a usage key that one signer mints in the same second have nothing in common."""
    carol = node.wallets.new("carol")
    for _ in range(4):
        requests = [node.minting.request(operation, carol) for operation in ("create_wallet_with_signature", MINT)]
        wallet, key = (node.session.accept(request)[0].value for request in requests)
        of_wallet, of_key = ([printed(member(one, name)) for name in IDENTITY] for one in (wallet, key))
        secret = bytes_of_base64(printed(member(key, "usage_api_key"))).hex()
        for name, one, other in zip(IDENTITY, of_wallet, of_key, strict=True):
            with judge.apart("WSIG-080"):
                judge.that(one.lower() != other.lower(), f"another {name} than that of the minted wallet", other)
        with judge("MINT-100"):
            opened = address_of_private_key(secret)
            judge.that(
                not same_hex(opened, member(wallet, "wallet_address")),
                "a secret that is not the private key of the minted wallet",
                opened,
            )


@case("again", requirements=["MINT-100", "MINT-190", "WSIG-080"])
def again(judge: Judge, node: Node) -> None:
    """Every call gives another secret, another wallet and another path, also for the same request."""
    request = node.minting.request(MINT, node.wallets.new("carol"))
    minted = []
    for _ in range(4):
        with judge("MINT-190"):
            minted.append(node.session.accept(request)[0].value)
            lists = node.session.send(node.session.request("list_groups", printed(member(minted[-1], "usage_api_key"))))
            accepted = was_accepted(node.session, lists, or_refused=["any"])
            judge.that(not accepted, "a minted key that nobody attached to open nothing", lists.text)
    told = "values of {} in the answers to one envelope"
    with judge.apart("MINT-100", "MINT-190"):
        judge.distinct(pluck(minted, "usage_api_key"), told.format("usage_api_key"))
    for name in IDENTITY:
        with judge.apart("WSIG-080"):
            judge.distinct(pluck(minted, name), told.format(name))
    keys = [*map(printed, pluck(minted, "usage_api_key"))]
    secrets = [bytes_of_base64(key) for key in keys]
    with judge("MINT-100"):
        # Four random secrets begin with the same byte once in sixteen million runs.
        judge.that(shared_prefix(secrets) <= 1, "random secrets, no two of which begin alike", keys)
        # Four random secrets of 32 bytes hold 101 different bytes on the average.
        judge.that(distinct_bytes(secrets) >= 64, "bytes of all values", keys)
    with judge("MINT-100"):
        answers = send_at_once(node.session, [request] * 6)
        for answer in answers:
            must_accept(answer)
    for charged, name in (("MINT-100", "usage_api_key"), ("WSIG-080", "wallet_address")):
        with judge.apart(charged):
            values = [member(answer.value, name) for answer in answers]
            judge.distinct(values, f"values of {name} in the answers to requests at the same moment")


# ------------------------------------------------------------------------------------------------ before it is attached


@case("wrong-signer", requirements=["ENV-210"])
def wrong_signer(judge: Judge, node: Node) -> None:
    """A signature of another wallet mints no secret."""
    carol = node.wallets.new("carol")
    control = node.session.accept(node.minting.request(MINT, carol))[1]
    spoilt = sign_envelope(node.session, "AddUsageApiKey", carol, signed_by=node.wallets.new("mallory"))
    with judge():
        request = node.session.request(MINT, **spoilt.members)
        must_refuse(node.session, request, ["any"], control=control, unchanged=[])


@case(
    "opens-nothing",
    requirements=["MINT-080", "MINT-110"],
    needs=MANAGED,
    uses=[ANY_KEY_LISTS, {"auth.usage_key_permission.list_api_keys": "any_key"}],
)
def opens_nothing(judge: Judge, node: Node) -> None:
    """A minted key that nobody has attached reads and writes nothing, and no account lists it."""
    alice = node.accounts.new().key
    attached = node.usage_keys.add(alice, ALL_PERMISSIONS).key
    before = node.usage_keys.list(alice)
    request = replace(node.minting.request(MINT, node.wallets.new("carol")), credential=alice)
    key = node.usage_keys.value_in(node.session.accept(request)[0])
    with judge("MINT-080"):
        judge.same(node.usage_keys.list(alice), before, "the account's usage keys")
    requests = [node.session.request(name, attached, **one_item_page(node.session)) for name in READS]
    requests += [node.groups.creation(attached), node.pkps.creation(attached)]
    controls = [node.session.accept(one)[1] for one in requests]
    reads = [unchanged_list(node.session, name, alice) for name in ("list_groups", "list_wallets")]
    exists = node.session.request("account_exists", key)
    with judge("MINT-110"), Refusals(node.session, control=controls, unchanged=reads) as refusals:
        for via in ("x-api-key", "bearer"):
            for one in requests:
                refusals.send(replace(one, credential=key, via=via), ["any"])
    with judge("MINT-110"):
        for via in ("x-api-key", "bearer"):
            answer = node.session.send(replace(exists, via=via))
            if was_accepted(node.session, answer, or_refused=["any"]):
                judge.same(member(answer.value, "exists"), False, "whether an account of the minted key exists")


@case("sees-no-balance", requirements=["MINT-110"], needs=[*MANAGED, "billing"])
def sees_no_balance(judge: Judge, node: Node) -> None:
    """A minted key that nobody has attached is shown no balance."""
    alice = node.accounts.new().key
    request = node.minting.request(MINT, node.wallets.new("carol"))
    key = node.usage_keys.value_in(node.session.accept(request)[0])
    balance = node.session.request("balance", alice)
    control = node.session.accept(balance)[1]
    with judge():
        must_refuse(node.session, replace(balance, credential=key), ["any"], control=control, unchanged=[])


@case("runs-nothing", requirements=["MINT-110", "MINT-190"], needs=MANAGED)
def runs_nothing(judge: Judge, node: Node) -> None:
    """A minted key that nobody has attached runs nothing."""
    on = one_group(node)
    request = replace(node.minting.request(MINT, node.wallets.new("carol")), credential=on.alice)
    key = node.usage_keys.value_in(node.session.accept(request)[0])
    control = node.signing.must_sign(on.key, on.x, on.p).accepted
    with judge():
        node.signing.must_be_refused(key, on.x, on.p, control=control, classes=["any"])


# --------------------------------------------------------------------------------------------------- how it is attached


class Attaching:
    """An account with a key that is attached, and one that is not yet."""

    def __init__(self, judge: Judge, node: Node) -> None:
        self.judge = judge
        self.node = node
        self.account = node.accounts.by_wallet(node.wallets.new("carol"))
        self.first = node.minting.attached_key(self.account, name="first")
        self.key = node.minting.usage_key(self.account.admin)
        self.control: Accepted | None = None

    def lists(self, key: MintedKey) -> OutgoingRequest:
        """The request that an attached key may send."""
        return self.node.session.request("list_groups", key.key, **one_item_page(self.node.session))

    def opens(self, *about: str) -> None:
        """The key opens the account."""
        with self.judge(*about):
            self.control = self.node.session.accept(self.lists(self.key))[1]

    def opens_nothing(self, *about: str) -> None:
        """The key is refused what the attached one may do."""
        control = self.control or self.node.session.accept(self.lists(self.first))[1]
        for via in ("x-api-key", "bearer"):
            with self.judge.apart(*about):
                request = replace(self.lists(self.key), via=via)
                must_refuse(self.node.session, request, ["any"], control=control, unchanged=[])

    def attach(self, permissions: Permissions = NO_PERMISSIONS, **options: int) -> None:
        """Attach the key."""
        self.node.minting.attach(self.account, self.key, permissions, name="second", **options)

    def record(self) -> object:
        """The contract's record of the key."""
        record = self.node.contract.view("get_usage_api_key", self.account.hash, self.key.hash)
        return member(record, "usageKey")


@case(
    "attached-by-two-calls",
    requirements=["MINT-110", "MINT-120", "MINT-130"],
    needs=ON_CHAIN,
    uses=[
        ANY_KEY_LISTS,
        {"auth.usage_key_permission.list_api_keys": "any_key"},
        "wire.list_items.fields.usage_key.name",
    ],
)
def attached_by_two_calls(judge: Judge, node: Node) -> None:
    """A minted key opens nothing before either call, nor after the registration alone; after both it does."""
    on = Attaching(judge, node)
    with judge("MINT-120"):
        node.session.accept(on.lists(on.first))
    on.opens_nothing("MINT-110")
    node.minting.register(on.account, on.key)
    on.opens_nothing("MINT-130")
    permissions = Permissions(True, False, True, [0], [], [0], [])
    with judge("MINT-120"):
        on.attach(permissions)
    on.opens("MINT-120")
    with judge("MINT-120"):
        names = [printed(one) for one in pluck(node.usage_keys.list(on.key.key), "name")]
        judge.same(sorted(names), [f"{node.label} {name}" for name in ("first", "second")], "the keys that it lists")
        expected = {"name": f"{node.label} second", "description": DESCRIPTION, **permissions.record}
        judge.members(on.record(), expected, "the contract's record of the key")


@case(
    "nothing-near-an-attached-key-opens",
    requirements=["AUTH-050"],
    needs=ON_CHAIN,
    uses=[ANY_KEY_LISTS, {"auth.usage_key_permission.list_api_keys": "any_key"}],
)
def nothing_near_an_attached_key_opens(judge: Judge, node: Node) -> None:
    """What is near an attached key opens nothing, nor do its hash, its wallet and its path, which the chain shows."""
    on = Attaching(judge, node)
    near = [text for texts in near_keys(on.first.key).values() for text in texts]
    public = [*images(on.first.key), on.first.address, on.first.address.lower(), on.first.path]
    request = on.lists(on.first)
    lists = node.session.accept(request)[1]
    tried = [*zip(near, cycle(HEADERS)), *product(public, HEADERS)]
    with judge(), Refusals(node.session, control=lists, unchanged=[]) as refusals:
        for text, header in tried:
            refusals.send(replace(request, credential=text, via=header), ["any"])


@case(
    "attached-in-the-other-order",
    requirements=["MINT-120", "MINT-140"],
    needs=ON_CHAIN,
    uses=[{ORDER: "any"}, ANY_KEY_LISTS],
)
def attached_in_the_other_order(judge: Judge, node: Node) -> None:
    """With setUsageApiKey alone the key opens nothing; once its wallet is registered in the account, too, it does."""
    on = Attaching(judge, node)
    on.attach()
    on.opens_nothing("MINT-140")
    with judge("MINT-120"):
        node.minting.register(on.account, on.key)
    on.opens("MINT-120")
    on.key = node.minting.usage_key(on.account.admin)
    on.attach()
    node.minting.register(node.accounts.by_wallet(node.wallets.new("dave")), on.key)
    on.opens_nothing("MINT-140")


@case(
    "registration-comes-first",
    requirements=["MINT-140"],
    needs=ON_CHAIN,
    uses=[{ORDER: "registration_first"}, ANY_KEY_LISTS],
)
def registration_comes_first(judge: Judge, node: Node) -> None:
    """Where the registration has to come first, setUsageApiKey before it is reverted."""
    on = Attaching(judge, node)
    control = node.minting.attach(on.account, on.first, name="first")
    keys = node.contract.unchanged_items("list_usage_api_keys", on.account.hash)
    arguments = [on.account.hash, on.key.hash, node.session.stated(NEVER), BALANCE, "second", "d"]
    with judge():
        node.contract.must_refuse(
            on.account.admin,
            "set_usage_api_key",
            *arguments,
            *NO_PERMISSIONS.arguments,
            control=control,
            unchanged=[keys],
        )
    on.opens_nothing()


def may_be_set_first(node: Node) -> bool:
    """Whether a vendor states that a usage key may be set before its wallet is registered."""
    target = node.session.target
    with read_aside():
        return target.profile_value(ORDER) == "any" and ORDER not in target.profile.assumed


@case("attached-key-runs", requirements=["MINT-120", "UKEY-310"], needs=[*ON_CHAIN, *MANAGED], uses=[OWN_HASH])
def attached_key_runs(judge: Judge, node: Node) -> None:
    """An attached key runs in the groups with which it was attached last, behind them `0` for all, and in no other.

    It is set before its wallet is registered, where that is stated.
    """
    x, y = (node.actions.prepared(mark=mark) for mark in "xy")
    alice = node.accounts.new().key
    p = node.pkps.create(alice)
    g = bound(node, alice, [p], [x])
    account = node.accounts.converted(alice, node.wallets.new("carol"))
    attached = node.minting.usage_key(account.admin)
    steps = [
        partial(node.minting.register, account, attached),
        partial(node.minting.attach, account, attached, Permissions(execute_in_groups=[g, 0])),
    ]
    for step in reversed(steps) if may_be_set_first(node) else steps:
        step()
    with judge("MINT-120"):
        node.signing.must_sign(attached.key, x, p)
    writes_by_admin(node, account)("add_group", node.label, "made after the key", [p.id], [y.hash])
    with judge.apart("UKEY-310"):
        node.signing.must_sign(attached.key, y, p)
    with suppress(ChainReverted):  # whether a key can be attached again is silent
        node.minting.attach(account, attached, Permissions(execute_in_groups=[g]))
        with judge("MINT-120"):
            again = node.signing.must_sign(attached.key, x, p).accepted
            node.signing.must_be_refused(attached.key, y, p, control=again, classes=["any"])


@case(
    "wallet-of-the-key-signs",
    requirements=["MINT-280"],
    needs=[*ON_CHAIN, *MANAGED],
    uses=[{"crypto.usage_key_wallet_derivation": "secret_is_private_key"}, OWN_HASH, ID_RULE],
)
def wallet_of_the_key_signs(judge: Judge, node: Node) -> None:
    """The wallet of a minted usage key, registered with its path unchanged, signs where the profile says whose."""
    x = node.actions.prepared()
    alice = node.accounts.new().key
    own, key = node.pkps.create(alice), node.usage_keys.executing_in(alice, 0)
    account = node.accounts.converted(alice, node.wallets.new("carol"))
    minted = node.minting.usage_key(account.admin)
    registered = node.minting.register(account, minted)
    wallet = Pkp(pkp_id(minted.address, node.session.stated(ID_RULE)), minted.address, registered)
    writes_by_admin(node, account)("add_group", "g", "d", [own.id, wallet.id], [x.hash])
    node.signing.must_sign(key, x, own)
    with judge():
        node.signing.must_sign(key, x, wallet)


@case(
    "expires",
    requirements=["MINT-120", "UKEY-380"],
    needs=[*ON_CHAIN, "clock_control"],
    uses=[{"semantics.usage_key_expiration.unit": "seconds"}, ANY_KEY_LISTS],
)
def expires(judge: Judge, node: Node) -> None:
    """An attached key opens nothing from its expiration on, by the chain's clock, until it is attached anew."""
    on = Attaching(judge, node)
    node.minting.register(on.account, on.key)
    end = node.session.chain.timestamp() + 1_000
    on.attach(expiration=end)
    with judge("UKEY-380"):
        judge.members(on.record(), {"expiration": end, "balance": BALANCE}, "the contract's record of the key")
    on.opens("MINT-120")
    # The chain's time never goes back, so that it may be ahead of the clock here.
    node.clock.move_to(end - 300)
    on.opens("UKEY-380")
    node.clock.move_to(end + 5)
    with judge("UKEY-380"):
        stated, request = "semantics.usage_key_expiration.expired_key", on.lists(on.key)
        must_be_as_stated(node.session, request, stated, control=on.control or [], unchanged=[])
    node.session.accept(on.lists(on.first))
    with judge("MINT-120"):
        on.attach()
    on.opens()
