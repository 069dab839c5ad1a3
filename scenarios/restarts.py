"""What a node has acknowledged outlasts its process: accounts, permissions, wallets, payments and signed flows.

"States and transitions": each accepted write leads to a next state, and only another write leads out of it. An account
is made, and the node is killed right after it, before anything could be saved at leisure; later it is stopped in order
and started again. Where the profile names no command that kills, it is stopped in order both times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from time import monotonic

from conformance.cases import Judge, case
from conformance.profile.operations import PERMISSIONS
from conformance.service.acceptance import Accepted
from conformance.service.accounts import ChainSecuredAccount
from conformance.service.actions import ActionCode
from conformance.service.derivations import ID_RULE, hashed_cid, pkp_id_in
from conformance.service.groups import ALL_PKPS, Group
from conformance.service.lists import unchanged_list
from conformance.service.minting import MintedKey
from conformance.service.node import Node
from conformance.service.payments import NOT_PAID, USUAL_CENTS, PaymentIntent
from conformance.service.pkps import Pkp
from conformance.service.refusal import must_refuse, was_accepted
from conformance.service.session import DESCRIPTION
from conformance.service.usage_keys import Permissions
from conformance.values.ids import ApiKey, Cid, GroupId, UsageKey
from conformance.values.json_values import MISSING, member, pluck, printed

NEEDS = ("managed_accounts", "restart")
WINDOW_LEAVES = 240
"""Seconds after which an envelope is replayed no more, well within the 300 s in which it counts."""
AT_ONCE = 6
"""Groups being made when the node is killed; there are more than nine then, whose ids differ in length."""
LONG_LABEL = "f\u00fcr \u4e00\u4e8c\u4e09, which takes more than a word of 32 characters"
"""Letters of several bytes, and more of them than a word of the chain holds bytes."""

# ---------------------------------------------------------------------------------------------------- an account


@dataclass(frozen=True)
class Kept:
    """A list of the account, and the requirements that say what stands in it."""

    id: str
    """The member that names an item."""
    there: str
    """What was made is there."""
    gone: str = ""
    """What was removed is not."""
    name: str = ""
    description: str = ""


LISTS: Mapping[str, Kept] = {
    "groups": Kept("id", "GRPLIFE-010", "GRPLIFE-100", "GRP-020", "GRP-030"),
    "usage keys": Kept("api_key_hash", "KEYLIFE-010", "KEYLIFE-090", "UKEY-020", "UKEY-030"),
    "wallets": Kept("id", "EP-230"),
    "actions": Kept("hashed_cid", "EP-280", "EP-290", "EP-300", "EP-300"),
    "wallets of the group": Kept("id", "EP-370", "EP-220"),
    "actions of the group": Kept("hashed_cid", "EP-360", "EP-210"),
}
Records = Mapping[str, Sequence[object]]


@dataclass(frozen=True)
class Furnished:
    """An account with objects of each kind, of which some were changed and some removed."""

    alice: ApiKey
    p: Pkp
    q: Pkp
    x: ActionCode
    y: ActionCode
    z: Cid
    """Was registered once. X and Y sign a text."""
    g: Group
    """Binds the action X and the wallet P. Its labels were changed; Q and Y left it in two ways."""
    key: UsageKey
    """Executes in G. It could create groups, and execute in every one, once."""
    wide: UsageKey
    """Executes in G and in the group that was removed, creates groups, and changes the actions of every one."""
    every: UsageKey
    """Executes in every group."""
    removed_key: UsageKey
    """Did execute in G."""
    removed: Mapping[str, set[str]]
    """What tells the removed items of each list from others."""

    def records(self, node: Node) -> Records:
        """All that its lists hold."""
        return {
            "groups": node.groups.list(self.alice),
            "usage keys": node.usage_keys.list(self.alice),
            "wallets": node.pkps.list(self.alice),
            "actions": node.actions.list(self.alice),
            "wallets of the group": node.pkps.list(self.alice, self.g.id),
            "actions of the group": node.actions.list(self.alice, self.g.id),
        }


def identities(what: str, items: Sequence[object]) -> dict[str, object]:
    """Items by what tells each from the others: its id, or its labels where the node shows none."""

    def identity(item: object) -> str:
        shown = member(item, LISTS[what].id)
        return printed([member(item, "name"), member(item, "description")] if shown is MISSING else shown).lower()

    return {identity(item): item for item in items}


def relabelled(node: Node, operation: str, key: str, **members: object) -> None:
    """Update something with long labels, or with usual ones where the node refuses those."""
    name = f"{node.label} renamed"
    usual = node.session.request(operation, key, **members, name=name, description=DESCRIPTION)
    answer = node.session.send(usual.changed(name=f"{name} {LONG_LABEL}", description=LONG_LABEL))
    if not was_accepted(node.session, answer, or_refused=["any"]):
        node.session.accept(usual)


def furnished_group(node: Node, alice: ApiKey, pkps: Sequence[Pkp], x: ActionCode, y: ActionCode) -> Group:
    """A group of X and the first wallet, which left it and came back. Y and the second wallet left it twice."""
    p, q = pkps
    g = node.groups.add(alice, "group", pkp_ids=[q.id], cid_hashes=[y.hash])
    lists: dict[str, object] = {"pkp_ids_permitted": [], "cid_hashes_permitted": [x.hash]}
    relabelled(node, "update_group", alice, group_id=g.id, **lists)
    for pkp in (p, q):
        node.groups.add_pkp(alice, g.id, pkp.id)
    node.groups.remove_pkp(alice, g.id, q.id)
    node.groups.add_action(alice, g.id, y.cid)
    node.groups.remove_action(alice, g.id, y.hash)
    node.groups.remove_pkp(alice, g.id, p.id)
    node.groups.remove_action(alice, g.id, x.hash)
    node.groups.add_pkp(alice, g.id, p.id)
    node.groups.add_action(alice, g.id, x.cid)
    return g


def furnished(node: Node) -> Furnished:
    """The account, through every kind of write. No list is in the order of its labels."""
    alice = node.accounts.new().key
    p, q = node.pkps.create_several(alice, 2)
    x, y = (node.actions.prepared(mark=mark) for mark in "xy")
    z = node.actions.sample_cid("z")
    g, removed = furnished_group(node, alice, [p, q], x, y), node.groups.add(alice, "removed")
    for cid in (z, x.cid, y.cid):  # what is added last stays
        node.actions.add(alice, cid)
    relabelled(node, "update_action_metadata", alice, hashed_cid=x.hash)
    node.actions.delete(alice, hashed_cid(z))
    executes = Permissions(execute_in_groups=[g.id])
    key = node.usage_keys.add(alice, Permissions(True, execute_in_groups=[0]), "first")
    node.usage_keys.update(alice, key.key, executes, "first")
    widely = Permissions(True, manage_ipfs_ids_in_groups=[0], execute_in_groups=[g.id, removed.id])
    wide = node.usage_keys.add(alice, widely, "second")
    relabelled(node, "update_usage_api_key_metadata", alice, usage_api_key=wide.key)
    node.groups.add(wide.key, "another", listed_to=alice)
    gone = node.usage_keys.add(alice, executes, "third")
    every = node.usage_keys.add(alice, Permissions(execute_in_groups=[0]), "fourth")
    for executing in (key, gone, every):
        node.signing.must_sign(executing.key, x, p)
    once = identities("usage keys", node.usage_keys.list(alice))
    node.usage_keys.remove(alice, gone.key)
    node.groups.remove(alice, removed.id)
    absent = {
        "groups": {printed(removed.listed_id)},
        "usage keys": {*once} - {*identities("usage keys", node.usage_keys.list(alice))},
        "actions": {hashed_cid(z).lower()},
        "wallets of the group": {q.id.lower()},
        "actions of the group": {y.hash.lower()},
    }
    return Furnished(alice, p, q, x, y, z, g, key.key, wide.key, every.key, gone.key, absent)


def grants(item: object) -> set[str]:
    """The permissions of a usage key as a list shows them, one by one."""
    fields = {field: member(item, field) for field in PERMISSIONS}
    single = {f"{field} {printed(one)}" for field, value in fields.items() if isinstance(value, list) for one in value}
    return single | {field for field, value in fields.items() if value is True}


def permissions(records: Records) -> dict[str, list[str]]:
    """The permissions of each usage key."""
    return {name: sorted(grants(item)) for name, item in identities("usage keys", records["usage keys"]).items()}


def keeps(judge: Judge, one: Furnished, before: Records, after: Records) -> None:
    """The lists hold the same items, in the same order, with the same labels and permissions."""
    for what, kept in LISTS.items():
        was, now = (identities(what, records[what]) for records in (before, after))
        both = [name for name in was if name in now]
        with judge.apart(kept.there):
            judge.same([name for name in was if name not in now], [], f"the {what} that are lost after the restart")
        if kept.gone:
            back = [name for name in now if name in one.removed[what] and name not in was]
            with judge.apart(kept.gone):
                judge.same(back, [], f"the removed {what} that are there again after the restart")
        with judge.apart("LIST-010" if what == "groups" else "LIST-120"):
            judge.same([name for name in now if name in was], both, f"the order of {what}")
        for label, requirement in (("name", kept.name), ("description", kept.description)):
            if requirement:
                got, expected = ([printed(member(of[name], label)) for name in both] for of in (now, was))
                with judge.apart(requirement):
                    judge.same(got, expected, f"the {label} of each of the {what}")
    had, have = permissions(before), permissions(after)
    for requirement, of, than, what in (("KEYLIFE-020", had, have, "lost"), ("KEYLIFE-030", have, had, "gained")):
        changed = [sorted({*of[name]} - {*than[name]}) for name in had if name in have]
        with judge.apart(requirement):
            judge.same([*filter(None, changed)], [], f"the permissions that usage keys have {what}")


def signed(
    judge: Judge, node: Node, key: UsageKey, x: ActionCode, p: Pkp, requirement: str, credit: int = 0
) -> Accepted:
    """A run that the requirement permits, signed by the wallet's own key, and paid by the account's credit if any."""
    answer = node.session.send(node.signing.request(key, x, p))
    if credit > 0 and answer.status == NOT_PAID:
        with judge("BILL-320"):
            judge.that(False, f"a run that the {credit} cents of the admin wallet pay", answer.summary)
    with judge(requirement):
        accepted = node.runs.succeeded(answer).accepted
    with judge.apart("PKP-100"):
        node.signing.signed(answer, p)
    return accepted


def signs_as_before(judge: Judge, node: Node, one: Furnished) -> Accepted:
    """The usage key still runs the action with the wallet, whose key is the same; the removed one does not.

    The accepted run.
    """
    control = signed(judge, node, one.key, one.x, one.p, "EXEC-010")
    signed(judge, node, one.every, one.x, one.p, "UKEY-280")
    with judge.apart("KEYLIFE-080"):
        node.signing.must_be_refused(one.removed_key, one.x, one.p, control=control, classes=["any"])
    return control


def goes_on(judge: Judge, node: Node, one: Furnished) -> tuple[GroupId, ActionCode]:
    """What is made now is new, what was removed may come again, and nobody may do more or less than before.

    The newest group, and the action in it.
    """
    groups = unchanged_list(node.session, "list_groups", one.alice)
    with judge("KEYLIFE-070"):
        _, control = node.session.accept(node.groups.creation(one.wide))
    with judge.apart("KEYLIFE-030"):
        must_refuse(node.session, node.groups.creation(one.key), ["any"], control=control, unchanged=[groups])
    made = printed(member(node.session.accept(node.pkps.creation(one.alice))[0].value, "wallet_address")).lower()
    with judge.apart("PKP-110"):
        judge.that(made not in {one.p.address.lower(), one.q.address.lower()}, "a wallet that is new", made)
    with judge.apart("EP-280"):
        node.actions.add(one.alice, one.z)
    return runs_as_before(judge, node, one)


def runs_as_before(judge: Judge, node: Node, one: Furnished) -> tuple[GroupId, ActionCode]:
    """Keys run nothing in a group that is made now, but for the one of all groups, and nothing that left their own.

    That group, and its action.
    """
    other = node.actions.prepared(mark="other")
    made = node.groups.add(one.alice, "fourth", pkp_ids=[one.p.id])
    with judge("UKEY-120"):
        node.groups.add_action(one.wide, made.id, other.cid)
    control = signed(judge, node, one.every, other, one.p, "UKEY-280")
    for requirement, key, action, pkp in (
        ("GRPLIFE-120", one.wide, other, one.p),
        ("KEYLIFE-030", one.key, other, one.p),
        ("EP-220", one.key, one.x, one.q),
        ("EP-210", one.key, one.y, one.p),
    ):
        with judge.apart(requirement):
            node.signing.must_be_refused(key, action, pkp, control=control, classes=["any"])
    return made.id, other


def acknowledged_before_the_kill(node: Node, one: Furnished, action: ActionCode) -> list[Mapping[str, object]]:
    """Kill the node while it makes groups of this action and P; the ids and names of those that it has acknowledged."""
    lists: dict[str, object] = {"pkp_ids_permitted": [one.p.id], "cid_hashes_permitted": [action.hash]}
    writes = [node.groups.creation(one.alice, f"at once {number}").changed(**lists) for number in range(AT_ONCE)]
    answers = node.restarts.kill_beside(writes)
    return [
        {
            "id": member(answer.value, "group_id"),
            "name": answer.renamed.get("group_name", write.members["group_name"]),
        }
        for write, answer in zip(writes, answers, strict=True)
        if answer and answer.accepted
    ]


def is_listed(made: Mapping[str, object], groups: Sequence[object]) -> bool:
    """Whether a list has a group: by its id, or by its name where the answer did not tell the id."""
    part = "name" if made["id"] is MISSING else "id"
    shown = pluck(groups, part)
    return MISSING in shown or printed(made[part]) in map(printed, shown)


@case(
    "account-is-kept",
    requirements=[
        "EP-210",
        "EP-220",
        "EP-230",
        "EP-280",
        "EP-290",
        "EP-300",
        "EP-360",
        "EP-370",
        "GRP-020",
        "GRP-030",
        "GRPLIFE-010",
        "GRPLIFE-100",
        "KEYLIFE-010",
        "KEYLIFE-090",
        "UKEY-020",
        "UKEY-030",
        "AKEY-060",
        "CHAIN-190",
        "EXEC-010",
        "GRPLIFE-120",
        "KEYLIFE-020",
        "KEYLIFE-030",
        "KEYLIFE-070",
        "KEYLIFE-080",
        "LIST-010",
        "LIST-120",
        "PKP-100",
        "PKP-110",
        "UKEY-120",
        "UKEY-280",
    ],
    needs=NEEDS,
)
def account_is_kept(judge: Judge, node: Node) -> None:
    """Groups, wallets, actions and usage keys are the same after a restart, and what was removed stays away.

    The last write before the kill is a group, which must be there. At the end the node is killed while it makes groups,
    of which those are there that it has acknowledged, behind the older ones. None of them is the group that was the
    newest one, and was removed before a restart.
    """
    one = furnished(node)
    before = one.records(node)
    chain = node.session.call("get_node_chain_config").value
    late = printed(node.groups.add(one.alice, "late").listed_id)
    node.restarts.kill()
    with judge.apart("CHAIN-190"):
        told = {name: member(chain, name) for name in ("contract_address", "chain_id")}
        judge.members(node.session.call("get_node_chain_config").value, told, "the chain configuration after a restart")
    with judge("AKEY-060"):
        after = one.records(node)
    listed = [printed(member(item, "id")) for item in after["groups"]]
    with judge.apart("GRPLIFE-010"):
        judge.that(late in listed, f"the group {late}, made before the node was killed", listed)
    with judge.apart("LIST-010"):
        judge.that(late not in listed or listed[-1] == late, f"the group {late} at the end", listed)
    keeps(judge, one, before, after)
    signs_as_before(judge, node, one)
    newest, other = goes_on(judge, node, one)
    widely = Permissions(True, manage_ipfs_ids_in_groups=[0], execute_in_groups=[one.g.id, newest])
    node.usage_keys.update(one.alice, one.wide, widely, "second")
    node.groups.remove(one.alice, newest)
    held = permissions({"usage keys": node.usage_keys.list(one.alice)})
    node.usage_keys.rename(one.alice, one.key, "first")
    before = one.records(node)
    with judge.apart("KEYLIFE-070"):
        judge.same(permissions(before), held, "the permissions of usage keys after new labels")
    node.restarts.stop()
    with judge("AKEY-060"):
        after = one.records(node)
    keeps(judge, one, before, after)
    runs = signs_as_before(judge, node, one)
    _, control = node.session.accept(node.session.request("list_groups", one.alice))
    read = node.session.request("list_groups", one.removed_key)
    for via in ("x-api-key", "bearer"):
        with judge.apart("KEYLIFE-080"):
            must_refuse(node.session, replace(read, via=via), ["any"], control=control, unchanged=[])
    made = acknowledged_before_the_kill(node, one, other)
    with judge("AKEY-060"):
        groups = node.groups.list(one.alice)
    was, listed = ([printed(member(item, "id")) for item in items] for items in (before["groups"], groups))
    with judge.apart("LIST-010"):
        kept = [group for group in was if group in listed]
        judge.same(listed[: len(kept)], kept, "the groups from before the kill, in front of those made beside it,")
    with judge.apart("GRPLIFE-120", why="the newest group was removed before a restart, and others were made after it"):
        node.signing.must_be_refused(one.wide, other, one.p, control=runs, classes=["any"])
    with judge.apart("GRPLIFE-010"):
        lost = [group["name"] for group in made if not is_listed(group, groups)]
        judge.same(lost, [], "the groups that were acknowledged before the kill and are lost")


# ------------------------------------------------------------------------------------------------------ payments

READ = ("list_groups", "list_api_keys", "list_wallets", "list_actions")


def confirmed_or_credited(judge: Judge, node: Node, alice: ApiKey, intent: PaymentIntent, requirement: str) -> None:
    """Confirm a payment, which the node may refuse where it has credited it, by itself or before."""
    answer = node.session.send(node.payments.confirm_request(alice, intent.id))
    with judge.apart(requirement):
        was_accepted(node.session, answer, or_refused=["any", "insufficient_credit"])
    node.payments.wait_for_credit()


def credits_nothing_again(judge: Judge, node: Node, alice: ApiKey, used: Sequence[PaymentIntent]) -> None:
    """Payments that were credited are not credited again."""
    before = node.payments.balance(alice)
    for intent in used:
        confirmed_or_credited(judge, node, alice, intent, "BILL-100")
    with judge.apart("BILL-100"):
        judge.same(node.payments.balance(alice), before, "the balance after payments were confirmed again")


def cost(node: Node, alice: ApiKey, x: ActionCode) -> Mapping[str, bool]:
    """Whether a management write takes from the balance, and a run without a wallet."""
    balances = [node.payments.balance(alice)]
    node.groups.add(alice, pkp_ids=[ALL_PKPS], cid_hashes=[x.hash])
    balances.append(node.payments.balance(alice))
    node.runs.must_succeed(node.runs.request(alice, x.code))
    balances.append(node.payments.balance(alice))
    write, run = (later < earlier for earlier, later in pairwise(balances))
    return {"BILL-140": write, "BILL-180": run}


@case(
    "payments-are-kept",
    requirements=["BILL-020", "BILL-070", "BILL-100", "BILL-140", "BILL-150", "BILL-180"],
    needs=[*NEEDS, "billing", "payment_sandbox"],
)
def payments_are_kept(judge: Judge, node: Node) -> None:
    """Credit is the same after a restart, used payments are not credited again, and open ones can be confirmed.

    Two other accounts, an older one and a newer one, have the same email and no credit of that.
    """
    email = {"email": f"kept.{node.session.random.getrandbits(32):08x}@example.org"}
    _, alice, _ = (node.accounts.new(members=email, spends=False).key for _ in range(3))
    used = [node.payments.buy(alice, USUAL_CENTS)]
    first = node.payments.balance(alice)
    used.append(node.payments.buy(alice, USUAL_CENTS))
    credit = node.payments.balance(alice) - first
    judge.set_up(credit > 0, "a payment that is credited")
    x = node.actions.without_a_wallet()
    costs = cost(node, alice, x)
    paid, unpaid = node.payments.paid_intent(alice), node.payments.intend(alice)
    balance = node.payments.balance(alice)
    node.restarts.stop()
    with judge("BILL-020"):
        kept = node.payments.balance(alice)
        # A node may look by itself for payments that were made and not confirmed.
        judge.that(kept in {balance, balance + credit}, f"the balance to be {balance} after the restart", kept)
    for intent in (paid, unpaid):
        if intent is unpaid:
            node.payments.must_pay(intent)
        confirmed_or_credited(judge, node, alice, intent, "BILL-070")
        got = node.payments.balance(alice)
        with judge("BILL-070"):
            judge.that(got >= balance + credit, f"a balance of {balance + credit}, with a payment from before", got)
        with judge.apart("BILL-100"):
            judge.that(got <= balance + credit, f"a balance of {balance + credit}: the payment counts once", got)
        balance = got
        used.append(intent)
    credits_nothing_again(judge, node, alice, used)
    for requirement, took in cost(node, alice, x).items():
        with judge.apart(requirement):
            judge.same(took, costs[requirement], "whether a write or a run is billed, as before the restart")
    balance = node.payments.balance(alice)
    node.restarts.kill()
    with judge("BILL-020"):
        judge.same(node.payments.balance(alice), balance, "the balance after the node was killed")
    for listed in node.session.random.sample(READ, 2):
        node.session.call(listed, alice)
    with judge.apart("BILL-150"):
        judge.same(node.payments.balance(alice), balance, "the balance after lists were read")
    credits_nothing_again(judge, node, alice, used)


# -------------------------------------------------------------------------------------------------- signed flows


def account_by_wallet(node: Node, account: ChainSecuredAccount, key: MintedKey) -> Mapping[str, object]:
    """The contract's record of an attached usage key, and the credit of its account, by what says so."""
    found: dict[str, object] = {"UKEY-380": node.contract.view("get_usage_api_key", account.hash, key.hash)}
    if node.session.profile.offers("billing"):
        found["BILL-230"] = node.payments.balance_by(node.payments.by_wallet("balance", account.admin))
    return found


