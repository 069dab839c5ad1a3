"""Generates the published JSON Schema of packs from the models: `python -m conformance.run.schema` writes the file."""

from __future__ import annotations

import json
from pathlib import Path

from conformance.drivers import DRIVERS
from conformance.language.models import PackForm

SCHEMA = Path(__file__).with_name("pack.schema.json")


def pack_schema() -> dict[str, object]:
    """The schema of a pack file, with the cases of every driver."""
    schema = PackForm.model_json_schema(by_alias=True)
    definitions = schema.setdefault("$defs", {})
    for driver in DRIVERS.values():
        case = driver.form.model_json_schema(by_alias=True)
        definitions.update(case.pop("$defs", {}))
        definitions[driver.form.__name__] = case
    references = [{"$ref": f"#/$defs/{driver.form.__name__}"} for driver in DRIVERS.values()]
    schema["properties"]["cases"]["items"] = references[0] if len(references) == 1 else {"anyOf": references}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def text() -> str:
    """The text of the schema file."""
    return json.dumps(pack_schema(), indent=2) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(text(), encoding="utf-8")
