"""Writes the two files that follow from the model: the JSON Schema, and the reference profile with its comments.

Run ``python -m conformance.profile.publish`` after a change of the model.
"""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args, get_origin

from conformance.profile.model import Profile
from conformance.profile.section import Section

HERE = Path(__file__).resolve().parent
SCHEMA_FILE = HERE / "profile.schema.json"
REFERENCE_FILE = HERE / "reference.yaml"
WIDTH = 110

HEAD = """\
The profile of the reference node, written out in full: every key with its value. A vendor's profile states what holds
for its node: a key left out is assumed to be as it stands here, unless the profile says `extends: reference`. Null says
that the vendor states nothing; checks that need the key then report "not offered".
Made from the model by `python -m conformance.profile.publish`."""


def schema_text() -> str:
    """The JSON Schema of a profile file."""
    schema = Profile.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "Vendor profile"
    return json.dumps(_with_null_sections(_without_default_sections(schema)), indent=2, ensure_ascii=False) + "\n"


def _with_null_sections(value: object) -> object:
    """Allow null for every section. A null section states nothing about its keys."""
    if isinstance(value, list):
        return [_with_null_sections(item) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {key: _with_null_sections(item) for key, item in value.items()}
    properties = changed.get("properties")
    if isinstance(properties, dict):
        changed["properties"] = {name: _or_null(schema) for name, schema in properties.items()}
    return changed


def _or_null(schema: object) -> object:
    if not isinstance(schema, dict) or "$ref" not in schema:
        return schema
    return {
        **{key: item for key, item in schema.items() if key != "$ref"},
        "anyOf": [{"$ref": schema["$ref"]}, {"type": "null"}],
    }


def _without_default_sections(value: object) -> object:
    """Remove defaults from sections. Each key has its own default, which the sections above would repeat."""
    if isinstance(value, list):
        return [_without_default_sections(item) for item in value]
    if isinstance(value, dict):
        return {
            key: _without_default_sections(item)
            for key, item in value.items()
            if not (key == "default" and isinstance(item, dict))
        }
    return value


def reference_text() -> str:
    """The reference profile as YAML, each key under its description."""
    return "\n".join([*_comment(HEAD, ""), "", *_section(Profile(), "")]) + "\n"


def _section(section: Section, indent: str) -> Iterator[str]:
    for name, info in type(section).model_fields.items():
        value = getattr(section, name)
        about = " ".join(
            filter(
                None,
                [
                    inspect.getdoc(type(value)) if isinstance(value, Section) else "",
                    info.description,
                    _allowed(info.annotation, info.description or ""),
                ],
            )
        )
        if not indent:
            yield ""
        yield from _comment(about, indent)
        if isinstance(value, Section):
            yield f"{indent}{name}:"
            yield from _section(value, indent + "  ")
        else:
            yield f"{indent}{name}: {json.dumps(value, ensure_ascii=False)}"


def _allowed(annotation: object, about: str) -> str:
    """The sentence that lists what a value, or an entry of it, may be, where `about` does not; empty: anything."""
    values = list(dict.fromkeys(_literals(annotation)))
    if len(values) < 2 or all(f"`{value}`" in about for value in values):
        return ""
    # As YAML has them: digits alone would be a number.
    texts = (json.dumps(value) if str(value)[:1].isdigit() else str(value) for value in values)
    return f"One of: {', '.join(texts)}."


def _literals(annotation: object) -> Iterator[object]:
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    else:
        for part in get_args(annotation):
            yield from _literals(part)


def _comment(text: str, indent: str) -> Iterator[str]:
    for paragraph in re.split(r"\n+(?=- )|\n\n+", text) if text else []:
        for line in textwrap.wrap(paragraph, WIDTH - len(indent)):
            yield f"{indent}# {line}"


def main() -> None:
    """Write both files."""
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
    REFERENCE_FILE.write_text(reference_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
