"""`reference-node serve`: how it starts, says where it is, stops, and refuses to start."""

from __future__ import annotations

import errno
import json
import os
import shlex
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from unittest import mock

import httpx
import pytest
from connecting import connect_to, head, status_of, until_closed
from nodes import Running
from processes import client, command, completed, environment, node_process, refusal, stopped

from reference_node import server
from reference_node.cli import main
from reference_node.deployment import DeploymentError
from reference_node.sandbox import Sandbox, SandboxUnavailable
from reference_node.serving.listening import write_atomically
from reference_node.settings import Settings

SECRET = "11" * 24 + "0123456789abcdef"
UNPINNED = str(Path(__file__).parent / "tee" / "unpinned.yaml")


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_node_says_where_it_is_and_stops_cleanly(tmp_path: Path, end: signal.Signals) -> None:
    options = ("--starter-credits", "7", "--public-url", "https://host.example/acme/", "--tls-domain", "node.example")
    secret = {"REFERENCE_NODE_ROOT_SECRET": SECRET}
    with node_process(tmp_path / "ready.json", *options, "--tls-port", "0", **secret) as (process, ready):
        trusting = ssl.create_default_context(cadata=ready["tls_root_certificate"])
        secure = httpx.Client(base_url=ready["https_url"], verify=trusting, timeout=60)
        with secure, client(ready) as http:
            config = http.get("/core/v1/get_node_chain_config").json()
            assert (config["chain_id"], config["contract_address"]) == (ready["chain_id"], ready["contract_address"])
            chain_id = {"jsonrpc": "2.0", "id": 1, "method": "eth_chainId", "params": []}
            assert int(http.post(ready["rpc_url"], json=chain_id).json()["result"], 16) == ready["chain_id"]
            assert http.get(f"{ready['stripe_url']}/v1/customers").json()["error"]["type"] == "invalid_request_error"
            assert secure.get("/info").content == http.get("/info").content
            output = stopped(process, end)
    assert ready["base_url"].startswith("http://127.0.0.1:"), "tools on this machine need no proxy"
    assert (ready["public_url"], ready["control_url"]) == ("https://host.example/acme", None)
    assert not {"clock_control", "funded_wallet"} & set(ready["profile"]["capabilities"])
    assert output.startswith(f"reference node ready at {ready['base_url']}/core/v1\n")
    for fact in (
        f"public    {ready['public_url']}/core/v1, behind a proxy (--public-url)",
        f"HTTPS     {ready['https_url']}, with a certificate for node.example",
        ready["contract_address"],
        ready["rpc_url"],
        ready["stripe_url"],
        "7 cents",
    ):
        assert fact in output
    assert [file.name for file in tmp_path.iterdir()] == ["ready.json"]
    assert SECRET not in output + (tmp_path / "ready.json").read_text()


@contextmanager
def node_that_has_read(tmp_path: Path, sent: bytes) -> Iterator[tuple[subprocess.Popen[str], socket.socket]]:
    """A node, and a connection on which it has read this."""
    with node_process(tmp_path / "ready.json") as (process, ready), connect_to(ready["base_url"]) as connection:
        connection.sendall(sent)
        with client(ready) as http:  # what takes long to answer is answered after what came before
            assert http.get("/core/v1/openapi.json").status_code == 200
        yield process, connection


def test_node_stops_although_calls_go_on_for_long(tmp_path: Path) -> None:
    nowhere = "0x" + "11" * 20
    endless = {nowhere: {"code": "0x5b600056"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "eth_call", "params": [{"to": nowhere}, "latest", endless]}
    body = json.dumps([call] * 6).encode()
    post = head("POST", "/rpc", "Content-Type: application/json", f"Content-Length: {len(body)}")
    with node_that_has_read(tmp_path, post + body) as (process, _):
        stopped(process)


def test_half_sent_body_does_not_keep_the_node_from_ending(tmp_path: Path) -> None:
    begun = head("POST", "/core/v1/new_account", "Content-Type: application/json", "Content-Length: 100") + b"{"
    with node_that_has_read(tmp_path, begun) as (process, connection):
        output = stopped(process)
        assert status_of(until_closed(connection)) == 408
    assert "exceeded" not in output


def test_ready_file_is_never_there_before_the_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put: list[Path] = []
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(server, "build_node", mock.Mock(side_effect=DeploymentError("no node")))
    monkeypatch.setattr(Path, "replace", lambda _, target: put.append(target))
    with pytest.raises(server.ServingError, match="no node"):
        server.serve(Settings(port=0, ready_file=tmp_path / "ready.json"))
    assert (put, list(tmp_path.iterdir())) == ([], [])


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Settings]:
    """The settings of the nodes that commands would serve."""
    settings: list[Settings] = []
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(server, "serve", settings.append)
    return settings


