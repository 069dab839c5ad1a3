"""The story of a failing case: who asked for what, and what came back, a line each, in names in place of ids."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, urlsplit

from conformance.report.objects import (
    CID,
    LONG_HEX,
    VARIABLE,
    Exchanged,
    Names,
    Objects,
    body_members,
    code_cids,
    credentials_of,
    is_word,
    names_of,
    sent_texts,
)
from conformance.report.results import ConversationShown
from conformance.service.session import DESCRIPTION
from conformance.values.json_text import parse, written
from conformance.values.json_values import member
from conformance.values.shown_text import cut, plain
from conformance.verdict import Conversation, ConversationExchange

MOST_STEPS, LEAST_STEPS = 9, 4
"""Steps of a story; those between are counted."""
REFUSED = 400
USUAL_METHODS = frozenset({"GET", "POST"})
LONGEST_STEP = 200
LONGEST_GAP = 90
"""Characters of the operations between two steps."""
LONGEST_TEXT, LONGEST_CODE = 30, 80
"""Characters of a text inside of a step, and of a text that is all of its request."""
SHORT_ANSWER = 60
"""Characters of an answer that is told with any step, if it gives no object a name."""
WALLET_AUTH = "X-Wallet-Auth"
READS = ("list_", "get_", "account_exists", "run_action", "balance", "stripe_config")
"""How the operations begin that leave the objects of a case as they are."""
OF_ACCOUNTS = frozenset({"convert_to_chain_secured_account"})
"""Operations that change what a whole account may do."""
LISTS_OF_WALLETS = frozenset({"list_wallets", "list_wallets_in_group"})
ADDRESS = re.compile("0x[0-9a-fA-F]{40}")
IN_PATH = re.compile(r"(?<=/)(?:\d+|\$\{\w+\})(?=/|$)")
"""The id of an object in the path of a request."""
HASH_OR_ADDRESS = re.compile("0x[0-9a-fA-F]{40,64}")
LABELS = ("name", "description")


@dataclass(frozen=True)
class Story:
    """What led to a failure."""

    steps: tuple[str, ...] = ()
    """The steps that concern the failing object, the last of them the failing one, and how many lie between them."""
    names: Names = field(default_factory=Names)

    @property
    def used(self) -> Mapping[str, str]:
        """The names that the steps use, and their values; credentials are left out."""
        words = {word for step in self.steps for word in re.findall(r"\w+", step)}
        used: dict[str, str] = {}
        for value, name in sorted(self.names.values.items(), key=lambda one: not CID.fullmatch(one[0])):
            if name in words and name != value:
                used[name] = f"{used[name]}, hashed {value}" if name in used else value
        return used


def story(conversation: Conversation | ConversationShown | None, about: str = "", most: int = MOST_STEPS) -> Story:
    """The story of a conversation; an empty one where none was kept.

    `about` is what was expected and what came: the story tells of the objects in it, too.
    """
    if conversation is None or not conversation.exchanges:
        return Story()
    exchanges = _sent(conversation.exchanges)
    departed = conversation.departed
    last = len(exchanges if departed is None else _sent(conversation.exchanges[: departed + 1])) - 1
    objects = Objects(conversation)
    told = _concerned(exchanges[: last + 1], objects, about, max(most, LEAST_STEPS))
    variables = names_of(exchanges, told) | {
        name: value for name, value in conversation.names.items() if is_word(value)
    }
    named = [(variables[name], value) for name, value in conversation.names.items() if name in variables]
    values = {value: name for name, value in named}
    values |= dict(_addresses(exchanges, values)) | dict(_own_names(conversation, variables))
    names = Names(variables, values | objects.actions([exchanges[number] for number in told], values))
    full = {told[-1], *_otherwise_before(exchanges[:last], exchanges[last])}
    full |= {number for number in told if _answers(exchanges[number], {*HASH_OR_ADDRESS.findall(about)} - {*values})}
    return Story(tuple(_with_gaps(exchanges, told, names, conversation.left_out, full)), names)


def _sent(exchanges: Sequence[Exchanged]) -> Sequence[Exchanged]:
    """The exchanges that were sent; what others would have given is given by the one before them."""
    sent: list[Exchanged] = []
    for one in exchanges:
        if one.not_sent and sent:
            given = {name: path for name, path in sent[-1].given.items() if name not in "".join(one.given.values())}
            sent[-1] = _giving(sent[-1], given | one.given)
        elif not one.not_sent:
            sent.append(one)
    return sent


def _giving(exchange: Exchanged, given: dict[str, str]) -> Exchanged:
    if isinstance(exchange, ConversationExchange):
        return replace(exchange, given=given)
    return exchange.model_copy(update={"given": given})


def _answers(exchange: Exchanged, values: Set[str]) -> bool:
    """Whether an answer holds one of these values, which a name would not tell."""
    body = exchange.response_body.lower()
    return any(value.lower() in body for value in values)


def _own_names(
    conversation: Conversation | ConversationShown, variables: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The addresses and hashes of the case's own wallets and keys, with what they are called."""
    accounts = {name for one in conversation.exchanges if one.operation == "new_account" for name in one.given}
    for called, value in conversation.names.items():
        name, _, what = called.partition("'s ")
        variable = name.removeprefix("$")
        if what and (variable == name or (variable in variables and (variable in accounts) is (what == "account"))):
            text = f"{variables.get(variable, name)}'s {what}"
            yield from _spelled(value, text)


