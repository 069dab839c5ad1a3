"""What a vendor may state in the profile is held by a case or a driver, or the list of what is not says why."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from conformance.profile import Profile
from conformance.requirements import uncovered
from conformance.resources import scenarios

CODE = Path(__file__).resolve().parents[3] / "conformance"
ELSEWHERE = ("survey", "selftest", "requirements", "doctor", "report", "load")
"""Parts of the suite that judge nothing."""
WORD = re.compile(r"[a-z0-9_]+(?:\.[a-z0-9_]+)*")
LONG_ENOUGH = 7
"""Characters that a text with computed parts has to spell out."""
LOOKED_UP = (
    "chain.abi",
    "errors.status_codes",
    "exec.sandbox_api",
    "wire.add_group.fields",
    "wire.convert.response",
    "wire.list_items.fields",
    "wire.mutating_responses",
    "wire.new_account.fields",
)
"""Sections whose keys are the names of functions, refusals and members: the suite looks up what it is about to use."""


@dataclass(frozen=True)
class Reads:
    """What the files of the suite read of the profile."""

    names: frozenset[str]
    """Dotted names in texts."""
    computed: tuple[re.Pattern[str], ...]
    """Dotted names with computed parts."""
    attributes: tuple[frozenset[str], ...]
    """The attributes in each file of Python."""

    def include(self, key: str) -> bool:
        """Whether a key is named in full, or code reads it from its section."""
        section, _, name = key.rpartition(".")
        above = section.rpartition(".")[2]
        return (
            key in self.names
            or key.startswith(LOOKED_UP)
            or any(pattern.fullmatch(key) for pattern in self.computed)
            or any({above, name} <= attributes for attributes in self.attributes)
        )


@cache
def reads() -> Reads:
    names: set[str] = set()
    computed: set[str] = set()
    attributes: list[frozenset[str]] = []
    for path in _files():
        content = path.read_text(encoding="utf-8")
        if path.suffix == ".yaml":
            names.update(WORD.findall(content.replace("${profile.", "${")))
            continue
        tree = ast.parse(content)
        names.update(word for text in _texts(tree) for word in WORD.findall(text))
        computed.update(_computed(tree))
        attributes.append(frozenset(node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)))
    return Reads(frozenset(names), tuple(map(re.compile, sorted(computed))), tuple(attributes))


def _files() -> Iterator[Path]:
    for path in sorted([*CODE.rglob("*.py"), *scenarios().glob("*.py"), *scenarios().glob("*.yaml")]):
        if not path.is_relative_to(CODE) or path.relative_to(CODE).parts[0] not in ELSEWHERE:
            yield path


def _texts(tree: ast.AST) -> Iterator[str]:
    """The texts of the code, but those that only explain."""
    explaining = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in explaining:
            yield node.value


def _computed(tree: ast.AST) -> Iterator[str]:
    """Patterns of the dotted names that texts with computed parts may be."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else None for part in node.values]
            spelled = "".join(str(part) for part in parts if part is not None)
            if len(spelled) >= LONG_ENOUGH and "." in spelled and WORD.fullmatch(spelled.strip(".")):
                yield "".join("[a-z0-9_.]+" if part is None else re.escape(str(part)) for part in parts)


def unread() -> dict[str, str]:
    return {key: group.reason for group in uncovered().unread for key in group.keys}


@pytest.mark.parametrize("key", sorted(Profile().left_out()))
def test_each_key_is_read_by_a_case_or_has_a_reason(key: str) -> None:
    assert reads().include(key) != (key in unread()), (
        f"no case or driver reads {key}: add a case that judges its silent item, or a reason to uncovered.yaml"
        if key not in unread()
        else f"{key} is read: take it from the list of unread keys in uncovered.yaml"
    )


def test_list_of_unread_keys_names_keys() -> None:
    assert unread().keys() <= Profile().left_out()
