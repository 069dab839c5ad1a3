"""Reads the file of `--seed-accounts`: the accounts that a node begins with, in YAML or JSON. Errors name the line."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError
from pydantic_core import ErrorDetails

from reference_node.fields import LIST_LENGTH, ApiKey, Label, RawCid
from reference_node.permission.keys import is_private_key, parse_key

FAULTS_TOLD = 5

NAMES_TOLD = 10

DEEPEST = 20
"""Lists and mappings inside one another, more than a file of accounts has."""

MOST_VALUES = 1_000_000
"""Values of a file. A few aliases of aliases stand for more than any memory holds."""

Place: TypeAlias = tuple[str | int, ...]


class SeedError(Exception):
    """The file can't be used. The message is one line that names file, line and fault."""


def _usable(key: str) -> str:
    secret = parse_key(key)
    if secret is None or not is_private_key(secret):
        raise ValueError("write base64 of 32 bytes: openssl rand -base64 32 makes one")
    return key


SeedKey = Annotated[ApiKey, AfterValidator(_usable)]
Name = Annotated[Label, Field(min_length=1)]


def _kind(value: object) -> str:
    return LIST if isinstance(value, list) else WORD


LIST, WORD = "a list", "a word"
"""The names of the two forms in the locations of errors."""
Word = Annotated[Literal["any"], Tag(WORD)]
Names: TypeAlias = Annotated[
    Word | Annotated[list[Name], Field(max_length=LIST_LENGTH), Tag(LIST)], Discriminator(_kind)
]
"""Names, or `any`."""
Cids: TypeAlias = Annotated[
    Word | Annotated[list[RawCid], Field(max_length=LIST_LENGTH), Tag(LIST)], Discriminator(_kind)
]
"""Raw CIDs, or `any`."""


class Part(BaseModel):
    """A part of the file: the named members and no others."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class SeedGroup(Part):
    """A group. Its id is its position among the account's groups, from 1."""

    name: Name
    description: Label = ""
    wallets: Names = []
    """Wallets of the account."""
    actions: Cids = []


class SeedUsageKey(Part):
    """A usage key."""

    name: Name
    description: Label = ""
    key: SeedKey | None = None
    """`None`: derived from the seed."""
    can_create_groups: bool = False
    can_delete_groups: bool = False
    can_create_pkps: bool = False
    manage_ipfs_ids_in_groups: Names = []
    """Groups of the account, as in the other three arrays."""
    add_pkp_to_groups: Names = []
    remove_pkp_from_groups: Names = []
    execute_in_groups: Names = []

    @property
    def groups(self) -> dict[str, Names]:
        """The permission arrays."""
        names = ("manage_ipfs_ids_in_groups", "add_pkp_to_groups", "remove_pkp_from_groups", "execute_in_groups")
        return {name: getattr(self, name) for name in names}


class SeedAccount(Part):
    """An account with its initial objects."""

    name: Name
    description: Label = ""
    key: SeedKey | None = None
    """The account key; `None`: derived from the seed."""
    credits: Annotated[int, Field(ge=1, le=10**12)] | None = None
    """Cents; `None`: those of `--starter-credits`."""
    wallets: Annotated[list[Name], Field(max_length=LIST_LENGTH)] = []
    groups: Annotated[list[SeedGroup], Field(max_length=LIST_LENGTH)] = []
    usage_keys: Annotated[list[SeedUsageKey], Field(max_length=LIST_LENGTH)] = []


class SeedFile(Part):
    """The whole file."""

    seed: Annotated[str, Field(min_length=8)] | None = None
    """The secret from which keys that are not given and derivation paths of wallets are derived."""
    accounts: Annotated[list[SeedAccount], Field(min_length=1)]

    def derived(self, *purpose: str) -> bytes:
        """32 derived bytes for this purpose. Only one in 2^128 such strings is no private key."""
        told = b"".join(len(part.encode()).to_bytes(4) + part.encode() for part in purpose)
        return hmac.digest((self.seed or "").encode(), told, hashlib.sha256)

    def key_of(self, account: SeedAccount, usage_key: SeedUsageKey | None = None) -> bytes:
        """The secret bytes of a key."""
        given = usage_key.key if usage_key else account.key
        if given is not None:
            return base64.b64decode(given)
        return self.derived("usage key", account.name, usage_key.name) if usage_key else self.derived(account.name)

    def derivation_path(self, account: SeedAccount, wallet: str) -> int:
        """The path of a wallet."""
        return int.from_bytes(self.derived("wallet", account.name, wallet)) or 1


class _Loader(yaml.SafeLoader):
    """A safe loader that names the line of a value that it can't read, as the date 2020-99-99, or that is too deep."""

    _depth = 0

    def compose_node(self, parent: yaml.Node | None, index: object) -> yaml.Node | None:
        self._depth += 1
        if self._depth > DEEPEST:
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]  # the stubs give it no types
            raise yaml.MarkedYAMLError(problem="is nested too deeply", problem_mark=mark)
        node = super().compose_node(parent, index)  # type: ignore[arg-type]  # the stubs know no first node
        self._depth -= 1
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:
        try:
            made: object = super().construct_object(node, deep)
        except (ValueError, LookupError, AttributeError):
            raise yaml.MarkedYAMLError(problem="the value can't be read", problem_mark=node.start_mark) from None
        return made


