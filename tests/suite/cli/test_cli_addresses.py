"""The addresses of nodes, as each command and a profile take them: all are read in one place."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import exit_code
from tiny_node import TinyNode

from conformance.cli import main
from conformance.problems import LoadProblem
from conformance.profile import load_profile
from conformance.values.addresses import authority_of, below, node_address


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("https://host:8443/", "https://host:8443"),
        ("https://host:8443", "https://host:8443"),
        ("HTTPS://Host.Example:443/Acme/v7/", "https://host.example/Acme/v7"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("http://[2001:DB8::1]:80/", "http://[2001:db8::1]"),
        ("https://bücher.example/acme", "https://xn--bcher-kva.example/acme"),
        ("https://BÜCHER.example", "https://xn--bcher-kva.example"),
        ("http://reference_node:8000", "http://reference_node:8000"),
        ("http://node.example.", "http://node.example."),
        ("https://host/@acme", "https://host/@acme"),
    ],
)
def test_address_is_read_in_its_plainest_form(written: str, read: str, tmp_path: Path) -> None:
    assert node_address(written) == node_address(read) == read
    (tmp_path / "node.yaml").write_text(f"base_url: {written}\n", encoding="utf-8")
    assert load_profile(tmp_path / "node.yaml").base_url == read


WRONG = [
    ("host:8443", "begins with http:// or https://, unlike host:8443"),
    ("ftp://host", "begins with http:// or https://"),
    ("http:///acme", "begins with http:// or https://"),
    ("https://user:open-sesame@host", "a user or password stands before its host: leave it out"),
    ("user:open-sesame@host", "a user or password stands before its host: leave it out"),
    ("https://host/?a=1", "has no query and no fragment"),
    ("https://host/#a", "has no query and no fragment"),
    ("https://host:0", "a port from 1 to 65535"),
    ("https://host:65536", "a port from 1 to 65535"),
    ("https://host:x", "Invalid port"),
    ("http://[::1", "Invalid IPv6 URL"),
    ("http://::1:8000", "Invalid port"),
    ("http://a..example", "'a..example' is no name of a host"),
    ("http://a b", "is no name of a host"),
    ("http://\u200b.example", "Invalid IDNA hostname"),
    ("https://host/acme/core/v1/", "is the address without /core/v1"),
]


@pytest.mark.parametrize(
    "command",
    [["run", "--node-url"], ["load", "--node-url"], ["doctor", "--node-url"], ["init"], ["verify"]],
    ids=lambda command: command[0],
)
@pytest.mark.parametrize(("written", "said"), WRONG)
def test_address_at_fault_is_told_in_one_line(
    command: list[str], written: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code([*command, written]) == 2
    printed = capsys.readouterr()
    assert (printed.out, printed.err.count("\n")) == ("", 1), printed.err
    assert said in printed.err
    assert "sesame" not in printed.err


def test_address_at_fault_in_a_profile_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "node.yaml").write_text("\nbase_url: https://user:open-sesame@host\n", encoding="utf-8")
    with pytest.raises(LoadProblem, match="2: base_url: a user or password stands before its host") as told:
        load_profile(tmp_path / "node.yaml")
    assert "sesame" not in str(told.value)


def test_node_is_found_by_any_writing_of_its_address(node: TinyNode, capsys: pytest.CaptureFixture[str]) -> None:
    port = node.url.rpartition(":")[2]
    assert main(["init", f"HTTP://LocalHost:{port}/"]) == 0
    assert f"\nbase_url: http://localhost:{port}\n" in capsys.readouterr().out


def test_authorities_are_compared_as_browsers_do() -> None:
    assert authority_of("HTTPS://Host:443/a") == authority_of("https://host") == "host"
    assert authority_of("https://host:8443") != authority_of("https://host")
    assert authority_of("https://ho st:x") == authority_of("nothing") == ""


@pytest.mark.parametrize(
    ("url", "rest"),
    [
        ("http://n:80/acme/core", "/core"),
        ("http://n:80/acme", ""),
        ("http://n:80/acme?a", "?a"),
        ("http://n:80/acme2/core", None),
        ("http://n:8000/acme", None),
    ],
)
def test_url_is_below_an_address_by_whole_segments(url: str, rest: str | None) -> None:
    assert below(url, "http://n:80/acme") == rest
