"""What the requests of a case are about, and the names that its story calls these objects by."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from urllib.parse import unquote

from conformance.endpoints.conversation import OF_JQ
from conformance.report.results import ConversationExchangeShown, ConversationShown
from conformance.service.derivations import code_cid, hashed_cid
from conformance.values.ids import Cid
from conformance.values.json_text import parse, written
from conformance.values.shown_text import with_powers
from conformance.verdict import Conversation, ConversationExchange

Exchanged = ConversationExchange | ConversationExchangeShown
SHORTEST = 8
"""Characters of a value that its name replaces in any text; shorter ones, as group ids, are named in requests."""
VARIABLE = re.compile(r"\$\{?([A-Z][A-Z0-9_]*_[0-9]+)\}?")
BARE = re.compile(r"(?<=[:\[,])\s*(\$\{\w+\})")
"""A variable in place of a number in JSON."""
LONG_HEX = re.compile(r"\b(?!\d+\b)(0x)?([0-9a-fA-F]{4})[0-9a-fA-F]{9,}([0-9a-fA-F]{4})\b")
"""Digits alone are a number, which is shown whole."""
HASH = re.compile(r"\b0x[0-9a-f]{64}\b")
CID = re.compile(r"\b(?:Qm[1-9A-HJ-NP-Za-km-z]{44}|b[a-z2-7]{50,})\b")
"""CIDv0 in base58, and CIDv1 in base32."""
ACCOUNT_KEY = "API_KEY"
"""How the variables of account keys begin."""
ACCOUNTS = ("alice", "bob", "carol")
LETTERS = {"add_usage_api_key": "K", "add_usage_api_key_with_signature": "K", "add_group": "G", "list_groups": "G",
           "create_wallet": "P", "list_wallets": "P", "list_wallets_in_group": "P", "list_actions": "X",
           "create_payment_intent": "intent", "get_node_chain_config": "contract", "get_api_payers": "payer",
           "get_admin_api_payer": "admin_payer"}  # fmt: skip
"""What an operation gives, by the letter of its name: usage keys, groups, wallets, actions, payment intents, payers."""


@dataclass(frozen=True)
class Names:
    """The names of what a case made."""

    variables: Mapping[str, str] = field(default_factory=dict)
    """Variable of a conversation to name."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Value to name; credentials are not among them."""

    def shown(self, text: str) -> str:
        """A text with names in place of variables and values, other long hex values cut, and powers of two named."""
        for value in sorted(self.values, key=len, reverse=True):
            if len(value) >= SHORTEST:
                text = text.replace(value, self.values[value])
        text = VARIABLE.sub(lambda found: self.of(found[1]), text)
        return with_powers(LONG_HEX.sub(r"\1\2…\3", text))

    def of(self, variable: str) -> str:
        """The name of a variable; of a credential that has none, that it is one."""
        name = variable.lower()
        return self.variables.get(variable, f"(secret {name})" if variable.startswith(ACCOUNT_KEY) else name)


class Objects:
    """What requests are about: variables, and the hashes and CIDs that no answer gave before; a CID is its hash."""

    def __init__(self, conversation: Conversation | ConversationShown) -> None:
        self._variables = {
            value: _variable(name) for name, value in conversation.names.items() if len(value) >= SHORTEST
        }
        self._hashes: dict[str, str] = {}
        sent = "\n".join(text for one in conversation.exchanges for text in sent_texts(one))
        self._known = {*HASH.findall(sent), *map(self._hash, CID.findall(sent)), *self._variables}

    def of_text(self, text: str) -> list[str]:
        """The objects of a text, in their order."""
        found = {match.start(): match[1] for match in VARIABLE.finditer(text)}
        found |= {match.start(): self._object(match[0]) for match in HASH.finditer(text)}
        found |= {match.start(): self._object(self._hash(match[0])) for match in CID.finditer(text)}
        return [found[place] for place in sorted(found)]

    def _object(self, value: str) -> str:
        return self._variables.get(value, value)

    def _hash(self, cid: str) -> str:
        return self._hashes.setdefault(cid, hashed_cid(cid))

    def of_values(self, text: str) -> frozenset[str]:
        """The objects whose values stand in a text."""
        return frozenset(name for value, name in self._variables.items() if value in text) | {*self.of_text(text)}

    def touched(self, exchange: Exchanged) -> frozenset[str]:
        """What a request names, who asks, the action that it runs, and the keys whose hashes a call holds."""
        named = {name for text in sent_texts(exchange) for name in self.of_text(text)}
        if exchange.contract:
            called = self.of_values(written(exchange.contract.arguments))
            named |= {name for name in called if name.startswith(ACCOUNT_KEY)}
        return frozenset(named | {self._object(self._hash(cid)) for cid in self.run(exchange)}) - exchange.given.keys()

    def run(self, exchange: Exchanged) -> list[str]:
        """The CID of the code that a run sends, where another request names it or its hash."""
        return [cid for cid in code_cids(exchange) if self._hash(cid) in self._known]

    def actions(self, told: Sequence[Exchanged], named: Mapping[str, str]) -> dict[str, str]:
        """The names of the actions whose CIDs the steps hold: a CID and its hash have the same name."""
        names: dict[str, str] = {}
        taken = {name for name in named.values() if re.fullmatch("X[0-9]*", name)}
        free = (f"X{number if number > 1 else ''}" for number in range(1, len(self._hashes) + len(taken) + 2))
        named_or_run = [[*CID.findall("\n".join(sent_texts(one))), *self.run(one)] for one in told]
        for cid in dict.fromkeys(chain.from_iterable(named_or_run)):
            name = named.get(self._hash(cid)) or next(name for name in free if name not in taken)
            names |= {cid: name, self._hash(cid): name}
        return names


