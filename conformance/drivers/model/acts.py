"""Acts of a sequence, one request each. They are drawn as numbers whose meaning depends on the model's state.

A number without a meaning, for instance because there is no such group yet, is skipped. So any part of a sequence is
a sequence, as shrinking needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from conformance.drivers.model.world import ACTIONS, Account, Group, Permissions, World
from conformance.profile.operations import PERMISSION_ARRAYS, PERMISSION_FLAGS
from conformance.service.execution_rule import ANY

WEIGHTS = {
    "create_wallet": 1,
    "add_group": 3,
    "add_usage_api_key": 2,
    "add_pkp_to_group": 4,
    "add_action_to_group": 4,
    "remove_pkp_from_group": 3,
    "remove_action_from_group": 3,
    "update_usage_api_key": 3,
    "update_group": 3,
    "remove_group": 3,
    "run_action": 14,
    "add_action": 1,
    "update_action_metadata": 1,
    "delete_action": 1,
    "update_usage_api_key_metadata": 1,
    "remove_usage_api_key": 1,
    "confirm_payment": 1,
    "convert_to_chain_secured_account": 1,
    "restart": 1,
}
"""The operations of acts, with their relative frequency."""
CONVERSION = "convert_to_chain_secured_account"
BUYS, RESTART = "confirm_payment", "restart"
OF_ITSELF = frozenset({CONVERSION, BUYS, RESTART})
"""What names no object: the account's conversion, the purchase of credit, and a restart of the node."""
ON_KEYS = ("update_usage_api_key", "update_usage_api_key_metadata", "remove_usage_api_key")
ON_ACTIONS = ("add_action", "update_action_metadata", "delete_action")
OWNERS_ALONE = frozenset({"add_usage_api_key", "update_usage_api_key", "remove_usage_api_key"})
"""Owner-only operations ("Authentication", 9)."""
OLD_KEY_ACTS = 2
"""The drawn number of an actor with which the key of before the conversion acts; usage keys act with larger ones."""
MOST_WALLETS, MOST_GROUPS, MOST_KEYS = 3, 3, 3
"""The most objects of a kind in an account: enough for a first, a last and one between."""
EXPIRED = 7
"""The drawn number with which an admin wallet attaches a usage key that has expired."""
NO_PERMISSIONS = Permissions()


@dataclass(frozen=True)
class Drawn:
    """An act as drawn: small numbers without a meaning."""

    weight: int
    """0: the act is left out."""
    kind: int
    account: int
    by: int
    target: int
    other: int
    some: int
    more: int

    @classmethod
    def of(cls, drawn: bytes) -> Drawn:
        """Read the numbers from bytes, one each; some use only three bits."""
        weight, kind, account, by, target, other, some, more = drawn[:8]
        return cls(weight & 7, kind, account & 7, by & 7, target & 7, other & 7, some, more)


@dataclass(frozen=True)
class Act:
    """One request of the service."""

    operation: str
    account: str
    by: str
    """The name of the account where its own key acts, else the name of a usage key."""
    label: str = ""
    """A part of the act's labels that no other act has."""
    makes: str = ""
    """The name of the object that it creates."""
    group: str = ""
    key: str = ""
    wallet: str = ""
    action: str = ""
    wallets: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    permissions: Permissions = NO_PERMISSIONS
    expired: bool = False
    """Whether the usage key that it makes has expired already."""

    @property
    def by_owner(self) -> bool:
        """Whether the account key acts, or the admin wallet."""
        return self.by == self.account


def meant(drawn: Drawn, world: World, operations: Sequence[str], label: str) -> Act | None:
    """The act that these numbers mean in this state; None where they have no meaning."""
    if not drawn.weight:
        return None
    accounts = list(world.accounts.values())
    account = accounts[1 if drawn.account == 7 and len(accounts) > 1 else 0]
    kinds = [name for name in operations if _possible(name, account) for _ in range(_weight(name, account))]
    if not kinds:
        return None
    operation = kinds[drawn.kind % len(kinds)]
    by = _actor(operation, drawn, account)
    return _fill(Act(operation, account.name, by, label), drawn, account, world)


def _actor(operation: str, drawn: Drawn, account: Account) -> str:
    """Who acts: the owner, a usage key, or the key of before the conversion, which alone could convert again."""
    if operation == CONVERSION and not account.managed:
        return account.old_key
    if operation in OF_ITSELF:
        return account.name
    if not account.managed and account.had_key and drawn.by == OLD_KEY_ACTS:
        return account.old_key
    if account.keys and (drawn.by > OLD_KEY_ACTS or (operation == "run_action" and not account.managed)):
        return _pick(account.keys, drawn.by)
    return account.name


def _fill(act: Act, drawn: Drawn, account: Account, world: World) -> Act | None:
    """The act with its objects."""
    match act.operation:
        case operation if operation in OF_ITSELF:
            return act
        case "create_wallet" | "add_group" | "add_usage_api_key":
            return _making(act, drawn, account)
        case operation if operation in ON_KEYS:
            return _on_key(act, drawn, account, world)
        case operation if operation in ON_ACTIONS:
            registered = (action in account.actions for action in ACTIONS)
            return replace(act, action=_choose(ACTIONS, registered, drawn.target, expected=operation != "add_action"))
        case "run_action":
            return _run(act, drawn, account, world)
        case _:
            return _on_group(act, drawn, account, world)


def _weight(operation: str, account: Account) -> int:
    """Prefer the first wallet, group and usage key, then a conversion and restarts, before which all three matter."""
    made = {"create_wallet": account.wallets, "add_group": account.groups, "add_usage_api_key": account.keys}
    first = not made.get(operation, True)
    ready = account.wallets and account.groups and account.keys
    turns = ready and (operation == RESTART or (operation == CONVERSION and account.managed))
    return WEIGHTS[operation] * (40 if first else 16 if turns else 1)


