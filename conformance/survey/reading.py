"""Reads what a node shows without an account and without a write: description, chain, refusals, evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from pydantic import JsonValue

from conformance.drivers.openapi.bounds import check_size
from conformance.problems import BeyondLimits
from conformance.profile.errors import JSON_MEDIA_TYPE
from conformance.profile.wire import MethodAndPath
from conformance.service.derivations import code_cid
from conformance.survey.asking import NOT_SERVED, Asker, name_of, nobodys_key, object_of, value_of
from conformance.survey.described import DescribedApi
from conformance.survey.notes import Notes
from conformance.values.json_text import written

CODE = "async function main() { return 1; }"
MOST_TRIED = 20
"""Of the brand words and the operations that a description offers for one; there may be thousands."""
NOBODYS_PATH = "no_such_operation_of_any_node"
OF_BRAND = re.compile(r"/get_([a-z0-9_]+)_action_ipfs_id$")
CODE_WORD = re.compile(r"[a-z0-9]+([-_.][a-z0-9]+)*", re.IGNORECASE)
CODE_OF_WORDS = re.compile(r"[a-z0-9][-_.][a-z0-9]", re.IGNORECASE)
OF_UNKNOWN_KEYS = frozenset({401, 403})
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
METHOD_AND_PATH = "wire.operations.method_and_path"


def read(ask: Asker, notes: Notes) -> None:
    """Note what the node shows without a key."""
    for part, look in {
        "description": _description,
        "brand": _brand,
        "paths": _paths,
        "chain": _chain,
        "refusals": _refusals,
        "capabilities": _capabilities,
        "evidence": _evidence,
    }.items():
        with notes.whole(part):
            look(ask, notes)


def _description(ask: Asker, notes: Notes) -> None:
    """Note the OpenAPI description."""
    answer = ask.get("openapi.json")
    document = object_of(answer)
    if isinstance(document.get("paths"), dict):
        notes.see("auth.openapi_public", True, "openapi.json answers without a key")
        with suppress(BeyondLimits):
            check_size(document)
            notes.api = DescribedApi(document, ask.url("openapi.json"))
            return
    if answer.status in {401, 403}:
        notes.see("auth.openapi_public", False, f"openapi.json without a key: {answer.status}")


def _brand(ask: Asker, notes: Notes) -> None:
    """Note the brand word of the path that computes CIDs.

    The description alone does not prove it: it may be another node's.
    """
    described = notes.api.paths if notes.api else []
    words = [match[1] for path in described if (match := OF_BRAND.search(path))]
    offered = [*dict.fromkeys(words)][:MOST_TRIED]
    for word in dict.fromkeys((notes.value("brand.slug", "service"), *offered, "service")):
        answer = ask.post(f"get_{word}_action_ipfs_id", body=CODE)
        if answer.accepted:
            notes.see("brand.slug", word, f"POST /get_{word}_action_ipfs_id answers")
            _cid(notes, value_of(answer))
            return
    notes.doubt("brand.slug", "neither the description nor the word 'service' leads to get_…_action_ipfs_id")


def _cid(notes: Notes, answer: JsonValue) -> None:
    """Note where the answer holds the CID of a line of code, and how that follows from the code."""
    for algorithm in ("ipfs_add_v0", "ipfs_add_v1"):
        cid = code_cid(CODE, algorithm)
        name = name_of(answer, cid) if isinstance(answer, dict) else None
        if answer == cid or name:
            notes.see("crypto.cid_algorithm", algorithm, f"the CID of a line of code is {cid}")
            notes.see("wire.get_action_ipfs_id.answer_member", name, f"the answer is {written(answer)}")


def _paths(ask: Asker, notes: Notes) -> None:
    """Note the operations whose path the specification leaves open.

    Each is looked for where the description says, or else at the reference node's path.
    """
    nowhere = {method: ask.send(method, NOBODYS_PATH, body=_body(method)).status for method in METHODS}
    for name in MethodAndPath.model_fields:
        with notes.whole(name):
            _path(ask, notes, name, nowhere)


def _path(ask: Asker, notes: Notes, name: str, nowhere: Mapping[str, int]) -> None:
    slug = notes.value("brand.slug", "")
    usual = str(MethodAndPath.model_fields[name].default)
    if "{slug}" in usual and not slug:
        notes.doubt(f"{METHOD_AND_PATH}.{name}", "it depends on the brand word")
        return
    described = notes.api.candidates(name, usual.replace("{slug}", slug)) if notes.api else []
    if len(described) > MOST_TRIED:
        notes.doubt(f"{METHOD_AND_PATH}.{name}", f"openapi.json describes it {len(described)} times")
        return
    served = [endpoint for endpoint in described if _answers(ask, notes, name, endpoint, nowhere)]
    if len(served) == 1:
        endpoint = served[0] if served[0] != usual.replace("{slug}", slug) else usual
        _found(notes, name, endpoint, "openapi.json describes it, and it answers without a key")
    elif served:
        notes.doubt(f"{METHOD_AND_PATH}.{name}", f"openapi.json describes {', '.join(served)}")
    else:
        _usual_path(ask, notes, name, usual, nowhere)


def _usual_path(ask: Asker, notes: Notes, name: str, usual: str, nowhere: Mapping[str, int]) -> None:
    slug = notes.value("brand.slug", "")
    method, _, path = usual.partition(" ")
    for tried in (method, *(other for other in ("GET", "POST") if other != method)):
        if _answers(ask, notes, name, f"{tried} {path.replace('{slug}', slug)}", nowhere):
            _found(notes, name, f"{tried} {path}", "it answers without a key")
            return


def _found(notes: Notes, name: str, endpoint: str, how: str) -> None:
    notes.unclear.pop(f"{METHOD_AND_PATH}.{name}", None)
    notes.see(f"{METHOD_AND_PATH}.{name}", endpoint, how)


def _answers(ask: Asker, notes: Notes, name: str, endpoint: str, nowhere: Mapping[str, int]) -> bool:
    """Whether a request without a key is answered otherwise than one to a path that nobody serves."""
    method, _, path = endpoint.partition(" ")
    status = ask.send(method, path.removeprefix("/"), body=_body(method)).status
    if status in NOT_SERVED:
        notes.unclear.setdefault(f"{METHOD_AND_PATH}.{name}", f"{method} {path} answers {status}")
    return status not in NOT_SERVED and status != nowhere.get(method)


def _body(method: str) -> str | None:
    return None if method == "GET" else "{}"


def _chain(ask: Asker, notes: Notes) -> None:
    config = object_of(ask.get("get_node_chain_config"))
    key = "wire.chain_info"
    if "chain_id" in config:
        form = "integer" if isinstance(config["chain_id"], int) else "decimal_string"
        notes.see(f"{key}.chain_id", form, f"chain_id is {config['chain_id']!r}")
        others: list[JsonValue] = [name for name in config if name not in {"chain_id", "contract_address"}]
        notes.see(f"{key}.further_members", others, "get_node_chain_config")
    for path, member, kind in (
        ("get_api_payers", "api_payers_member", list),
        ("get_admin_api_payer", "admin_api_payer_member", str),
    ):
        value = value_of(ask.get(path))
        if isinstance(value, kind):
            notes.see(f"{key}.{member}", None, f"the answer of {path} is it")
        elif isinstance(value, dict):
            names = [name for name, held in value.items() if isinstance(held, kind)]
            if len(names) == 1:
                notes.see(f"{key}.{member}", names[0], path)


def _refusals(ask: Asker, notes: Notes) -> None:
    """Note the statuses and the body of the refusal of a request without a key, and with one that nobody has."""
    answer = ask.get("list_groups", page_number=0, page_size=1)
    if not 400 <= answer.status < 500:
        return
    stranger = ask.get("list_groups", nobodys_key(), page_number=0, page_size=1)
    others = [stranger.status] if stranger.status in OF_UNKNOWN_KEYS - {answer.status} else []
    how = f"list_groups without a key: {answer.status}, with nobody's: {stranger.status}"
    notes.see("errors.status_codes.unauthenticated", [answer.status, *others], how)
    body = value_of(answer)
    if not isinstance(body, dict):
        return
    how = "the refusal of list_groups without a key"
    media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if re.fullmatch(JSON_MEDIA_TYPE, media_type):
        notes.see("errors.body_shape.media_type", media_type, how)
    status = [name for name, value in body.items() if value == answer.status]
    if len(status) <= 1:
        notes.see("errors.body_shape.status_member", status[0] if status else None, how)
    texts = {name: value for name, value in body.items() if isinstance(value, str) and CODE_WORD.fullmatch(value)}
    codes = [name for name in texts if "code" in name] or [name for name in texts if CODE_OF_WORDS.search(texts[name])]
    if len(codes) == 1:
        notes.see("errors.body_shape.code_member", codes[0], how)


def _capabilities(ask: Asker, notes: Notes) -> None:
    """Note the capabilities that show without further URLs. Chain, control and provider remain questions."""
    offered: list[JsonValue] = []
    if ask.get("new_account").status == 405 or ask.send("POST", "new_account", body="{").status not in NOT_SERVED:
        offered.append("managed_accounts")
    if notes.api is not None:
        offered.append("openapi")
    key = object_of(ask.get("billing/stripe_config"))
    names = [name for name, value in key.items() if isinstance(value, str) and value.startswith("pk_")]
    if len(names) == 1:
        offered.append("billing")
        notes.see("wire.billing.fields.publishable_key", names[0], "billing/stripe_config")
    if "compose_hash" in object_of(ask.get("/info")):
        offered.append("attestation")
    nowhere = ask.post(NOBODYS_PATH).status
    if (refused := ask.post("create_wallet_with_signature").status) != nowhere and refused in {400, 401, 403, 422}:
        offered.append("wallet_signed")
    if (refused := ask.post("pkps/create").status) != nowhere and refused in {401, 403}:
        offered.append("design_flows")
    notes.see("capabilities", offered, "what answers")


def _evidence(ask: Asker, notes: Notes) -> None:
    info = object_of(ask.get("/info"))
    if not info:
        return
    if isinstance(tcb_info := info.get("tcb_info"), dict | str):
        form = "object" if isinstance(tcb_info, dict) else "json_string"
        notes.see("attestation.forms.tcb_info", form, "/info")
    quote = object_of(ask.get("/evidences/quote.json"))
    if quote:
        members: list[JsonValue] = list(quote)
        notes.see("attestation.forms.quote_json_members", members, "/evidences/quote.json")
    for name in _certificates(ask):
        number = ask.get(f"/evidences/{name}").text.count("BEGIN CERTIFICATE")
        if number:
            order = "single" if number == 1 else "leaf_first"
            notes.see("attestation.forms.certificate_order", order, f"{name} holds {number} certificates")


def _certificates(ask: Asker) -> Iterator[str]:
    yield from re.findall(r'href="(?:\./)?(cert-[^"/]+\.pem)"', ask.get("/evidences/").text)[:3]
