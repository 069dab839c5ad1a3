"""Observes what an account shows when it is used: member names, lists, keys, paging."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from urllib.parse import urlencode

from pydantic import JsonValue

from conformance.endpoints.canonical import id_form, number_of
from conformance.endpoints.messages import Answer
from conformance.problems import StepProblem
from conformance.survey.asking import Asker, flat, items_of, name_of, nobodys_key, object_of, value_of
from conformance.survey.conversion import conversion
from conformance.survey.meaning import duplicates, refusals
from conformance.survey.notes import Notes
from conformance.survey.objects import actions, usage_keys, wallets
from conformance.survey.permissions import conflicting_headers, permissions
from conformance.survey.reading import METHOD_AND_PATH
from conformance.survey.runs import runs
from conformance.survey.signing import signing
from conformance.survey.trial import DESCRIPTIONS, NAMES, Trial
from conformance.values.json_text import written

CREDIT = "billing.insufficient_credit_behaviour"
ACCOUNT = "wire.new_account.fields.account_name"
"""The key in doubt where no account could be made."""
MOST_WRITES = 120
"""The most accepted writes of a survey, but for its cleaning up."""
LONGEST_STEP = 20
"""The most of one step."""
GROUPS = 5
OUT_OF_CREDIT = 402
CENTS = 100
SETTLING = 3


def try_out(ask: Asker, notes: Notes, key: str | None = None) -> None:
    """Use an account and note what it shows. Without a key, a new account is created.

    Where a connection breaks, what it was about is not observed, and the rest is.
    """
    label = f"survey {secrets.token_hex(4)}"
    trial = Trial(ask, notes, label)
    has_groups = False
    with notes.whole("accounts and groups"):
        if key is None:
            _make_account(trial)
        else:
            trial.key = key
        has_groups = bool(trial.key) and _make_groups(trial)
    if not has_groups:
        return
    for step in (
        _pages,
        _settles,
        _account_exists,
        _balance,
        wallets,
        actions,
        usage_keys,
        refusals,
        permissions,
        duplicates,
        runs,
        signing,
        _scope,
    ):
        if ask.writes < MOST_WRITES - LONGEST_STEP:
            with notes.whole(step.__name__.strip("_").replace("_", " ")):
                step(trial)
    clean_up(trial)


def clean_up(trial: Trial) -> None:
    """Remove the usage keys and groups that the survey created."""
    for value in trial.usage_keys:
        with suppress(StepProblem):
            trial.post("remove_usage_api_key", {"usage_api_key": value})
    mine: list[JsonValue] = []
    with suppress(StepProblem):
        groups = trial.all_groups()
        mine = [item.get("id") for item in groups if any(trial.label in str(held) for held in item.values())]
    for group in [*mine, *(group for group in trial.groups if group not in mine)]:
        with suppress(StepProblem):
            trial.post("remove_group", {"group_id": str(number_of(group))})


@dataclass(frozen=True)
class Made:
    """How something was made that has a name and a description."""

    answer: Answer
    name: str
    """The member of the request that takes the name."""
    description: str


def _make_with_labels(
    trial: Trial, path: str, key: str | None, fixed: dict[str, JsonValue], usual: tuple[str, str]
) -> Made | None:
    """Make something with the members for name and description that the node describes, or else that it takes.

    The node may have refused it for lack of credit alone. Without a description of the node's API, a request without
    the name must be refused, or the accepted one proves nothing.
    """
    label = trial.label
    described = trial.notes.api.labels(path) if trial.notes.api else None
    if described is not None:
        name, description, _ = described
        answer = trial.ask.post(path, key, body={**fixed, name: label, description: f"of {label}"})
        if answer.accepted or answer.status == OUT_OF_CREDIT:
            trial.note_name(path, label)
            return Made(answer, name, description)
    pairs = [usual, *((a, b) for a, b in product(NAMES, DESCRIPTIONS) if (a, b) != usual)]
    for name, description in pairs:
        if (answer := trial.ask.post(path, key, body={**fixed, description: label})).accepted:
            return None  # the name is optional, so an accepted request proves nothing
        if answer.status != OUT_OF_CREDIT:
            answer = trial.ask.post(path, key, body={**fixed, name: label, description: f"of {label}"})
        if answer.accepted or answer.status == OUT_OF_CREDIT:
            trial.note_name(path, label)
            return Made(answer, name, description)
        if answer.status in {401, 403, 404, 429}:
            return None
    return None


def _make_account(trial: Trial) -> None:
    made = _make_with_labels(trial, "new_account", None, {}, ("account_name", "account_description"))
    answer = value_of(made.answer) if made else None
    if made is None or not isinstance(answer, dict) or not isinstance(answer.get("api_key"), str):
        trial.notes.doubt(ACCOUNT, "no account could be made with the usual names, nor with those of openapi.json")
        return
    for member, name in (("name", made.name), ("description", made.description)):
        trial.notes.see(f"wire.new_account.fields.account_{member}", name, "an account was made with it")
    described = trial.notes.api.labels("new_account") if trial.notes.api else None
    if described and described[2]:
        trial.notes.see("wire.new_account.fields.email", described[2], "openapi.json describes it")
    trial.key = str(answer["api_key"])
    trial.wallet = str(answer.get("wallet_address"))


def _make_groups(trial: Trial) -> bool:
    """Create some groups. False where none can be created."""
    lists: dict[str, JsonValue] = {"pkp_ids_permitted": [], "cid_hashes_permitted": []}
    made = _make_with_labels(trial, "add_group", trial.key, lists, ("group_name", "group_description"))
    if made is not None and made.answer.status == OUT_OF_CREDIT:
        trial.notes.doubt(
            "accounts.credits", "a new account cannot pay for a group: `bought`, or null where it never can"
        )
        return False
    if made is None:
        trial.notes.doubt("wire.add_group.fields.group_name", "no group could be made with the usual names")
        return False
    trial.notes.see("accounts.credits", "granted", "a new account makes a group")
    for member, name in (("name", made.name), ("description", made.description)):
        trial.notes.see(f"wire.add_group.fields.group_{member}", name, "a group was made with it")
    trial.group_names = (made.name, made.description)
    for number in range(1, GROUPS):
        trial.add_group(f"{trial.label} {number}")
    _group_answer(trial, value_of(made.answer))
    _group_id_sent(trial)
    return True


def _group_id_sent(trial: Trial) -> None:
    """Observe in which form a body takes the id of a group."""
    labels: dict[str, JsonValue] = {"name": trial.label, "description": f"of {trial.label}"}
    lists: dict[str, JsonValue] = {"pkp_ids_permitted": [], "cid_hashes_permitted": []}
    number = number_of(trial.groups[0]) if trial.groups else None
    for form, group in (("integer", number), ("decimal_string", str(number))):
        answer = trial.ask.post("update_group", trial.key, body={"group_id": group, **labels, **lists})
        if number is not None and answer.accepted:
            trial.notes.see("wire.requests.group_id_form", form, f"update_group takes {group!r}")
            return


def _group_answer(trial: Trial, answer: JsonValue) -> None:
    items = items_of(trial.page("list_groups"))
    trial.groups = [item["id"] for item in items if isinstance(item.get("id"), int | str)]
    if not trial.groups:
        return
    newest = items[-1]
    shown = newest["id"]
    if form := id_form(shown):
        trial.notes.see("wire.list_groups.id_form", form, f"list_groups shows {shown!r}")
    named = next((item for item in items if trial.label in item.values()), None)
    others = [name for name in newest if name != "id"]
    if not others:
        for member in ("name", "description"):
            trial.notes.see(f"wire.list_groups.item_fields.{member}", None, "an item of list_groups has the id alone")
    elif named is not None:
        for member, text in (("name", trial.label), ("description", f"of {trial.label}")):
            if name := name_of(named, text):
                trial.notes.see(f"wire.list_groups.item_fields.{member}", name, "list_groups shows what was sent")
    members = answer if isinstance(answer, dict) else {}
    ids = [
        name
        for name, value in members.items()
        if (number := number_of(value)) is not None and number in map(number_of, trial.groups)
    ]
    success = name_of(members, True)
    if len(ids) <= 1:
        trial.notes.see(
            "wire.mutating_responses.group_id", ids[0] if ids else None, f"add_group answers {sorted(members)}"
        )
    if success or not any(isinstance(value, bool) for value in members.values()):
        trial.notes.see("wire.mutating_responses.success", success, f"add_group answers {sorted(members)}")


def _settles(trial: Trial) -> None:
    """Observe whether writes show at once: groups that are added, one after the other, and their removals."""
    before, at_once = len(trial.all_groups()), True
    for number in range(1, SETTLING + 1):
        added = trial.add_group(f"{trial.label} settling {number}").accepted
        at_once = at_once and added and len(trial.all_groups()) == before + number
    for left, group in reversed([*enumerate(trial.all_groups())][before:]):
        trial.post("remove_group", {"group_id": str(number_of(group.get("id")))})
        at_once = at_once and len(trial.all_groups()) == left
    if at_once:
        trial.notes.see("semantics.settle_time_seconds", 0, f"{SETTLING} groups show and go at once")


def _pages(trial: Trial) -> None:
    """Observe the number of the first page, the page sizes, and the envelope of the items."""
    ask, notes, key = trial.ask, trial.notes, trial.key
    first = [item.get("id") for item in items_of(ask.get("list_groups", key, page_number=0, page_size=1))]
    second = [item.get("id") for item in items_of(ask.get("list_groups", key, page_number=1, page_size=1))]
    if len(trial.groups) >= 3:
        if first == trial.groups[:1] and second == trial.groups[1:2]:
            notes.see("wire.paging.first_page_number", 0, "page 0 of size 1 is the oldest group")
        elif second == trial.groups[:1] and first != second:
            notes.see("wire.paging.first_page_number", 1, "page 1 of size 1 is the oldest group")
    page = trial.first_page
    container = value_of(ask.get("list_actions", key, page_number=page, page_size=1))
    if isinstance(container, list):
        notes.see("wire.paging.container.form", "array", "list_actions answers an array")
    elif isinstance(container, dict) and len(names := [n for n, v in container.items() if isinstance(v, list)]) == 1:
        notes.see("wire.paging.container.form", "object", f"list_actions answers {sorted(container)}")
        notes.see("wire.paging.container.items_member", names[0], "list_actions")
    _page_sizes(trial)


def _page_sizes(trial: Trial) -> None:
    def size(asked_for: int) -> int | None:
        answer = trial.ask.get("list_groups", trial.key, page_number=trial.first_page, page_size=asked_for)
        return len(items_of(answer)) if answer.accepted else None

    low, high = 1, 1_000_000
    capped = size(high)
    if capped is None:
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if size(middle) is not None else (low, middle)
        trial.notes.see("limits.page_size_max", low, f"page_size {low} is served, {high} is refused")
        trial.notes.see("limits.page_size_above_max", "refused", f"page_size {high} is refused")
    elif capped < len(trial.groups):
        trial.notes.see("limits.page_size_max", capped, f"{capped} of {len(trial.groups)} groups for page_size {high}")
        trial.notes.see("limits.page_size_above_max", "capped", f"page_size {high} is served")
    unpaged = trial.ask.get("list_groups", trial.key)
    if not unpaged.accepted:
        trial.notes.see("limits.page_size_default", None, "list_groups without paging fields is refused")
    elif len(items_of(unpaged)) < trial.made_groups:
        trial.notes.see("limits.page_size_default", len(items_of(unpaged)), f"so many of {trial.made_groups} groups")


def _account_exists(trial: Trial) -> None:
    seen = trial.notes.seen.get(f"{METHOD_AND_PATH}.account_exists")
    if seen is None:
        return
    key = "wire.account_exists.request_response"
    method, _, path = str(seen.value).partition(" ")
    path = path.removeprefix("/")
    described = trial.notes.api.at(path) if trial.notes.api else None
    asked = {**described.query, **described.body} if described else {}
    answer = trial.ask.send(method, path, trial.key)
    if _says_true(answer):
        trial.notes.see(f"{key}.key_in", "header", f"{method} {path} with the key in its header")
        _note_exists(trial, answer, trial.ask.send(method, path, nobodys_key()))
        return
    for member in dict.fromkeys((*asked, "api_key", "key", "account_api_key")):
        for place in ("query", "body") if method != "GET" else ("query",):
            answer = _asked_with(trial, method, path, place, {member: trial.key})
            if _says_true(answer):
                trial.notes.see(f"{key}.key_in", place, f"{method} {path} with {member} in the {place}")
                trial.notes.see(f"{key}.key_member", member, f"the {place}")
                _note_exists(trial, answer, _asked_with(trial, method, path, place, {member: nobodys_key()}))
                return


def _asked_with(trial: Trial, method: str, path: str, place: str, members: dict[str, JsonValue]) -> Answer:
    if place == "query":
        return trial.ask.send(method, f"{path}?{urlencode(members)}")
    return trial.ask.send(method, path, body=written(members))


def _says_true(answer: Answer) -> bool:
    value = value_of(answer)
    return answer.accepted and (value is True or (isinstance(value, dict) and name_of(value, True) is not None))


def _note_exists(trial: Trial, answer: Answer, stranger: Answer) -> None:
    """Note which member tells, and what becomes of a key that nobody has."""
    key = "wire.account_exists.request_response"
    value = value_of(answer)
    trial.notes.see(f"{key}.answer_member", name_of(value, True) if isinstance(value, dict) else None, str(value))
    unknown = {200: "answers_false", 401: "unauthenticated", 404: "not_found"}.get(stranger.status)
    if unknown and not (stranger.accepted and "alse" not in stranger.text):
        trial.notes.see(f"{key}.unknown_key", unknown, f"a key that nobody has: {stranger.status}")


def _balance(trial: Trial) -> None:
    """Observe the members of the balance. The effect of a write shows which sign means credit."""
    before = flat(object_of(trial.ask.get("billing/balance", trial.key)))
    trial.add_group(f"{trial.label} paid")
    after = flat(object_of(trial.ask.get("billing/balance", trial.key)))
    key = "wire.billing.fields"
    moved = [name for name in before if name in after and before[name] != after[name]]
    cents = [name for name in moved if isinstance(before[name], int)]
    texts = [name for name in moved if isinstance(before[name], str) and _is_decimal(before[name])]
    if len(cents) == 1 or (not cents and len(texts) == 1):
        name = (cents or texts)[0]
        trial.notes.see(
            f"{key}.balance_cents", name, f"it is {before[name]!r} before a write and {after[name]!r} after"
        )
        trial.notes.see(f"{key}.balance_form", "cents" if cents else "units_text", f"it is {before[name]!r}")
        change = round((float(str(after[name])) - float(str(before[name]))) * (1 if cents else CENTS))
        fell = change < 0
        trial.notes.see(f"{key}.positive_is_credit", fell, f"a write makes it {'fall' if fell else 'rise'}")
        trial.notes.see("billing.charge_per_call.management_write_cents", abs(change), "a write changed it so")
        display = [other for other in moved if other != name and isinstance(before[other], str)]
        if len(display) <= 1:
            trial.notes.see(
                f"{key}.balance_display", display[0] if display else None, f"the balance has {sorted(before)}"
            )


def _starting_credit(trial: Trial, key: str) -> None:
    """Observe what a new account has, where the balance shows cents."""
    seen = trial.notes.seen
    name, form, positive = (
        seen.get(f"wire.billing.fields.{member}") for member in ("balance_cents", "balance_form", "positive_is_credit")
    )
    if name is None or form is None or positive is None:
        return
    balance = flat(object_of(trial.ask.get("billing/balance", key))).get(str(name.value))
    if isinstance(balance, int) or (isinstance(balance, str) and _is_decimal(balance)):
        shown = balance if isinstance(balance, int) else round(float(balance) * CENTS)
        credit = shown if positive.value else -shown
        trial.notes.see(f"{CREDIT}.starting_cents", credit, "the balance of a second new account")


def _is_decimal(value: JsonValue) -> bool:
    try:
        float(str(value))
    except ValueError:
        return False
    return True


def _scope(trial: Trial) -> None:
    """Observe what a second account has, and whether its groups start from the same number."""
    fields = [trial.notes.seen.get(f"wire.new_account.fields.account_{name}") for name in ("name", "description")]
    if None in fields or not trial.wallet:
        return
    body: dict[str, JsonValue] = {str(observation.value): trial.label for observation in fields if observation}
    key = object_of(trial.ask.post("new_account", body=body)).get("api_key")
    if not isinstance(key, str):
        return
    _starting_credit(trial, key)
    trial.add_group(f"{trial.label} other", key)
    items = items_of(trial.ask.get("list_groups", key))
    mine = [item.get("id") for item in items]
    if mine and trial.groups:
        scope = "account" if mine[0] == trial.groups[0] else "global"
        trial.notes.see(
            "semantics.group_id_scope", scope, f"first groups of two accounts: {trial.groups[0]}, {mine[0]}"
        )
    conflicting_headers(trial, key)
    for group in mine:
        trial.ask.post("remove_group", key, body={"group_id": str(number_of(group))})
    conversion(trial, key)
