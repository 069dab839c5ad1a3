"""Conversion to ChainSecured mode: what becomes of the account, what its old master key loses, what a conversion takes.

"States and transitions / Account mode", "Endpoints / Wallet-signed endpoints" 2, "Authentication" 5 and 8. What the old
master key may read is silent (MODE-280): after the conversion the cases read with a usage key, or from the contract.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import NotAccepted, OutOfCredit
from conformance.service.acceptance import Accepted, must_accept
from conformance.service.accounts import CONVERSION
from conformance.service.actions import ActionCode
from conformance.service.admin_writes import writes_by_admin
from conformance.service.at_once import send_at_once
from conformance.service.bindings import bound, one_group
from conformance.service.contract import chain_id, payers
from conformance.service.derivations import (
    account_hash,
    hashed_cid,
    random_address,
    random_key,
    usage_key_hash,
    wallet_hash,
)
from conformance.service.envelopes import SignedEnvelope, billing_auth, sign_envelope
from conformance.service.groups import group_id
from conformance.service.lists import IN_GROUP, read_list, unchanged_list
from conformance.service.node import Node
from conformance.service.payments import Payments
from conformance.service.reads import Read
from conformance.service.refusal import Refusals, must_refuse, was_accepted
from conformance.service.sample_calls import sample_objects, sample_reads
from conformance.service.suite_wallet import SuiteWallet
from conformance.service.usage_keys import ALL_PERMISSIONS, NO_PERMISSIONS, Permissions
from conformance.values.ids import GroupId
from conformance.values.json_values import MISSING, member, pluck, printed, same_hex

NEEDS = ("managed_accounts",)
ON_CHAIN = (*NEEDS, "chain_rpc")
BY_ADMIN = (*ON_CHAIN, "funded_wallet")
OWN_HASH = {"chain.admin_hash_meaning": "api_key_hash"}
ANY_KEY_LISTS = {"auth.usage_key_permission.lists": "any_key"}
ANY_KEY_LISTS_KEYS = {"auth.usage_key_permission.list_api_keys": "any_key"}
WALLET_RULE = "crypto.account_wallet_derivation"
MANY_ACCOUNTS = {"mode.admin_address_reuse": "accepted"}
OLD_KEY_READS, OLD_KEY_RUNS = "mode.old_master_key_reads", "mode.old_master_key_execute"
ZERO_ADDRESS = f"0x{0:040x}"
CONVERSION_SELECTOR = "7c3822b1"
"""Of `convertToChainSecuredAccount(uint256,address)`."""

# ------------------------------------------------------------------------------------------ what becomes of the account


def refused_to_write(node: Node, adds: Accepted, key: str) -> None:
    """The group that the old master key added before is refused to it; a usage key of the account reads the groups."""
    reads = [unchanged_list(node.session, "list_groups", key)]
    must_refuse(node.session, adds.changed(), ["any"], control=adds, unchanged=reads)


@case("converts", requirements=["MODE-010", "MODE-110", "WSIG-020"], needs=NEEDS, uses=[ANY_KEY_LISTS])
def converts(judge: Judge, node: Node) -> None:
    """A master key and the new admin's signature convert the account; the old key then writes nothing."""
    alice, carol = node.accounts.new().key, node.wallets.new("carol")
    key, adds = node.usage_keys.add(alice, ALL_PERMISSIONS).key, node.groups.add(alice).accepted
    with judge("MODE-010", "WSIG-020"):
        answer = node.session.accept(node.accounts.conversion(alice, carol))[0].value
        judge.that(member(answer, "api_key") is MISSING, "a conversion that answers no key", answer)
    with judge("MODE-010"):
        if node.session.send(adds.changed()).accepted:  # the old key may write on, or the account is not converted
            again = node.session.send(node.accounts.conversion(alice, node.wallets.new("dave")))
            judge.that(not again.accepted, "an account that is converted, and not a second time", again.summary)
    with judge("MODE-110"):
        refused_to_write(node, adds, key)


@case("by-bearer", requirements=["AUTH-020"], needs=NEEDS, uses=[ANY_KEY_LISTS])
def by_bearer(judge: Judge, node: Node) -> None:
    """The master key converts in the header Authorization as well."""
    alice, carol = node.accounts.new().key, node.wallets.new("carol")
    key = node.usage_keys.add(alice, ALL_PERMISSIONS).key
    adds = node.session.accept(replace(node.groups.creation(alice), via="bearer"))[1]
    with judge():
        node.session.accept(replace(node.accounts.conversion(alice, carol), via="bearer"))
        refused_to_write(node, adds, key)


