"""Writes the JSON Schema of results.json, which follows from the model.

Run ``python -m conformance.report.publish`` after a change of the model.
"""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel

from conformance.report.results import Results

SCHEMA_FILE = Path(__file__).resolve().parent / "results.schema.json"


def schema_text(model: type[BaseModel] = Results) -> str:
    """The JSON Schema of what a model writes: of results.json, unless it is another."""
    schema = model.model_json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
