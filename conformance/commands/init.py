"""``service-conformance init``: write the profile of a node from what it shows."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from conformance.doctor import first_look
from conformance.ending import print_document
from conformance.endpoints.client import Target
from conformance.endpoints.pace import Pace
from conformance.endpoints.patience import Patience
from conformance.problems import Problem
from conformance.profile import Profile, stated_in
from conformance.report import ExitCode
from conformance.report.write import write_whole
from conformance.run.options import above_0, add_option, node_address
from conformance.survey import ACCOUNT, MOST_WRITES, Asker, Notes, read, try_out, written
from conformance.values.shown_text import plain

WITHOUT_ACCOUNT = (
    "so nothing else was tried: make an account, and name the variable with its key by --try --key VARIABLE"
)
SECONDS = 15.0
"""For one answer."""


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        f"Reads without a key. With --try it uses an account, with at most {MOST_WRITES} accepted writes."
    )
    parser.add_argument("url", type=node_address, metavar="URL", help="the node, without /core/v1")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write there; else to the terminal")
    parser.add_argument("--try", action="store_true", dest="tries", help="make an account, or use --key, and try it")
    parser.add_argument("--key", metavar="VARIABLE", help="the environment variable that holds an account's key")
    parser.add_argument("--profile", type=Path, metavar="FILE", help="begin with what this profile states, and keep it")
    parser.add_argument("--rate", type=above_0, metavar="N", help="send at most so many requests a second")
    add_option(parser.add_argument, "ca_file")
    parser.set_defaults(handle=_init)


def _init(arguments: argparse.Namespace) -> int:
    key = None if arguments.key is None else os.environ.get(arguments.key)
    if arguments.key is not None and not key:
        raise Problem(f"the variable {arguments.key} holds no key: export it, or leave --key out")
    if arguments.output is not None and arguments.output.exists():
        raise Problem(f"{arguments.output} is there already: name another file, or take it away")
    notes = Notes(stated_in(arguments.profile) if arguments.profile else None)
    profile = Profile().trusting(arguments.ca_file)
    with Target(arguments.url, profile, pace=Pace(arguments.rate), patience=Patience(SECONDS)) as target:
        address = next(first_look(target, spends=False))
        if address.ends_run:
            raise Problem(f"{address.found}; {address.mend}")
        ask = Asker(target)
        read(ask, notes)
        if arguments.tries or key:
            try_out(ask, notes, key)
    if ACCOUNT in notes.unclear:
        why = plain(ask.secrets.hide(notes.unclear[ACCOUNT]))
        print(f"service-conformance: {why}; {WITHOUT_ACCOUNT}", file=sys.stderr)
    if notes.cut_short:
        parts, why = ", ".join(notes.cut_short), plain(ask.secrets.hide(next(iter(notes.cut_short.values()))))
        again = "the profile states nothing of it: begin again with it (--profile)"
        print(f"service-conformance: {parts}: not looked at to the end ({why}); {again}", file=sys.stderr)
    if notes.contradicted:
        named = ", ".join(notes.contradicted)
        print(
            f"service-conformance: the node shows otherwise than {arguments.profile} states: {named}", file=sys.stderr
        )
    text = written(notes, arguments.url, _told(ask, notes), ask.secrets.hide)
    if arguments.output is None:
        print_document(text)
    else:
        write_whole(arguments.output, text)
        print(f"{arguments.output}: {_counted(notes)}; look at its questions, then try `doctor`")
    return ExitCode.CONFORMS


def _told(ask: Asker, notes: Notes) -> list[str]:
    return [
        "A vendor profile, as the node showed it. What stands beside a key is where it was seen.",
        f"{ask.requests} requests, {ask.writes} accepted other than GET; {_counted(notes)}.",
    ]


def _counted(notes: Notes) -> str:
    seen = f"{len(notes.seen) - len(notes.stated)} keys seen"
    return f"{seen}, {len(notes.stated)} stated" if notes.stated else seen