@case("same-envelope-for-two-accounts", requirements=["ENV-460"], needs=NEEDS, uses=[MANY_ACCOUNTS, ANY_KEY_LISTS])
def same_envelope_for_two_accounts(judge: Judge, node: Node) -> None:
    """One envelope converts a second account as well, with that account's master key."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    key = node.usage_keys.add(bob, ALL_PERMISSIONS).key
    conversion = node.session.accept(node.accounts.conversion(alice, node.wallets.new("carol")))[1].changed()
    adds = node.groups.add(bob).accepted
    with judge():
        node.session.accept(replace(conversion, credential=bob))
        refused_to_write(node, adds, key)


@case(
    "record-on-chain",
    requirements=["MODE-010", "MODE-020", "MODE-030", "MODE-040", "MODE-160"],
    needs=ON_CHAIN,
)
def record_on_chain(judge: Judge, node: Node) -> None:
    """The contract shows the account as unmanaged, owned by the new wallet, under the same hash."""
    alice, carol = node.accounts.new().key, node.wallets.new("carol")
    own, view = account_hash(alice, node.session.profile), node.contract.view
    before = view("get_account", own)
    is_other = not same_hex(member(before, "adminWalletAddress"), carol.address)
    judge.set_up(member(before, "managed") is True and is_other, "a managed account of another admin")
    with judge("MODE-010"):
        node.accounts.convert(alice, carol)
    with judge("MODE-040"):
        judge.same(view("account_exists", own), {"exists": True}, "account_exists of the converted account")
    after = view("get_account", own)
    with judge.apart("MODE-010", "MODE-020"):
        judge.members(after, {"managed": False}, "the record of the converted account")
    with judge.apart("MODE-030", "MODE-160"):
        judge.same_hex(member(after, "adminWalletAddress"), carol.address, "the admin of the converted account")
    with judge.apart("MODE-040"):
        labels = {name: member(before, name) for name in ("name", "description")}
        judge.members(after, labels, "the labels of the converted account, as before,")
    with judge("MODE-040"):
        judge.same(view("account_exists", wallet_hash(carol.address)), {"exists": False}, "an account of the wallet")


@case("record-of-keys-on-chain", requirements=["MODE-020", "MODE-040", "MODE-080"], needs=ON_CHAIN)
def record_of_keys_on_chain(judge: Judge, node: Node) -> None:
    """The account's own hash and its usage keys' hashes still name the same account."""
    alice, carol = node.accounts.new().key, node.wallets.new("carol")
    profile = node.session.profile
    key = usage_key_hash(node.usage_keys.add(alice, ALL_PERMISSIONS).key, profile)
    own, before = account_hash(alice, profile), node.contract.view("key_info", key)
    account = {"accountHash": member(before, "accountHash")}
    judge.members(before, {"managed": True, "isAccountKey": False}, "what the contract says of the usage key")
    judge.members(node.contract.view("key_info", own), account, "what the contract says of the account key")
    node.accounts.convert(alice, carol)
    after = node.contract.view("key_info", key)
    with judge.apart("MODE-080"):
        judge.members(after, {**account, "isAccountKey": False}, "what the contract says of the usage key")
    with judge.apart("MODE-020"):
        judge.members(after, {"managed": False}, "what the contract says of the usage key")
    with judge.apart("MODE-040"):
        judge.members(node.contract.view("key_info", own), account, "what the contract says of the account key")


@dataclass(frozen=True)
class FilledAccount:
    """An account that has something in each of its lists."""

    alice: str
    group: GroupId
    """It lists a wallet and an action."""
    key: str
    narrow_key: str


def filled_account(node: Node) -> FilledAccount:
    """A new account with something of each kind, and a gap in the ids of its groups."""
    alice, cid = node.accounts.new().key, node.actions.sample_cid("a")
    p = node.pkps.create(alice)
    for registered in (cid, node.actions.sample_cid("in no group")):
        node.actions.add(alice, registered)
    g, gap, h = bound(node, alice, [p], [hashed_cid(cid)]), node.groups.add(alice).id, node.groups.add(alice).id
    node.groups.remove(alice, gap)
    key = node.usage_keys.add(alice, Permissions(True, False, True, [g], [h], [g, h], [g])).key
    narrow_key = node.usage_keys.add(alice, Permissions(can_delete_groups=True, execute_in_groups=[0])).key
    return FilledAccount(alice, g, key, narrow_key)


def stays(judge: Judge, node: Node, alice: str, reads: Sequence[tuple[str, Read]]) -> None:
    """Each read, which shows something, gives the same after a conversion: else it breaks its requirement."""
    before = [read.get() for _, read in reads]
    judge.set_up(all(before), "lists that show something before the conversion")
    node.accounts.convert(alice, node.wallets.new("carol"))
    for (requirement, read), value in zip(reads, before, strict=True):
        with judge.apart(requirement):
            judge.same(read.get(), value, f"{read.name}, as before the conversion,")


@case(
    "lists-stay",
    requirements=["MODE-050", "MODE-060", "MODE-070", "MODE-080"],
    needs=NEEDS,
    uses=[ANY_KEY_LISTS, ANY_KEY_LISTS_KEYS],
)
def lists_stay(judge: Judge, node: Node) -> None:
    """After a conversion groups and their lists, wallets, actions and usage keys are listed as before."""
    on = filled_account(node)

    def read(name: str, key: str = on.key, **members: object) -> Read:
        return unchanged_list(node.session, name, key, **members)

    reads = [
        # The key that reads everything else comes first.
        ("MODE-080", read("list_api_keys")),
        ("MODE-050", read("list_groups")),
        ("MODE-060", read("list_wallets")),
        ("MODE-070", read("list_actions")),
        *(("MODE-050", read(name, group_id=on.group)) for name in IN_GROUP),
        ("MODE-080", read("list_api_keys", on.narrow_key)),
    ]
    stays(judge, node, on.alice, reads)


@case("contract-keeps-everything", requirements=["MODE-050", "MODE-060", "MODE-070", "MODE-080"], needs=ON_CHAIN)
def contract_keeps_everything(judge: Judge, node: Node) -> None:
    """The contract's lists of the account are as before."""
    on, read = filled_account(node), node.contract.unchanged_items
    own = account_hash(on.alice, node.session.profile)
    reads = [
        ("MODE-050", read("list_groups", own)),
        ("MODE-060", read("list_wallets", own)),
        ("MODE-070", read("list_actions", own)),
        ("MODE-080", read("list_usage_api_keys", own)),
        *(("MODE-050", read(name, own, on.group)) for name in ("list_wallets_in_group", "list_actions_in_group")),
    ]
    stays(judge, node, on.alice, reads)


@case("runs-stay", requirements=["MODE-060", "MODE-090", "MODE-330"], needs=NEEDS)
def runs_stay(judge: Judge, node: Node) -> None:
    """A usage key runs after the conversion what it ran before, with the same wallet, and nothing else."""
    on, other = one_group(node), node.actions.prepared(mark="other")
    elsewhere = ALL_PERMISSIONS.but({"execute_in_groups": [node.groups.add(on.alice).id]})
    other_key = node.usage_keys.add(on.alice, elsewhere).key
    control = node.signing.must_sign(on.key, on.x, on.p).accepted

    def refused() -> None:
        node.signing.must_be_refused(on.key, other, on.p, control=control, classes=["any"])
        node.signing.must_be_refused(other_key, on.x, on.p, control=control, classes=["any"])

    refused()
    node.accounts.convert(on.alice, node.wallets.new("carol"))
    with judge("MODE-090", "MODE-330"):
        run = node.runs.must_succeed(node.signing.request(on.key, on.x, on.p))
    with judge("MODE-060"):
        node.signing.signed(run.answer, on.p)
    with judge("MODE-090"):
        refused()


