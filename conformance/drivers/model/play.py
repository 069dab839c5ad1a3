"""Plays a plan on the node: carries out its acts, and compares the node with the model after each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from conformance.drivers.model import blame
from conformance.drivers.model.acting import Acting
from conformance.drivers.model.acts import BUYS, CONVERSION, RESTART
from conformance.drivers.model.effects import apply
from conformance.drivers.model.plan import Planned, Planner
from conformance.drivers.model.views import Before, Check, Look, Views
from conformance.drivers.model.world import ACTIONS, Account, World
from conformance.problems import Departure, Mismatch
from conformance.service.payments import BOUGHT_CENTS
from conformance.service.session import Session
from conformance.values.ids import Cents
from conformance.values.json_values import printed_json

EVERYTHING = frozenset({"groups", "keys", "wallets", "actions", "balance"})
WALLETS_INSIDE, ACTIONS_INSIDE = "wallets of a group", "actions of a group"
LISTED = {
    "add_group": frozenset({"groups", WALLETS_INSIDE, ACTIONS_INSIDE}),
    "update_group": frozenset({"groups", WALLETS_INSIDE, ACTIONS_INSIDE}),
    "remove_group": EVERYTHING,
    "add_usage_api_key": frozenset({"keys"}),
    "update_usage_api_key": frozenset({"keys"}),
    "update_usage_api_key_metadata": frozenset({"keys"}),
    "remove_usage_api_key": frozenset({"keys"}),
    "create_wallet": frozenset({"wallets"}),
    "add_action": frozenset({"actions"}),
    "update_action_metadata": frozenset({"actions"}),
    "delete_action": frozenset({"actions", ACTIONS_INSIDE}),
    "add_pkp_to_group": frozenset({WALLETS_INSIDE}),
    "remove_pkp_from_group": frozenset({WALLETS_INSIDE}),
    "add_action_to_group": frozenset({ACTIONS_INSIDE}),
    "remove_action_from_group": frozenset({ACTIONS_INSIDE}),
    BUYS: frozenset({"balance"}),
    CONVERSION: EVERYTHING | {WALLETS_INSIDE, ACTIONS_INSIDE},
}
"""The lists that an operation is about. Lists inside groups: those of its group, or all where it names none. After a
restart everything is read."""
BESIDE = 1
"""How many lists that an act is not about are read after it, in turn. At the end, all are read."""
ACTS_BETWEEN_CHAIN_LOOKS = 4
"""How many acts lie between reads of the contract's views, which cover what the last act was about. After the
transaction of an admin wallet, and at the end, all views are read."""
QUESTIONS, LAST_QUESTIONS = 1, 2
"""How many questions about an account the contract's execution rule is asked at such a time, and at the end."""
SHOWN = 1_000


@dataclass
class Failed:
    """The failure of a plan."""

    acts: int
    """How many of its acts were played."""
    problem: Departure
    what: str
    """The list or view that was wrong; empty where the answer to an act was."""
    aspect: str
    """Its wrong aspect (`Check.aspect`)."""
    requirements: blame.Ids


