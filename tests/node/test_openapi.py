"""schemathesis, with all its checks, finds no fault between the description and the node that serves it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from nodes import Running

CONFIG = Path(__file__).with_name("schemathesis.toml")


@pytest.mark.parametrize("phases", ["coverage", "fuzzing,stateful"])
def test_schemathesis_finds_no_fault(running: Running, account: str, tmp_path: Path, phases: str) -> None:
    running.group(account, cid_hashes_permitted=[0])  # what is generated as code runs
    program = shutil.which("schemathesis", path=str(Path(sys.executable).parent))
    assert program is not None
    url = str(running.http.base_url.join("/core/v1/openapi.json"))
    options = ["--checks", "all", "--phases", phases, "--max-examples", "10", "--seed", "1", "--continue-on-failure"]
    headers = ["--header", f"X-Api-Key: {account}"]
    done = subprocess.run(  # noqa: S603 - our own tool
        [program, "--no-color", "--config-file", str(CONFIG), "run", url, *options, *headers],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"COLUMNS": "120"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert "44 selected / 44 total" in done.stdout


def test_examples_are_taken(running: Running, account: str) -> None:
    description = running.http.get("/core/v1/openapi.json").json()
    examples = {
        name: schema["example"] for name, schema in description["components"]["schemas"].items() if "example" in schema
    }
    assert running.post("new_account", **examples["NewAccount"]).status_code == 200
    for operation, name in (
        ("add_group", "NewGroup"),
        ("add_usage_api_key", "NewUsageKey"),
        ("add_action", "NewAction"),
        ("add_action_to_group", "NewActionOfGroup"),
    ):
        answer = running.post(operation, account, **examples[name])
        assert answer.status_code == 200, answer.text


def test_every_operation_has_examples_of_its_schemas(running: Running) -> None:
    description = running.http.get("/core/v1/openapi.json").json()
    operations = [operation for path in description["paths"].values() for operation in path.values()]
    contents = [part for one in operations for part in (one.get("requestBody"), one["responses"]["200"]) if part]
    described = [part["content"]["application/json"] for part in contents if "application/json" in part["content"]]
    assert len(operations) == 44
    assert len(described) > 44
    for content in described:
        schema = {**content["schema"], "components": description["components"]}
        Draft202012Validator(schema).validate(content["example"])
    for name, schema in description["components"]["schemas"].items():
        if "example" in schema:
            whole = {"$ref": f"#/components/schemas/{name}", "components": description["components"]}
            Draft202012Validator(whole).validate(schema["example"])