@case(
    "new-key-beside-the-old",
    requirements=["MODE-360", "MODE-250", "CHAIN-050"],
    needs=BY_ADMIN,
    uses=[OWN_HASH],
)
def new_key_beside_the_old(judge: Judge, node: Node) -> None:
    """A key of before and one that the new admin attaches run in the same group, as long as the chain says so."""
    on, other = one_group(node), node.actions.prepared(mark="other")
    account = node.accounts.converted(on.alice, node.wallets.new("carol"))
    minted = node.minting.usage_key(account.admin)
    write = writes_by_admin(node, account, partial(judge, "MODE-250"))
    with judge("MODE-250"):
        node.minting.register(account, minted)
        node.minting.attach(account, minted, Permissions(execute_in_groups=[on.g]))
    with judge("MODE-360"):
        control = node.signing.must_sign(on.key, on.x, on.p).accepted
        node.signing.must_sign(minted.key, on.x, on.p)

    def refused(key: str, action: ActionCode, *about: str) -> None:
        with judge(*about):
            node.signing.must_be_refused(key, action, on.p, control=control, classes=["any"])

    refused(minted.key, other, "CHAIN-050")
    # What the new admin changes on the chain counts for the key of before as well.
    write("remove_pkp_from_group", on.g, on.p.id)
    refused(on.key, on.x, "CHAIN-050", "MODE-250")
    write("add_pkp_to_group", on.g, on.p.id)
    with judge("CHAIN-050", "MODE-250"):
        node.runs.must_succeed(node.signing.request(on.key, on.x, on.p))
    write("remove_usage_api_key", usage_key_hash(on.key, node.session.profile))
    refused(on.key, on.x, "CHAIN-050", "MODE-250")
    with judge("MODE-360"):
        node.runs.must_succeed(node.signing.request(minted.key, on.x, on.p))


# -------------------------------------------------------------------------------------------- what the old key loses


def old_key_writes_nothing(
    judge: Judge,
    node: Node,
    alice: str,
    writes: Sequence[tuple[Accepted, Mapping[str, object]]],
    unchanged: Sequence[Read],
) -> None:
    """Convert the account; its old key is then refused these writes, accepted before, about other objects."""
    node.accounts.convert(alice, node.wallets.new("carol"))
    controls = [accepted for accepted, _ in writes]
    with judge(), Refusals(node.session, control=controls, unchanged=unchanged) as refusals:
        for header in ("x-api-key", "bearer"):
            for accepted, members in writes:
                refusals.send(replace(accepted.changed(**members), via=header), ["any"])


@case(
    "old-key-writes-no-keys",
    requirements=["MODE-110", "ERR-080"],
    needs=NEEDS,
    uses=[ANY_KEY_LISTS, ANY_KEY_LISTS_KEYS],
)
def old_key_writes_no_keys(judge: Judge, node: Node) -> None:
    """The old master key neither adds, nor changes, nor removes usage keys, by either header."""
    alice = node.accounts.new().key
    key, another, gone = (node.usage_keys.add(alice, ALL_PERMISSIONS) for _ in range(3))
    writes: list[tuple[Accepted, dict[str, object]]] = [
        (another.accepted, {}),
        (node.usage_keys.update(alice, another.key, NO_PERMISSIONS), {"usage_api_key": key.key}),
        (node.usage_keys.rename(alice, another.key, "renamed"), {"name": "again"}),
        (node.usage_keys.remove(alice, gone.key), {"usage_api_key": another.key}),
    ]
    old_key_writes_nothing(judge, node, alice, writes, [unchanged_list(node.session, "list_api_keys", key.key)])


@case("old-key-writes-no-groups", requirements=["MODE-110", "ERR-080"], needs=NEEDS, uses=[ANY_KEY_LISTS])
def old_key_writes_no_groups(judge: Judge, node: Node) -> None:
    """The old master key neither adds, nor changes, nor fills, nor removes groups, by either header."""
    alice = node.accounts.new().key
    key = node.usage_keys.add(alice, ALL_PERMISSIONS).key
    p, q = node.pkps.create_several(alice, 2)
    a, b, c = (node.actions.sample_cid(name) for name in "abc")
    g, h = bound(node, alice, [p], [hashed_cid(a)]), bound(node, alice, [p], [hashed_cid(a)])
    added = node.groups.add(alice)
    writes: list[tuple[Accepted, dict[str, object]]] = [
        (added.accepted, {}),
        (node.groups.remove(alice, added.id), {"group_id": g}),
        (node.groups.update(alice, h, pkp_ids=[], cid_hashes=[]), {"name": "again"}),
        (node.groups.add_pkp(alice, h, q.id), {"group_id": g}),
        (node.groups.add_action(alice, h, b), {"action_ipfs_cid": c}),
        (node.groups.remove_pkp(alice, g, p.id), {"group_id": h, "pkp_id": q.id}),
        (node.groups.remove_action(alice, g, hashed_cid(a)), {"group_id": h, "hashed_cid": hashed_cid(b)}),
    ]
    reads = [unchanged_list(node.session, "list_groups", key)]
    for group in (g, h):
        reads.append(unchanged_list(node.session, "list_wallets_in_group", key, group_id=group))
        reads.append(unchanged_list(node.session, "list_actions", key, group_id=group))
    old_key_writes_nothing(judge, node, alice, writes, reads)


