"""The description (specification, "Versioning"): schemathesis finds no fault between it and the node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from nodes import Running, serving
from shops import pay

from reference_node.settings import Settings

CONFIG = Path(__file__).with_name("schemathesis.toml")


ONE_OF_EACH_KIND = (
    "/(new_account|list_wallets_in_group|update_usage_api_key|groups/{group_id}/actions|service_action"
    "|billing/balance|create_wallet_with_signature|info)$"
)
"""Open, with a query, a large body, an id in its path, any JSON, a wallet's proof, a signature, and a plain one."""


@pytest.mark.parametrize(
    ("phases", "options", "selected"),
    [
        ("coverage", ("--include-path-regex", ONE_OF_EACH_KIND.replace("{", r"\{").replace("}", r"\}")), 8),
        ("fuzzing,stateful", ("--max-examples", "2"), 44),
    ],
    ids=["every value of one operation of each kind", "a few values of every operation"],
)
def test_schemathesis_finds_no_fault(
    running: Running, account: str, tmp_path: Path, phases: str, options: tuple[str, ...], selected: int
) -> None:
    running.group(account, cid_hashes_permitted=[0])  # what is generated as code runs
    program = shutil.which("schemathesis", path=str(Path(sys.executable).parent))
    assert program is not None
    url = str(running.http.base_url.join("/core/v1/openapi.json"))
    options = ("--checks", "all", "--phases", phases, "--seed", "1", "--continue-on-failure", *options)
    headers = ("--header", f"X-Api-Key: {account}")
    done = subprocess.run(  # noqa: S603 - our own tool
        [program, "--no-color", "--config-file", str(CONFIG), "run", url, *options, *headers],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"COLUMNS": "120", "ANOTHER_KEY": running.account()},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert f"{selected} selected / 44 total" in done.stdout
    assert running.read("account_exists", account), "no example has converted the account under test"


def test_description_is_written_once_a_second(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    app, clock = running.node.app, running.node.clock
    written: list[int] = []
    complete = app.openapi
    monkeypatch.setattr(app, "openapi", lambda: (written.append(clock.now()), complete())[1])
    for second in (1, 1, 2):
        monkeypatch.setattr(clock, "now", lambda second=second: second)
        assert running.http.get("/core/v1/openapi.json").json()["paths"]
    assert written == [1, 2]


IN_ORDER = """
new_account account_exists get_node_chain_config get_api_payers get_admin_api_payer
add_group update_group list_groups run_action get_action_ipfs_id
add_action update_action_metadata add_action_to_group list_actions remove_action_from_group change_actions_of_group
delete_action
create_wallet create_pkp list_wallets add_pkp_to_group list_wallets_in_group remove_pkp_from_group add_pkps_to_group
add_usage_api_key update_usage_api_key update_usage_api_key_metadata list_api_keys remove_usage_api_key remove_group
stripe_config create_payment_intent confirm_payment balance
create_wallet_with_signature add_usage_api_key_with_signature convert_to_chain_secured_account
info attestation list_evidences evidence_checksums evidence_quote acme_account certificate
"""
"""All operations, each after those that make what its example names."""


def test_examples_can_be_sent_as_they_stand() -> None:
    settings = Settings(port=0, starter_credits=10_000, chain_id=5, slug="acme", title="Acme", control=True)
    with serving(settings) as acme:
        acme.node.move_clock(-86_400)
        description = acme.http.get("/core/v1/openapi.json").json()
        assert description["info"]["title"].startswith("Acme ")
        operations = {
            operation["operationId"]: (method, path, operation)
            for path, item in description["paths"].items()
            for method, operation in item.items()
        }
        assert sorted(operations) == sorted(IN_ORDER.split()), "the test control is not described"
        key, told = {}, {}
        for method, path, operation in map(operations.get, IN_ORDER.split()):
            given = {one["name"]: one["example"] for one in operation.get("parameters", ()) if one["required"]}
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
            if isinstance(body, dict):  # only an earlier answer can tell these two
                body |= {name: told[name] for name in ("usage_api_key", "payment_intent_id") if name in body}
            answer = acme.http.request(method, path.format(**given), params=given, json=body, headers=key)
            assert answer.status_code == 200, (path, body, answer.text)
            if operation["operationId"] in {"run_action", "get_action_ipfs_id"}:
                assert answer.json() == operation["responses"]["200"]["content"]["application/json"]["example"]
            members = answer.json() if isinstance(body, dict) else {}
            told |= {name: members[name] for name in ("usage_api_key",) if name in members}
            if "api_key" in members:
                key = {"X-Api-Key": members["api_key"]}
            if "client_secret" in members:
                assert pay(acme, members["client_secret"]).json()["status"] == "succeeded"
                told["payment_intent_id"] = members["client_secret"].partition("_secret_")[0]


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


def test_description_keeps_large_bounds_exact(running: Running) -> None:
    bounds: list[object] = []

    def collect(members: dict[str, object]) -> dict[str, object]:
        bounds.extend(members[name] for name in ("minimum", "maximum") if name in members)
        return members

    json.loads(running.http.get("/core/v1/openapi.json").text, object_hook=collect)
    assert {type(bound) for bound in bounds} == {int}
    assert {2**64 - 1, 2**256 - 1} <= set(bounds)
