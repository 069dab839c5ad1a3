"""Computes from the model what the lists over HTTP, the contract's views and the balance must show of an account.

Members other than the identity are compared where the profile says that lists show them. A list whose contents are not
stated is not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from conformance.drivers.model.acting import Acting
from conformance.drivers.model.world import Account, Key, World
from conformance.endpoints.requests import OutgoingRequest
from conformance.profile.operations import PERMISSION_ARRAYS, PERMISSION_FLAGS
from conformance.profile.section import Section
from conformance.profile.wire import ZERO_HASH
from conformance.profile.wire_items import ActionItem, GroupItem, UsageKeyItem, WalletItem
from conformance.service.execution_rule import ANY
from conformance.service.groups import group_id
from conformance.service.lists import list_as_read, read_list
from conformance.values.json_values import member, pluck, printed, printed_json, whole_number

LISTS = {"groups": "list_groups", "keys": "list_api_keys", "wallets": "list_wallets", "actions": "list_actions"}
"""The lists of an account, by what is in them."""
CHAIN = "chain "
"""The prefix of the names of the contract's views, among those that are read of a fresh account."""
ON_CHAIN = {
    "groups": "list_groups",
    "keys": "list_usage_api_keys",
    "wallets": "list_wallets",
    "actions": "list_actions",
}
"""The contract's views of the same."""
ANY_KEY = "any_key"

Before = Mapping[str, Sequence[object]]
"""The items of an account's lists and views at the beginning, since they need not be empty."""
F = TypeVar("F", bound=Section)
OF_KEYS = ("description", *PERMISSION_FLAGS, *PERMISSION_ARRAYS)
"""What is compared of a usage key beside its name."""


@dataclass(frozen=True)
class Check:
    """A comparison of a part of what was read."""

    expected: str
    part: Callable[[object], object]
    holds: Callable[[object], bool]
    """Whether this part is as expected."""
    aspect: str
    """One of: existence, order, name, description, labels, fields, members, granted, refused, credit."""
    subject: str = ""
    """The model's name of the only object that it is about."""


@dataclass(frozen=True)
class Look:
    """A reading with its comparisons."""

    account: str
    what: str
    """One of: groups, keys, wallets, actions, wallets of a group, actions of a group, permission, balance."""
    read: Callable[[], object]
    checks: tuple[Check, ...]
    subject: str = ""
    """The group whose list it is."""
    on_chain: bool = False
    """Whether the contract is asked."""
    request: OutgoingRequest | None = None
    """What asks for the pages of a list over HTTP."""


