"""The command line: `reference-node serve` and the commands beside it."""

from __future__ import annotations

import argparse
import os
import re
import signal
import stat
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import NoReturn

from reference_node.settings import ROOT_SECRET_BYTES, Settings, StripeKeys
from reference_node.stripe_simulator.command import add_command

ROOT_SECRET_VARIABLE = "REFERENCE_NODE_ROOT_SECRET"  # noqa: S105 - the name of a variable

DIFFERENT_BYTES = 8
"""A random root secret has more, but for one in 10^36; zeros, a repeated byte or a repeated word have fewer."""

LONGEST_DOMAIN = 64
"""Characters: the common name of a certificate takes no more (RFC 5280, upper bounds)."""

STRIPE_SECRET, STRIPE_PUBLISHABLE = "STRIPE_SECRET_KEY", "STRIPE_PUBLISHABLE_KEY"

INSTALL = "pip install 'service-conformance[node]'"
"""What brings the modules that the node needs and the suite does not."""

EXIT_FAILURE = 1
EXIT_USAGE = 2


class OptionsError(Exception):
    """The options can't be followed; the message is one line that says why and what to do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit code."""
    options = _parser().parse_args(arguments)
    if sys.stdout is None or sys.stderr is None:  # a file that is opened next would take its place
        return _fail(
            OptionsError("standard output or error is closed: send it to a file or to /dev/null"), EXIT_FAILURE
        )
    try:
        code: int = options.handle(options)
    except ModuleNotFoundError as fault:
        if fault.name is None or fault.name.startswith("reference_node"):
            raise
        absent = fault.name.partition(".")[0]
        return _fail(OptionsError(f"the module {absent} is missing: {INSTALL}"), EXIT_FAILURE)
    return code


def _serve(options: argparse.Namespace) -> int:
    try:
        settings = _settings(options)
    except OptionsError as fault:
        return _fail(fault, EXIT_USAGE)
    for caught in (signal.SIGTERM, signal.SIGINT):
        signal.signal(caught, _leave)
    from reference_node.listening import ServingError  # noqa: PLC0415 - `--help` answers without loading the node
    from reference_node.server import serve  # noqa: PLC0415

    try:
        serve(settings)
    except ServingError as fault:
        return _fail(fault, EXIT_FAILURE)
    return 0


def _leave(_signal: int, _frame: FrameType | None) -> NoReturn:
    """Before uvicorn takes over the signals, and after it has stopped on one: an orderly end, not a death by signal."""
    sys.exit(0)


