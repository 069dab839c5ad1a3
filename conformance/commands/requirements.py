"""``service-conformance requirements``: each statement of the specification, and the checks that prove it."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.ending import print_document
from conformance.requirements import Catalogue, Coverage, Status, catalogue, statuses, uncovered
from conformance.resources import scenarios
from conformance.run.listing import ListedCase, by_requirement, list_pack, pack_files

if TYPE_CHECKING:
    from conformance.run.case import Case

OPEN = {Coverage.NOT_YET, Coverage.PARTLY}


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    families = sorted(catalogue().families)
    parser.add_argument(
        "--family",
        action="append",
        choices=families,
        metavar="F",
        help=f"only this family (repeatable): {' '.join(families)}",
    )
    parser.add_argument("--uncovered", action="store_true", help="only what is proved in part or not yet")
    parser.add_argument("--silent", action="store_true", help="what the specification leaves open or says two ways")
    parser.add_argument("--pack-dir", action="append", type=Path, default=[], help="count the packs of this folder too")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(handle=_list)


def _list(arguments: argparse.Namespace) -> int:
    known = catalogue()
    if arguments.silent:
        _tell_questions(known, arguments)
        return 0
    every = statuses(known, uncovered(), by_requirement(_cases(arguments.pack_dir)))
    chosen = [status for status in every if status.requirement.family in (arguments.family or known.families)]
    shown = [status for status in chosen if not arguments.uncovered or status.coverage in OPEN]
    if arguments.json:
        print_document(f"{json.dumps([_as_json(status) for status in shown], indent=2, ensure_ascii=False)}\n")
        return 0
    for status in shown:
        print("\n".join(_lines(status, known)))
    print("\n".join(_summary(chosen)))
    return 0


def _cases(pack_dirs: Sequence[Path]) -> Iterator[Case | ListedCase]:
    """The cases of the shipped packs, and of the user's, whose faults are reported."""
    shipped, every = pack_files([scenarios()]), pack_files([scenarios(), *pack_dirs])
    yield from (case for path in shipped for case in list_pack(path) if not case.opt_in)
    if len(every) > len(shipped):
        from conformance.run.loader import load_packs  # noqa: PLC0415 - costs more than all the rest

        own = load_packs([path for path in every if path not in shipped])
        yield from (case for cases in own.values() for case in cases if not case.opt_in)


def _tell_questions(known: Catalogue, arguments: argparse.Namespace) -> None:
    families = arguments.family or known.families
    silent = [item for item in known.silent if item.family in families]
    tensions = [item for item in known.tensions if any(name.partition("-")[0] in families for name in item.ids)]
    if arguments.json:
        questions = {
            "silent": [item.model_dump() for item in silent],
            "tensions": [item.model_dump() for item in tensions],
        }
        print_document(f"{json.dumps(questions, indent=2, ensure_ascii=False)}\n")
        return
    for item in silent:
        print(f"{item.id}  {item.place}\n    {item.text}\n    profile: {item.profile_key}")
        print(f"    the reference node: {item.reference_choice}")
    for tension in tensions:
        print(f"{', '.join(tension.ids)}\n    {tension.text}")
        print("\n".join(f"    - {reading}" for reading in tension.readings))
        print(f"    taken: {tension.decided}")
    open_ones = "1 statement is left open" if len(silent) == 1 else f"{len(silent)} statements are left open"
    pulling = "1 place pulls two ways" if len(tensions) == 1 else f"{len(tensions)} places pull two ways"
    print(f"{open_ones}, {pulling}")


def _as_json(status: Status) -> dict[str, object]:
    requirement = status.requirement
    return {
        "id": requirement.id,
        "level": requirement.level,
        "section": requirement.place,
        "text": requirement.text,
        "coverage": status.coverage,
        "checks": status.checks,
        "restates": status.restates,
        "note": status.note,
    }


def _lines(status: Status, known: Catalogue) -> Iterable[str]:
    requirement = status.requirement
    yield f"{requirement.id}  {requirement.level}  {requirement.place}"
    yield f"    {requirement.text}"
    if status.restates:
        yield f"    restates {', '.join(status.restates)}"
    if requirement.profile_key:
        yield f"    profile: {requirement.profile_key}; the reference node: {requirement.reference_choice}"
    for tension in known.tensions:
        if requirement.id in tension.ids:
            yield f"    several readings; decided: {tension.decided}"
    if status.coverage is Coverage.NOT_YET:
        yield f"    not yet covered: {status.note or 'nobody has said why'}"
    elif status.checks:
        yield f"    checks: {', '.join(status.checks)}"
    if status.coverage is Coverage.PARTLY:
        yield f"    covered in part; missing: {status.note}"


def _summary(chosen: Iterable[Status]) -> Iterable[str]:
    judged: dict[str, Counter[Coverage]] = {}
    for status in chosen:
        if status.requirement.judged:
            judged.setdefault(status.requirement.family, Counter())[status.coverage] += 1
    yield "must and should statements by family:"
    for family, count in judged.items():
        parts = [f"{count[coverage]} {coverage}" for coverage in Coverage if count[coverage]]
        yield f"  {family:8}{sum(count.values()):4}: {', '.join(parts)}"
    total = sum((count for count in judged.values()), Counter[Coverage]())
    yield f"  {'all':8}{sum(total.values()):4}: {', '.join(f'{total[one]} {one}' for one in Coverage if total[one])}"
