"""What no client should send: each a problem document of the right status, and nothing changed."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from types import ModuleType
from typing import Any

import pytest
from connecting import connect, exchange, head, status_of
from nodes import LABELS, NEW_GROUP, Running, refused
from waiting import Held

from reference_node.api import route
from reference_node.serving.long_bodies import LONG_BODY
from reference_node.strict_json import BODY_LIMIT, DEPTH_LIMIT
from reference_node.stripe_simulator import exchange as exchange_of_stripe

JSON = {"Content-Type": "application/json"}
CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
HASH = "0x" + "ab" * 32


def nested(depth: int, opening: str = "[", closing: str = "]") -> bytes:
    return (opening * depth + closing * depth).encode()


NOT_JSON = [
    (b"", "body-not-json"),
    (b"   ", "body-not-json"),
    (b"{", "body-not-json"),
    (b"{} {}", "body-not-json"),
    (b"{'name': 'n'}", "body-not-json"),
    (b'{"name": "n",}', "body-not-json"),
    (b'{"name": NaN}', "body-not-json"),
    (b'{"name": Infinity}', "body-not-json"),
    (b'{"name": -Infinity}', "body-not-json"),
    (b'{"name": "a\x00b"}', "body-not-json"),
    (b'{"name": "a\nb"}', "body-not-json"),
    (b'{"name": 01}', "body-not-json"),
    (b'{"name": "\\ud80"}', "body-not-json"),
    (b"\xef\xbb\xbf{}", "body-not-json"),
    (b'{"name": "\xff"}', "body-not-utf8"),
    (b'{"name": "\xed\xa0\x80"}', "body-not-utf8"),
    ('{"name": "n"}'.encode("utf-16"), "body-not-utf8"),
    (b'{"name": "n", "name": "n"}', "duplicate-member"),
    (b'{"name": {"\\u006e": 1, "n": 2}}', "duplicate-member"),
    (nested(DEPTH_LIMIT + 1), "body-too-deep"),
    (nested(500_000), "body-too-deep"),
    (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "body-too-deep"),
]


@pytest.mark.parametrize(("body", "code"), NOT_JSON)
def test_body_that_is_not_one_json_value_is_refused(running: Running, account: str, body: bytes, code: str) -> None:
    for operation in ("add_usage_api_key", "new_account", "get_service_action_ipfs_id", "service_action"):
        refused(running.send(operation, account, body), 400, code)
    assert running.read("list_api_keys", account) == []


@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain", "text/json", "application/x-www-form-urlencoded", "application/jsonx", "multipart/form-data",
     "application/json; charset=utf-16", "application/json;charset=latin-1", "application/", ";", "\xff"],
)  # fmt: skip
def test_body_that_does_not_call_itself_json_is_refused(running: Running, account: str, content_type: str) -> None:
    headers = [(b"X-Api-Key", account.encode()), (b"Content-Type", content_type.encode("latin-1"))]
    body = json.dumps(LABELS).encode()
    response = running.http.post("/core/v1/add_usage_api_key", content=body, headers=headers)
    refused(response, 400, "content-type-not-json")
    assert running.read("list_api_keys", account) == []


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", 'APPLICATION/JSON;Charset="UTF-8"'])
def test_body_that_calls_itself_json_in_other_words_is_taken(running: Running, account: str, content_type: str) -> None:
    body = json.dumps(LABELS).encode()
    assert running.send("add_usage_api_key", account, body, **{"Content-Type": content_type}).status_code == 200


NO_HASHES = [HASH[:-1], HASH + "0", HASH[2:], HASH[:-1] + "g", HASH + "\n", "0x" + "ab" * 20, 0]
NO_GROUP_IDS = ["", "01", "+1", " 1", "1\n", "0x1", "-1", "٣", str(2**64), 2**64, True, [1], 1.5]
NO_CIDS = ["", "Qm" + "1" * 44, CID + "a", " " + CID, HASH, "ipfs://" + CID]

WRONG_MEMBERS: list[tuple[str, dict[str, Any], str, list[Any]]] = [
    ("add_usage_api_key", LABELS, "name", [None, 1, ["n"], "a\x00b", "a" * 1025]),
    ("add_usage_api_key", LABELS, "nam", ["n"]),
    ("add_usage_api_key", LABELS, "can_create_groups", ["true", 1, None]),
    ("add_usage_api_key", LABELS, "execute_in_groups", [0, {"0": 0}, None, [0] * 1_025]),
    (
        "add_usage_api_key",
        LABELS,
        "execute_in_groups",
        [[wrong] for wrong in ("0", False, 0.5, -1, 2**64, 10**4000, [0], None)],
    ),
    ("new_account", {"account_name": "n", "account_description": "d"}, "email", [1, "nobody"]),
    ("add_group", NEW_GROUP, "pkp_ids_permitted", [[wrong] for wrong in NO_HASHES]),
    ("add_group", NEW_GROUP, "cid_hashes_permitted", [[wrong] for wrong in (1, False, 0.5, "00", CID, HASH[:-2])]),
    ("update_group", LABELS, "group_id", ["1", True, 1.5]),
    ("remove_group", {}, "group_id", NO_GROUP_IDS),
    ("add_action_to_group", {"group_id": 1}, "action_ipfs_cid", NO_CIDS),
    ("add_action", LABELS, "action_ipfs_cid", NO_CIDS),
    ("remove_action_from_group", {"group_id": 1}, "hashed_cid", [*NO_HASHES, CID]),
    ("delete_action", {}, "hashed_cid", ["0x"]),
    ("add_pkp_to_group", {"group_id": 1}, "pkp_id", [*NO_HASHES, "0X" + "00" * 32]),
    ("remove_usage_api_key", {}, "usage_api_key", ["nonsense", HASH]),
]

WRONG_BODIES: list[tuple[str, list[Any]]] = [
    ("add_usage_api_key", [None, [], "text", 1, {}, {"name": "n"}]),
    ("new_account", [{"account_name": "n"}]),
    ("add_group", [{"group_name": "n"}]),
    ("update_group", [{"group_id": 1}]),
    ("get_service_action_ipfs_id", [{"code": "x"}, 1, None]),
    *((operation, [body | {member: wrong} for wrong in values]) for operation, body, member, values in WRONG_MEMBERS),
]


@pytest.mark.parametrize(("operation", "bodies"), WRONG_BODIES)
def test_json_of_the_wrong_shape_is_refused_and_changes_nothing(
    running: Running, account: str, operation: str, bodies: list[Any]
) -> None:
    running.group(account)
    before = running.everything(account)
    for body in bodies:
        problem = refused(running.send(operation, account, json.dumps(body).encode()), 422, "request-invalid")
        assert "body" in problem["detail"]
    assert running.everything(account) == before


@pytest.mark.parametrize(
    "body",
    [
        b'{"name": "\\ud800", "description": "d"}',
        b'{"name": "\\uDC00\\uD800", "description": "d"}',
        b'{"name": "n", "description": "d", "\\udfff": 1}',
    ],
)
def test_half_a_surrogate_pair_is_refused(running: Running, account: str, body: bytes) -> None:
    refused(running.send("add_usage_api_key", account, body), 422, "lone-surrogate")
    assert running.read("list_api_keys", account) == []


@pytest.mark.parametrize(
    "number", [b"1e999", b"-1e999", b"1e" + b"9" * 30, b"1e-" + b"9" * 30, b"1e-1" + b"0" * 500, b"1." + b"1" * 500]
)
def test_number_that_no_field_could_hold_is_refused(running: Running, account: str, number: bytes) -> None:
    body = b'{"name": "n", "description": "d", "execute_in_groups": [' + number + b"]}"
    refused(running.send("add_usage_api_key", account, body), 422, "number-out-of-range")


def test_whole_number_in_another_spelling_is_the_integer_it_is(running: Running, account: str) -> None:
    running.group(account)
    for spelling in (b"1.0", b"10e-1", b"0.1e1", b"1.000"):
        body = b'{"name": "n", "description": "d", "execute_in_groups": [' + spelling + b"]}"
        assert running.send("add_usage_api_key", account, body).status_code == 200
    assert [key["execute_in_groups"] for key in running.read("list_api_keys", account)] == [[1]] * 4
    beyond = b'{"name": "n", "description": "d", "execute_in_groups": [18446744073709551616.0]}'
    refused(running.send("add_usage_api_key", account, beyond), 422, "request-invalid")


def test_large_u64_keeps_its_exact_value(running: Running, account: str) -> None:
    for group in (2**53 + 1, 2**64 - 1):
        problem = refused(running.post("remove_group", account, group_id=str(group)), 404, "unknown-group")
        assert str(group) in problem["detail"]


QUERIES = [
    "page_number=-1", "page_number=1.0", "page_number=1e2", "page_number=NaN", "page_number=Infinity", "page_number=",
    "page_number=%2B1", "page_number=+1", "page_number=1_000", "page_number=0x1", "page_number=01",
    "page_number=%D9%A3", "page_number=%FF%FE", "page_number=1%00", f"page_number={2**64}", "page_number=" + "9" * 5000,
    "page_size=0", "page_size=101", "page_size=-1", "page_size=ten", "page_size=true", "page_size=null",
    "page_size=1&page_size=1", "page_number=0&page_number=1", "page_number[]=1&page_number[]=1",
]  # fmt: skip


GROUPS = ["", "group_id=", "group_id=-1", "group_id=1.0", f"group_id={2**64}", "group_id=1&group_id=2"]
LISTS = {
    "list_groups": QUERIES,
    "list_wallets": QUERIES,
    "list_api_keys": QUERIES,
    "list_actions": [*QUERIES, *GROUPS[1:]],
    "list_wallets_in_group": GROUPS,
}


@pytest.mark.parametrize("listing", LISTS)
def test_query_that_names_no_page_or_no_group_is_refused(running: Running, account: str, listing: str) -> None:
    running.group(account)
    for query in LISTS[listing]:
        refused(running.http.get(f"/core/v1/{listing}?{query}", headers={"X-Api-Key": account}), 422)
    assert running.read(listing, account, group_id=1, page_number=2**64 - 1, page_size=100) == []


def test_body_over_the_limit_is_refused(running: Running) -> None:
    at_the_limit = json.dumps("x" * (BODY_LIMIT - 2)).encode()
    assert len(at_the_limit) == BODY_LIMIT
    assert running.send("get_service_action_ipfs_id", None, at_the_limit).status_code == 200
    refused(running.send("get_service_action_ipfs_id", None, at_the_limit + b" "), 413, "body-too-large")


def test_chunked_body_over_the_limit_is_refused(running: Running) -> None:
    chunks = (b" " * 65536 for _ in range(BODY_LIMIT // 65536 + 1))
    refused(running.send("get_service_action_ipfs_id", None, chunks), 413, "body-too-large")


@pytest.mark.parametrize("path", ["/core", "/core/v1", "/core/v1/", "/core/v1/list_groups/",
                                  "/core/v2/list_groups", "/core/v1/%00", "/core/v1/..%2f..%2fetc%2fpasswd",
                                  "/core/v1/%ff", "/core/v1/" + "a" * 20_000])  # fmt: skip
def test_path_that_is_not_served_is_unknown(running: Running, path: str) -> None:
    refused(running.http.get(path), 404, "not-found")
    refused(running.http.post(path, json={}), 404, "not-found")


def test_method_that_files_do_not_take_is_refused(running: Running) -> None:
    response = running.http.post("/core/v1/swagger-ui-assets/swagger-ui.css")
    assert refused(response, 405, "method-not-allowed")["detail"].endswith(": this path takes GET, HEAD")
    assert response.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/core/v1/add_grup", "POST /core/v1/add_group"),
        ("/core/v1/createWallet", "POST /core/v1/create_wallet"),
        ("/core/v1/list_groups/", "GET /core/v1/list_groups"),
        ("/core/v1/balance", "GET /core/v1/billing/balance"),
        ("/core/v1/groups/1/action", "POST /core/v1/groups/{group_id}/actions"),
        ("/core/v1/openapi", "GET /core/v1/openapi.json"),
        ("/add_group", "POST /core/v1/add_group"),
        ("/atestation", "GET /attestation"),
        ("/core/v1/delete_group", "POST /core/v1/update_group or GET /core/v1/list_groups or POST /core/v1/add_group?"),
        ("/control/rese", None),
        ("/core/v1/x", None),
        ("/favicon.ico", None),
        ("/core/v1/" + "add_group" * 2_000, None),
    ],
)
def test_misspelt_path_is_told_the_nearest(running: Running, path: str, meant: str | None) -> None:
    detail = refused(running.http.post(path, json={}), 404, "not-found")["detail"]
    assert detail.partition("; ")[0].endswith(": there is no such path")
    assert f"did you mean {meant}" in detail if meant else "did you mean" not in detail


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"nonsense\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: a\r\n" * 50_000 + b"\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 100 + b"\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused_in_the_same_shape(running: Running, request_bytes: bytes) -> None:
    headers, _, body = exchange(running, request_bytes).partition(b"\r\n\r\n")
    assert status_of(headers) == 400
    assert b"application/problem+json" in headers.lower()
    assert json.loads(body)["code"] == "not-http"


@pytest.mark.parametrize(
    ("target", "header"),
    [
        ("GET /", "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13"),
        ("GET /", "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__"),
        ("CONNECT example.org:443", "X: a"),
        ("GET http://other.example/core/v1/get_node_chain_config", "X: a"),
        ("OPTIONS *", "X: a"),
        ("PRI *", "X: a"),
        ("GET /core/v1/swagger-ui-assets/../../../../etc/passwd", "X: a"),
        ("GET /core/v1/swagger-ui-assets/..%2f..%2f..%2fetc%2fpasswd", "X: a"),
        ("GET /core/v1/swagger-ui-assets//etc/passwd", "X: a"),
        ("GET /evidences/..%2f..%2fetc%2fpasswd", "X: a"),
        ("GET /evidences/%00", "X: a"),
        ("GET /core/v1/list_groups?page_number=" + "9" * 60_000, "X: a"),
        ("GET /core/v1/account_exists", "X-Api-Key: " + "A" * 60_000),
        ("GET /core/v1/billing/balance", "X-Wallet-Auth: " + "{" * 60_000),
    ],
)
def test_request_for_what_the_node_does_not_do_is_no_fault_of_it(running: Running, target: str, header: str) -> None:
    method, _, path = target.partition(" ")
    answer = exchange(running, head(method, path, "Connection: close", header))
    assert 200 <= status_of(answer) < 500
    assert b"root:" not in answer
    assert running.read("get_node_chain_config")


DIGITS = b"9" * 900_000


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/core/v1/remove_group", b'{"group_id":' + DIGITS + b"}"),
        ("/core/v1/billing/create_payment_intent", b'{"amount_cents":' + DIGITS + b"}"),
        ("/core/v1/billing/create_payment_intent", b'{"amount_cents":1e400000}'),
        ("/core/v1/service_action", b'{"code":"x","jsParams":{"a":1.' + DIGITS + b"}}"),
        ("/rpc", b'{"jsonrpc":"2.0","id":' + DIGITS + b',"method":"eth_chainId","params":[]}'),
        ("/rpc", b'{"jsonrpc":"2.0","id":1,"method":"eth_getBlockByNumber","params":["0x' + DIGITS + b'",false]}'),
        ("/rpc", b'{"jsonrpc":"2.0","id":1,"method":"eth_sendRawTransaction","params":["0x' + b"c1" * 400_000 + b'"]}'),
        ("/stripe/v1/payment_intents", b"a" + b"[a]" * 100_000 + b"=1"),
        ("/stripe/v1/payment_intents", b"&".join(b"a%d=1" % number for number in range(80_000))),
    ],
)
def test_body_that_is_long_to_read_is_refused(running: Running, account: str, path: str, body: bytes) -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"} if path.startswith("/stripe") else {}
    answer = running.http.post(path, content=body, headers=JSON | {"X-Api-Key": account} | form)
    assert answer.status_code in range(400, 500) or "error" in answer.json()
    assert running.read("get_node_chain_config")


@pytest.mark.parametrize(
    ("path", "reading", "parser", "body", "headers", "status"),
    [
        ("/core/v1/new_account", route, "parse", b'{"account_name":"%s"}' % (b"n" * LONG_BODY), JSON, 422),
        ("/stripe/v1/payment_intents", exchange_of_stripe, "parse_form", b"amount=" + b"1" * LONG_BODY, {}, 401),
    ],
)
def test_body_that_is_long_to_read_holds_up_nobody(
    running: Running,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    reading: ModuleType,
    parser: str,
    body: bytes,
    headers: dict[str, str],
    status: int,
) -> None:
    held = Held(monkeypatch, reading, parser)
    with ThreadPoolExecutor(1) as threads:
        long = threads.submit(running.http.post, path, content=body, headers=headers)
        assert running.read("get_node_chain_config")
        held.let_go()
        assert long.result().status_code == status


def test_query_of_ten_thousand_parameters_is_refused_unread(running: Running) -> None:
    answer = running.http.get("/core/v1/get_node_chain_config?" + "a=%20&" * 10_000)
    refused(answer, 422, "query-too-long")


def test_answers_that_nobody_reads_hold_up_nobody(running: Running) -> None:
    pipelined = b"GET /core/v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 500
    with ExitStack() as opened:
        for _ in range(10):
            connection = opened.enter_context(connect(running))
            connection.settimeout(1)
            with suppress(TimeoutError):  # the node reads on when it has sent what it answers
                connection.sendall(pipelined)
        assert running.read("get_node_chain_config")


def test_request_that_ends_as_no_http_has_no_effect(running: Running, account: str) -> None:
    before = running.everything(account)
    begun = head("POST", "/core/v1/create_wallet", f"X-Api-Key: {account}", "Transfer-Encoding: chunked")
    assert status_of(exchange(running, begun + b"no length\r\n")) == 400
    assert running.everything(account) == before


def test_details_do_not_repeat_what_was_sent_at_length(running: Running, account: str) -> None:
    many = {str(number): 1 for number in range(10_000)}
    for body in ({"x" * 100_000: 1}, many, {"execute_in_groups": ["y" * 1000] * 100}, {"name": ["z" * 1000]}):
        response = running.post("add_usage_api_key", account, **(LABELS | body))
        assert len(refused(response, 422, "request-invalid")["detail"]) <= 1000
        assert not re.search("(x|y|z){90}", response.text)
    response = running.post("add_usage_api_key", account, **(LABELS | many))
    assert response.json()["detail"].startswith("the body has 10002 members")


def test_detail_names_the_member_that_does_not_belong(running: Running, account: str) -> None:
    problem = refused(running.post("add_usage_api_key", account, **LABELS, can_create_group=True), 422)
    assert problem["detail"].startswith(
        "body.can_create_group: no member of this body; the body takes name, description"
    )


def test_detail_tells_all_faults_and_what_the_body_takes(running: Running, account: str) -> None:
    problem = refused(running.post("add_group", account, name="mine", pkp_ids_permitted=["0x1"]), 422)
    assert [fault.partition(":")[0] for fault in problem["detail"].split("; ")] == [
        "body.pkp_ids_permitted.0",
        "body.group_name",
        "body.group_description",
        "body.name",
        "the body takes pkp_ids_permitted, cid_hashes_permitted, group_name, group_description",
    ]


def test_request_ids_are_the_nodes_own_and_differ(running: Running) -> None:
    ids = {running.http.get("/core/v1/x", headers={"X-Request-Id": "mine"}).headers["x-request-id"] for _ in range(3)}
    assert len(ids) == 3
    assert "mine" not in ids
    assert "x-request-id" in running.get("get_node_chain_config").headers