class Views:
    """What must be read of the accounts of one sequence."""

    def __init__(self, acting: Acting, before: Mapping[str, Before], *, chain: bool) -> None:
        profile = acting.session.profile
        fields = profile.wire.list_items.fields
        self._acting = acting
        self._before = before
        self._chain = chain
        self._group = profile.wire.list_groups.item_fields or GroupItem(name=None, description=None)
        self._key = fields.usage_key if fields else _bare(UsageKeyItem)
        self._wallet = fields.wallet if fields else _bare(WalletItem)
        self._action = fields.action if fields else _bare(ActionItem)
        self._semantics = profile.semantics
        self._permitted = profile.auth.usage_key_permission
        self._abi = profile.chain.abi.account

    # --------------------------------------------------------------------------------------------------- over HTTP

    def of(self, account: Account) -> Iterator[Look]:
        """The readings of an account's lists, by its key or else by one of its usage keys."""
        reader = self._reader(account)
        if reader is None:
            return
        yield self._look(account, "groups", reader, self._groups(account))
        if account.managed or self._permitted.list_api_keys == ANY_KEY:
            yield self._look(account, "keys", reader, self._keys(account))
        yield self._look(account, "wallets", reader, self._wallets(account))
        yield self._look(account, "actions", reader, self._actions(account))
        for name in account.groups:
            yield from self.inside(account, name)

    def _reader(self, account: Account) -> str | None:
        """The name of a key that reads the lists. None: there is none, or nothing says that it may."""
        if account.managed:
            return account.name
        usable = [name for name, key in account.live_keys().items() if not key.expired]
        return usable[0] if usable and self._permitted.lists == ANY_KEY else None

    def _look(self, account: Account, what: str, reader: str, checks: Iterable[Check]) -> Look:
        request = self._acting.session.request(LISTS[what], self._acting.key(reader))
        return Look(account.name, what, self._reading(request), tuple(checks), request=request)

    def _reading(self, request: OutgoingRequest) -> Callable[[], object]:
        session = self._acting.session
        return lambda: session.recent_reads.ask(list_as_read(session, request))

    def _was(self, account: Account, what: str) -> Sequence[object]:
        return self._before[account.name].get(what, ())

    def _groups(self, account: Account) -> Iterator[Check]:
        ids = [*map(group_id, pluck(self._was(account, "groups"), "id"))]
        ids += [self._acting.groups[name] for name in account.groups]
        yield _same_items("the groups", "id", ids, group_id)
        yield Check(
            f"the groups in the order {printed_json(ids)}", _ids("id", group_id), lambda got: got == ids, "order"
        )
        members = (("name", self._group.name), ("description", self._group.description))
        yield from self._of_groups(account, [member for member, wire in members if wire is not None])

    def _of_groups(self, account: Account, members: Sequence[str]) -> Iterator[Check]:
        for name, group in account.groups.items():
            number, labels = self._acting.groups[name], self._labels(group.label)
            for label in members:
                own = _of_item("id", number, group_id)
                yield _equal(f"the {label} of the group {number}", _then(own, label), labels[label], label, name)

    def _labels(self, label: str) -> dict[str, str]:
        return {"name": self._acting.name_text(label), "description": self._acting.description_text(label)}

    def _keys(self, account: Account) -> Iterator[Check]:
        keys, there = account.live_keys(), self._was(account, "keys")
        if self._key.name is None:
            count = len(there) + len(keys)
            yield _equal("the number of usage keys", lambda seen: len(_items(seen)), count, "existence")
            return
        names = [*pluck(there, "name"), *(self._labels(key.label)["name"] for key in keys.values())]
        yield _same_items("the usage keys", "name", names)
        yield from self._of_keys(keys, {one: one for one in OF_KEYS if getattr(self._key, one) is not None})

    def _of_keys(self, keys: Mapping[str, Key], members: Mapping[str, str]) -> Iterator[Check]:
        """Comparisons of these members, each with its name in what is read."""
        for name, key in keys.items():
            labels = self._labels(key.label)
            for member_name, wire in members.items():
                part = _then(_of_item("name", labels["name"]), wire)
                words = f"{member_name} of the usage key {printed_json(labels['name'])}"
                if member_name in PERMISSION_ARRAYS:
                    yield self._array(words, key, member_name, part, name)
                elif member_name in PERMISSION_FLAGS:
                    yield _equal(words, part, member_name in key.permissions.switches, "fields", name)
                else:
                    yield _equal(words, part, labels["description"], "description", name)

    def _array(self, words: str, key: Key, array: str, part: Callable[[object], object], name: str) -> Check:
        """A permission array, which may still show groups that were removed."""
        ids = [0 if group == ANY else self._acting.groups[group] for group in key.permissions.groups(array)]
        gone = [self._acting.groups[group] for group in sorted(key.lingering.get(array, ()))]

        def holds(got: object) -> bool:
            shown = [*map(_number, got)] if isinstance(got, list) else [None]
            own = [one for one in shown if one not in gone]
            return sorted(map(printed, own)) == sorted(map(printed, ids))

        lingers = f", or removed ones of {printed_json(gone)} beside" if gone else ""
        return Check(f"{words} to be {printed_json(ids)}{lingers}", part, holds, "fields", name)

    def _wallets(self, account: Account) -> Iterator[Check]:
        own = [self._acting.wallets[name] for name in account.wallets]
        name = "wallet_address" if self._wallet.wallet_address else "id"
        values = [wallet.address if name == "wallet_address" else wallet.id for wallet in own]
        if self._shows_wallets_of_keys(account):
            yield from (_among("the wallets", name, value) for value in values)  # others may be listed beside
            return
        yield _same_hexes("the wallets", name, [*pluck(self._was(account, "wallets"), name), *values])

    def _shows_wallets_of_keys(self, account: Account) -> bool:
        """Whether wallets of usage keys may stand beside the others."""
        minted = not account.managed and self._semantics.usage_key_wallet_listed is not False
        return minted or self._semantics.managed_key_wallet_listed is not False

    def _actions(self, account: Account) -> Iterator[Check]:
        stated = self._semantics.list_actions_unregistered
        hashes = [self._acting.actions[name].hash for name in account.actions]
        if stated is not None and stated.account_list == "absent":
            there = pluck(self._was(account, "actions"), "hashed_cid")
            yield _same_hexes("the actions", "hashed_cid", [*there, *hashes])
        else:
            yield from (_among("the actions", "hashed_cid", one) for one in hashes)
        for name, label in account.actions.items():
            own = self._acting.actions[name].hash
            for text, value in self._labels(label).items():
                if getattr(self._action, text) is not None:
                    item = _of_item("hashed_cid", own, _hex)
                    yield _equal(f"the {text} of the action {own}", _then(item, text), value, "labels", name)

    def inside(self, account: Account, name: str) -> Iterator[Look]:
        """The two lists of one group."""
        reader = self._reader(account)
        group = account.groups[name]
        wallets = [self._acting.wallets[one].id for one in group.wallets if one != ANY]
        actions = [self._acting.actions[one].hash for one in group.actions if one != ANY]
        kinds = (
            ("wallets", "list_wallets_in_group", "id", wallets),
            ("actions", "list_actions", "hashed_cid", actions),
        )
        for what, operation, identity, listed in kinds if reader is not None else ():
            wildcard = ANY in getattr(group, what)
            shown = self._semantics.list_wildcard_group
            if wildcard and (shown is None or getattr(shown, what) != "zero_entry"):
                continue
            hexes: list[object] = [*listed, ZERO_HASH] if wildcard else [*listed]
            words = f"the {what} of the group {self._acting.groups[name]}"
            if what == "wallets" and self._wallet.id is None:
                number = _equal(f"the number of {words}", lambda seen: len(_items(seen)), len(hexes), "members", name)
                checks = (number,)
            else:
                checks = (_same_hexes(words, identity, hexes, "members", name),)
            key, group_number = self._acting.key(str(reader)), self._acting.groups[name]
            request = self._acting.session.request(operation, key, group_id=group_number)
            yield Look(account.name, f"{what} of a group", self._reading(request), checks, name, request=request)

    def balance(self, account: Account, cents: int) -> Look:
        """The reading of the credit that is left."""
        payments, key = self._acting.node.payments, self._acting.key(account.name)
        check = _equal("the balance", lambda seen: seen, cents, "credit")
        return Look(account.name, "balance", lambda: payments.balance(key), (check,))

    # ------------------------------------------------------------------------------------------------- the contract

    def on_chain(self, account: Account, whats: frozenset[str]) -> Iterator[Look]:
        """The readings of an account's views about these: groups, keys, wallets, actions."""
        if not self._chain or self._abi is None:
            return
        acting = self._acting
        identities: dict[str, tuple[str, list[object]]] = {
            "groups": ("id", [acting.groups[name] for name in account.groups]),
            "keys": ("name", [self._labels(key.label)["name"] for key in account.live_keys().values()]),
            "wallets": ("walletAddress", [acting.wallets[name].address for name in account.wallets]),
            "actions": ("cidHash", [acting.actions[name].hash for name in account.actions]),
        }
        for what, (identity, own) in identities.items():
            if what not in whats or getattr(self._abi, ON_CHAIN[what]) is None:
                continue
            there = pluck(self._was(account, CHAIN + what), identity)
            words = f"the {what} in the contract"
            if what == "wallets" and (not account.managed or self._shows_wallets_of_keys(account)):
                checks = [_among(words, identity, one) for one in own]  # wallets of usage keys may be listed beside
            else:
                checks = [_same_hexes(words, identity, [*there, *own])]
            yield self._view(account, what, ON_CHAIN[what], [*checks, *self._details(account, what)])

    def _details(self, account: Account, what: str) -> Iterator[Check]:
        if what == "groups":
            yield from self._of_groups(account, ["name", "description"])
        elif what == "keys":
            yield from self._of_keys(account.live_keys(), {name: _camel(name) for name in OF_KEYS})

    def inside_on_chain(self, account: Account, name: str) -> Iterator[Look]:
        """The readings of a group's two lists. The zero entry is the wildcard, as in requests."""
        group, number = account.groups[name], self._acting.groups[name]
        wallets = [self._acting.wallets[one].id for one in group.wallets if one != ANY]
        actions = [self._acting.actions[one].hash for one in group.actions if one != ANY]
        for what, function, identity, listed in (
            ("wallets", "list_wallets_in_group", "id", wallets),
            ("actions", "list_actions_in_group", "cidHash", actions),
        ):
            if not self._chain or getattr(self._abi, function) is None or ANY in getattr(group, what):
                continue
            check = _same_hexes(f"the {what} of the group {number} in the contract", identity, listed, "members", name)
            yield self._view(account, f"{what} of a group", function, [check], number, subject=name)

    def permission(self, world: World, account: Account, by: str, action: str, wallet: str) -> Iterator[Look]:
        """A reading of the contract's decision about a run, which must be the rule's."""
        if not self._chain or self._abi is None or self._abi.can_execute is None:
            return
        granted = world.decide(by, account.name, action, wallet).granted
        acting = self._acting
        arguments = (acting.hashes[by], acting.actions[action].hash, acting.wallets[wallet].id)
        words = f"the contract's answer whether {arguments[0]} may run {arguments[1]} with {arguments[2]}"
        check = _equal(words, _in("permitted"), granted, "granted" if granted else "refused", by)
        reading = self._acting.node.contract
        yield Look(account.name, "permission", lambda: reading.view("can_execute", *arguments), (check,), on_chain=True)

    def _view(
        self, account: Account, what: str, function: str, checks: Sequence[Check], *more: object, subject: str = ""
    ) -> Look:
        contract, own = self._acting.node.contract, self._acting.hashes[account.name]
        return Look(
            account.name, what, lambda: contract.items(function, own, *more), (*checks,), subject, on_chain=True
        )

    def before(self, account: Account) -> Iterator[tuple[str, Callable[[], Sequence[object]]]]:
        """The readings of a fresh account's lists and views, each after its name."""
        session, acting = self._acting.session, self._acting
        if account.managed:
            for what, operation in LISTS.items():
                key = acting.key(account.name)
                yield what, lambda operation=operation, key=key: read_list(session, operation, key)  # type: ignore[misc]
        for what, function in ON_CHAIN.items() if self._chain else ():
            if getattr(self._abi, function, None) is not None:
                own = acting.hashes[account.name]
                yield CHAIN + what, lambda function=function, own=own: acting.node.contract.items(function, own)  # type: ignore[misc]


