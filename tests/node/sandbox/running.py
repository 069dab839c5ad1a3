"""Running scripts in tests."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from reference_node.sandbox import RunResult, Sandbox
from reference_node.strict_json import Json

ACCOUNT = 7

WAIT = 60
"""Seconds in which anything that is to happen has happened, however busy the machine."""


def no_wallets(name: str, argument: Mapping[str, Json]) -> Json:
    """A host for scripts that use no wallet."""
    raise AssertionError(f"{name} was called with {argument}")


def raising(fault: Exception) -> Callable[[str, Mapping[str, Json]], Json]:
    """A host whose every answer is this fault."""

    def host(_name: str, _argument: Mapping[str, Json]) -> Json:
        raise fault

    return host


def run(
    sandbox: Sandbox,
    code: str,
    params: object = None,
    host: Callable[[str, Mapping[str, Json]], Json] = no_wallets,
    each_second: Callable[[int], bool] | None = None,
) -> RunResult:
    """One run of the test's account."""
    return sandbox.run(code, json.dumps({} if params is None else params), host, ACCOUNT, each_second)


def returned(result: RunResult) -> Any:
    """What main returned."""
    assert not result.has_error, result.logs
    assert result.response is not None
    return json.loads(result.response)


def evaluated(sandbox: Sandbox, expression: str) -> Any:
    """What an expression comes to, awaited."""
    return returned(run(sandbox, f"async function main(params) {{ return ({expression}); }}"))


def failed(result: RunResult) -> str:
    """The message at the end of the logs of a run that failed, without the stack after it."""
    assert result.has_error, result.response
    assert result.response is None
    return [line for line in result.logs.split("\n") if not line.startswith("    at ")][-1]


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that is about to happen."""
    deadline = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)
