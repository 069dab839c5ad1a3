"""Writes the profile as commented YAML: each observed key with the answer that shows it, other keys as questions."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator

import yaml
from pydantic import JsonValue

from conformance.profile import known_paths, usual, value_at
from conformance.profile.section import Section
from conformance.survey.notes import Notes, Observation
from conformance.values.shown_text import escaped, shortened

LONGEST = 110
ASIDE = {"base_url", "extends"}
"""Keys that are never written as questions."""


def written(notes: Notes, base_url: str, how: Iterable[str], hide: Callable[[str], str] = str) -> str:
    """The text of the profile file, in whose lines `hide` replaces keys."""
    lines = [*(f"# {line}" for line in how), "", f"base_url: {base_url}"]
    lines += map(hide, _seen(dict(sorted(notes.seen.items())), ""))
    lines += ["", "# Not seen: answer these, or leave them out (then the value in brackets is assumed).", ""]
    lines += map(hide, _questions(notes))
    return "\n".join(lines) + "\n"


def _seen(observations: dict[str, Observation], indent: str) -> Iterator[str]:
    """The observations as nested mappings, in their order."""
    sections: dict[str, dict[str, Observation]] = {}
    for key, seen in observations.items():
        first, _, rest = key.partition(".")
        sections.setdefault(first, {})[rest] = seen
    for name, inner in sections.items():
        if "" in inner:
            yield f"{indent}{name}: {_value(inner[''].value)}  # {_one_line(inner[''].how)}"
        else:
            yield f"{indent}{name}:"
            yield from _seen(inner, f"{indent}  ")


class _OneLine(yaml.SafeDumper):
    """Quotes texts with unprintable characters in the style that escapes these: other styles break the line there."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        return self.represent_scalar("tag:yaml.org,2002:str", text, None if text.isprintable() else '"')


_OneLine.add_representer(str, _OneLine.represent_text)


def _value(value: JsonValue) -> str:
    """A value in one line of YAML, whatever its texts hold."""
    text: str = yaml.dump(value, Dumper=_OneLine, default_flow_style=True, width=sys.maxsize, allow_unicode=True)
    return escaped(text.removesuffix("\n").removesuffix("\n..."))


def _one_line(text: str) -> str:
    return shortened(" ".join(text.split()), LONGEST)


def _questions(notes: Notes) -> Iterator[str]:
    for key in open_keys(notes):
        yield f"# {key}? [{_value(plain(value_at(usual(), key)))}] {_one_line(description_of(key))}".rstrip()
        if key in notes.unclear:
            yield f"#   {_one_line(notes.unclear[key])}"


def open_keys(notes: Notes) -> list[str]:
    """The keys with a value that were not observed."""
    return [key for key in sorted(known_paths()) if key not in notes.seen and key not in ASIDE and _is_leaf(key)]


def description_of(key: str) -> str:
    """The first line of a key's description in the profile's model."""
    section: object = usual()
    *above, name = key.split(".")
    for part in above:
        section = getattr(section, part)
    description = type(section).model_fields[name].description if isinstance(section, Section) else None
    return (description or "").partition("\n")[0]


def _is_leaf(key: str) -> bool:
    return not isinstance(value_at(usual(), key), Section)


def plain(value: object) -> JsonValue:
    """A value of the profile as JSON."""
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
