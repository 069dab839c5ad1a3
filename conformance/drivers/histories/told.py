"""Tells acts, lists and states in the names of the model."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.drivers.histories.answers import Listed
from conformance.drivers.histories.state import State
from conformance.drivers.model.acting import Acting
from conformance.drivers.model.acts import Act
from conformance.drivers.model.world import Permissions
from conformance.profile.operations import PERMISSION_ARRAYS, PERMISSION_FLAGS
from conformance.service.execution_rule import ANY
from conformance.values.json_values import MISSING, member, printed

IDENTITIES = ("id", "hashed_cid", "wallet_address")
"""The members of items by which lists tell them apart; usage keys have none."""


def told_act(act: Act) -> str:
    """What an act asks for."""
    said = [text for text in (act.group, act.key, act.wallet, act.action) if text]
    if act.makes:
        said.append(act.makes)
    if act.operation in {"add_group", "update_group"}:
        said += _contents(act.wallets, act.actions)
    if act.operation in {"add_usage_api_key", "update_usage_api_key"}:
        said += _permitted(act.permissions)
    if _is_named(act):
        said.append(f"named {act.label}")
    by = "" if act.by_owner else f"{act.by}: "
    return f"{by}{act.operation} {', '.join(said)}"


def _is_named(act: Act) -> bool:
    """Whether the act gives its object a name."""
    return act.operation.startswith("update") or act.operation in {"add_group", "add_usage_api_key", "add_action"}


def told_state(state: State, account: str, names: set[str]) -> str:
    """The objects of these names in a state, or all where there are no names."""
    held = state.world.accounts[account]
    named = names or {*held.groups, *held.keys, *held.actions}
    return "; ".join(_objects(state, account, named)) or "nothing"


def _objects(state: State, account: str, names: set[str]) -> Iterator[str]:
    held = state.world.accounts[account]
    for name, group in held.groups.items():
        if name in names:
            yield ", ".join([f"{name} named {group.label}", *_contents(group.wallets, group.actions)])
    for name, key in held.live_keys().items():
        if name in names:
            yield ", ".join([f"{name} named {key.label}", *_permitted(key.permissions)])
    for name, label in held.actions.items():
        if name in names:
            yield f"{name} registered and named {label}"


def _contents(wallets: object, actions: object) -> list[str]:
    return [f"wallets {_list(wallets)}", f"actions {_list(actions)}"]


def _permitted(permissions: Permissions) -> list[str]:
    arrays = [f"{name} {_list(groups)}" for name, groups in permissions.arrays if groups]
    return [*sorted(permissions.switches), *arrays]


def _list(names: object) -> str:
    given = names if isinstance(names, list | tuple) else []
    return f"[{', '.join('all' if name == ANY else str(name) for name in given)}]"


class Names:
    """Translates what lists show into the names of the model."""

    def __init__(self, acting: Acting) -> None:
        self._forms = (acting.description_text(""), acting.name_text(""))
        values: list[tuple[object, str]] = [(number, name) for name, number in acting.groups.items()]
        values += [(value, name) for name, pkp in acting.wallets.items() for value in (pkp.id, pkp.address)]
        values += [(action.hash, name) for name, action in acting.actions.items()]
        self._names = {printed(value).lower(): name for value, name in values}

    def told(self, listed: Listed) -> str:
        """The items of a list: their names, labels and permissions."""
        return f"[{', '.join(self._item(item) for item in listed.items)}]"

    def _item(self, item: object) -> str:
        said = [self._of(member(item, name)) for name in IDENTITIES if member(item, name) is not MISSING][:1]
        name, description = (self._text(member(item, label)) for label in ("name", "description"))
        if name or description:
            said.append(
                f"named {name}" if description in {"", name} else f"named {name} and described by {description}"
            )
        said += [flag for flag in PERMISSION_FLAGS if member(item, flag) is True]
        for array in PERMISSION_ARRAYS:
            groups = member(item, array)
            if isinstance(groups, list) and groups:
                said.append(f"{array} [{', '.join(self._of(group) for group in groups)}]")
        return " ".join(said) or printed(item)

    def _of(self, value: object) -> str:
        if value == 0:
            return "all"
        return self._names.get(printed(value).lower(), printed(value))

    def _text(self, value: object) -> str:
        """The label in a name or description; the whole text where the suite did not give it."""
        text = "" if value is MISSING else printed(value)
        for form in self._forms:
            text = text.removeprefix(form)
        return text
