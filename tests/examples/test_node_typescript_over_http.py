"""The second node where no case of the suite looks: odd texts and targets, hostile actions, the order of actions."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from second_node import node, serving

TIME_LIMIT = 4.0
"""Seconds, as `exec.failure_and_limits.timeout_seconds` of the profile says."""


@pytest.fixture(scope="module")
def api(program: Path) -> Iterator[httpx.Client]:
    with serving(program) as url, httpx.Client(base_url=f"{url}/core/v1", timeout=30) as client:
        yield client


class Customer:
    """An account with one wallet, and a group that permits it with every action."""

    def __init__(self, api: httpx.Client, **members: str) -> None:
        created = api.post("/new_account", json={"title": "a", "summary": "b", **members})
        self.headers = {"X-Api-Key": created.json()["api_key"]}
        self._api = api
        self.post("/mint_wallet")
        (self.pkp,) = (wallet["pkp"] for wallet in self.get("/list_wallets").json()["entries"])
        self.post("/add_group", {"pkp_ids_permitted": [self.pkp], "cid_hashes_permitted": [0]})

    def get(self, path: str) -> httpx.Response:
        return self._api.get(path, headers=self.headers)

    def post(self, path: str, body: object = None) -> httpx.Response:
        return self._api.post(path, headers=self.headers, content=b"" if body is None else json.dumps(body).encode())

    def send(self, path: str, body: bytes) -> httpx.Response:
        return self._api.post(path, headers=self.headers, content=body)

    def run(self, code: str) -> httpx.Response:
        return self.post("/actions/run", {"code": code})


@pytest.fixture
def alice(api: httpx.Client) -> Customer:
    return Customer(api)


# ------------------------------------------------------------------------------------------------ texts and numbers


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/get_harbour_action_ipfs_id", b'"%s"'),
        ("/actions/run", b'{"code": "async function main() { return 1 } // %s"}'),
        ("/new_account", b'{"title": "%s", "summary": ""}'),
    ],
)
@pytest.mark.parametrize("broken", [b"\\ud800", b"\\udfff", b"\xff"])
def test_text_without_utf8_is_refused(alice: Customer, path: str, body: bytes, broken: bytes) -> None:
    assert alice.send(path, body % b"\\ufffd").is_success
    assert alice.send(path, body % broken).status_code == 400


def test_numbers_of_js_params_reach_main_as_they_were_sent(alice: Customer) -> None:
    code = "async function main(p) { return `${Object.is(p.a, -0)} ${p.b}` }"
    body = b'{"code": "%s", "jsParams": {"a": -0, "b": 1e400}}' % code.encode()
    assert alice.send("/actions/run", body).json()["response"] == "true Infinity"


@pytest.mark.parametrize("number", [2**53, 2**64 - 1])
def test_integer_that_javascript_may_round_is_taken_in_quotes_alone(alice: Customer, number: int) -> None:
    assert alice.post("/remove_group", {"group_id": number}).status_code == 400
    assert alice.post("/remove_group", {"group_id": str(number)}).is_success


@pytest.mark.parametrize("last", ["00", "23", "65", "ff"])
def test_signature_ends_in_27_or_28(alice: Customer, last: str) -> None:
    forms = [{"typed_data": "{}", "signature": "0x" + "11" * 64 + byte} for byte in (last, "1b")]
    told = [alice.post("/create_wallet_with_signature", form).json()["message"] for form in forms]
    assert ["signature" in message for message in told] == [True, False], told


# ----------------------------------------------------------------------------------------------------------- targets


@pytest.mark.parametrize("target", ["//", "//x:y/core/v1/list_groups", "http://[", "http://a:b:c/", "/core/v1/%"])
def test_target_that_is_no_url_is_not_found(api: httpx.Client, target: str) -> None:
    assert status_of(api, target) == 404


def test_absolute_target_is_served(api: httpx.Client) -> None:
    assert status_of(api, "http://proxied.example/core/v1/get_api_payers?") == 200


def status_of(api: httpx.Client, target: str) -> int:
    address = urlsplit(str(api.base_url))
    connection = HTTPConnection(str(address.hostname), address.port, timeout=10)
    connection.putrequest("GET", target, skip_host=True)
    connection.putheader("Host", "node.example")
    connection.endheaders()
    status = connection.getresponse().status
    connection.close()
    return status


# ----------------------------------------------------------------------------------------------------------- actions


@pytest.mark.parametrize("thrown", ["Object.create(null)", "{ toString() { throw this } }", "null"])
def test_action_may_throw_anything(alice: Customer, thrown: str) -> None:
    assert alice.run(f"throw {thrown}; async function main() {{}}").status_code == 424
    assert alice.run(f"async function main() {{ throw {thrown} }}").status_code == 424


@pytest.mark.parametrize(
    "attempt",
    [
        "JSON.stringify = () => '{'; vault.addressOf('x')",
        "Array.prototype.toJSON = String.prototype.toJSON = () => '{'; vault.addressOf('x')",
        "vault.addressOf({ toString() { throw this.constructor } })",
        "(function deeper() { try { deeper() } catch {} vault.addressOf(pkp) })()",
        "(function deeper() { try { deeper() } catch {} console.log('x') })()",
        "await import('node:fs')",
        "console.log({ toString() { throw arguments.callee.caller } })",
    ],
)
def test_no_error_leads_to_the_host(alice: Customer, attempt: str) -> None:
    reach = "e.constructor.constructor('return process')().version"
    code = f"async function main() {{ const pkp = '{alice.pkp}'; try {{ {attempt} }} catch (e) {{ return {reach} }} }}"
    version = node("--version").stdout.strip()
    answer = alice.run(code)
    assert answer.status_code in {200, 403, 424}
    assert version not in answer.text


@pytest.mark.parametrize(
    "code",
    [
        "Object.defineProperty(Object.prototype, 'logs', { get() { for (;;); }, set() { for (;;); } });"
        "Array.prototype.toJSON = () => { for (;;); }; async function main() { for (;;); }",
        "async function main() {} throw { toString() { for (;;); } }",
    ],
)
def test_endless_action_holds_nobody(api: httpx.Client, alice: Customer, code: str) -> None:
    with ThreadPoolExecutor() as pool:
        started = time.monotonic()
        run = pool.submit(alice.run, code)
        time.sleep(1)
        assert api.get("/get_api_payers").is_success
        assert time.monotonic() - started < TIME_LIMIT
        assert run.result().status_code == 424
        assert time.monotonic() - started < TIME_LIMIT * 2


def test_action_that_takes_all_memory_ends_alone(api: httpx.Client, alice: Customer) -> None:
    assert alice.run('async function main() { return [..."x".repeat(2 ** 27)].length }').status_code == 424
    assert api.get("/get_api_payers").is_success


# ------------------------------------------------------------------------------------------------------- the account


def test_actions_are_listed_by_when_they_came(api: httpx.Client, alice: Customer) -> None:
    first, second = (api.post("/get_harbour_action_ipfs_id", json=code).json()["cid"] for code in ("1", "2"))
    group = alice.get("/list_groups").json()[0]["id"]
    api.put("/groups/actions", headers=alice.headers, json={"group_id": group, "action_ipfs_cid": first})
    alice.post("/add_action", {"action_ipfs_cid": second, "name": "second", "description": ""})
    (newest, oldest) = alice.get("/list_actions").json()["entries"]
    assert newest["title"] == "second"
    hashed = oldest["hashed_cid"]
    alice.post("/update_action_metadata", {"hashed_cid": hashed, "name": "first", "description": ""})
    alice.post("/remove_action_from_group", {"group_id": group, "hashed_cid": hashed})
    assert [action["title"] for action in alice.get("/list_actions").json()["entries"]] == ["second", "first"]


def test_email_reaches_the_payment_provider(api: httpx.Client) -> None:
    customer = Customer(api, contact="a@example.com")
    secret = customer.post("/billing/create_payment_intent", {"amount_cents": 500}).json()
    paid = httpx.post(str(api.base_url.join("/sandbox/pay")), json=secret)
    assert paid.json()["receipt_email"] == "a@example.com"
