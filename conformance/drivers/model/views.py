"""Computes from the model what the lists over HTTP and the contract's views must show of an account.

Members other than the identity are compared where the profile says that lists show them. A list whose contents are not
stated is not compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeVar

from pydantic import JsonValue

from conformance.drivers.model.script import StepData, description_text, name_text
from conformance.drivers.model.world import Account, Key, World
from conformance.profile import Profile
from conformance.profile.chain import AccountAbi
from conformance.profile.operations import PERMISSION_ARRAYS, PERMISSION_FLAGS
from conformance.profile.section import Section
from conformance.profile.wire import ZERO_HASH
from conformance.profile.wire_items import ActionItem, GroupItem, UsageKeyItem, WalletItem
from conformance.service.execution_rule import ANY

BEFORE = ("groups", "keys", "wallets", "actions")
"""The lists that are read of a fresh account, since they need not be empty; saved as `alice_groups_before`."""
CHAIN = "chain "
"""The prefix of the names of the contract's views."""
LISTS = {"groups": "list_groups", "keys": "list_api_keys", "wallets": "list_wallets", "actions": "list_actions"}


F = TypeVar("F", bound=Section)


@dataclass(frozen=True)
class Check:
    """A comparison with a reading."""

    step: StepData
    aspect: str
    """One of: existence, order, labels, fields, members, permission."""
    subject: str = ""
    """The model's name of the only object that it is about."""


@dataclass(frozen=True)
class Look:
    """A reading with its comparisons."""

    account: str
    what: str
    """One of: groups, keys, wallets, actions, wallets of a group, actions of a group, permission."""
    reading: StepData
    checks: tuple[Check, ...]
    subject: str = ""
    """The group whose list it is."""


