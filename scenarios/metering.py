"""What calls and runs cost: every operation of the catalogue, refused calls, and calls at the same time.

Specification: "What the service does" 6, "Billing", "Limits". How much a call costs is the vendor's choice, held where
the profile states it; that it costs something, or nothing, is not.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from conformance.cases import Judge, case
from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.problems import ConnectionDropped
from conformance.profile.operations import OPERATIONS, Effect
from conformance.service import ALL_PKPS, Permissions, Refusals
from conformance.service.acceptance import must_accept
from conformance.service.admin_writes import group_named
from conformance.service.at_once import accepted_at_once, at_once, send_at_once
from conformance.service.bindings import bound, running
from conformance.service.derivations import hashed_cid
from conformance.service.node import Node
from conformance.service.refusal import DELETE_ABSENT, ILL_FORMED, REFUSAL_CLASSES, must_refuse
from conformance.service.sample_calls import SampleObjects, sample_objects, sample_reads, sample_writes
from conformance.service.usage_keys import ALL_PERMISSIONS
from conformance.values.json_values import printed

METERS = ("managed_accounts", "billing")
BUYS = (*METERS, "payment_sandbox")
FLOWS = (*METERS, "design_flows")
WRITES = tuple(
    name for name, spec in OPERATIONS.items() if spec.billed and spec.effect is Effect.WRITE and "flow_" not in name
)
"""The management writes of the catalogue."""
WRITE_CENTS = "billing.charge_per_call.management_write_cents"
RUN_CENTS = "billing.charge_per_call.run_second_cents"
RUN_LIMIT = "exec.failure_and_limits.timeout_seconds"
AT_ONCE, ROUNDS = 8, 3
ROOM = 10
"""Seconds of a run, which a busy node may need for a short one."""
FAR = 500
"""The number of a page that no list of a case has."""


class Meter:
    """Looks at the balance of an account after each call."""

    def __init__(self, judge: Judge, balance: Callable[[], int]) -> None:
        self._judge = judge
        self._balance = balance
        self.left = balance()

    def price(self) -> int:
        """By how much the balance is lower than at the last look."""
        before, self.left = self.left, self._balance()
        return before - self.left

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
    """Each management write of the catalogue lowers the balance, whoever writes, also the same as the one before.

    One of them is by a usage key that may write in every group, and one more has a query, which a node may refuse.
    """
    objects = sample_objects(node, node.accounts.new())
    writes = sample_writes(node, objects)
    judge.set_up(set(writes) == set(WRITES), "a request of each management write of the catalogue")
    meter = meter_of(judge, node, objects.alice.key)
    by_wildcard = "add_action_to_group"
    for name, request in writes.items():
        with judge.apart("BILL-140", "LIM-050"):
            if name == by_wildcard:  # that the key may write is for others to judge
                if node.session.send(replace(request, credential=objects.usage_key)).accepted:
                    meter.must_have_charged(f"{name} by a usage key with the wildcard")
                continue
            node.session.accept(request)
            meter.must_have_charged(name)
            if name.startswith("update_") and node.session.send(request).accepted:
                meter.must_have_charged(f"{name} that changes nothing")
    with judge.apart("BILL-140"):
        node.session.accept(writes["add_group"])
        meter.must_have_charged("the same add_group again")
    with judge.apart("BILL-140"):
        add = writes["add_group"]
        if node.session.send(replace(add, path=f"{add.operation.path}?x=1")).accepted:
            meter.must_have_charged("add_group with a query")
    wallet = node.pkps.creation(objects.alice.key)
    with judge.apart("BILL-140"):
        node.session.accept(replace(wallet, credential=objects.usage_key))
        meter.must_have_charged("create_wallet by a usage key")
    with judge.apart("BILL-140"):
        node.session.accept(replace(wallet, via="bearer"))
        meter.must_have_charged("create_wallet with the key in Authorization")


@case("writes-cost-what-is-stated", requirements=["BILL-170"], needs=METERS, uses=[WRITE_CENTS])
def writes_cost_what_is_stated(judge: Judge, node: Node) -> None:
    """Each management write of the catalogue costs what the profile states."""
    objects = sample_objects(node, node.accounts.new())
    writes = sample_writes(node, objects)
    left = node.payments.balance(objects.alice.key)
    price = int(printed(node.session.stated(WRITE_CENTS)))
    for name, request in writes.items():
        node.session.accept(request)
        before, left = left, node.payments.balance(objects.alice.key)
        with judge.apart("BILL-170"):
            judge.same(before - left, price, f"the price of {name} in cents")


@case("each-flow-write-is-charged", requirements=["BILL-140", "LIM-050"], needs=FLOWS, uses=["flows.relationship"])
def each_flow_write_is_charged(judge: Judge, node: Node) -> None:
    """The design-level spellings of management writes lower the balance as the others do."""
    objects = sample_objects(node, node.accounts.new())
    relationship = node.session.profile.flows.relationship
    raw = node.actions.sample_cid("flow")
    cid = hashed_cid(raw) if relationship and relationship.cids == "hashed" else raw
    members: dict[str, dict[str, object]] = {
        "flow_group_actions": {"group_id": objects.group, "add": [cid], "remove": []},
        "flow_create_pkp": {},
        "flow_group_pkps": {"group_id": objects.group, "add": [objects.pkp.id]},
    }
    meter = meter_of(judge, node, objects.alice.key)
    for name, given in members.items():
        with judge.apart("BILL-140", "LIM-050"):
            node.session.call(name, objects.alice.key, **given)
            meter.must_have_charged(name)


MANY_READS = 20
"""More of one list than an allowance of free reads would hold."""
READS_OF_EACH = 3
"""So many of each list among them."""


@case("each-read-is-free", requirements=["BILL-150", "LIM-050", "LIST-150"], needs=METERS)
def each_read_is_free(judge: Judge, node: Node) -> None:
    """No list and no other read of the catalogue changes the balance, with whichever key it is asked for."""
    objects = sample_objects(node, node.accounts.new())
    meter = meter_of(judge, node, objects.alice.key)
    reads = sample_reads(node, objects)
    reads["list_actions of a group"] = reads["list_actions"].changed(group_id=objects.group)
    paged = {name: request for name, request in reads.items() if "page_number" in request.members}
    by_usage_key = {name: replace(request, credential=objects.usage_key) for name, request in reads.items()}
    # A page past the end may be refused, and a list to a usage key.
    far = {name: replace(one, members={**one.members, "page_number": FAR}) for name, one in paged.items()}
    for kind, requests in (("", reads), (" past its end", far), (" by a usage key", by_usage_key)):
        ask = node.session.accept if requests is reads else node.session.send
        with judge.apart():
            for request in requests.values():
                ask(request)
        together = meter.price()
        for name, request in requests.items() if together else ():  # which of them costs something
            with judge.apart():
                node.session.send(request)
                meter.must_be_as_it_was(f"{name}{kind}")
        with judge.apart():
            judge.same(together, 0, f"the price of each read{kind} once, in cents")
    for method in ("HEAD", "OPTIONS"):
        with suppress(ConnectionDropped):  # a server may know neither
            node.session.send(replace(reads["list_groups"], method=method))
    with judge.apart():
        for number in node.session.some(range(MANY_READS)):
            for request in paged.values() if number < READS_OF_EACH else [reads["list_groups"]]:
                node.session.accept(request)
        meter.must_be_as_it_was("HEAD and OPTIONS of a list, and all lists again and again")


def refused_writes(node: Node, objects: SampleObjects) -> list[tuple[OutgoingRequest, Sequence[str]]]:
    """Requests of `add_group` and `remove_group` that are refused, each for another reason, with its classes."""
    add, remove = (sample_writes(node, objects)[name] for name in ("add_group", "remove_group"))
    powerless = node.usage_keys.add(objects.alice.key).key
    removed = node.usage_keys.add(objects.alice.key, ALL_PERMISSIONS).key
    node.usage_keys.remove(objects.alice.key, removed)
    refused: list[tuple[OutgoingRequest, Sequence[str]]] = [
        (replace(add, credential=powerless), ["forbidden"]),
        (replace(add, credential=removed), ["unauthenticated", "forbidden"]),
        (replace(add, members={**add.members, "group_name": 7}), ILL_FORMED),
        (replace(add, body="{"), ILL_FORMED),
    ]
    if node.session.target.profile_value(DELETE_ABSENT) in REFUSAL_CLASSES:  # one that is accepted may cost something
        refused.append((replace(remove, members={"group_id": 2**53 - 1}), ["not_found", "forbidden"]))
    return refused


@case("refused-writes-are-free", requirements=["BILL-210"], needs=METERS)
def refused_writes_are_free(judge: Judge, node: Node) -> None:
    """A management write that is refused costs nothing, whatever it is refused for, such as an effect that is there."""
    objects = sample_objects(node, node.accounts.new())
    key = objects.alice.key
    controls = {
        "add_group": node.groups.add(key).accepted,
        "remove_group": node.groups.remove(key, node.groups.add(key).id),
    }
    reads = [node.payments.unchanged_balance(key)]
    for request, classes in refused_writes(node, objects):
        control = controls[request.operation.name]
        with judge.apart("BILL-210"), Refusals(node.session, control=control, unchanged=reads) as refusals:
            refusals.send(request, [*classes, "any"])
    writes = sample_writes(node, objects)
    repeated = ("add_pkp_to_group", "add_action_to_group", "add_action")
    for name in repeated:
        node.session.accept(writes[name])
    before = node.payments.balance(key)
    for name in repeated:
        accepted = node.session.send(writes[name]).accepted  # as it may be: its effect is there
        former, before = before, node.payments.balance(key)
        with judge.apart("BILL-210"):
            if not accepted:
                judge.same(before, former, f"the balance after a refused {name}")


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
        accepted = accepted_at_once(node.session, [request] * AT_ONCE if request else [])
        judge.that(accepted > 0, "a write at the same time as others to be accepted", None)
        left = before - price * accepted
        judge.same(node.payments.balance(alice.key), left, f"the balance after {accepted} writes at once")


@case("payments-beside-writes-are-credited", requirements=["BILL-070"], needs=BUYS)
def payments_beside_writes_are_credited(judge: Judge, node: Node) -> None:
    """A payment that is confirmed while writes are charged adds its credit, and they cost what they cost."""
    owner = node.accounts.new().key
    credit, start = node.payments.usual_credit(owner), node.payments.balance(owner)
    write = node.groups.creation(owner)
    node.session.accept(write)
    price = start - node.payments.balance(owner)
    for _ in range(ROUNDS):
        intent = node.payments.paid_intent(owner)
        before = node.payments.balance(owner)
        confirmation = node.payments.confirm_request(owner, intent.id)
        confirmed, *written = send_at_once(node.session, [confirmation, *[write] * AT_ONCE])
        accepted = sum(answer.accepted for answer in written)
        node.payments.wait_for_credit()
        with judge():
            must_accept(confirmed)
            left = before + credit - price * accepted
            judge.same(node.payments.balance(owner), left, f"the balance after a payment beside {accepted} writes")


# ------------------------------------------------------------------------------------------------------------ runs


@case("runs-are-charged-and-refused-ones-are-not", requirements=["BILL-180", "ERR-150"], needs=METERS)
def runs_are_charged_and_refused_ones_are_not(judge: Judge, node: Node) -> None:
    """A run by the account key or a usage key lowers the balance of the account, and one that is refused does not.

    Refused are a run that no group permits, one by a key that was removed, and a malformed request.
    """
    objects = sample_objects(node, node.accounts.new())
    removed = node.usage_keys.add(objects.alice.key, ALL_PERMISSIONS).key
    node.usage_keys.remove(objects.alice.key, removed)
    meter = meter_of(judge, node, objects.alice.key)
    for key in running(node, objects.alice.key, objects.usage_key):
        control = node.runs.run(key, objects.action.code).accepted
        whose = "the account key" if key == objects.alice.key else "a usage key"
        with judge.apart("BILL-180"):
            meter.must_have_charged(f"a run by {whose}")
    unlisted = node.runs.request(objects.usage_key, node.actions.source("hello", "unlisted"))
    malformed = replace(unlisted, members={"code": 7, "jsParams": {}})
    reads = [node.payments.unchanged_balance(objects.alice.key)]
    with judge("ERR-150"), Refusals(node.session, control=control, unchanged=reads) as refusals:
        for request in (unlisted, malformed, node.runs.request(removed, objects.action.code)):
            refusals.send(request, ["any"])


@case("runs-cost-what-is-stated", requirements=["BILL-170"], needs=METERS, uses=[RUN_CENTS])
def runs_cost_what_is_stated(judge: Judge, node: Node) -> None:
    """A run costs what the profile states for each started second, of which it has no more than the request took."""
    objects = sample_objects(node, node.accounts.new())
    second = int(printed(node.session.stated(RUN_CENTS)))
    for key in running(node, objects.alice.key, objects.usage_key):
        before, began = node.payments.balance(objects.alice.key), time.monotonic()
        node.runs.run(key, objects.action.code)
        seconds = int(time.monotonic() - began) + 1
        price = before - node.payments.balance(objects.alice.key)
        judge.set_up(price > 0 or not second, "a run that is paid")
        with judge("BILL-170"):
            fits = price in range(second, second * seconds + 1, second) if second else price == 0
            judge.that(fits, f"a price of {second} cents for each of 1 to {seconds} seconds", price)


@case("parallel-runs-are-each-charged", requirements=["BILL-180"], needs=METERS, uses=[RUN_CENTS])
def parallel_runs_are_each_charged(judge: Judge, node: Node) -> None:
    """Runs at the same time cost at least a started second each."""
    objects = sample_objects(node, node.accounts.new())
    before = node.payments.balance(objects.alice.key)
    second = node.session.stated(RUN_CENTS)
    with judge("BILL-180"):
        accepted = accepted_at_once(node.session, [node.runs.request(objects.usage_key, objects.action.code)] * AT_ONCE)
        judge.that(accepted > 0, "a run at the same time as others to be accepted", None)
        most = before - accepted * int(printed(second))
        left = node.payments.balance(objects.alice.key)
        judge.that(left <= most, f"a balance of at most {most} after {accepted} runs at once", left)


LASTS = """
async function main(params) {
  const begun = Date.now();
  for (let i = 0; i < 1e9 && Date.now() < begun + params.milliseconds; i++);
  return Date.now() - begun;
}
"""
LONG, SHORT, LATER = 4.0, 0.001, 0.4
"""Seconds of the longer run and of a short one; when something else begins beside the longer one."""


def lasting(node: Node, owner: str, seconds: float) -> OutgoingRequest:
    """A run of a usage key that lasts so long, or half of the time limit of runs where that is less."""
    action = node.actions.of_code(LASTS)
    longest = min(seconds, float(printed(node.session.stated(RUN_LIMIT))) / 2)
    key = node.usage_keys.executing_in(owner, bound(node, owner, [node.pkps.create(owner)], [action]))
    return node.runs.request(key, action.code, params={"milliseconds": int(longest * 1000)})


@case(
    "longer-runs-are-paid-by-their-own-account",
    requirements=["BILL-180"],
    needs=METERS,
    uses=[RUN_CENTS, RUN_LIMIT],
)
def longer_runs_are_paid_by_their_own_account(judge: Judge, node: Node) -> None:
    """A short run costs no more than its own seconds while a longer run of another account goes on.

    Alone it costs its own account something, although the other one has registered the action.
    """
    second = int(printed(node.session.stated(RUN_CENTS)))
    owners = [node.accounts.new().key for _ in range(2)]
    runs = [lasting(node, owner, seconds) for owner, seconds in zip(owners, (LONG, SHORT), strict=True)]
    node.actions.add(owners[0], node.actions.of_code(LASTS).cid)
    longer, shorter = (node.session.branch(name) for name in ("longer", "shorter"))

    def timed() -> tuple[Answer, int]:
        began = time.monotonic()
        answer = shorter.send(runs[1])
        return answer, second * (int(time.monotonic() - began) + 1)

    def price(act: Callable[[], tuple[Answer, int]]) -> tuple[int, int]:
        before = node.payments.balance(owners[1])
        answer, most = act()
        node.runs.succeeded(answer)
        return before - node.payments.balance(owners[1]), most

    def beside_the_longer() -> tuple[Answer, int]:
        def later() -> tuple[Answer, int]:
            time.sleep(LATER)
            return timed()

        both: list[Callable[[], tuple[Answer, int]]] = [lambda: (longer.send(runs[0]), 0), later]
        (answer, _), short = at_once(both)
        node.runs.succeeded(answer)
        return short

    alone, most = price(timed)
    with judge():
        judge.that(alone > 0 or not second, "a run that lowers the balance of its own account", alone)
    judge.set_up(0 < alone <= most, "a run that costs what its seconds cost while no other goes on")
    beside, most = price(beside_the_longer)
    with judge():
        judge.that(
            beside <= most, f"a price of no more than {most} cents beside a longer run of another account", beside
        )


@case(
    "payments-during-a-run-are-kept",
    requirements=["BILL-070", "BILL-180"],
    needs=BUYS,
    uses=[RUN_CENTS, RUN_LIMIT],
)
def payments_during_a_run_are_kept(judge: Judge, node: Node) -> None:
    """A payment that is confirmed while a run of the account goes on is credited, and stays when the run ends."""
    owner, second = node.accounts.new().key, int(printed(node.session.stated(RUN_CENTS)))
    run = lasting(node, owner, LONG)
    credit, intent = node.payments.usual_credit(owner), node.payments.paid_intent(owner)
    running, confirming = (node.session.branch(name) for name in ("running", "confirming"))

    def goes_on() -> Answer:
        return running.send(run)

    def pays() -> Answer:
        time.sleep(LATER)
        return confirming.send(node.payments.confirm_request(owner, intent.id))

    before, began = node.payments.balance(owner), time.monotonic()
    ran, confirmed = at_once([goes_on, pays])
    most = second * (int(time.monotonic() - began) + 1)
    node.runs.succeeded(ran)
    with judge("BILL-070"):
        must_accept(confirmed)
        node.payments.wait_for_credit()
        left = node.payments.balance(owner)
        least = before + credit - most
        judge.that(left >= least, f"a balance of at least {least} after a payment beside a run", left)
    with judge("BILL-180"):
        highest = before + credit - second
        judge.that(left <= highest, f"a balance of at most {highest} after a run beside a payment", left)


@case("runs-are-charged-after-conversion", requirements=["BILL-210", "BILL-320", "MODE-100"], needs=METERS)
def runs_are_charged_after_conversion(judge: Judge, node: Node) -> None:
    """A run by a usage key of a converted account lowers the balance of its admin wallet, however that was spelt.

    A refused write of the old master key does not.
    """
    alice, carol = node.accounts.new(), node.wallets.new("carol")
    objects, by_key = sample_objects(node, alice), meter_of(judge, node, alice.key)
    before, runner = by_key.left, node.usage_keys.executing_in(alice.key, objects.group)
    node.runs.run(runner, objects.action.code)
    price = before - node.payments.balance(alice.key)
    conversion = node.accounts.conversion(alice.key, carol)
    node.session.accept(conversion.changed(new_admin_wallet_address=carol.address.lower()))

    def balance() -> int:
        return node.payments.balance_by(node.payments.by_wallet("balance", carol))

    if (left := balance()) < ROOM * max(price, 1):  # the credits have stayed with the former wallet's record
        node.payments.buy_by_wallet(carol)
        left = balance()
    accepted = node.session.send(node.groups.creation(alice.key)).accepted
    meter = Meter(judge, balance)
    with judge.apart("BILL-210"):
        if not accepted:  # otherwise that is for others to judge, MODE-110
            judge.same(meter.left, left, "the balance after a write that was refused to the old master key")
    with judge(*(("BILL-320", "MODE-100") if price > 0 else ("BILL-320",))):
        node.runs.run(runner, objects.action.code)
        meter.must_have_charged("a run by a usage key")
    judge.set_up(price > 0, "a run that costs something before the conversion, too")


@case(
    "runs-on-bought-credit",
    requirements=["BILL-020", "BILL-070", "BILL-190", "BILL-320", "MINT-140", "MINT-200"],
    needs=[*BUYS, "chain_rpc", "funded_wallet"],
)
def runs_on_bought_credit(judge: Judge, node: Node) -> None:
    """A ChainSecured account that has bought nothing runs nothing; its usage key runs on what its wallet has bought.

    A further intent, which is not paid, leaves the wallet what it has. A further usage key costs the wallet nothing to
    mint, and runs nothing as long as only the half of it is attached.
    """
    dana, action = node.accounts.by_wallet(node.wallets.new("carol")), node.actions.prepared("hello")
    node.contract.write(dana.admin, "add_group", dana.hash, node.label, "d", [ALL_PKPS], [action.hash])
    executes = Permissions(execute_in_groups=[group_named(node, dana, node.label)])
    runner = node.minting.attached_key(dana, executes)
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
    before = balance()
    payments.intend_by_wallet(dana.admin)
    meter = Meter(judge, balance)
    with judge.apart("BILL-070", why="an intent that is not paid adds no credit"):
        judge.that(meter.left <= before, f"at most {before} cents", meter.left)
    with judge.apart("BILL-020", why="an intent that is not paid takes no credit away"):
        judge.that(meter.left >= before, f"at least {before} cents", meter.left)
    with judge("BILL-320"):
        run = node.runs.must_succeed(node.runs.request(runner.key, action.code))
        meter.must_have_charged("a run by a usage key")
    half = node.minting.usage_key(dana.admin)
    with judge.apart("MINT-200"):
        meter.must_be_as_it_was("a mint with the wallet's signature")
    with judge.apart("MINT-140"):
        if node.session.target.profile_value("chain.attach_order") == "any":  # otherwise it is reverted
            node.minting.attach(dana, half, executes)
            request = node.runs.request(half.key, action.code)
            must_refuse(node.session, request, ["any"], control=run.accepted, unchanged=[])
