"""The images of a compose file, read strictly: what is not said plainly is refused ("Verification rules", 2).

Aliases and merge keys are resolved as YAML says, since Docker does; keys that stand twice, tags of one's own and
several documents are ambiguous, since readers of YAML differ on them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import yaml

_LOADER: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PINNED = re.compile(r"[^\s@$]+@sha256:[0-9a-f]{64}")
_PLAIN = frozenset(
    f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "bool", "null", "timestamp", "map", "seq")
)
_MERGE = "tag:yaml.org,2002:merge"
_MERGE_KEY = "<<"
_DEEPEST = 50
_MOST_NODES = 50_000
_SAFE_LENGTH = 500
"""A text as short as this cannot nest deeply enough to hurt."""
_MOST_BYTES = 1 << 20
FREE_NAMES = frozenset({"annotations", "args", "environment", "labels"})
"""Mappings of a compose file whose keys its author is free to name."""
_UNCLEAR = re.compile("[\x85\u2028\u2029]|(?<!^)\ufeff")
"""Ends of lines in YAML 1.1 alone, and byte order marks that are not at the start: readers differ on them."""


class ComposeFault(Exception):  # noqa: N818 - becomes a finding
    """What makes a compose file unacceptable, as a code of `FAULTS`."""

    def __init__(self, code: str, text: str, line: int = 0) -> None:
        self.code, self.text, self.line = code, text, line
        super().__init__(text)


@dataclass(frozen=True)
class Image:
    """An image of a service."""

    service: str
    name: str
    line: int


@lru_cache(maxsize=16)
def pinned_images(text: str) -> tuple[Image, ...]:
    """The images of all services, each pinned. ComposeFault: one is not, or the file loads something else."""
    document = _Reader().read(text)
    if "include" in document:
        raise ComposeFault("compose-indirect", "the file includes others", _line(document["include"]))
    if "models" in document:
        raise ComposeFault("image-unsupported", "the file loads models", _line(document["models"]))
    services = document.get("services")
    if not isinstance(services, _Mapping) or not services.members:
        raise ComposeFault("image-absent", "the file has no services")
    images = tuple(_image(name, service) for name, service in services.members.items())
    _check_every_line(_Mapping(document, 1))
    return images


def _check_every_line(value: _Value) -> None:
    """Refuse an `image:` line that is not pinned wherever it stands: under `x-…` it waits to be merged."""
    if isinstance(value, _Mapping):
        image = value.members.get("image")
        if isinstance(image, _Scalar) and not _PINNED.fullmatch(image.text):
            raise ComposeFault("image-unpinned", f"an image beside the services is {image.text[:200]!r}", image.line)
        for name, inner in value.members.items():
            if name not in FREE_NAMES:
                _check_every_line(inner)
    for item in value.items if isinstance(value, _Sequence) else ():
        _check_every_line(item)


def _line(value: _Value) -> int:
    return value.line


@dataclass(frozen=True)
class _Scalar:
    text: str
    line: int
    is_text: bool


@dataclass(frozen=True)
class _Sequence:
    items: tuple[_Value, ...]
    line: int


@dataclass(frozen=True)
class _Mapping:
    members: Mapping[str, _Value]
    line: int


_Value = _Scalar | _Sequence | _Mapping


def _image(service: str, value: _Value) -> Image:
    if not isinstance(value, _Mapping):
        raise ComposeFault("image-absent", f"the service {service!r} is no mapping", value.line)
    for name in ("build", "extends"):
        if name in value.members:
            raise ComposeFault("compose-indirect", f"the service {service!r} has `{name}`", value.members[name].line)
    if "provider" in value.members:
        raise ComposeFault(
            "image-unsupported", f"the service {service!r} has `provider`", value.members["provider"].line
        )
    _check_volumes(service, value.members.get("volumes"))
    image = value.members.get("image")
    if image is None:
        raise ComposeFault("image-absent", f"the service {service!r} has no image", value.line)
    if not isinstance(image, _Scalar) or not image.is_text:
        raise ComposeFault("image-unpinned", f"the image of {service!r} is no text", image.line)
    if "$" in image.text:
        raise ComposeFault("image-variable", f"the image of {service!r} is {image.text[:200]!r}", image.line)
    if not _PINNED.fullmatch(image.text):
        raise ComposeFault("image-unpinned", f"the image of {service!r} is {image.text[:200]!r}", image.line)
    return Image(service, image.text, image.line)


def _check_volumes(service: str, volumes: _Value | None) -> None:
    """Volumes of the type `image` mount an image that no `image:` line names."""
    for volume in volumes.items if isinstance(volumes, _Sequence) else ():
        kind = volume.members.get("type") if isinstance(volume, _Mapping) else None
        if isinstance(kind, _Scalar) and kind.text == "image":
            raise ComposeFault("image-unsupported", f"a volume of {service!r} is an image", volume.line)


def _check_depth(text: str) -> None:
    """Refuse deep nesting before libyaml composes the text: it recurses, and overflows the stack of the process."""
    if len(text) <= _SAFE_LENGTH:
        return
    depth = 0
    for event in yaml.parse(text, _LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            line = event.start_mark.line + 1 if event.start_mark else 0
            raise ComposeFault("compose-ambiguous", "nested too deeply", line)


class _Reader:
    """Turns nodes of YAML into values, with a bound on how many there are after aliases are resolved."""

    def __init__(self) -> None:
        self._count = 0

    def read(self, text: str) -> Mapping[str, _Value]:
        """The document's top mapping."""
        if len(text) > _MOST_BYTES:
            raise ComposeFault("compose-ambiguous", f"the file is longer than {_MOST_BYTES} characters")
        unclear = _UNCLEAR.search(text)
        if unclear is not None:
            line = text.count("\n", 0, unclear.start()) + 1
            raise ComposeFault("compose-ambiguous", f"the character U+{ord(unclear[0]):04X}", line)
        try:
            _check_depth(text)
            root = yaml.compose(text, _LOADER)
        except (yaml.YAMLError, ValueError, RecursionError) as problem:
            mark = getattr(problem, "problem_mark", None)
            why = getattr(problem, "problem", None) or str(problem)
            code = "compose-ambiguous" if "single document" in str(problem) else "app-compose-malformed"
            raise ComposeFault(code, f"no single YAML document: {why}"[:300], mark.line + 1 if mark else 0) from problem
        value = None if root is None else self._value(root, ())
        if not isinstance(value, _Mapping):
            raise ComposeFault("app-compose-malformed", "the compose file is no mapping", 1)
        return value.members

    def _value(self, node: yaml.Node, above: tuple[int, ...]) -> _Value:
        line = node.start_mark.line + 1
        self._count += 1
        if self._count > _MOST_NODES or len(above) > _DEEPEST or id(node) in above:
            raise ComposeFault("compose-ambiguous", "aliases without end, or nested too deeply", line)
        if node.tag not in _PLAIN:
            raise ComposeFault("compose-ambiguous", f"the tag {node.tag!r}", line)
        above = (*above, id(node))
        if isinstance(node, yaml.MappingNode):
            return _Mapping(self._members(node, above), line)
        if isinstance(node, yaml.SequenceNode):
            return _Sequence(tuple(self._value(item, above) for item in node.value), line)
        return _Scalar(node.value, line, node.tag.endswith(":str"))

    def _members(self, node: yaml.MappingNode, above: tuple[int, ...]) -> dict[str, _Value]:
        own: dict[str, _Value] = {}
        merged: dict[str, _Value] | None = None
        for key, value in node.value:
            line = key.start_mark.line + 1
            if key.value == _MERGE_KEY or key.tag == _MERGE:
                if key.tag != _MERGE or key.value != _MERGE_KEY or merged is not None:
                    raise ComposeFault("compose-ambiguous", "a merge key that is quoted, or stands twice", line)
                merged = {}
                for source in self._sources(value, above):
                    for name, inner in source.items():
                        merged.setdefault(name, inner)
                continue
            if not isinstance(key, yaml.ScalarNode) or key.tag not in _PLAIN:
                raise ComposeFault("compose-ambiguous", "a key that is no plain text", line)
            if key.value in own:
                raise ComposeFault("compose-ambiguous", f"the key {key.value!r} stands twice", line)
            own[key.value] = self._value(value, above)
        return (merged or {}) | own

    def _sources(self, node: yaml.Node, above: tuple[int, ...]) -> Iterator[dict[str, _Value]]:
        """The mappings that a merge key names; the first has precedence."""
        for source in node.value if isinstance(node, yaml.SequenceNode) else [node]:
            value = self._value(source, above)
            if not isinstance(value, _Mapping):
                raise ComposeFault("compose-ambiguous", "a merge key without a mapping", value.line)
            yield dict(value.members)