def _fail(fault: Exception, code: int) -> int:
    print(f"reference-node: {fault}", file=sys.stderr)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="reference-node", description="The reference node of the service.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('service-conformance')}")
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser(
        "serve",
        help="run a node until it is told to stop",
        description="Run a node until SIGTERM or SIGINT. Without options it has a chain of its own, in memory.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    _add_server_options(serve)
    _add_chain_options(serve)
    _add_attestation_options(serve)
    _add_service_options(serve)
    serve.set_defaults(handle=_serve)
    _add_ledger(commands)
    add_command(commands)
    return parser


def _add_ledger(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    ledger = commands.add_parser("ledger", help="look into the ledger of credits that --ledger keeps")
    actions = ledger.add_subparsers(dest="action", required=True)
    for name, told in (
        ("verify", "check that every balance is what the transfers give, and that no transfer is missing"),
        ("export", "write every account's history as CSV to the standard output"),
    ):
        action = actions.add_parser(name, help=told, description=f"{told.capitalize()}. The file is only read.")
        action.add_argument("file", type=Path, metavar="FILE")
    ledger.set_defaults(handle=_ledger)


def _ledger(options: argparse.Namespace) -> int:
    from reference_node.billing.command import export, verify_file  # noqa: PLC0415 - as in `_serve`
    from reference_node.billing.schema import LedgerError  # noqa: PLC0415

    try:
        return verify_file(options.file) if options.action == "verify" else export(options.file)
    except LedgerError as fault:
        return _fail(fault, EXIT_FAILURE)


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


def _settings(options: argparse.Namespace) -> Settings:
    given = {name: value for name, value in vars(options).items() if name not in {"command", "handle"}}
    for repeated in ("preload", "allowed_hosts"):
        given[repeated] = tuple(given.get(repeated, ()))
    secret = _root_secret(given.pop("root_secret_file", None))
    if "seed_accounts" in given and "rpc_url" in given:
        raise OptionsError("--seed-accounts makes accounts on the node's own chain: take --rpc-url away")
    for other in ("rpc_url", "ledger"):
        if "state" in given and other in given:
            raise OptionsError(
                f"--state keeps a chain and a ledger of the node's own: take --{other.replace('_', '-')} away"
            )
    given["stripe_keys"] = _stripe_keys() if given["payments"] == "stripe" else None
    if "stripe_api_base" in given and given["payments"] != "stripe":
        raise OptionsError("--stripe-api-base names the server of --payments stripe: give that too")
    given["control_token"] = _control_token(given.pop("control_token_file", None), is_served=given["control"])
    if "contract" in given and "rpc_url" not in given:
        raise OptionsError("--contract names a contract on an external chain: give --rpc-url too")
    if ("tls_cert" in given) != ("tls_key" in given):
        raise OptionsError("a certificate is served with its key: give both --tls-cert and --tls-key")
    if "rpc_url" in given and secret is None:
        raise OptionsError(
            f"an external chain outlives this process, so its root secret has to: give --root-secret-file, or set "
            f"{ROOT_SECRET_VARIABLE}"
        )
    return Settings(**given) if secret is None else Settings(**given, root_secret=secret, root_secret_given=True)


def _stripe_keys() -> StripeKeys:
    """The keys in the environment. Those of live mode would move people's money: they are refused."""
    keys = {name: os.environ.get(name, "").strip() for name in (STRIPE_SECRET, STRIPE_PUBLISHABLE)}
    for name, prefixes in ((STRIPE_SECRET, ("sk_test_", "rk_test_")), (STRIPE_PUBLISHABLE, ("pk_test_",))):
        if "_live_" in keys[name]:
            raise OptionsError(f"{name} is a key of live mode, which moves real money: use a key of test mode")
        if not keys[name].startswith(prefixes):
            raise OptionsError(f"--payments stripe needs a key in {name} that begins with {' or '.join(prefixes)}")
    return StripeKeys(keys[STRIPE_SECRET], keys[STRIPE_PUBLISHABLE])


def _control_token(file: Path | None, *, is_served: bool) -> str | None:
    if file is None:
        return None
    if not is_served:
        raise OptionsError("--control-token-file protects the test control: give --control too")
    try:
        token = file.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as fault:
        reason = fault.strerror if isinstance(fault, OSError) else "it is not text"
        raise OptionsError(f"the control token file {file} can't be read: {reason}") from None
    if not re.fullmatch(r"[!-~]{16,200}", token):
        raise OptionsError("the control token has to be 16 to 200 visible characters: openssl rand -hex 16 makes one")
    return token


def _root_secret(file: Path | None) -> bytes | None:
    if file is not None:
        try:
            text = file.read_text("ascii")
            if file.stat().st_mode & stat.S_IWOTH:
                raise OptionsError(f"everybody may write the root secret file {file}: chmod 600 it, or make another")
        except (OSError, UnicodeDecodeError) as fault:
            reason = fault.strerror if isinstance(fault, OSError) else "it is not text"
            raise OptionsError(f"the root secret file {file} can't be read: {reason}") from None
    elif ROOT_SECRET_VARIABLE in os.environ:
        text = os.environ[ROOT_SECRET_VARIABLE]
    else:
        return None
    if not re.fullmatch(rf"[0-9a-fA-F]{{{2 * ROOT_SECRET_BYTES}}}", text.strip()):
        raise OptionsError(
            f"the root secret has to be {2 * ROOT_SECRET_BYTES} hex characters: openssl rand -hex 32 makes one"
        )
    secret = bytes.fromhex(text.strip())
    if len(set(secret)) < DIFFERENT_BYTES:
        raise OptionsError("the root secret is no random one, so anybody may guess it: openssl rand -hex 32 makes one")
    return secret