@case("old-key-writes-no-wallets-and-actions", requirements=["MODE-110", "ERR-080"], needs=NEEDS, uses=[ANY_KEY_LISTS])
def old_key_writes_no_wallets_and_actions(judge: Judge, node: Node) -> None:
    """The old master key neither creates wallets nor adds, changes and deletes actions, by either header."""
    alice = node.accounts.new().key
    key = node.usage_keys.add(alice, ALL_PERMISSIONS).key
    a, b, c = (node.actions.sample_cid(name) for name in "abc")
    node.actions.add(alice, a)
    writes: list[tuple[Accepted, dict[str, object]]] = [
        (node.session.accept(node.pkps.creation(alice))[1], {}),
        (node.actions.add(alice, b), {"action_ipfs_cid": c}),
        (node.actions.update(alice, hashed_cid(a), "renamed"), {"name": "again"}),
        (node.actions.delete(alice, hashed_cid(b)), {"hashed_cid": hashed_cid(a)}),
    ]
    reads = [unchanged_list(node.session, operation, key) for operation in ("list_wallets", "list_actions")]
    old_key_writes_nothing(judge, node, alice, writes, reads)


@case(
    "old-key-stops-with-requests-in-flight",
    requirements=["MODE-110", "MODE-010"],
    needs=NEEDS,
    uses=[ANY_KEY_LISTS],
)
def old_key_stops_with_requests_in_flight(judge: Judge, node: Node) -> None:
    """Writes of the old key under way during the conversion are done or refused whole; after it none is done."""
    alice, carol = node.accounts.new().key, node.wallets.new("carol")
    key = node.usage_keys.add(alice, ALL_PERMISSIONS).key
    adds = node.groups.add(alice).accepted
    before = len(node.groups.list(alice))
    conversion, *writes = send_at_once(
        node.session, [node.accounts.conversion(alice, carol), *[adds.changed(group_name="under way")] * 8]
    )
    with judge("MODE-010"):
        must_accept(conversion)
    with judge("MODE-110"):
        must_refuse(
            node.session,
            adds.changed(),
            ["any"],
            control=adds,
            unchanged=[unchanged_list(node.session, "list_groups", key)],
        )
        # The credit may have left the account, or stayed with the former record.
        refusals = ["any", "insufficient_credit"]
        done = sum(was_accepted(node.session, answer, or_refused=refusals) for answer in writes)
        judge.same(len(node.groups.list(key)) - before, done, "the number of new groups, as many as accepted writes,")


@case("old-key-changes-nothing-on-chain", requirements=["MODE-110", "AUTH-180", "ERR-080"], needs=ON_CHAIN)
def old_key_changes_nothing_on_chain(judge: Judge, node: Node) -> None:
    """Refused writes of the old master key leave the contract's record as it is."""
    alice, carol = node.accounts.new().key, node.wallets.new("carol")
    own = account_hash(alice, node.session.profile)
    creates = node.session.accept(node.pkps.creation(alice))[1]
    controls = [node.groups.add(alice).accepted, creates, node.usage_keys.add(alice).accepted]
    lists = ("list_groups", "list_wallets", "list_usage_api_keys")
    reads = [
        *(node.contract.unchanged_items(name, own) for name in lists),
        node.contract.unchanged_view("get_account", own),
    ]
    node.accounts.convert(alice, carol)
    with judge(), Refusals(node.session, control=controls, unchanged=reads) as refusals:
        for control in controls:
            refusals.send(control.changed(), ["any"])


@case("second-conversion", requirements=["MODE-210", "ERR-090"], needs=ON_CHAIN)
def second_conversion(judge: Judge, node: Node) -> None:
    """A second conversion is refused, and the first admin stays."""
    alice, carol, mallory = node.accounts.new().key, node.wallets.new("carol"), node.wallets.new("mallory")
    node.usage_keys.add(alice, ALL_PERMISSIONS)
    own = account_hash(alice, node.session.profile)
    first = node.session.accept(node.accounts.conversion(alice, carol))[1]
    reads = [node.contract.unchanged_items(name, own) for name in ("list_groups", "list_usage_api_keys")]
    reads.append(node.contract.unchanged_view("get_account", own))
    for second in (node.accounts.conversion(alice, mallory), first.changed()):
        with judge.apart():
            must_refuse(node.session, second, ["any"], control=first, unchanged=reads)
    with judge("MODE-210"):
        has_converted(judge, node, own, carol)


def has_converted(judge: Judge, node: Node, account: str, admin: SuiteWallet) -> None:
    """The contract shows the account as this wallet's."""
    record = node.contract.view("get_account", account)
    judge.members(record, {"managed": False}, "the record of the converted account")
    judge.same_hex(member(record, "adminWalletAddress"), admin.address, "the admin of the converted account")


@case(
    "second-conversion-over-http",
    requirements=["MODE-210", "ERR-090"],
    needs=NEEDS,
    uses=[ANY_KEY_LISTS, ANY_KEY_LISTS_KEYS],
)
def second_conversion_over_http(judge: Judge, node: Node) -> None:
    """A second conversion is refused, also with a usage key, and changes nothing that lists show."""
    alice, carol, mallory = node.accounts.new().key, node.wallets.new("carol"), node.wallets.new("mallory")
    key = node.usage_keys.add(alice, ALL_PERMISSIONS).key
    first = node.session.accept(node.accounts.conversion(alice, carol))[1]
    reads = [unchanged_list(node.session, name, key) for name in ("list_groups", "list_api_keys")]
    for who in (alice, key):
        with judge.apart():
            second = node.accounts.conversion(who, mallory)
            must_refuse(node.session, second, ["any"], control=first, unchanged=reads)


@case("no-way-back", requirements=["MODE-230", "MODE-250"], needs=BY_ADMIN, uses=[OWN_HASH])
def no_way_back(judge: Judge, node: Node) -> None:
    """A converted account stays ChainSecured, and its old master key stays refused."""
    alice, carol = node.accounts.new().key, node.wallets.new("carol")
    node.usage_keys.add(alice, ALL_PERMISSIONS)
    adds = node.groups.add(alice).accepted
    account = node.accounts.converted(alice, carol)
    has_converted(judge, node, account.hash, carol)
    write = writes_by_admin(node, account, partial(judge, "MODE-250"))
    write("add_group", "by the admin", "d", [], [])
    node.accounts.by_wallet(carol)
    # Now it is the admin of two accounts.
    write("add_group", "again", "d", [], [])
    node.accounts.new(spends=False)
    with judge("MODE-230"):
        has_converted(judge, node, account.hash, carol)
        groups = node.contract.unchanged_items("list_groups", account.hash)
        must_refuse(node.session, adds.changed(), ["any"], control=adds, unchanged=[groups])


