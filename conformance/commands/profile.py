"""``service-conformance profile``: check a vendor profile, print its schema."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from conformance.profile import Profile, known_paths, load_profile, value_at
from conformance.profile.publish import SCHEMA_FILE
from conformance.profile.section import Section


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
    for path in differing:
        value = value_at(profile, path)
        print(f"  {path}: {'states nothing' if value is None else _written(value)}")
    return 0


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
