"""``service-conformance packs``: the packs and their cases."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from conformance.ending import print_document
from conformance.resources import scenarios
from conformance.run.case import Case
from conformance.run.envelope_vectors import typed_cases
from conformance.run.options import SELECTING, Options, add_option
from conformance.run.selection import select

ALL = "all"


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = (
        "Prints each pack with the number of its cases, and a line for each case: its id, its title and, "
        "in brackets, the requirements that it shows. --json prints an array with an object for each case: case (id), "
        "pack, title, requirements, needs (the capabilities without which it is not offered), file and line."
    )
    for name in ("pack_dirs", *SELECTING):
        add_option(parser.add_argument, name)
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument(
        "--rows", action="store_true", help="count the rows of signed envelopes by family of requirements and by flow"
    )
    parser.set_defaults(handle=_list)


def _list(arguments: argparse.Namespace) -> int:
    options = Options.of(arguments)
    if arguments.rows:
        print("\n".join(_counted([scenarios(), *options.pack_dirs])))
        return 0
    selection = select(options)
    cases = [case for case in selection.loaded if selection.wants(case)]
    if arguments.json:
        print_document(f"{json.dumps([_as_json(case) for case in cases], indent=2, ensure_ascii=False)}\n")
        return 0
    packs: dict[str, list[Case]] = {}
    for case in cases:
        packs.setdefault(case.pack, []).append(case)
    for pack, cases in packs.items():
        print(f"{pack} ({len(cases)} cases)")
        for case in cases:
            print(f"  {case.id}  {case.title} ({', '.join(case.requirements)})")
    if not packs:
        print("no case is selected")
    return 0


def _as_json(case: Case) -> dict[str, object]:
    return {
        "case": case.id,
        "pack": case.pack,
        "title": case.title,
        "requirements": case.requirements,
        "needs": sorted(case.info.needs),
        "file": str(case.path),
        "line": case.line,
    }


def _counted(where: Sequence[Path]) -> Iterator[str]:
    """Rows, each counted once for every flow to which it goes, in each family that its case is about."""
    counts: dict[tuple[str, str], Counter[bool]] = {}
    for case in typed_cases(where):
        families = {requirement.partition("-")[0] for requirement in case.form.requirements}
        for row in case.rows:
            flows: Sequence[str] = row.form.flows or case.form.flows
            for family, flow in product((*families, ALL), flows):
                counts.setdefault((family, flow), Counter())[row.form.accepted] += 1
    yield f"{'family':8}{'flow':34}{'accepted':>10}{'refused':>10}"
    for (family, flow), count in sorted(counts.items(), key=lambda counted: (counted[0][0] == ALL, counted[0])):
        yield f"{family:8}{flow:34}{count[True]:10}{count[False]:10}"
    total = sum((count for (family, _), count in counts.items() if family == ALL), Counter[bool]())
    yield f"{ALL:8}{ALL:34}{total[True]:10}{total[False]:10}"
