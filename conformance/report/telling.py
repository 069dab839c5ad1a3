"""One exchange of a case in a line of text: who asked for what, and what came back, in names in place of ids."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from itertools import takewhile
from unicodedata import is_normalized
from urllib.parse import parse_qsl, urlsplit

from conformance.profile.operations import OPERATIONS, Effect
from conformance.report.objects import (
    CID,
    LONG_HEX,
    VARIABLE,
    Exchanged,
    Names,
    body_members,
    code_cids,
    items_of,
)
from conformance.service.session import DESCRIPTION, LABEL
from conformance.values.json_text import parse, written
from conformance.values.json_values import MISSING, member
from conformance.values.shown_text import cut, plain
from conformance.values.typed_data import domain_fields, message_fields

REFUSED = 400
USUAL_METHODS = frozenset({"GET", "POST"})
LONGEST_STEP, LONGEST_IN_FULL = 240, 400
LONGEST_TEXT, LONGEST_ALONE, LONGEST_CODE = 30, 80, 170
"""Characters of a text inside of a step, of a text that is all of its request, and of an action's code."""
CODE = "code"
AS_ABOVE = "as above"
LEAST_ALIKE = 2
"""Members of a request that are as in an earlier step, of which the step says no more."""
FEW = 2
"""Items of a list that is not shown whole, of which more are counted."""
SHORT_ANSWER = 60
"""Characters of an answer that is told with any step, if it gives no object a name."""
WALLET_AUTH = "X-Wallet-Auth"
KEY_HEADERS = frozenset({"X-Api-Key", "Authorization"})
READS = frozenset(name for name, operation in OPERATIONS.items() if operation.effect in {Effect.READ, Effect.RUN})
"""The operations that leave the objects of a case as they are."""
IN_PATH = re.compile(r"(?<=/)(?:\d+|\$\{\w+\})(?=/|$)")
"""The id of an object in the path of a request."""
LABELS = ("name", "description")


def writes(exchange: Exchanged) -> bool:
    """Whether it may change the objects of a case."""
    if exchange.contract:
        return exchange.contract.is_write
    return bool(exchange.operation) and exchange.operation not in READS


def step(
    exchange: Exchanged,
    names: Names,
    earlier: Set[str],
    *,
    about: Set[str] = frozenset(),
    above: Exchanged | None = None,
    in_full: bool = False,
) -> str:
    """``alice: add_group pkp_ids_permitted [P] → 200, G``. What an earlier step gave, too, is given again.

    `about`: the words of the failure; where the step is cut, members that it names come first. `above`: the newest
    step told that called the same; what both have alike is told there.
    """
    request = _request(exchange, names, about, above, in_full=in_full)
    return f"{_caller(exchange, names)}: {request} → {_answer(exchange, names, earlier, above, in_full=in_full)}"


def _caller(exchange: Exchanged, names: Names) -> str:
    """Who asked: the sender of a transaction, the keys that were sent, or the wallet whose proof was."""
    proof = [
        f"{WALLET_AUTH} {names.shown(_proved(text))}".rstrip()
        for name, text in exchange.request_headers.items()
        if name.title() == WALLET_AUTH
    ]
    sender = names.shown(exchange.contract.sender) if exchange.contract and exchange.contract.sender else ""
    asking = next(filter(None, [sender, " and ".join(_credentials(exchange, names)), *proof]), "anybody")
    return f"{asking}, at once with others" if exchange.at_once else asking


def _request(exchange: Exchanged, names: Names, about: Set[str], above: Exchanged | None, *, in_full: bool) -> str:
    """What was asked for. Where it is too long for a line, the members that `about` names come first."""
    run = "".join(f"{names.values[cid]}, " for cid in code_cids(exchange) if cid in names.values)
    in_path = "".join(f"{found} " for found in IN_PATH.findall(urlsplit(exchange.url).path))
    called = f"{asked_for(exchange)} {in_path if exchange.operation else ''}{run}"
    asked = names.shown(f"{called}{_members(exchange, above, in_full=in_full)}")
    if len(asked) > LONGEST_STEP:
        asked = cut(names.shown(f"{called}{_members(exchange, above, about, in_full=in_full)}"), LONGEST_STEP)
    return asked.rstrip()


