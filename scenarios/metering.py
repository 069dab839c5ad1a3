"""What calls cost: every operation of the catalogue, refused calls, calls at the same time, and calls without credit.

Specification: "What the service does" 6, "Billing", "Limits". How much a call costs is the vendor's choice; that it
costs something, or nothing, is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from pydantic import JsonValue

from conformance.cases import Judge, case
from conformance.endpoints.requests import OutgoingRequest
from conformance.profile.operations import OPERATIONS, Effect
from conformance.service import ALL_PKPS, Account, Permissions, Pkp, Refusals, unchanged_list
from conformance.service.actions import ActionCode
from conformance.service.derivations import hashed_cid
from conformance.service.lists import first_page
from conformance.service.node import Node
from conformance.service.payments import ILL_FORMED
from conformance.service.usage_keys import ALL_PERMISSIONS
from conformance.values.ids import Cents, Cid, GroupId
from conformance.values.json_values import member, printed

METERS = ("managed_accounts", "billing")
BUYS = (*METERS, "payment_sandbox")
FLOWS = (*METERS, "design_flows")
BOUGHT = {"accounts.credits": "bought"}
WRITES = tuple(
    name for name, spec in OPERATIONS.items() if spec.billed and spec.effect is Effect.WRITE and "flow_" not in name
)
"""The management writes of the catalogue."""
AT_ONCE = 8
FAR = 500
"""The number of a page that no list of a case has."""
SHORT = "billing.insufficient_credit_behaviour.write"
SHORT_OF_CREDIT: dict[str, JsonValue] = {SHORT: ["insufficient_credit", "forbidden", "conflict", "invalid"]}
"""For nodes that refuse what the credits do not cover."""


@dataclass(frozen=True)
class Things:
    """What an account has for requests to be about."""

    alice: Account
    action: ActionCode
    """It is in the group."""
    listed: Cid
    """An action that is in the group, too, and has metadata."""
    group: GroupId
    spare: GroupId
    """A group to be removed."""
    member: Pkp
    """A wallet in the group."""
    pkp: Pkp
    """A wallet in no group."""
    usage_key: str
    """It may do everything."""
    removable: str
    """A usage key to be removed."""


def things_of(node: Node, alice: Account) -> Things:
    """Make these things in an account."""
    key, action, listed = alice.key, node.actions.prepared("hello"), node.actions.sample_cid("listed")
    member_pkp, pkp = node.pkps.create_several(key, 2)
    group = node.groups.add(key, pkp_ids=[member_pkp.id], cid_hashes=[action.hash, hashed_cid(listed)])
    node.actions.add(key, listed)
    powerful, removable = (node.usage_keys.add(key, held).key for held in (ALL_PERMISSIONS, Permissions()))
    return Things(alice, action, listed, group.id, node.groups.add(key).id, member_pkp, pkp, powerful, removable)


def writes_of(node: Node, things: Things) -> dict[str, OutgoingRequest]:
    """A request of each management write, to be accepted in this order."""
    other, listed = node.actions.sample_cid("other"), hashed_cid(things.listed)
    labels: dict[str, object] = {"name": node.label, "description": "d"}
    lists: dict[str, object] = {"pkp_ids_permitted": [], "cid_hashes_permitted": []}
    nothing = Permissions().members
    members: dict[str, dict[str, object]] = {
        "add_usage_api_key": {**labels, **nothing},
        "update_usage_api_key": {"usage_api_key": things.removable, **labels, **nothing},
        "update_usage_api_key_metadata": {"usage_api_key": things.removable, **labels},
        "remove_usage_api_key": {"usage_api_key": things.removable},
        "add_group": {"group_name": node.label, "group_description": "d", **lists},
        "add_action_to_group": {"group_id": things.group, "action_ipfs_cid": other},
        "remove_action_from_group": {"group_id": things.group, "hashed_cid": listed},
        "add_pkp_to_group": {"group_id": things.group, "pkp_id": things.pkp.id},
        "remove_pkp_from_group": {"group_id": things.group, "pkp_id": things.member.id},
        "update_group": {"group_id": things.spare, **labels, **lists},
        "remove_group": {"group_id": things.spare},
        "add_action": {"action_ipfs_cid": other, **labels},
        "update_action_metadata": {"hashed_cid": listed, **labels},
        "delete_action": {"hashed_cid": listed},
    }
    key = things.alice.key
    made = {name: node.session.request(name, key, **given) for name, given in members.items()}
    return {"create_wallet": node.pkps.creation(key), **made}


def reads_of(node: Node, things: Things) -> dict[str, OutgoingRequest]:
    """A request of each read of the catalogue, with the account key, whether it needs one or not."""
    session, key = node.session, things.alice.key
    page: dict[str, object] = {"page_number": first_page(session), "page_size": 1}
    members: dict[str, dict[str, object]] = {
        "list_api_keys": page,
        "list_groups": page,
        "list_wallets": page,
        "list_wallets_in_group": {"group_id": things.group, **page},
        "list_actions": page,
        "account_exists": {},
        "balance": {},
        "get_action_ipfs_id": {"code": things.action.code + "/" * 5_000},
        "get_node_chain_config": {},
        "get_api_payers": {},
        "get_admin_api_payer": {},
    }
    return {name: session.request(name, key, **given) for name, given in members.items()}


class Meter:
    """Looks at the balance of an account after each call."""

    def __init__(self, judge: Judge, balance: Callable[[], int]) -> None:
        self._judge = judge
        self._balance = balance
        self.left = balance()

    def must_have_charged(self, call: str) -> None:
        """Raise a departure unless the balance is lower than at the last look."""
        now = self._balance()
        before, self.left = self.left, now
        self._judge.that(now < before, f"a balance below {before} after {call}", now)

    def must_be_as_it_was(self, after: str) -> None:
        """Raise a departure unless the balance is what it was at the last look."""
        before, self.left = self.left, self._balance()
        self._judge.same(self.left, before, f"the balance after {after}")


def meter_of(judge: Judge, node: Node, key: str) -> Meter:
    """A meter of an API-mode account."""
    return Meter(judge, lambda: node.payments.balance(key))


@case("each-write-is-charged", requirements=["BILL-140", "LIM-050"], needs=METERS)
def each_write_is_charged(judge: Judge, node: Node) -> None:
    """Each management write of the catalogue lowers the balance, also one that is the same as the one before."""
    things = things_of(node, node.accounts.new())
    writes = writes_of(node, things)
    judge.set_up(set(writes) == set(WRITES), "a request of each management write of the catalogue")
    meter = meter_of(judge, node, things.alice.key)
    for name, request in writes.items():
        with judge.apart("BILL-140", "LIM-050"):
            node.session.accept(request)
            meter.must_have_charged(name)
            if name.startswith("update_") and node.session.send(request).accepted:
                meter.must_have_charged(f"{name} that changes nothing")
    with judge.apart("BILL-140"):
        for _ in range(2):
            node.session.accept(writes["add_group"])
            meter.must_have_charged("the same add_group again")


@case("each-flow-write-is-charged", requirements=["BILL-140", "LIM-050"], needs=FLOWS, uses=["flows.relationship"])
def each_flow_write_is_charged(judge: Judge, node: Node) -> None:
    """The design-level spellings of management writes lower the balance as the others do."""
    things = things_of(node, node.accounts.new())
    relationship = node.session.profile.flows.relationship
    raw = node.actions.sample_cid("flow")
    cid = hashed_cid(raw) if relationship and relationship.cids == "hashed" else raw
    members: dict[str, dict[str, object]] = {
        "flow_group_actions": {"group_id": things.group, "add": [cid], "remove": []},
        "flow_create_pkp": {},
        "flow_group_pkps": {"group_id": things.group, "add": [things.pkp.id]},
    }
    meter = meter_of(judge, node, things.alice.key)
    with judge("BILL-140", "LIM-050"):
        for name, given in members.items():
            node.session.call(name, things.alice.key, **given)
            meter.must_have_charged(name)


@case("each-read-is-free", requirements=["BILL-150", "LIM-050"], needs=METERS)
def each_read_is_free(judge: Judge, node: Node) -> None:
    """No list and no other read of the catalogue changes the balance, with whichever key it is asked for."""
    things = things_of(node, node.accounts.new())
    meter = meter_of(judge, node, things.alice.key)
    for name, request in reads_of(node, things).items():
        with judge.apart("BILL-150", "LIM-050"):
            node.session.accept(request)
            meter.must_be_as_it_was(name)
    with judge.apart("BILL-150", "LIM-050"):
        for request in reads_of(node, things).values():
            if "page_number" in request.members:  # a page past the end may be refused
                node.session.send(replace(request, members={**request.members, "page_number": FAR}))
        meter.must_be_as_it_was("pages past the end of each list")
    with judge.apart("BILL-150", "LIM-050"):
        for name in ("list_groups", "list_api_keys", "list_wallets", "list_actions"):
            node.session.send(replace(reads_of(node, things)[name], credential=things.usage_key))
        meter.must_be_as_it_was("the lists by a usage key")


@case("whoever-writes-is-charged", requirements=["BILL-140"], needs=METERS)
def whoever_writes_is_charged(judge: Judge, node: Node) -> None:
    """A write by a usage key is charged to its account, and a key in either header is charged alike."""
    things = things_of(node, node.accounts.new())
    meter = meter_of(judge, node, things.alice.key)
    wallet = node.pkps.creation(things.alice.key)
    with judge("BILL-140"):
        node.session.accept(replace(wallet, credential=things.usage_key))
        meter.must_have_charged("create_wallet by a usage key")
        node.session.accept(replace(wallet, via="bearer"))
        meter.must_have_charged("create_wallet with the key in Authorization")


def refused_writes(node: Node, things: Things) -> list[tuple[OutgoingRequest, Sequence[str]]]:
    """Requests of `add_group` and `remove_group` that are refused, each for another reason, with its classes."""
    add, remove = (writes_of(node, things)[name] for name in ("add_group", "remove_group"))
    powerless = node.usage_keys.add(things.alice.key).key
    removed = node.usage_keys.add(things.alice.key, ALL_PERMISSIONS).key
    node.usage_keys.remove(things.alice.key, removed)
    return [
        (replace(add, credential=powerless), ["forbidden"]),
        (replace(add, credential=removed), ["unauthenticated", "forbidden"]),
        (replace(add, members={**add.members, "group_name": 7}), ILL_FORMED),
        (replace(add, body="{"), ILL_FORMED),
        (replace(remove, members={"group_id": 2**53 - 1}), ["not_found", "forbidden"]),
    ]


@case("refused-writes-are-free", requirements=["BILL-210"], needs=METERS)
def refused_writes_are_free(judge: Judge, node: Node) -> None:
    """A management write that is refused costs nothing, whatever it is refused for."""
    things = things_of(node, node.accounts.new())
    key = things.alice.key
    controls = {
        "add_group": node.groups.add(key).accepted,
        "remove_group": node.groups.remove(key, node.groups.add(key).id),
    }
    reads = [node.payments.unchanged_balance(key)]
    for request, classes in refused_writes(node, things):
        control = controls[request.operation.name]
        with judge.apart("BILL-210"), Refusals(node.session, control=control, unchanged=reads) as refusals:
            refusals.send(request, classes)


@case("repeated-writes-cost-what-they-do", requirements=["BILL-210"], needs=METERS)
def repeated_writes_cost_what_they_do(judge: Judge, node: Node) -> None:
    """A write that finds its effect there already is free where it is refused."""
    things = things_of(node, node.accounts.new())
    writes = writes_of(node, things)
    for name in ("add_pkp_to_group", "add_action_to_group", "add_action"):
        node.session.accept(writes[name])
        before = node.payments.balance(things.alice.key)
        with judge("BILL-210"):
            answer = node.session.send(writes[name])
            if not answer.accepted:
                judge.same(node.payments.balance(things.alice.key), before, f"the balance after a refused {name}")


@case("parallel-writes-are-billed-one-by-one", requirements=["BILL-220"], needs=METERS)
def parallel_writes_are_billed_one_by_one(judge: Judge, node: Node) -> None:
    """Writes at the same time cost together what they cost one after the other."""
    alice = node.accounts.new()
    start = node.payments.balance(alice.key)
    request = node.groups.add(alice.key).accepted.request
    price = start - node.payments.balance(alice.key)
    judge.set_up(price > 0 and request is not None, "a write that costs something")
    before = node.payments.balance(alice.key)
    with judge("BILL-220"):
        accepted = accepted_at_once(node, [request] * AT_ONCE if request else [])
        judge.that(accepted > 0, "a write at the same time as others to be accepted", None)
        left = before - price * accepted
        judge.same(node.payments.balance(alice.key), left, f"the balance after {accepted} writes at once")


def accepted_at_once(node: Node, requests: list[OutgoingRequest]) -> int:
    """How many of these requests, sent at the same time, are accepted."""
    branches = [node.session.branch(f"write {number}") for number in range(len(requests))]
    with ThreadPoolExecutor(len(requests)) as pool:
        answers = list(pool.map(lambda branch, request: branch.send(request), branches, requests))
    return sum(answer.accepted for answer in answers)


# ------------------------------------------------------------------------------------------------------------ runs


@case("runs-are-charged-in-api-mode", requirements=["BILL-180"], needs=METERS)
def runs_are_charged_in_api_mode(judge: Judge, node: Node) -> None:
    """A run lowers the balance of the account, by its own key and by a usage key."""
    things = things_of(node, node.accounts.new())
    meter = meter_of(judge, node, things.alice.key)
    for key, whose in ((things.alice.key, "the account key"), (things.usage_key, "a usage key")):
        with judge.apart("BILL-180"):
            node.runs.run(key, things.action.code)
            meter.must_have_charged(f"a run by {whose}")


@case(
    "parallel-runs-are-each-charged",
    requirements=["BILL-180"],
    needs=METERS,
    uses=["billing.charge_per_call.run_second_cents"],
)
def parallel_runs_are_each_charged(judge: Judge, node: Node) -> None:
    """Runs at the same time cost at least a started second each."""
    things = things_of(node, node.accounts.new())
    before = node.payments.balance(things.alice.key)
    second = node.session.stated("billing.charge_per_call.run_second_cents")
    with judge("BILL-180"):
        accepted = accepted_at_once(node, [node.runs.request(things.usage_key, things.action.code)] * AT_ONCE)
        judge.that(accepted > 0, "a run at the same time as others to be accepted", None)
        most = before - accepted * int(printed(second))
        left = node.payments.balance(things.alice.key)
        judge.that(left <= most, f"a balance of at most {most} after {accepted} runs at once", left)


@case("runs-are-charged-after-conversion", requirements=["BILL-320"], needs=METERS)
def runs_are_charged_after_conversion(judge: Judge, node: Node) -> None:
    """A run by a usage key of a converted account lowers the balance of its admin wallet."""
    alice, carol = node.accounts.new(), node.wallets.new("carol")
    things = things_of(node, alice)
    node.accounts.convert(alice.key, carol)
    if node.session.profile.billing.credits_after_conversion != "moved":
        node.payments.buy_by_wallet(carol)
    meter = Meter(judge, lambda: node.payments.balance_by(node.payments.by_wallet("balance", carol)))
    with judge("BILL-320"):
        node.runs.run(things.usage_key, things.action.code)
        meter.must_have_charged("a run by a usage key")


@case("runs-on-bought-credit", requirements=["BILL-190", "BILL-320"], needs=[*BUYS, "chain_rpc", "funded_wallet"])
def runs_on_bought_credit(judge: Judge, node: Node) -> None:
    """A ChainSecured account that has bought nothing runs nothing; its usage key runs on what its wallet has bought."""
    dana, action = node.accounts.by_wallet(node.wallets.new("carol")), node.actions.prepared("hello")
    node.contract.write(dana.admin, "add_group", dana.hash, node.label, "d", [ALL_PKPS], [action.hash])
    (group,) = node.contract.items("list_groups", dana.hash)
    runner = node.minting.attached_key(dana, Permissions(execute_in_groups=[int(printed(member(group, "id")))]))
    payments = node.payments

    def balance() -> int:
        return payments.balance_by(payments.by_wallet("balance", dana.admin))

    def after_buying() -> None:
        payments.buy_by_wallet(dana.admin)
        node.runs.run(runner.key, action.code)

    judge.set_up(balance() == 0, "a wallet that has bought nothing")
    reads = [payments.unchanged_balance_by(dana.admin)]
    with judge("BILL-190"), Refusals(node.session, control=after_buying, unchanged=reads) as refusals:
        refusals.send(node.runs.request(runner.key, action.code), ["insufficient_credit"])
    meter = Meter(judge, balance)
    with judge("BILL-320"):
        node.runs.run(runner.key, action.code)
        meter.must_have_charged("a run by a usage key")


@case("refused-runs-are-free", requirements=["ERR-150"], needs=METERS)
def refused_runs_are_free(judge: Judge, node: Node) -> None:
    """A run that no group permits, by a key that was removed, or whose request is malformed, costs nothing."""
    things = things_of(node, node.accounts.new())
    removed = node.usage_keys.add(things.alice.key, ALL_PERMISSIONS).key
    node.usage_keys.remove(things.alice.key, removed)
    control = node.runs.run(things.usage_key, things.action.code).accepted
    unlisted = node.runs.request(things.usage_key, node.actions.source("hello", "unlisted"))
    malformed = replace(unlisted, members={"code": 7, "jsParams": {}})
    reads = [node.payments.unchanged_balance(things.alice.key)]
    with judge("ERR-150"), Refusals(node.session, control=control, unchanged=reads) as refusals:
        refusals.send(unlisted, ["forbidden"])
        refusals.send(malformed, ILL_FORMED)
        refusals.send(node.runs.request(removed, things.action.code), ["unauthenticated", "forbidden"])


# -------------------------------------------------------------------------------------------------- without credit

SPENDS_BY = "update_usage_api_key_metadata"
"""The write with which an account comes to zero: it leaves nothing behind."""
BURST = 16
MOST_BURSTS = 75


def bought_things(judge: Judge, node: Node) -> Things:
    """What a fresh account has for requests that has bought the least that can be bought."""
    alice = node.accounts.new(spends=False)
    judge.set_up(node.payments.balance(alice.key) == 0, "a fresh account without credit")
    node.payments.buy(alice.key, Cents(500))
    return things_of(node, alice)


@case("last-cents-are-spent-once", requirements=["BILL-220"], needs=BUYS, uses=[BOUGHT])
def last_cents_are_spent_once(judge: Judge, node: Node) -> None:
    """Of many writes at the same time an account pays each that is accepted, down to its last cents."""
    things = bought_things(judge, node)
    write = writes_of(node, things)[SPENDS_BY]
    left = node.payments.balance(things.alice.key)
    node.session.accept(write)
    price = left - node.payments.balance(things.alice.key)
    judge.set_up(price > 0, "a write that costs something")
    for _ in range(MOST_BURSTS):
        before = node.payments.balance(things.alice.key)
        with judge("BILL-220"):
            accepted = accepted_at_once(node, [write] * BURST)
            left = node.payments.balance(things.alice.key)
            judge.same(left, before - price * accepted, f"the balance after {accepted} of {BURST} writes at once")
        if accepted < BURST:
            return
    judge.set_up(False, "an account that comes to the end of its credit")


def spend_all(node: Node, things: Things) -> None:
    """Write until nothing is left, several times at once."""
    request = writes_of(node, things)[SPENDS_BY]
    for _ in range(MOST_BURSTS):
        if accepted_at_once(node, [request] * BURST) < BURST:
            return


@case("without-credit", requirements=["BILL-030", "BILL-150", "BILL-190"], needs=BUYS, uses=[BOUGHT, SHORT_OF_CREDIT])
def without_credit(judge: Judge, node: Node) -> None:
    """At zero each write and run is refused without effect, each read works, and so does buying credit."""
    with judge.apart("BILL-030"):
        fresh = node.accounts.new(spends=False)
        answer = node.session.send(node.payments.intent_request(fresh.key, 500))
        judge.that(answer.accepted, "create_payment_intent to be accepted by an account without credit", answer.status)
    things = bought_things(judge, node)
    spend_all(node, things)
    at_zero(judge, node, things)


@case(
    "once-credit-is-spent",
    requirements=["BILL-030", "BILL-150", "BILL-190"],
    needs=[*BUYS, "credit_control"],
    uses=[SHORT_OF_CREDIT],
)
def once_credit_is_spent(judge: Judge, node: Node) -> None:
    """The same of an account whose credit the test control has spent."""
    alice = node.accounts.new()
    things = things_of(node, alice)
    node.accounts.spend_all(alice)
    with judge.apart("BILL-030"):
        answer = node.session.send(node.payments.intent_request(alice.key, 500))
        judge.that(answer.accepted, "create_payment_intent to be accepted by an account without credit", answer.status)
    at_zero(judge, node, things)


def at_zero(judge: Judge, node: Node, things: Things) -> None:
    """Judge what costs and what is free in an account that has spent its credit; it buys some for the control."""
    session, key = node.session, things.alice.key
    judge.set_up(node.payments.balance(key) == 0, "an account that has spent all of its credit")
    for name, request in reads_of(node, things).items():
        with judge.apart("BILL-150"):
            answer = session.send(request)
            judge.that(answer.accepted, f"{name} to be accepted without credit", answer.status)
    writes = writes_of(node, things)
    by_usage_key = replace(writes["add_group"], credential=things.usage_key)
    tried = [node.runs.request(things.usage_key, things.action.code), by_usage_key, *writes.values()]

    def with_credit() -> None:
        node.payments.buy(key, Cents(500))
        for request in tried:
            session.accept(request)

    reads = [unchanged_list(session, name, key) for name in ("list_groups", "list_wallets", "list_actions")]
    reads += [unchanged_list(session, "list_api_keys", key), node.payments.unchanged_balance(key)]
    reads += [unchanged_list(session, "list_wallets_in_group", key, group_id=things.group)]
    reads += [unchanged_list(session, "list_actions", key, group_id=things.group)]
    with judge("BILL-190"), Refusals(session, control=with_credit, unchanged=reads) as refusals:
        for request in tried:
            refusals.send(request, [printed(session.stated(SHORT))])
