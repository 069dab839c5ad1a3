"""Who can reach the node, by which names, and what its answers leave behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from nodes import Running, refused, serving
from processes import refusal

from reference_node.settings import Settings


@pytest.fixture(scope="module")
def named() -> Iterator[Running]:
    """A node with names of its own."""
    settings = Settings(port=0, tls_domain="node.example", tls_port=0, allowed_hosts=("Gateway.Example",))
    with serving(settings) as running:
        yield running


@pytest.mark.parametrize(
    "host",
    ["localhost", "LOCALHOST:80", "127.0.0.1", "127.0.0.1:1", "[::1]:8000", "10.1.2.3", "node", "reference_node_1:8000",
     "app.localhost", "host.docker.internal", "node.example", "gateway.example", "node.example:8443",
     "NODE.example.", "gateway.example:80"],
)  # fmt: skip
def test_node_answers_to_its_names_and_to_names_nobody_can_own(named: Running, host: str) -> None:
    assert named.http.get("/core/v1/get_api_payers", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    ["evil.example", "node.example.evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.example:80",
     "evil.example@127.0.0.1", "127.0.0.1 evil.example", "1.2.3.4.5", "internal.evil"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/core/v1/get_api_payers", "/rpc", "/stripe/v1/customers", "/info", "/nothing"])
def test_page_whose_name_leads_to_the_node_is_refused(named: Running, host: str, path: str) -> None:
    refused(named.http.get(path, headers={"Host": host}), 421, "unknown-host")


def test_answers_with_keys_are_kept_in_no_cache_and_taken_for_nothing_else(running: Running, account: str) -> None:
    created = running.post("new_account", account_name="n", account_description="d")
    made = running.post("add_usage_api_key", account, name="n", description="d")
    for response in (created, made, running.get("list_api_keys", account), running.get("list_api_keys")):
        assert response.headers["cache-control"] == "no-store"
        assert response.headers["x-content-type-options"] == "nosniff"
    asset = running.http.get("/core/v1/swagger-ui-assets/swagger-ui.css")
    assert asset.status_code == 200
    assert "no-store" not in asset.headers.get("cache-control", "")


SPOKEN = "a-word-of-the-test-control"


@pytest.fixture(scope="module")
def guarded() -> Iterator[Running]:
    """A node whose test control asks for a token."""
    with serving(Settings(port=0, control=True, control_token=SPOKEN)) as running:
        yield running


@pytest.mark.parametrize(
    "path", ["/control/clock", "/control//clock", "/stripe/control/clear", "/stripe//control/clear"]
)
def test_control_with_a_token_takes_no_request_without_it(guarded: Running, path: str) -> None:
    body: dict[str, int] = {"offset_seconds": 1} if "clock" in path else {}
    for header in (None, SPOKEN, f"Bearer {SPOKEN}x", "Bearer", f"bearer {SPOKEN}", "Bearer \xe9"):
        headers = {} if header is None else {"Authorization": header.encode("latin-1")}
        refused(guarded.http.post(path, json=body, headers=headers), 401, "control-token-missing")
    accepted = guarded.http.post(path.replace("//", "/"), json=body, headers={"Authorization": f"Bearer {SPOKEN}"})
    assert accepted.status_code == 200
    assert guarded.http.get("/core/v1/get_api_payers").status_code == 200


def test_port_of_the_simulator_shows_nothing_else_and_is_as_closed(guarded: Running) -> None:
    url = guarded.ready["stripe_url"]
    token = {"Authorization": f"Bearer {SPOKEN}"}
    statuses = [httpx.post(f"{url}/control/clear", json={}, headers=sent).status_code for sent in ({}, token)]
    assert statuses == [401, 200]
    refused(httpx.get(f"{url}/v1/customers", headers={"Host": "evil.example"}), 421, "unknown-host")
    for path in ("/core/v1/get_api_payers", "/rpc", "/info", "/%2e%2e/info"):
        assert httpx.get(f"{url}{path}").status_code == 401, "the simulator asks for a key of its own"


def test_token_that_can_not_be_used_is_said_in_one_line(tmp_path: Path) -> None:
    short = tmp_path / "short"
    short.write_text("short")
    for options, said in (
        (("--control", "--control-token-file", str(short)), "16 to 200 visible characters"),
        (("--control", "--control-token-file", str(tmp_path / "none")), "can't be read"),
        (("--control-token-file", str(short)), "give --control too"),
    ):
        assert said in refusal(2, *options)


EVERYWHERE = "0.0.0.0"  # noqa: S104 - for a moment


@pytest.mark.parametrize(
    ("host", "token", "warns"),
    [(EVERYWHERE, None, True), (EVERYWHERE, SPOKEN, False), ("127.0.0.1", None, False)],
    ids=["open to others", "open to others with a token", "on the loopback"],
)
def test_control_that_others_can_reach_is_warned_of(
    host: str, token: str | None, warns: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving(Settings(host=host, port=0, control=True, control_token=token)) as running:
        assert {"clock_control", "funded_wallet"} <= set(running.ready["profile"]["capabilities"])
    output, error = capsys.readouterr()
    assert ("WARNING: --control is open to everybody" in error) == warns
    assert (f"listens   at {host}, for all who can reach this machine" in output) == (host == EVERYWHERE)
    assert SPOKEN not in output + error + str(running.ready)


def test_root_secret_file_that_everybody_may_write_is_refused(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("0123456789abcdef" * 2 + "11" * 16)
    secret.chmod(0o666)
    assert "chmod 600" in refusal(2, "--root-secret-file", str(secret))
