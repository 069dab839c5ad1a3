"""``service-conformance packs``: the packs and their cases."""

from __future__ import annotations

import argparse
from pathlib import Path

from conformance.commands.checks import load_cases
from conformance.scenario.case import Case


def add_to(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("packs", help="list the packs and their cases")
    parser.add_argument("--pack-dir", action="append", type=Path, default=[], help="list the packs of this folder too")
    parser.set_defaults(handle=_list)


def _list(arguments: argparse.Namespace) -> int:
    packs: dict[str, list[Case]] = {}
    for case in load_cases(arguments.pack_dir):
        packs.setdefault(case.pack, []).append(case)
    for pack, cases in packs.items():
        print(f"{pack} ({len(cases)} cases)")
        for case in cases:
            print(f"  {case.id}  {case.title} ({', '.join(case.requirements)})")
    if not packs:
        print("there are no packs")
    return 0
