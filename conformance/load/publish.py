"""Writes the JSON Schema of load.json, which follows from the model.

Run ``python -m conformance.load.publish`` after a change of the model.
"""

from __future__ import annotations

from pathlib import Path

from conformance.load.results import LoadResults
from conformance.report.publish import schema_text

SCHEMA_FILE = Path(__file__).resolve().parent / "load.schema.json"

if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(LoadResults), encoding="utf-8")