@case("race", requirements=["MODE-260"], needs=ON_CHAIN)
def race(judge: Judge, node: Node) -> None:
    """Of several conversions at once exactly one succeeds, and its wallet becomes the admin."""
    alice = node.accounts.new().key
    # A node that has none of the conversions paid for would do none of them.
    node.groups.add(alice)
    wallets = [node.wallets.new(name) for name in ("one", "two", "three", "four")]
    requests = [node.accounts.conversion(alice, wallet) for wallet in wallets]
    with judge():
        answers = send_at_once(node.session, requests)
        won = [was_accepted(node.session, answer, or_refused=["any", "insufficient_credit"]) for answer in answers]
        winners = [wallet for wallet, is_one in zip(wallets, won, strict=True) if is_one]
        if not winners:
            must_accept(answers[0])
        judge.same(len(winners), 1, "the number of conversions that succeed")
        has_converted(judge, node, account_hash(alice, node.session.profile), winners[0])


@case("old-key-reads-as-stated", requirements=["MODE-280"], needs=NEEDS, uses=[OLD_KEY_READS])
def old_key_reads_as_stated(judge: Judge, node: Node) -> None:
    """After the conversion the lists answer or refuse the old master key, as the profile states."""
    objects, carol = sample_objects(node, node.accounts.new()), node.wallets.new("carol")
    lists = {name: request for name, request in sample_reads(node, objects).items() if name.startswith("list_")}
    controls = {name: node.session.accept(request)[1] for name, request in lists.items()}
    stated = printed(node.session.stated(OLD_KEY_READS))
    node.accounts.convert(objects.alice.key, carol)
    for name, request in lists.items():
        with judge.apart():
            if stated == "accepted":
                node.session.accept(request)
            else:
                must_refuse(node.session, request, [stated], control=controls[name], unchanged=[])


@case("old-key-runs-as-stated", requirements=["MODE-290"], needs=NEEDS, uses=[OLD_KEY_RUNS])
def old_key_runs_as_stated(judge: Judge, node: Node) -> None:
    """After the conversion the old master key runs an action or is refused, as the profile states; a usage key runs."""
    objects, carol = sample_objects(node, node.accounts.new()), node.wallets.new("carol")
    node.runs.run(objects.alice.key, objects.action.code)
    stated = printed(node.session.stated(OLD_KEY_RUNS))
    node.accounts.convert(objects.alice.key, carol)
    control = node.runs.run(objects.usage_key, objects.action.code).accepted
    with judge():
        if stated == "accepted":
            node.runs.run(objects.alice.key, objects.action.code)
        else:
            run = node.runs.request(objects.alice.key, objects.action.code)
            must_refuse(node.session, run, [stated], control=control, unchanged=[])


# ------------------------------------------------------------------------------------------------------- what it takes


@case(
    "to-the-accounts-own-wallet",
    requirements=["MODE-010", "MODE-110"],
    needs=NEEDS,
    uses=[WALLET_RULE, MANY_ACCOUNTS, ANY_KEY_LISTS],
)
def to_the_accounts_own_wallet(judge: Judge, node: Node) -> None:
    """The wallet that the master key's secret makes becomes the admin like any other; the key then writes nothing."""
    alice = node.accounts.new()
    key, own = node.usage_keys.add(alice.key, ALL_PERMISSIONS).key, node.wallets.of_account_key(alice.key)
    judge.set_up(own.address.lower() == alice.wallet_address.lower(), "a wallet that the stated rule makes of the key")
    adds = node.groups.add(alice.key).accepted
    with judge("MODE-010"):
        node.accounts.convert(alice.key, own)
    reads = [unchanged_list(node.session, "list_groups", key)]
    with judge("MODE-110"), Refusals(node.session, control=adds, unchanged=reads) as refusals:
        for header in ("x-api-key", "bearer"):
            refusals.send(replace(adds.changed(), via=header), ["any"])


@dataclass(frozen=True)
class TwoAccounts:
    """Alice's account is still managed, bob's was converted to mallory's wallet."""

    alice: str
    carol: SuiteWallet
    mallory: SuiteWallet
    control: Accepted
    """Bob's conversion."""


