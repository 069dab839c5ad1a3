"""Every HTTP client of the project, with each variable: a node that a proxy alone can find, and one on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from answering_server import Server, running
from counting_proxy import NAME, CountingProxy, counting_proxy
from http_server import serve
from tiny_node import tiny_node

from conformance.cli import main
from conformance.endpoints.chain import ChainClient
from conformance.endpoints.client import Target
from conformance.endpoints.log import ExchangeLog
from conformance.endpoints.messages import Message
from conformance.endpoints.redaction import Secrets
from conformance.problems import ConnectionDropped, ProxyFault, Unreachable
from conformance.profile import Profile
from conformance.run.client_fixtures import ReferenceNode
from conformance.verify.authorisation import AuthorisationChain
from conformance.verify.transport import FetchError, Transport
from reference_node.billing.provider import PaymentProvider, ProviderUnavailable
from reference_node.chain.external_rpc import RpcClient
from reference_node.chain.interface import ChainUnavailable
from reference_node.settings import StripeKeys

VARIABLES = ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No variable of the machine counts, and a `.netrc` has a password for everything."""
    for name in (*VARIABLES, "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    netrc = tmp_path / ".netrc"
    netrc.write_text("default login someone password from-netrc\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def plain() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.fixture
def secure(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with running(certificate) as server:
        yield server


def node(url: str) -> None:
    with Target(url, Profile()) as target:
        assert target.exchange(Message("GET", "/", {}, None), ExchangeLog(Secrets())).status == 200


def chain(url: str) -> None:
    profile = Profile.model_validate({"chain": {"rpc_url": url}})
    with Target("http://127.0.0.1:9", profile) as target:
        assert ChainClient(target, ExchangeLog(Secrets())).chain_id() == 1


def attestation(url: str) -> None:
    with Transport(url) as transport:
        answer = transport.get("/info")
    assert (answer.certificate is not None) is url.startswith("https:")


def authorisation(url: str) -> None:
    with AuthorisationChain(url) as rpc:
        assert rpc.has_contract(bytes(20))


def nodes_chain(url: str) -> None:
    with closing(RpcClient(url)) as rpc:
        assert rpc.request("eth_chainId") == "0x1"


def payments(url: str) -> None:
    keys = StripeKeys(secret="sk_test_1", publishable="pk_test_1")  # noqa: S106
    with closing(PaymentProvider(keys, url)) as provider:
        assert provider.create_customer("00" * 20) == "cus_1"


Client = Callable[[str], None]
CLIENTS: dict[str, Client] = {
    one.__name__: one for one in (node, chain, attestation, authorisation, nodes_chain, payments)
}
FAILURES = (ProxyFault, Unreachable, FetchError, ChainUnavailable, ProviderUnavailable)
"""What they raise where no answer comes."""
of_each_client = pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
of_each_pool = pytest.mark.parametrize("client", [node, attestation, nodes_chain])
"""The suite's, the verifier's, and that of all others."""


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


def address(proxy: CountingProxy, scheme: str) -> str:
    return f"{scheme}://user:s3cret@127.0.0.1:{proxy.port}"


@of_each_pool
@pytest.mark.parametrize(
    ("variable", "kind", "passed"),
    [("HTTP_PROXY", "http", "http"), ("all_proxy", "socks5", "socks5"), ("HTTP_PROXY", "socks5h", "socks5")],
)
def test_plain_requests_go_through_the_proxy(
    client: Client, variable: str, kind: str, passed: str, plain: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with counting_proxy(http=plain.server_port) as proxy:
        monkeypatch.setenv(variable, address(proxy, kind))
        client(f"http://{NAME}")

    assert set(proxy.passed) == {(passed, f"{NAME}:80")}
    assert plain.hosts[0] == NAME
    assert proxy.passwords[0] == ("user:s3cret" if passed == "socks5" else "Basic dXNlcjpzM2NyZXQ=")
    assert not any("netrc" in str(value) or str(value).startswith("Basic c29tZW9uZT") for value in plain.authorisations)


@of_each_client
@pytest.mark.parametrize(
    ("variable", "kind", "passed"), [("HTTPS_PROXY", "http", "connect"), ("ALL_PROXY", "socks5", "socks5")]
)
def test_tls_ends_at_the_server_through_the_proxy(
    client: Client, variable: str, kind: str, passed: str, secure: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with counting_proxy(https=secure.server_port) as proxy:
        monkeypatch.setenv(variable, address(proxy, kind))
        client(f"https://{NAME}")

    assert set(proxy.passed) == {(passed, f"{NAME}:443")}
    assert not any(str(value).startswith("Basic c29tZW9uZT") for value in secure.authorisations)


@of_each_client
def test_this_machine_is_reached_directly(
    client: Client, plain: Server, secure: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    with counting_proxy() as proxy:
        for variable in VARIABLES:
            monkeypatch.setenv(variable, address(proxy, "http"))
        client(plain.url)
        client(secure.url)
        client(plain.url.replace("127.0.0.1", "localhost"))

    assert proxy.passed == []


@of_each_pool
@pytest.mark.parametrize("no_proxy", ["fd00::/8", "[::1]", "]:[,:"])
def test_any_text_in_no_proxy_is_taken(
    client: Client, no_proxy: str, plain: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", no_proxy)
    client(plain.url)
    with counting_proxy(http=plain.server_port) as proxy:
        monkeypatch.setenv("ALL_PROXY", address(proxy, "http"))
        client(f"http://{NAME}")

    assert proxy.kinds == {"http"}


@of_each_pool
def test_host_of_no_proxy_is_tried_directly(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with counting_proxy() as proxy:
        monkeypatch.setenv("ALL_PROXY", address(proxy, "http"))
        monkeypatch.setenv("NO_PROXY", f"elsewhere.example, .{NAME}")
        with pytest.raises(FAILURES) as raised:
            client(f"http://{NAME}")

    assert proxy.passed == []
    assert "proxy" not in str(raised.value)


@of_each_client
@pytest.mark.parametrize(("scheme", "kind"), [("http", "https"), ("https", "socks5")])
def test_proxy_that_does_not_listen_is_named(
    client: Client, scheme: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with counting_proxy() as proxy:
        pass
    monkeypatch.setenv("ALL_PROXY", address(proxy, kind))

    with pytest.raises(FAILURES) as raised:
        client(f"{scheme}://{NAME}")

    assert f"through the proxy {kind}://127.0.0.1:{proxy.port} of ALL_PROXY" in str(raised.value)
    assert "s3cret" not in str(raised.value)


@of_each_pool
@pytest.mark.parametrize(
    ("scheme", "kind", "refusal", "told"),
    [
        ("https", "http", b"403 Forbidden", "403 Forbidden"),
        ("https", "http", b"407 Proxy Authentication Required", "407"),
        ("http", "http", b"407 Proxy Authentication Required", "407"),
        ("http", "socks5", b"\5\5\0\1" + bytes(6), "Connection refused"),
        ("https", "socks5", b"\5\2\0\1" + bytes(6), "not allowed"),
        ("http", "socks5", b"nonsense", "no answer as a SOCKS proxy gives it"),
    ],
)
def test_proxy_that_refuses_is_named(
    client: Client, scheme: str, kind: str, refusal: bytes, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with counting_proxy() as proxy:
        proxy.refuses = refusal
        monkeypatch.setenv("ALL_PROXY", address(proxy, kind))
        with pytest.raises(FAILURES) as raised:
            client(f"{scheme}://{NAME}")

    assert told in str(raised.value)
    assert f"through the proxy {kind}://127.0.0.1:{proxy.port} of ALL_PROXY" in str(raised.value)
    assert "s3cret" not in str(raised.value)


@of_each_pool
def test_unusable_proxy_is_told_in_a_line(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks4://user:s3cret@127.0.0.1:1")

    with pytest.raises(FAILURES, match=r"ALL_PROXY=socks4://127.0.0.1:1 names no proxy") as raised:
        client(f"http://{NAME}")

    assert "\n" not in str(raised.value)


@of_each_client
def test_certificate_file_that_is_missing_is_told(
    client: Client, secure: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/ca.pem")
    if client is attestation:  # TLS there is bound by the evidence: no CA is asked
        client(secure.url)
        return
    with pytest.raises(FAILURES, match=r"SSL_CERT_FILE: /nowhere/ca.pem cannot be read"):
        client(secure.url)


@pytest.mark.parametrize("status", [b"502 Bad Gateway", b"503 Service Unavailable", b"504 Gateway Timeout"])
def test_gateway_status_that_may_be_the_proxys_charges_no_node(status: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    with counting_proxy() as proxy:
        proxy.refuses = status
        monkeypatch.setenv("ALL_PROXY", address(proxy, "http"))
        with pytest.raises(ProxyFault, match=status.decode().split()[0]):
            node(f"http://{NAME}")


def test_connection_that_breaks_behind_socks_is_the_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve(lambda _: None) as breaking, counting_proxy(http=port_of(breaking)) as proxy:
        monkeypatch.setenv("ALL_PROXY", address(proxy, "socks5"))
        with pytest.raises(ConnectionDropped, match="through the proxy socks5://127"):
            node(f"http://{NAME}")


def test_control_of_the_pytest_fixture_is_reached_directly(plain: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with counting_proxy() as proxy:
        for variable in VARIABLES:
            monkeypatch.setenv(variable, address(proxy, "http"))
        with closing(ReferenceNode(Profile(base_url=plain.url))) as reference, reference.clock_moved(5):
            pass

    assert proxy.passed == []
    assert plain.authorisations == [None, None]


@pytest.mark.parametrize(
    "command",
    [
        ["verify", f"http://{NAME}"],
        ["doctor", "--node-url", f"http://{NAME}"],
        ["init", f"http://{NAME}"],
        ["run", "--node-url", f"http://{NAME}", "--case", "endpoints::new-account"],
    ],
    ids=lambda command: command[0],
)
@pytest.mark.parametrize(
    ("variable", "value"),
    [("HTTP_PROXY", "http://u:s3cret@127.0.0.1:1"), ("ALL_PROXY", "socks4://u:s3cret@127.0.0.1:1")],
)
def test_command_names_the_proxy_that_does_not_answer(
    command: list[str], variable: str, value: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable, value)

    code = main(command)

    told = " ".join("".join(capfd.readouterr()).split())
    assert code == (1 if command[0] == "doctor" else 2), told
    assert value.replace("u:s3cret@", "") in told
    assert variable in told
    assert "s3cret" not in told
    assert "Traceback" not in told


@pytest.mark.parametrize("kind", ["http", "socks5"])
def test_doctor_looks_at_a_node_behind_a_proxy(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with tiny_node() as tiny, counting_proxy(http=port_of(tiny.url)) as proxy:
        monkeypatch.setenv("HTTP_PROXY", address(proxy, kind))
        main(["doctor", "--node-url", f"http://{NAME}"])

    told = capsys.readouterr().out
    assert f"http://{NAME} answers as this service" in told
    assert f"{kind}://127.0.0.1:{proxy.port} of HTTP_PROXY" in told
    assert ("may change" in told) is (kind == "http")
    assert len(proxy.passed) >= 1
