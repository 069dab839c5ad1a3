"""What every section of the profile shares: no unknown keys, strict JSON types, no change after loading."""

from __future__ import annotations

from collections.abc import Iterator
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr
from typing_extensions import TypeIs

from conformance.profile.reading import tell

RefusalClass = Literal[
    "malformed",
    "unauthenticated",
    "insufficient_credit",
    "forbidden",
    "not_found",
    "conflict",
    "too_large",
    "invalid",
    "method",
    "unavailable",
]
"""The kinds of refusal that packs speak of; ``errors.status_codes`` says which statuses each may have."""

AcceptedOrRefused = Literal["accepted", RefusalClass]
"""What the node does with a request that the specification neither demands nor forbids."""

Permission = Literal[
    "can_create_groups",
    "can_delete_groups",
    "can_create_pkps",
    "manage_ipfs_ids_in_groups",
    "add_pkp_to_groups",
    "remove_pkp_from_groups",
    "execute_in_groups",
]
"""The seven permission fields of a usage key ("Resources and their fields / Usage API key")."""

WireName = Annotated[str, Field(min_length=1)]
"""The name of a JSON member as the node writes it."""

Status = Annotated[int, Field(ge=200, le=599)]


class Section(BaseModel):
    """A part of the profile. A key set to null says that the vendor states nothing about it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)
    _key: str = PrivateAttr(default="")
    """The dotted name of the section; empty for the whole profile."""

    def name_sections(self, key: str = "") -> None:
        """Set the dotted names, by which reads are reported, of this section and all sections inside it."""
        self._key = key
        for name in type(self).model_fields:
            inner = self.__dict__[name]
            if isinstance(inner, Section):
                inner.name_sections(f"{key}.{name}" if key else name)

    @classmethod
    def spelled_out(cls, content: object) -> object:
        """Replace each inner section that is null as a whole with a section whose keys are null."""
        if not isinstance(content, dict):
            return content
        return {name: cls._spelled_out(name, value) for name, value in content.items()}

    @classmethod
    def _spelled_out(cls, name: str, value: object) -> object:
        kind = cls.model_fields[name].annotation if name in cls.model_fields else None
        inner: type[Section] | None = next(filter(is_section, (kind, *get_args(kind))), None)
        if inner is None:
            return value
        is_whole = value is None and inner is kind
        return inner.silence() if is_whole else inner.spelled_out(value)

    @classmethod
    def silence(cls) -> dict[str, object]:
        """Return null for every key that may be null; leave the other keys out."""
        nulls: dict[str, object] = {}
        for name, info in cls.model_fields.items():
            if is_section(info.annotation):
                nulls[name] = info.annotation.silence()
            elif NoneType in get_args(info.annotation):
                nulls[name] = None
        return nulls

    if not TYPE_CHECKING:  # for a type checker it would make every name an attribute

        def __getattribute__(self, name):
            """Report the read of a key."""
            value = super().__getattribute__(name)
            if name[0] != "_" and name in type(self).__pydantic_fields__:
                _tell(self, name, value)
            return value

        def __iter__(self) -> Iterator[tuple[str, object]]:
            """Report reads of all keys."""
            for name, value in super().__iter__():
                _tell(self, name, value)
                yield name, value


def is_section(kind: object) -> TypeIs[type[Section]]:
    """Whether a type is a section of the profile."""
    return isinstance(kind, type) and issubclass(kind, Section)


def _tell(section: Section, name: str, value: object) -> None:
    if not isinstance(value, Section):
        tell(f"{section._key}.{name}" if section._key else name, value)
