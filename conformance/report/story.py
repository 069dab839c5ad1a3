"""The story of a failing case: who asked for what, and what came back, a line each, in names in place of ids."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import count, groupby

from conformance.endpoints.conversation import OF_JQ
from conformance.report.concerned import answers, concerned, otherwise_before, request_of, searched, unchanged_since
from conformance.report.objects import (
    ACCOUNT_KEY,
    CID,
    HASH,
    Exchanged,
    Names,
    Objects,
    credentials_of,
    found_by,
    is_word,
    items_of,
    names_of,
)
from conformance.report.results import ConversationShown
from conformance.report.telling import asked_for, is_bearer, step
from conformance.values.shown_text import cut
from conformance.verdict import Conversation, ConversationExchange

MOST_STEPS, LEAST_STEPS = 9, 4
"""Steps of a story; those between are counted."""
MOST_OTHERS = 3
"""Of the requests that failed beside the one that is told, so many are told, too."""
LONGEST_GAP = 90
"""Characters of the operations between two steps."""
LISTS_OF_WALLETS = frozenset({"list_wallets", "list_wallets_in_group"})
ADDRESS = re.compile("0x[0-9a-fA-F]{40}")
HASH_OR_ADDRESS = re.compile("0x[0-9a-fA-F]{40,64}")


@dataclass(frozen=True)
class Story:
    """What led to a failure."""

    steps: tuple[str, ...] = ()
    """The steps that concern the failing object, the failing one after them, and how many lie between them. Behind that
    stand others that failed."""
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
    departed = len(conversation.exchanges) - 1 if conversation.departed is None else conversation.departed
    last, *others = (
        len(_sent(conversation.exchanges[: at + 1])) - 1
        for at in (departed, *(at for at in conversation.others if at > departed))
    )
    objects = Objects(conversation)
    known = {value: name for name, value in conversation.names.items()}
    known |= dict(_addresses(exchanges, known))
    unnamed = {value for value in searched(HASH_OR_ADDRESS, about) if value not in known}
    told = concerned(exchanges[: last + 1], objects, about, unnamed, max(most, LEAST_STEPS))
    variables = names_of(exchanges, [*told, *others[:MOST_OTHERS]]) | {
        name: value for name, value in conversation.names.items() if is_word(value)
    }
    named = [(variables[name], value) for name, value in conversation.names.items() if name in variables]
    values = {value: name for name, value in named}
    listed = dict(_listed_wallets([exchanges[number] for number in told], values))
    listed |= dict(_addresses(exchanges, listed))
    values |= dict(_addresses(exchanges, values)) | dict(_account_wallets(exchanges, variables))
    values |= dict(_own_names(conversation, variables)) | dict(_addresses_of_ids(conversation, variables))
    names = Names(variables, listed | values | objects.actions([exchanges[number] for number in told], values))
    full = {told[-1], *otherwise_before(exchanges[:last], exchanges[last])}
    untold = {*HASH_OR_ADDRESS.findall(about)} - {*values}
    full |= {number for number in told if answers(exchanges[number], untold)}
    words = {*re.findall(r"\w+", about)}
    *steps, failing = _once(_with_gaps(exchanges, told, names, conversation.left_out, full, words))
    beside = _beside([exchanges[number] for number in others], exchanges[last], names, words)
    return Story((*steps, failing + unchanged_since(exchanges[:last], exchanges[last]), *beside), names)


def _beside(others: Sequence[Exchanged], first: Exchanged, names: Names, about: Set[str]) -> Iterator[str]:
    """The steps of further failures, which came after the first; those that would be told alike once."""
    above = {asked_for(first): first}
    told: list[str] = []
    for other in others:
        text = step(other, names, frozenset(), about=about, above=above.get(asked_for(other)), in_full=False)
        above[asked_for(other)] = other
        if text not in told:
            told.append(text)
    yield from (f"too: {text}" for text in told[:MOST_OTHERS])
    if left := len(others) - min(len(told), MOST_OTHERS):
        yield f"too: {left} more"


def _sent(exchanges: Sequence[Exchanged]) -> Sequence[Exchanged]:
    """The exchanges that were sent; what others would have given is given by the one before them."""
    sent: list[Exchanged] = []
    for one in exchanges:
        if one.not_sent and sent:
            by = {name for path in one.given.values() for name in OF_JQ.findall(path)}
            given = {name: path for name, path in sent[-1].given.items() if name not in by}
            sent[-1] = _giving(sent[-1], given | one.given)
        elif not one.not_sent:
            sent.append(one)
    return sent


def _giving(exchange: Exchanged, given: dict[str, str]) -> Exchanged:
    if isinstance(exchange, ConversationExchange):
        return replace(exchange, given=given)
    return exchange.model_copy(update={"given": given})


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


def _addresses_of_ids(
    conversation: Conversation | ConversationShown, variables: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """The addresses by which a list was searched for the ids of their wallets."""
    for one in conversation.exchanges:
        for variable, name in found_by(one):
            address = conversation.names.get(name, "")
            if variable in variables and ADDRESS.fullmatch(address):
                yield from _spelled(address, f"{variables[variable]}'s address")


def _listed_wallets(told: Sequence[Exchanged], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Names for the ids of the wallets that the steps list and no request names."""
    ids = [
        value
        for one in told
        if one.operation in LISTS_OF_WALLETS
        for item in items_of(one.response_body)
        for value in item.values()
        if isinstance(value, str) and HASH.fullmatch(value) and not any(text in names for text in item.values())
    ]
    taken = {*names.values()}
    free = (name for number in count(1) if (name := f"P{number if number > 1 else ''}") not in taken)
    yield from zip(dict.fromkeys(ids), free, strict=False)


