"""Observes what usage keys may do where the specification names no permission, and which of two keys counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from pydantic import JsonValue

from conformance.endpoints.canonical import number_of
from conformance.endpoints.messages import Answer
from conformance.profile.operations import PERMISSION_ARRAYS, PERMISSIONS
from conformance.survey.asking import object_of
from conformance.survey.trial import NO_PERMISSIONS, Trial

PERMISSION = "auth.usage_key_permission"
Call = Callable[[str], Answer]


def permissions(trial: Trial) -> None:
    """Try the calls without a permission field with a key that may do all, with one that may do nothing, and others."""
    if len(trial.usage_keys) < 2 or not trial.groups:
        return
    labels: dict[str, JsonValue] = {"name": trial.label, "description": trial.label}
    lists: dict[str, JsonValue] = {"pkp_ids_permitted": [], "cid_hashes_permitted": []}
    group: dict[str, JsonValue] = {"group_id": number_of(trial.groups[0]), **labels, **lists}
    powerful = trial.usage_keys[0]
    calls: dict[str, tuple[str, dict[str, JsonValue]]] = {
        "update_group": ("update_group", group),
        "key_metadata": ("update_usage_api_key_metadata", {"usage_api_key": powerful, **labels}),
    }
    if trial.hashed:
        calls["action_metadata"] = ("update_action_metadata", {"hashed_cid": trial.hashed, **labels})
    single: dict[str, str] = {}
    for name, (operation, body) in calls.items():
        _who_may(trial, name, partial(trial.post, operation, body), single)
    _prefill(trial, single)
    usage = trial.ask.get("billing/balance", trial.plain_key)
    outcome = "accepted" if usage.accepted else {401: "unauthenticated", 403: "forbidden"}.get(usage.status)
    if outcome and trial.ask.get("billing/balance", trial.key).accepted:
        trial.notes.see("auth.billing_credentials.usage_key", outcome, f"billing/balance with one: {usage.status}")


def _who_may(trial: Trial, name: str, call: Call, single: dict[str, str]) -> None:
    with_all, with_none = call(trial.usage_keys[0]), call(trial.plain_key)
    how = f"with all permissions {with_all.status}, with none {with_none.status}"
    if with_none.accepted:
        trial.notes.see(f"{PERMISSION}.{name}", "any_key", how)
    elif _is_refusal(trial, with_all):
        trial.notes.see(f"{PERMISSION}.{name}", "account_key", how)
    elif with_all.accepted:
        able = [held for held, key in _single(trial, single) if call(key).accepted]
        if len(able) == 1:
            trial.notes.see(f"{PERMISSION}.{name}", able[0], f"{how}, with {able[0]} alone accepted")


def _is_refusal(trial: Trial, answer: Answer) -> bool:
    seen = trial.notes.seen.get("errors.status_codes.forbidden")
    return seen is not None and isinstance(seen.value, list) and answer.status in seen.value


def _single(trial: Trial, made: dict[str, str]) -> Iterator[tuple[str, str]]:
    """A usage key for each permission alone."""
    for held in PERMISSIONS:
        if held not in made:
            body: dict[str, JsonValue] = {**NO_PERMISSIONS, held: [0] if held in PERMISSION_ARRAYS else True}
            key = object_of(trial.post("add_usage_api_key", {"name": held, "description": trial.label, **body})).get(
                "usage_api_key"
            )
            if not isinstance(key, str):
                continue
            trial.usage_keys.append(key)
            made[held] = key
        yield held, made[held]


def _prefill(trial: Trial, single: dict[str, str]) -> None:
    """Observe whether a key that may make groups may fill their lists, with and without the wildcard."""
    key = next((key for held, key in _single(trial, single) if held == "can_create_groups"), None)
    if key is None or not trial.add_group(f"{trial.label} empty", key).accepted:
        return
    alone = trial.add_group(f"{trial.label} filled", key, cid_hashes_permitted=[trial.all_actions()])
    with_all = trial.add_group(f"{trial.label} all", trial.usage_keys[0], cid_hashes_permitted=[trial.all_actions()])
    how = f"can_create_groups alone {alone.status}, beside the wildcard {with_all.status}"
    if alone.accepted:
        trial.notes.see("auth.add_group_prefill_by_usage_key", "accepted", how)
    elif _is_refusal(trial, alone):
        told = "wildcard_needed" if with_all.accepted else "refused"
        trial.notes.see("auth.add_group_prefill_by_usage_key", told, how)


def conflicting_headers(trial: Trial, other: str) -> None:
    """Observe whose groups are listed where the two headers carry keys of two accounts."""
    mine, theirs = (_listed(trial, key) for key in (trial.key, other))
    both = trial.ask.send("GET", trial.first_list, trial.key, authorization=f"Bearer {other}")
    bearer = trial.ask.send("GET", trial.first_list, None, authorization=f"Bearer {other}")
    if mine == theirs or not bearer.accepted:
        return
    told = "refused" if 400 <= both.status < 500 else {mine: "x_api_key_wins", theirs: "bearer_wins"}.get(both.text)
    if told:
        trial.notes.see("auth.conflicting_headers", told, f"list_groups with keys of two accounts: {both.status}")


def _listed(trial: Trial, key: str) -> str:
    return trial.ask.send("GET", trial.first_list, key).text
