"""What a command loads before it does its work: nothing that only others need. No time is measured."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import packages_distributions

import pytest

from conformance.profile.publish import REFERENCE_FILE

OWN = {"conformance", "reference_node"}
MODELS_AND_YAML = {"_yaml", "annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection",
                   "yaml"}  # fmt: skip
"""What reading a catalogue or a profile needs."""

SCRIPT = """
import json, sys
before = {name.partition(".")[0] for name in sys.modules}
from importlib import import_module
main = import_module(sys.argv[1]).main
try:
    main(sys.argv[2:])
finally:
    loaded = {name.partition(".")[0] for name in sys.modules}
    print(json.dumps(sorted(loaded - before)), file=sys.stderr)
"""


def loaded_by(module: str, *arguments: str) -> set[str]:
    """The packages that neither Python nor this project ships and that a command loads."""
    command = [sys.executable, "-c", SCRIPT, module, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - this Python
    loaded = set(json.loads(ended.stderr.splitlines()[-1]))
    assert loaded & OWN, "the command did not run"
    return loaded & packages_distributions().keys() - OWN


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        *(("conformance.cli", line) for line in ("--version", "--help", "run --help")),
        *(("reference_node.cli", line) for line in ("--version", "--help", "serve --help")),
    ],
)
def test_command_tells_of_itself_without_any_library(module: str, arguments: str) -> None:
    assert loaded_by(module, *arguments.split()) == set()


@pytest.mark.parametrize(
    "arguments",
    [["requirements"], ["requirements", "--silent"], ["profile", "check", str(REFERENCE_FILE)]],
    ids=["requirements", "silent requirements", "profile that states everything"],
)
def test_catalogue_and_profile_are_read_without_what_runs_cases(arguments: list[str]) -> None:
    assert loaded_by("conformance.cli", *arguments) <= MODELS_AND_YAML
