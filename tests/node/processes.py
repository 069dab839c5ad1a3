"""Nodes as processes of their own, started as the command line starts them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import httpx
from programs import START_SECONDS

from reference_node import server
from reference_node.cli import main

REFERENCE_NODE = ("-m", "reference_node")


def command(*options: str, serves: str = "serve", program: Sequence[str] = REFERENCE_NODE) -> list[str]:
    """The command line of a server, the node's where no other is named, on a free port."""
    return [sys.executable, *program, serves, "--port", "0", *options]


def environment(**more: str) -> dict[str, str]:
    """The variables of a new process, without a root secret of somebody else's."""
    return {name: value for name, value in os.environ.items() if name != "REFERENCE_NODE_ROOT_SECRET"} | more


def completed(*arguments: str, seconds: float = START_SECONDS, **variables: str) -> subprocess.CompletedProcess[str]:
    """What became of a program of ours, which has so many seconds to end."""
    return subprocess.run(  # noqa: S603 - our own program
        arguments, capture_output=True, text=True, timeout=seconds, env=environment(**variables), check=False
    )


@contextlib.contextmanager
def node_process(
    ready_file: Path,
    *options: str,
    serves: str = "serve",
    program: Sequence[str] = REFERENCE_NODE,
    **variables: str,
) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """A node, or another server, that is ready, and what its ready file says; killed at the end if it still runs."""
    ready_file.unlink(missing_ok=True)
    process = subprocess.Popen(  # noqa: S603 - our own program
        command("--ready-file", str(ready_file), *options, serves=serves, program=program),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment(**variables),
    )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not ready_file.exists():
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < deadline, "the node did not become ready"
            time.sleep(0.02)
        yield process, json.loads(ready_file.read_text())
    finally:
        process.kill()
        process.communicate()


def stopped(process: subprocess.Popen[str], end: signal.Signals = signal.SIGTERM) -> str:
    """All that a node has printed when this signal has ended it in good order."""
    process.send_signal(end)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output
    assert "Traceback" not in output
    return output


def client(ready: Any) -> httpx.Client:
    """A client for the node that wrote this ready file."""
    return httpx.Client(base_url=ready["base_url"], timeout=60)


def failing(*options: str, **variables: str) -> tuple[int, str]:
    """The exit code and error output of a node that can't start; in this process, which is a start of Python less."""
    output, error = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(error),
        mock.patch.dict(os.environ, environment(**variables), clear=True),
        mock.patch.object(signal, "signal"),
        mock.patch.object(server.Announcing, "run", side_effect=AssertionError("the node has started")),
    ):
        try:
            code = main(["serve", "--port", "0", *options])
        except SystemExit as ended:
            code = int(str(ended.code))
    assert output.getvalue() == ""
    return code, error.getvalue()


def refusal(code: int, *options: str, **variables: str) -> str:
    """The one line in which a node says why it does not start, with this exit code."""
    returned, error = failing(*options, **variables)
    assert (returned, error.count("\n")) == (code, 1), error
    return error
