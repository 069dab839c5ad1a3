"""The compose file: what the application runs, every image pinned by its digest.

Specification: "Endpoints / Attestation", rules 1 and 2.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import yaml

PINNED_IMAGE = re.compile(r"[^\s@$]+@sha256:[0-9a-f]{64}")
"""A name, with or without a tag, and the digest of exactly 64 hex characters at the end."""

DEFAULT_FILE = Path(__file__).with_name("compose.yaml")

NOT_MEASURED = ("build", "extends")
"""Members of a service that bring in what the compose hash does not cover."""


class ComposeError(Exception):
    """The compose file can't be used; the message is one line that says where, why and what to do."""


class _LineError(ComposeError):
    """With the line that is at fault."""

    def __init__(self, at: yaml.Node | yaml.Mark | None, said: str) -> None:
        mark = at.start_mark if isinstance(at, yaml.Node) else at
        super().__init__(f"line {mark.line + 1 if mark else 1}: {said}")


def read_compose(file: Path | None) -> str:
    """The text of a compose file whose images are all pinned; `None`: the one that ships with the node.

    Raises `ComposeError`.
    """
    file = file or DEFAULT_FILE
    try:
        text = file.read_bytes().decode("utf-8")
        require_pinned(text)
    except (OSError, UnicodeDecodeError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else "it is no UTF-8 text"
        raise ComposeError(f"the compose file {file} can't be read: {reason}") from None
    except RecursionError:
        raise ComposeError(f"{file}: mappings inside one another without end: write them flat") from None
    except _LineError as fault:
        raise ComposeError(f"{file}: {fault}") from None
    return text


def app_compose(docker_compose_file: str) -> str:
    """The application's description around its compose file: the exact text that is measured."""
    description = {
        "manifest_version": 2,
        "name": "reference-node",
        "runner": "docker-compose",
        "docker_compose_file": docker_compose_file,
        "kms_enabled": True,
        "gateway_enabled": False,
        "public_logs": False,
        "public_sysinfo": True,
        "public_tcbinfo": True,
        "allowed_envs": [],
        "no_instance_id": False,
    }
    return json.dumps(description, ensure_ascii=False, separators=(",", ":"))


def compose_hash(app_compose_text: str) -> bytes:
    """SHA-256 of the application's description, 32 bytes (rule 1)."""
    return hashlib.sha256(app_compose_text.encode()).digest()


def require_pinned(text: str) -> None:
    """Raise `ComposeError` at the first line through which something unmeasured could run."""
    document = _parsed(text)
    for mapping in _mappings(document, set()):
        for key, value in _members(mapping).values():
            if key.value == "image" and isinstance(value, yaml.ScalarNode):
                _require_digest(value)
    for service in _services(document):
        members = _members(service)
        for name in NOT_MEASURED:
            if name in members:
                raise _LineError(members[name][0], f"{name} brings in what is not measured: name an image instead")
        if "image" not in members:
            raise _LineError(service, "a service without an image: name one by its digest")
        _require_digest(members["image"][1])


def _require_digest(image: yaml.Node) -> None:
    shown = image.value if isinstance(image, yaml.ScalarNode) else ""
    if not PINNED_IMAGE.fullmatch(shown):
        raise _LineError(image, f"the image {shown!r} is not pinned: write NAME@sha256: and 64 hex characters")


def _parsed(text: str) -> yaml.MappingNode:
    try:
        document = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as fault:
        raise _LineError(fault.problem_mark, f"no YAML: {fault.problem}") from None
    except yaml.YAMLError as fault:
        raise _LineError(None, f"no YAML: {' '.join(str(fault).split())}") from None
    if not isinstance(document, yaml.MappingNode):
        raise _LineError(document, "no compose file: write a mapping with services")
    return document


def _services(document: yaml.MappingNode) -> Iterator[yaml.MappingNode]:
    members = _members(document)
    if "include" in members:
        raise _LineError(members["include"][0], "include brings in what is not measured: write the services here")
    services = members["services"][1] if "services" in members else None
    if not isinstance(services, yaml.MappingNode) or not services.value:
        raise _LineError(services or document, "there are no services: name at least one under services")
    for name, service in _members(services).values():
        if not isinstance(service, yaml.MappingNode):
            raise _LineError(name, f"the service {name.value!r} is no mapping: give it an image")
        yield service


def _mappings(node: yaml.Node, seen: set[int]) -> Iterator[yaml.MappingNode]:
    """Every mapping at and below this node, each once."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.MappingNode):
        yield node
        inner = [value for _, value in node.value]
    else:
        inner = node.value if isinstance(node, yaml.SequenceNode) else []
    for value in inner:
        yield from _mappings(value, seen)


def _members(mapping: yaml.MappingNode) -> dict[str, tuple[yaml.ScalarNode, yaml.Node]]:
    """The members of a mapping by name, those that it merges in behind its own. No name may come twice."""
    own: dict[str, tuple[yaml.ScalarNode, yaml.Node]] = {}
    merged: dict[str, tuple[yaml.ScalarNode, yaml.Node]] = {}
    for key, value in mapping.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _LineError(key, "a key that is no text: write a name")
        if key.value in own:
            raise _LineError(key, f"{key.value!r} comes twice: readers could take either")
        own[key.value] = (key, value)
    if "<<" in own:
        key, value = own.pop("<<")
        for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
            if not isinstance(source, yaml.MappingNode) or source is mapping:
                raise _LineError(key, "<< merges mappings: name one")
            merged = _members(source) | merged
    return merged | own