class Views:
    """The lists of a node with this profile."""

    def __init__(self, profile: Profile, before: dict[str, dict[str, int]]) -> None:
        fields = profile.wire.list_items.fields
        self._group = profile.wire.list_groups.item_fields or GroupItem(name=None, description=None)
        self._key = fields.usage_key if fields else _bare(UsageKeyItem)
        self._wallet = fields.wallet if fields else _bare(WalletItem)
        self._action = fields.action if fields else _bare(ActionItem)
        self._semantics = profile.semantics
        self._before = before
        """The number of items at the beginning, by account and list."""

    def of(self, account: Account) -> Iterator[Look]:
        """The readings of an account's lists."""
        yield self._groups(account)
        yield self._keys(account)
        yield self._wallets(account)
        yield self._actions(account)
        for name in account.groups:
            yield from self.inside(account, name)

    def _groups(self, account: Account) -> Look:
        there = [f"${{{account.name}_groups_before.{index}.id}}" for index in range(self._count(account, "groups"))]
        ids: list[JsonValue] = [*there, *(f"${{{name}}}" for name in account.groups)]
        checks = [
            Check(_seen(pluck="id", then={"any_order": ids}), "existence"),
            Check(_seen(pluck="id", then={"items": ids}), "order"),
        ]
        for name, group in account.groups.items():
            for member, wire, text in (
                ("name", self._group.name, name_text(group.label)),
                ("description", self._group.description, description_text(group.label)),
            ):
                if wire is not None:
                    item: StepData = {"id": f"${{{name}}}", member: text}
                    checks.append(Check(_seen(includes=item), member, name))
        return self._look(account, "groups", checks)

    def _keys(self, account: Account) -> Look:
        keys = account.live_keys()
        count = self._count(account, "keys")
        if self._key.name is None:
            checks = [Check(_seen(length=count + len(keys)), "existence")]
            return self._look(account, "keys", checks)
        names: list[JsonValue] = [f"${{{account.name}_keys_before.{index}.name}}" for index in range(count)]
        names += [name_text(key.label) for key in keys.values()]
        checks = [Check(_seen(pluck="name", then={"any_order": names}), "existence")]
        for name, key in keys.items():
            for aspect, item in self._fields(key):
                checks.append(Check(_seen(includes={"name": name_text(key.label), **item}), aspect, name))
        return self._look(account, "keys", checks)

    def _fields(self, key: Key) -> Iterator[tuple[str, StepData]]:
        if self._key.description is not None:
            yield "description", {"description": description_text(key.label)}
        for name in PERMISSION_FLAGS:
            if getattr(self._key, name) is not None:
                yield "fields", {name: name in key.permissions.switches}
        for name in PERMISSION_ARRAYS:
            if getattr(self._key, name) is not None:
                yield "fields", {name: array_matcher(key, name)}

    def _wallets(self, account: Account) -> Look:
        member, suffix = ("wallet_address", "_address") if self._wallet.wallet_address else ("id", "")
        there = self._was_there(account, "wallets", member)
        own: list[JsonValue] = [{"same_hex": f"${{{name}{suffix}}}"} for name in account.wallets]
        if self._semantics.managed_key_wallet_listed is not False:  # others may be listed beside
            return self._look(account, "wallets", [Check(_seen(includes={member: one}), "existence") for one in own])
        existence = Check(_seen(pluck=member, then={"any_order": [*there, *own]}), "existence")
        return self._look(account, "wallets", [existence])

    def _actions(self, account: Account) -> Look:
        stated = self._semantics.list_actions_unregistered
        hashes: list[JsonValue] = [{"same_hex": f"${{{name}_hash}}"} for name in account.actions]
        if stated is not None and stated.account_list == "absent":
            listed: list[JsonValue] = [*self._was_there(account, "actions", "hashed_cid"), *hashes]
            checks = [Check(_seen(pluck="hashed_cid", then={"any_order": listed}), "existence")]
        else:
            checks = [Check(_seen(pluck="hashed_cid", then={"includes": entry}), "existence") for entry in hashes]
        for name, label in account.actions.items():
            for member, text in (("name", name_text(label)), ("description", description_text(label))):
                if getattr(self._action, member) is not None:
                    item: StepData = {"hashed_cid": {"same_hex": f"${{{name}_hash}}"}, member: text}
                    checks.append(Check(_seen(includes=item), "labels", name))
        return self._look(account, "actions", checks)

    def inside(self, account: Account, name: str) -> Iterator[Look]:
        """The two lists of one group."""
        group = account.groups[name]
        wallets = [f"${{{wallet}}}" for wallet in group.wallets if wallet != ANY]
        actions = [f"${{{action}_hash}}" for action in group.actions if action != ANY]
        for what, operation, member, listed in (
            ("wallets", "list_wallets_in_group", "id", wallets),
            ("actions", "list_actions", "hashed_cid", actions),
        ):
            wildcard = ANY in getattr(group, what)
            shown = self._semantics.list_wildcard_group
            if wildcard and (shown is None or getattr(shown, what) != "zero_entry"):
                continue
            hexes = [*listed, ZERO_HASH] if wildcard else listed
            reading: StepData = {"list": operation, "as": account.name, "with": {"group_id": f"${{{name}}}"}}
            if what == "wallets" and self._wallet.id is None:
                step = _seen(length=len(hexes))
            else:
                step = _seen(pluck=member, then={"any_order": [{"same_hex": text} for text in hexes]})
            reading["save"] = {"seen": ""}
            yield Look(account.name, f"{what} of a group", reading, (Check(step, "members", name),), name)

    def _look(self, account: Account, what: str, checks: list[Check]) -> Look:
        reading: StepData = {"list": LISTS[what], "as": account.name, "save": {"seen": ""}}
        return Look(account.name, what, reading, tuple(checks))

    def _count(self, account: Account, what: str) -> int:
        return self._before[account.name].get(what, 0)

    def _was_there(self, account: Account, what: str, member: str) -> list[JsonValue]:
        count = self._count(account, what)
        return [f"${{{account.name}_{what}_before.{index}.{member}}}" for index in range(count)]


