"""The command line: `reference-node serve` and the commands beside it."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import stat
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import NoReturn

from reference_node.ending import EXIT_FAILURE, EXIT_USAGE, PROGRAM, say
from reference_node.options import ROOT_SECRET_VARIABLE, STRIPE_PUBLISHABLE, STRIPE_SECRET, add_serve_options
from reference_node.settings import ROOT_SECRET_BYTES, Settings, StripeKeys
from reference_node.stripe_simulator.command import add_command

DIFFERENT_BYTES = 8
"""The least number of different bytes in a root secret. A random one has fewer once in 10^36; zeros, a repeated byte or
a repeated word have fewer always.
"""

INSTALL = "pip install 'service-conformance[node]'"
"""What brings the modules that the node needs and the suite does not."""


class OptionsError(Exception):
    """Options that contradict each other or name unusable files. The message is one line: the reason and the remedy."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, without the whole usage."""

    def error(self, message: str) -> NoReturn:
        """Print the message and end with the code of a usage error."""
        self.exit(EXIT_USAGE, f"{self.prog}: {message} (see {self.prog} --help)\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return the exit code."""
    options = _parser().parse_args(arguments)
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
    from reference_node.server import serve  # noqa: PLC0415
    from reference_node.serving.listening import ServingError  # noqa: PLC0415 - `--help` answers without loading the node

    try:
        serve(settings)
    except ServingError as fault:
        return _fail(fault, EXIT_FAILURE)
    return 0


def _leave(_signal: int, _frame: FrameType | None) -> NoReturn:
    """Exit with code 0 on a signal that arrives before uvicorn handles signals, or after it has stopped on one."""
    sys.exit(0)


def _fail(fault: Exception, code: int) -> int:
    say(str(fault))
    return code


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = Parser(
        prog=PROGRAM, description="The reference node of the service.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {version('service-conformance')}")
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser(
        "serve",
        help="run a node until it is told to stop",
        description="Run a node until SIGTERM or SIGINT. Without options it has a chain of its own, in memory.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        allow_abbrev=False,
    )
    add_serve_options(serve)
    serve.set_defaults(handle=_serve)
    abi = commands.add_parser(
        "abi",
        help="print the ABI of the contract that holds accounts and permissions",
        description="Print the ABI of AccountConfig, a JSON array. A node answers the same at /abi/AccountConfig.json.",
    )
    abi.set_defaults(handle=_abi)
    _add_ledger(commands)
    add_command(commands)
    return parser


def _add_ledger(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    ledger = commands.add_parser("ledger", help="look into the ledger of credits that --ledger keeps")
    actions = ledger.add_subparsers(dest="action", required=True)
    for name, summary in (
        ("verify", "check that every balance is what the transfers give, and that no transfer is missing"),
        ("export", "write every account's history as CSV to the standard output"),
    ):
        action = actions.add_parser(name, help=summary, description=f"{summary.capitalize()}. The file is only read.")
        action.add_argument("file", type=Path, metavar="FILE")
    ledger.set_defaults(handle=_ledger)


def _abi(_options: argparse.Namespace) -> int:
    from reference_node.chain.contract_abi import interface  # noqa: PLC0415 - as in `_serve`

    print(json.dumps(interface(), indent=2))
    return 0


def _ledger(options: argparse.Namespace) -> int:
    from reference_node.billing.command import export, verify_file  # noqa: PLC0415 - as in `_serve`
    from reference_node.billing.schema import LedgerError  # noqa: PLC0415

    try:
        return verify_file(options.file) if options.action == "verify" else export(options.file)
    except LedgerError as fault:
        return _fail(fault, EXIT_FAILURE)


def _settings(options: argparse.Namespace) -> Settings:
    values = {name: value for name, value in vars(options).items() if name not in {"command", "handle"}}
    for repeated in ("preload", "allowed_hosts", "allowed_origins", "trusted_proxies"):
        values[repeated] = tuple(values.get(repeated, ()))
    secret = _root_secret(values.pop("root_secret_file", None))
    if "seed_accounts" in values and "rpc_url" in values:
        raise OptionsError("--seed-accounts makes accounts on the node's own chain: take --rpc-url away")
    for other in ("rpc_url", "ledger"):
        if "state" in values and other in values:
            raise OptionsError(
                f"--state keeps a chain and a ledger of the node's own: take --{other.replace('_', '-')} away"
            )
    values["stripe_keys"] = _stripe_keys() if values["payments"] == "stripe" else None
    if "stripe_api_base" in values and values["payments"] != "stripe":
        raise OptionsError("--stripe-api-base names the server of --payments stripe: give that too")
    if values["stripe_port"] and values["payments"] != "simulator":
        raise OptionsError("--stripe-port is the port of --payments simulator: take it away")
    values["control_token"] = _control_token(values.pop("control_token_file", None), is_served=values["control"])
    if "contract" in values and "rpc_url" not in values:
        raise OptionsError("--contract names a contract on an external chain: give --rpc-url too")
    if ("tls_cert" in values) != ("tls_key" in values):
        raise OptionsError("a certificate is served with its key: give both --tls-cert and --tls-key")
    if "rpc_url" in values and secret is None:
        raise OptionsError(
            f"an external chain outlives this process, so its root secret has to: give --root-secret-file, or set "
            f"{ROOT_SECRET_VARIABLE}"
        )
    return Settings(**values) if secret is None else Settings(**values, root_secret=secret, root_secret_given=True)


def _stripe_keys() -> StripeKeys:
    """Return the keys in the environment. Refuse keys of live mode, which move real money."""
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
