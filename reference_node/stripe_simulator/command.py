"""The command `reference-node stripe-simulator`."""

from __future__ import annotations

import argparse
import math
import os
import re
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from reference_node.stripe_simulator.settings import PUBLISHABLE_VARIABLE, SECRET_VARIABLE, SimulatorSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

EXIT_FAILURE = 1

KEYS = {"secret_key": ("sk_test_", SECRET_VARIABLE), "publishable_key": ("pk_test_", PUBLISHABLE_VARIABLE)}
"""How each key begins, and the environment variable that gives it."""

PROCESSING_LIMIT = 30 * 24 * 3600


def add_command(commands: Commands) -> None:
    """Add the command to those of `reference-node`."""
    parser = commands.add_parser(
        "stripe-simulator",
        help="run the simulator of Stripe alone until it is told to stop",
        description="Serve the part of Stripe's API that the node and its customers use, from memory, until SIGTERM or "
        "SIGINT. No money moves.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--host", default=SimulatorSettings.host, help="the address to listen at")
    parser.add_argument("--port", type=_port, default=SimulatorSettings.port, help="the port; 0 takes a free one")
    for name, (prefix, variable) in KEYS.items():
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=_key(prefix),
            default=argparse.SUPPRESS,
            metavar="KEY",
            help=f"{prefix}…; else that of the variable {variable}, else a new one",
        )
    parser.add_argument(
        "--processing-seconds",
        type=_seconds,
        default=SimulatorSettings.processing_seconds,
        metavar="SECONDS",
        help="how long a payment by bank account is processed",
    )
    parser.add_argument(
        "--ready-file",
        type=Path,
        default=argparse.SUPPRESS,
        metavar="FILE",
        help="write a JSON file with the address and the keys once it accepts connections",
    )
    parser.add_argument("--control", action="store_true", help="serve /control: faults, latency and changes, for tests")
    parser.set_defaults(handle=_serve)


def _serve(options: argparse.Namespace) -> int:
    from reference_node.serving.listening import ServingError  # noqa: PLC0415 - `--help` answers without loading the server
    from reference_node.stripe_simulator.server import serve  # noqa: PLC0415

    given = {name: value for name, value in vars(options).items() if name not in {"command", "handle"}}
    try:
        given = _keys_of_variables() | given
    except argparse.ArgumentTypeError as fault:
        print(f"reference-node: {fault}", file=sys.stderr)
        return EXIT_FAILURE
    for caught in (signal.SIGTERM, signal.SIGINT):  # before uvicorn takes them over, and when it gives them back
        signal.signal(caught, lambda *_: sys.exit(0))
    try:
        serve(SimulatorSettings(**given))
    except ServingError as fault:
        print(f"reference-node: {fault}", file=sys.stderr)
        return EXIT_FAILURE
    return 0


def _keys_of_variables() -> dict[str, str]:
    """The keys that environment variables give. Raises `ArgumentTypeError`."""
    keys = {}
    for name, (prefix, variable) in KEYS.items():
        if text := os.environ.get(variable):
            try:
                keys[name] = _key(prefix)(text)
            except argparse.ArgumentTypeError as fault:
                raise argparse.ArgumentTypeError(f"the variable {variable}: {fault}") from None
    return keys


def _port(text: str) -> int:
    if not re.fullmatch(r"\d{1,5}", text, re.ASCII) or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 0 to 65535")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= PROCESSING_LIMIT:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds from 0 to {PROCESSING_LIMIT}")
    return seconds


def _key(prefix: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if not re.fullmatch(rf"{prefix}[A-Za-z0-9_]{{1,200}}", text):
            raise argparse.ArgumentTypeError(f"write {prefix} with letters, digits and _ after it")
        return text

    return parse
