"""Web pages of other origins: who may call the node, and how the others learn why not."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import httpx
import pytest
from nodes import Running, refused, serving
from processes import refusal

from reference_node.settings import Settings

PAGE, OTHER = "http://localhost:5173", "https://app.example"
SENT = "content-type,x-api-key"
PATHS = [
    "/core/v1/list_groups",
    "/core/v1/nothing",
    "/rpc",
    "/abi/AccountConfig.json",
    "/info",
    "/attestation",
    "/evidences/quote.json",
]


@pytest.fixture(scope="module")
def shared() -> Iterator[Running]:
    """A node that pages of two origins may call."""
    with serving(Settings(port=0, starter_credits=100, control=True, allowed_origins=(PAGE, OTHER))) as running:
        yield running


def preflight(
    running: Running, path: str, origin: str, method: str = "POST", headers: str = SENT, **more: str
) -> httpx.Response:
    asked = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": headers} | more
    return running.http.options(path, headers={"Origin": origin} | asked)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("origin", [PAGE, OTHER])
def test_page_of_an_allowed_origin_may_call_and_read(shared: Running, path: str, origin: str) -> None:
    headers = "authorization,content-type,if-none-match,x-api-key,x-wallet-auth"
    answer = preflight(shared, path, origin, headers=headers)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, origin)
    assert set(headers.split(",")) <= set(answer.headers["access-control-allow-headers"].lower().split(", "))
    assert "access-control-allow-credentials" not in answer.headers
    read = shared.http.get(path, headers={"Origin": origin})
    assert read.headers["access-control-allow-origin"] == origin
    assert read.headers["vary"] == "Origin"
    assert {"X-Request-Id", "Retry-After"} <= set(read.headers["access-control-expose-headers"].split(", "))


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/core/v1/list_groups", {}, 401),
        ("GET", "/core/v1/nothing", {}, 404),
        ("PUT", "/core/v1/list_groups", {}, 405),
        ("POST", "/core/v1/new_account", {"Content-Type": "application/json"}, 400),
        ("POST", "/rpc", {"Content-Type": "text/plain"}, 415),
        ("GET", "/info", {"Host": "evil.example"}, 421),
    ],
)
def test_page_may_read_refusals(shared: Running, method: str, path: str, headers: dict[str, str], status: int) -> None:
    answer = shared.http.request(method, path, headers={"Origin": PAGE} | headers)
    refused(answer, status)
    assert answer.headers["access-control-allow-origin"] == PAGE


def test_page_may_read_that_the_node_failed(shared: Running) -> None:
    headers = {"Origin": PAGE, "X-Api-Key": shared.account()}
    with mock.patch.object(shared.node.accounts, "create_wallet", side_effect=RuntimeError):
        answer = shared.http.post("/core/v1/create_wallet", headers=headers)
    refused(answer, 500, "internal-error")
    assert answer.headers["access-control-allow-origin"] == PAGE


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "origin", ["http://localhost:5174", "https://localhost:5173", "http://localhost:5173.evil.example", "null"]
)
def test_page_of_another_origin_learns_which_option_is_missing(shared: Running, path: str, origin: str) -> None:
    answer = preflight(shared, path, origin)
    problem = refused(answer, 403, "preflight-refused")
    assert problem["detail"] == f"pages of {origin} may not call this node: start it with --allow-origin {origin}"
    for other in (answer, shared.http.get(path, headers={"Origin": origin})):
        assert "access-control-allow-origin" not in other.headers


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"method": "DELETE"}, "the page asks for DELETE with the headers content-type,x-api-key"),
        ({"headers": "x-api-kee"}, "the headers x-api-kee: pages may use GET, HEAD, POST, and send Authorization"),
    ],
)
def test_preflight_for_what_the_node_never_takes_says_what_it_takes(
    shared: Running, asked: dict[str, str], said: str
) -> None:
    problem = refused(preflight(shared, "/core/v1/list_groups", PAGE, **asked), 403, "preflight-refused")
    assert said in problem["detail"]


@pytest.mark.parametrize("path", PATHS)
def test_no_page_may_call_a_node_without_the_option(running: Running, path: str) -> None:
    assert "--allow-origin" in refused(preflight(running, path, PAGE), 403, "preflight-refused")["detail"]
    read = running.http.get(path, headers={"Origin": PAGE})
    assert not {"vary", "access-control-allow-origin", "access-control-expose-headers"} & set(read.headers)


@pytest.mark.parametrize("path", ["/control/clock", "/control//clock", "/stripe/control/clear"])
def test_no_page_may_use_the_test_control(shared: Running, path: str) -> None:
    asked = preflight(shared, path, PAGE)
    assert asked.status_code in {404, 405}
    for answer in (asked, shared.http.post(path, json={}, headers={"Origin": PAGE})):
        assert "access-control-allow-origin" not in answer.headers


def test_every_page_may_pay(running: Running) -> None:
    answer = preflight(running, "/stripe/v1/payment_intents/pi_1/confirm", "https://shop.example")
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "*")


def test_page_of_an_allowed_origin_may_call_from_a_public_network(shared: Running) -> None:
    private = {"Access-Control-Request-Private-Network": "true"}
    assert preflight(shared, "/rpc", PAGE, **private).headers["access-control-allow-private-network"] == "true"


@pytest.mark.parametrize(
    ("origin", "said"),
    [
        ("*", "would let pages of everybody in"),
        ("null", "would let pages of everybody in"),
        ("localhost:5173", "write it as browsers do"),
        ("http://localhost:5173/", "write it as browsers do"),
        ("http://Localhost:5173", "write it as browsers do"),
        ("http://localhost:5173/app", "write it as browsers do"),
        ("http://a.example, http://b.example", "write it as browsers do"),
        ("http://*.example", "write it as browsers do"),
        ("", "write it as browsers do"),
        ("http://localhost:80", "browsers leave the scheme's own port out"),
        ("https://app.example:443", "browsers leave the scheme's own port out"),
    ],
)
def test_what_is_no_origin_is_refused(origin: str, said: str) -> None:
    assert said in refusal(2, "--allow-origin", PAGE, "--allow-origin", origin)