def _addresses(exchanges: Sequence[Exchanged], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The addresses of wallets, which lists give beside ids that have names."""
    for one in exchanges:
        for item in _items(one.response_body) if one.operation in LISTS_OF_WALLETS else ():
            texts = [value for value in item.values() if isinstance(value, str)]
            called = next((names[text] for text in texts if text in names), "")
            for address in filter(ADDRESS.fullmatch, texts if called else []):
                yield from _spelled(address, f"{called}'s address")


def _spelled(address: str, name: str) -> Iterator[tuple[str, str]]:
    """An address or hash as it was given, and in small letters."""
    yield address.lower(), f"{name} in small letters"
    yield address, name


def _items(body: str) -> Sequence[Mapping[str, object]]:
    """The items of a list, which may be a member of its answer."""
    with suppress(ValueError):
        value = parse(body)
        listed = (
            next((inner for inner in value.values() if isinstance(inner, list)), [])
            if isinstance(value, dict)
            else value
        )
        return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []
    return []


def _concerned(exchanges: Sequence[Exchanged], objects: Objects, about: str, most: int) -> list[int]:
    """The numbers of the last exchange and of those before it that made or changed what the failure is about.

    The newest write before it, and one that was refused since, are told whatever they are about: a fault mostly is in
    their effects. So is the same request where it was answered otherwise before. Where nothing of this is there, what
    called the same operation is told.
    """
    *before, last = exchanges
    accounts = {name for one in exchanges if one.operation == "new_account" for name in one.given}
    touched = objects.touched(last)
    matter = (touched | objects.of_values(about)) - accounts or touched
    writes = [number for number, one in enumerate(before) if _writes(one) and one.operation != "new_account"]
    newest = {number for number in writes[-1:] if (before[number].status or 0) >= REFUSED}
    newest |= {*[number for number in writes if (before[number].status or REFUSED) < REFUSED][-1:]}
    newest |= _otherwise_before(before, last)
    found = [
        number
        for number, one in enumerate(before)
        if matter & one.given.keys()
        or (_writes(one) and matter & objects.touched(one))
        or one.operation in OF_ACCOUNTS
        or number in newest
    ]
    found = [number for number in found if _request(before[number]) != _request(exchanges[number + 1])]
    if len(found) >= most:
        found = [number for number in found if (before[number].status or REFUSED) < REFUSED or number in newest]
    found = _ends(found, most)
    if not found and last.operation:
        found = [number for number, one in enumerate(before) if one.operation == last.operation][1 - most :]
    room = max(most - 1 - len(found), 0)
    return [*sorted([*found, *_givers(before, found, objects, accounts)[:room]]), len(before)]


def _givers(before: Sequence[Exchanged], found: Sequence[int], objects: Objects, accounts: Set[str]) -> list[int]:
    """The steps whose answers gave what the others name."""
    named = frozenset().union(*(objects.touched(before[number]) for number in found)) - accounts
    return [number for number, one in enumerate(before) if number not in found and named & one.given.keys()]


def _writes(exchange: Exchanged) -> bool:
    if exchange.contract:
        return exchange.contract.is_write
    return bool(exchange.operation) and not exchange.operation.startswith(READS)


def _otherwise_before(before: Sequence[Exchanged], last: Exchanged) -> set[int]:
    """The newest of the same requests as the last whose answer was another: it shows when that was still right.

    Where there is none, the newest that another caller sent and that ended with another status, or that asked for
    another page.
    """
    alike = [number for number, one in enumerate(before) if _of_whomever(one) == _of_whomever(last)]
    same = [number for number in alike if _request(before[number])[:-1] == _request(last)[:-1]]
    other = [number for number in same if before[number].response_body != last.response_body]
    other = other or [number for number in alike if before[number].status != last.status]
    return {*(other or [number for number, one in enumerate(before) if _is_other_page(one, last)])[-1:]}


def _is_other_page(one: Exchanged, last: Exchanged) -> bool:
    """Whether two requests ask for pages of the same size of one list."""
    sizes = [dict(parse_qsl(urlsplit(each.url).query)).get("page_size") for each in (one, last)]
    paths = [(each.method, urlsplit(each.url).path, *credentials_of(each)) for each in (one, last)]
    return one.url != last.url and sizes[0] == sizes[1] is not None and paths[0] == paths[1]


def _of_whomever(exchange: Exchanged) -> tuple[str, ...]:
    """What makes a request the same as another, whoever sends it."""
    return exchange.method, *sent_texts(exchange)[len(exchange.request_headers) :]


def _ends(numbers: list[int], most: int) -> list[int]:
    """The first few, which made the objects, and the newest."""
    if len(numbers) < most:
        return numbers
    return numbers[:2] + numbers[-(most - 3) :]


def _request(exchange: Exchanged) -> tuple[object, ...]:
    """What makes a request the same as another, with its status."""
    return exchange.method, *sent_texts(exchange), exchange.status


def _with_gaps(
    exchanges: Sequence[Exchanged], told: Sequence[int], names: Names, left_out: int, full: Set[int]
) -> Iterator[str]:
    before = -1 - left_out
    given: set[str] = set()
    for number in told:
        between = exchanges[max(before + 1, 0) : number]
        if number - before == 2 and between and _tells(between[0], exchanges[number]):
            yield _step(between[0], names, given)
        elif number - before > 1:
            yield _gap(number - before - 1 - len(between), between)
        yield _step(exchanges[number], names, given, in_full=number in full)
        given |= exchanges[number].given.keys()
        before = number


def _tells(alone: Exchanged, following: Exchanged) -> bool:
    """Whether the step of a request that lies alone between two tells more than its operation would."""
    return bool(credentials_of(alone)) and _request(alone) != _request(following)


def _gap(left_out: int, between: Sequence[Exchanged]) -> str:
    """What lies between two steps, by its operations: ``… create_wallet, 2 list_wallets``; other requests last."""
    asked = Counter(map(_asked_for, sorted(between, key=lambda one: not one.operation and not one.contract)))
    listed = [f"{number} {name}" if number > 1 else name for name, number in asked.items()]
    if between and all(_is_bearer(one) for one in between):
        listed[-1] += " as Bearer"
    return cut(f"… {', '.join([*([f'{left_out} requests'] if left_out else []), *listed])}", LONGEST_GAP)


def _step(exchange: Exchanged, names: Names, earlier: Set[str], *, in_full: bool = False) -> str:
    """``alice: add_group pkp_ids_permitted [P] → 200, G``. What an earlier step gave, too, is given again."""
    credentials = [
        f"{names.of(name)}{' as Bearer' if _is_bearer(exchange) else ''}" for name in credentials_of(exchange)
    ]
    proof = [WALLET_AUTH for name in exchange.request_headers if name.title() == WALLET_AUTH]
    sender = [names.shown(exchange.contract.sender)] if exchange.contract and exchange.contract.sender else []
    who = next(iter([*sender, *credentials, *proof]), "anybody")
    run = "".join(f"{names.values[cid]}, " for cid in code_cids(exchange) if cid in names.values)
    in_path = "".join(f"{found} " for found in IN_PATH.findall(urlsplit(exchange.url).path))
    asked = f"{_asked_for(exchange)} {in_path if exchange.operation else ''}{run}{_members(exchange, in_full=in_full)}"
    asked = cut(names.shown(asked), LONGEST_STEP)
    answer = ["no answer" if exchange.status is None else str(exchange.status)]
    if exchange.contract and exchange.status is not None:
        result = names.shown(_told(exchange.contract.result, LONGEST_STEP))
        return f"{who}: {asked.rstrip()} → {cut(result, LONGEST_STEP)}"
    answer += [f"{names.of(name)} again" if name in earlier else names.of(name) for name in exchange.given]
    is_short = not _writes(exchange) and not exchange.given and 0 < len(exchange.response_body) <= SHORT_ANSWER
    if in_full or is_short or (exchange.status or 0) >= REFUSED:
        answer += [cut(names.shown(_told(exchange.response_body, LONGEST_STEP)), LONGEST_STEP)]
    return f"{who}: {asked.rstrip()} → {', '.join(filter(None, answer))}"


def _is_bearer(exchange: Exchanged) -> bool:
    return any(text.startswith("Bearer ") for text in exchange.request_headers.values())


def _told(body: str, most: int = 0) -> str:
    """An answer in one line; of a problem document (RFC 9457) what it says.

    An answer of more than `most` characters is told without the members that are false or empty, if it is JSON.
    """
    text = plain(" ".join(body.split()))
    with suppress(ValueError):
        value = parse(body)
        if isinstance(value, dict) and isinstance(value.get("detail"), str):
            return plain(f"{value.get('code') or value.get('title') or ''}: {value['detail']}".removeprefix(": "))
        if 0 < most < len(text):
            return plain(_without_empty(value))
    return text


def _is_empty(value: object) -> bool:
    return value is False or value in ([], "", None)


def _without_empty(value: object) -> str:
    """A JSON value, of whose objects those members that are false or empty are only counted."""
    if isinstance(value, list):
        return f"[{','.join(map(_without_empty, value))}]"
    if not isinstance(value, dict):
        return written(value)
    told = [f'"{name}":{_without_empty(member)}' for name, member in value.items() if not _is_empty(member)]
    empty = len(value) - len(told)
    return f"{{{','.join([*told, *([f'{empty} false or empty'] if empty else [])])}}}"


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
MORE = re.compile(r" \(and \d+ more: |$")


def _end_of_document(text: str, begin: int) -> int:
    """Where a JSON document in a text ends; where it was cut off, the end of the text that belongs to it."""
    with suppress(ValueError, RecursionError):
        return json.JSONDecoder().raw_decode(text, begin)[1]
    found = MORE.search(text, begin)
    return found.start() if found else len(text)


RPC_METHOD = re.compile(r'"method":\s*"(\w+)"')


def _request_line(exchange: Exchanged) -> str:
    """The methods of a JSON-RPC request, which may be a batch; of other requests method and path."""
    body = exchange.request_body or ""
    methods = dict.fromkeys(RPC_METHOD.findall(body)) if '"jsonrpc"' in body else {}
    return " and ".join(methods) or f"{exchange.method} {urlsplit(exchange.url).path}"


def _asked_for(exchange: Exchanged) -> str:
    """The operation that was called, with a method that hardly any has; the request line of other requests."""
    called = exchange.contract.function if exchange.contract else exchange.operation or _request_line(exchange)
    rare = exchange.operation and exchange.method not in USUAL_METHODS
    return f"{called} by {exchange.method}" if rare else called


def _members(exchange: Exchanged, *, in_full: bool) -> str:
    """The members of a request: labels last, and those that are false or empty only counted.

    Pages and the suite's own description of what it makes are left out unless it is told in full.
    """
    body = [] if '"jsonrpc"' in (exchange.request_body or "") else body_members(exchange)
    body = [*exchange.contract.arguments.items()] if exchange.contract else body
    members = [*parse_qsl(urlsplit(exchange.url).query), *body]
    members = [
        member for member in members if in_full or not (member[0].startswith("page_") or member[1] == DESCRIPTION)
    ]
    members.sort(key=lambda member: member[0].endswith(LABELS))
    full = [
        name if value is True else f"{name} {_value(value, LONGEST_TEXT if name else LONGEST_CODE)}".strip()
        for name, value in members
        if not _is_empty(value)
    ]
    empty = len(members) - len(full)
    return ", ".join([*full, *([f"{empty} false or empty"] if empty else [])])


def _value(value: object, longest: int) -> str:
    if envelope := _envelope(value):
        return envelope
    text = value if isinstance(value, str) else _bare(value)
    text = plain(text)
    if isinstance(value, str) and not any(form.fullmatch(value) for form in (VARIABLE, LONG_HEX, CID)):
        return json.dumps(cut(text, longest), ensure_ascii=False)
    return text


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
    members = {**message, "chainId": domain.get("chainId")}
    structs = {str(value.get("primaryType")): [*message], "EIP712Domain": [*domain]}
    return plain(f"{value.get('primaryType')} {_bare(members)}{_other_types(value.get('types'), structs)}")


def _other_types(types: object, structs: Mapping[str, Sequence[str]]) -> str:
    """The types of typed data where they are not those of its values, in their order; else nothing."""
    if not isinstance(types, dict):
        return ""
    told = {name: [str(member(field, "name")) for field in fields] for name, fields in types.items()
            if isinstance(fields, list)}  # fmt: skip
    other = [f"{name}({','.join(fields)})" for name, fields in told.items() if fields != structs.get(name)]
    return f" with types {', '.join(other)}" if other else ""


JSON_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
OTHER_KINDS = re.compile(r"-?[\d.]+|true|false|null|")
"""Texts that look like a value of another kind without their quotes."""


def _bare(value: object) -> str:
    """A value as JSON, whose texts stand without quotes unless they look like another kind of value."""
    return JSON_TEXT.sub(lambda found: found[0] if OTHER_KINDS.fullmatch(found[1]) else found[1], written(value))