@dataclass
class Play:
    """One playing of one plan, on accounts of its own."""

    session: Session
    planner: Planner
    chain: bool
    credit: bool = False
    """Whether the balances are looked at: the profile states what a write costs."""
    only: str | None = None
    """Compare only this (`Failed.what`), at the end, to show a known failure. Default: everything, after each act."""
    begins_empty: bool = False
    """Whether all lists of new accounts are known to be empty."""

    def play(self, plan: tuple[Planned, ...]) -> Failed | None:
        """Play the plan until it ends or fails. Raises Inconclusive where nothing was learnt."""
        self._world = World.of(self.planner.accounts, self.planner.by_wallet)
        self._acting = Acting(self.session, runs="run_action" in self.planner.operations, chain=self.chain)
        try:
            self._begin()
        except Departure as problem:
            return Failed(0, problem, "", "", blame.ALWAYS)
        for planned in plan:
            failed = self._act(planned)
            if not planned.refused:
                apply(planned.act, self._world, self.planner.rules)
                self._note_cost(planned)
            if failed is None and self.only is None:
                failed = self._look_all(planned, self._due(planned))
            if failed:
                return failed
        last = plan[-1] if plan else None
        return self._look_all(last, (look for look in self._all() if self.only in {None, look.what}))

    def _begin(self) -> None:
        self._acting.begin(self._world)
        before: dict[str, Before] = {}
        self._views = Views(self._acting, before, chain=self.chain)
        for name, account in self._world.accounts.items():
            before[name] = {} if self.begins_empty else {what: [*read()] for what, read in self._views.before(account)}
        self.begins_empty = not any(items for lists in before.values() for items in lists.values())
        payments, accounts = self._acting.node.payments, self._world.accounts.values()
        managed = [account.name for account in accounts if account.managed] if self.credit else []
        self._cents = {name: payments.balance(self._acting.key(name)) for name in managed}

    def _act(self, planned: Planned) -> Failed | None:
        ids = blame.of_request(planned)
        try:
            answer = self._acting.ask(planned)
            ids = blame.of_effect(planned)
            if not planned.refused:
                self._acting.note(planned, answer)
        except Departure as problem:
            return Failed(planned.number, problem, "", "", ids)
        return None

    def _note_cost(self, planned: Planned) -> None:
        """Reckon what an accepted act leaves of the credit. After a conversion no key reads the balance."""
        name, operation = planned.act.account, planned.act.operation
        charges = self.session.profile.billing.charge_per_call
        if operation == CONVERSION:
            self._cents.pop(name, None)
        elif name in self._cents and operation == BUYS:
            self._cents[name] = Cents(self._cents[name] + BOUGHT_CENTS)
        elif name in self._cents and operation != RESTART and charges is not None:
            self._cents[name] = Cents(self._cents[name] - charges.management_write_cents)

    def _look_all(self, planned: Planned | None, looks: Iterable[Look]) -> Failed | None:
        for look in looks:
            failed = self._look(planned, look)
            if failed:
                return failed
        return None

    def _look(self, planned: Planned | None, look: Look) -> Failed | None:
        number = planned.number if planned else 0
        if planned:
            place = f"{look.what} in the contract" if look.on_chain else look.what
            self.session.note_tried(f"after {planned.act.operation}", place)
        try:
            seen = look.read()
        except Departure as problem:
            return Failed(number, problem, look.what, "", blame.of_view(planned, look, None))
        for check in look.checks:
            wrong = self._wrong(check, seen)
            if wrong is not None:
                return Failed(number, wrong, look.what, check.aspect, blame.of_view(planned, look, check))
        return None

    def _wrong(self, check: Check, seen: object) -> Departure | None:
        """What is wrong with the part that the comparison is about, or that it is not there to be compared."""
        try:
            got = check.part(seen)
        except Departure as problem:
            return problem
        if check.holds(got):
            return None
        return Mismatch(check.expected, printed_json(got)[:SHOWN], self.session.last_exchange)

    def _due(self, planned: Planned) -> Iterator[Look]:
        """What to compare after an act: the lists that it is about, and some that it must not change."""
        if planned.act.operation == RESTART:
            yield from self._all()
            return
        account = self._world.accounts[planned.act.account]
        about = LISTED.get(planned.act.operation, frozenset())
        group = planned.act.group or planned.act.makes
        looks = [*self._views.of(account), *self._balance(account)]
        near = [look for look in looks if look.what in about and (not group or look.subject in {"", group})]
        far = [look for look in looks if look not in near]
        start = planned.number * BESIDE
        yield from near + [far[(start + index) % len(far)] for index in range(min(BESIDE, len(far)))]
        if planned.number % ACTS_BETWEEN_CHAIN_LOOKS and not planned.sent:
            return
        yield from self._views.on_chain(account, about)
        if group in account.groups:
            yield from self._views.inside_on_chain(account, group)
        yield from self._questions(account, planned.number, QUESTIONS)

    def _balance(self, account: Account) -> Iterator[Look]:
        if account.name in self._cents:
            yield self._views.balance(account, self._cents[account.name])

    def _all(self) -> Iterator[Look]:
        for account in self._world.accounts.values():
            yield from self._views.of(account)
            yield from self._balance(account)
            yield from self._views.on_chain(account, EVERYTHING)
            for group in account.groups:
                yield from self._views.inside_on_chain(account, group)
            yield from self._questions(account, 0, LAST_QUESTIONS)

    def _questions(self, account: Account, turn: int, limit: int) -> Iterator[Look]:
        """Some questions to the contract's execution rule, in turn."""
        asking = [*([account.name] if account.managed else []), *account.live_keys()]
        every = [(by, action, wallet) for wallet in account.wallets for by in asking for action in ACTIONS]
        for index in range(min(limit, len(every))):
            by, action, wallet = every[(turn * limit + index) % len(every)]
            yield from self._views.permission(self._world, account, by, action, wallet)
