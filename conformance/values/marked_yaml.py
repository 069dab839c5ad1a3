"""YAML for people: plain values, and the line on which each of them stands. Duplicate and merge keys are refused."""

from __future__ import annotations

import codecs
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import yaml
from pydantic import JsonValue

from conformance.problems import DuplicateKey, Unreadable

Place: TypeAlias = tuple[str | int, ...]
"""The way from the top of a document to a value: keys and indices."""

SAFE_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
DEEPEST = 100
"""Lists and mappings inside one another, more than any pack needs."""
PLAIN_SCALARS = frozenset({"str", "int", "float", "bool", "null"})


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector of garbage: what reading makes stays, and it would look through all of it many times."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


SAVE = "save the file in UTF-8"


class Document:
    """A YAML document as plain values, with the line of each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines: dict[Place, int] = {(): 1}
        self._first: dict[int, Place] = {}
        """Where each node of the document stands first, by its identity."""
        self.aliases: list[tuple[Place, Place]] = []
        """Where an anchored value stands, and where an alias repeats it."""
        self.value = self._read()

    def line(self, place: Place) -> int:
        """The line of a place, or of the nearest place above it that exists."""
        while place not in self._lines:
            place = place[:-1]
        return self._lines[place]

    def has(self, place: Place) -> bool:
        """Whether the document has something there."""
        return place in self._lines

    @uncollected()
    def _read(self) -> JsonValue:
        try:
            text = self._decoded(self.path.read_bytes())
            root = yaml.compose(text, SAFE_LOADER)
        except OSError as problem:
            raise Unreadable(f"cannot be read: {problem.strerror}", self.path) from problem
        except yaml.MarkedYAMLError as problem:
            line = problem.problem_mark.line + 1 if problem.problem_mark else 0
            if "nesting depth" in str(problem.problem):  # libyaml's own bound
                raise Unreadable("is nested too deeply", self.path, line) from problem
            raise Unreadable(f"is not YAML: {problem.problem}", self.path, line) from problem
        except yaml.YAMLError as problem:
            raise Unreadable(f"is not YAML: {problem}", self.path) from problem
        except RecursionError as problem:
            raise Unreadable("is nested too deeply", self.path) from problem
        if root is None:
            raise Unreadable("the file is empty", self.path)
        return self._plain(root, (), ())

    def _decoded(self, body: bytes) -> str:
        """The text of UTF-8, or of UTF-16 with a byte order mark."""
        encoding = "utf-16" if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
        try:
            text = body.decode(encoding)
        except UnicodeDecodeError as problem:
            line = body.count(b"\n", 0, problem.start) + 1
            raise Unreadable(f"the byte {body[problem.start]:#04x} is not UTF-8: {SAVE}", self.path, line) from problem
        if "\0" in text:
            raise Unreadable(f"it holds NUL, as UTF-16 without a byte order mark does: {SAVE}", self.path)
        return text

    def _plain(self, node: yaml.Node, place: Place, above: tuple[yaml.Node, ...]) -> JsonValue:
        self._lines[place] = node.start_mark.line + 1
        if self._first.setdefault(id(node), place) != place:
            self.aliases.append((self._first[id(node)], place))
        if any(node is holder for holder in above):
            raise Unreadable("an alias holds itself", self.path, node.start_mark.line + 1)
        if len(above) > DEEPEST:
            raise Unreadable("is nested too deeply", self.path, node.start_mark.line + 1)
        above = (*above, node)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, place, above)
        if isinstance(node, yaml.SequenceNode):
            return [self._plain(item, (*place, index), above) for index, item in enumerate(node.value)]
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode, place: Place, above: tuple[yaml.Node, ...]) -> JsonValue:
        result: dict[str, JsonValue] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode) or key_node.tag == "tag:yaml.org,2002:merge":
                raise Unreadable("only plain texts may be keys (no merge keys)", self.path, line)
            key = str(key_node.value)
            if key in result:
                raise DuplicateKey(f"the key {key!r} stands here twice", self.path, line)
            result[key] = self._plain(value_node, (*place, key), above)
            self._lines[(*place, key)] = line
        return result

    def _scalar(self, node: yaml.Node) -> JsonValue:
        kind = node.tag.rpartition(":")[2]
        if kind == "timestamp":
            return str(node.value)
        if kind not in PLAIN_SCALARS:
            raise Unreadable(f"a value of type {node.tag} has no place here", self.path, node.start_mark.line + 1)
        try:
            value: JsonValue = SAFE_LOADER("").construct_object(node)
        except (yaml.YAMLError, ValueError) as problem:
            raise Unreadable(f"the value cannot be read: {problem}", self.path, node.start_mark.line + 1) from problem
        return value
