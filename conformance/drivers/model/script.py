"""Writes acts as steps of a pack. The same steps are sent to the node and shown by a replay."""

from __future__ import annotations

from typing import TypeAlias

from pydantic import JsonValue

from conformance.drivers.model.acts import ON_KEYS, Act
from conformance.drivers.model.plan import Planned
from conformance.drivers.model.world import ACTIONS, NAMES, Permissions
from conformance.profile import Profile
from conformance.profile.operations import PERMISSION_ARRAYS, PERMISSION_FLAGS
from conformance.profile.wire import ZERO_HASH
from conformance.service.execution_rule import ANY

StepData: TypeAlias = dict[str, JsonValue]
SOURCE = "sign_message"
"""The source of the action that is run."""
READS = {"key": "list_api_keys", "group": "list_groups", "wallet": "list_wallets", "action": "list_actions"}


class Script:
    """Writes steps for a node with this profile."""

    def __init__(self, profile: Profile, *, runs: bool, chain: bool) -> None:
        forms = profile.wire.group.cid_wildcard_form
        self._cid_wildcard: JsonValue = forms[0] if forms else ZERO_HASH
        self._runs = runs
        self._chain = chain

    def beginning(self, accounts: int) -> list[StepData]:
        """The steps that create the accounts and compute the actions' CIDs and hashes."""
        steps: list[StepData] = [{"account": name} for name in NAMES[:accounts]]
        for action in ACTIONS:
            steps += self._action(action)
        if self._chain:
            hashes: StepData = {f"{name}_hash": {"account_hash": f"${{{name}}}"} for name in NAMES[:accounts]}
            steps.append({"let": hashes})
        return steps

    def _action(self, action: str) -> list[StepData]:
        hashed: StepData = {"let": {f"{action}_hash": {"hashed_cid": f"${{{action}}}"}}}
        if not self._runs:
            return [{"let": {action: {"sample_cid": action}}}, hashed]
        return [
            {"let": {f"{action}_code": {"action_source": [SOURCE, f"${{label}} {action}"]}}},
            {"call": "get_action_ipfs_id", "with": {"code": f"${{{action}_code}}"}, "save": {action: "cid"}},
            hashed,
        ]

    def of(self, planned: Planned) -> list[StepData]:
        """The steps of an act: those before the request prepare it, those after it save ids."""
        act = planned.act
        call: StepData = {"call": act.operation, "id": f"act-{planned.number}", "as": _credential(act)}
        if members := self._members(act):
            call["with"] = members
        if not planned.refused:
            return [*self._before(act), call, *self._after(act, call)]
        classes = sorted({name for reason in planned.reasons for name in reason.classes})
        call["refused"] = list[JsonValue](classes)
        call["control"] = f"act-{planned.control}"
        if act.operation != "run_action":
            call["unchanged"] = [{"list": _read_of(act.operation), "as": act.account}]
        return [*self._before(act), call]

    def _members(self, act: Act) -> StepData:
        group: StepData = {"group_id": f"${{{act.group}}}"} if act.group else {}
        labels: StepData = {"name": _name(act), "description": _description(act)}
        cid: StepData = {"action_ipfs_cid": f"${{{act.action}}}"}
        hashed: StepData = {"hashed_cid": f"${{{act.action}_hash}}"}
        match act.operation:
            case "create_wallet":
                return {}
            case "add_group":
                return {"group_name": labels["name"], "group_description": labels["description"], **self._lists(act)}
            case "update_group":
                return {**group, **labels, **self._lists(act)}
            case "run_action":
                return {"code": f"${{{act.action}_code}}", "jsParams": "${params}"}
        if act.operation in {*ON_KEYS, "add_usage_api_key"}:
            return _key_members(act, labels)
        members = group if "pkp" not in act.operation else {**group, "pkp_id": _pkp(act.wallet)}
        if act.action:
            members |= cid if act.operation.startswith("add") else hashed
        return members | labels if act.operation in {"add_action", "update_action_metadata"} else members

    def _lists(self, act: Act) -> StepData:
        return {
            "pkp_ids_permitted": [_pkp(wallet) for wallet in act.wallets],
            "cid_hashes_permitted": [
                self._cid_wildcard if action == ANY else f"${{{action}_hash}}" for action in act.actions
            ],
        }

    def _before(self, act: Act) -> list[StepData]:
        if act.operation != "run_action":
            return []
        return [{"let": {"params": {"run_params": [f"${{{act.wallet}}}", {"message": _name(act)}]}}}]

    def _after(self, act: Act, call: StepData) -> list[StepData]:
        """The steps that save the ids of created objects. May add a `save` to the call."""
        made = act.makes
        match act.operation:
            case "create_wallet":
                call["save"] = {f"{made}_address": "wallet_address"}
                return [
                    {"list": "list_wallets", "as": act.account, "save": {"wallets": ""}},
                    {"let": {made: {"pkp_id_in": ["${wallets}", f"${{{made}_address}}"]}}},
                ]
            case "add_group":
                number: StepData = {"let": {f"{made}_number": {"to_integer": f"${{{made}}}"}}}
                return [{"list": "list_groups", "as": act.account, "save": {made: "-1.id"}}, number]
            case "add_usage_api_key":
                call["save"] = {made: "usage_api_key"}
                return [{"let": {f"{made}_hash": {"usage_key_hash": f"${{{made}}}"}}}] if self._chain else []
            case "run_action":
                call["save"] = {"response": "response"}
                return [
                    {"let": {"signature": {"returned": "${response}"}}},
                    {"let": {"signer": {"recover_message": [_name(act), "${signature}"]}}},
                    {"check": {"that": "${signer}", "same_hex": f"${{{act.wallet}_address}}", "why": "its own key"}},
                ]
            case _:
                return []


def _read_of(operation: str) -> str:
    """A read of a list that the operation could change."""
    return next(read for what, read in READS.items() if what in operation) if "pkp" not in operation else "list_groups"


def _credential(act: Act) -> str:
    return act.account if act.by_owner else f"${{{act.by}}}"


def name_text(label: str) -> str:
    """The name of the object that the act with this label creates or changes."""
    return f"${{label}} {label}"


def description_text(label: str) -> str:
    """The description of the object that the act with this label creates or changes."""
    return f"${{label}} described by {label}"


def _name(act: Act) -> str:
    return name_text(act.label)


def _description(act: Act) -> str:
    return description_text(act.label)


def _pkp(wallet: str) -> str:
    return ZERO_HASH if wallet == ANY else f"${{{wallet}}}"


def _key_members(act: Act, labels: StepData) -> StepData:
    members: StepData = {} if act.operation == "add_usage_api_key" else {"usage_api_key": f"${{{act.key}}}"}
    if act.operation != "remove_usage_api_key":
        members |= labels
    if act.operation in {"add_usage_api_key", "update_usage_api_key"}:
        members |= _permissions(act.permissions)
    return members


def _permissions(permissions: Permissions) -> StepData:
    members: StepData = {name: name in permissions.switches for name in PERMISSION_FLAGS}
    for name in PERMISSION_ARRAYS:
        members[name] = [0 if group == ANY else f"${{{group}}}" for group in permissions.groups(name)]
    return members