def _variable(name: str) -> str:
    """The variable of a value: that of its key for the hash by which the chain knows the key."""
    return name.removeprefix("$").removesuffix("'s hash") if name.startswith("$") else name


WORD = re.compile(r"[a-z]+(_[a-z]+)*")


def is_word(value: str) -> bool:
    """Whether a value is a word that needs no name: an OpenAPI description gives the names of operations."""
    return WORD.fullmatch(value) is not None


def names_of(exchanges: Sequence[Exchanged], told: Sequence[int]) -> dict[str, str]:
    """Variable to name: alice for the first account of the steps that are told, K2 for their second usage key."""
    wallets = {name for one in exchanges for name in AS_A_WALLET.findall(one.request_body or "")}
    kinds = {
        variable: _kind(exchange, variable) or ("P" if variable in wallets else "")
        for exchange in exchanges
        for variable in exchange.given
    }
    ids = {address: variable for one in exchanges for variable, address in found_by(one) if kinds.get(address) == "P"}
    kinds = {name: kind for name, kind in kinds.items() if name not in ids}
    in_steps = dict.fromkeys(name for number in told for name in variables_of(exchanges[number]) if name in kinds)
    names = _accounts(exchanges)
    numbers: Counter[str] = Counter()
    taken = {*names.values()}
    for variable in (*in_steps, *(name for name in kinds if name not in in_steps)):
        kind = kinds[variable]
        while variable not in names:
            numbers[kind] += 1
            name = _name(kind, numbers[kind], variable)
            if kind != "account" or name not in taken:
                names[variable] = name
    names |= {address: names[variable] for address, variable in ids.items()}
    keys = dict.fromkeys(name for one in exchanges for name in credentials_of(one) if name not in kinds)
    other = dict.fromkeys(
        name for one in exchanges for name in variables_of(one) if name.startswith(ACCOUNT_KEY) and name not in kinds
    )
    unnamed = [("unknown_key", keys), ("secret", [name for name in other if name not in keys])]
    return names | {name: _name(kind, at, name) for kind, these in unnamed for at, name in enumerate(these, 1)}


def found_by(exchange: Exchanged) -> Iterator[tuple[str, str]]:
    """What an exchange gave, with the value given before by which it was found in the answer."""
    for variable, path in exchange.given.items():
        yield from ((variable, name) for name in OF_JQ.findall(path))


AS_A_WALLET = re.compile(r'"pkp_?[iI]d": ?"\$\{?([A-Z][A-Z0-9_]*_[0-9]+)\}?"')
"""The variable of a wallet's id, which an event of the contract may have given, in a request."""
CALLED = re.compile(r'"(\w+) of a conformance case"')
"""How the suite describes an account that its case gives a name."""


def _accounts(exchanges: Sequence[Exchanged]) -> dict[str, str]:
    """Variable to name of the accounts that the case calls by a name."""
    made = [(one, CALLED.search(one.request_body or "")) for one in exchanges if one.operation == "new_account"]
    called = {name: found[1] for one, found in made if found for name in one.given if name.startswith(ACCOUNT_KEY)}
    return called if len({*called.values()}) == len(called) else {}


def credentials_of(exchange: Exchanged) -> list[str]:
    """The variables of who asks."""
    return [name for text in exchange.request_headers.values() for name in VARIABLE.findall(text)]


def _kind(exchange: Exchanged, variable: str) -> str:
    if exchange.operation == "new_account":
        return "account" if variable.startswith(ACCOUNT_KEY) else ""
    return LETTERS.get(exchange.operation, "")


def _name(kind: str, number: int, variable: str) -> str:
    if kind == "account":
        return ACCOUNTS[number - 1] if number <= len(ACCOUNTS) else f"account{number}"
    return f"{kind}{number if number > 1 else ''}" if kind else variable.lower()


RUN = "run_action"
ALGORITHMS = ("ipfs_add_v0", "ipfs_add_v1")


def code_cids(exchange: Exchanged) -> list[Cid]:
    """The CIDs of the code that a run sends, by each algorithm of `crypto.cid_algorithm`."""
    texts = [text for _, text in body_members(exchange) if isinstance(text, str)] if exchange.operation == RUN else []
    code = max(texts, key=len, default="")
    return [cid for algorithm in ALGORITHMS if (cid := code_cid(code, algorithm))]


def sent_texts(exchange: Exchanged) -> tuple[str, ...]:
    """The texts of a request that may name objects: of who asks, and of what is asked."""
    return *exchange.request_headers.values(), unquote(exchange.url), exchange.request_body or ""


def variables_of(exchange: Exchanged) -> Iterator[str]:
    """The variables of an exchange: of who asks, of what is asked, of what the answer gives."""
    for text in sent_texts(exchange):
        yield from VARIABLE.findall(text)
    yield from exchange.given


def body_members(exchange: Exchanged) -> list[tuple[str, object]]:
    """The members of a request's body; one without a name for another body."""
    try:
        body = parse(BARE.sub(r'"\1"', exchange.request_body or "{}"))
    except ValueError:
        return [("body", exchange.request_body)]
    return [*body.items()] if isinstance(body, dict) else [("", body)]


def items_of(body: str) -> Sequence[Mapping[str, object]]:
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
