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
"""So many of the steps of further failures are told; of the rest their number."""
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
    last, *others = _failures(conversation)
    objects = Objects(conversation)
    chosen = _chosen_steps(conversation, exchanges[: last + 1], objects, about, most)
    steps = [exchanges[number] for number in chosen]
    variables = _variables(conversation, exchanges, [*chosen, *others[:MOST_OTHERS]])
    given = {value: variables[name] for name, value in conversation.names.items() if name in variables}
    name_of = _with_addresses(conversation, exchanges, variables, given)
    listed = dict(_listed_wallets(steps, given))
    listed |= dict(_addresses(exchanges, listed))
    names = Names(variables, listed | name_of | objects.actions(steps, name_of))
    words = {*re.findall(r"\w+", about)}
    full = _in_full(exchanges, chosen, last, {*HASH_OR_ADDRESS.findall(about)} - {*name_of})
    *before, failing = _once(_with_gaps(exchanges, chosen, names, conversation.left_out, full, words))
    further = _beside([exchanges[number] for number in others], exchanges[last], names, words)
    return Story((*before, failing + unchanged_since(exchanges[:last], exchanges[last]), *further), names)


def _failures(conversation: Conversation | ConversationShown) -> Iterator[int]:
    """Where the request that failed stands among those that were sent, and those that failed after it."""
    departed = len(conversation.exchanges) - 1 if conversation.departed is None else conversation.departed
    for at in (departed, *(at for at in conversation.others if at > departed)):
        yield len(_sent(conversation.exchanges[: at + 1])) - 1


def _chosen_steps(
    conversation: Conversation | ConversationShown,
    exchanges: Sequence[Exchanged],
    objects: Objects,
    about: str,
    most: int,
) -> Sequence[int]:
    """The requests to tell of those up to the one that failed: what concerns the objects of the failure."""
    name_of = {value: name for name, value in conversation.names.items()}
    name_of |= dict(_addresses(exchanges, name_of))
    unnamed = {value for value in searched(HASH_OR_ADDRESS, about) if value not in name_of}
    return concerned(exchanges, objects, about, unnamed, max(most, LEAST_STEPS))


def _variables(
    conversation: Conversation | ConversationShown, exchanges: Sequence[Exchanged], chosen: Sequence[int]
) -> dict[str, str]:
    """Variable to name: the words by which the case calls its objects, or those that the chosen steps give them."""
    words = {name: value for name, value in conversation.names.items() if is_word(value)}
    return names_of(exchanges, chosen) | words


def _with_addresses(
    conversation: Conversation | ConversationShown,
    exchanges: Sequence[Exchanged],
    variables: Mapping[str, str],
    given: Mapping[str, str],
) -> dict[str, str]:
    """Value to name: what the case gave names to, and the addresses and hashes of its wallets and keys."""
    name_of = {**given, **dict(_addresses(exchanges, given)), **dict(_account_wallets(exchanges, variables))}
    return name_of | dict(_own_names(conversation, variables)) | dict(_addresses_of_ids(conversation, variables))


def _in_full(exchanges: Sequence[Exchanged], chosen: Sequence[int], last: int, unnamed: Set[str]) -> set[int]:
    """The steps whose answers are told whole: the failing one, what it differs from, and what holds unnamed values."""
    full = {chosen[-1], *otherwise_before(exchanges[:last], exchanges[last])}
    return full | {number for number in chosen if answers(exchanges[number], unnamed)}


def _beside(others: Sequence[Exchanged], first: Exchanged, names: Names, about: Set[str]) -> Iterator[str]:
    """The steps of further failures, which came after the first; of those that are told alike, how many there are."""
    above = {asked_for(first): first}
    told: Counter[str] = Counter()
    for other in others:
        text = step(other, names, frozenset(), about=about, above=above.get(asked_for(other)), in_full=False)
        above[asked_for(other)] = other
        told[text] += 1
    steps = [f"{text} ({times} times)" if times > 1 else text for text, times in told.items()]
    yield from (f"too: {text}" for text in steps[:MOST_OTHERS])
    if left := sum([*told.values()][MOST_OTHERS:]):
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
