"""The account of a case, with a wallet, an action, groups and a usage key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pydantic import JsonValue

from conformance.drivers.fuzz.examples import Example
from conformance.drivers.fuzz.packs import STEPS, fresh_run
from conformance.drivers.fuzz.values import REGISTERED_CID, REGISTERED_HASH
from conformance.drivers.steps.caserun import CaseRun
from conformance.drivers.steps.driver import compile_step
from conformance.endpoints.messages import Answer
from conformance.endpoints.requests import OutgoingRequest
from conformance.language.form import Members
from conformance.language.templates import CompileContext, compile_value
from conformance.profile import Auth
from conformance.service.lists import read_list
from conformance.values.json_values import MISSING, member

BEGINNING: tuple[Members, ...] = (
    {"account": "alice"},
    {"new_wallet": "wallet"},
    {
        "call": "add_action",
        "with": {"action_ipfs_cid": REGISTERED_CID, "name": "an action", "description": "registered"},
    },
    {"new_group": "group", "with": {"pkp_ids_permitted": ["${wallet.id}"], "cid_hashes_permitted": [REGISTERED_HASH]}},
    {"new_key": "key", "with": {"execute_in_groups": ["${group.id}"]}},
)
RUNS: tuple[Members, ...] = (
    {
        "new_group": "runs",
        "with": {
            "pkp_ids_permitted": ["${wallet.id}"],
            "cid_hashes_permitted": ["${profile.wire.group.cid_wildcard_form.0}"],
        },
    },
)
"""Further steps for cases that run actions. A run without a wallet may need a group with one."""
WALLETS_INSIDE, ACTIONS_INSIDE = "list_wallets_in_group of the group", "list_actions of the group"
LISTS = ("list_groups", "list_api_keys", "list_wallets", "list_actions", WALLETS_INSIDE, ACTIONS_INSIDE)
"""All lists of the account."""
OF_GROUP: Mapping[str, JsonValue] = {"group_id": "${group.id}"}
Lists = dict[str, list[object]]


class FuzzAccount:
    """An account of a case, to which generated requests go."""

    def __init__(self, run: CaseRun, context: CompileContext, name: str, *, runs: bool) -> None:
        """Create the account. Raises Departure: nothing is judged yet."""
        self.run, self._context = fresh_run(run, context, name)
        self.beginning = [*BEGINNING, *(RUNS if runs else ())]
        for number, step in enumerate(self.beginning):
            self._step(step, f"beginning[{number}]")
        self.made = 0
        """How many requests have been accepted since."""

    def _step(self, step: Members, place: str) -> None:
        compiled = compile_step(STEPS.validate_python(step), self._context, place)
        self._context.check()
        compiled.run(self.run)

    def keep(self, example: Example, answer: Answer) -> bool:
        """Let later requests name what an accepted one made. False: the answer has no id of it."""
        made = member(answer.value, example.given)
        if made is MISSING:
            return False
        self._context.define(example.made)
        self.run.scope.variables[example.made] = made
        return True

    def request(self, example: Example) -> OutgoingRequest:
        """The request, with the account's objects in place of `${…}`."""
        operation = self.run.target.operation(example.operation)
        key = None if operation.auth is Auth.NONE else self.run.account_key("alice")
        return OutgoingRequest(operation, key, members=self.filled(example.members))

    def filled(self, members: Mapping[str, JsonValue]) -> dict[str, object]:
        """Members with values in place of `${…}`."""
        value = compile_value(dict(members), self._context)(self.run.scope)
        self._context.check()
        return value if isinstance(value, dict) else {}

    def lists(self, names: Iterable[str]) -> Lists:
        """Read these lists of the account."""
        key = self.run.account_key("alice")
        by_name: Lists = {}
        for name in names:
            operation, _, of_group = name.partition(" ")
            by_name[name] = read_list(self.run, operation, key, **(self.filled(OF_GROUP) if of_group else {}))
        return by_name
