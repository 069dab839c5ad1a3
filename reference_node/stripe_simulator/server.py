"""Serves the simulator: as `reference-node stripe-simulator`, or from a thread in tests."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from reference_node.serving.aborting import AbortingProtocol
from reference_node.serving.listening import BACKLOG, base_url, listen, remove_stale, write_atomically
from reference_node.stripe_simulator.access import ApiKeys
from reference_node.stripe_simulator.app import SimulatorApp
from reference_node.stripe_simulator.settings import SimulatorSettings
from reference_node.stripe_simulator.simulator import StripeSimulator

KEEP_ALIVE_SECONDS = 75
"""Seconds for which idle connections stay open: longer than clients keep them, so that none sends on a closing one."""

HEADER_LIMIT = 1024 * 1024
"""Bytes of a request line and its headers."""

GRACE_SECONDS = 2
"""Seconds for requests under way once the server is stopping."""


def server(simulator: StripeSimulator, *, control: bool) -> uvicorn.Server:
    """A server, not started yet."""
    config = uvicorn.Config(
        SimulatorApp(simulator, control=control),
        http=AbortingProtocol,
        ws="none",
        lifespan="off",
        loop="asyncio",
        access_log=False,
        log_level="warning",
        server_header=False,
        backlog=BACKLOG,
        h11_max_incomplete_event_size=HEADER_LIMIT,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return uvicorn.Server(config)


def serve(settings: SimulatorSettings) -> None:
    """Run a simulator until it is told to stop. Raises `ServingError`, and `ValueError` for keys of the wrong form."""
    given = {"secret": settings.secret_key, "publishable": settings.publishable_key}
    keys = ApiKeys(**{name: key for name, key in given.items() if key is not None})
    simulator = StripeSimulator(keys, processing_seconds=settings.processing_seconds)
    remove_stale(settings.ready_file)
    with listen(settings.host, settings.port) as listening:
        _announce(settings, simulator, base_url(listening))
        server(simulator, control=settings.control).run(sockets=[listening])


def _announce(settings: SimulatorSettings, simulator: StripeSimulator, url: str) -> None:
    """Write the ready file. The simulator listens already."""
    control_url = f"{url}/control" if settings.control else None
    lines = [
        f"Stripe simulator ready at {url}",
        f"  secret key       {simulator.keys.secret}",
        f"  publishable key  {simulator.keys.publishable}",
    ]
    if control_url is not None:
        lines.append(f"  control          {control_url}: faults and changes, for anyone who can reach it")
    print("\n".join(lines), flush=True)
    if settings.ready_file is not None:
        facts = {
            "base_url": url,
            "control_url": control_url,
            "secret_key": simulator.keys.secret,
            "publishable_key": simulator.keys.publishable,
        }
        write_atomically(settings.ready_file, json.dumps(facts, indent=2) + "\n")


@contextmanager
def serving(simulator: StripeSimulator, *, control: bool = True) -> Iterator[str]:
    """Serve a simulator from a thread on a free local port. Returns its base URL."""
    with listen("127.0.0.1", 0) as listening:
        running = server(simulator, control=control)
        thread = threading.Thread(target=_run, args=(running, listening), name="stripe-simulator", daemon=True)
        thread.start()
        try:
            yield base_url(listening)
        finally:
            running.should_exit = True
            thread.join()


def _run(running: uvicorn.Server, listening: socket.socket) -> None:
    running.run(sockets=[listening])