def _answer(exchange: Exchanged, names: Names, earlier: Set[str], above: Exchanged | None, *, in_full: bool) -> str:
    """The status, how many items came, what was given, and of a refusal, a short answer or a full telling the body.

    Of a call of the contract its result.
    """
    longest = LONGEST_IN_FULL if in_full else LONGEST_STEP
    if exchange.contract and exchange.status is not None:
        return cut(names.shown(_told(exchange.contract.result, longest)), longest)
    number = len(items_of(exchange.response_body))
    given = [f"{names.of(name)} again" if name in earlier else names.of(name) for name in exchange.given]
    told, is_whole = "", False
    is_short = not writes(exchange) and not given and 0 < len(exchange.response_body) <= SHORT_ANSWER
    if in_full or is_short or (exchange.status or 0) >= REFUSED:
        told = _told(exchange.response_body, longest)
        is_whole = is_short or len(names.shown(told)) <= longest
        is_again = above is not None and len(told) > SHORT_ANSWER and _is_refused_with(above, exchange.status, told)
        told = AS_ABOVE if is_again else cut(names.shown(told), longest)
    items = f"{number} items" if number > FEW and not writes(exchange) and not is_whole else ""
    status = "no answer" if exchange.status is None else str(exchange.status)
    return ", ".join(filter(None, [status, items, *given, told]))


def _credentials(exchange: Exchanged, names: Names) -> Iterator[str]:
    """The keys that were sent, by their names; ``another X-Api-Key`` for what is none of the case's keys."""
    for header, text in exchange.request_headers.items():
        called = [names.of(name) for name in VARIABLE.findall(text)]
        if not called and header.title() in KEY_HEADERS:
            yield f"another {header}"
        yield from (f"{name}{' as Bearer' if text.startswith('Bearer ') else ''}" for name in called)


def _is_refused_with(exchange: Exchanged, status: int | None, told: str) -> bool:
    return exchange.status == status and (status or 0) >= REFUSED and _told(exchange.response_body) == told


def _proved(header: str) -> str:
    """What the typed data of a wallet's proof says, whose signature is kept out."""
    with suppress(ValueError):
        return cut(_envelope(parse(header.removesuffix(" [redacted]"))), LONGEST_STEP)
    return ""


def is_bearer(exchange: Exchanged) -> bool:
    """Whether the key was sent in `Authorization: Bearer`."""
    return any(text.startswith("Bearer ") for text in exchange.request_headers.values())


def _told(body: str, most: int = 0) -> str:
    """An answer in one line; of a problem document (RFC 9457) what it says.

    A JSON answer of more than `most` characters is told without the members that are false or empty, if it then has no
    more: of a text that is cut nobody sees which were left out.
    """
    text = plain(" ".join(body.split()))
    with suppress(ValueError):
        value = parse(body)
        if isinstance(value, dict) and isinstance(value.get("detail"), str):
            return plain(f"{value.get('code') or value.get('title') or ''}: {value['detail']}".removeprefix(": "))
        if 0 < most < len(text) and len(short := _without_empty(value)) <= most:
            return plain(short)
    return text


CLOCK_RIGHT = "the node's clock right"
RENEWAL = "a renewal of the certificate"
NAMED_EMPTY = 4
"""How many members that are false or empty are named; of more, the number is told."""


def _is_empty(value: object) -> bool:
    return value is False or value in ([], "", None)


def _without_empty(value: object) -> str:
    """A JSON value, of whose objects those members that are false or empty come last and short."""
    if isinstance(value, list):
        return f"[{','.join(map(_without_empty, value))}]"
    if not isinstance(value, dict):
        return written(value)
    told = [f'"{name}":{_without_empty(inner)}' for name, inner in value.items() if not _is_empty(inner)]
    told += _empty(value.items(), '"{}":{}')
    return f"{{{','.join(told)}}}"


def _empty(members: Iterable[tuple[str, object]], form: str = "{} {}") -> Iterator[str]:
    """The members that are false or empty, in this form; of more than four how many they are."""
    empty = [form.format(name, written(value)) for name, value in members if _is_empty(value)]
    yield from empty if len(empty) <= NAMED_EMPTY else [f"{len(empty)} false or empty"]


LONGEST_TOLD = 3_000
"""Characters of a text whose problem documents are told in short."""
STATUS_AND_BODY = re.compile(r"(status \d+): (?=\{)")


def in_short(text: str) -> str:
    """What came, with what each problem document in it says in the place of the document."""
    if len(text) > LONGEST_TOLD:
        return text
    shown, at = "", 0
    for found in STATUS_AND_BODY.finditer(text):
        end = _end_of_document(text, found.end())
        document = text[found.end() : end]
        told = _told(document)
        if told == document and (detail := DETAIL.search(document)):
            told = f"{detail[1]}…"
        if found.start() >= at and told != document:
            shown, at = f"{shown}{text[at : found.start()]}{found[1]}, {told}", end
    return shown + text[at:]