def read_seeds(file: Path) -> SeedFile:
    """The accounts of a file. Raises `SeedError`."""
    try:
        text = file.read_bytes().decode()
        document = yaml.compose(text, Loader=_Loader)
        _refuse_repeated_members(document)
        seeds = SeedFile.model_validate(yaml.load(text, Loader=_Loader))  # noqa: S506 - a safe loader
        faults = list(_faults(seeds))
    except OSError as fault:
        raise SeedError(f"{file} can't be read: {fault.strerror}") from None
    except UnicodeDecodeError:
        raise SeedError(f"{file} can't be read: it is no UTF-8 text") from None
    except yaml.MarkedYAMLError as fault:
        line = fault.problem_mark.line + 1 if fault.problem_mark else 1
        raise SeedError(f"{file}:{line}: {fault.problem}") from None
    except yaml.reader.ReaderError as fault:
        line = text[: fault.position].count("\n") + 1
        raise SeedError(f"{file}:{line}: {fault.reason}: #x{ord(text[fault.position]):04x}") from None
    except ValidationError as invalid:
        faults = [
            (
                tuple(part for part in fault["loc"] if part not in {LIST, WORD}),
                _in_words(fault),
            )
            for fault in invalid.errors()
        ]
    if faults:
        told = [f"line {_line(document, place)}: {_shown(place)}: {message}" for place, message in faults[:FAULTS_TOLD]]
        raise SeedError(f"{file}: {'; '.join(told)}")
    return seeds


PARTS: dict[str, type[Part]] = {"accounts": SeedAccount, "groups": SeedGroup, "usage_keys": SeedUsageKey}
"""The parts of the file by the member that holds them."""


def _in_words(fault: ErrorDetails) -> str:
    """What is wrong with a value of the file."""
    if fault["type"] == "extra_forbidden":
        holders = [name for name in fault["loc"][:-1] if isinstance(name, str)]
        part = PARTS[holders[-1]] if holders else SeedFile
        return f"no member of this part, which takes {', '.join(part.model_fields)}"
    return fault["msg"].removeprefix("Value error, ")


def _faults(seeds: SeedFile) -> Iterator[tuple[Place, str]]:
    """Errors between parts: repeated or unknown names, and repeated or missing keys."""
    yield from _repeated(("accounts",), [account.name for account in seeds.accounts])
    keys: set[bytes] = set()
    for index, account in enumerate(seeds.accounts):
        here: Place = ("accounts", index)
        yield from _repeated((*here, "wallets"), account.wallets)
        yield from _repeated((*here, "groups"), [group.name for group in account.groups])
        yield from _repeated((*here, "usage_keys"), [key.name for key in account.usage_keys])
        for number, group in enumerate(account.groups):
            yield from _unknown((*here, "groups", number, "wallets"), group.wallets, account.wallets)
        names = [group.name for group in account.groups]
        for number, usage_key in enumerate(account.usage_keys):
            for member, groups in usage_key.groups.items():
                yield from _unknown((*here, "usage_keys", number, member), groups, names)
        parts = [(here, None), *(((*here, "usage_keys", at), key) for at, key in enumerate(account.usage_keys))]
        for place, part in parts:
            if seeds.seed is None and (part or account).key is None:
                yield place, "it has no key: give it one, or the file a seed"
            elif seeds.key_of(account, part) in keys:
                yield place, "another has the same key"
            keys.add(seeds.key_of(account, part))
        if seeds.seed is None and account.wallets:
            yield (*here, "wallets"), "wallets follow from a seed: give the file one"


def _repeated(place: Place, names: Sequence[str]) -> Iterator[tuple[Place, str]]:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield (*place, index), f"{name!r} comes twice"
        seen.add(name)


def _unknown(place: Place, named: Names, known: Sequence[str]) -> Iterator[tuple[Place, str]]:
    of_account = set(known)
    for index, name in enumerate(named if isinstance(named, list) else []):
        if name not in of_account:
            told = [*map(repr, known[:NAMES_TOLD]), *(["…"] if len(known) > NAMES_TOLD else [])]
            yield (*place, index), f"the account has no {name!r}, only {', '.join(told) or 'none at all'}"


def _refuse_repeated_members(node: yaml.Node | None) -> None:
    """Raise `MarkedYAMLError` for a member that comes twice, and for aliases that stand for too much."""
    if node is not None:
        _count(node, {})


def _count(node: yaml.Node, counted: dict[yaml.Node, int]) -> int:
    """How many values a node has, those behind aliases each time."""
    if node not in counted:
        counted[node] = MOST_VALUES  # of a node inside of itself
        names: set[object] = set()
        count = 1
        for part in node.value if isinstance(node, yaml.CollectionNode) else ():
            key, value = part if isinstance(node, yaml.MappingNode) else (None, part)
            if isinstance(key, yaml.ScalarNode):
                if key.value in names:
                    raise yaml.MarkedYAMLError(problem=f"{key.value!r} comes twice", problem_mark=key.start_mark)
                names.add(key.value)
            count += _count(value, counted)
            if count > MOST_VALUES:
                problem = f"its aliases make more than {MOST_VALUES} values: write fewer"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
        counted[node] = count
    return counted[node]


def _line(node: yaml.Node | None, place: Place) -> int:
    """The line of a member, or of the closest one around it."""
    line = node.start_mark.line + 1 if node else 1
    if place and isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == place[0]:
                return _line(value, place[1:]) if len(place) > 1 else int(key.start_mark.line) + 1
    if place and isinstance(node, yaml.SequenceNode) and isinstance(place[0], int) and place[0] < len(node.value):
        return _line(node.value[place[0]], place[1:])
    return line


def _shown(place: Place) -> str:
    return ".".join(map(str, place)) or "the file"
