"""What is loaded before cases run in threads."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator

from conformance.resources import scenarios
from conformance.run.threads import IMPORTED_BY_CASES

LOADED = f"import sys, {', '.join(IMPORTED_BY_CASES)}; print(*sys.modules)"


def imported_within_functions() -> Iterator[str]:
    """The modules of the suite that Python cases import as they run."""
    for path in scenarios().glob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            for node in ast.walk(function):
                if isinstance(node, ast.ImportFrom) and node.module:
                    yield node.module


def test_what_cases_import_as_they_run_is_loaded_before_they_run_at_the_same_time() -> None:
    run = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)  # noqa: S603 - our own text
    imported = {*imported_within_functions()}

    assert "conformance.drivers.attestation.driver" in imported
    assert imported <= {*run.stdout.split()}