def two_accounts(node: Node) -> TwoAccounts:
    """A new account, and another one that is converted."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    carol, mallory = node.wallets.new("carol"), node.wallets.new("mallory")
    control = node.session.accept(node.accounts.conversion(bob, mallory))[1]
    return TwoAccounts(alice, carol, mallory, control)


def converting(node: Node, key: str | None, envelope: SignedEnvelope, address: str) -> OutgoingRequest:
    """A conversion to this address with an envelope of any kind."""
    return node.session.request(CONVERSION, key, **envelope.members, new_admin_wallet_address=address)


def refuses(
    judge: Judge, node: Node, on: TwoAccounts, requests: Sequence[OutgoingRequest], *requirements: str, why: str = ""
) -> bool:
    """Conversions of alice's account that must be refused by these requirements, and change nothing.

    Whether they were: an account that one of them has converted says nothing about refusals.
    """
    refusals = Refusals(
        node.session, control=on.control, unchanged=[unchanged_list(node.session, "list_groups", on.alice)]
    )
    with judge.apart(*requirements, unchanged="MODE-240", why=why), refusals:
        for request in requests:
            refusals.send(request, ["any"])
    return refusals.held


def stays_managed(judge: Judge, node: Node, on: TwoAccounts, *refused: bool, has_paid: bool = False) -> None:
    """After conversions that were all refused the key writes, and converts the account.

    `has_paid`: the account has paid for such a write before, of which its credit pays more.
    """
    if not all(refused):
        return
    with judge("MODE-240"):
        try:
            node.groups.add(on.alice)
        except OutOfCredit as problem:
            if not has_paid:
                raise
            raise NotAccepted("a write that the account's credit pays", problem.got, problem.exchange) from None
        node.accounts.convert(on.alice, on.carol)


@case("without-the-master-key", requirements=["MODE-120", "MODE-240"], needs=NEEDS)
def without_the_master_key(judge: Judge, node: Node) -> None:
    """Without a key, or with an unknown one, nothing is converted."""
    on = two_accounts(node)
    conversion = node.accounts.conversion(None, on.carol)
    unknown = replace(conversion, credential=random_key(node.session.random))
    stays_managed(judge, node, on, refuses(judge, node, on, [conversion, unknown], "MODE-120"))


@case("with-a-usage-key", requirements=["MODE-130", "MODE-240", "AUTH-130"], needs=NEEDS)
def with_a_usage_key(judge: Judge, node: Node) -> None:
    """A usage key with every permission converts nothing."""
    on = two_accounts(node)
    key = node.usage_keys.add(on.alice, ALL_PERMISSIONS).key
    refused = refuses(judge, node, on, [node.accounts.conversion(key, on.carol)], "MODE-130", "AUTH-130")
    stays_managed(judge, node, on, refused)


@case("without-the-signature", requirements=["MODE-140", "MODE-240"], needs=NEEDS)
def without_the_signature(judge: Judge, node: Node) -> None:
    """The master key alone converts nothing, nor with half a proof, nor with a spoilt one."""
    on = two_accounts(node)
    conversion = node.accounts.conversion(on.alice, on.carol)
    proof = conversion.members
    halves = [("new_admin_wallet_address",), ("typed_data", "new_admin_wallet_address")]
    halves += [("signature", "new_admin_wallet_address")]
    spoilt = [None, "0x", f"{str(proof['signature'])[:-6]}00001b"]
    of_mallory = sign_envelope(node.session, "ConvertAccount", on.mallory).signature
    sent = [{name: proof[name] for name in half} for half in halves]
    sent += [{**proof, "signature": signature} for signature in (*spoilt, of_mallory)]
    refused = refuses(
        judge, node, on, [replace(conversion, members=members) for members in node.session.some(sent)], "MODE-140"
    )
    stays_managed(judge, node, on, refused)


@case("new-admin-is-the-signer", requirements=["MODE-150", "MODE-160", "MODE-170", "MODE-240"], needs=NEEDS)
def new_admin_is_the_signer(judge: Judge, node: Node) -> None:
    """The wallet that signs, the one in the envelope and `new_admin_wallet_address` have to be the same."""
    on = two_accounts(node)
    node.groups.add(on.alice)
    carol, mallory = on.carol, on.mallory
    stranger = random_address(node.session.random)

    def conversion(new_admin: str, named: str, signer: SuiteWallet) -> OutgoingRequest:
        envelope = sign_envelope(node.session, "ConvertAccount", carol, address=named, signed_by=signer)
        return converting(node, on.alice, envelope, new_admin)

    another_signer = [
        conversion(carol.address, carol.address, mallory),
        conversion(mallory.address, mallory.address, carol),
        conversion(ZERO_ADDRESS, ZERO_ADDRESS, carol),
    ]
    another_address = [conversion(carol.address, mallory.address, mallory)]
    another_address += [conversion(named, carol.address, carol) for named in (mallory.address, stranger, ZERO_ADDRESS)]
    signed = node.accounts.conversion(on.alice, carol)
    no_address = replace(signed, members={name: signed.members[name] for name in ("typed_data", "signature")})
    refused = (
        refuses(judge, node, on, another_signer, "MODE-150"),
        refuses(judge, node, on, another_address, "MODE-150", "MODE-160", "MODE-170"),
        refuses(judge, node, on, [conversion(carol.address, mallory.address, carol)], "MODE-160", "MODE-170"),
        refuses(judge, node, on, [no_address], "MODE-170"),
    )
    stays_managed(judge, node, on, *refused, has_paid=True)


@case("another-chain-or-time", requirements=["MODE-340", "MODE-350", "MODE-240"], needs=NEEDS)
def another_chain_or_time(judge: Judge, node: Node) -> None:
    """An envelope for another chain, or from over five minutes ago or ahead, converts nothing."""
    on = two_accounts(node)
    next_chain = sign_envelope(node.session, "ConvertAccount", on.carol, on_chain=chain_id(node.session) + 1)
    of_chain = refuses(judge, node, on, [converting(node, on.alice, next_chain, on.carol.address)], "MODE-340")
    of_time = []
    for issued, when in ((-330, "before"), (330, "after")):
        envelope = sign_envelope(node.session, "ConvertAccount", on.carol, issued=issued)
        conversion = converting(node, on.alice, envelope, on.carol.address)
        why = f"the envelope was issued 330 s {when} the node's time, and 300 s are the most"
        of_time.append(refuses(judge, node, on, [conversion], "MODE-350", why=why))
    stays_managed(judge, node, on, of_chain, *of_time)


@case(
    "contract-signature",
    requirements=["MODE-180", "MODE-240", "ERR-070"],
    needs=BY_ADMIN,
)
def contract_signature(judge: Judge, node: Node) -> None:
    """A conversion to a contract account is refused, even if its owner's signature is valid there (ERC-1271)."""
    on = two_accounts(node)
    vault = node.wallets.contract_wallet(on.carol)
    record = node.contract.unchanged_view("get_account", account_hash(on.alice, node.session.profile))
    judge.set_up(member(record.get(), "managed") is True, "a managed account beside the one that was converted")
    proof = sign_envelope(node.session, "ConvertAccount", vault)
    with (
        judge("MODE-180", "ERR-070", unchanged="MODE-240"),
        Refusals(node.session, control=on.control, unchanged=[record]) as refusals,
    ):
        for address in (vault.address, on.carol.address):
            refusals.send(converting(node, on.alice, proof, address), ["any"])
    with judge("MODE-240"):
        node.groups.add(on.alice)


