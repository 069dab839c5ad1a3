"""Applies accepted acts to the model ("States and transitions", "Endpoints")."""

from __future__ import annotations

from conformance.drivers.model.acts import Act
from conformance.drivers.model.ruling import ExpectedOutcomeRules
from conformance.drivers.model.world import Account, Group, Key, World


def apply(act: Act, world: World, rules: ExpectedOutcomeRules) -> None:
    """Change the world as the accepted act does."""
    account = world.accounts[act.account]
    match act.operation:
        case "create_wallet":
            account.wallets.append(act.makes)
        case "add_usage_api_key":
            account.keys[act.makes] = Key(account.name, act.label, act.permissions, expired=act.expired)
        case "update_usage_api_key" | "update_usage_api_key_metadata" | "remove_usage_api_key":
            _on_key(act, account.keys[act.key], rules)
        case "add_action" | "update_action_metadata" | "delete_action":
            _on_action(act, account, rules)
        case "convert_to_chain_secured_account":
            account.managed = False
        case "run_action" | "confirm_payment" | "restart":
            return
        case _:
            _on_groups(act, account)
    account.ever_listed.update(action for group in account.groups.values() for action in group.actions)


def _on_key(act: Act, key: Key, rules: ExpectedOutcomeRules) -> None:
    if act.operation == "remove_usage_api_key":
        key.removed = True
        return
    if act.operation == "update_usage_api_key":
        key.permissions = act.permissions
        key.lingering.clear()
        if rules.keeps_labels():
            return
    key.label = act.label


def _on_action(act: Act, account: Account, rules: ExpectedOutcomeRules) -> None:
    if act.operation != "delete_action":
        if act.operation != "add_action" or act.action not in account.actions or not rules.keeps_first():
            account.actions[act.action] = act.label
        return
    del account.actions[act.action]
    if not rules.keeps_membership():
        for group in account.groups.values():
            group.actions = [action for action in group.actions if action != act.action]


def _on_groups(act: Act, account: Account) -> None:
    match act.operation:
        case "add_group":
            account.groups[act.makes] = Group(act.label, _once(act.wallets), _once(act.actions))
        case "update_group":
            account.groups[act.group] = Group(act.label, _once(act.wallets), _once(act.actions))
        case "remove_group":
            _remove_group(act.group, account)
        case "add_pkp_to_group" | "remove_pkp_from_group":
            _move(act, account.groups[act.group].wallets, act.wallet)
        case _:
            _move(act, account.groups[act.group].actions, act.action)


def _once(items: tuple[str, ...]) -> list[str]:
    return list(dict.fromkeys(items))


def _move(act: Act, items: list[str], item: str) -> None:
    if act.operation.startswith("remove"):
        items[:] = [kept for kept in items if kept != item]
    elif item not in items:
        items.append(item)


def _remove_group(group: str, account: Account) -> None:
    del account.groups[group]
    account.gone.append(group)
    for key in account.keys.values():
        for name, groups in key.permissions.arrays:
            if group in groups:
                key.lingering.setdefault(name, set()).add(group)
        key.permissions = key.permissions.without(group)