# ------------------------------------------------------------------------------------------------------- comparisons


def _items(seen: object) -> list[object]:
    return seen if isinstance(seen, list) else []


def _as_it_is(value: object) -> object:
    return value


def _hex(value: object) -> object:
    """Hex without regard to case and 0x; anything else as it is."""
    return f"0x{value.lower().removeprefix('0x')}" if isinstance(value, str) else value


def _number(shown: object) -> object:
    """A group's id that stands as a number, a decimal text or a hex text."""
    if isinstance(shown, str):
        return int(shown, 16) if shown.startswith("0x") else whole_number(shown)
    return shown


def _ids(name: str, read: Callable[[object], object]) -> Callable[[object], object]:
    return lambda seen: [read(one) for one in pluck(_items(seen), name)]


def _in(name: str) -> Callable[[object], object]:
    return lambda seen: member(seen, name)


def _of_item(name: str, value: object, read: Callable[[object], object] = _as_it_is) -> Callable[[object], object]:
    """The item whose member has this value; None without one."""
    return lambda seen: next((one for one in _items(seen) if read(member(one, name)) == read(value)), None)


def _then(item: Callable[[object], object], name: str) -> Callable[[object], object]:
    return lambda seen: member(item(seen), name)


def _equal(words: str, part: Callable[[object], object], value: object, aspect: str, subject: str = "") -> Check:
    def holds(got: object) -> bool:
        return type(got) is type(value) and got == value

    return Check(f"{words} to be {printed_json(value)}", part, holds, aspect, subject)


def _same_items(
    words: str,
    name: str,
    values: Sequence[object],
    read: Callable[[object], object] = _as_it_is,
    aspect: str = "existence",
    subject: str = "",
) -> Check:
    """The items' members, in any order."""
    counted = Counter(printed(read(one)) for one in values)

    def holds(got: object) -> bool:
        return Counter(map(printed, _items(got))) == counted

    return Check(f"{words} to be {printed_json([*values])}", _ids(name, read), holds, aspect, subject)


def _same_hexes(words: str, name: str, values: Sequence[object], aspect: str = "existence", subject: str = "") -> Check:
    return _same_items(words, name, values, _hex, aspect, subject)


def _among(words: str, name: str, value: object) -> Check:
    def holds(got: object) -> bool:
        return _hex(value) in _items(got)

    return Check(f"{words} to include {printed_json(value)}", _ids(name, _hex), holds, "existence")


def _camel(field: str) -> str:
    first, *rest = field.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _bare(kind: type[F]) -> F:
    """Items without the members that the profile does not state."""
    return kind(**dict.fromkeys(kind.model_fields))
