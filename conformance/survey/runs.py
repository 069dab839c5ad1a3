"""Observes runs of actions: the answer, the sandbox's calls, failures."""

from __future__ import annotations

import json
import re

from pydantic import JsonValue, TypeAdapter

from conformance.endpoints.messages import Answer
from conformance.service.signing_runs import signers_in
from conformance.survey.asking import object_of, value_of
from conformance.survey.meaning import ALL_WALLETS
from conformance.survey.trial import Trial
from conformance.values.json_text import parse

NAMESPACES = TypeAdapter(list[tuple[str, list[str]]])
"""Names of objects of the sandbox, each with its functions."""
RUN = "run_action"
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
    if not trial.offers("run_action"):
        return
    # The account's other groups list no action.
    trial.add_group(f"{trial.label} no wallet", cid_hashes_permitted=[trial.all_actions()])
    without_wallet = _by_each_key(trial)
    wallets: JsonValue = [trial.pkp or ALL_WALLETS]
    trial.add_group(f"{trial.label} runs", pkp_ids_permitted=wallets, cid_hashes_permitted=[trial.all_actions()])
    trial.runner, answer = [*_by_each_key(trial).items()][-1]
    well = object_of(answer)
    if "response" not in well:
        return
    _without_wallet(trial, without_wallet.get(trial.runner))
    text = object_of(_run(trial, ANSWERS_TEXT)).get("response")
    form = "text" if well["response"] != [1, "two"] else "parsed_text" if text == [1] else "value"
    trial.notes.see("exec.response_form", form, f"[1, 'two'] comes as {well['response']!r}, '[1]' as {text!r}")
    nothing = object_of(_run(trial, ANSWERS_NOTHING)).get("response")
    if nothing in {None, ""}:
        told = "null_or_absent" if nothing is None else "empty_text"
        trial.notes.see("exec.nothing_returned", told, f"nothing comes as {nothing!r}")
    _failure(trial, well)
    _sandbox(trial)
    if trial.pkp:
        _calls(trial)


def _run(trial: Trial, code: str, **parameters: JsonValue) -> Answer:
    """Run code by the key whose runs the node accepts."""
    return trial.call(RUN, {"code": code, "jsParams": parameters}, trial.runner)


def _by_each_key(trial: Trial) -> dict[str, Answer]:
    """The answers to a run by the account key and, where that is refused, by a usage key with every permission."""
    answers: dict[str, Answer] = {}
    for key in (trial.key, *trial.usage_keys[:1]):
        answers[key] = trial.call(RUN, {"code": ANSWERS, "jsParams": {}}, key)
        if answers[key].accepted:
            break
    return answers


def _without_wallet(trial: Trial, answer: Answer | None) -> None:
    """Observe from the answer to it whether a group without wallets permits a run without one."""
    refused = trial.notes.seen.get("errors.status_codes.forbidden")
    if answer is None:
        return
    if answer.accepted:
        trial.notes.see("exec.run_without_pkp", "action_only", "a run in a group without wallets is accepted")
    elif refused is not None and refused.value == [answer.status]:
        trial.notes.see(
            "exec.run_without_pkp", "group_needs_a_pkp", f"a run in a group without wallets: {answer.status}"
        )


def _failure(trial: Trial, well: dict[str, JsonValue]) -> None:
    key = "exec.failure_and_limits"
    answer = _run(trial, THROWS)
    trial.notes.see(f"{key}.status", answer.status, "code that throws")
    found = value_of(answer)
    members = found if isinstance(found, dict) else {}
    changed = [name for name, value in members.items() if value is True and well.get(name) is False]
    if len(changed) == 1:
        trial.notes.see(f"{key}.error_member", changed[0], "it is true where code throws, and else false")
    elif not any(isinstance(value, bool) for value in members.values()):
        trial.notes.see(f"{key}.error_member", None, f"the answer has {sorted(members)}")
    logs = members.get("logs")
    if answer.accepted or MARK not in str(logs):
        trial.notes.see(f"{key}.message_in_logs", MARK in str(logs), "the logs of code that throws")


def _sandbox(trial: Trial) -> None:
    answer = object_of(_run(trial, LOOKS % json.dumps(OF_LANGUAGE)))
    try:
        namespaces = NAMESPACES.validate_python(parse(str(answer.get("response"))))
    except ValueError:  # also what pydantic raises
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


ARGUMENTS = {"object": "{pkpId: p.pkpId, message: p.message}", "positional": "p.pkpId, p.message"}
SIGNS = "async function main(p) {{ return await {call}({arguments}); }}"
SWALLOWS = "async function main(p) {{ try {{ await {call}({arguments}); }} catch (e) {{ return 'went on'; }} }}"


def _calls(trial: Trial) -> None:
    """Observe how a call of the sandbox takes the wallet, and what becomes of code that swallows its refusal."""
    seen = trial.notes.seen
    signing, place = seen.get("exec.sandbox_api.sign_message"), trial.notes.value("exec.sandbox_api.namespace", "")
    if signing is None or signing.value is None or not place:
        return
    call = f"{place.replace('{title}', trial.notes.value('brand.title', ''))}.{signing.value}"
    parameters: dict[str, JsonValue] = {"pkpId": trial.pkp, "message": trial.label}
    for form, arguments in ARGUMENTS.items():
        code = SIGNS.format(call=call, arguments=arguments)
        answer = object_of(_run(trial, code, **parameters))
        if trial.address in signers_in(str(answer.get("response")), trial.label):
            trial.notes.see("exec.sandbox_api.arguments", form, f"{call}({arguments}) signs")
            trial.notes.see("exec.pkp_selection.named_by", "sandbox_call", f"{call}({arguments}) signs")
            if form == "object":
                trial.notes.see("exec.pkp_selection.member", "pkpId", f"{call}({arguments}) signs")
            _swallowed(trial, SWALLOWS.format(call=call, arguments=arguments))
            return


def _swallowed(trial: Trial, code: str) -> None:
    """Run code that catches the refusal of the second wallet, which no group permits."""
    if not trial.other_pkp:
        return
    answer = _run(trial, code, pkpId=trial.other_pkp, message=trial.label)
    refused = trial.notes.seen.get("errors.status_codes.forbidden")
    key = "exec.pkp_selection.swallowed_refusal"
    if "went on" in str(object_of(answer).get("response")):
        trial.notes.see(key, "run_goes_on", "code that catches the refusal of a wallet goes on")
    elif refused is not None and isinstance(refused.value, list) and answer.status in refused.value:
        trial.notes.see(key, "refuses_run", f"code that catches the refusal of a wallet: {answer.status}")
