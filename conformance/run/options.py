"""The options of a run: one table for ``service-conformance run``, for pytest and for the commands that repeat a case.

Every pytest in an environment with this plugin imports this module, so it imports nothing but the standard library.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Self, get_type_hints

from conformance.endpoints.extent import SampleOptions


def node_address(text: str) -> str:
    """An argparse type: the address of a node, without the API's prefix."""
    from conformance.values import addresses  # noqa: PLC0415 - only who names a node pays for it

    try:
        return addresses.node_address(text)
    except ValueError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from problem


def at_least(least: int) -> Callable[[str], int]:
    """An argparse type: an integer with a lower bound."""

    def integer(text: str) -> int:
        if not re.fullmatch(r"[+-]?\d{1,20}", text, re.ASCII):
            raise argparse.ArgumentTypeError(f"has to be an integer, unlike {text}")
        if int(text) < least:
            raise argparse.ArgumentTypeError(f"has to be at least {least}, not {text}")
        return int(text)

    return integer


def folder(text: str) -> Path:
    """An argparse type: a folder to write into, which need not be there yet."""
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise argparse.ArgumentTypeError(f"is a folder to write into, and {path} is none")
    return path


def certificates(text: str) -> Path:
    """An argparse type: a PEM file with certificates."""
    from conformance.transport import BadCertificatesError, certificates_in  # noqa: PLC0415 - it is rarely given

    try:
        certificates_in(Path(text))
    except BadCertificatesError as problem:
        raise argparse.ArgumentTypeError(str(problem)) from problem
    return Path(text)


def above_0(text: str) -> float:
    """An argparse type: a positive number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value > 0:
        raise argparse.ArgumentTypeError(f"has to be a number above 0, unlike {text}")
    return value


PREFIX = "conformance"
"""Begins the names of pytest's options, their destinations and the fixtures: all plugins share one space of names."""


@dataclass(frozen=True)
class Spelling:
    """How an option is written on the command line of ``service-conformance``."""

    flag: str
    metavar: str | None = None
    """None for a switch."""
    type: Callable[[str], object] = str
    group: str = "the cases"
    repeats_case: bool = False
    """Whether the command that repeats a case has to include it."""
    help: str = field(kw_only=True)

    @property
    def pytest_flag(self) -> str:
        """How pytest spells it: ``--conformance-node-url``. Other plugins have a ``--timeout`` or ``--html``, too."""
        return f"--{PREFIX}-{self.flag.removeprefix('--')}"


def verdicts(text: str) -> str:
    """An argparse type: verdicts of cases, with commas between them."""
    from conformance.verdict import Verdict  # noqa: PLC0415 - it is rarely given

    known = ", ".join(Verdict)
    if wrong := [name for name in text.split(",") if name not in list(Verdict)]:
        raise argparse.ArgumentTypeError(f"knows no verdict {wrong[0]!r}; there are {known}")
    return text


SELECTING = ("packs", "cases", "requirements", "families", "levels", "earlier", "only")
"""The options that choose cases."""

NODE, BUDGETS, REPORT = "the node", "budgets", "the report"


