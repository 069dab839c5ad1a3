"""Reads a profile file. Each error names the line, the key and the allowed values."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import get_args

from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails

from conformance.problems import LoadProblem
from conformance.profile.model import Profile
from conformance.profile.paths import known_paths, value_at
from conformance.profile.section import Section
from conformance.values.marked_yaml import Document
from conformance.values.shown_text import shortened

LONGEST_VALUE = 200
"""Characters of a value that an error shows."""
LONGEST_FAULT = 600
"""Characters of an error about a value. A list of allowed keys may be longer."""
MOST_FAULTS = 50
"""Errors that are shown after the first."""


class BadProfile(LoadProblem):
    """The profile has unknown keys or values that are not allowed."""

    code = "bad-profile"
    cause = "the profile does not follow its schema"
    hint = "docs/profile.md describes every key; editors check against conformance/profile/profile.schema.json"


def load_profile(path: Path) -> Profile:
    """Load a profile from a YAML file. Raises LoadProblem if it is unreadable, BadProfile with one line per error."""
    document = Document(path)
    profile = stated_by_vendor(_validated(document.value, path, document.line))
    ca_file = profile.ca_file
    if ca_file is not None or profile.restart.command is not None:  # what is found from the profile's folder
        profile = profile.beside(path)
    if ca_file is not None:
        from conformance.transport import BadCertificatesError, certificates_in  # noqa: PLC0415 - it is rarely given

        try:
            certificates_in(path.parent / ca_file)
        except BadCertificatesError as problem:
            raise BadProfile(f"ca_file: {problem}", path, document.line(("ca_file",))) from problem
    return profile


def stated_in(path: Path) -> dict[str, JsonValue]:
    """What a profile file states but for the address, by dotted keys. Raises what `load_profile` raises."""
    profile = load_profile(path)
    whole = Document(path).value
    stated: dict[str, JsonValue] = {}
    for key in sorted(known_paths() - {"base_url"}):
        *above, name = key.split(".")
        section: JsonValue = whole
        for part in above:
            section = section.get(part) if isinstance(section, dict) else None
        if isinstance(section, dict) and name in section and not isinstance(value_at(profile, key), Section):
            stated[key] = section[name]
    return stated


def stated_by_vendor(profile: Profile) -> Profile:
    """The profile as a file states it: what the file leaves out is assumed, unless it `extends` the reference."""
    return profile if profile.extends else profile.assuming(profile.left_out())


def load_ready_file(path: Path) -> Profile:
    """The profile of a node that wrote a ready file: its addresses, and where it differs from the defaults.

    All of it is stated: whatever writes a ready file does what the defaults say.
    """
    document = Document(path)
    ready = document.value
    if not isinstance(ready, dict) or not isinstance(ready.get("profile"), dict):
        raise BadProfile("a ready file is an object with base_url, rpc_url, control_url and profile", path)
    return _validated(with_addresses(ready), path, lambda _: 1)


def with_addresses(ready: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The profile inside a ready file's content, completed with the addresses that stand beside it."""
    stated = ready["profile"]
    profile: dict[str, JsonValue] = dict(stated) if isinstance(stated, dict) else {}
    chain = profile.get("chain", {})
    return {
        "base_url": ready.get("base_url"),
        "control_url": ready.get("control_url"),
        **profile,
        "chain": {"rpc_url": ready.get("rpc_url"), **chain} if isinstance(chain, dict) else chain,
    }


def _validated(value: JsonValue, path: Path, line: Callable[[tuple[str | int, ...]], int]) -> Profile:
    try:
        return Profile.model_validate_json(json.dumps(Profile.spelled_out(value)))
    except ValidationError as problem:
        faults: dict[tuple[str | int, ...], list[str]] = {}
        for error in problem.errors(include_url=False):
            place = _place(error["loc"], error["type"])
            faults.setdefault(place, []).append(_said(error, place))
    lines = [
        (line(place), f"{_dotted(place)}: {', or '.join(said)}") for place, said in sorted(faults.items(), key=str)
    ]
    first, *others = sorted(lines)
    rest = "".join(f"\n{path}:{number}: {text}" for number, text in others[:MOST_FAULTS])
    if len(others) > MOST_FAULTS:
        rest += f"\n{path}: and {len(others) - MOST_FAULTS} more"
    raise BadProfile(first[1] + rest, path, first[0])


def _place(loc: Sequence[str | int], kind: str) -> tuple[str | int, ...]:
    """The place in the file: pydantic's location without the names of union members that it appends."""
    if kind == "extra_forbidden":
        return tuple(loc)
    place: list[str | int] = []
    for part in loc:
        if isinstance(part, str) and ".".join([*map(str, place), part]) not in known_paths():
            break
        place.append(part)
    return tuple(place)


def _dotted(place: tuple[str | int, ...]) -> str:
    return shortened(".".join(map(str, place)), LONGEST_VALUE) or "profile"


def _said(error: ErrorDetails, place: tuple[str | int, ...]) -> str:
    got = shortened(json.dumps(error["input"], ensure_ascii=False, default=str), LONGEST_VALUE)
    match error["type"]:
        case "extra_forbidden":
            allowed = sorted(_section_at(place[:-1]).model_fields)
            near = get_close_matches(str(place[-1]), allowed, n=1)
            meant = f"did you mean {near[0]}? " if near else ""
            return f"there is no such key; {meant}allowed here: {', '.join(allowed)}"
        case "literal_error":
            return f"must be {error['ctx']['expected']}; got {got}"
        case "model_type" | "model_attributes_type":
            return f"must be a mapping with keys of: {', '.join(sorted(_section_at(place).model_fields))}; got {got}"
        case "value_error":
            return shortened(f"{error['ctx']['error']}", LONGEST_FAULT)
        case _:
            said = error["msg"]
            return f"{said[0].lower()}{said[1:]}; got {got}"


def _section_at(place: tuple[str | int, ...]) -> type[Section]:
    section: type[Section] = Profile
    for name in place:
        annotation = section.model_fields[str(name)].annotation
        section = next(
            inner
            for inner in (annotation, *get_args(annotation))
            if isinstance(inner, type) and issubclass(inner, Section)
        )
    return section