@case("refusals-leave-the-record", requirements=["MODE-150", "MODE-240", "MODE-350"], needs=ON_CHAIN)
def refusals_leave_the_record(judge: Judge, node: Node) -> None:
    """Refused conversions leave the contract's record as it was."""
    on = two_accounts(node)
    own = account_hash(on.alice, node.session.profile)
    reads, carol = [node.contract.unchanged_view("get_account", own)], on.carol
    judge.members(node.contract.view("get_account", own), {"managed": True}, "the record of the account")
    another_signer = sign_envelope(node.session, "ConvertAccount", carol, signed_by=on.mallory)
    late = sign_envelope(node.session, "ConvertAccount", carol, issued=-330)
    another_address = sign_envelope(node.session, "ConvertAccount", carol)
    for about, envelope, address in (
        ("MODE-150", another_signer, carol.address),
        ("MODE-350", late, carol.address),
        ("MODE-150", another_address, on.mallory.address),
    ):
        with judge.apart(about, "MODE-240"):
            request = converting(node, on.alice, envelope, address)
            must_refuse(node.session, request, ["any"], control=on.control, unchanged=reads)
    with judge("MODE-240"):
        judge.members(node.contract.view("get_account", own), {"managed": True}, "the record of the account")


@case("own-account-alone", requirements=["MODE-370"], needs=NEEDS, uses=[ANY_KEY_LISTS])
def own_account_alone(judge: Judge, node: Node) -> None:
    """The master key alone says which account is converted; every other stays managed."""
    alice, bob = node.accounts.new().key, node.accounts.new().key
    adds, bob_adds = node.groups.add(alice).accepted, node.groups.add(bob).accepted
    bobs_key = node.usage_keys.add(bob, ALL_PERMISSIONS).key
    node.accounts.convert(bob, node.wallets.new("mallory"))
    with judge():
        node.session.accept(adds.changed())
        reads = [unchanged_list(node.session, "list_groups", key) for key in (bobs_key, alice)]
        must_refuse(node.session, bob_adds.changed(), ["any"], control=bob_adds, unchanged=reads)
        node.accounts.convert(alice, node.wallets.new("carol"))


@case("own-account-alone-on-chain", requirements=["MODE-370"], needs=ON_CHAIN)
def own_account_alone_on_chain(judge: Judge, node: Node) -> None:
    """The contract shows one account converted, and the other one managed under its own admin."""
    alice, bob, carol = node.accounts.new().key, node.accounts.new().key, node.wallets.new("carol")
    own, of_bob = (account_hash(key, node.session.profile) for key in (alice, bob))
    before = node.contract.view("get_account", of_bob)
    judge.members(before, {"managed": True}, "the record of the other account")
    node.accounts.convert(alice, carol)
    with judge():
        judge.same(node.contract.view("get_account", of_bob), before, "the record of the other account, as before,")
    has_converted(judge, node, own, carol)


@case(
    "new-admin-writes",
    requirements=["MODE-250"],
    needs=BY_ADMIN,
    uses=[
        OWN_HASH,
        ANY_KEY_LISTS,
        ANY_KEY_LISTS_KEYS,
        "wire.list_groups.item_fields.name",
        "wire.list_items.fields.usage_key.name",
    ],
)
def new_admin_writes(judge: Judge, node: Node) -> None:
    """The new admin's transactions under the preserved hash take effect, and lists show it."""
    alice, mallory = node.accounts.new().key, node.wallets.new("mallory")
    key = node.usage_keys.add(alice, ALL_PERMISSIONS).key
    account = node.accounts.converted(alice, node.wallets.new("carol"))
    write = writes_by_admin(node, account, judge)
    adds = write("add_group", "by the admin", "of the admin's", [], [])
    with judge():
        group = member(node.groups.list(key), "-1")
        judge.members(group, {"name": "by the admin"}, "the newest group")
    write("update_usage_api_key_metadata", usage_key_hash(key, node.session.profile), "renamed by the admin", "d")
    with judge():
        names = pluck(node.usage_keys.list(key), "name")
        judge.that("renamed by the admin" in names, "the usage key that the admin renamed", names)
        reads = [unchanged_list(node.session, "list_groups", key)]
        arguments = [account.hash, "a stranger's", "d", [], []]
        node.contract.must_refuse(mallory, "add_group", *arguments, control=adds, unchanged=reads)
    write("remove_group", group_id(member(group, "id")))
    with judge():
        names = pluck(node.groups.list(key), "name")
        judge.that("by the admin" not in names, "a list without the group that the admin removed", names)


@case("removed-keys-stay-removed", requirements=["KEYLIFE-080"], needs=NEEDS)
def removed_keys_stay_removed(judge: Judge, node: Node) -> None:
    """A usage key that was removed before the conversion runs nothing after it."""
    on, carol = one_group(node), node.wallets.new("carol")
    removed = node.usage_keys.executing_in(on.alice, on.g)
    node.signing.must_sign(removed, on.x, on.p)
    node.usage_keys.remove(on.alice, removed)
    node.accounts.convert(on.alice, carol)
    runs = node.signing.must_sign(on.key, on.x, on.p).accepted
    with judge():
        node.signing.must_be_refused(removed, on.x, on.p, control=runs, classes=["unauthenticated", "forbidden"])


@case("payers-transaction", requirements=["MODE-190"], needs=ON_CHAIN)
def payers_transaction(judge: Judge, node: Node) -> None:
    """A payer sends convertToChainSecuredAccount with the account's hash and the new admin."""
    alice, carol = node.accounts.new().key, node.wallets.new("carol")
    published = sorted(payer.lower() for payer in payers(node.session))
    arguments = (account_hash(alice, node.session.profile), f"{carol.address.removeprefix('0x'):0>64}")
    before = node.session.chain.block_number()
    node.accounts.convert(alice, carol)
    with judge():
        called = CONVERSION_SELECTOR + "".join(argument.removeprefix("0x") for argument in arguments)
        sent = node.contract.transactions_after(before, holding=called)
        judge.same(len(sent), 1, "the number of transactions that convert the account to this wallet")
        judge.same(printed(sent[0]["to"]), node.contract.address.lower(), "the address that the transaction goes to")
        judge.that(printed(sent[0]["from"]) in published, f"a sender among {', '.join(published)}", sent[0]["from"])