@dataclass(frozen=True)
class Options:
    """The options of a run. A field with a tuple is an option that can be repeated."""

    # fmt: off
    node_url: Annotated[str | None, Spelling("--node-url", "URL", node_address, NODE, repeats_case=True,
        help="the node, without /core/v1; without it the bundled node is started")] = None
    profile: Annotated[Path | None, Spelling("--profile", "FILE", Path, NODE, repeats_case=True,
        help="its vendor profile; without it the reference node's")] = None
    ca_file: Annotated[Path | None, Spelling("--ca-file", "FILE", certificates, NODE, repeats_case=True,
        help="trust the certificates of this PEM file, too, such as a private CA's")] = None
    restart: Annotated[bool, Spelling("--restart", group=NODE, repeats_case=True,
        help="let cases restart the node, by the command that its profile names")] = False
    packs: Annotated[tuple[str, ...], Spelling("--pack", "GLOB", help="run only these packs (repeatable)")] = ()
    pack_dirs: Annotated[tuple[Path, ...], Spelling("--pack-dir", "DIR", Path, repeats_case=True,
        help="take packs from this folder, too (repeatable)")] = ()
    cases: Annotated[tuple[str, ...], Spelling("--case", "GLOB",
        help="run only these cases, pack::case[row] (repeatable)")] = ()
    requirements: Annotated[tuple[str, ...], Spelling("--requirement", "GLOB",
        help="run only cases that name these requirements, GRP-010 (repeatable)")] = ()
    families: Annotated[tuple[str, ...], Spelling("--family", "GLOB",
        help="run only cases that name a requirement of these families, GRP (repeatable)")] = ()
    levels: Annotated[tuple[str, ...], Spelling("--level", "LEVEL",
        help="run only cases that name a requirement of these levels: must, should, may, silent (repeatable)")] = ()
    earlier: Annotated[Path | None, Spelling("--from", "DIR", Path,
        help="run only cases that failed or were inconclusive in the results.json of this folder, on its seed")] = None
    only: Annotated[str | None, Spelling("--only", "VERDICTS", verdicts,
        help="with --from: those with one of these verdicts, inconclusive,fail")] = None
    quick: Annotated[bool, Spelling("--quick", help="run only the cheapest cases that name every requirement")] = False
    full: Annotated[bool, Spelling("--full",
        help="try every cell of a matrix, and every envelope in every flow")] = False
    cells: Annotated[tuple[str, ...], Spelling("--cell", "GLOB",
        help="try only these cells of a matrix (repeatable); see docs/drivers.md")] = ()
    known: Annotated[Path | None, Spelling("--known", "FILE", Path, repeats_case=True,
        help="known failures: a YAML list with reasons and links")] = None
    seed: Annotated[str | None, Spelling("--seed", "TEXT", help="repeat the random choices of an earlier run")] = None
    budget: Annotated[int | None, Spelling("--budget", "SEQUENCES", at_least(1), BUDGETS, repeats_case=True,
        help="play so many random sequences or histories in each case of them; of the pack fuzz, send 60"
             " times as many requests")] = None
    scale: Annotated[int | None, Spelling("--scale", "N", at_least(10), BUDGETS, repeats_case=True,
        help="fill lists up to one item more than N, at most 1000; by default each with 65 to 258 items")] = None
    max_spend: Annotated[int | None, Spelling("--max-spend", "CENTS", at_least(0), BUDGETS,
        help="stop spending credits here")] = None
    max_gas: Annotated[int | None, Spelling("--max-gas", "GAS", at_least(0), BUDGETS,
        help="stop sending transactions here, in units of gas")] = None
    rate: Annotated[float | None, Spelling("--rate", "N", above_0, BUDGETS,
        help="send at most so many requests a second")] = None
    timeout: Annotated[float | None, Spelling("--timeout", "SECONDS", above_0, BUDGETS, repeats_case=True,
        help="wait so long for an answer; by default 45, or 15 more than a run may take")] = None
    max_timeouts: Annotated[int | None, Spelling("--max-timeouts", "N", at_least(1), BUDGETS,
        help="end the run after so many time-outs in a row, by default 3")] = None
    max_minutes: Annotated[float | None, Spelling("--max-minutes", "MINUTES", above_0, BUDGETS,
        help="end the run when it has taken so long, by default 1440")] = None
    jobs: Annotated[int | None, Spelling("--jobs", "N", at_least(1), BUDGETS,
        help="run so many cases at the same time; without it one, or one for each core where bundled"
             " nodes run every pack")] = None
    results: Annotated[Path | None, Spelling("--output", "DIR", folder, REPORT,
        help="write results.json there; the command writes junit.xml, too")] = None
    resume: Annotated[Path | None, Spelling("--resume", "DIR", folder,
        help="go on with the run that writes into this folder and was stopped: run what has no verdict yet")] = None
    html: Annotated[Path | None, Spelling("--html", "FILE", Path, REPORT,
        help="write the report there as one HTML page")] = None
    summary: Annotated[Path | None, Spelling("--summary", "FILE", Path, REPORT,
        help="write the report there as Markdown, for the summary of a CI job")] = None
    junit: Annotated[Path | None, Spelling("--junit", "FILE", Path, REPORT,
        help="write the report there as JUnit XML, for CI systems")] = None
    badge: Annotated[Path | None, Spelling("--badge", "FILE", Path, REPORT,
        help="write the verdict there as JSON for an endpoint badge of shields.io")] = None
    dotenv: Annotated[Path | None, Spelling("--dotenv", "FILE", Path, REPORT,
        help="write verdict and counts there as lines NAME=value, for later jobs")] = None
    annotations: Annotated[Path | None, Spelling("--annotations", "FILE", Path, REPORT,
        help="write a workflow command of GitHub for each broken statement there, which shows it as"
             " an annotation")] = None
    har: Annotated[Path | None, Spelling("--har", "FILE", Path, REPORT,
        help="write the exchanges of failing cases there as an HTTP archive (HAR)")] = None
    replay: Annotated[Path | None, Spelling("--replay", "DIR", folder, REPORT,
        help="write a bash script for each failing case there, which repeats its requests with curl and jq")] = None
    evidence: Annotated[Path | None, Spelling("--evidence", "DIR", folder, REPORT,
        help="verify the node's attestation before the first case and after the last, and keep both"
             " there for a statement")] = None
    # fmt: on

    def reports(self, forms: Iterable[str]) -> dict[str, Path]:
        """The file for each of these forms of the report that was asked for; a form is the name of a field."""
        return {form: path for form in forms if (path := getattr(self, form)) is not None}

    @property
    def extent(self) -> SampleOptions:
        """How many cells of matrices, random sequences and items of lists to try."""
        return SampleOptions(full=self.full, quick=self.quick, cells=self.cells, budget=self.budget, scale=self.scale)

    @classmethod
    def of(cls, namespace: argparse.Namespace, prefix: str = "") -> Self:
        """Build the options from the namespace of argparse, or of pytest, where names have a prefix."""
        stated = {name: getattr(namespace, prefix + name, None) for name in SPELLINGS}
        read = {name: value for name, value in stated.items() if value is not None}
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in read.items()
        }
        return cls(**fields)

    def arguments(self) -> list[str]:
        """The command line of pytest that gives the same options."""
        stated = [(SPELLINGS[name].pytest_flag, value) for name, value in self.stated()]
        return [flag if value is None else f"{flag}={value}" for flag, value in stated]

    def selecting(self) -> tuple[str, ...]:
        """The part of the command line that chooses cases."""
        return tuple(f"{SPELLINGS[name].flag}={value}" for name, value in self._stated(SELECTING))

    def to_repeat_case(self) -> tuple[str, ...]:
        """The arguments that the command which repeats one case needs."""
        names = [name for name, spelling in SPELLINGS.items() if spelling.repeats_case]
        stated = [(SPELLINGS[name].flag, value) for name, value in self._stated(names)]
        return tuple(part for pair in stated for part in pair if part is not None)

    def stated(self) -> list[tuple[str, str | None]]:
        """The options that have another value than by default, by the names of their fields; a switch has no text."""
        return self._stated(SPELLINGS)

    def _stated(self, names: Iterable[str]) -> list[tuple[str, str | None]]:
        stated: list[tuple[str, str | None]] = []
        for name in names:
            value = getattr(self, name)
            values = value if isinstance(value, tuple) else [] if value is None or value is False else [value]
            stated += [(name, None if item is True else str(item)) for item in values]
        return stated


SPELLINGS: dict[str, Spelling] = {
    name: hint.__metadata__[0] for name, hint in get_type_hints(Options, include_extras=True).items()
}
"""The options by the names of their fields."""


def add_options(group_for: Callable[[str], Callable[..., object]]) -> None:
    """Declare every option, by `add_argument` of argparse for a group of options."""
    for name, spelling in SPELLINGS.items():
        add_option(group_for(spelling.group), name)


def add_option(add: Callable[..., object], name: str, *, pytest: bool = False) -> None:
    """Declare one option by the name of its field, for a command or for pytest."""
    spelling, repeatable = SPELLINGS[name], isinstance(getattr(Options, name), tuple)
    flag, dest = (spelling.pytest_flag, f"{PREFIX}_{name}") if pytest else (spelling.flag, name)
    if spelling.metavar is None:
        add(flag, dest=dest, action="store_true", help=spelling.help)
    else:
        add(
            flag,
            dest=dest,
            action="append" if repeatable else "store",
            metavar=spelling.metavar,
            type=spelling.type,
            help=spelling.help,
        )