class ChainViews:
    """The contract's own views, where the chain answers and the profile gives their signatures."""

    def __init__(self, profile: Profile, before: dict[str, dict[str, int]]) -> None:
        self._abi = profile.chain.abi.account or AccountAbi()
        self._before = before

    def of(self, account: Account, whats: frozenset[str]) -> Iterator[Look]:
        """The readings of an account's views about these: groups, keys, wallets, actions."""
        for what, function, member, result, own in (
            ("groups", "list_groups", "id", "groups", [f"${{{name}_number}}" for name in account.groups]),
            ("keys", "list_usage_api_keys", "name", "usageKeys", _names_of(account)),
            ("wallets", "list_wallets", "walletAddress", "wallets", _hexes(account.wallets, "_address")),
            ("actions", "list_actions", "cidHash", "actions", _hexes(account.actions, "_hash")),
        ):
            if what not in whats or getattr(self._abi, function) is None:
                continue
            count = self._before[account.name].get(CHAIN + what, 0)
            there = [f"${{{account.name}_chain_{what}_before.{index}.{member}}}" for index in range(count)]
            checks = [Check(_seen(pluck=member, then={"any_order": [*there, *own]}), "existence")]
            checks += self._details(account, what)
            yield Look(account.name, what, _view(account, function, result), tuple(checks))

    def _details(self, account: Account, what: str) -> Iterator[Check]:
        if what == "groups":
            for name, group in account.groups.items():
                labels: StepData = {"name": name_text(group.label), "description": description_text(group.label)}
                for member, text in labels.items():
                    yield Check(_seen(includes={"id": f"${{{name}_number}}", member: text}), member, name)
        for name, key in account.live_keys().items() if what == "keys" else ():
            known: StepData = {"name": name_text(key.label)}
            yield Check(_seen(includes={**known, "description": description_text(key.label)}), "description", name)
            for field in PERMISSION_FLAGS:
                yield Check(_seen(includes={**known, _camel(field): field in key.permissions.switches}), "fields", name)
            for field in PERMISSION_ARRAYS:
                yield Check(_seen(includes={**known, _camel(field): array_matcher(key, field)}), "fields", name)

    def inside(self, account: Account, name: str) -> Iterator[Look]:
        """The readings of a group's two lists. The zero entry is the wildcard, as in requests."""
        group = account.groups[name]
        wallets = [f"${{{wallet}}}" for wallet in group.wallets]
        actions = [f"${{{action}_hash}}" for action in group.actions]
        for what, function, member, result, listed in (
            ("wallets", "list_wallets_in_group", "id", "wallets", wallets),
            ("actions", "list_actions_in_group", "cidHash", "actions", actions),
        ):
            if getattr(self._abi, function) is None or ANY in getattr(group, what):
                continue
            step = _seen(pluck=member, then={"any_order": [{"same_hex": text} for text in listed]})
            reading = _view(account, function, result, f"${{{name}_number}}")
            yield Look(account.name, f"{what} of a group", reading, (Check(step, "members", name),), name)

    def permission(self, world: World, account: Account, by: str, action: str, wallet: str) -> Iterator[Look]:
        """A reading of the contract's decision about a run, which must be the rule's."""
        if self._abi.can_execute is None:
            return
        granted = world.decide(by, account.name, action, wallet).granted
        arguments: list[JsonValue] = [f"${{{by}_hash}}", f"${{{action}_hash}}", f"${{{wallet}}}"]
        reading: StepData = {"chain": "can_execute", "with": arguments, "save": {"seen": "permitted"}}
        check = Check({"check": {"that": "${seen}", "equals": granted}}, "granted" if granted else "refused", by)
        yield Look(account.name, "permission", reading, (check,))


def reading_before(account: str, *, chain: bool, profile: Profile) -> Iterator[tuple[str, str, StepData]]:
    """The steps that read the lists of a fresh account, each after the list's name and the variable."""
    for what in BEFORE:
        variable = f"{account}_{what}_before"
        yield what, variable, {"list": LISTS[what], "as": account, "save": {variable: ""}}
    views = {"groups": "groups", "keys": "usageKeys", "wallets": "wallets", "actions": "actions"}
    functions = {**LISTS, "keys": "list_usage_api_keys"}
    for what, result in views.items() if chain else ():
        if getattr(profile.chain.abi.account, functions[what]) is not None:
            variable = f"{account}_chain_{what}_before"
            step = _view(Account(account), functions[what], result)
            yield CHAIN + what, variable, {**step, "save": {variable: result}}


def array_matcher(key: Key, name: str) -> JsonValue:
    """A matcher for a permission array, which may still show groups that were removed."""
    entries: list[JsonValue] = [0 if group == ANY else _either_form(group) for group in key.permissions.groups(name)]
    lingering = sorted(key.lingering.get(name, ()))
    if not lingering:
        return {"any_order": entries}
    every: JsonValue = {"every": {"any_of": [*entries, *(_either_form(group) for group in lingering)]}}
    if entries:
        return {"all_of": [*({"includes": entry} for entry in entries), every]}
    return {"any_of": [{"length": 0}, every]}


def _either_form(group: str) -> JsonValue:
    """A matcher for a group's id as an integer or in the form of `list_groups`."""
    return {"one_of": [f"${{{group}_number}}", f"${{{group}}}"]}


def _seen(**matcher: JsonValue) -> StepData:
    return {"check": {"that": "${seen}", **matcher}}


def _view(account: Account, function: str, result: str, *more: JsonValue) -> StepData:
    return {"chain": function, "with": [f"${{{account.name}_hash}}", *more, 0, 100], "save": {"seen": result}}


def _names_of(account: Account) -> list[JsonValue]:
    return [name_text(key.label) for key in account.live_keys().values()]


def _hexes(names: list[str] | dict[str, str], suffix: str) -> list[JsonValue]:
    return [{"same_hex": f"${{{name}{suffix}}}"} for name in names]


def _camel(field: str) -> str:
    first, *rest = field.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _bare(kind: type[F]) -> F:
    """Items without the members that the profile does not state."""
    return kind(**dict.fromkeys(kind.model_fields))
