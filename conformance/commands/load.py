"""``service-conformance load``: the packs inside Locust's users; which cases that pass alone fail under load."""

from __future__ import annotations

import argparse
import re
import secrets
from dataclasses import replace

from conformance.load.campaign import MASTER_PORT, Campaign, Role, run_campaign
from conformance.run.options import SPELLINGS, Options, above_0, add_option, at_least, folder

SHARED = (
    "node_url",
    "profile",
    "ca_file",
    "packs",
    "pack_dirs",
    "cases",
    "known",
    "seed",
    "max_spend",
    "max_gas",
    "rate",
    "timeout",
    "max_timeouts",
)
"""The options of ``run`` that mean the same here."""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    load = parser.add_argument_group("the load")
    load.add_argument("--users", metavar="N", type=at_least(1), default=10, help="so many users at last; by default 10")
    load.add_argument("--minutes", metavar="M", type=above_0, default=1.0, help="for so long; by default 1")
    load.add_argument("--workers", metavar="K", type=at_least(1), help="processes that hold the users")
    load.add_argument("--chaos", action="store_true", help="kill, stop and cut off the bundled node meanwhile")
    where = load.add_mutually_exclusive_group()
    place = "ADDRESS[:PORT]"
    where.add_argument("--master", metavar=place, type=_place, help="listen there for --workers of other machines")
    where.add_argument("--worker", metavar=place, type=_place, help="hold users for the master that listens there")
    groups = {title: parser.add_argument_group(title) for title in ("the node", "the cases", "budgets")}
    for name in SHARED:
        add_option(groups[SPELLINGS[name].group].add_argument, name)
    report = parser.add_argument_group("the report")
    report.add_argument(
        "--output", metavar="DIR", dest="results", type=folder, help="write load.json and locust.html there"
    )
    parser.set_defaults(handle=lambda arguments: _load(parser, arguments))


def _place(text: str) -> tuple[str, int]:
    """An argparse type: an address, and a port or Locust's own."""
    match = re.fullmatch(r"(\[[0-9a-fA-F:]+\]|[^:\s]+)(?::(\d{1,5}))?", text)
    if not match or not 0 < int(match[2] or MASTER_PORT) < 65536:
        raise argparse.ArgumentTypeError(f"is an address, and a port after a colon, unlike {text}")
    return match[1], int(match[2] or MASTER_PORT)


def _load(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> int:
    options = Options.of(arguments)
    packs = tuple(name for names in options.packs for name in names.split(","))
    options = replace(options, packs=packs)
    elsewhere = arguments.master or arguments.worker
    if elsewhere and options.node_url is None and options.profile is None:
        parser.error("--master and --worker need a node that all machines reach: --profile FILE or --node-url URL")
    if arguments.master and not arguments.workers:
        parser.error("--master needs --workers K: how many to wait for")
    if arguments.chaos and (elsewhere or arguments.workers or options.node_url or options.profile):
        parser.error("--chaos kills the node that the campaign starts, in one process: leave out --profile, --node-url,"
                     " --workers, --master and --worker")  # fmt: skip
    role = Role.MASTER if arguments.master else Role.WORKER if arguments.worker else Role.ALL
    host, port = elsewhere or ("127.0.0.1", 0)
    campaign = Campaign(
        options=options,
        role=role,
        users=arguments.users,
        seconds=arguments.minutes * 60,
        workers=arguments.workers or 0,
        host=host,
        port=port,
        seed=options.seed or secrets.token_hex(4),
        chaos=arguments.chaos,
    )
    return run_campaign(campaign)
