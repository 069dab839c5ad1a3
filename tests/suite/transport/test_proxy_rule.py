"""Which proxy a URL has by the environment (`conformance.transport.proxies`)."""

from __future__ import annotations

import pytest

from conformance.transport.proxies import BadProxyError, forwarder, proxy_for

PROXY = "http://proxy.example:3128"


def proxied(url: str, no_proxy: str) -> bool:
    return proxy_for(url, {"ALL_PROXY": PROXY, "NO_PROXY": no_proxy}) is not None


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.9.9.9", "127.1", "2130706433", "0x7f000001", "localhost", "LOCALHOST", "localhost.",
     "api.localhost", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]"],  # noqa: S104
)  # fmt: skip
def test_this_machine_has_no_proxy(host: str) -> None:
    for scheme in ("http", "https"):
        assert proxy_for(f"{scheme}://{host}:8000/x", {"ALL_PROXY": PROXY, "HTTP_PROXY": PROXY, "no_proxy": ""}) is None


@pytest.mark.parametrize("host", ["128.0.0.1", "localhost.example", "mylocalhost", "[fd00::1]", "example"])
def test_other_machines_have_one(host: str) -> None:
    assert proxied(f"http://{host}/", "")


@pytest.mark.parametrize(
    ("environment", "url", "variable"),
    [
        ({"HTTP_PROXY": PROXY}, "http://a.example", "HTTP_PROXY"),
        ({"HTTP_PROXY": PROXY}, "https://a.example", None),
        ({"HTTPS_PROXY": PROXY}, "https://a.example", "HTTPS_PROXY"),
        ({"HTTPS_PROXY": PROXY, "ALL_PROXY": "http://other:1"}, "https://a.example", "HTTPS_PROXY"),
        ({"HTTPS_PROXY": PROXY, "ALL_PROXY": PROXY}, "http://a.example", "ALL_PROXY"),
        ({"https_proxy": PROXY, "HTTPS_PROXY": "http://other:1"}, "https://a.example", "https_proxy"),
        ({"https_proxy": "", "HTTPS_PROXY": PROXY}, "https://a.example", None),
        ({"https_proxy": " ", "all_proxy": PROXY}, "https://a.example", "all_proxy"),
        ({}, "https://a.example", None),
    ],
)
def test_variable_of_the_scheme_goes_before_that_of_all(
    environment: dict[str, str], url: str, variable: str | None
) -> None:
    proxy = proxy_for(url, environment)
    assert (proxy and proxy.variable) == variable


@pytest.mark.parametrize(
    ("value", "url"),
    [
        ("proxy.example:3128", "http://proxy.example:3128"),
        ("proxy.example", "http://proxy.example:80"),
        ("https://proxy.example/", "https://proxy.example:443"),
        ("socks5://proxy.example", "socks5://proxy.example:1080"),
        ("socks5h://[fd00::5]:9", "socks5h://[fd00::5]:9"),
        ("HTTP://proxy.example:1", "http://proxy.example:1"),
    ],
)
def test_address_of_a_proxy_needs_neither_scheme_nor_port(value: str, url: str) -> None:
    proxy = proxy_for("https://a.example", {"ALL_PROXY": value})
    assert proxy is not None
    assert proxy.url == url


def test_password_is_not_shown() -> None:
    proxy = proxy_for("https://a.example", {"HTTPS_PROXY": "http://me%40x:s%3Acret@proxy.example:3128"})
    assert proxy is not None
    assert proxy.auth == ("me@x", "s:cret")
    assert str(proxy) == "through the proxy http://proxy.example:3128 of HTTPS_PROXY"


@pytest.mark.parametrize(
    "value",
    ["socks4://me:s3cret@proxy.example", "ftp://me:s3cret@proxy.example", "http://me:s3cret@", "me:s3cret@proxy:99999",
     "http://me:s3cret@[::1", "http://me:s3cret@proxy:0", "://me:s3cret@x"],
)  # fmt: skip
def test_unusable_proxy_is_told_by_its_variable_without_the_password(value: str) -> None:
    with pytest.raises(BadProxyError) as raised:
        proxy_for("https://a.example", {"https_proxy": value})

    told = str(raised.value)
    assert told.startswith("https_proxy=")
    assert "write http://HOST:PORT" in told
    assert "s3cret" not in told
    assert "\n" not in told


@pytest.mark.parametrize(
    ("no_proxy", "covered", "others"),
    [
        ("fd00::/8", ["[fd12::1]:443", "[fd00::]"], ["[fe80::1]", "fd00.example", "10.0.0.1"]),
        ("[fd00::]/8", ["[fd12::1]"], ["[fe80::1]"]),
        ("[fd00::/8]", ["[fd12::1]"], ["[fe80::1]"]),
        ("[2001:db8::1]", ["[2001:db8::1]", "[2001:db8:0::1]:99"], ["[2001:db8::2]"]),
        ("[2001:db8::1]:8443", ["[2001:db8::1]:8443"], ["[2001:db8::1]"]),
        ("2001:db8::1", ["[2001:db8::1]", "[2001:db8::1]:7"], ["[2001:db8::3]"]),
        ("10.0.0.0/8", ["10.255.0.1:80"], ["11.0.0.1", "10.example"]),
        ("10.1.2.3", ["10.1.2.3"], ["10.1.2.30", "10.1.2.3.example"]),
        ("10.1.2.3:81", ["10.1.2.3:81"], ["10.1.2.3:82"]),
        ("a.example", ["a.example", "A.Example.", "b.a.example"], ["ba.example", "example"]),
        (".a.example", ["b.a.example", "a.example"], ["ba.example"]),
        ("*.a.example", ["b.a.example"], ["ba.example"]),
        ("a.example:80", ["a.example", "a.example:80"], ["a.example:81"]),
        ("http://a.example:81", ["a.example:81"], ["a.example"]),
        ("x, a.example ,,b.example", ["a.example", "b.example"], ["c.example"]),
        ("x y\tz", ["x", "y", "z"], ["w"]),
        ("*", ["a.example", "10.0.0.1", "[fd00::1]"], []),
        ("[::1]", [], ["a.example", "[fd00::1]"]),
        ("[::1", [], ["a.example"]),
        ("]:[,fd00::/999,10.0.0.0/x,:,::::,[]:, [x]:y,.,*.", [], ["a.example", "10.0.0.1", "[fd00::1]"]),
    ],
)  # fmt: skip
def test_no_proxy_excepts_hosts_networks_and_ports(no_proxy: str, covered: list[str], others: list[str]) -> None:
    assert [host for host in covered if proxied(f"http://{host}/", no_proxy)] == []
    assert [host for host in others if not proxied(f"http://{host}/", no_proxy)] == []


def test_small_letters_of_no_proxy_go_before_capitals() -> None:
    both = {"ALL_PROXY": PROXY, "no_proxy": "", "NO_PROXY": "a.example"}
    assert proxy_for("http://a.example", both) is not None


def test_http_proxy_forwards_plain_requests_alone() -> None:
    assert forwarder("http://a.example", {"ALL_PROXY": PROXY}) is not None
    assert forwarder("https://a.example", {"ALL_PROXY": PROXY}) is None
    assert forwarder("http://a.example", {"ALL_PROXY": "socks5://proxy.example"}) is None
