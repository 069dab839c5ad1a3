"""Finds packs, and lists their cases without loading them: reads ids and requirements only, and checks nothing.

The report needs every case that names a requirement, and loading a pack costs ten times as much as listing it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import yaml

from conformance.problems import DuplicateId, Unreadable
from conformance.values.marked_yaml import SAFE_LOADER, uncollected

if TYPE_CHECKING:
    from conformance.run.case import Case

PYTHON = ".py"
SUFFIXES = (".yaml", PYTHON)
"""The suffixes of pack files."""
OPT_IN = "OPT_IN"
"""The variable of a Python pack that is true where its cases run only when the pack is named."""
Assignment: TypeAlias = ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class ListedCase:
    """The id and requirements of a case, or of one row of its table."""

    id: str
    """`pack::case` or `pack::case[row]`."""
    requirements: tuple[str, ...]
    opt_in: bool = False
    """Whether the pack runs only when it is named."""


def by_requirement(cases: Iterable[Case | ListedCase]) -> dict[str, tuple[str, ...]]:
    """Requirement id to the cases that name it."""
    case_ids: dict[str, list[str]] = {}
    for case in cases:
        for requirement in case.requirements:
            case_ids.setdefault(requirement, []).append(case.id)
    return {requirement: tuple(names) for requirement, names in case_ids.items()}


def pack_files(folders: Sequence[Path]) -> list[Path]:
    """The pack files of these folders. Raises LoadProblem for two packs of one name, or a path that is no folder."""
    files: list[Path] = []
    for folder in folders:
        if not folder.is_dir():
            raise Unreadable("is no folder", folder)
        for path in sorted(path for path in folder.iterdir() if path.suffix in SUFFIXES and path.name[0] != "_"):
            if not path.is_file():
                raise Unreadable("is no file", path)
            twin = next((known for known in files if known.stem == path.stem and not _are_one_pack(known, path)), None)
            if twin:
                raise DuplicateId(f"the pack {path.stem!r} is also in {twin}", path)
            files.append(path)
    return files


def _are_one_pack(path: Path, other: Path) -> bool:
    """Whether the files are the YAML and the Python file of one pack, side by side."""
    return path.parent == other.parent and path.suffix != other.suffix


def list_pack(path: Path) -> list[ListedCase]:
    """List the cases of a pack file, in YAML or Python."""
    return list_python_cases(path) if path.suffix == PYTHON else list_cases(path)


@uncollected()
def list_cases(path: Path) -> list[ListedCase]:
    """List the cases of a pack file. A file that cannot be read has none: loading the pack reports the error."""
    try:
        root = yaml.compose(path.read_text(encoding="utf-8"), SAFE_LOADER)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError):
        return []
    opt_in = _text(_member(root, "opt_in")) == "true"
    return [listed for case in _items(_member(root, "cases")) for listed in _rows(case, path.stem, opt_in)]


def _rows(case: yaml.Node, pack: str, opt_in: bool) -> Iterator[ListedCase]:
    name = f"{pack}::{_text(_member(case, 'id'))}"
    requirements = tuple(_text(item) for item in _items(_member(case, "requirements")))
    rows = _items(_member(case, "each"))
    if not rows:
        yield ListedCase(name, requirements, opt_in)
    for row in rows:
        yield ListedCase(f"{name}[{_text(_member(row, 'id'))}]", requirements, opt_in)


def _member(node: yaml.Node | None, name: str) -> yaml.Node | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for key, value in node.value if key.value == name), None)


def _items(node: yaml.Node | None) -> list[yaml.Node]:
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _text(node: yaml.Node | None) -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""


def list_python_cases(path: Path) -> list[ListedCase]:
    """List the cases of a Python file from its decorators, without importing it; none where it cannot be parsed."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    decorators = [d for node in tree.body if isinstance(node, ast.FunctionDef) for d in node.decorator_list]
    calls = [d for d in decorators if isinstance(d, ast.Call) and getattr(d.func, "id", "") == "case" and d.args]
    tables = {name: node.value for node in tree.body for name in _assigned(node) if isinstance(node, Assignment)}
    opt_in = isinstance(constant := tables.get(OPT_IN), ast.Constant) and bool(constant.value)
    return [
        ListedCase(f"{path.stem}::{_texts(call.args[0])[0]}{row}", _requirements_of_call(call), opt_in)
        for call in calls
        for row in _rows_of_call(call, tables) or [""]
    ]


def _assigned(node: ast.stmt) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _rows_of_call(call: ast.Call, tables: Mapping[str, ast.expr | None]) -> list[str]:
    """The suffixes `[row]` of the case's ids, from the dict in the decorator or the constant that it names."""
    each = next((keyword.value for keyword in call.keywords if keyword.arg == "each"), None)
    table = tables.get(each.id) if isinstance(each, ast.Name) else each
    keys = table.keys if isinstance(table, ast.Dict) else []
    return [f"[{key.value}]" for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)]


def _requirements_of_call(call: ast.Call) -> tuple[str, ...]:
    return tuple(text for keyword in call.keywords if keyword.arg == "requirements" for text in _texts(keyword.value))


def _texts(node: ast.expr) -> list[str]:
    constants = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant)]
    return [value for value in constants if isinstance(value, str)] or [""]
