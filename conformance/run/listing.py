"""Lists the cases of packs that a run did not load: reads ids and requirements only, and checks nothing.

The report needs every case that names a requirement, and loading a pack costs ten times as much as listing it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from conformance.run.case import Case
from conformance.values.marked_yaml import SAFE_LOADER, uncollected


@dataclass(frozen=True)
class ListedCase:
    """The id and requirements of a case, or of one row of its table."""

    id: str
    """`pack::case` or `pack::case[row]`."""
    requirements: tuple[str, ...]


def by_requirement(cases: Iterable[Case | ListedCase]) -> dict[str, tuple[str, ...]]:
    """Requirement id to the cases that name it."""
    case_ids: dict[str, list[str]] = {}
    for case in cases:
        for requirement in case.requirements:
            case_ids.setdefault(requirement, []).append(case.id)
    return {requirement: tuple(names) for requirement, names in case_ids.items()}


@uncollected()
def list_cases(path: Path) -> list[ListedCase]:
    """List the cases of a pack file. A file that cannot be read has none: loading the pack reports the error."""
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), SAFE_LOADER)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
        return []
    return [listed for case in _items(_member(root, "cases")) for listed in _rows(case, path.stem)]


def _rows(case: yaml.Node, pack: str) -> Iterator[ListedCase]:
    name = f"{pack}::{_text(_member(case, 'id'))}"
    requirements = tuple(_text(item) for item in _items(_member(case, "requirements")))
    rows = _items(_member(case, "each"))
    if not rows:
        yield ListedCase(name, requirements)
    for row in rows:
        yield ListedCase(f"{name}[{_text(_member(row, 'id'))}]", requirements)


def _member(node: yaml.Node | None, name: str) -> yaml.Node | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for key, value in node.value if key.value == name), None)


def _items(node: yaml.Node | None) -> list[yaml.Node]:
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _text(node: yaml.Node | None) -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""