DETAIL = re.compile(r'"detail": *"([^"\\]*)$')
"""What a problem document says, whose end was cut off."""


def _end_of_document(text: str, begin: int) -> int:
    """Where a JSON document in a text ends; where it was cut off, the end of the text."""
    with suppress(ValueError, RecursionError):
        return json.JSONDecoder().raw_decode(text, begin)[1]
    return len(text)


RPC_METHOD = re.compile(r'"method":\s*"(\w+)"')


def _request_line(exchange: Exchanged) -> str:
    """The methods of a JSON-RPC request, which may be a batch; of other requests method and path."""
    body = exchange.request_body or ""
    methods = dict.fromkeys(RPC_METHOD.findall(body)) if '"jsonrpc"' in body else {}
    return " and ".join(methods) or f"{exchange.method} {urlsplit(exchange.url).path}"


def asked_for(exchange: Exchanged) -> str:
    """The operation, with its method where that is unusual; of a request without an operation its request line.

    A request to the node's control says what it sets.
    """
    called = exchange.contract.function if exchange.contract else exchange.operation
    called = called or _controlled(exchange) or _request_line(exchange)
    is_write_by_get = exchange.method == "GET" and writes(exchange)
    rare = exchange.operation and (is_write_by_get or exchange.method not in USUAL_METHODS)
    return f"{called} by {exchange.method}" if rare else called


def _controlled(exchange: Exchanged) -> str:
    """What the node was told by its control: ``the node's clock 301 s ahead``; empty for other requests."""
    path = urlsplit(exchange.url).path
    if path.endswith("/rotate") and not exchange.operation:
        return RENEWAL
    if not path.endswith("/clock"):
        return ""
    with suppress(ValueError):
        offset = member(parse(exchange.request_body or ""), "offset_seconds")
        if isinstance(offset, int):
            return f"the node's clock {abs(offset)} s {'ahead' if offset > 0 else 'behind'}" if offset else CLOCK_RIGHT
    return ""


def _members(exchange: Exchanged, above: Exchanged | None, first: Set[str] = frozenset(), *, in_full: bool) -> str:
    """The members of a request: those of these names first, labels last, behind them what is false or empty, in short.

    First pages and the suite's own labels are left out unless it is told in full; several members that are as in the
    request `above` are told by that alone.
    """
    members = [
        member
        for member in _all_members(exchange)
        if in_full or not (_is_usual_page(*member) or _is_usual_label(*member))
    ]
    before = _all_members(above) if above else []
    code_above = next((value for name, value in before if name == CODE and isinstance(value, str)), "")
    alike = [member for member in members if member in before]
    leaves_out = {name for name, _ in before} - {name for name, _ in _all_members(exchange)}
    is_alike = len(alike) >= LEAST_ALIKE and not leaves_out
    members = [member for member in members if not is_alike or member not in alike]
    members.sort(key=lambda member: (member[0] not in first, member[0].endswith(LABELS)))
    full = [
        name if value is True else _named(name, value, code_above) for name, value in members if not _is_empty(value)
    ]
    if members and not members[0][0] and ESCAPE.search(body := exchange.request_body or ""):
        full = [plain(cut(body, LONGEST_ALONE))]
    as_above = [f"else {AS_ABOVE}" if members else AS_ABOVE] if is_alike else []
    return ", ".join([*full, *_empty(members), *as_above])


def _is_usual_page(name: str, value: object) -> bool:
    """Whether a member asks for page 0 of a list, or for the size of a page."""
    return name == "page_size" or (name == "page_number" and str(value) == "0")


def _is_usual_label(name: str, value: object) -> bool:
    """Whether a member is the name or description that the suite gives to whatever a case makes."""
    return name.endswith(LABELS) and isinstance(value, str) and (value == DESCRIPTION or bool(LABEL.fullmatch(value)))


def _all_members(exchange: Exchanged) -> list[tuple[str, object]]:
    """What a request asks for, in its query and in its body, or in the arguments of a call."""
    body = [] if '"jsonrpc"' in (exchange.request_body or "") else body_members(exchange)
    body = [*exchange.contract.arguments.items()] if exchange.contract else body
    return [*parse_qsl(urlsplit(exchange.url).query), *body]


ESCAPE = re.compile(r"\\u[0-9a-fA-F]{4}")
"""A character as JSON may spell it, which is told as it was sent: two spellings of a text look alike."""


