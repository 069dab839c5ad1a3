"""Writes results.json, and the schema of it."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

from conformance.report.results import Results

SCHEMA_FILE = Path(__file__).resolve().parent / "results.schema.json"
RESULTS_NAME = "results.json"


def write_results(results: Results, folder: Path) -> Path:
    """Write ``results.json`` into a folder, which is made; a reader finds the old file or the whole new one."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / RESULTS_NAME
    handle, name = tempfile.mkstemp(dir=folder, prefix=f".{RESULTS_NAME}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(results.model_dump_json(indent=2) + "\n")
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return path


def schema_text() -> str:
    """The JSON Schema of results.json."""
    schema = Results.model_json_schema(mode="serialization")
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
