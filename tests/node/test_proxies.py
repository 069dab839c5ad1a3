"""The node behind proxies that serve it below a prefix: pages, links and the address that its description states."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest
from browser import clicked
from envelopes import rpc
from nodes import Running, refused, serving
from prefix_proxy import Behaviour, behind_proxy
from processes import completed, refusal
from starlette.datastructures import Headers

from reference_node.public_address import read_url
from reference_node.serving.proxies import is_within, told
from reference_node.settings import Settings

AT = "/acme/v7"
PUBLIC = "https://host.example/acme/v7"
LOOPBACK = ip_network("127.0.0.0/8")
PREFIX_TOLD = {"X-Forwarded-Prefix": AT}
ALL_TOLD = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "host.example", **PREFIX_TOLD}

KINDS = pytest.mark.parametrize("strips", [True, False], ids=["stripped", "passed on"])


@pytest.fixture(scope="module")
def public() -> Iterator[Running]:
    """A node that knows its public address."""
    settings = Settings(port=0, starter_credits=100, control=True, public_url=read_url(PUBLIC))
    with serving(settings) as running:
        yield running


@pytest.fixture(scope="module")
def trusting() -> Iterator[Running]:
    """A node that trusts the proxies of this machine."""
    origins = ("http://localhost:5173",)
    token = "a-word-of-the-test-control"  # noqa: S105 - of this test
    settings = Settings(
        port=0, starter_credits=10**6, control=True, control_token=token, allowed_origins=origins,
        trusted_proxies=(LOOPBACK,),
    )  # fmt: skip
    with serving(settings) as running:
        yield running


@contextmanager
def proxied(
    running: Running,
    *,
    strips: bool,
    sends: Mapping[str, str] | None = None,
    passes_host: bool = False,
    prefix: str = AT,
) -> Iterator[httpx.Client]:
    """A client of a proxy in front of a node."""
    behaviour = Behaviour(str(running.http.base_url).rstrip("/"), prefix, strips, passes_host, sends or {})
    with behind_proxy(behaviour) as url, httpx.Client(timeout=60) as http:
        http.base_url = url
        yield http


def base_url(http: httpx.Client) -> str:
    return f"{http.base_url}".rstrip("/")


def servers(http: httpx.Client) -> object:
    answer = http.get("/core/v1/openapi.json")
    assert answer.status_code == 200, answer.text
    return [server["url"] for server in answer.json().get("servers", [])]


def dead_links(http: httpx.Client, path: str) -> list[str]:
    """The links of a page that lead nowhere or away from the node, as a browser follows them."""
    page = base_url(http) + path
    text = httpx.get(page).text
    base = re.search('<base href="([^"]*)"', text)
    found = re.findall('(?:src|href)="([^"]+)"', re.sub("<base[^>]*>", "", text))
    assert len(found) >= 3
    links = [urljoin(urljoin(page, base[1] if base else ""), link) for link in found]
    return [link for link in links if not link.startswith(base_url(http)) or http.get(link).status_code != 200]


@pytest.mark.parametrize("path", ["/", "/core/v1/swagger-ui", "/evidences/"])
def test_pages_need_no_option_behind_a_proxy_that_strips(running: Running, path: str) -> None:
    with proxied(running, strips=True) as http:
        assert dead_links(http, path) == []


@KINDS
@pytest.mark.parametrize("path", ["", "/", "/core/v1/swagger-ui", "/evidences/"])
def test_pages_link_to_what_is_there(public: Running, trusting: Running, path: str, strips: bool) -> None:
    for running, sends in ((public, {}), (trusting, PREFIX_TOLD)):
        with proxied(running, strips=strips, sends=sends) as http:
            assert dead_links(http, path) == []


@KINDS
def test_description_states_the_address_that_is_known(public: Running, trusting: Running, strips: bool) -> None:
    with proxied(public, strips=strips, sends={"X-Forwarded-Prefix": "/other"}) as http:
        assert servers(http) == [PUBLIC]
    with proxied(trusting, strips=strips, sends=ALL_TOLD) as http:
        assert servers(http) == [PUBLIC]
    with proxied(trusting, strips=strips, sends=PREFIX_TOLD) as http:
        assert servers(http) == [AT], "no scheme and host are told: a whole address would be a guess"


def test_description_of_a_node_that_is_told_nothing_states_none(running: Running, trusting: Running) -> None:
    assert servers(running.http) == servers(trusting.http) == []


def test_headers_of_others_are_ignored(running: Running) -> None:
    headers = {**ALL_TOLD, "Forwarded": "proto=https;host=host.example"}
    assert "servers" not in running.http.get("/core/v1/openapi.json", headers=headers).json()
    assert "<base" not in running.http.get("/", headers=headers).text
    refused(running.http.get(f"{AT}/core/v1/openapi.json", headers=headers), 404)
    with serving(Settings(port=0, payments="none", trusted_proxies=(ip_network("10.0.0.0/8"),))) as other:
        assert "servers" not in other.http.get("/core/v1/openapi.json", headers=headers).json()


@KINDS
@pytest.mark.parametrize("prefix", ["/core", "/core/v1", "/rpc", "/stripe", "/a.b~c/D_1"])
def test_prefix_may_be_like_a_path_of_the_node(trusting: Running, prefix: str, strips: bool) -> None:
    with proxied(trusting, strips=strips, sends={"X-Forwarded-Prefix": prefix}, prefix=prefix) as http:
        assert http.get("/core/v1/get_api_payers").status_code == 200
        assert http.get("/info").status_code == 200
        assert rpc(Running(trusting.node, http), "eth_chainId")
        assert http.get("/").status_code == 200
        assert "error" in http.get("/stripe/v1/customers").json()


@KINDS
def test_calls_refusals_and_hints_are_those_of_the_address(trusting: Running, strips: bool) -> None:
    with proxied(trusting, strips=strips, sends=PREFIX_TOLD) as http:
        assert http.post("/core/v1/new_account", json={"account_name": "n", "account_description": "d"}).is_success
        detail = refused(http.get("/core/v1/list_gruops"), 404, "not-found")["detail"]
        assert detail == (
            f"GET {AT}/core/v1/list_gruops: there is no such path; did you mean GET {AT}/core/v1/list_groups?"
        )
        refused(http.get("/core/v1/new_account"), 405)
        answer = http.get("/core/v1/swagger-ui-assets/none.js")
        assert (answer.status_code, "error" in answer.json()) == (404, False)
        assert http.get("/stripe/v1/customers").json()["error"]["type"] == "invalid_request_error"
        refused(http.post("/control/clock", json={"offset_seconds": 0}), 401, "control-token-missing")
        closed = http.post("/stripe/control/clear", json={})
        assert (closed.status_code, closed.json()["error"]["type"]) == (401, "invalid_request_error")
        asked = {"Origin": "http://localhost:5173", "Access-Control-Request-Method": "GET"}
        assert http.options("/core/v1/list_groups", headers=asked).status_code == 200
        assert "access-control-allow-origin" not in http.options("/control/clock", headers=asked).headers
        assert http.options("/stripe/v1/customers", headers=asked).headers["access-control-allow-origin"] == "*"


def test_public_name_is_the_node_s_own(public: Running, trusting: Running) -> None:
    for host, status in (("host.example", 200), ("HOST.example:443", 200), ("evil.example", 421)):
        assert public.http.get("/info", headers={"Host": host}).status_code == status
    forged = {"Host": "evil.example", "X-Forwarded-Host": "localhost"}
    refused(trusting.http.get("/info", headers=forged), 421, "unknown-host")


def test_viewer_in_a_browser_shows_and_calls_the_operations(trusting: Running) -> None:
    with proxied(trusting, strips=False, sends=PREFIX_TOLD) as http:
        base = base_url(http)
        seen = clicked("viewer.js", f"{base}/core/v1/swagger-ui")
    assert (seen["called"], seen["status"], seen["errors"]) == (f"{base}/core/v1/get_api_payers", "200", [])
    assert "0x" in seen["answered"]


def test_suite_finds_nothing_to_charge_behind_a_prefix(trusting: Running, tmp_path: Path) -> None:
    with proxied(trusting, strips=True, sends=PREFIX_TOLD) as http:
        base = base_url(http)
        attestation = {**trusting.ready["profile"]["attestation"], "pccs_url": f"{base}/pccs"}
        profile = {
            "extends": "reference", "base_url": f"{base}/", "chain": {"rpc_url": f"{base}/rpc"},
            "capabilities": ["managed_accounts", "openapi", "attestation", "chain_rpc", "app_authorisation_contract"],
            "attestation": attestation, "billing": trusting.ready["profile"]["billing"],
        }  # fmt: skip
        (tmp_path / "node.json").write_text(json.dumps(profile))
        command = [sys.executable, "-m", "conformance", "run", "--profile", str(tmp_path / "node.json")]
        command += ["--requirement", "VER-*", "--requirement", "ATT-*"]
        done = completed(*command, "--output", str(tmp_path / "out"), seconds=540)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    verdicts = {case["case"]: case["verdict"] for case in results["cases"]}
    assert verdicts["versioning::viewer"] == verdicts["versioning::description-is-complete"] == "pass"
    assert set(verdicts.values()) <= {"pass", "not offered"}


# ------------------------------------------------------------------------------------------ what proxies tell


@pytest.mark.parametrize(
    ("sent", "url"),
    [
        ({}, ""),
        ({"Forwarded": "proto=https;host=host.example"}, "https://host.example"),
        ({"Forwarded": 'FOR="[2001:db8::1]:4711" ; Proto=HTTPS;host="host.example:8443";by=_x'},
         "https://host.example:8443"),
        ({"Forwarded": "for=1.2.3.4;proto=http;host=liar.example, for=9.9.9.9;proto=https;host=host.example"},
         "https://host.example"),
        ({"Forwarded": 'for=9.9.9.9;proto=https;host=host.example,for="10.0.0.2:80";proto=http;host=inner'},
         "https://host.example"),
        ({"Forwarded": "for=_hidden"}, ""),
        ({"X-Forwarded-Proto": "https", "X-Forwarded-Host": "host.example:443"}, "https://host.example"),
        ({"X-Forwarded-Proto": "https"}, ""),
        ({"X-Forwarded-Host": "host.example"}, ""),
        ({"X-Forwarded-Prefix": "/acme/v7/"}, "/acme/v7"),
        ({"X-Forwarded-Prefix": "/"}, ""),
        ({"X-Forwarded-Host": "liar.example, host.example", "X-Forwarded-Proto": "http, https"},
         "https://host.example"),
        ({"X-Forwarded-Host": "host.example, inner", "X-Forwarded-Proto": "https, http",
          "X-Forwarded-For": "9.9.9.9, 10.0.0.2"}, "https://host.example"),
        ({"X-Forwarded-Proto": "https", "Forwarded": "host=host.example", "X-Forwarded-Prefix": AT}, PUBLIC),
        ({"X-Forwarded-Proto": "https", "Forwarded": "proto=https;host=[2001:db8::1]"}, "https://[2001:db8::1]"),
    ],
)  # fmt: skip
def test_trusted_proxy_is_believed(sent: dict[str, str], url: str) -> None:
    assert told(Headers(sent), [LOOPBACK, ip_network("10.0.0.0/8")]).url == url


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"X-Forwarded-Proto": "gopher"}, "the scheme 'gopher'"),
        ({"X-Forwarded-Host": "a b"}, "'a b' is no host"),
        ({"X-Forwarded-Host": "user@host.example"}, "a user name"),
        ({"X-Forwarded-Prefix": "acme"}, "'acme' is no prefix"),
        ({"X-Forwarded-Prefix": '/"><script>'}, "is no prefix"),
        ({"X-Forwarded-Prefix": "//evil.example"}, "is no prefix"),
        ({"X-Forwarded-Prefix": "/a/../b"}, "is no prefix"),
        ({"Forwarded": "proto"}, "not as RFC 7239"),
        ({"Forwarded": 'host="a'}, "not as RFC 7239"),
        ({"Forwarded": "host=a.example", "X-Forwarded-Host": "b.example"}, "Forwarded tells host=a.example, X-For"),
    ],
)
def test_proxy_that_tells_no_address_is_told_so(trusting: Running, sent: dict[str, str], said: str) -> None:
    problem = refused(trusting.http.get("/core/v1/openapi.json", headers=sent), 400, "forwarding-unclear")
    assert said in problem["detail"]


def test_peer_at_a_mapped_address_is_the_ipv4_one() -> None:
    assert is_within("::ffff:127.0.0.1", [LOOPBACK])
    assert not is_within("::1", [LOOPBACK])
    assert not is_within("localhost", [LOOPBACK])


# -------------------------------------------------------------------------------------------- the options


@pytest.mark.parametrize(
    ("text", "url", "host"),
    [
        ("https://host.example/acme/v7/", PUBLIC, "host.example"),
        ("HTTPS://Host.Example:443/acme/v7", PUBLIC, "host.example"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000", "127.0.0.1"),
        ("http://[::1]:8000/", "http://[::1]:8000", "::1"),
        ("https://bücher.example", "https://xn--bcher-kva.example", "xn--bcher-kva.example"),
    ],
)
def test_public_address_is_read(text: str, url: str, host: str) -> None:
    read = read_url(text)
    assert (read.url, read.host) == (url, host)


@pytest.mark.parametrize(
    ("option", "text", "said"),
    [
        ("--public-url", "host.example/acme", "has no scheme"),
        ("--public-url", "ftp://host.example", "has no scheme"),
        ("--public-url", "https://host.example/?a=1", "has a query"),
        ("--public-url", "https://host.example/#a", "has a fragment"),
        ("--public-url", "https://user:secret@host.example", "a user name or password"),
        ("--public-url", "https://", "is no host"),
        ("--public-url", "https:///acme", "is no host"),
        ("--public-url", "https://host.example:99999", "is no host"),
        ("--public-url", "https://host.example:0", "is no host"),
        ("--public-url", "https://host.example:", "is no host"),
        ("--public-url", "https://host.example/a b", "is no prefix"),
        ("--public-url", "https://host.example/a//b", "is no prefix"),
        ("--public-url", "https://host.example/acme/core/v1", "leave /core/v1 out"),
        ("--trusted-proxy", "proxy.example", "write the address of a proxy"),
        ("--trusted-proxy", "10.0.0.1/8", "has host bits set"),
        ("--trusted-proxy", "*", "write the address of a proxy"),
    ],
)
def test_wrong_addresses_are_said_in_one_line(option: str, text: str, said: str) -> None:
    error = refusal(2, option, text)
    assert said in error
    assert "secret" not in error