def _possible(operation: str, account: Account) -> bool:
    """Whether the account has room for what the operation creates, or an object that it can change."""
    rooms = {
        "create_wallet": len(account.wallets) < MOST_WALLETS,
        "add_group": len(account.groups) < MOST_GROUPS,
        "add_usage_api_key": len(account.live_keys()) < MOST_KEYS,
        "run_action": bool(account.wallets) and (account.managed or bool(account.keys)),
        CONVERSION: account.had_key,
        BUYS: account.managed,
        RESTART: True,
        **dict.fromkeys(ON_ACTIONS, True),
        **dict.fromkeys(ON_KEYS, bool(account.keys)),
    }
    return rooms.get(operation, bool(account.groups))


def _pick(items: Iterable[str], number: int) -> str:
    choices = list(items)
    return choices[number % len(choices)] if choices else ""


def _choose(items: Iterable[str], has: Iterable[bool], number: int, *, expected: bool) -> str:
    """Mostly one of the items whose flag in `has` is as expected; with a high number any item."""
    every = list(items)
    fitting = [item for item, held in zip(every, has, strict=True) if held == expected]
    return _pick(fitting if fitting and number < 6 else every, number)


def _making(act: Act, drawn: Drawn, account: Account) -> Act:
    name = account.name
    if act.operation == "create_wallet":
        return replace(act, makes=f"{name}_w{len(account.wallets) + 1}")
    if act.operation == "add_usage_api_key":
        made = replace(act, makes=f"{name}_k{len(account.keys) + 1}", permissions=_permissions(drawn, account))
        return replace(made, expired=act.by_owner and not account.managed and drawn.target == EXPIRED)
    wallets, actions = _lists(drawn, account)
    return replace(
        act, makes=f"{name}_g{len(account.groups) + len(account.gone) + 1}", wallets=wallets, actions=actions
    )


def _on_key(act: Act, drawn: Drawn, account: Account, world: World) -> Act:
    others = [name for other in world.others(account.name) for name in other.keys]
    if drawn.target == 7 and others:
        named = replace(act, key=_pick(others, drawn.some))
    else:
        standing = (not key.removed for key in account.keys.values())
        named = replace(act, key=_choose(account.keys, standing, drawn.target, expected=True))
    if act.operation == "update_usage_api_key":
        return replace(named, permissions=_permissions(drawn, account))
    return named


def _on_group(act: Act, drawn: Drawn, account: Account, world: World) -> Act | None:
    groups = account.gone if drawn.target > 5 and account.gone else account.groups
    act = replace(act, group=_pick(groups, drawn.target))
    if act.operation == "update_group":
        wallets, actions = _lists(drawn, account)
        return replace(act, wallets=wallets, actions=actions)
    adds = act.operation.startswith("add")
    group = account.groups.get(act.group, Group(""))
    if "action" in act.operation:
        listed = (action in group.actions for action in ACTIONS)
        return replace(act, action=_choose(ACTIONS, listed, drawn.other, expected=not adds))
    if "pkp" in act.operation:
        wallet = _wallet(act, drawn, account, world)
        return replace(act, wallet=wallet) if wallet else None
    return act


def _run(act: Act, drawn: Drawn, account: Account, world: World) -> Act:
    """Mostly a run that the Execution rule grants, by any key that is granted one; with a high number any run."""
    owner = [account.name] if account.managed else []
    actors = [act.by] if act.by == account.old_key else [*owner, *account.keys]
    every = [(by, action, wallet) for by in actors for action in ACTIONS[:2] for wallet in account.wallets[:2]]
    granted = [run for run in every if world.decide(run[0], account.name, *run[1:]).granted]
    runs = granted if granted and drawn.target < 6 else every
    by, action, wallet = runs[drawn.some % len(runs)]
    return replace(act, by=by, action=action, wallet=wallet)


def _wallet(act: Act, drawn: Drawn, account: Account, world: World) -> str:
    if drawn.other == 7:
        others = [wallet for other in world.others(account.name) for wallet in other.wallets]
        return ANY if drawn.some & 1 else _pick(others, 0)
    group = account.groups.get(act.group, Group(""))
    listed = (wallet in group.wallets for wallet in account.wallets)
    return _choose(account.wallets, listed, drawn.other, expected="remove" in act.operation)


def _lists(drawn: Drawn, account: Account) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Most of the account's wallets and actions, without which nothing runs, sometimes with the wildcard."""
    listed, listed_actions = drawn.some | drawn.other, drawn.some >> 2 | drawn.target
    wallets = [name for index, name in enumerate(account.wallets[:2]) if listed >> index & 1]
    actions = [name for index, name in enumerate(ACTIONS[:2]) if listed_actions >> index & 1]
    if drawn.more & 7 == 7:
        wallets.append(ANY)
    if drawn.more >> 3 & 7 == 7:
        actions.append(ANY)
    return tuple(wallets), tuple(actions)


def _permissions(drawn: Drawn, account: Account) -> Permissions:
    """Permissions whose arrays hold nothing, the wildcard, one group, or all groups."""
    standing = list(account.groups)
    numbers = (drawn.more & 3, drawn.more >> 2 & 3, drawn.more >> 4 & 3, drawn.some >> 3 & 3)
    arrays = []
    for name, number in zip(PERMISSION_ARRAYS, numbers, strict=True):
        picked = (_pick(standing, drawn.other),) if standing else ()
        arrays.append((name, ((), (ANY,), picked, tuple(standing))[number]))
    switches = frozenset(name for index, name in enumerate(PERMISSION_FLAGS) if drawn.some >> index & 1)
    return Permissions(switches, tuple(arrays))