def _addresses(exchanges: Sequence[Exchanged], names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The addresses of wallets, which lists give beside ids that have names."""
    for one in exchanges:
        for item in items_of(one.response_body) if one.operation in LISTS_OF_WALLETS else ():
            texts = [value for value in item.values() if isinstance(value, str)]
            called = next((names[text] for text in texts if text in names), "")
            for address in filter(ADDRESS.fullmatch, texts if called else []):
                yield from _spelled(address, f"{called}'s address")


def _account_wallets(exchanges: Sequence[Exchanged], variables: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The addresses that were answered with the keys of new accounts."""
    for one in exchanges:
        account = next((variables[name] for name in one.given if name.startswith(ACCOUNT_KEY)), "")
        if one.operation == "new_account" and account:
            for address in ADDRESS.findall(one.response_body):
                yield from _spelled(address, f"{account}'s wallet")


def _spelled(address: str, name: str) -> Iterator[tuple[str, str]]:
    """An address or hash as it was given, and in small letters."""
    yield address.lower(), f"{name} in small letters"
    yield address, name


def _once(steps: Iterable[str]) -> Iterator[str]:
    """The steps, equal ones in a row told once; the last one is told in any case."""
    *before, last = steps
    for told, alike in groupby(before):
        yield told
        if more := len([*alike]) - 1:
            yield f"(the same {more} more {'times' if more > 1 else 'time'})"
    yield last


RESTARTED = "(the node is restarted)"


def _with_gaps(
    exchanges: Sequence[Exchanged], told: Sequence[int], names: Names, left_out: int, full: Set[int], about: Set[str]
) -> Iterator[str]:
    before = -1 - left_out
    given: set[str] = set()
    above: dict[str, Exchanged] = {}

    def told_of(exchange: Exchanged, *, in_full: bool) -> str:
        called = asked_for(exchange)
        text = step(exchange, names, given, about=about, above=above.get(called), in_full=in_full)
        above[called] = exchange
        return text

    for number in told:
        between = exchanges[max(before + 1, 0) : number]
        if number - before == 2 and between and _tells(between[0], exchanges[number]):
            yield told_of(between[0], in_full=False)
        elif number - before > 1:
            yield from _gaps(number - before - 1 - len(between), between)
        if exchanges[number].restarted:
            yield RESTARTED
        yield told_of(exchanges[number], in_full=number in full)
        given |= exchanges[number].given.keys()
        before = number


def _gaps(left_out: int, between: Sequence[Exchanged]) -> Iterator[str]:
    """What lies between two steps, before and after each restart of the node."""
    begin = 0
    for at in [at for at, one in enumerate(between) if one.restarted]:
        if left_out or at > begin:
            yield _gap(left_out, between[begin:at])
        yield RESTARTED
        left_out, begin = 0, at
    if left_out or between[begin:]:
        yield _gap(left_out, between[begin:])


def _tells(alone: Exchanged, following: Exchanged) -> bool:
    """Whether the step of a request that lies alone between two tells more than its operation would."""
    return not alone.restarted and bool(credentials_of(alone)) and request_of(alone) != request_of(following)


def _gap(left_out: int, between: Sequence[Exchanged]) -> str:
    """What lies between two steps, by its operations: ``… create_wallet, 2 list_wallets``; other requests last."""
    asked = Counter(map(asked_for, sorted(between, key=lambda one: not one.operation and not one.contract)))
    listed = [f"{number} {name}" if number > 1 else name for name, number in asked.items()]
    if between and all(is_bearer(one) for one in between):
        listed[-1] += " as Bearer"
    if between and all(one.at_once for one in between):
        listed[-1] += " at once"
    return cut(f"… {', '.join([*([f'{left_out} requests'] if left_out else []), *listed])}", LONGEST_GAP)