def test_options_become_settings(tmp_path: Path, seen: list[Settings]) -> None:
    token = tmp_path / "token"
    token.write_text("a-word-of-the-test-control\n")
    options = ["--control", "--control-token-file", str(token), "--slug", "acme", "--title", "Acme"]
    options += ["--preload", "first.js", "--preload", "second.js", "--trusted-proxy", "127.0.0.1"]
    options += ["--trusted-proxy", "10.0.0.0/8", "--host", "::1"]
    with mock.patch.dict(os.environ, environment(), clear=True):
        assert main(["serve", *options]) == 0
    expected = Settings(
        control=True,
        control_token="a-word-of-the-test-control",  # noqa: S106 - of this test
        slug="acme",
        title="Acme",
        preload=(Path("first.js"), Path("second.js")),
        trusted_proxies=(ip_network("127.0.0.1"), ip_network("10.0.0.0/8")),
        host="::1",
    )
    assert seen == [replace(expected, root_secret=seen[0].root_secret)]


def test_root_secret_is_that_of_a_file_or_a_variable_or_else_a_new_one(tmp_path: Path, seen: list[Settings]) -> None:
    secret = tmp_path / "secret"
    secret.write_text(f"{SECRET}\n")
    for options, variables in (
        (["--root-secret-file", str(secret)], {}),
        ([], {"REFERENCE_NODE_ROOT_SECRET": SECRET}),
        ([], {}),
        ([], {}),
    ):
        with mock.patch.dict(os.environ, environment(**variables), clear=True):
            assert main(["serve", *options]) == 0
    assert [settings.root_secret for settings in seen[:2]] == [bytes.fromhex(SECRET)] * 2
    assert len({settings.root_secret for settings in seen}) == 3


