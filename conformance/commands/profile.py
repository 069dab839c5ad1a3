"""``service-conformance profile``: check a vendor profile, print its schema."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from conformance.ending import print_document
from conformance.profile import (
    NotClaimed,
    NotStated,
    Profile,
    known_paths,
    load_profile,
    resolve,
    states,
    usual,
    value_at,
)
from conformance.profile.abi_names import translation
from conformance.profile.chain import FUNCTION_KEYS, SUITE_SIGNATURES
from conformance.profile.publish import SCHEMA_FILE
from conformance.profile.section import Section
from conformance.resources import scenarios

if TYPE_CHECKING:
    from conformance.run.case import Case


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    verbs = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    check = verbs.add_parser("check", help="check a profile and say where it differs from the reference node")
    check.add_argument("file", type=Path)
    check.set_defaults(handle=_check)
    schema = verbs.add_parser("schema", help="print the JSON Schema of profiles")
    schema.set_defaults(handle=_schema)


def _check(arguments: argparse.Namespace) -> int:
    profile = load_profile(arguments.file)
    differing = [path for path in sorted(known_paths()) if _differs(profile, path)]
    print(f"{arguments.file}: a valid profile; it differs from the reference node's in {len(differing)} of its keys")
    silent = any(value_at(profile, path) is None for path in differing)
    costs = _cost_of_silence(profile, _every_case()) if silent else {}
    for path in differing:
        value = value_at(profile, path)
        print(f"  {path}: {_of_silence(costs.get(path, 0)) if value is None else _written(value)}")
    for path, lacking in _lacking(profile):
        print(f"  {path}: {lacking}; what needs it is not offered")
    return 0


def _every_case() -> list[Case]:
    from conformance.run.loader import load  # noqa: PLC0415 - costs more than all the rest

    return load([scenarios()])


def _of_silence(cost: int) -> str:
    if not cost:
        return "states nothing"
    return f"states nothing: at least {cost} {'case is' if cost == 1 else 'cases are'} not offered"


def _cost_of_silence(profile: Profile, cases: Iterable[Case]) -> Mapping[str, int]:
    """For each key that is null, the number of cases that say they need it, of those that the capabilities allow.

    A case in Python may read a key more that it does not name; it is not offered then, too.
    """
    offered = [case for case in cases if all(profile.offers(need) for need in case.info.needs)]
    return Counter(key for case in offered for key in {_outermost(profile, key) for key in _silent(profile, case)})


def _silent(profile: Profile, case: Case) -> Iterator[str]:
    yield from (key for key in case.info.uses if not states(profile, key))
    if case.info.accounts and profile.accounts.credits is None:
        yield "accounts.credits"
    for name in case.info.operations:
        try:
            resolve(profile, name)
        except NotClaimed:
            continue  # what the node does not offer is no silence
        except NotStated as problem:
            yield problem.path


def _outermost(profile: Profile, key: str) -> str:
    """The null to which the key belongs: its own, or that of a section above it."""
    parts = key.split(".")
    above = [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
    return next(path for path in above if value_at(profile, path) is None)


def _lacking(profile: Profile) -> Iterator[tuple[str, str]]:
    """What functions of the contract do not take or return of what packs know."""
    for name, path in FUNCTION_KEYS.items():
        signature = value_at(profile, path)
        if not isinstance(signature, str):
            continue
        matched = translation(SUITE_SIGNATURES[name], signature)
        if matched.untaken:
            yield path, f"takes no {', '.join(matched.untaken)}"
        if matched.unreturned and path.startswith("chain.abi.account."):
            yield path, f"returns no {', '.join(matched.unreturned)}"


def _differs(profile: Profile, path: str) -> bool:
    mine, reference = value_at(profile, path), value_at(usual(), path)
    if isinstance(mine, Section):
        return False
    above = path.rpartition(".")[0]
    if mine is None and above and value_at(profile, above) is None:
        return False
    return mine != reference


def _written(value: object) -> str:
    """A value as a YAML file takes it."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _schema(_: argparse.Namespace) -> int:
    print_document(SCHEMA_FILE.read_text(encoding="utf-8"))
    return 0