def _named(name: str, value: object, code_above: str) -> str:
    if name == CODE and isinstance(value, str):
        if changed := _changed(value, code_above):
            return f"{name} {AS_ABOVE} {changed}"
        return f"{name} {_quoted(cut(_code(value), LONGEST_CODE))}"
    return f"{name} {_value(value, LONGEST_TEXT if name else LONGEST_ALONE)}".strip()


def _changed(code: str, above: str) -> str:
    """``but "n" in place of "m" at character 51``: the one place where two codes differ, if it is short.

    In ASCII: a letter and an accent look like the letter with the accent.
    """
    begin = _alike(code, above)
    end = _alike(code[begin:][::-1], above[begin:][::-1])
    new, old = (json.dumps(text[begin : len(text) - end]) for text in (code, above))
    is_short = begin + end > 0 and max(len(new), len(old)) <= LONGEST_TEXT
    return plain(f"but {new} in place of {old} at character {begin}") if is_short and new != old else ""


def _alike(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


COMMENT = re.compile(r"\s*//(.*)")


def _code(code: str) -> str:
    """What the comment at the beginning of one of the suite's actions says; other code as it was sent."""
    lines = code.strip().splitlines()
    if not lines or not LABEL.search(lines[-1]):
        return code
    lines[-1] = lines[-1].partition("//")[0]
    comment = [found[1].strip() for line in takewhile(COMMENT.match, lines) if (found := COMMENT.match(line))]
    return f"// {' '.join(comment)}" if comment else " ".join(" ".join(lines).split())


def _value(value: object, longest: int) -> str:
    if envelope := _envelope(value):
        return envelope
    if not isinstance(value, str):
        return plain(_bare(value))
    is_name = any(form.fullmatch(value) for form in (VARIABLE, LONG_HEX, CID))
    return plain(value if is_name else _quoted(cut(value, longest)))


USUAL_DOMAIN = {"version": re.compile("1"), "name": re.compile(".* ChainSecured")}
"""The members of a domain that an envelope is told with only where they are otherwise."""


def _quoted(text: str) -> str:
    """A text as JSON; in ASCII where it has accents of their own, which look like letters that have them."""
    return json.dumps(text, ensure_ascii=not is_normalized("NFC", text))


def _envelope(value: object) -> str:
    """Of typed data, which may be a text, what tells one envelope from another; empty for another value."""
    if isinstance(value, str) and '"primaryType"' in value:
        with suppress(ValueError):
            envelope = _envelope(parse(value))
            return f"as a text of {len(value)} characters: {envelope}" if envelope else ""
    if not isinstance(value, dict):
        return ""
    domain, message = value.get("domain"), value.get("message")
    if not isinstance(domain, dict) or not isinstance(message, dict):
        return ""
    usual = {name: USUAL_DOMAIN[name].fullmatch(str(domain[name])) for name in domain.keys() & USUAL_DOMAIN.keys()}
    rare = {f"domain.{name}": domain[name] for name, is_usual in usual.items() if not is_usual}
    members = {**message, "chainId": domain.get("chainId"), **rare}
    structs = {str(value.get("primaryType")): [*message], "EIP712Domain": [*domain]}
    return plain(f"{value.get('primaryType')} {_bare(members)}{_other_types(value.get('types'), structs)}")


def _other_types(types: object, structs: Mapping[str, Sequence[str]]) -> str:
    """The types of typed data where they are not those of its values, in their order; else nothing.

    Of a field that has another type than it must have, the type is told, too.
    """
    if not isinstance(types, dict):
        return ""
    told = {name: [*map(_field, fields)] for name, fields in types.items() if isinstance(fields, list)}
    other = [f"{name}({','.join(fields)})" for name, fields in told.items() if fields != structs.get(name)]
    return f" with types {', '.join(other)}" if other else ""


def _field(field: object) -> str:
    name, kind = member(field, "name"), member(field, "type")
    return str(name) if kind in (MISSING, TYPES_OF_FIELDS.get(str(name))) else f"{name}:{kind}"


TYPES_OF_FIELDS = {field["name"]: field["type"] for field in (*domain_fields(), *message_fields())}
"""By the name of a field of an envelope ("Typed-data envelope")."""
JSON_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
OTHER_KINDS = re.compile(r"-?[\d.]+|true|false|null|")
"""Texts that look like a value of another kind without their quotes."""


def _bare(value: object) -> str:
    """A value as JSON, whose texts stand without quotes unless they look like another kind of value."""
    return JSON_TEXT.sub(lambda found: found[0] if OTHER_KINDS.fullmatch(found[1]) else found[1], written(value))
