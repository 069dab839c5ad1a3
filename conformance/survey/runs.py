"""Observes runs of actions: the answer, the sandbox's calls, failures."""

from __future__ import annotations

import json
import re

from pydantic import JsonValue

from conformance.survey.asking import object_of
from conformance.survey.meaning import ALL_WALLETS
from conformance.survey.reading import METHOD_AND_PATH
from conformance.survey.trial import Trial

MARK = "survey of a sandbox"
THROWS = f"async function main() {{ throw new Error('{MARK}'); }}"
ANSWERS = "async function main() { return [1, 'two']; }"
ANSWERS_TEXT = "async function main() { return '[1]'; }"
ANSWERS_NOTHING = "async function main() {}"
LOOKS = """async function main() {
  const known = new Set(%s);
  const found = [];
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    const value = globalThis[name];
    if (known.has(name) || value === null || typeof value !== 'object') continue;
    const calls = one => Object.getOwnPropertyNames(one).filter(key => typeof one[key] === 'function');
    found.push([name, calls(value)]);
    for (const inner of Object.getOwnPropertyNames(value))
      if (value[inner] !== null && typeof value[inner] === 'object')
        found.push([name + '.' + inner, calls(value[inner])]);
  }
  return JSON.stringify(found);
}"""
OF_LANGUAGE = ["globalThis", "JSON", "Math", "Reflect", "Atomics", "Intl", "console", "WebAssembly", "performance"]
OF_LANGUAGE += ["self", "window", "crypto"]
"""Global objects of the language, which say nothing about the sandbox."""
CALLS = {
    "get_private_key": re.compile("key", re.IGNORECASE),
    "sign_message": re.compile("sign(?!.*digest)", re.IGNORECASE),
    "sign_digest": re.compile("digest", re.IGNORECASE),
}


def runs(trial: Trial) -> None:
    """Run code in a group that permits everything, and observe its answers."""
    seen = trial.notes.seen.get(f"{METHOD_AND_PATH}.run_action")
    if seen is None:
        return
    path = str(seen.value).partition(" ")[2].removeprefix("/").replace("{slug}", trial.notes.value("brand.slug", ""))
    _without_wallet(trial, path)
    trial.add_group(f"{trial.label} runs", pkp_ids_permitted=[ALL_WALLETS], cid_hashes_permitted=[0])
    well = object_of(trial.post(path, {"code": ANSWERS, "jsParams": {}}))
    if "response" not in well:
        return
    text = object_of(trial.post(path, {"code": ANSWERS_TEXT, "jsParams": {}})).get("response")
    form = "text" if well["response"] != [1, "two"] else "parsed_text" if text == [1] else "value"
    trial.notes.see("exec.response_form", form, f"[1, 'two'] comes as {well['response']!r}, '[1]' as {text!r}")
    nothing = object_of(trial.post(path, {"code": ANSWERS_NOTHING, "jsParams": {}})).get("response")
    if nothing in {None, ""}:
        told = "null_or_absent" if nothing is None else "empty_text"
        trial.notes.see("exec.nothing_returned", told, f"nothing comes as {nothing!r}")
    _failure(trial, path, well)
    _sandbox(trial, path)


def _without_wallet(trial: Trial, path: str) -> None:
    """Observe whether a group without wallets permits a run without one. The account's other groups list no action."""
    trial.add_group(f"{trial.label} no wallet", cid_hashes_permitted=[0])
    answer = trial.post(path, {"code": ANSWERS, "jsParams": {}})
    refused = trial.notes.seen.get("errors.status_codes.forbidden")
    if answer.accepted:
        trial.notes.see("exec.run_without_pkp", "action_only", "a run in a group without wallets is accepted")
    elif refused is not None and refused.value == [answer.status]:
        trial.notes.see(
            "exec.run_without_pkp", "group_needs_a_pkp", f"a run in a group without wallets: {answer.status}"
        )


def _failure(trial: Trial, path: str, well: dict[str, JsonValue]) -> None:
    key = "exec.failure_and_limits"
    answer = trial.post(path, {"code": THROWS, "jsParams": {}})
    trial.notes.see(f"{key}.status", answer.status, "code that throws")
    members: dict[str, JsonValue] = json.loads(answer.text) if answer.text.startswith("{") else {}
    changed = [name for name, value in members.items() if value is True and well.get(name) is False]
    if len(changed) == 1:
        trial.notes.see(f"{key}.error_member", changed[0], "it is true where code throws, and else false")
    elif not any(isinstance(value, bool) for value in members.values()):
        trial.notes.see(f"{key}.error_member", None, f"the answer has {sorted(members)}")
    logs = members.get("logs")
    if answer.accepted and isinstance(logs, str):
        trial.notes.see(f"{key}.message_in_logs", MARK in logs, "the logs of code that throws")


def _sandbox(trial: Trial, path: str) -> None:
    answer = object_of(trial.post(path, {"code": LOOKS % json.dumps(OF_LANGUAGE), "jsParams": {}}))
    try:
        namespaces = json.loads(str(answer.get("response")))
    except ValueError:
        return
    places = [
        (name, calls) for name, calls in namespaces if any(re.search("sign|key", call, re.IGNORECASE) for call in calls)
    ]
    if len(places) != 1:
        trial.notes.doubt("exec.sandbox_api.namespace", f"the sandbox has {[name for name, _ in namespaces]}")
        return
    name, calls = places[0]
    title = name.partition(".")[0] if name.endswith(".Actions") else ""
    trial.notes.see("exec.sandbox_api.namespace", "{title}.Actions" if title else name, f"the sandbox has {name}")
    if title:
        trial.notes.see("brand.title", title, f"the sandbox has {name}")
    for member, pattern in CALLS.items():
        fitting = [call for call in calls if pattern.search(call)]
        if len(fitting) <= 1:
            trial.notes.see(
                f"exec.sandbox_api.{member}", fitting[0] if fitting else None, f"{name} has {sorted(calls)}"
            )
