"""The options of `reference-node serve`: declared once, with the checks of their values."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path

from reference_node.public_address import PublicAddress, read_url
from reference_node.settings import Settings

ROOT_SECRET_VARIABLE = "REFERENCE_NODE_ROOT_SECRET"  # noqa: S105 - the name of a variable

LONGEST_DOMAIN = 64
"""Characters: the common name of a certificate takes no more (RFC 5280, upper bounds)."""

STRIPE_SECRET, STRIPE_PUBLISHABLE = "STRIPE_SECRET_KEY", "STRIPE_PUBLISHABLE_KEY"


def add_serve_options(serve: argparse.ArgumentParser) -> None:
    """Declare all options of `serve`, in groups as `--help` shows them."""
    _add_server_options(serve)
    _add_chain_options(serve)
    _add_attestation_options(serve)
    _add_service_options(serve)


def _add_server_options(serve: argparse.ArgumentParser) -> None:
    group = serve.add_argument_group("server")
    group.add_argument("--host", type=_host, default=Settings.host, help="the address to listen at")
    group.add_argument("--port", type=_integer(0, 65535), default=Settings.port, help="the port; 0 takes a free one")
    group.add_argument(
        "--allowed-host",
        dest="allowed_hosts",
        action="append",
        type=_allowed_host,
        default=argparse.SUPPRESS,
        metavar="NAME",
        help="a further name by which clients may call the node; more than one may be given",
    )
    group.add_argument(
        "--allow-origin",
        dest="allowed_origins",
        action="append",
        type=_origin,
        default=argparse.SUPPRESS,
        metavar="ORIGIN",
        help="let web pages of this origin, such as http://localhost:5173, call the node; more than one may be given",
    )
    group.add_argument(
        "--public-url",
        type=_public_url,
        default=argparse.SUPPRESS,
        metavar="URL",
        help="where clients find the node behind a proxy, without /core/v1, such as https://host.example/acme",
    )
    group.add_argument(
        "--trusted-proxy",
        dest="trusted_proxies",
        action="append",
        type=_network,
        default=argparse.SUPPRESS,
        metavar="ADDRESS",
        help="take scheme, host and prefix from the headers of this proxy, an address or a network such as "
        "10.0.0.0/8; more than one may be given",
    )
    group.add_argument(
        "--ready-file",
        type=Path,
        default=argparse.SUPPRESS,
        metavar="FILE",
        help="write a JSON file with the node's addresses and profile once it accepts connections",
    )
    group.add_argument(
        "--state",
        type=Path,
        default=argparse.SUPPRESS,
        metavar="DIR",
        help="keep everything in this folder: chain, keys, credits, payments and clock; without it, all ends with the "
        "process",
    )
    group.add_argument(
        "--control", action="store_true", help="serve /control, which moves the clock and resets the node: for tests"
    )
    group.add_argument(
        "--control-token-file",
        type=Path,
        default=argparse.SUPPRESS,
        metavar="FILE",
        help="the token, 16 visible characters or more, that requests to /control have to carry",
    )


def _add_chain_options(serve: argparse.ArgumentParser) -> None:
    group = serve.add_argument_group("chain and keys")
    group.add_argument(
        "--chain-id", type=_integer(1, 2**53 - 1), default=Settings.chain_id, help="the id of the in-memory chain"
    )
    group.add_argument(
        "--rpc-url", default=argparse.SUPPRESS, metavar="URL", help="use the chain behind this JSON-RPC address instead"
    )
    group.add_argument(
        "--contract",
        type=_address,
        default=argparse.SUPPRESS,
        metavar="ADDRESS",
        help="the contract on that chain, where it is not the one that the root secret leads to",
    )
    group.add_argument(
        "--root-secret-file",
        type=Path,
        default=argparse.SUPPRESS,
        metavar="FILE",
        help=f"64 hex characters that all wallets and payers derive from; or the variable {ROOT_SECRET_VARIABLE}; "
        "without either, a fresh secret that ends with the process",
    )
    group.add_argument(
        "--payers", type=_integer(1, 64), default=Settings.payers, help="how many wallets submit writes side by side"
    )


def _add_attestation_options(serve: argparse.ArgumentParser) -> None:
    group = serve.add_argument_group("attestation")
    group.add_argument(
        "--compose",
        type=Path,
        default=argparse.SUPPRESS,
        metavar="FILE",
        help="the compose file that is measured, every image pinned by its digest; without it, one that ships along",
    )
    group.add_argument(
        "--quote-version",
        type=int,
        choices=(4, 5),
        default=Settings.quote_version,
        help="the layout of the TDX quotes",
    )
    group.add_argument(
        "--tls-domain",
        type=_domain,
        default=argparse.SUPPRESS,
        metavar="NAME",
        help="serve HTTPS too, with a certificate for this domain from a simulated ACME issuer",
    )
    group.add_argument(
        "--tls-port",
        type=_integer(0, 65535),
        default=Settings.tls_port,
        help="the port for HTTPS; 0 takes a free one",
    )
    for name, what in (("cert", "certificate chain, the leaf first"), ("key", "private key")):
        group.add_argument(
            f"--tls-{name}",
            type=Path,
            default=argparse.SUPPRESS,
            metavar="FILE",
            help=f"serve HTTPS with this {what} in PEM; both files are needed",
        )
    group.add_argument(
        "--dns-port",
        type=_integer(0, 65535),
        default=argparse.SUPPRESS,
        metavar="PORT",
        help="serve the domain's CAA records by DNS over UDP and TCP at this port; 0 takes a free one",
    )


def _add_service_options(serve: argparse.ArgumentParser) -> None:
    group = serve.add_argument_group("service")
    group.add_argument(
        "--starter-credits",
        type=_integer(0, 10**12),
        default=Settings.starter_credits,
        metavar="CENTS",
        help="what a new account begins with; without any, no management write is covered",
    )
    group.add_argument(
        "--seed-accounts",
        type=Path,
        default=argparse.SUPPRESS,
        metavar="FILE",
        help="make the accounts of this YAML or JSON file at the start; the ready file tells their keys",
    )
    group.add_argument(
        "--payments",
        choices=("simulator", "stripe", "none"),
        default=Settings.payments,
        help=f"where credits are bought: at an embedded simulator of Stripe; at Stripe in test mode, with the keys in "
        f"the variables {STRIPE_SECRET} and {STRIPE_PUBLISHABLE}; or nowhere",
    )
    group.add_argument(
        "--stripe-port",
        type=_integer(0, 65535),
        default=Settings.stripe_port,
        metavar="PORT",
        help="a port of its own for the embedded simulator, for Stripe's SDKs; 0 takes a free one",
    )
    group.add_argument(
        "--stripe-api-base",
        type=_base_url,
        default=argparse.SUPPRESS,
        metavar="URL",
        help="with --payments stripe: another server that speaks Stripe's protocol, such as stripe-mock",
    )
    group.add_argument(
        "--ledger",
        type=Path,
        default=argparse.SUPPRESS,
        metavar="FILE",
        help="keep the credits in this file, an SQLite database; without it they end with the process",
    )
    group.add_argument(
        "--preload",
        type=Path,
        action="append",
        default=argparse.SUPPRESS,
        metavar="FILE.js",
        help="a JavaScript library that every action finds loaded; may be given more than once",
    )
    group.add_argument(
        "--insecure-sandbox",
        action="store_true",
        help="run actions even where there is no seccomp to lock them up: hostile ones may then harm this machine",
    )
    group.add_argument("--slug", type=_slug, default=Settings.slug, help="the brand word in paths")
    group.add_argument("--title", type=_title, default=Settings.title, help="the brand word in titles")


def _integer(least: int, most: int) -> Callable[[str], int]:
    """An argparse type: a whole number between two bounds."""

    def parse(text: str) -> int:
        if not re.fullmatch(r"\d{1,20}", text, re.ASCII) or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is no whole number from {least} to {most}")
        return int(text)

    return parse


def _host(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("it is empty, which would be every interface: write 127.0.0.1, or 0.0.0.0")
    return text


def _allowed_host(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._-]+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no name of a host: write one such as node.example, no port")
    return text


def _origin(text: str) -> str:
    """An origin as browsers write it in the header `Origin` (RFC 6454, section 6.2)."""
    if text in {"*", "null"}:
        raise argparse.ArgumentTypeError(f"{text!r} would let pages of everybody in: name each origin")
    parts = re.fullmatch(
        r"(?P<origin>[a-z][a-z0-9+.-]*://(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?P<port>:[1-9][0-9]{0,4})?)", text
    )
    if parts is None:
        raise argparse.ArgumentTypeError(
            f"{text!r} is no origin: write it as browsers do, scheme://host or scheme://host:port, such as "
            "http://localhost:5173: in small letters, without a path or a slash at the end"
        )
    if (
        text.startswith(("http://", "https://"))
        and parts["port"] == {"http": ":80", "https": ":443"}[text.partition(":")[0]]
    ):
        raise argparse.ArgumentTypeError(f"{text!r} is never sent: browsers leave the scheme's own port out")
    return text


def _public_url(text: str) -> PublicAddress:
    try:
        return read_url(text)
    except ValueError as fault:
        raise argparse.ArgumentTypeError(str(fault)) from None


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ip_network(text)
    except ValueError as fault:
        raise argparse.ArgumentTypeError(
            f"{fault}: write the address of a proxy, such as 10.0.0.7, or a network, such as 10.0.0.0/8"
        ) from None


def _address(text: str) -> bytes:
    if not re.fullmatch(r"0x[0-9a-fA-F]{40}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no address: write 0x and 40 hex characters")
    return bytes.fromhex(text[2:])


def _domain(text: str) -> str:
    """A domain in the form that certificates have: labels of letters, digits and hyphens (RFC 1123)."""
    label = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
    if len(text) > LONGEST_DOMAIN or not re.fullmatch(rf"{label}(\.{label})+", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no domain: write one such as node.example, in small letters")
    return text


def _base_url(text: str) -> str:
    if not re.fullmatch(r"https?://[^/\s]+(/[^\s?#]*)?", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no address: write http://HOST:PORT or https://HOST")
    return text.rstrip("/")


def _slug(text: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", text):
        raise argparse.ArgumentTypeError(f"{text!r} can't stand in paths: use lower-case letters, digits and _")
    if text in {"add", "delete"}:
        raise argparse.ArgumentTypeError(f"{text!r} would make /{text}_action stand for two operations: use another")
    return text


def _title(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9]*", text):
        raise argparse.ArgumentTypeError(f"{text!r} can't name the sandbox's global: use letters and digits")
    return text
