"""The control interface: the actions, the conditions and the log of requests over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict

from pydantic import ValidationError

from reference_node.strict_json import Json
from reference_node.stripe_simulator.actions import ACTIONS, conditions_view
from reference_node.stripe_simulator.errors import Object, StripeError
from reference_node.stripe_simulator.simulator import StripeSimulator


def log_view(simulator: StripeSimulator) -> Object:
    """The latest requests, oldest first."""
    entries: list[Json] = [asdict(entry) for entry in simulator.log]
    return {"requests": entries}


VIEWS: dict[str, Callable[[StripeSimulator], Object]] = {"conditions": conditions_view, "log": log_view}


def control(simulator: StripeSimulator, method: str, path: str, body: bytes) -> tuple[int, Object]:
    """Status and answer of a request to the control interface; `path` begins after `/control/`."""
    if method == "GET":
        if path not in VIEWS:
            return _unknown(path, VIEWS)
        with simulator.lock:
            return 200, VIEWS[path](simulator)
    if method != "POST" or path not in ACTIONS:
        return _unknown(path, ACTIONS)
    try:
        return 200, ACTIONS[path].model_validate_json(body or b"{}").carry_out(simulator)
    except ValidationError as invalid:
        fault = invalid.errors()[0]
        where = ".".join(str(part) for part in fault["loc"])
        return 400, {"error": {"message": f"{where}: {fault['msg']}" if where else fault["msg"]}}
    except StripeError as refused:
        return refused.status, {"error": refused.view()}


def _unknown(path: str, known: Iterable[str]) -> tuple[int, Object]:
    return 404, {"error": {"message": f"There is no /control/{path} for this method; there are {', '.join(known)}"}}


def encoded(answer: Object) -> bytes:
    """An answer as it is sent."""
    return json.dumps(answer).encode()
