"""``service-conformance profile``: check a vendor profile, print its schema."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from conformance.profile import Profile, known_paths, load_profile, value_at
from conformance.profile.abi_names import translation
from conformance.profile.chain import FUNCTION_KEYS, SUITE_SIGNATURES
from conformance.profile.publish import SCHEMA_FILE
from conformance.profile.section import Section
from conformance.resources import scenarios
from conformance.run.loader import load
from conformance.run.silence import cost_of_silence


def add_to(subcommands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand."""
    parser = subcommands.add_parser("profile", help="check a vendor profile, print its schema")
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
    costs = cost_of_silence(profile, load([scenarios()])) if differing else {}
    for path in differing:
        value = value_at(profile, path)
        print(f"  {path}: {_of_silence(costs.get(path, 0)) if value is None else _written(value)}")
    for path, lacking in _lacking(profile):
        print(f"  {path}: {lacking}; what needs it is not offered")
    return 0


def _of_silence(cost: int) -> str:
    if not cost:
        return "states nothing"
    return f"states nothing: {cost} {'case is' if cost == 1 else 'cases are'} not offered"


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
    mine, reference = value_at(profile, path), value_at(Profile(), path)
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
    sys.stdout.write(SCHEMA_FILE.read_text(encoding="utf-8"))
    return 0
