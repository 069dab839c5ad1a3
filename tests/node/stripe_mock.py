"""Stripe's own OpenAPI description and stripe-mock, both from the Go module `github.com/stripe/stripe-mock`."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from programs import absent, foreign_process

MODULE = "github.com/stripe/stripe-mock"
VERSION = "v0.203.0"
BUILD_SECONDS = 900


def go(*arguments: str, **variables: str) -> str:
    """What the `go` command prints. Without it the test is skipped, or fails in CI."""
    program = shutil.which("go")
    if program is None:
        absent("Go is missing: install it (https://go.dev/dl), `.ci/run` expects it")
    done = subprocess.run(  # noqa: S603 - the Go tool
        [str(program), *arguments],
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
        cwd=tempfile.gettempdir(),
        env=os.environ | {"GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"} | variables,
    )
    if done.returncode:
        absent(f"go {' '.join(arguments)} failed: {done.stderr.strip()}")
    return done.stdout


@functools.cache
def module_folder() -> Path:
    """Where the module's source is; it is downloaded where it is not there."""
    return Path(json.loads(go("mod", "download", "-json", f"{MODULE}@{VERSION}"))["Dir"])


@functools.cache
def stripe_description() -> dict[str, Any]:
    """Stripe's OpenAPI description."""
    text = (module_folder() / "embedded" / "openapi" / "spec3.json").read_text(encoding="utf-8")
    description: dict[str, Any] = json.loads(text)
    return description


@functools.cache
def program() -> Path:
    """The stripe-mock program, built once for this version and kept beside Go's own caches."""
    folder = Path(go("env", "GOMODCACHE").strip()).parent / "service-conformance" / f"stripe-mock-{VERSION}"
    built = folder / "stripe-mock"
    if not built.exists():
        go("install", f"{MODULE}@{VERSION}", GOBIN=str(folder))
    return built


@pytest.fixture(scope="session")
def stripe_mock_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The base URL of a running stripe-mock, for `--stripe-api-base` or the SDK's `base_addresses`."""
    log = tmp_path_factory.mktemp("stripe-mock") / "log"
    # HTTPS has a port of its own, which two of them can't share: whoever comes second ends.
    command = [str(program()), "-http-addr", "127.0.0.1:", "-https-addr", "127.0.0.1:"]
    with foreign_process(log, command, r"Listening for HTTP at address: (\S+)\s") as (_, address):
        yield f"http://{address}"