@pytest.mark.parametrize("option", ["--port", "--stripe-port"])
def test_port_in_use_is_one_clear_line(option: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        error = refusal(1, option, str(port))
    assert error == (
        f"reference-node: 127.0.0.1:{port} is in use: stop what listens there, or choose another {option} (0: any)\n"
    )


@pytest.mark.parametrize(
    ("options", "variables", "code", "said"),
    [
        (["--host", "198.51.100.1"], {}, 1, "can't listen at 198.51.100.1:0"),
        (["--host", "no host"], {}, 1, "can't listen at no host:0"),
        (["--rpc-url", "http://127.0.0.1:1"], {"REFERENCE_NODE_ROOT_SECRET": SECRET}, 1, "127.0.0.1:1"),
        (["--rpc-url", "http://127.0.0.1:1"], {}, 2, "--root-secret-file"),
        (["--contract", "0x" + "11" * 20], {}, 2, "--rpc-url"),
        (["--state", "state", "--rpc-url", "http://127.0.0.1:1"], {}, 2, "take --rpc-url away"),
        (["--state", "state", "--ledger", "credits.sqlite"], {}, 2, "take --ledger away"),
        (["--seed-accounts", "a.yaml", "--rpc-url", "http://127.0.0.1:1"], {}, 2, "take --rpc-url away"),
        (["--seed-accounts", "/nonexistent.yaml"], {}, 1, "/nonexistent.yaml can't be read: No such file"),
        (["--payments", "none", "--stripe-port", "12111"], {}, 2, "--payments simulator: take it away"),
        (["--root-secret-file", "/nonexistent"], {}, 2, "can't be read"),
        ([], {"REFERENCE_NODE_ROOT_SECRET": "short"}, 2, "64 hex characters"),
        ([], {"REFERENCE_NODE_ROOT_SECRET": "00" * 32}, 2, "no random one"),
        ([], {"REFERENCE_NODE_ROOT_SECRET": "deadbeef" * 8}, 2, "no random one"),
        (["--ready-file", "/nonexistent/ready.json"], {}, 1, "/nonexistent"),
        (["--preload", "/nonexistent/library.js"], {}, 1, "library.js"),
        (["--compose", "/nonexistent.yaml"], {}, 1, "/nonexistent.yaml can't be read"),
        (["--compose", UNPINNED], {}, 1, "unpinned.yaml: line 3: the image 'nginx' is not pinned"),
    ],
)
def test_node_that_can_not_start_says_why_in_one_line(
    options: list[str], variables: dict[str, str], code: int, said: str
) -> None:
    assert said in refusal(code, *options, **variables)


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["serve", "--host", ""],
        ["serve", "--host", " "],
        ["serve", "--allowed-host", "node.example:80"],
        ["serve", "--port", "65536"],
        ["serve", "--port", "-1"],
        ["serve", "--port", "x"],
        ["serve", "--chain-id", "0"],
        ["serve", "--contract", "0x11"],
        ["serve", "--starter-credits", "-1"],
        ["serve", "--payers", "0"],
        ["serve", "--quote-version", "3"],
        ["serve", "--tls-domain", "no_domain.example"],
        ["serve", "--tls-domain", "Node.example"],
        ["serve", "--tls-domain", "localhost"],
        ["serve", "--tls-domain", "a." * 40 + "example"],
        ["serve", "--tls-port", "65536"],
        ["serve", "--dns-port", "x"],
        ["serve", "--stripe-port", "65536"],
        ["serve", "--slug", "a/b"],
        ["serve", "--slug", "add"],
        ["serve", "--title", "a b"],
        ["serve", "--preload"],
        ["serve", "--unknown"],
    ],
)
def test_wrong_options_are_a_usage_error(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_info:
        main(options)
    assert exit_info.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("reference-node")
    assert error.endswith("--help)\n")
    assert error.count("\n") == 1


def test_help_names_every_option(capsys: pytest.CaptureFixture[str], running: Running) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    shown = capsys.readouterr().out
    named = {
        "contract": "--contract",
        "allowed_hosts": "--allowed-host",
        "allowed_origins": "--allow-origin",
        "trusted_proxies": "--trusted-proxy",
        "root_secret": "--root-secret-file",
        "root_secret_given": "--root-secret-file",
        "stripe_keys": "STRIPE_SECRET_KEY and STRIPE_PUBLISHABLE_KEY",
    }
    for setting in vars(running.node.settings):
        assert named.get(setting, "--" + setting.replace("_", "-")) in " ".join(shown.split())


def test_abbreviated_option_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--starter", "5"])
    assert "unrecognized arguments: --starter" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_what_is_no_file_is_not_taken_away_for_a_ready_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    said = f"reference-node: the ready file {pipe} can't be written: it is no regular file\n"
    assert refusal(1, "--ready-file", str(pipe)) == said
    assert pipe.is_fifo()


SIGNAL_WHILE_LOADING = """
import signal, sys
from reference_node.cli import main

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "reference_node.server":
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Finder())
main(["serve", "--port", "0"])
"""


def test_node_that_is_stopped_while_it_loads_leaves_in_order() -> None:
    done = completed(sys.executable, "-c", SIGNAL_WHILE_LOADING)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def redirected(tmp_path: Path, where: str) -> str:
    """What a node can still say that ends at its start for want of an output, since a shell redirects one."""
    done = completed("sh", "-c", f"{shlex.join(command('--ready-file', str(tmp_path / 'ready.json')))} {where}")
    assert done.returncode == 1
    assert list(tmp_path.iterdir()) == []
    return done.stdout + done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_node_that_can_not_say_where_it_is_ends_in_one_line(tmp_path: Path) -> None:
    said = redirected(tmp_path, ">/dev/full")
    assert said.startswith("reference-node: the node can't say where it is: No space left on device")
    assert said.count("\n") == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_node_with_a_closed_output_ends_in_one_line(tmp_path: Path, closed: str) -> None:
    said = "reference-node: standard output or error is closed: send it to a file or to /dev/null\n"
    assert redirected(tmp_path, closed) == said


def test_ready_file_that_does_not_fit_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fill_up(file: Path, _text: str, **_: object) -> None:
        file.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fill_up)
    with pytest.raises(OSError, match="No space"):
        write_atomically(tmp_path / "ready.json", "text")
    assert list(tmp_path.iterdir()) == []


def test_interpreter_that_can_not_be_run_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with Sandbox() as sandbox, pytest.raises(SandboxUnavailable, match="/nonexistent/python can't be run"):
        sandbox.start()


def test_node_that_can_not_lock_actions_up_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sandbox, "start", mock.Mock(side_effect=SandboxUnavailable("there is no seccomp here")))
    with pytest.raises(server.ServingError, match="there is no seccomp here"):
        server.serve(Settings(port=0))