@case("second-conversion-reverts", requirements=["MODE-220"], needs=ON_CHAIN)
def second_conversion_reverts(judge: Judge, node: Node) -> None:
    """The contract reverts a second conversion, by a payer as by the owner, also to the admin that there is."""
    alice, bob = node.accounts.new(), node.accounts.new()
    carol, mallory = node.wallets.new("carol"), node.wallets.new("mallory")
    relay, of_bob = payers(node.session)[0], account_hash(bob.key, node.session.profile)
    admin_payer = printed(member(node.session.call("get_admin_api_payer").value, "address"))
    control = node.contract.dry_run(CONVERSION, [of_bob, mallory.address], sender=relay)
    account = node.accounts.converted(alice.key, carol)
    senders = (relay, admin_payer, carol.address, alice.wallet_address, mallory.address)
    with (
        judge(why="an account that was converted is converted by nobody again"),
        Refusals(node.session, control=control, unchanged=[]) as refusals,
    ):
        for sender, admin in product(senders, (mallory, carol)):
            node.contract.must_revert_dry(refusals, CONVERSION, [account.hash, admin.address], sender=sender)


@case(
    "all-stays-beside-the-admins-own-account",
    requirements=["MODE-050", "MODE-060", "MODE-080", "MODE-090"],
    needs=BY_ADMIN,
    uses=[MANY_ACCOUNTS, ANY_KEY_LISTS, ANY_KEY_LISTS_KEYS],
)
def all_stays_beside_the_admins_own_account(judge: Judge, node: Node) -> None:
    """An account keeps all it has when its new admin wallet already has a ChainSecured account of its own."""
    on, carol = one_group(node), node.wallets.new("carol")
    own, key = node.accounts.by_wallet(carol), node.usage_keys.add(on.alice, ALL_PERMISSIONS).key
    node.contract.write(carol, "add_group", own.hash, node.label, "of the admin", [], [])
    lists: Mapping[str, tuple[str, Mapping[str, object]]] = {
        "list_groups": ("MODE-050", {}),
        "list_wallets": ("MODE-060", {}),
        "list_api_keys": ("MODE-080", {}),
        "list_wallets_in_group": ("MODE-050", {"group_id": on.g}),
        "list_actions": ("MODE-050", {"group_id": on.g}),
    }
    node.signing.must_sign(on.key, on.x, on.p)
    before = {name: read_list(node.session, name, key, **members) for name, (_, members) in lists.items()}
    node.accounts.convert(on.alice, carol)
    with judge("MODE-080", why="a usage key of before opens the account"):
        read_list(node.session, "list_groups", key)
    for name, (requirement, members) in lists.items():
        with judge.apart(requirement):
            judge.same(read_list(node.session, name, key, **members), before[name], f"{name}, as before")
    with judge.apart("MODE-090"):
        node.signing.must_sign(on.key, on.x, on.p)


# ------------------------------------------------------------------------------------------------------------- billing


@case(
    "billing-follows",
    requirements=["MODE-100", "BILL-320", "MODE-210"],
    needs=[*NEEDS, "billing"],
    uses=[
        {"billing.credits_after_conversion": "moved"},
        {"wire.billing.fields.positive_is_credit": True},
        "billing.charge_per_call.run_second_cents",
    ],
)
def billing_follows(judge: Judge, node: Node, payments: Payments) -> None:
    """Right after the conversion billing answers for the new admin wallet, and charges are booked there.

    A second conversion, to another wallet, is refused and changes nothing of that.
    """
    on, carol = one_group(node), node.wallets.new("carol")
    before = payments.balance(on.alice)
    node.signing.must_sign(on.key, on.x, on.p)
    judge.set_up(payments.balance(on.alice) < before, "a run that costs something before the conversion")
    asked = replace(node.session.request("balance"), headers=billing_auth(node.session, carol))
    own_before = payments.credit_by(carol)  # a node may refuse a wallet that it does not know, and has to know it soon

    def runs_on(cents: int) -> None:
        try:
            node.signing.must_sign(on.key, on.x, on.p)
        except OutOfCredit as problem:
            expected = f"a run that the {cents} cents of the account pay"
            raise NotAccepted(expected, problem.got, problem.exchange) from None

    node.accounts.convert(on.alice, carol)
    with judge("MODE-100"):
        own = payments.balance_by(asked)
        judge.that(own != own_before, "the account's credits at its new admin wallet's disposal", own)
        runs_on(own)
    with judge("BILL-320", "MODE-100"):
        later = payments.balance_by(asked)
        judge.that(later < own, f"a balance of the new admin wallet below {own} after a run", later)
    second = node.session.send(node.accounts.conversion(on.alice, node.wallets.new("mallory")))
    judge.set_up(not second.accepted and 2 * later >= own, "a refused second conversion, and credit for one more run")
    with judge("MODE-210", why="a second conversion that is refused leaves the new admin wallet to be charged"):
        runs_on(later)
        last = payments.balance_by(asked)
        judge.that(last < later, f"a balance of the new admin wallet below {later} after a run", last)


@case(
    "credits-of-a-second-account-follow",
    requirements=["MODE-300"],
    needs=[*NEEDS, "billing"],
    uses=[
        {"billing.credits_after_conversion": "moved"},
        {"wire.billing.fields.positive_is_credit": True},
        MANY_ACCOUNTS,
    ],
)
def credits_of_a_second_account_follow(judge: Judge, node: Node, payments: Payments) -> None:
    """A wallet that becomes the admin of two accounts, one after the other, gets the credits of both."""
    first, second, carol = node.accounts.new().key, node.accounts.new().key, node.wallets.new("carol")
    asked = replace(node.session.request("balance"), headers=billing_auth(node.session, carol))

    def converted(key: str) -> tuple[int, int]:
        before = payments.balance_by(asked)
        node.accounts.convert(key, carol)
        return before, payments.balance_by(asked)

    judge.set_up(payments.balance(second) > 0, "a second account with credits")
    before, after = converted(first)
    judge.set_up(after > before, "credits that follow a first account")
    before, after = converted(second)
    with judge():
        judge.that(after > before, f"a balance above {before}, with the credits of the second account", after)