@case(
    "signed-flows-are-kept",
    requirements=[
        "BILL-230",
        "BILL-320",
        "ERR-080",
        "MINT-040",
        "MINT-120",
        "MINT-180",
        "MINT-190",
        "MODE-090",
        "MODE-110",
        "PKP-100",
        "UKEY-380",
    ],
    needs=[*NEEDS, "wallet_signed", "chain_rpc", "funded_wallet"],
    uses=[{"auth.usage_key_permission.lists": "any_key"}],
)
def signed_flows_are_kept(judge: Judge, node: Node) -> None:
    """After a kill a conversion and a usage key hold, mints can be attached, and replayed ones give something new."""
    carol = node.wallets.new("carol")
    alice = node.accounts.new().key
    p = node.pkps.create(alice)
    x = node.actions.prepared()
    g = node.groups.add(alice, pkp_ids=[ALL_PKPS], cid_hashes=[x.hash])
    key = node.usage_keys.executing_in(alice, g.id)
    node.signing.must_sign(key, x, p)
    account = node.accounts.converted(alice, carol)
    began = monotonic()
    mints = {
        "MINT-180": (node.minting.request("create_wallet_with_signature", carol), "wallet_address"),
        "MINT-190": (node.minting.request("add_usage_api_key_with_signature", carol), "usage_api_key"),
    }
    minted = {name: node.session.accept(request)[0].value for name, (request, _) in mints.items()}
    wallet, attached = node.minting.wallet(carol), node.minting.usage_key(carol)
    others = [{"wallet_address": address} for address in (p.address, *node.minting.addresses())]
    executes = Permissions(execute_in_groups=[g.id])
    early = node.minting.attached_key(account, executes)
    before = account_by_wallet(node, account, early)
    node.restarts.kill()
    judge.set_up(monotonic() - began < WINDOW_LEAVES, "a restart within the window of an envelope")
    for name, (request, what) in mints.items():
        with judge.apart(name):
            again = printed(member(node.session.accept(request)[0].value, what))
            known = [printed(member(one, what)) for one in (*minted.values(), *others)]
            judge.that(again not in known, f"another {what} than before the restart", again)
    for requirement, found in account_by_wallet(node, account, early).items():
        with judge.apart(requirement):
            judge.same(found, before[requirement], "what was there before the restart")
    credit = int(printed(before.get("BILL-230", 0)))
    signed(judge, node, early.key, x, p, "MINT-120", credit)
    signed(judge, node, key, x, p, "MODE-090", credit)
    with judge.apart("BILL-320"):
        if credit > 0:
            left = node.payments.balance_by(node.payments.by_wallet("balance", carol))
            judge.that(left < credit, f"a balance of the admin wallet below {credit} after runs", left)
    groups = unchanged_list(node.session, "list_groups", key)
    with judge.apart("MODE-110", "ERR-080"):
        request = g.accepted.changed(group_name=node.label)
        must_refuse(node.session, request, ["any"], control=g.accepted, unchanged=[groups])
    with judge("MINT-040"):
        registered = node.minting.register(account, wallet)
    named = pkp_id_in(node.pkps.list(key), wallet.address, node.session.target.profile_value(ID_RULE))
    with judge("MINT-040"):
        node.signing.must_sign(key, x, Pkp(named, wallet.address, registered))
    with judge("MINT-120"):
        node.minting.register(account, attached)
        node.minting.attach(account, attached, executes)
        node.signing.must_sign(attached.key, x, p)
